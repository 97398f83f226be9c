//! What the training rows say about one feature: what scaling and costs are made of.

use serde::{Deserialize, Serialize};

/// Up to this many knots describe a distribution.
const KNOTS: usize = 1001;

/// Mean, spread and distribution of one feature over the training rows, in original units (numeric form).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The mean.
    pub mean: f64,
    /// The standard deviation (dividing by the number of rows); 1 for a constant column.
    pub deviation: f64,
    /// The median absolute deviation from the median; 0 when more than half of the rows agree.
    pub mad: f64,
    /// The distribution function at increasing values: all distinct values when there are at most 1001 of them, else
    /// the values at 1001 evenly spaced ranks.
    knots: Vec<Knot>,
    /// Whether the knots are all distinct values, so that the distribution function is a staircase between them.
    complete: bool,
}

/// A point of the distribution function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Knot {
    value: f64,
    /// The share of rows at or below `value`.
    share: f64,
}

impl Statistics {
    /// The statistics of a column of finite values.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let (knots, complete) = knots(&values);
        let (mean, deviation) = mean_and_deviation(&values);
        let centre = median(&values);
        values.iter_mut().for_each(|value| *value = (*value - centre).abs());
        values.sort_unstable_by(f64::total_cmp);
        Self { mean, deviation, mad: median(&values), knots, complete }
    }

    /// The smallest training value; 0 when there were no rows.
    pub fn min(&self) -> f64 {
        self.knots.first().map_or(0.0, |knot| knot.value)
    }

    /// The largest training value; 0 when there were no rows.
    pub fn max(&self) -> f64 {
        self.knots.last().map_or(0.0, |knot| knot.value)
    }

    /// The share of training rows at or below `value`: exact up to 1001 distinct values, else interpolated between the
    /// ranks that were kept. Never decreases in `value`.
    pub fn percentile(&self, value: f64) -> f64 {
        let after = self.knots.partition_point(|knot| knot.value <= value);
        if after == 0 {
            return 0.0;
        }
        let below = self.knots[after - 1];
        match self.knots.get(after) {
            Some(above) if !self.complete => {
                let along = (value - below.value) / (above.value - below.value);
                below.share + along * (above.share - below.share)
            }
            _ => below.share,
        }
    }

    /// The smallest kept value at or below which at least this share of the training rows lies. `share` outside `[0, 1]`
    /// gives the nearest end.
    pub fn quantile(&self, share: f64) -> f64 {
        let index = self.knots.partition_point(|knot| knot.share < share);
        self.knots.get(index).or(self.knots.last()).map_or(0.0, |knot| knot.value)
    }

    /// Whether the numbers can scale a column and describe a distribution.
    pub(super) fn is_sound(&self) -> bool {
        let finite = self.mean.is_finite() && self.deviation.is_finite() && self.mad.is_finite();
        let increasing =
            self.knots.windows(2).all(|pair| pair[0].value < pair[1].value && pair[0].share <= pair[1].share);
        let ends = self.knots.iter().all(|knot| knot.value.is_finite() && (0.0..=1.0).contains(&knot.share));
        finite && self.deviation > 0.0 && self.mad >= 0.0 && increasing && ends
    }
}

/// A constant column has deviation 1: there is nothing to scale. Rounding in the mean must not make it look varied.
fn mean_and_deviation(sorted: &[f64]) -> (f64, f64) {
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else { return (0.0, 1.0) };
    if first == last {
        return (first, 1.0);
    }
    let count = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let deviation = (sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let usable = mean.is_finite() && deviation.is_finite() && deviation > 0.0;
    if usable { (mean, deviation) } else { (first, 1.0) }
}

fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => 0.5 * sorted[count / 2 - 1] + 0.5 * sorted[count / 2],
    }
}

fn knots(sorted: &[f64]) -> (Vec<Knot>, bool) {
    let count = sorted.len();
    let share = |rank: usize| (rank + 1) as f64 / count as f64;
    let is_last = |rank: usize| rank + 1 == count || sorted[rank + 1] > sorted[rank];
    let distinct = (0..count).filter(|&rank| is_last(rank)).count();
    if distinct <= KNOTS {
        let every = (0..count).filter(|&rank| is_last(rank));
        return (every.map(|rank| Knot { value: sorted[rank], share: share(rank) }).collect(), true);
    }
    let mut kept: Vec<Knot> = Vec::with_capacity(KNOTS);
    for step in 0..KNOTS {
        let value = sorted[step * (count - 1) / (KNOTS - 1)];
        if kept.last().is_none_or(|knot| knot.value < value) {
            let rank = sorted.partition_point(|&other| other <= value) - 1;
            kept.push(Knot { value, share: share(rank) });
        }
    }
    (kept, false)
}
