//! The threshold curve of a stream: counts in bins of the score.

use super::{curve::CurvePoint, metrics::Confusion, rates::RecourseRates};
use crate::calibrate::Threshold;

/// Counts by how many of the thresholds 0, 1/steps, … 1 a score passes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ThresholdCounts {
    thresholds: Vec<Threshold>,
    /// People by thresholds passed as they are: favourable labels, other labels (or none).
    before: [Vec<usize>; 2],
    /// People by thresholds passed as they are or after the step.
    reached: Vec<usize>,
}

impl ThresholdCounts {
    pub(super) fn new(steps: usize) -> Self {
        let at = |step: usize| Threshold::from_probability(step as f64 / steps as f64).unwrap_or(Threshold::NEVER);
        let thresholds: Vec<Threshold> = (0..=steps).map(at).collect();
        let empty = vec![0; thresholds.len() + 1];
        Self { thresholds, before: [empty.clone(), empty.clone()], reached: empty }
    }

    pub(super) fn add(&mut self, before: f32, after: f32, favourable: bool) {
        let passed = |logit: f32| self.thresholds.partition_point(|threshold| threshold.approves(logit));
        let (now, then) = (passed(before), passed(before.max(after)));
        self.before[usize::from(!favourable)][now] += 1;
        self.reached[then] += 1;
    }

    /// The curve of [`threshold_curve`](super::curve::threshold_curve).
    pub(super) fn curve(&self) -> Vec<CurvePoint> {
        let total = |counts: &[usize]| counts.iter().sum::<usize>();
        let [favourable, other] = &self.before;
        let steps = (self.thresholds.len() - 1) as f64;
        let at = |index: usize| {
            let passed = |counts: &[usize]| total(&counts[index + 1..]);
            let (true_yes, false_yes) = (passed(favourable), passed(other));
            let confusion = Confusion {
                true_yes,
                false_yes,
                false_no: total(favourable) - true_yes,
                true_no: total(other) - false_yes,
            };
            let approved = true_yes + false_yes;
            CurvePoint {
                threshold: index as f64 / steps,
                performance: confusion.performance(),
                recourse: RecourseRates {
                    approved,
                    rescued: passed(&self.reached) - approved,
                    people: total(&self.reached),
                },
            }
        };
        (0..self.thresholds.len()).map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audit::curve::threshold_curve;

    proptest! {
        /// Counting in bins gives the curve that counting at every threshold gives.
        #[test]
        fn the_counted_curve_is_the_curve(rows in prop::collection::vec((-6.0f32..6.0, -6.0f32..6.0, any::<bool>()), 1..80)) {
            let mut counts = ThresholdCounts::new(20);
            rows.iter().for_each(|&(before, after, label)| counts.add(before, after, label));
            let (before, after): (Vec<f32>, Vec<f32>) = rows.iter().map(|row| (row.0, row.1)).unzip();
            let labels: Vec<bool> = rows.iter().map(|row| row.2).collect();
            prop_assert_eq!(counts.curve(), threshold_curve(&before, &after, &labels, 20));
        }
    }
}
