//! θ̂₀(Z): the highest threshold that the calibration rows can vouch for.

use serde::{Deserialize, Serialize};

use super::{FailureProb, MissRate, Threshold, allowed_misses, rows_needed};
use crate::{audit::metrics, dataset::GroupColumn};

/// A bound on the threshold, and the arithmetic behind it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Calibration rows.
    pub n: u64,
    /// k(n, ε, α): how many of them may miss.
    pub k: u64,
    /// ε.
    pub epsilon: MissRate,
    /// α.
    pub alpha: FailureProb,
    /// θ̂₀: the (k + 1)-th smallest score. Every threshold at or below it has the guarantee.
    pub threshold: Threshold,
}

/// Why there is no bound.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// Even a threshold that nobody misses would prove nothing.
    #[error(
        "{who} {found} calibration rows; at epsilon {epsilon} and alpha {alpha} at least {needed} are needed: bring \
         more rows, or accept a larger epsilon or alpha{advice}"
    )]
    TooFewRows {
        /// "the table has" or "group race = Other has".
        who: String,
        /// Rows there are.
        found: u64,
        /// Rows needed.
        needed: u64,
        /// ε.
        epsilon: f64,
        /// α, after sharing.
        alpha: f64,
        /// What else may help.
        advice: &'static str,
    },
    /// A score is not a number.
    #[error("the score of calibration row {row} is not a number: the model cannot be calibrated")]
    NotANumber {
        /// The row, counting from 1.
        row: usize,
    },
    /// The caller's threshold lies above the bound.
    #[error("threshold {given:.4} lies above the bound {bound:.4}: the guarantee would not hold")]
    AboveBound {
        /// The caller's, as a probability.
        given: f64,
        /// The bound, as a probability.
        bound: f64,
    },
}

/// θ̂₀ for these scores, which are `max(g(x), g(x + A(x)))` as logits.
///
/// With k = k(n, ε, α), the (k + 1)-th smallest score is missed by at most k of n rows; had the true miss rate been
/// above ε, so few misses would have been seen with probability at most α. By hand, at ε = α = 0.05 and 59 rows: k = 0
/// and the bound is the smallest score.
pub fn bound(scores: &[f32], epsilon: MissRate, alpha: FailureProb) -> Result<Bound, CalibrateError> {
    bound_for("the table has", scores, epsilon, alpha, "")
}

/// A bound for one group of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupBound {
    /// The group column.
    pub column: String,
    /// The group.
    pub value: String,
    /// Its bound, at ε and α/G.
    pub bound: Bound,
}

/// One bound for each group of every column, each at ε and α/G with G groups in all, so that with confidence 1 − α every
/// one of them holds.
pub fn group_bounds(
    scores: &[f32],
    columns: &[GroupColumn],
    epsilon: MissRate,
    alpha: FailureProb,
) -> Result<Vec<GroupBound>, CalibrateError> {
    let share = alpha.shared(columns.iter().map(|column| column.values.len()).sum());
    let mut bounds = Vec::new();
    for column in columns {
        let mut members = vec![Vec::new(); column.values.len()];
        for (&group, &score) in column.codes.iter().zip(scores) {
            members[group as usize].push(score);
        }
        for (value, scores) in column.values.iter().zip(members) {
            let who = format!("group {} = {value} has", column.name);
            let bound = bound_for(&who, &scores, epsilon, share, ", or merge small groups")?;
            bounds.push(GroupBound { column: column.name.clone(), value: value.clone(), bound });
        }
    }
    Ok(bounds)
}

/// [`bound`], naming whose rows they are.
fn bound_for(
    who: &str,
    scores: &[f32],
    epsilon: MissRate,
    alpha: FailureProb,
    advice: &'static str,
) -> Result<Bound, CalibrateError> {
    if let Some(at) = scores.iter().position(|score| score.is_nan()) {
        return Err(CalibrateError::NotANumber { row: at + 1 });
    }
    let n = scores.len() as u64;
    let k = allowed_misses(n, epsilon, alpha).ok_or_else(|| CalibrateError::TooFewRows {
        who: who.to_owned(),
        found: n,
        needed: rows_needed(epsilon, alpha),
        epsilon: epsilon.get(),
        alpha: alpha.get(),
        advice,
    })?;
    let mut sorted = scores.to_vec();
    let (_, score, _) = sorted.select_nth_unstable_by(k as usize, f32::total_cmp);
    Ok(Bound { n, k, epsilon, alpha, threshold: Threshold::from_logit(f64::from(*score)) })
}

/// How θ₀ is chosen at or below the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The F1-best threshold on the given rows.
    BestF1,
    /// The F1-best of `n` equal steps of probability from 0 to the bound: the paper's search, with 10.
    EqualSteps(usize),
    /// The caller's.
    Given(Threshold),
}

/// θ₀ ≤ θ̂₀, chosen on rows with labels (validation rows: the guarantee does not need them to be fresh).
pub fn choose(choice: Choice, bound: Threshold, logits: &[f32], labels: &[bool]) -> Result<Threshold, CalibrateError> {
    match choice {
        Choice::BestF1 => Ok(metrics::best_f1(logits, labels, Some(bound)).0),
        Choice::EqualSteps(steps) => {
            let at = |step: usize| {
                let probability = bound.probability() * step as f64 / steps as f64;
                Threshold::from_probability(probability).unwrap_or(Threshold::ALWAYS)
            };
            let f1 = |threshold: Threshold| metrics::performance(logits, labels, threshold).f1;
            let better = |best, next| if f1(next) > f1(best) { next } else { best };
            Ok((0..steps).rev().map(at).fold(bound, better))
        }
        Choice::Given(given) if given <= bound => Ok(given),
        Choice::Given(given) => {
            Err(CalibrateError::AboveBound { given: given.probability(), bound: bound.probability() })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn rates(epsilon: f64, alpha: f64) -> (MissRate, FailureProb) {
        (MissRate::new(epsilon).unwrap(), FailureProb::new(alpha).unwrap())
    }

    #[test]
    fn too_few_rows_say_how_many_are_needed() {
        let (epsilon, alpha) = rates(0.05, 0.05);
        assert_eq!(
            bound(&[0.0; 40], epsilon, alpha).unwrap_err().to_string(),
            "the table has 40 calibration rows; at epsilon 0.05 and alpha 0.05 at least 59 are needed: bring more \
             rows, or accept a larger epsilon or alpha"
        );
        assert_eq!(bound(&[f32::NAN; 60], epsilon, alpha), Err(CalibrateError::NotANumber { row: 1 }));
    }

    #[test]
    fn every_group_is_named_and_shares_alpha() {
        let (epsilon, alpha) = rates(0.05, 0.05);
        let scores: Vec<f32> = (0..200).map(|row| row as f32).collect();
        let codes = (0..200).map(|row| row % 2).collect();
        let sex = GroupColumn { name: "sex".into(), values: vec!["F".into(), "M".into()], codes };
        let found = group_bounds(&scores, &[sex], epsilon, alpha).unwrap();
        assert_eq!(found.len(), 2);
        for (group, smallest) in found.iter().zip([0.0, 1.0]) {
            assert_eq!((group.bound.n, group.bound.alpha.get()), (100, 0.025));
            assert!(group.bound.threshold.logit() >= smallest);
        }
    }

    /// Over many draws from a known population, the guarantee fails in at most α of them (plus four standard errors of
    /// the simulation itself); with α misread as the confidence it would fail in 95% of them.
    #[test]
    fn the_guarantee_fails_no_more_often_than_alpha() {
        let (epsilon, alpha) = rates(0.05, 0.05);
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let draws = 4000;
        let failures = (0..draws)
            .filter(|_| {
                // Scores uniform on [0, 1): a threshold t is missed by a share t of the population.
                let scores: Vec<f32> = (0..300).map(|_| random.random::<f32>()).collect();
                bound(&scores, epsilon, alpha).unwrap().threshold.logit() > epsilon.get()
            })
            .count();
        let allowed = alpha.get() + 4.0 * (0.05f64 * 0.95 / f64::from(draws)).sqrt();
        let rate = failures as f64 / f64::from(draws);
        assert!(rate <= allowed && rate > 0.005, "{rate} against {allowed}");
    }

    proptest! {
        #[test]
        fn a_chosen_threshold_never_passes_the_bound(
            rows in proptest::collection::vec((-4.0f32..4.0, any::<bool>()), 1..80),
            bound in -3.0f64..3.0,
            given in -4.0f64..4.0,
        ) {
            let (logits, labels): (Vec<f32>, Vec<bool>) = rows.into_iter().unzip();
            let bound = Threshold::from_logit(bound);
            for choice in [Choice::BestF1, Choice::EqualSteps(10), Choice::Given(Threshold::from_logit(given))] {
                match choose(choice, bound, &logits, &labels) {
                    Ok(threshold) => prop_assert!(threshold <= bound),
                    Err(error) => {
                        let refused = matches!(error, CalibrateError::AboveBound { .. });
                        prop_assert!(refused && given > bound.logit());
                    }
                }
            }
        }

        #[test]
        fn at_most_k_rows_miss(scores in proptest::collection::vec(-4.0f32..4.0, 60..300)) {
            let (epsilon, alpha) = rates(0.05, 0.05);
            let found = bound(&scores, epsilon, alpha).unwrap();
            let misses = scores.iter().filter(|&&score| !found.threshold.approves(score)).count() as u64;
            prop_assert!(misses <= found.k);
        }
    }
}
