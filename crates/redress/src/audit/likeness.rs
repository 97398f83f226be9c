//! Whether the people that plans lead to look like people.
//!
//! Two looks at the points after the recommended changes, both against people of the same file whom the model approves
//! as they are: how far the nearest of them is, and whether a classifier trained to tell the two apart can.

use rayon::prelude::*;
use serde::Serialize;

use super::{
    metrics::Confusion,
    sketch::{Distribution, Quantiles},
};
use crate::{
    calibrate::{FailureProb, Interval, clopper_pearson},
    model::Scorer,
    train::{Boxes, Examples, InnerProblem, TrainParams, fit},
};

/// Fewer points than this on either side say nothing.
const FEWEST: usize = 60;
/// As many points of either side as are compared at most.
const MOST: usize = 1_000;

/// How much recommended points are like those of approved people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likeness {
    /// Recommended points looked at.
    pub points: usize,
    /// Approved people they were compared with.
    pub reference: usize,
    /// Distances from recommended points to the nearest approved person, in standard deviations.
    pub recommended: Quantiles,
    /// Distances from other approved people to the nearest approved person: what is usual.
    pub usual: Quantiles,
    /// The share of recommended points that are farther than 19 in 20 approved people are: 5% where they are alike.
    pub far: f64,
    /// How often a classifier tells recommended points from approved people: 50% where they are alike.
    pub two_sample: Option<Interval>,
}

/// Compares points after the recommended changes with points of approved people; none where either are too few. Both are
/// in random order, row after row.
pub fn likeness(recommended: &[f32], approved: &[f32], width: usize, alpha: FailureProb) -> Option<Likeness> {
    let count = |points: &[f32]| points.len().checked_div(width).unwrap_or(0);
    let half = count(approved) / 2;
    if count(recommended) < FEWEST || half < FEWEST {
        return None;
    }
    let recommended = &recommended[..count(recommended).min(MOST) * width];
    let (reference, others) = approved.split_at(half * width);
    let others = &others[..count(others).min(MOST) * width];
    let distances = |points: &[f32]| -> Vec<f64> {
        points.par_chunks_exact(width).map(|point| nearest(point, reference)).collect()
    };
    let (found, mut usual) = (distances(recommended), distances(others));
    let summary = |values: &[f64]| {
        let mut distribution = Distribution::default();
        values.iter().for_each(|&value| distribution.add(value));
        distribution.quantiles()
    };
    let (recommended_quantiles, usual_quantiles) = (summary(&found)?, summary(&usual)?);
    usual.sort_unstable_by(f64::total_cmp);
    let edge = usual[(usual.len() * 19 / 20).min(usual.len() - 1)];
    let far = found.iter().filter(|&&distance| distance > edge).count() as f64 / found.len() as f64;
    Some(Likeness {
        points: found.len(),
        reference: half,
        recommended: recommended_quantiles,
        usual: usual_quantiles,
        far,
        two_sample: two_sample(recommended, approved, width, alpha),
    })
}

/// The Euclidean distance to the nearest of these points.
fn nearest(point: &[f32], reference: &[f32]) -> f64 {
    let squared = |other: &[f32]| point.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
    f64::from(reference.chunks_exact(point.len()).map(squared).fold(f32::INFINITY, f32::min)).sqrt()
}

/// The accuracy, on rows it was not trained on, of a small network that tells the two kinds of points apart.
fn two_sample(one: &[f32], other: &[f32], width: usize, alpha: FailureProb) -> Option<Interval> {
    let each = (one.len() / width).min(other.len() / width).min(MOST);
    let (train_end, validation_end) = (each * 3 / 5, each * 4 / 5);
    let part = |rows: std::ops::Range<usize>| -> Option<Examples> {
        let labels = rows.clone().flat_map(|_| [true, false]).collect();
        let row = |points: &[f32], row: usize| points[row * width..(row + 1) * width].to_vec();
        let points = rows.flat_map(|index| [row(one, index), row(other, index)]).flatten().collect();
        let inner = InnerProblem::Box(Boxes::new(Vec::new(), Vec::new(), Vec::new())?);
        Some(Examples { points, labels, inner })
    };
    let (train, validation) = (part(0..train_end)?, part(train_end..validation_end)?);
    let test = part(validation_end..each)?;
    let params = TrainParams {
        lambda: 0.0,
        hidden: vec![32],
        dropout: 0.0,
        epochs: 30,
        batch: 32,
        learning_rate: 0.005,
        early_stop: Some(8),
        ..TrainParams::default()
    };
    let observe = &mut |_: &_| std::ops::ControlFlow::Continue(());
    let fitted = fit(&params.check().ok()?, &train, &validation, observe).ok()?;
    let mut logits = vec![0.0; test.len()];
    fitted.model.logits(&test.points, &mut logits);
    let counted = Confusion::count(&logits, &test.labels, fitted.best.validation.threshold);
    Some(clopper_pearson((counted.true_yes + counted.true_no) as u64, test.len() as u64, alpha))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;

    fn cloud(count: usize, at: f32, seed: u64) -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..2 * count)
            .map(|_| {
                let noise: f32 = StandardNormal.sample(&mut random);
                at + noise
            })
            .collect()
    }

    #[test]
    fn the_same_population_is_alike_and_another_is_not() {
        let alpha = FailureProb::new(0.01).unwrap();
        let approved = cloud(2_000, 0.0, 1);
        let same = likeness(&cloud(1_000, 0.0, 2), &approved, 2, alpha).unwrap();
        assert!(same.far < 0.1, "{same:?}");
        assert!(same.two_sample.is_some_and(|found| found.low < 0.5 && found.high > 0.5), "{same:?}");
        let other = likeness(&cloud(1_000, 3.0, 3), &approved, 2, alpha).unwrap();
        assert!(other.far > 0.5 && other.recommended.p50 > 3.0 * other.usual.p50, "{other:?}");
        assert!(other.two_sample.is_some_and(|found| found.low > 0.85), "{other:?}");
    }

    #[test]
    fn too_few_points_say_nothing() {
        let alpha = FailureProb::new(0.05).unwrap();
        assert_eq!(likeness(&cloud(59, 0.0, 1), &cloud(500, 0.0, 2), 2, alpha), None);
        assert_eq!(likeness(&cloud(500, 0.0, 1), &cloud(100, 0.0, 2), 2, alpha), None);
        assert_eq!(likeness(&[], &[], 0, alpha), None);
    }
}
