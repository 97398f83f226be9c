//! The feasible set of one person.

use std::sync::{Arc, OnceLock};

use super::action::{Action, Domain, Lever, Move};
use super::compile::{self, SpaceError};
use super::limits::{land, tidy};
use super::pieces::{Piece, cut};
use super::space::{EffectRule, LinkRule, Reach, RowRule, Shared};
use crate::dataset::FeatureKind;
use crate::encoding::Encoding;
use crate::policy::Overrides;

/// Δ(x): everything one person may do.
#[derive(Debug, Clone)]
pub struct FeasibleSet {
    pub(super) shared: Arc<Shared>,
    pub(super) person: Vec<f64>,
    pub(super) point: Vec<f32>,
    pub(super) domains: Vec<Domain>,
    /// The pieces of each domain; empty when Δ(x) is a box, which needs none.
    pub(super) pieces: Vec<Vec<Piece>>,
    pub(super) rows: Vec<Row>,
    /// The corners, computed when first needed.
    pub(super) corners: OnceLock<Option<Vec<f64>>>,
}

/// The person's side of a row: its bound, and by how much a sum of floats may miss it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub bound: f64,
    pub tolerance: f64,
}

/// Relative to the largest left-hand side there is: what rounding may add to a sum.
const TOLERANCE: f64 = 1e-9;

impl FeasibleSet {
    pub(super) fn new(shared: &Arc<Shared>, person: &[f64], overrides: Option<&Overrides>) -> Result<Self, SpaceError> {
        check_person(&shared.encoding, person)?;
        let mut domains = Vec::with_capacity(shared.levers.len());
        for rule in &shared.levers {
            let value = person[rule.feature];
            let own = overrides.iter().flat_map(|overrides| &overrides.features);
            let mut own = own.filter(|(feature, _)| *feature == rule.feature).map(|(_, own)| own);
            domains.push(match &rule.reach {
                Reach::Number(limits) => own
                    .try_fold(*limits, |limits, own| {
                        compile::narrow(&limits, own, rule.feature, &shared.encoding, shared.lattice)
                    })?
                    .domain(value),
                Reach::Category(moves) => {
                    let from = value as usize;
                    let to = own.try_fold(moves[from].clone(), |to, own| {
                        compile::narrow_moves(&to, from, own, rule.feature, &shared.encoding)
                    })?;
                    Domain::Choice { from, to }
                }
            });
        }
        let mut point = vec![0.0; shared.encoding.width()];
        shared.encoding.encode(person, &mut point);
        let mut set = Self {
            shared: shared.clone(),
            person: person.to_vec(),
            point,
            domains,
            pieces: vec![],
            rows: vec![],
            corners: OnceLock::new(),
        };
        if !shared.is_box {
            set.cut_into_pieces();
        }
        Ok(set)
    }

    /// The part of Δ(x) in which only the levers for which `keep` is true move.
    pub fn only(&self, keep: &[bool]) -> Self {
        let mut set = Self { pieces: vec![], rows: vec![], corners: OnceLock::new(), ..self.clone() };
        for (domain, _) in set.domains.iter_mut().zip(keep).filter(|(_, keep)| !**keep) {
            *domain = match *domain {
                Domain::Range { .. } => Domain::Range { lo: 0.0, hi: 0.0 },
                Domain::Grid { step, .. } => Domain::Grid { step, lo: 0, hi: 0 },
                Domain::Choice { from, .. } => Domain::Choice { from, to: vec![from] },
            };
        }
        if !set.shared.is_box {
            set.cut_into_pieces();
        }
        set
    }

    /// Pieces and rows: those of the policy, then the limits of what links move, widened to where the person is.
    fn cut_into_pieces(&mut self) {
        let shared = self.shared.clone();
        let mut rows = shared.rows.clone();
        for (effect, rule) in shared.effects.iter().enumerate() {
            let EffectRule { feature, min, max } = *rule;
            let value = self.person[feature];
            let limits = [(1.0, max - value), (-1.0, value - min)];
            let finite = limits.into_iter().filter(|(_, bound)| bound.is_finite());
            rows.extend(finite.map(|(sign, bound)| RowRule {
                levers: vec![],
                effects: vec![(effect, sign)],
                bound: bound.max(0.0),
            }));
        }
        for (lever, (rule, domain)) in shared.levers.iter().zip(&self.domains).enumerate() {
            let links: Vec<LinkRule> = shared.links.iter().filter(|link| link.lever == lever).copied().collect();
            let value = self.person[rule.feature];
            self.pieces.push(cut(lever, domain, value, &links, shared.effects.len(), &rows));
        }
        let tolerance = |row: usize| {
            let largest = |pieces: &Vec<Piece>| {
                let sizes = pieces.iter().map(|piece| {
                    let (low, high) = piece.rows[row].over(piece.span.choices());
                    low.abs().max(high.abs())
                });
                sizes.fold(0.0, f64::max)
            };
            TOLERANCE * self.pieces.iter().map(largest).sum::<f64>()
        };
        self.rows =
            rows.iter().enumerate().map(|(index, row)| Row { bound: row.bound, tolerance: tolerance(index) }).collect();
    }

    /// The person, in original units.
    pub fn person(&self) -> &[f64] {
        &self.person
    }

    /// The person, encoded.
    pub fn point(&self) -> &[f32] {
        &self.point
    }

    /// The encoding of the points.
    pub fn encoding(&self) -> &Encoding {
        &self.shared.encoding
    }

    /// The levers: the same features for everybody, in the same order.
    pub fn levers(&self) -> impl ExactSizeIterator<Item = Lever<'_>> {
        self.shared.levers.iter().zip(&self.domains).map(|(rule, domain)| Lever { feature: rule.feature, domain })
    }

    /// The domain of each lever.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// Whether there is nothing but a domain for each lever: no rows between them, no links, no categories.
    pub fn is_box(&self) -> bool {
        self.shared.is_box
    }

    /// Whether the other set is that of an equal person under the same policy, overrides included.
    pub fn same_actions(&self, other: &FeasibleSet) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.person == other.person && self.domains == other.domains
    }

    /// Doing nothing, which is always permitted.
    pub fn stay(&self) -> Action {
        Action { moves: self.domains.iter().map(Domain::stay).collect() }
    }

    /// Whether the action is permitted: one move a lever, each in its domain, every row kept, and what links force
    /// within its limits.
    pub fn contains(&self, action: &Action) -> bool {
        let moves = &action.moves;
        moves.len() == self.domains.len()
            && self.domains.iter().zip(moves).all(|(domain, &step)| domain.contains(step))
            && self.moves_show(moves)
            && self.rows_hold(moves)
    }

    /// Whether every change is large enough to change its number: one that is not would set off links for nothing.
    fn moves_show(&self, moves: &[Move]) -> bool {
        self.shared.levers.iter().zip(moves).all(|(rule, step)| match step {
            Move::By(change) => *change == 0.0 || self.person[rule.feature] + change != self.person[rule.feature],
            Move::Steps(_) | Move::To(_) => true,
        })
    }

    /// Whether every row holds at moves that lie in their domains.
    pub(super) fn rows_hold(&self, moves: &[Move]) -> bool {
        (0..self.rows.len()).all(|row| {
            let sum: f64 = moves.iter().enumerate().map(|(lever, &step)| self.row_term(lever, row, step)).sum();
            sum <= self.rows[row].bound + self.rows[row].tolerance
        })
    }

    /// What a lever's move adds to the left-hand side of a row.
    pub(super) fn row_term(&self, lever: usize, row: usize, step: Move) -> f64 {
        let piece = self.piece_of(lever, step);
        piece.map_or(0.0, |piece| self.pieces[lever][piece].rows[row].at(position(step)))
    }

    /// The piece that a move lies in. Staying belongs to its own piece where a link applies on either side of it.
    pub(super) fn piece_of(&self, lever: usize, step: Move) -> Option<usize> {
        let domain = &self.domains[lever];
        let pieces = &self.pieces[lever];
        let stay = domain.stays(step).then(|| pieces.iter().position(|piece| piece.span.is_stay(domain))).flatten();
        stay.or_else(|| pieces.iter().position(|piece| piece.span.holds(step)))
    }

    /// What links add to each effect.
    fn forced(&self, action: &Action) -> impl Iterator<Item = (usize, f64)> {
        self.shared.effects.iter().enumerate().map(|(effect, rule)| {
            let links = self.shared.links.iter().filter(move |link| link.effect == effect);
            let forced = links.map(|link| {
                let value = self.person[self.shared.levers[link.lever].feature];
                link.forced(&self.domains[link.lever], value, action.moves[link.lever])
            });
            (rule.feature, forced.sum::<f64>())
        })
    }

    /// Where a move of a lever leads.
    pub fn moved(&self, lever: usize, step: Move) -> f64 {
        let value = self.person[self.shared.levers[lever].feature];
        match (&self.domains[lever], step) {
            (Domain::Grid { step, .. }, Move::Steps(steps)) => land(value, *step, steps),
            (_, Move::By(change)) => value + change,
            (_, Move::To(category)) => category as f64,
            (_, Move::Steps(_)) => value,
        }
    }

    /// The person's values after the action, what links force included; consequences under a causal model are not.
    pub fn apply(&self, action: &Action) -> Vec<f64> {
        let mut values = self.person.clone();
        self.apply_to(action, |feature, value| values[feature] = value);
        values
    }

    /// Writes the point after the action: the encoding of [`FeasibleSet::apply`], without allocating.
    pub fn encode(&self, action: &Action, point: &mut [f32]) {
        point.copy_from_slice(&self.point);
        self.apply_to(action, |feature, value| self.shared.encoding.encode_feature(feature, value, point));
    }

    /// Hands out the new value of every feature that the action may move.
    fn apply_to(&self, action: &Action, mut set: impl FnMut(usize, f64)) {
        for (lever, (rule, &step)) in self.shared.levers.iter().zip(&action.moves).enumerate() {
            set(rule.feature, self.moved(lever, step));
        }
        for (feature, forced) in self.forced(action) {
            if forced != 0.0 {
                set(feature, tidy(self.person[feature] + forced));
            }
        }
    }

    /// Whether some permitted action leads to these values, up to the resolution of the encoding.
    pub fn contains_values(&self, values: &[f64]) -> bool {
        self.action_from_values(values).is_some()
    }

    /// The permitted action that leads to these values, up to the resolution of the encoding (an `f32` a column): a
    /// value that decoding rounded past a limit is taken back to the limit.
    pub fn action_from_values(&self, values: &[f64]) -> Option<Action> {
        if values.len() != self.person.len() {
            return None;
        }
        let moves = self.shared.levers.iter().zip(&self.domains);
        let moves = moves.map(|(rule, domain)| self.move_to(rule.feature, domain, values[rule.feature]));
        let action = Action { moves: moves.collect::<Option<_>>()? };
        let reached = self.apply(&action);
        let near =
            |feature: usize| (reached[feature] - values[feature]).abs() <= self.resolution(feature, values[feature]);
        ((0..values.len()).all(near) && self.contains(&action)).then_some(action)
    }

    /// The move in `domain` that comes nearest to `value`, if it comes near at all.
    fn move_to(&self, feature: usize, domain: &Domain, value: f64) -> Option<Move> {
        let change = value - self.person[feature];
        match domain {
            Domain::Range { lo, hi } if !change.is_nan() => Some(Move::By(change.clamp(*lo, *hi))),
            Domain::Grid { step, lo, hi } => Some(Move::Steps(((change / step).round() as i64).clamp(*lo, *hi))),
            Domain::Choice { to, .. } => to.iter().find(|&&to| to as f64 == value).map(|&to| Move::To(to)),
            Domain::Range { .. } => None,
        }
    }

    /// How far two values of a feature may be apart to be the same to an `f32` column.
    fn resolution(&self, feature: usize, value: f64) -> f64 {
        let encoding = &self.shared.encoding;
        let statistics = encoding.statistics(feature);
        let resolution = f64::from(f32::EPSILON) * (value - statistics.mean).abs().max(encoding.deviation(feature));
        resolution.max(1e-9 * value.abs())
    }
}

/// The number a move stands for: the change, the steps, or 0 for a category.
pub(super) fn position(step: Move) -> f64 {
    match step {
        Move::By(change) => change,
        Move::Steps(steps) => steps as f64,
        Move::To(_) => 0.0,
    }
}

fn check_person(encoding: &Encoding, person: &[f64]) -> Result<(), SpaceError> {
    let features = &encoding.schema().features;
    if person.len() != features.len() {
        return Err(SpaceError::Person { found: person.len(), expected: features.len() });
    }
    for (feature, &value) in features.iter().zip(person) {
        let possible = match &feature.kind {
            FeatureKind::Category { values } => value >= 0.0 && value.fract() == 0.0 && value < values.len() as f64,
            _ => value.is_finite(),
        };
        if !possible {
            return Err(SpaceError::Value { feature: feature.column.clone(), value });
        }
    }
    Ok(())
}
