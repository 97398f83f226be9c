//! How many people have a way to a yes.

use serde::{Deserialize, Serialize};

use crate::calibrate::{FailureProb, Interval, Threshold, clopper_pearson};

/// The paper's two recourse rates, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecourseRates {
    /// People the model approves as they are.
    pub approved: usize,
    /// People it denies who have an action that gets them approved.
    pub rescued: usize,
    /// Everybody.
    pub people: usize,
}

impl RecourseRates {
    /// Counts people by their logits as they are and after the best action that a solver found for them.
    ///
    /// ```
    /// use redress::{audit::rates::RecourseRates, calibrate::Threshold};
    /// let rates = RecourseRates::count(&[1.0, -1.0, -2.0], &[1.0, 0.5, -0.5], Threshold::HALF);
    /// assert_eq!((rates.neg(), rates.all()), (0.5, 2.0 / 3.0));
    /// ```
    pub fn count(before: &[f32], after: &[f32], threshold: Threshold) -> Self {
        let mut rates = Self { people: before.len(), ..Self::default() };
        for (&before, &after) in before.iter().zip(after) {
            if threshold.approves(before) {
                rates.approved += 1;
            } else if threshold.approves(after) {
                rates.rescued += 1;
            }
        }
        rates
    }

    /// *Recourse neg* = P[f(x + δ) = 1 | f(x) = 0]; 1 where nobody is denied.
    pub fn neg(&self) -> f64 {
        let denied = self.people - self.approved;
        if denied == 0 { 1.0 } else { self.rescued as f64 / denied as f64 }
    }

    /// *Recourse all* = P[f(x) = 1 or f(x + δ) = 1]; 1 where there is nobody.
    pub fn all(&self) -> f64 {
        if self.people == 0 { 1.0 } else { (self.approved + self.rescued) as f64 / self.people as f64 }
    }

    /// Recourse neg with its Clopper–Pearson interval at confidence 1 − α.
    pub fn neg_interval(&self, alpha: FailureProb) -> Interval {
        clopper_pearson(self.rescued as u64, (self.people - self.approved) as u64, alpha)
    }

    /// Recourse all with its Clopper–Pearson interval at confidence 1 − α.
    pub fn all_interval(&self, alpha: FailureProb) -> Interval {
        clopper_pearson((self.approved + self.rescued) as u64, self.people as u64, alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_by_hand() {
        let rates = RecourseRates::count(&[0.0, -1.0, -1.0, -3.0], &[-9.0, 0.0, -0.5, 2.0], Threshold::HALF);
        assert_eq!(rates, RecourseRates { approved: 1, rescued: 2, people: 4 });
        assert_eq!((rates.neg(), rates.all()), (2.0 / 3.0, 0.75));
    }

    #[test]
    fn nobody_denied_and_nobody_at_all_count_as_reached() {
        assert_eq!(RecourseRates::count(&[1.0], &[1.0], Threshold::HALF).neg(), 1.0);
        assert_eq!(RecourseRates::default().all(), 1.0);
    }
}
