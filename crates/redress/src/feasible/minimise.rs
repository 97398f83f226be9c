//! The linear oracle: the permitted action that lowers a linear function of the point most.
//!
//! The levers add up, so lever by lever is exact as long as the rows hold. Where they do not, a finite set is searched
//! with pruning, a small polytope is a table of its corners, and the rest is a mixed-integer program.

use super::action::{Action, Domain, Move};
use super::pieces::{Affine, Piece, Span};
use super::search::{Cost, search};
use super::set::{FeasibleSet, position};
use super::{corners, program};

/// A search over a lattice may look at this many partial actions before the program takes over.
const SEARCH_NODES: usize = 20_000;

/// A linear function of the action: for each lever and piece, what a move adds to it.
pub(super) struct Linear {
    pub terms: Vec<Vec<Affine>>,
}

impl FeasibleSet {
    /// δ* = argmin over Δ(x) of ∇ᵀ(point after the action − point before): the action that *lowers* the linear function
    /// with this gradient most. Exact; for a box it is
    ///
    /// ```text
    /// δ_i = lo_i  where ∇_i > 0,   hi_i  where ∇_i < 0,   0  where ∇_i = 0.
    /// ```
    ///
    /// `gradient` has one entry a column of the point; what is not a number counts as 0. The result is always permitted
    /// and never worse than doing nothing. The one case without a minimum is a continuous change that sets off a
    /// once-in-all link and is better the smaller it is; it is answered with a millionth of its range.
    pub fn minimise(&self, gradient: &[f32]) -> Action {
        let weights: Vec<f64> = gradient.iter().map(|&entry| finite(entry)).collect();
        if self.is_box() {
            return self.minimise_box(&weights);
        }
        let linear = self.linear(&weights);
        let apart = self.minimise_apart(&linear);
        if self.rows_hold(&apart.moves) {
            return apart;
        }
        let candidate = self.minimise_together(&linear).unwrap_or_else(|| self.shrink(apart));
        if self.value(&linear, &candidate) < 0.0 { self.without_idle_moves(&linear, candidate) } else { self.stay() }
    }

    /// The closed form for a box.
    fn minimise_box(&self, weights: &[f64]) -> Action {
        let levers = self.shared.levers.iter().zip(&self.domains);
        let step = |weight: f64, domain: &Domain| match domain {
            Domain::Range { lo, hi } => Move::By(end(weight, *lo, *hi)),
            Domain::Grid { lo, hi, .. } => Move::Steps(end(weight, *lo, *hi)),
            Domain::Choice { from, .. } => Move::To(*from),
        };
        Action { moves: levers.map(|(rule, domain)| step(weights[rule.column], domain)).collect() }
    }

    /// `weights · point` as a function of the action, relative to doing nothing.
    pub(super) fn linear(&self, weights: &[f64]) -> Linear {
        let encoding = &self.shared.encoding;
        let per_unit = |feature: usize| weights[encoding.columns(feature).start] / encoding.deviation(feature);
        let term = |lever: usize, piece: &Piece| {
            let rule = &self.shared.levers[lever];
            let mut sum = match (&piece.span, &self.domains[lever]) {
                (Span::Category(to), Domain::Choice { from, .. }) => {
                    Affine { base: weights[rule.column + to] - weights[rule.column + from], slope: 0.0 }
                }
                (_, Domain::Grid { step, .. }) => Affine { base: 0.0, slope: per_unit(rule.feature) * step },
                _ => Affine { base: 0.0, slope: per_unit(rule.feature) },
            };
            for (effect, forced) in self.shared.effects.iter().zip(&piece.effects) {
                sum.base += forced.base * per_unit(effect.feature);
                sum.slope += forced.slope * per_unit(effect.feature);
            }
            sum
        };
        let levers = self.pieces.iter().enumerate();
        Linear {
            terms: levers.map(|(lever, pieces)| pieces.iter().map(|piece| term(lever, piece)).collect()).collect(),
        }
    }

    /// The value of a linear function at an action.
    pub(super) fn value(&self, linear: &Linear, action: &Action) -> f64 {
        let levers = action.moves.iter().enumerate();
        levers
            .map(|(lever, &step)| {
                self.piece_of(lever, step).map_or(0.0, |piece| linear.terms[lever][piece].at(position(step)))
            })
            .sum()
    }

    /// The minimum lever by lever, as if there were no rows.
    fn minimise_apart(&self, linear: &Linear) -> Action {
        let best = |lever: usize| {
            let mut best = (0.0, self.domains[lever].stay());
            for (piece, term) in self.pieces[lever].iter().zip(&linear.terms[lever]) {
                let (lo, hi) = piece.span.choices();
                for x in [lo, hi] {
                    if term.at(x) < best.0 {
                        best = (term.at(x), piece.span.step(x));
                    }
                }
            }
            best.1
        };
        Action { moves: (0..self.domains.len()).map(best).collect() }
    }

    /// The minimum with rows; `None` when no method came to an end, which only numerical trouble explains.
    fn minimise_together(&self, linear: &Linear) -> Option<Action> {
        if self.is_finite() {
            let found = search(self, linear, SEARCH_NODES);
            if found.complete {
                return Some(found.action);
            }
            let solved = program::minimise(self, linear).filter(|action| self.contains(action));
            let better = solved.filter(|action| self.value(linear, action) < self.value(linear, &found.action));
            return Some(better.unwrap_or(found.action));
        }
        if let Some(corners) = self.corners.get_or_init(|| corners::of(self)) {
            return corners::minimise(self, corners, linear);
        }
        program::minimise(self, linear).map(|action| self.shrink(action)).filter(|action| self.contains(action))
    }

    /// Takes the continuous moves back towards staying, as little as the rows need; everything back if that is not
    /// enough. Staying satisfies every row, so for continuous moves without links it always is.
    pub(super) fn shrink(&self, mut action: Action) -> Action {
        if self.rows_hold(&action.moves) {
            return action;
        }
        let share = (0..self.rows.len()).map(|row| {
            let terms = action.moves.iter().enumerate().map(|(lever, &step)| (step, self.row_term(lever, row, step)));
            let (free, fixed): (Vec<_>, Vec<_>) = terms.partition(|(step, _)| matches!(step, Move::By(_)));
            let sum = |terms: &[(Move, f64)]| terms.iter().map(|term| term.1).sum::<f64>();
            let (free, room) = (sum(&free), self.rows[row].bound - sum(&fixed));
            if free > room { (room / free).max(0.0) } else { 1.0 }
        });
        let share = share.fold(1.0, f64::min);
        for step in &mut action.moves {
            if let Move::By(change) = step {
                *change *= share;
            }
        }
        if self.rows_hold(&action.moves) { action } else { self.stay() }
    }

    /// Undoes moves that gain nothing: where the gradient is 0 the change is 0.
    fn without_idle_moves(&self, linear: &Linear, mut action: Action) -> Action {
        for lever in 0..self.domains.len() {
            let step = action.moves[lever];
            let gain = self.piece_of(lever, step).map_or(0.0, |piece| linear.terms[lever][piece].at(position(step)));
            if gain == 0.0 && !self.domains[lever].stays(step) {
                action.moves[lever] = self.domains[lever].stay();
                if !self.rows_hold(&action.moves) {
                    action.moves[lever] = step;
                }
            }
        }
        action
    }
}

impl Cost for Linear {
    fn at(&self, lever: usize, piece: usize, x: f64) -> f64 {
        self.terms[lever][piece].at(x)
    }

    fn best(&self, lever: usize, piece: usize, (lo, hi): (f64, f64)) -> f64 {
        let slope = self.terms[lever][piece].slope;
        if slope == 0.0 { 0f64.clamp(lo, hi) } else { end(slope, lo, hi) }
    }
}

/// The end that a positive or negative slope drives to.
fn end<T: Default>(slope: f64, lo: T, hi: T) -> T {
    if slope > 0.0 {
        lo
    } else if slope < 0.0 {
        hi
    } else {
        T::default()
    }
}

/// The entry as a number that sums stay finite with.
fn finite(entry: f32) -> f64 {
    if entry.is_nan() { 0.0 } else { f64::from(entry.clamp(-f32::MAX, f32::MAX)) }
}
