//! Binomial tails, in f64, with the rounding on the safe side.

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use super::{FailureProb, MissRate};

/// What a tail may be off by: `beta_reg` is good to about 1e-14 relative; a tail within this of α counts as above it,
/// so that rounding never turns a missing guarantee into one.
const ROUNDING: f64 = 1e-10;

/// P[Binomial(n, p) ≤ k] = I₍₁₋ₚ₎(n − k, k + 1). By hand: P[Binomial(2, ½) ≤ 0] = 0.25.
pub fn binomial_tail(n: u64, p: f64, k: u64) -> f64 {
    if k >= n { 1.0 } else { beta_reg((n - k) as f64, (k + 1) as f64, 1.0 - p) }
}

/// k(n, ε, α) = max{k : P[Binomial(n, ε) ≤ k] ≤ α}: how many of `n` calibration scores may miss the threshold. `None`
/// where even k = 0 proves nothing, that is where (1 − ε)ⁿ > α. By hand, at ε = α = 0.05: n = 59 → 0, 735 → 26,
/// 1583 → 64.
pub fn allowed_misses(n: u64, epsilon: MissRate, alpha: FailureProb) -> Option<u64> {
    let proves = |k: u64| binomial_tail(n, epsilon.get(), k) * (1.0 + ROUNDING) <= alpha.get();
    if n == 0 || !proves(0) {
        return None;
    }
    // The tail grows with k: bisect between a k that proves and one that does not (the tail at n is 1).
    let (mut holds, mut fails) = (0, n);
    while fails - holds > 1 {
        let middle = holds + (fails - holds) / 2;
        if proves(middle) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Some(holds)
}

/// The fewest calibration rows that can prove anything: the smallest n with (1 − ε)ⁿ ≤ α. By hand: 59 at 0.05, 0.05.
pub fn rows_needed(epsilon: MissRate, alpha: FailureProb) -> u64 {
    let mut rows = (alpha.get().ln() / (-epsilon.get()).ln_1p()).floor().max(1.0) as u64;
    while allowed_misses(rows, epsilon, alpha).is_none() {
        rows += 1;
    }
    rows
}

/// A rate with its two-sided confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The observed rate; 0 of 0 is 0, with the interval [0, 1].
    pub rate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Successes.
    pub hits: u64,
    /// Trials.
    pub n: u64,
}

/// The Clopper–Pearson interval: the rates p for which `hits` of `n` lies in neither tail of weight `alpha`/2. By hand:
/// 0 of 10 at 0.05 → [0, 1 − 0.025^(1/10)] = [0, 0.3085].
pub fn clopper_pearson(hits: u64, n: u64, alpha: FailureProb) -> Interval {
    let half = alpha.get() / 2.0;
    let rate = if n == 0 { 0.0 } else { hits as f64 / n as f64 };
    let low = if hits == 0 { 0.0 } else { rate_where(|p| 1.0 - binomial_tail(n, p, hits - 1) <= half) };
    let high = if hits >= n { 1.0 } else { 1.0 - rate_where(|q| binomial_tail(n, 1.0 - q, hits) <= half) };
    Interval { rate, low, high, hits, n }
}

/// The largest p in [0, 1] for which `holds`, which is true at 0 and turns false once; to the last bit but a few.
fn rate_where(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn five_percent() -> (MissRate, FailureProb) {
        (MissRate::new(0.05).unwrap(), FailureProb::new(0.05).unwrap())
    }

    /// The sum of the probabilities, term by term: the slow twin.
    fn tail_by_sum(n: u64, p: f64, k: u64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for i in 0..k.min(n) {
            term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    #[test]
    fn misses_by_hand() {
        let (epsilon, alpha) = five_percent();
        for (n, k) in [(58, None), (59, Some(0)), (735, Some(26)), (1583, Some(64))] {
            assert_eq!(allowed_misses(n, epsilon, alpha), k, "n = {n}");
        }
        assert_eq!(rows_needed(epsilon, alpha), 59);
    }

    #[test]
    fn clopper_pearson_by_hand() {
        let alpha = FailureProb::new(0.05).unwrap();
        let none = clopper_pearson(0, 10, alpha);
        assert_eq!(none.low, 0.0);
        assert!((none.high - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-9);
        let half = clopper_pearson(5, 10, alpha);
        assert!((half.low - 0.187_086).abs() < 1e-5 && (half.high - 0.812_914).abs() < 1e-5, "{half:?}");
        let empty = clopper_pearson(0, 0, alpha);
        assert_eq!((empty.rate, empty.low, empty.high), (0.0, 0.0, 1.0));
    }

    proptest! {
        #[test]
        fn the_tail_is_the_sum(n in 1u64..400, p in 0.01f64..0.6, share in 0.0f64..1.0) {
            let k = (share * n as f64) as u64;
            prop_assert!((binomial_tail(n, p, k) - tail_by_sum(n, p, k).min(1.0)).abs() < 1e-9);
        }

        #[test]
        fn k_is_the_largest_that_proves(n in 1u64..3000, epsilon in 0.01f64..0.5, alpha in 0.001f64..0.5) {
            let (rate, failure) = (MissRate::new(epsilon).unwrap(), FailureProb::new(alpha).unwrap());
            match allowed_misses(n, rate, failure) {
                None => prop_assert!((1.0 - epsilon).powi(n as i32) > alpha * (1.0 - 1e-9)),
                Some(k) => {
                    prop_assert!(binomial_tail(n, epsilon, k) <= alpha);
                    prop_assert!(binomial_tail(n, epsilon, k + 1) > alpha * (1.0 - 1e-9));
                }
            }
        }

        #[test]
        fn the_interval_holds_the_rate(n in 1u64..2000, share in 0.0f64..=1.0, alpha in 0.001f64..0.5) {
            let hits = (share * n as f64).round() as u64;
            let found = clopper_pearson(hits, n, FailureProb::new(alpha).unwrap());
            prop_assert!(found.low <= found.rate && found.rate <= found.high);
            prop_assert!(found.low >= 0.0 && found.high <= 1.0);
        }
    }
}
