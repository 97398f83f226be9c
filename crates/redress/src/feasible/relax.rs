//! How small a linear function can get over a part of Δ(x): the bound of branch and bound.

use super::action::Domain;
use super::minimise::Linear;
use super::set::FeasibleSet;

/// Rounds over the rows, and evaluations within one row: every one of them gives a valid bound, more give a better one.
const ROUNDS: usize = 2;
const EVALUATIONS: usize = 24;

impl FeasibleSet {
    /// A number that `weights · point` does not fall below at any permitted action in the narrowed `domains`: the
    /// minimum over each lever by itself, and with rows the Lagrangian bound
    ///
    /// ```text
    /// max over μ ≥ 0 of   min over the domains of   weights · point + Σ_j μ_j (row_j − bound_j),
    /// ```
    ///
    /// less what rounding, to `f32` too, can make of it. Infinite when some row cannot hold. For a box it is attained.
    pub fn relaxed_minimum(&self, domains: &[Domain], weights: &[f64]) -> f64 {
        let width = self.point.len();
        let (mut lo, mut hi) = (vec![0.0; width], vec![0.0; width]);
        self.encoded_box(domains, &mut lo, &mut hi);
        let columns = || weights.iter().zip(lo.iter().zip(&hi));
        let apart: f64 = columns().map(|(weight, (lo, hi))| (weight * lo).min(weight * hi)).sum();
        let size: f64 = columns().map(|(weight, (lo, hi))| weight.abs() * lo.abs().max(hi.abs())).sum();
        let apart = apart - 1e-12 * size;
        if self.pieces.is_empty() {
            return apart;
        }
        if !self.rows_may_hold(domains) {
            return f64::INFINITY;
        }
        let here: f64 = weights.iter().zip(&self.point).map(|(weight, &cell)| weight * f64::from(cell)).sum();
        let reach: f64 =
            weights.iter().zip(&self.point).map(|(weight, &cell)| weight.abs() * f64::from(cell).abs()).sum();
        // A coordinate is an `f32` away from what the affine terms say.
        let pad = 2.0 * f64::from(f32::EPSILON) * (size + reach);
        let linear = self.linear(weights);
        apart.max(here + self.lagrangian(domains, &linear) - pad)
    }

    /// The best Lagrangian bound that a few rounds find, relative to staying.
    fn lagrangian(&self, domains: &[Domain], linear: &Linear) -> f64 {
        let mut multipliers = vec![0.0; self.rows.len()];
        let (mut best, _) = self.dual(domains, linear, &multipliers, 0);
        for round in 0..ROUNDS {
            for row in 0..self.rows.len() {
                let (value, slope) = self.dual(domains, linear, &multipliers, row);
                best = best.max(value);
                if slope <= 0.0 && multipliers[row] == 0.0 {
                    continue;
                }
                best = best.max(self.climb(domains, linear, &mut multipliers, row));
            }
            if round == 0 && self.rows.len() == 1 {
                break;
            }
        }
        best
    }

    /// Raises one multiplier to where the bound, concave in it, is largest; returns the largest bound seen.
    fn climb(&self, domains: &[Domain], linear: &Linear, multipliers: &mut [f64], row: usize) -> f64 {
        let mut seen = (f64::NEG_INFINITY, multipliers[row]);
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut next = if multipliers[row] > 0.0 { multipliers[row] } else { self.exchange_rate(linear, row) };
        for _ in 0..EVALUATIONS {
            multipliers[row] = next;
            let (value, slope) = self.dual(domains, linear, multipliers, row);
            if value > seen.0 {
                seen = (value, next);
            }
            if slope > 0.0 {
                low = next
            } else {
                high = next
            }
            next = if high.is_finite() { 0.5 * (low + high) } else { 4.0 * low };
        }
        multipliers[row] = seen.1;
        seen.0
    }

    /// About what a unit of a row is worth: where to start looking.
    fn exchange_rate(&self, linear: &Linear, row: usize) -> f64 {
        let pieces = self.pieces.iter().zip(&linear.terms).flat_map(|(pieces, terms)| pieces.iter().zip(terms));
        let rates = pieces.map(|(piece, term)| {
            let (worth, used) =
                (term.slope.abs() + term.base.abs(), piece.rows[row].slope.abs() + piece.rows[row].base.abs());
            if used > 0.0 { worth / used } else { 0.0 }
        });
        let rate = rates.fold(0.0, f64::max);
        if rate > 0.0 { rate } else { 1.0 }
    }

    /// The bound at these multipliers, and its slope in the multiplier of `row`.
    fn dual(&self, domains: &[Domain], linear: &Linear, multipliers: &[f64], row: usize) -> (f64, f64) {
        let rooms = self.rows.iter().map(|limit| limit.bound + 2.0 * limit.tolerance);
        let mut value: f64 = -rooms.zip(multipliers).map(|(room, multiplier)| room * multiplier).sum::<f64>();
        let mut slope = self.rows.get(row).map_or(0.0, |limit| -(limit.bound + 2.0 * limit.tolerance));
        for ((pieces, terms), domain) in self.pieces.iter().zip(&linear.terms).zip(domains) {
            let mut best = (f64::INFINITY, 0.0);
            for (piece, term) in pieces.iter().zip(terms) {
                let Some((lo, hi)) = piece.span.within(domain) else { continue };
                for x in [lo, hi] {
                    let priced: f64 =
                        piece.rows.iter().zip(multipliers).map(|(entry, price)| price * entry.at(x)).sum();
                    if term.at(x) + priced < best.0 {
                        best = (term.at(x) + priced, piece.rows.get(row).map_or(0.0, |entry| entry.at(x)));
                    }
                }
            }
            value += best.0;
            slope += best.1;
        }
        (value, slope)
    }
}
