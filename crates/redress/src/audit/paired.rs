//! Two models on the same people: whether they differ, person by person, with a stated chance of a false alarm.
//!
//! Whom both models treat alike says nothing about their difference; those whom only one of them approves do. McNemar's
//! exact test asks whether these fall to one side more often than a fair coin would. All comparisons share one α by
//! Holm's rule, as in [`disparity`](super::disparity).

use serde::Serialize;

use super::{disparity::holm, tally::Counted};
use crate::{
    calibrate::{FailureProb, binomial_tail, clopper_pearson},
    recourse::Verdict,
};

/// What was decided about each row of a file: a byte a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// By the row of the file, from 1.
    rows: Vec<u8>,
}

const SEEN: u8 = 1;
const APPROVED: u8 = 2;
const REACHED: u8 = 4;
const LABELLED: u8 = 8;
const RIGHT: u8 = 16;

/// What two models are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PairedRate {
    /// Approved as they are.
    Approval,
    /// Approved as they are or with a way to a yes.
    RecourseAll,
    /// Decided as their label says.
    Accuracy,
}

/// One rate of two models over the same people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paired {
    /// The rate.
    pub rate: PairedRate,
    /// People who were judged by both models.
    pub people: u64,
    /// The rate of the first model.
    pub first: f64,
    /// The rate of the second model.
    pub second: f64,
    /// People who count for the first model only.
    pub only_first: u64,
    /// People who count for the second model only.
    pub only_second: u64,
    /// The first rate less the second.
    pub difference: f64,
    /// The lower end of an interval that holds the difference with confidence at least 1 − α.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// McNemar's exact test: P[at least as lopsided | the models do not differ].
    pub p_value: f64,
    /// The same, made up for the number of comparisons.
    pub adjusted: f64,
    /// Whether the difference is beyond chance: adjusted ≤ α.
    pub beyond_chance: bool,
}

impl Decisions {
    pub(super) fn add(&mut self, row: usize, person: Counted) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, 0);
        }
        let approved = matches!(person.verdict, None | Some(Verdict::Approved { .. }));
        let reached = approved || person.verdict.is_some_and(|verdict| verdict.plan().is_some());
        let flag = |so: bool, bit: u8| if so { bit } else { 0 };
        self.rows[row] = SEEN
            | flag(approved, APPROVED)
            | flag(reached, REACHED)
            | flag(person.label.is_some(), LABELLED)
            | flag(person.label == Some(approved), RIGHT);
    }

    /// Compares two models, person by person, over the rows that both judged. Accuracy is left out without labels.
    pub fn compare(&self, other: &Decisions, alpha: FailureProb) -> Vec<Paired> {
        let rates = [
            (PairedRate::Approval, 0, APPROVED),
            (PairedRate::RecourseAll, 0, REACHED),
            (PairedRate::Accuracy, LABELLED, RIGHT),
        ];
        let mut found: Vec<Paired> = rates
            .into_iter()
            .map(|(rate, needed, bit)| self.count(other, SEEN | needed, bit).paired(rate, alpha))
            .filter(|paired| paired.people > 0)
            .collect();
        let adjusted = holm(&found.iter().map(|paired| paired.p_value).collect::<Vec<_>>());
        for (paired, adjusted) in found.iter_mut().zip(adjusted) {
            paired.adjusted = adjusted;
            paired.beyond_chance = adjusted <= alpha.get();
        }
        found
    }

    /// Counts the rows that have `needed` in both, by who has `bit`.
    fn count(&self, other: &Decisions, needed: u8, bit: u8) -> Pairs {
        let mut pairs = Pairs::default();
        for (one, two) in self.rows.iter().zip(&other.rows).filter(|(one, two)| *one & *two & needed == needed) {
            match (one & bit != 0, two & bit != 0) {
                (true, true) => pairs.both += 1,
                (true, false) => pairs.only_first += 1,
                (false, true) => pairs.only_second += 1,
                (false, false) => pairs.neither += 1,
            }
        }
        pairs
    }
}

/// The same people before two models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pairs {
    both: u64,
    only_first: u64,
    only_second: u64,
    neither: u64,
}

impl Pairs {
    fn paired(self, rate: PairedRate, alpha: FailureProb) -> Paired {
        let Self { both, only_first, only_second, neither } = self;
        let people = both + only_first + only_second + neither;
        let share = |count: u64| count as f64 / people as f64;
        // The difference is the share of people treated differently, times how lopsidedly. The interval of the latter
        // takes most of α: it leaves 0 out where McNemar's test says that the models differ.
        let (for_share, for_side) = alpha.split(10);
        let differently = clopper_pearson(only_first + only_second, people, for_share);
        let side = clopper_pearson(only_first, only_first + only_second, for_side);
        let at = |side: f64, above: f64, below: f64| (2.0 * side - 1.0) * if side > 0.5 { above } else { below };
        Paired {
            rate,
            people,
            first: share(both + only_first),
            second: share(both + only_second),
            only_first,
            only_second,
            difference: share(only_first) - share(only_second),
            low: at(side.low, differently.low, differently.high),
            high: at(side.high, differently.high, differently.low),
            p_value: mcnemar_exact(only_first, only_second),
            adjusted: 1.0,
            beyond_chance: false,
        }
    }
}

/// McNemar's exact test, two-sided: the chance that a fair coin falls at least as lopsidedly. By hand: 9 against 1 →
/// 2 · (1 + 10)/2¹⁰ = 0.0215.
pub fn mcnemar_exact(only_first: u64, only_second: u64) -> f64 {
    (2.0 * binomial_tail(only_first + only_second, 0.5, only_first.min(only_second))).min(1.0)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn alpha() -> FailureProb {
        FailureProb::new(0.05).unwrap()
    }

    #[test]
    fn mcnemar_by_hand() {
        for (only_first, only_second, p) in
            [(9, 1, 22.0 / 1024.0), (1, 9, 22.0 / 1024.0), (5, 0, 2.0 / 32.0), (3, 2, 1.0), (0, 0, 1.0), (4, 4, 1.0)]
        {
            let found = mcnemar_exact(only_first, only_second);
            assert!((found - p).abs() < 1e-12, "{only_first} against {only_second}: {found}, not {p}");
        }
    }

    #[test]
    fn intervals_by_hand() {
        let all = Pairs { only_first: 10, ..Pairs::default() }.paired(PairedRate::Approval, alpha());
        // All 10 of 10 are treated differently: at 99.5%, at least 0.0025^(1/10) = 0.5493 are. All 10 of these fall to one
        // side: at 95.5%, at least 0.0225^(1/10) = 0.6842 do. So the difference is at least 0.5493 · (2 · 0.6842 − 1).
        let low = 0.0025f64.powf(0.1) * (2.0 * 0.0225f64.powf(0.1) - 1.0);
        assert!((low - 0.2024).abs() < 1e-4, "{low}");
        assert!((all.low - low).abs() < 1e-9 && (all.high - 1.0).abs() < 1e-12, "{all:?}");
        assert_eq!((all.people, all.first, all.second, all.difference), (10, 1.0, 0.0, 1.0));
        let even = Pairs { both: 3, only_first: 2, only_second: 2, neither: 3 }.paired(PairedRate::Approval, alpha());
        assert_eq!((even.first, even.second, even.difference, even.p_value), (0.5, 0.5, 0.0, 1.0));
        let alike = Pairs { both: 3, neither: 7, ..Pairs::default() }.paired(PairedRate::Approval, alpha());
        assert_eq!((alike.difference, alike.p_value), (0.0, 1.0));
        assert!(alike.low < 0.0 && alike.high > 0.0, "{alike:?}");
        assert!((even.low + even.high).abs() < 1e-12, "{even:?}");
    }

    #[test]
    fn rows_that_one_model_did_not_judge_are_no_pairs() {
        let judged = |rows: &[(usize, Option<bool>)]| {
            let mut decisions = Decisions::default();
            rows.iter().for_each(|&(row, label)| {
                decisions.add(row, Counted { verdict: None, reached: true, label });
            });
            decisions
        };
        let (one, two) =
            (judged(&[(1, Some(true)), (2, Some(false)), (4, None)]), judged(&[(2, Some(true)), (9, None), (4, None)]));
        let found = one.compare(&two, alpha());
        let people: Vec<_> = found.iter().map(|paired| (paired.rate, paired.people)).collect();
        assert_eq!(people, [(PairedRate::Approval, 2), (PairedRate::RecourseAll, 2), (PairedRate::Accuracy, 1)]);
        assert_eq!((found[2].only_first, found[2].only_second), (0, 1));
        let unlabelled = judged(&[(1, None)]);
        assert_eq!(unlabelled.compare(&unlabelled, alpha()).len(), 2);
        assert_eq!(one.compare(&Decisions::default(), alpha()), []);
    }

    /// Draws `people` before two models that differ on a tenth of them, in favour of the first with this chance.
    fn draw(random: &mut ChaCha8Rng, people: u64, lopsided: f64) -> Paired {
        let mut pairs = Pairs::default();
        for _ in 0..people {
            match (random.random::<f64>() < 0.1, random.random::<f64>() < lopsided) {
                (false, true) => pairs.both += 1,
                (false, false) => pairs.neither += 1,
                (true, true) => pairs.only_first += 1,
                (true, false) => pairs.only_second += 1,
            }
        }
        pairs.paired(PairedRate::Accuracy, alpha())
    }

    #[test]
    fn equal_models_are_seldom_told_apart_and_the_interval_holds_the_truth() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let equal: Vec<Paired> = (0..2_000).map(|_| draw(&mut random, 400, 0.5)).collect();
        // At most 5%: Binomial(2000, 0.05) is above 135 once in 5,000 times.
        let alarms = equal.iter().filter(|paired| paired.p_value <= 0.05).count();
        assert!(alarms <= 135, "{alarms} of 2,000 equal pairs told apart");
        let other: Vec<Paired> = (0..2_000).map(|_| draw(&mut random, 400, 0.9)).collect();
        assert!(other.iter().all(|paired| (paired.p_value <= 0.045) == (paired.low > 0.0 || paired.high < 0.0)));
        let missed =
            |pairs: &[Paired], truth: f64| pairs.iter().filter(|p| !(p.low <= truth && truth <= p.high)).count();
        assert!(missed(&equal, 0.0) <= 135 && missed(&other, 0.08) <= 135);
        let caught = other.iter().filter(|paired| paired.p_value <= 0.05).count();
        assert!(caught >= 1_990, "{caught} of 2,000 different pairs told apart");
    }
}
