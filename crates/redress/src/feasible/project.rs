//! The permitted action nearest to a point: what a projected gradient step ends with.

use super::action::{Action, Domain, Move};
use super::nearest::{HalfSpace, nearest_to_origin};
use super::pieces::{Piece, Span};
use super::search::{Cost, search};
use super::set::{FeasibleSet, position};

/// A search over a lattice may look at this many partial actions; what it found by then is permitted, if not nearest.
const SEARCH_NODES: usize = 20_000;
/// Targets farther off than this many deviations are moved to there.
const FAR: f64 = 1e3;

/// Squared distance from a point, lever by lever.
struct Distance<'a> {
    set: &'a FeasibleSet,
    /// For each lever: where the point lies, as a move, and what a unit of the move counts.
    targets: Vec<Target>,
}

enum Target {
    Number { x: f64, weight: f64 },
    Category(Vec<f64>),
}

impl FeasibleSet {
    /// The permitted action whose point is nearest to `point`, over the columns of the levers; what links force follows
    /// and is not counted.
    ///
    /// Exact for boxes, for choices of categories, for finite sets, and for rows between levers that move freely. Where
    /// rows bind levers of both sorts, those that move in steps are rounded first and the others follow. Always
    /// permitted. A coordinate that is not finite counts as the person's own.
    pub fn project(&self, point: &[f32]) -> Action {
        let distance = Distance { set: self, targets: self.targets(point) };
        let nearest = Action { moves: (0..self.domains.len()).map(|lever| distance.nearest(lever)).collect() };
        if self.rows.is_empty() || self.rows_hold(&nearest.moves) {
            return nearest;
        }
        if self.is_finite() {
            return search(self, &distance, SEARCH_NODES).action;
        }
        let halved = self.towards_staying(&nearest, |steps| steps / 2);
        let free_only = self.towards_staying(&nearest, |_| 0);
        let attempts = [nearest, halved, free_only].into_iter();
        let permitted = attempts.filter_map(|action| distance.settle(action)).find(|action| self.contains(action));
        permitted.unwrap_or_else(|| self.stay())
    }

    fn targets(&self, point: &[f32]) -> Vec<Target> {
        let encoding = &self.shared.encoding;
        let cell = |column: usize| if point[column].is_finite() { point[column] } else { self.point[column] };
        let target = |(rule, domain): (&super::LeverRule, &Domain)| {
            let unit = match domain {
                Domain::Choice { .. } => {
                    return Target::Category(
                        encoding.columns(rule.feature).map(|column| f64::from(cell(column))).collect(),
                    );
                }
                Domain::Grid { step, .. } => *step,
                Domain::Range { .. } => 1.0,
            };
            let deviation = encoding.deviation(rule.feature);
            let away = f64::from(cell(rule.column)) - f64::from(self.point[rule.column]);
            Target::Number { x: away * deviation / unit, weight: (unit / deviation).powi(2) }
        };
        self.shared.levers.iter().zip(&self.domains).map(target).collect()
    }

    /// The action with its steps made fewer; without any, linked and categorical levers stay too.
    fn towards_staying(&self, action: &Action, fewer: impl Fn(i64) -> i64) -> Action {
        let none = fewer(1) == 0 && fewer(2) == 0;
        let levers = action.moves.iter().enumerate();
        let step = |(lever, &step): (usize, &Move)| match step {
            Move::Steps(steps) => Move::Steps(fewer(steps)),
            _ if none && self.pieces[lever].len() > 1 => self.domains[lever].stay(),
            other => other,
        };
        Action { moves: levers.map(step).collect() }
    }
}

impl Distance<'_> {
    /// The nearest move of one lever.
    fn nearest(&self, lever: usize) -> Move {
        match (&self.set.domains[lever], &self.targets[lever]) {
            (Domain::Range { lo, hi }, Target::Number { x, .. }) => Move::By(x.clamp(*lo, *hi)),
            (Domain::Grid { lo, hi, .. }, Target::Number { x, .. }) => Move::Steps((x.round() as i64).clamp(*lo, *hi)),
            (Domain::Choice { from, to }, Target::Category(cells)) => {
                let nearer =
                    |best: usize, &category: &usize| if cells[category] > cells[best] { category } else { best };
                Move::To(to.iter().fold(*from, nearer))
            }
            (domain, _) => domain.stay(),
        }
    }

    /// Moves the free levers to the nearest place where the rows hold, the others and the pieces staying as they are:
    ///
    /// ```text
    /// min Σ weight_i (x_i − target_i)²   over   lo_i ≤ x_i ≤ hi_i,   Σ slope_ji x_i ≤ room_j.
    /// ```
    ///
    /// `None` when the rows leave no place.
    fn settle(&self, mut action: Action) -> Option<Action> {
        let set = self.set;
        let mut rooms: Vec<f64> = set.rows.iter().map(|row| row.bound).collect();
        let mut free = Vec::new();
        for (lever, &step) in action.moves.iter().enumerate() {
            let piece = &set.pieces[lever][set.piece_of(lever, step)?];
            match (step, &self.targets[lever]) {
                (Move::By(_), &Target::Number { x, weight }) => {
                    rooms.iter_mut().zip(&piece.rows).for_each(|(room, term)| *room -= term.base);
                    let (lo, hi) = piece.span.choices();
                    // A target far off costs digits; what lies behind it in every direction cannot tell it from this.
                    let scale = weight.sqrt();
                    let target = x.clamp(lo - FAR / scale, hi + FAR / scale);
                    free.push(Free { lever, lo, hi, target, scale, piece });
                }
                _ => rooms.iter_mut().zip(&piece.rows).for_each(|(room, term)| *room -= term.at(position(step))),
            }
        }
        let away = nearest_to_origin(&sides(&free, &rooms), free.len())?;
        for (free, away) in free.iter().zip(away) {
            action.moves[free.lever] = Move::By((free.target + away / free.scale).clamp(free.lo, free.hi));
        }
        Some(set.shrink(action))
    }
}

/// A lever that moves freely within a piece. Its coordinate is `(x − target) · scale`, in which distance is Euclidean.
struct Free<'a> {
    lever: usize,
    lo: f64,
    hi: f64,
    target: f64,
    scale: f64,
    piece: &'a Piece,
}

/// Ranges and rows as half-spaces of the coordinates.
fn sides(free: &[Free], rooms: &[f64]) -> Vec<HalfSpace> {
    let mut sides = Vec::new();
    for (index, lever) in free.iter().enumerate() {
        for (sign, end) in [(1.0, lever.lo), (-1.0, lever.hi)] {
            let mut normal = vec![0.0; free.len()];
            normal[index] = sign;
            sides.push(HalfSpace { normal, bound: sign * (end - lever.target) * lever.scale });
        }
    }
    for (row, room) in rooms.iter().enumerate() {
        let slope = |lever: &Free| lever.piece.rows[row].slope;
        let normal = free.iter().map(|lever| -slope(lever) / lever.scale).collect();
        let at_target: f64 = free.iter().map(|lever| slope(lever) * lever.target).sum();
        sides.push(HalfSpace { normal, bound: at_target - room });
    }
    sides
}

impl Cost for Distance<'_> {
    fn at(&self, lever: usize, piece: usize, x: f64) -> f64 {
        match (&self.targets[lever], self.set.pieces[lever][piece].span) {
            (Target::Number { x: target, weight }, _) => weight * (x - target).powi(2),
            // |cells − e_c|² but for what is the same in every category.
            (Target::Category(cells), Span::Category(category)) => 1.0 - 2.0 * cells[category],
            (Target::Category(_), _) => 1.0,
        }
    }

    fn best(&self, lever: usize, _: usize, (lo, hi): (f64, f64)) -> f64 {
        match self.targets[lever] {
            Target::Number { x, .. } => x.round().clamp(lo, hi),
            Target::Category(_) => lo,
        }
    }
}
