//! The permitted action nearest to a point: what a projected gradient step ends with.

use super::action::{Action, Domain, Move};
use super::pieces::Span;
use super::search::{Cost, search};
use super::set::FeasibleSet;

/// A search over a lattice may look at this many partial actions; what it found by then is permitted, if not nearest.
const SEARCH_NODES: usize = 20_000;
/// Rounds over the rows of the quadratic program, and halvings within one row.
const ROUNDS: usize = 200;
const HALVINGS: usize = 80;
/// Multipliers that change by less than this in a round have settled.
const SETTLED: f64 = 1e-12;

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
    /// min Σ weight_i (x_i − target_i)²   over   lo_i ≤ x_i ≤ hi_i,   Σ slope_ji x_i ≤ room_j
    /// ```
    ///
    /// by ascent in the multiplier of one row after the other, each solved exactly: the distance is strictly convex, so
    /// the moves that belong to the multipliers converge to the nearest ones. `None` when the rows leave no place.
    fn settle(&self, action: Action) -> Option<Action> {
        let program = Quadratic::new(self, &action)?;
        let mut multipliers = vec![0.0; program.rooms.len()];
        for _ in 0..ROUNDS {
            let before = multipliers.clone();
            for row in 0..multipliers.len() {
                program.ascend(&mut multipliers, row);
            }
            // A place where the rows hold is not yet the nearest: a row may push that no longer has to.
            let settled =
                multipliers.iter().zip(&before).all(|(now, before)| (now - before).abs() <= SETTLED * (1.0 + now));
            let place = program.place(&multipliers);
            let action = program.action(&action, &place);
            if settled && self.set.rows_hold(&action.moves) {
                return Some(action);
            }
        }
        Some(self.set.shrink(program.action(&action, &program.place(&multipliers))))
    }
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

/// The quadratic program over the free levers.
struct Quadratic {
    levers: Vec<Free>,
    rooms: Vec<f64>,
}

struct Free {
    lever: usize,
    range: (f64, f64),
    target: f64,
    weight: f64,
    /// For each row.
    slopes: Vec<f64>,
}

impl Quadratic {
    fn new(distance: &Distance, action: &Action) -> Option<Self> {
        let set = distance.set;
        let mut rooms: Vec<f64> = set.rows.iter().map(|row| row.bound).collect();
        let mut levers = Vec::new();
        for (lever, &step) in action.moves.iter().enumerate() {
            let piece = &set.pieces[lever][set.piece_of(lever, step)?];
            match (step, &distance.targets[lever]) {
                (Move::By(_), &Target::Number { x: target, weight }) => {
                    rooms.iter_mut().zip(&piece.rows).for_each(|(room, term)| *room -= term.base);
                    let slopes = piece.rows.iter().map(|term| term.slope).collect();
                    levers.push(Free { lever, range: piece.span.choices(), target, weight, slopes });
                }
                _ => {
                    let x = super::set::position(step);
                    rooms.iter_mut().zip(&piece.rows).for_each(|(room, term)| *room -= term.at(x));
                }
            }
        }
        Some(Self { levers, rooms })
    }

    /// Where the free levers are at these multipliers.
    fn place(&self, multipliers: &[f64]) -> Vec<f64> {
        let pulled = |free: &Free| {
            let pull: f64 = free.slopes.iter().zip(multipliers).map(|(slope, multiplier)| slope * multiplier).sum();
            (free.target - pull / (2.0 * free.weight)).clamp(free.range.0, free.range.1)
        };
        self.levers.iter().map(pulled).collect()
    }

    /// By how much the row is broken with its multiplier set to this.
    fn excess(&self, multipliers: &mut [f64], row: usize, multiplier: f64) -> f64 {
        multipliers[row] = multiplier;
        let place = self.place(multipliers);
        self.levers.iter().zip(place).map(|(free, x)| free.slopes[row] * x).sum::<f64>() - self.rooms[row]
    }

    /// Sets one multiplier to the smallest that satisfies its row, the others staying as they are.
    fn ascend(&self, multipliers: &mut [f64], row: usize) {
        if self.excess(multipliers, row, 0.0) <= 0.0 {
            return;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.excess(multipliers, row, high) > 0.0 && high < 1e30 {
            (low, high) = (high, 4.0 * high);
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.excess(multipliers, row, middle) > 0.0 { low = middle } else { high = middle }
        }
        multipliers[row] = high;
    }

    fn action(&self, action: &Action, place: &[f64]) -> Action {
        let mut action = action.clone();
        for (free, &x) in self.levers.iter().zip(place) {
            action.moves[free.lever] = Move::By(x);
        }
        action
    }
}
