//! What a part of Δ(x) can lead to: the questions of branch and bound.
//!
//! A solver narrows a copy of [`FeasibleSet::domains`] and asks about the actions that remain. Every answer here is
//! sound: no permitted action in the narrowed domains lies outside it, rounding to `f32` included.

use super::action::{Domain, Move};
use super::set::FeasibleSet;

impl FeasibleSet {
    /// The tightest interval of every encoded column over the actions whose moves lie in `domains`, rows not considered:
    /// writes [`Encoding::width`](crate::encoding::Encoding::width) numbers to each of `lo` and `hi`. Empty domains give
    /// an interval that may be empty too.
    ///
    /// `lo` and `hi` bound the points that [`FeasibleSet::encode`] makes, exactly: encoding never decreases in a value,
    /// so the ends of the values are the ends of the columns.
    pub fn encoded_box(&self, domains: &[Domain], lo: &mut [f64], hi: &mut [f64]) {
        let encoding = &self.shared.encoding;
        for (column, &coordinate) in self.point.iter().enumerate() {
            (lo[column], hi[column]) = (f64::from(coordinate), f64::from(coordinate));
        }
        for (lever, (rule, domain)) in self.shared.levers.iter().zip(domains).enumerate() {
            let (low, high) = match domain {
                Domain::Range { lo, hi } => (Move::By(*lo), Move::By(*hi)),
                Domain::Grid { lo, hi, .. } => (Move::Steps(*lo), Move::Steps(*hi)),
                Domain::Choice { to, .. } => {
                    for (category, column) in encoding.columns(rule.feature).enumerate() {
                        lo[column] = if to[..] == [category] { 1.0 } else { 0.0 };
                        hi[column] = if to.contains(&category) { 1.0 } else { 0.0 };
                    }
                    continue;
                }
            };
            lo[rule.column] = f64::from(encoding.scaled(rule.feature, self.moved(lever, low)));
            hi[rule.column] = f64::from(encoding.scaled(rule.feature, self.moved(lever, high)));
        }
        for (effect, rule) in self.shared.effects.iter().enumerate() {
            let (low, high) = self.forced_between(effect, domains);
            let value = self.person[rule.feature];
            // Far more than the rounding of a sum and of tidying it, far less than an `f32` can tell.
            let pad = 1e-11 * (value.abs() + low.abs() + high.abs());
            let column = encoding.columns(rule.feature).start;
            lo[column] = f64::from(encoding.scaled(rule.feature, value + low - pad));
            hi[column] = f64::from(encoding.scaled(rule.feature, value + high + pad));
        }
    }

    /// The smallest and the largest amount that links can add to an effect.
    fn forced_between(&self, effect: usize, domains: &[Domain]) -> (f64, f64) {
        let mut total = (0.0, 0.0);
        for (pieces, domain) in self.pieces.iter().zip(domains) {
            let forced = pieces.iter().filter_map(|piece| Some(piece.effects[effect].over(piece.span.within(domain)?)));
            let hull = forced.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0));
            total = (total.0 + hull.0, total.1 + hull.1);
        }
        total
    }

    /// Whether, row by row, some action in `domains` could satisfy it. `false` proves that the narrowed domains hold no
    /// permitted action; `true` proves nothing, since each row is looked at alone.
    pub fn rows_may_hold(&self, domains: &[Domain]) -> bool {
        (0..self.rows.len()).all(|row| {
            let least = self.pieces.iter().zip(domains).map(|(pieces, domain)| {
                let terms = pieces.iter().filter_map(|piece| Some(piece.rows[row].over(piece.span.within(domain)?).0));
                terms.fold(f64::INFINITY, f64::min)
            });
            least.sum::<f64>() <= self.rows[row].bound + 2.0 * self.rows[row].tolerance
        })
    }
}
