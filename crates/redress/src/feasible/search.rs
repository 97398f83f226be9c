//! Depth-first search over a lattice for the cheapest action that keeps every row.
//!
//! A branch is cut when even the cheapest moves of the levers to come cannot beat the best action so far, or when even
//! the most favourable ones cannot satisfy some row. Moves are tried from cheap to dear, so the first branch cut in a
//! piece is the last looked at.

use super::action::{Action, Move};
use super::set::FeasibleSet;

/// A cost that is a sum over the levers, convex in the move within each piece.
pub(super) trait Cost {
    /// What the move `x` in a piece of a lever costs.
    fn at(&self, lever: usize, piece: usize, x: f64) -> f64;
    /// The cheapest whole move in `[lo, hi]` (whole numbers).
    fn best(&self, lever: usize, piece: usize, within: (f64, f64)) -> f64;
}

/// What a search found.
pub(super) struct Found {
    /// The cheapest permitted action seen; staying if nothing is cheaper.
    pub action: Action,
    /// Whether nothing was left unseen.
    pub complete: bool,
}

/// Searches the actions of a finite set, looking at no more than `nodes` partial actions.
pub(super) fn search(set: &FeasibleSet, cost: &impl Cost, nodes: usize) -> Found {
    let levers = set.pieces.len();
    let mut search = Search {
        set,
        cost,
        rest_cost: vec![0.0; levers + 1],
        rest_rows: vec![vec![0.0; set.rows.len()]; levers + 1],
        order: set.pieces.iter().map(|pieces| (0..pieces.len()).collect()).collect(),
        moves: Vec::with_capacity(levers),
        sums: vec![vec![0.0; set.rows.len()]; levers + 1],
        best: (stay_cost(set, cost), set.stay()),
        nodes,
    };
    search.prepare();
    let complete = search.descend(0.0);
    Found { action: search.best.1, complete }
}

fn stay_cost(set: &FeasibleSet, cost: &impl Cost) -> f64 {
    let stay = set.domains.iter().enumerate();
    stay.map(|(lever, domain)| set.piece_of(lever, domain.stay()).map_or(0.0, |piece| cost.at(lever, piece, 0.0))).sum()
}

struct Search<'a, C> {
    set: &'a FeasibleSet,
    cost: &'a C,
    /// For each depth: the least that the levers from there on can cost, and the least they can add to each row.
    rest_cost: Vec<f64>,
    rest_rows: Vec<Vec<f64>>,
    /// For each lever: its pieces from cheap to dear.
    order: Vec<Vec<usize>>,
    moves: Vec<Move>,
    /// For each depth: what the moves so far add to each row.
    sums: Vec<Vec<f64>>,
    best: (f64, Action),
    nodes: usize,
}

impl<C: Cost> Search<'_, C> {
    fn prepare(&mut self) {
        for lever in (0..self.set.pieces.len()).rev() {
            let pieces = &self.set.pieces[lever];
            let least = |piece: usize| {
                let x = self.cost.best(lever, piece, pieces[piece].span.choices());
                self.cost.at(lever, piece, x)
            };
            self.order[lever].sort_by(|&a, &b| least(a).total_cmp(&least(b)));
            self.rest_cost[lever] =
                self.rest_cost[lever + 1] + self.order[lever].first().map_or(0.0, |&piece| least(piece));
            for row in 0..self.set.rows.len() {
                let terms = pieces.iter().map(|piece| piece.rows[row].over(piece.span.choices()).0);
                self.rest_rows[lever][row] = self.rest_rows[lever + 1][row] + terms.fold(f64::INFINITY, f64::min);
            }
        }
    }

    /// Extends the moves so far by every promising move of the next lever; `false` when the nodes ran out.
    fn descend(&mut self, spent: f64) -> bool {
        let lever = self.moves.len();
        if lever == self.set.pieces.len() {
            if self.improves(spent) && self.set.rows_hold(&self.moves) {
                self.best = (spent, Action { moves: self.moves.clone() });
            }
            return true;
        }
        for index in 0..self.order[lever].len() {
            let piece = self.order[lever][index];
            if let Some(within) = self.room(lever, piece)
                && !self.walk(lever, piece, within, spent)
            {
                return false;
            }
        }
        true
    }

    /// Ties are left alone, and what only rounding tells apart is a tie.
    fn improves(&self, cost: f64) -> bool {
        cost < self.best.0 - 1e-12 * self.best.0.abs()
    }

    /// Tries the moves of a piece from the cheapest outwards.
    fn walk(&mut self, lever: usize, piece: usize, (lo, hi): (f64, f64), spent: f64) -> bool {
        let start = self.cost.best(lever, piece, (lo, hi));
        let (mut below, mut above) = (start, start + 1.0);
        while below >= lo || above <= hi {
            let (left, right) = (self.cost.at(lever, piece, below), self.cost.at(lever, piece, above));
            let goes_left = below >= lo && (above > hi || left <= right);
            let (x, cost) = if goes_left { (below, left) } else { (above, right) };
            if !self.improves(spent + cost + self.rest_cost[lever + 1]) {
                return true;
            }
            if goes_left {
                below -= 1.0
            } else {
                above += 1.0
            }
            if self.nodes == 0 {
                return false;
            }
            self.nodes -= 1;
            for row in 0..self.set.rows.len() {
                self.sums[lever + 1][row] = self.sums[lever][row] + self.set.pieces[lever][piece].rows[row].at(x);
            }
            self.moves.push(self.set.pieces[lever][piece].span.step(x));
            let complete = self.descend(spent + cost);
            self.moves.pop();
            if !complete {
                return false;
            }
        }
        true
    }

    /// The moves of a piece after which, row by row, the rest could still satisfy it.
    fn room(&self, lever: usize, piece: usize) -> Option<(f64, f64)> {
        let piece = &self.set.pieces[lever][piece];
        let (mut lo, mut hi) = piece.span.choices();
        for (row, limit) in self.set.rows.iter().enumerate() {
            let term = piece.rows[row];
            let room = limit.bound + 2.0 * limit.tolerance
                - self.sums[lever][row]
                - term.base
                - self.rest_rows[lever + 1][row];
            if term.slope == 0.0 {
                if room < 0.0 {
                    return None;
                }
                continue;
            }
            let at = room / term.slope;
            let fuzz = 1e-9 * at.abs().max(1.0);
            if term.slope > 0.0 {
                hi = hi.min((at + fuzz).floor());
            } else {
                lo = lo.max((at - fuzz).ceil());
            }
        }
        (lo <= hi).then_some((lo, hi))
    }
}
