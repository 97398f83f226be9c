//! Local search over permitted actions: the last mile of the solvers that follow gradients.
//!
//! Gradients end between lattice points, or where a category cannot follow them. From there [`climb`] raises the score
//! move by move, and [`cheapen`] takes back, move by move, what a yes does not need.

use super::{
    Meter,
    case::{Scored, Terrain, score},
};
use crate::{
    calibrate::Threshold,
    feasible::{Action, Domain, FeasibleSet, Move},
};

/// The action with the highest logit; the first of equals. NaN never wins.
pub(super) fn highest(scored: &[Scored]) -> Option<&Scored> {
    let better = |best: Option<&'_ Scored>, next: &Scored| match best {
        _ if next.logit().is_nan() => false,
        Some(best) => next.logit() > best.logit(),
        None => true,
    };
    scored.iter().fold(None, |best, next| if better(best, next) { Some(next) } else { best })
}

/// Step sizes as shares of a domain: halved whenever no step of that size helps.
const SCALES: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625];
/// Categories tried at a time.
const CATEGORIES: usize = 64;

/// What a climb came to.
pub(super) struct Climbed {
    /// The action reached, with no lower logit than the start.
    pub(super) reached: Scored,
    /// Whether the budget ended the climb.
    pub(super) cut_short: bool,
}

/// Raises the logit from a permitted action by one lever's move at a time, until it reaches `goal`, no move helps or the
/// budget ends.
pub(super) fn climb(terrain: &dyn Terrain, start: Scored, goal: Threshold, meter: &mut Meter) -> Climbed {
    let mut reached = start;
    let mut scale = 0;
    while scale < SCALES.len() && !goal.approves(reached.logit()) {
        let candidates = neighbours(terrain, reached.action(), SCALES[scale]);
        let Some(scored) = score(terrain, candidates, meter) else {
            return Climbed { reached, cut_short: true };
        };
        match highest(&scored) {
            Some(higher) if higher.logit() > reached.logit() => reached = higher.clone(),
            _ => scale += 1,
        }
    }
    Climbed { reached, cut_short: false }
}

/// The permitted actions that differ in one lever: a step of this scale either way, either end, any category.
fn neighbours(terrain: &dyn Terrain, action: &Action, scale: f64) -> Vec<Action> {
    let mut found = Vec::new();
    for (lever, domain) in terrain.case().feasible.domains().iter().enumerate() {
        let now = action.moves[lever];
        let moves: Vec<Move> = match (domain, now) {
            (Domain::Range { lo, hi }, Move::By(change)) => {
                let step = (hi - lo) * scale;
                let ends = [*lo, *hi, change - step, change + step].into_iter();
                ends.map(|to| without_hair(domain, Move::By(to.clamp(*lo, *hi)))).collect()
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
pub(super) fn cheapen(terrain: &dyn Terrain, approved: Scored, meter: &mut Meter) -> Scored {
    let case = terrain.case();
    let price = |action: &Action| case.costs.of(case.feasible, action);
    let mut best = approved;
    for _ in 0..ROUNDS {
        let cost = price(best.action());
        let cheaper = |candidate: &Action| price(candidate) < cost && terrain.permits(candidate);
        let candidates: Vec<Action> = cuts(case.feasible, best.action()).into_iter().filter(cheaper).collect();
        let Some(scored) = score(terrain, candidates, meter) else { break };
        let Some(cheapest) = cheapest(terrain, &scored) else { break };
        best = cheapest.clone();
    }
    best
}

/// The cheapest of the actions that the model said yes to; the first of equals.
pub(super) fn cheapest<'s>(terrain: &dyn Terrain, scored: &'s [Scored]) -> Option<&'s Scored> {
    let case = terrain.case();
    let approved = scored.iter().filter(|scored| case.threshold.approves(scored.logit()));
    let priced = approved.map(|scored| (case.costs.of(case.feasible, scored.action()), scored));
    priced.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, scored)| scored)
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
