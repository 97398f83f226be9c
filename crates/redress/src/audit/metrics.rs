//! How well decisions agree with labels.

use crate::calibrate::Threshold;

/// Decisions against labels, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confusion {
    /// Approved, and the label is favourable.
    pub true_yes: usize,
    /// Approved, and the label is not favourable.
    pub false_yes: usize,
    /// Denied, and the label is favourable.
    pub false_no: usize,
    /// Denied, and the label is not favourable.
    pub true_no: usize,
}

/// The four figures of the paper's Table 1. A ratio with an empty denominator is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Performance {
    /// The harmonic mean of precision and recall: `2·TP / (2·TP + FP + FN)`.
    pub f1: f64,
    /// The share of decisions that agree with the label.
    pub accuracy: f64,
    /// The share of approvals whose label is favourable.
    pub precision: f64,
    /// The share of favourable labels that are approved.
    pub recall: f64,
}

impl Confusion {
    /// Counts the decisions of `threshold` on these logits.
    ///
    /// ```
    /// use redress::{audit::metrics::Confusion, calibrate::Threshold};
    /// let counted = Confusion::count(&[2.0, -1.0, 0.5], &[true, true, false], Threshold::HALF);
    /// assert_eq!((counted.true_yes, counted.false_yes, counted.false_no, counted.true_no), (1, 1, 1, 0));
    /// ```
    pub fn count(logits: &[f32], labels: &[bool], threshold: Threshold) -> Self {
        let mut counted = Self::default();
        for (&logit, &label) in logits.iter().zip(labels) {
            match (threshold.approves(logit), label) {
                (true, true) => counted.true_yes += 1,
                (true, false) => counted.false_yes += 1,
                (false, true) => counted.false_no += 1,
                (false, false) => counted.true_no += 1,
            }
        }
        counted
    }

    /// The figures of these counts. By hand: 3 true yes, 1 false yes, 2 false no, 4 true no → F1 6/9, accuracy 0.7.
    pub fn performance(&self) -> Performance {
        let ratio = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let all = self.true_yes + self.false_yes + self.false_no + self.true_no;
        Performance {
            f1: ratio(2 * self.true_yes, 2 * self.true_yes + self.false_yes + self.false_no),
            accuracy: ratio(self.true_yes + self.true_no, all),
            precision: ratio(self.true_yes, self.true_yes + self.false_yes),
            recall: ratio(self.true_yes, self.true_yes + self.false_no),
        }
    }

    /// Moves one row from denied to approved.
    fn admit(&mut self, label: bool) {
        if label {
            self.false_no -= 1;
            self.true_yes += 1;
        } else {
            self.true_no -= 1;
            self.false_yes += 1;
        }
    }
}

/// The performance of `threshold` on these rows.
pub fn performance(logits: &[f32], labels: &[bool], threshold: Threshold) -> Performance {
    Confusion::count(logits, labels, threshold).performance()
}

/// The threshold at or below `ceiling` with the highest F1 on these rows, and that F1. Among equals the highest
/// threshold wins, since it approves the fewest people whom the labels do not support.
///
/// Only the logits themselves can be answers (between two neighbours no decision changes), and the ceiling where some
/// logit lies above it. One sort and one pass.
pub fn best_f1(logits: &[f32], labels: &[bool], ceiling: Option<Threshold>) -> (Threshold, f64) {
    best_by(logits, labels, ceiling, |counted| counted.performance().f1)
}

/// The lowest threshold whose precision on these rows is at least `floor`, or the most precise one where none is.
pub fn at_precision(logits: &[f32], labels: &[bool], floor: f64) -> Threshold {
    let value = |counted: &Confusion| {
        let precision = counted.performance().precision;
        let approved = (counted.true_yes + counted.false_yes) as f64;
        if precision >= floor { 1.0 + approved } else { precision }
    };
    best_by(logits, labels, None, value).0
}

/// The threshold at or below `ceiling` with the highest `value`; the highest such threshold among equals.
fn best_by(
    logits: &[f32],
    labels: &[bool],
    ceiling: Option<Threshold>,
    value: impl Fn(&Confusion) -> f64,
) -> (Threshold, f64) {
    let ceiling = ceiling.unwrap_or(Threshold::NEVER);
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    let favourable = labels.iter().filter(|&&label| label).count();
    let mut counted = Confusion { false_no: favourable, true_no: labels.len() - favourable, ..Confusion::default() };
    let mut rest = order.into_iter().peekable();
    while let Some(row) = rest.next_if(|&row| ceiling.approves(logits[row])) {
        counted.admit(labels[row]);
    }
    let mut best = (ceiling, value(&counted));
    while let Some(row) = rest.next() {
        counted.admit(labels[row]);
        while let Some(equal) = rest.next_if(|&next| logits[next] == logits[row]) {
            counted.admit(labels[equal]);
        }
        if logits[row].is_finite() && value(&counted) > best.1 {
            best = (Threshold::from_logit(f64::from(logits[row])), value(&counted));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn figures_by_hand() {
        let counted = Confusion { true_yes: 3, false_yes: 1, false_no: 2, true_no: 4 };
        let found = counted.performance();
        assert!((found.f1 - 6.0 / 9.0).abs() < 1e-12);
        assert!((found.accuracy - 0.7).abs() < 1e-12);
        assert!((found.precision - 0.75).abs() < 1e-12);
        assert!((found.recall - 0.6).abs() < 1e-12);
    }

    fn rows() -> impl Strategy<Value = Vec<(f32, bool)>> {
        proptest::collection::vec(((-8i8..8).prop_map(|v| f32::from(v) / 2.0), any::<bool>()), 1..60)
    }

    proptest! {
        /// The one-pass search finds what trying every logit and the ceiling finds.
        #[test]
        fn best_f1_is_the_best_of_all_thresholds(rows in rows(), ceiling in -5.0f64..5.0) {
            let (logits, labels): (Vec<f32>, Vec<bool>) = rows.into_iter().unzip();
            let ceiling = Threshold::from_logit(ceiling);
            let (threshold, f1) = best_f1(&logits, &labels, Some(ceiling));
            prop_assert!(threshold.logit() <= ceiling.logit());
            prop_assert_eq!(performance(&logits, &labels, threshold).f1, f1);
            for &logit in &logits {
                if f64::from(logit) <= ceiling.logit() {
                    let other = Threshold::from_logit(f64::from(logit));
                    prop_assert!(performance(&logits, &labels, other).f1 <= f1);
                }
            }
            prop_assert!(performance(&logits, &labels, ceiling).f1 <= f1);
        }

        /// Precision at the floor, with as many approvals as any threshold that reaches it.
        #[test]
        fn precision_reaches_its_floor_where_any_threshold_does(rows in rows(), floor in 0.3f64..0.9) {
            let (logits, labels): (Vec<f32>, Vec<bool>) = rows.into_iter().unzip();
            let reached = |threshold| performance(&logits, &labels, threshold).precision >= floor;
            let found = at_precision(&logits, &labels, floor);
            for &logit in &logits {
                let other = Threshold::from_logit(f64::from(logit));
                prop_assert!(!reached(other) || (reached(found) && found.logit() <= other.logit()));
            }
        }
    }
}
