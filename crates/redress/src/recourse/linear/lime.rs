//! LIME (Ribeiro et al. 2016): a linear model that agrees with the score near one person.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::super::{Case, Meter, least_squares::NormalEquations};
use crate::{dataset::FeatureKind, encoding::Encoding};

/// How the neighbourhood is sampled and weighed.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Lime {
    /// How many points are drawn around the person.
    pub samples: usize,
    /// w in the weight √exp(−d²/w²) of a point at distance d.
    pub kernel_width: f64,
    /// The ridge penalty on every coefficient but the intercept.
    pub ridge: f64,
    /// Where the draws start: the same seed gives the same explanation.
    pub seed: u64,
}

impl Default for Lime {
    fn default() -> Self {
        Self { samples: 5000, kernel_width: 1.25, ridge: 1.0, seed: 0 }
    }
}

impl Lime {
    /// One weight a column of the point, so that `logit(x') ≈ logit(x) + weights · (x' − x)` near the person.
    ///
    /// Numbers are drawn from a normal distribution around the person with the standard deviation of the training rows;
    /// yes/no and categories by their frequency among the training rows. Distances count 1 for a category that is not
    /// the person's own.
    ///
    /// # Differs from LIME
    ///
    /// It explains the logit, not the probability, so that a linear model's explanation is itself; and every other
    /// category has a coefficient of its own, where LIME has one for all of them: an action must say which to move to.
    ///
    /// Asks the model about every sample; `None` when the budget ends first.
    pub fn weights(&self, case: &Case, meter: &mut Meter) -> Option<Vec<f64>> {
        let (encoding, centre) = (case.feasible.encoding(), case.point());
        let width = encoding.width();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut points = vec![0.0; self.samples * width];
        for (index, point) in points.chunks_exact_mut(width).enumerate() {
            point.copy_from_slice(centre);
            // LIME's first sample is the person.
            if index > 0 {
                draw(encoding, &mut rng, point);
            }
        }
        let logits = case.logits(&points, meter)?;
        let categories = Categories::new(encoding);
        let mut normal = NormalEquations::new(width + 1);
        let mut row = vec![0.0; width + 1];
        for (point, &logit) in points.chunks_exact(width).zip(&logits) {
            row[0] = 1.0;
            for (cell, (at, from)) in row[1..].iter_mut().zip(point.iter().zip(centre)) {
                *cell = f64::from(at - from);
            }
            let squared = categories.squared_distance(&row[1..]);
            // A category's own column says what the others say together: leaving it out is measuring from it.
            categories.own(centre).for_each(|column| row[column + 1] = 0.0);
            let weight = (-squared / (self.kernel_width * self.kernel_width)).exp().sqrt();
            normal.add(&row, f64::from(logit), weight);
        }
        let mut ridge = vec![self.ridge; width + 1];
        ridge[0] = 0.0;
        Some(normal.solve(&ridge).split_off(1))
    }
}

/// Draws every feature of a point anew, numbers around where they are.
fn draw(encoding: &Encoding, rng: &mut ChaCha8Rng, point: &mut [f32]) {
    for (feature, described) in encoding.schema().features.iter().enumerate() {
        let column = encoding.columns(feature).start;
        match &described.kind {
            FeatureKind::YesNo { .. } => encoding.encode_feature(feature, frequent(encoding, feature, 2, rng), point),
            FeatureKind::Category { values } => {
                encoding.encode_feature(feature, frequent(encoding, feature, values.len(), rng), point);
            }
            _ => {
                let noise: f32 = StandardNormal.sample(rng);
                point[column] += noise;
            }
        }
    }
}

/// A value of a feature with `count` values 0, 1, …, by its frequency among the training rows.
fn frequent(encoding: &Encoding, feature: usize, count: usize, rng: &mut ChaCha8Rng) -> f64 {
    let share: f64 = rng.random();
    let statistics = encoding.statistics(feature);
    let last = count.saturating_sub(1);
    (0..last).find(|&value| share < statistics.percentile(value as f64)).unwrap_or(last) as f64
}

/// The columns of one-hot categories.
struct Categories {
    ranges: Vec<std::ops::Range<usize>>,
}

impl Categories {
    fn new(encoding: &Encoding) -> Self {
        let features = encoding.schema().features.iter().enumerate();
        let categories = features.filter(|(_, described)| matches!(described.kind, FeatureKind::Category { .. }));
        Self { ranges: categories.map(|(feature, _)| encoding.columns(feature)).collect() }
    }

    /// The squared distance of a difference: another category counts 1, though two columns differ.
    fn squared_distance(&self, difference: &[f64]) -> f64 {
        let all: f64 = difference.iter().map(|entry| entry * entry).sum();
        let doubled: f64 =
            self.ranges.iter().flat_map(|range| &difference[range.clone()]).map(|entry| entry * entry).sum();
        all - 0.5 * doubled
    }

    /// The columns of the person's own categories.
    fn own<'a>(&'a self, centre: &'a [f32]) -> impl Iterator<Item = usize> + 'a {
        self.ranges.iter().flat_map(|range| range.clone().filter(|&column| centre[column] == 1.0))
    }
}
