//! Local search over permitted actions: the last mile of the solvers that follow gradients.
//!
//! Gradients end between lattice points, or where a category cannot follow them. From there [`climb`] raises the score
//! move by move, and [`cheapen`] takes back, move by move, what a yes does not need.

use super::{Case, Costs, Meter};
use crate::{
    calibrate::Threshold,
    feasible::{Action, Domain, FeasibleSet, Move},
    model::{Model, Scorer},
};

/// What an action leads to: directly ([`Case`]) or through a causal model.
pub(super) trait Terrain {
    /// The model that decides.
    fn model(&self) -> &Model;
    /// The actions there are.
    fn feasible(&self) -> &FeasibleSet;
    /// Whether the action and what it leads to are permitted.
    fn permits(&self, action: &Action) -> bool;
    /// Writes the point that the action leads to.
    fn land(&self, action: &Action, point: &mut [f32]);
}

impl Terrain for Case<'_> {
    fn model(&self) -> &Model {
        self.model
    }

    fn feasible(&self) -> &FeasibleSet {
        self.feasible
    }

    fn permits(&self, action: &Action) -> bool {
        self.feasible.contains(action)
    }

    fn land(&self, action: &Action, point: &mut [f32]) {
        self.feasible.encode(action, point);
    }
}

/// The logits of actions, in one batch; `None` when the budget does not have that many.
pub(super) fn logits(terrain: &dyn Terrain, actions: &[Action], meter: &mut Meter) -> Option<Vec<f32>> {
    if !meter.evaluate(actions.len() as u64) {
        return None;
    }
    let inputs = terrain.model().inputs();
    let mut points = vec![0.0; actions.len() * inputs];
    for (action, point) in actions.iter().zip(points.chunks_exact_mut(inputs)) {
        terrain.land(action, point);
    }
    let mut logits = vec![0.0; actions.len()];
    terrain.model().logits(&points, &mut logits);
    Some(logits)
}

/// The index of the highest logit; the first of equals. NaN never wins.
pub(super) fn highest(logits: &[f32]) -> Option<usize> {
    let better = |best: Option<usize>, index: usize| match best {
        Some(before) if logits[index] <= logits[before] || logits[index].is_nan() => best,
        None if logits[index].is_nan() => None,
        _ => Some(index),
    };
    (0..logits.len()).fold(None, better)
}

/// Step sizes as shares of a domain: halved whenever no step of that size helps.
const SCALES: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625];
/// Categories tried at a time.
const CATEGORIES: usize = 64;

/// Raises the logit from a permitted action by one lever's move at a time, until it reaches `goal`, no move helps or the
/// budget ends. Returns the action reached with its logit, never lower than the logit of `start`.
pub(super) fn climb(terrain: &dyn Terrain, start: (Action, f32), goal: Threshold, meter: &mut Meter) -> (Action, f32) {
    let (mut action, mut logit) = start;
    let mut scale = 0;
    while scale < SCALES.len() && !goal.approves(logit) {
        let candidates = neighbours(terrain, &action, SCALES[scale]);
        let Some(scores) = logits(terrain, &candidates, meter) else { break };
        match highest(&scores) {
            Some(best) if scores[best] > logit => {
                logit = scores[best];
                action = candidates[best].clone();
            }
            _ => scale += 1,
        }
    }
    (action, logit)
}

/// The permitted actions that differ in one lever: a step of this scale either way, either end, any category.
fn neighbours(terrain: &dyn Terrain, action: &Action, scale: f64) -> Vec<Action> {
    let mut found = Vec::new();
    for (lever, domain) in terrain.feasible().domains().iter().enumerate() {
        let now = action.moves[lever];
        let moves: Vec<Move> = match (domain, now) {
            (Domain::Range { lo, hi }, Move::By(change)) => {
                let step = (hi - lo) * scale;
                {
                    let ends = [*lo, *hi, change - step, change + step].into_iter();
                    ends.map(|to| without_hair(domain, Move::By(to.clamp(*lo, *hi)))).collect()
                }
            }
            (Domain::Grid { lo, hi, .. }, Move::Steps(steps)) => {
                let step = (((hi - lo) as f64 * scale) as i64).max(1);
                [*lo, *hi, steps - step, steps + step].into_iter().map(|to| Move::Steps(to.clamp(*lo, *hi))).collect()
            }
            (Domain::Choice { to, .. }, _) => to.iter().take(CATEGORIES).map(|&to| Move::To(to)).collect(),
            _ => Vec::new(),
        };
        for step in moves.into_iter().filter(|step| *step != now) {
            let mut next = action.clone();
            next.moves[lever] = step;
            if terrain.permits(&next) {
                found.push(next);
            }
        }
    }
    found
}

/// Shares of a change that are kept when it is cut back.
const KEPT: [f64; 7] = [0.0, 0.5, 0.75, 0.875, 0.9375, 0.96875, 0.984375];
/// Rounds of cutting back: each ends with the cheapest cut that keeps the yes.
const ROUNDS: usize = 40;

/// Cuts an approved action back as long as the model still says yes: never returns a dearer one.
pub(super) fn cheapen(
    terrain: &dyn Terrain,
    costs: &Costs,
    threshold: Threshold,
    approved: (Action, f32),
    meter: &mut Meter,
) -> (Action, f32) {
    let (mut action, mut logit) = approved;
    let feasible = terrain.feasible();
    let mut cost = costs.of(feasible, &action);
    for _ in 0..ROUNDS {
        let cheaper = |candidate: &Action| costs.of(feasible, candidate) < cost && terrain.permits(candidate);
        let candidates: Vec<Action> = cuts(feasible, &action).into_iter().filter(cheaper).collect();
        let Some(scores) = logits(terrain, &candidates, meter) else { break };
        let approved = candidates.into_iter().zip(scores).filter(|(_, score)| threshold.approves(*score));
        let priced = approved.map(|(candidate, score)| (costs.of(feasible, &candidate), candidate, score));
        let Some(best) = priced.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        (cost, action, logit) = best;
    }
    (action, logit)
}

/// The same action with one lever, or all of them, cut back.
fn cuts(feasible: &FeasibleSet, action: &Action) -> Vec<Action> {
    let domains = feasible.domains();
    let mut found = Vec::new();
    for (lever, domain) in domains.iter().enumerate() {
        for step in cut_moves(domain, action.moves[lever]) {
            let mut next = action.clone();
            next.moves[lever] = step;
            found.push(next);
        }
    }
    for kept in KEPT {
        let moves = domains.iter().zip(&action.moves).map(|(domain, &now)| cut_to(domain, now, kept));
        found.push(Action { moves: moves.collect() });
    }
    found
}

fn cut_moves(domain: &Domain, now: Move) -> Vec<Move> {
    if domain.stays(now) {
        return Vec::new();
    }
    let mut moves: Vec<Move> = KEPT.iter().map(|&kept| cut_to(domain, now, kept)).collect();
    if let Move::Steps(steps) = now {
        moves.push(Move::Steps(steps - steps.signum()));
    }
    moves.retain(|step| *step != now);
    moves.dedup();
    moves
}

/// This share of a move, rounded towards staying; a category is kept whole unless nothing is kept.
fn cut_to(domain: &Domain, now: Move, kept: f64) -> Move {
    match now {
        Move::By(change) => without_hair(domain, Move::By(change * kept)),
        Move::Steps(steps) => Move::Steps((steps as f64 * kept) as i64),
        Move::To(_) if kept == 0.0 => domain.stay(),
        Move::To(category) => Move::To(category),
    }
}

/// Changes below this share of what is permitted are nothing that a person could do: they count as staying.
const HAIR: f64 = 1e-6;

/// The move, or staying where it is too small to be one.
pub(super) fn without_hair(domain: &Domain, step: Move) -> Move {
    match (domain, step) {
        (Domain::Range { lo, hi }, Move::By(change)) if change.abs() < HAIR * lo.abs().max(hi.abs()) => domain.stay(),
        _ => step,
    }
}
