//! What more recourse costs: models over a grid of λ, averaged over seeds.

use serde::{Deserialize, Serialize};

use super::{metrics::Performance, rates::RecourseRates};
use crate::{
    pipeline::Summary,
    policy::{Amount, Policy, PolicyError},
};

/// One trained model of the grid, on its own split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridCell {
    /// λ.
    pub lambda: f64,
    /// The largest change that replaced the policy's own, in standard deviations.
    pub delta_max: Option<f64>,
    /// The seed of the split and of the training.
    pub seed: u64,
    /// The F1-best threshold on validation rows, as a probability.
    pub threshold: f64,
    /// Performance there, on test rows.
    pub performance: Performance,
    /// Recourse there.
    pub recourse: RecourseRates,
    /// The threshold with the guarantee, as a probability.
    pub pare_threshold: f64,
    /// Performance there.
    pub pare_performance: Performance,
    /// Recourse there.
    pub pare_recourse: RecourseRates,
    /// The epoch of the weights.
    pub epoch: usize,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error s/√n; none with one seed.
    pub error: Option<f64>,
}

/// One point of the frontier: a λ, averaged over seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrontierPoint {
    /// λ.
    pub lambda: f64,
    /// The largest change, where it replaced the policy's.
    pub delta_max: Option<f64>,
    /// How many seeds.
    pub seeds: usize,
    /// F1 at the F1-best threshold.
    pub f1: Mean,
    /// Accuracy at the F1-best threshold.
    pub accuracy: Mean,
    /// Recourse of those denied at the F1-best threshold.
    pub recourse_neg: Mean,
    /// Approved or with recourse at the F1-best threshold.
    pub recourse_all: Mean,
    /// F1 under the guarantee.
    pub pare_f1: Mean,
    /// Accuracy under the guarantee.
    pub pare_accuracy: Mean,
    /// Approved or with recourse under the guarantee.
    pub pare_recourse_all: Mean,
    /// Whether no other λ of the same largest change has a higher F1 under the guarantee.
    pub best: bool,
}

impl GridCell {
    /// The figures of a model.
    pub fn new(lambda: f64, delta_max: Option<f64>, seed: u64, epoch: usize, summary: &Summary) -> Self {
        Self {
            lambda,
            delta_max,
            seed,
            threshold: summary.threshold.probability(),
            performance: summary.performance,
            recourse: summary.recourse,
            pare_threshold: summary.pare.threshold.probability(),
            pare_performance: summary.pare.performance,
            pare_recourse: summary.pare.recourse,
            epoch,
        }
    }
}

impl Mean {
    /// Mean and standard error of these values. By hand: 1, 2, 3 → 2 ± 1/√3.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Self { mean, error: (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()) }
    }
}

/// The points of the frontier, in the order in which their largest change and λ first appear.
pub fn frontier(cells: &[GridCell]) -> Vec<FrontierPoint> {
    let mut settings: Vec<(Option<f64>, f64)> = Vec::new();
    for cell in cells {
        if !settings.contains(&(cell.delta_max, cell.lambda)) {
            settings.push((cell.delta_max, cell.lambda));
        }
    }
    let point = |(delta_max, lambda): (Option<f64>, f64)| {
        let own: Vec<&GridCell> =
            cells.iter().filter(|cell| (cell.delta_max, cell.lambda) == (delta_max, lambda)).collect();
        let mean = |value: fn(&GridCell) -> f64| Mean::of(&own.iter().map(|cell| value(cell)).collect::<Vec<_>>());
        FrontierPoint {
            lambda,
            delta_max,
            seeds: own.len(),
            f1: mean(|cell| cell.performance.f1),
            accuracy: mean(|cell| cell.performance.accuracy),
            recourse_neg: mean(|cell| cell.recourse.neg()),
            recourse_all: mean(|cell| cell.recourse.all()),
            pare_f1: mean(|cell| cell.pare_performance.f1),
            pare_accuracy: mean(|cell| cell.pare_performance.accuracy),
            pare_recourse_all: mean(|cell| cell.pare_recourse.all()),
            best: false,
        }
    };
    let mut points: Vec<FrontierPoint> = settings.into_iter().map(point).collect();
    let tops: Vec<Option<f64>> = points.iter().map(|point| point.delta_max).collect();
    for delta_max in tops {
        let own = |point: &&mut FrontierPoint| point.delta_max == delta_max;
        let top = points.iter_mut().filter(own).reduce(|a, b| if b.pare_f1.mean > a.pare_f1.mean { b } else { a });
        if let Some(top) = top {
            top.best = true;
        }
    }
    points
}

/// The policy with every `max_change` replaced by so many standard deviations; none where it has none to replace.
pub fn with_max_change(policy: &Policy, deviations: f64) -> Result<Option<Policy>, PolicyError> {
    let mut edited = policy.clone();
    let mut replaced = false;
    for feature in &mut edited.features {
        if let Some(amount) = &mut feature.action.max_change {
            *amount = Amount::Deviations(deviations);
            replaced = true;
        }
    }
    // Written and read again, so that its source, which hashes and reports show, says what it does.
    if replaced { Policy::parse(&edited.to_toml(), &policy.name).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(lambda: f64, seed: u64, f1: f64, pare_f1: f64) -> GridCell {
        let performance = |f1| Performance { f1, ..Performance::default() };
        GridCell {
            lambda,
            delta_max: None,
            seed,
            threshold: 0.5,
            performance: performance(f1),
            recourse: RecourseRates { approved: 2, rescued: 1, people: 4 },
            pare_threshold: 0.4,
            pare_performance: performance(pare_f1),
            pare_recourse: RecourseRates { approved: 2, rescued: 2, people: 4 },
            epoch: 1,
        }
    }

    #[test]
    fn means_by_hand() {
        let found = Mean::of(&[1.0, 2.0, 3.0]);
        assert_eq!(found.mean, 2.0);
        assert!((found.error.unwrap() - 1.0 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(Mean::of(&[0.5]), Mean { mean: 0.5, error: None });
    }

    #[test]
    fn seeds_are_averaged_and_the_best_is_marked() {
        let cells = [cell(0.0, 0, 0.8, 0.4), cell(0.0, 1, 0.6, 0.6), cell(0.8, 0, 0.7, 0.7), cell(0.8, 1, 0.7, 0.7)];
        let found = frontier(&cells);
        assert_eq!(found.len(), 2);
        assert!((found[0].f1.mean - 0.7).abs() < 1e-12 && found[0].seeds == 2);
        assert_eq!((found[0].recourse_neg.mean, found[0].recourse_all.mean), (0.5, 0.75));
        assert_eq!((found[0].best, found[1].best), (false, true));
    }

    #[test]
    fn every_largest_change_is_replaced_and_the_source_says_so() {
        let text = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n\
                    [features.hours]\nkind = \"integer\"\nchange = \"increase\"\nmax_change = 7\n\
                    [features.debt]\nkind = \"number\"\nchange = \"any\"\nmax_change = { std = 0.75 }\n\
                    [features.age]\nkind = \"integer\"\n";
        let policy = Policy::parse(text, "p").unwrap();
        let edited = with_max_change(&policy, 0.25).unwrap().unwrap();
        let amounts: Vec<_> = edited.features.iter().map(|feature| feature.action.max_change).collect();
        assert_eq!(amounts, [Some(Amount::Deviations(0.25)), Some(Amount::Deviations(0.25)), None]);
        assert_ne!(edited.source, policy.source);
        assert_eq!(Policy::parse(&edited.source, "p").unwrap(), edited);
        let fixed = text.replace("max_change = 7\n", "").replace("max_change = { std = 0.75 }\n", "");
        assert_eq!(with_max_change(&Policy::parse(&fixed, "p").unwrap(), 0.25).unwrap(), None);
    }
}
