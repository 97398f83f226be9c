//! Distributions and samples of a stream of any length in constant memory, the same on every run.

use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;

/// Values are kept as they are up to this many; beyond it they are counted in bins.
const EXACT: usize = 4_096;
/// A bin's upper end over its lower end: a quantile is off by half of this at most, relative to itself.
const GROWTH: f64 = 1.01;
/// Anything smaller is 0.
const SMALLEST: f64 = 1e-9;

/// Quantiles of numbers that are not negative: exact up to 4,096 of them, then within 0.5% of their size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    kept: Vec<f64>,
    /// Counts by bin, ascending; empty while every value is kept.
    bins: BTreeMap<i32, u64>,
    count: u64,
    sum: f64,
    max: f64,
}

/// A distribution in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many values there are.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// One in ten is at or below this.
    pub p10: f64,
    /// One in four.
    pub p25: f64,
    /// One in two: the median.
    pub p50: f64,
    /// Three in four.
    pub p75: f64,
    /// Nine in ten.
    pub p90: f64,
    /// The largest.
    pub max: f64,
}

impl Distribution {
    /// Adds a value; below 0 counts as 0, and what is not finite is left out.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let value = value.max(0.0);
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
        if self.bins.is_empty() && self.kept.len() < EXACT {
            self.kept.push(value);
            return;
        }
        for kept in std::mem::take(&mut self.kept) {
            *self.bins.entry(bin(kept)).or_default() += 1;
        }
        *self.bins.entry(bin(value)).or_default() += 1;
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The distribution in a few numbers; none without values.
    pub fn quantiles(&self) -> Option<Quantiles> {
        if self.count == 0 {
            return None;
        }
        let mut sorted = self.kept.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| self.at(&sorted, share);
        Some(Quantiles {
            n: self.count,
            mean: self.sum / self.count as f64,
            p10: at(0.10),
            p25: at(0.25),
            p50: at(0.50),
            p75: at(0.75),
            p90: at(0.90),
            max: self.max,
        })
    }

    /// The smallest value at or below which this share of the values lies. By hand: the median of 1, 2, 3, 4 is 2.
    fn at(&self, sorted: &[f64], share: f64) -> f64 {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        if let Some(value) = sorted.get(rank as usize - 1) {
            return *value;
        }
        let mut below = 0;
        for (&bin, &count) in &self.bins {
            below += count;
            if below >= rank {
                return middle(bin).min(self.max);
            }
        }
        self.max
    }
}

/// The bin of a value: ⌊log(value) / log(growth)⌋, or the lowest for 0.
fn bin(value: f64) -> i32 {
    if value < SMALLEST { i32::MIN } else { (value.ln() / GROWTH.ln()).floor() as i32 }
}

/// The value in a bin that is off by the same factor at both ends.
fn middle(bin: i32) -> f64 {
    if bin == i32::MIN { 0.0 } else { ((f64::from(bin) + 0.5) * GROWTH.ln()).exp() }
}

/// A simple random sample of a stream: every element gets a number from its key and the seed, and the elements with the
/// smallest numbers stay. Which ones they are depends on neither order nor threads.
#[derive(Debug, Clone)]
pub struct Sample<T> {
    capacity: usize,
    seed: u64,
    seen: u64,
    kept: BinaryHeap<Drawn<T>>,
}

#[derive(Debug, Clone)]
struct Drawn<T> {
    number: u64,
    key: u64,
    value: T,
}

impl<T> PartialEq for Drawn<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.number, self.key) == (other.number, other.key)
    }
}

impl<T> Eq for Drawn<T> {}

impl<T> PartialOrd for Drawn<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Drawn<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.number, self.key).cmp(&(other.number, other.key))
    }
}

impl<T> Sample<T> {
    /// A sample of up to `capacity` elements.
    pub fn new(capacity: usize, seed: u64) -> Self {
        Self { capacity, seed, seen: 0, kept: BinaryHeap::with_capacity(capacity.min(1 << 16) + 1) }
    }

    /// Offers the element with this key, which no other element has; it is made only if it stays for now.
    pub fn offer(&mut self, key: u64, make: impl FnOnce() -> T) {
        self.seen += 1;
        let number = scramble(key ^ scramble(self.seed));
        if self.kept.len() >= self.capacity {
            match self.kept.peek() {
                Some(last) if (number, key) < (last.number, last.key) => drop(self.kept.pop()),
                _ => return,
            }
        }
        self.kept.push(Drawn { number, key, value: make() });
    }

    /// How many elements were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The sample in an order that is random too: any beginning of it is a smaller sample.
    pub fn into_vec(self) -> Vec<T> {
        self.kept.into_sorted_vec().into_iter().map(|drawn| drawn.value).collect()
    }
}

/// The finaliser of SplitMix64: every bit of the key decides over every bit of the number.
fn scramble(key: u64) -> u64 {
    let mut z = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_values_have_exact_quantiles() {
        let mut costs = Distribution::default();
        [4.0, 1.0, 3.0, 2.0, f64::NAN].into_iter().for_each(|value| costs.add(value));
        let found = costs.quantiles().unwrap();
        assert_eq!((found.n, found.mean, found.p10, found.p25, found.p50), (4, 2.5, 1.0, 1.0, 2.0));
        assert_eq!((found.p75, found.p90, found.max), (3.0, 4.0, 4.0));
        assert_eq!(Distribution::default().quantiles(), None);
    }

    #[test]
    fn many_values_have_quantiles_within_half_a_percent() {
        let mut costs = Distribution::default();
        // 1, 2, … 50,000 in another order: 7,919 is a prime that does not divide 50,000.
        (0..50_000u64).for_each(|index| costs.add(((index * 7_919) % 50_000 + 1) as f64));
        let found = costs.quantiles().unwrap();
        for (value, truth) in [(found.p10, 5e3), (found.p25, 12.5e3), (found.p50, 25e3), (found.p90, 45e3)] {
            assert!((value / truth - 1.0).abs() <= 0.005 + 1e-3, "{value} for {truth}");
        }
        assert_eq!((found.max, found.mean), (50_000.0, 25_000.5));
        let bins = costs.bins.len();
        assert!(bins < 1_200, "{bins} bins");
    }

    proptest! {
        #[test]
        fn a_sample_does_not_depend_on_the_order(keys in prop::collection::hash_set(any::<u64>(), 0..200), size in 0usize..50) {
            let take = |keys: &mut dyn Iterator<Item = u64>| {
                let mut sample = Sample::new(size, 7);
                keys.for_each(|key| sample.offer(key, || key));
                sample.into_vec()
            };
            let mut sorted: Vec<u64> = keys.iter().copied().collect();
            sorted.sort_unstable();
            let one = take(&mut sorted.iter().copied());
            prop_assert_eq!(one.len(), size.min(keys.len()));
            prop_assert_eq!(one, take(&mut sorted.into_iter().rev()));
        }
    }

    #[test]
    fn every_element_has_the_same_chance() {
        let mut hits = [0u32; 100];
        for seed in 0..2_000 {
            let mut sample = Sample::new(10, seed);
            (0..100u64).for_each(|key| sample.offer(key, || key));
            sample.into_vec().into_iter().for_each(|key| hits[key as usize] += 1);
        }
        // Binomial(2000, 0.1): mean 200, standard deviation 13.4.
        assert!(hits.iter().all(|&count| (135..=265).contains(&count)), "{hits:?}");
    }
}
