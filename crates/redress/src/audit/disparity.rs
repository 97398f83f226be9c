//! Whether groups are treated differently, with a stated chance of a false alarm.
//!
//! Every group is compared with the rest of its column by Fisher's exact test, for each rate. All comparisons of an audit
//! share one α by Holm's rule, so that where nothing differs the chance that anything is flagged is at most α.

use serde::Serialize;
use statrs::function::gamma::ln_gamma;

use crate::calibrate::FailureProb;

/// A rate that groups are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Approved, of everybody.
    Approval,
    /// Approved after a permitted change, of those denied.
    RecourseNeg,
    /// Approved as they are or after a permitted change, of everybody.
    RecourseAll,
}

impl Rate {
    /// All rates, in the order of reports.
    pub const ALL: [Rate; 3] = [Rate::Approval, Rate::RecourseNeg, Rate::RecourseAll];

    /// Its name in files and requirements.
    pub fn name(self) -> &'static str {
        match self {
            Rate::Approval => "approval",
            Rate::RecourseNeg => "recourse_neg",
            Rate::RecourseAll => "recourse_all",
        }
    }
}

/// One comparison: a group against everybody else in its column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disparity {
    /// The group column.
    pub column: String,
    /// The group.
    pub value: String,
    /// The rate compared.
    pub rate: Rate,
    /// The rate of the group.
    pub group: f64,
    /// The rate of the others.
    pub others: f64,
    /// P[counts at least as unlikely as these | the group is no different].
    pub p_value: f64,
    /// The same, made up for the number of comparisons.
    pub adjusted: f64,
    /// Whether the difference is flagged: adjusted ≤ α.
    pub flagged: bool,
}

/// Hits and trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Successes.
    pub hits: u64,
    /// Trials.
    pub n: u64,
}

impl Count {
    fn rate(self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.hits as f64 / self.n as f64 }
    }
}

/// One group's counts for one rate, before they are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The group column.
    pub column: String,
    /// The group.
    pub value: String,
    /// The rate.
    pub rate: Rate,
    /// The group's.
    pub group: Count,
    /// Everybody else's in the column.
    pub others: Count,
}

/// Makes every comparison and flags those that hold at α over all of them. Comparisons with nobody on one side are left
/// out; a column of two groups is one comparison, since either group is the other's rest.
pub fn compare(comparisons: &[Comparison], alpha: FailureProb) -> Vec<Disparity> {
    let both_sides = |comparison: &&Comparison| comparison.group.n > 0 && comparison.others.n > 0;
    let mut found: Vec<Disparity> = comparisons
        .iter()
        .filter(both_sides)
        .map(|comparison| Disparity {
            column: comparison.column.clone(),
            value: comparison.value.clone(),
            rate: comparison.rate,
            group: comparison.group.rate(),
            others: comparison.others.rate(),
            p_value: fisher_exact(comparison.group, comparison.others),
            adjusted: 1.0,
            flagged: false,
        })
        .collect();
    let adjusted = holm(&found.iter().map(|disparity| disparity.p_value).collect::<Vec<_>>());
    for (disparity, adjusted) in found.iter_mut().zip(adjusted) {
        disparity.adjusted = adjusted;
        disparity.flagged = adjusted <= alpha.get();
    }
    found
}

/// Holm's adjusted p-values: the smallest times m, the next times m − 1, and so on, never decreasing. By hand: 0.01,
/// 0.04, 0.03 → 0.03, 0.06, 0.06.
pub(super) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - rank) as f64);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

/// Fisher's exact test, two-sided: the probability, with both margins fixed and no difference, of counts that are at most
/// as likely as these. By hand: 3 of 4 against 1 of 4 → (16 + 16 + 1 + 1)/70 = 0.4857.
pub fn fisher_exact(one: Count, other: Count) -> f64 {
    let table = Margins { drawn: one.n, hits: one.hits + other.hits, all: one.n + other.n };
    let (low, high) = table.support();
    let observed = table.log_probability(one.hits);
    // Counts as likely as the observed one must not be lost to rounding.
    let limit = observed + 1e-7;
    let unlikely = |k: u64| table.log_probability(k) <= limit;
    let mode = table.mode().clamp(low, high);
    // Probabilities rise up to the mode and fall after it: the unlikely counts are the two ends.
    let left = last_where(low, mode, unlikely);
    let right = if mode < high { first_where(mode + 1, high, unlikely) } else { None };
    let left = left.map_or(0.0, |left| table.sum(left, low));
    let right = right.map_or(0.0, |right| table.sum(right, high));
    (left + right).min(1.0)
}

/// A hypergeometric distribution: how many of `drawn` people are among `hits` of `all`.
struct Margins {
    drawn: u64,
    hits: u64,
    all: u64,
}

impl Margins {
    fn support(&self) -> (u64, u64) {
        ((self.drawn + self.hits).saturating_sub(self.all), self.drawn.min(self.hits))
    }

    fn mode(&self) -> u64 {
        let (drawn, hits, all) = (self.drawn as f64, self.hits as f64, self.all as f64);
        ((drawn + 1.0) * (hits + 1.0) / (all + 2.0)).floor() as u64
    }

    fn log_probability(&self, k: u64) -> f64 {
        log_choose(self.hits, k) + log_choose(self.all - self.hits, self.drawn - k) - log_choose(self.all, self.drawn)
    }

    /// The probabilities from one count outwards to an end of the support, until they no longer add anything.
    fn sum(&self, from: u64, end: u64) -> f64 {
        let mut term = self.log_probability(from).exp();
        let mut total = term;
        let mut k = from;
        while k != end && term > total * 1e-17 {
            let next = if end > k { k + 1 } else { k - 1 };
            term *= self.ratio(k.min(next), next > k);
            total += term;
            k = next;
        }
        total
    }

    /// P(k + 1) / P(k), or its inverse.
    fn ratio(&self, k: u64, up: bool) -> f64 {
        let (k, drawn, hits, all) = (k as f64, self.drawn as f64, self.hits as f64, self.all as f64);
        let ratio = (hits - k) * (drawn - k) / ((k + 1.0) * (all - hits - drawn + k + 1.0));
        if up { ratio } else { 1.0 / ratio }
    }
}

/// ln C(n, k).
fn log_choose(n: u64, k: u64) -> f64 {
    ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0)
}

/// The last k in [low, high] for which `holds`, which is true up to some k and false after it.
fn last_where(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(low) {
        return None;
    }
    let (mut yes, mut no) = (low, high + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    Some(yes)
}

/// The first k in [low, high] for which `holds`, which is false up to some k and true after it.
fn first_where(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(high) {
        return None;
    }
    if holds(low) {
        return Some(low);
    }
    let (mut no, mut yes) = (low, high);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    Some(yes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn count(hits: u64, n: u64) -> Count {
        Count { hits, n }
    }

    #[test]
    fn fisher_by_hand() {
        assert!((fisher_exact(count(3, 4), count(1, 4)) - 34.0 / 70.0).abs() < 1e-12);
        assert!((fisher_exact(count(2, 2), count(0, 2)) - 2.0 / 6.0).abs() < 1e-12);
        assert_eq!(fisher_exact(count(5, 5), count(7, 7)), 1.0);
    }

    #[test]
    fn holm_by_hand() {
        let found = holm(&[0.01, 0.04, 0.03]);
        assert!(found.iter().zip([0.03, 0.06, 0.06]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// Every count of the support, added up one by one.
    fn fisher_by_sum(one: Count, other: Count) -> f64 {
        let table = Margins { drawn: one.n, hits: one.hits + other.hits, all: one.n + other.n };
        let (low, high) = table.support();
        let observed = table.log_probability(one.hits);
        let all = (low..=high).map(|k| table.log_probability(k));
        all.filter(|&log| log <= observed + 1e-7).map(f64::exp).sum::<f64>().min(1.0)
    }

    proptest! {
        #[test]
        fn the_fast_sum_is_the_slow_one(a in 0u64..60, b in 0u64..60, more_a in 0u64..60, more_b in 0u64..60) {
            let (one, other) = (count(a, a + more_a), count(b, b + more_b));
            prop_assume!(one.n > 0 && other.n > 0);
            let (fast, slow) = (fisher_exact(one, other), fisher_by_sum(one, other));
            prop_assert!((fast - slow).abs() <= 1e-9 * slow.max(1e-3), "{fast} {slow}");
        }
    }

    #[test]
    fn a_million_people_are_compared_at_once() {
        let p = fisher_exact(count(300_000, 600_000), count(199_200, 400_000));
        assert!(p > 1e-4 && p < 0.1, "{p}");
    }

    /// Two columns of three groups with the same rates everywhere but where a disparity is planted.
    fn audit(rng: &mut ChaCha8Rng, planted: f64) -> bool {
        let mut comparisons = Vec::new();
        for column in ["sex", "race"] {
            let draw = |rng: &mut ChaCha8Rng, rate: f64| {
                let hits = (0..300).filter(|_| rng.random::<f64>() < rate).count() as u64;
                count(hits, 300)
            };
            let shift = if column == "race" { planted } else { 0.0 };
            let groups: Vec<Count> = [0.0, 0.0, shift].map(|shift| draw(rng, 0.7 - shift)).to_vec();
            let all = groups.iter().fold(count(0, 0), |sum, group| count(sum.hits + group.hits, sum.n + group.n));
            for (index, group) in groups.iter().enumerate() {
                comparisons.push(Comparison {
                    column: column.into(),
                    value: index.to_string(),
                    rate: Rate::RecourseAll,
                    group: *group,
                    others: count(all.hits - group.hits, all.n - group.n),
                });
            }
        }
        compare(&comparisons, FailureProb::new(0.05).unwrap()).iter().any(|disparity| disparity.flagged)
    }

    #[test]
    fn a_planted_disparity_is_caught_and_its_absence_is_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let alarms = (0..2_000).filter(|_| audit(&mut rng, 0.0)).count();
        // At most 5%: Binomial(2000, 0.05) is above 135 once in 5,000 times.
        assert!(alarms <= 135, "{alarms} false alarms in 2,000 audits");
        let caught = (0..200).filter(|_| audit(&mut rng, 0.2)).count();
        assert!(caught >= 195, "{caught} of 200 planted disparities caught");
    }
}
