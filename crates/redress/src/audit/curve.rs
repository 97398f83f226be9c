//! Performance and recourse as the threshold moves: the paper's Figure 2.

use serde::Serialize;

use super::{
    metrics::{Performance, performance},
    rates::RecourseRates,
};
use crate::calibrate::Threshold;

/// One threshold of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// θ₀ as a probability.
    pub threshold: f64,
    /// F1, accuracy, precision and recall at it.
    pub performance: Performance,
    /// Recourse at it.
    pub recourse: RecourseRates,
}

/// The figures at `steps + 1` thresholds from probability 0 to 1 in equal steps.
pub fn threshold_curve(before: &[f32], after: &[f32], labels: &[bool], steps: usize) -> Vec<CurvePoint> {
    let steps = steps.max(1);
    let at = |step: usize| {
        let share = step as f64 / steps as f64;
        let threshold = Threshold::from_probability(share).unwrap_or(Threshold::NEVER);
        CurvePoint {
            threshold: share,
            performance: performance(before, labels, threshold),
            recourse: RecourseRates::count(before, after, threshold),
        }
    };
    (0..=steps).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recourse_never_grows_with_the_threshold() {
        let before = [-2.0, -1.0, 0.0, 1.0, 2.0];
        let after = [-1.0, 0.5, 0.0, 1.5, 2.0];
        let curve = threshold_curve(&before, &after, &[false, true, false, true, true], 20);
        assert_eq!((curve.len(), curve[0].threshold, curve[20].threshold), (21, 0.0, 1.0));
        assert_eq!((curve[0].recourse.all(), curve[20].recourse.all()), (1.0, 0.0));
        assert!(curve.windows(2).all(|pair| pair[1].recourse.all() <= pair[0].recourse.all()));
    }
}
