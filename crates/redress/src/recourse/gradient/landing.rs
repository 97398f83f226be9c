//! From where a descent ended to an action that a person can take.

use super::super::{
    Plan,
    case::score,
    search::{self, Climbed, cheapen, climb},
};
use super::descent::Walker;
use crate::{
    calibrate::Threshold,
    feasible::{Action, Domain, FeasibleSet, Move},
};

/// What came of a descent.
pub(super) struct Landed {
    pub(super) plan: Option<Plan>,
    /// The highest logit at a permitted point.
    pub(super) best_logit: f32,
    pub(super) out_of_budget: bool,
}

/// The lattice cell around a point has two corners a lever; with more levers than this only some are tried.
const CELL: usize = 6;
/// How far along a continuous change is tried: a hair more than the point, in case that turning it into a change and back
/// rounds it below the threshold.
const STRETCHES: [f64; 4] = [1.0, 1.0 + 1e-6, 1.0 + 1e-4, 1.0 + 1e-2];

/// The cheapest yes near the end of the descent.
pub(super) fn cheapest(walker: &mut Walker) -> Landed {
    let case = walker.case;
    let feasible = case.feasible;
    let continuous =
        feasible.is_box() && feasible.domains().iter().all(|domain| matches!(domain, Domain::Range { .. }));
    if continuous && !walker.met_a_yes() {
        return Landed { plan: None, best_logit: walker.highest, out_of_budget: false };
    }
    let mut candidates = Vec::new();
    if walker.met_a_yes() {
        candidates.extend(around(feasible, &walker.nearest_at, continuous));
    }
    if !continuous || candidates.is_empty() {
        candidates.extend(around(feasible, &walker.highest_at, continuous));
    }
    candidates.retain(|action| feasible.contains(action));
    let Some(scored) = score(case, candidates, walker.meter) else {
        return Landed { plan: None, best_logit: f32::NEG_INFINITY, out_of_budget: true };
    };
    let (landed, out_of_budget) = match search::cheapest(case, &scored) {
        Some(found) if continuous => (found.clone(), false),
        Some(found) => (cheapen(case, found.clone(), walker.meter), false),
        None => {
            let Some(start) = search::highest(&scored) else {
                return Landed { plan: None, best_logit: f32::NEG_INFINITY, out_of_budget: false };
            };
            let Climbed { reached, cut_short } = climb(case, start.clone(), case.threshold, walker.meter);
            let yes = case.threshold.approves(reached.logit());
            (if yes { cheapen(case, reached, walker.meter) } else { reached }, cut_short)
        }
    };
    Landed { plan: case.accept(&landed), best_logit: landed.logit(), out_of_budget }
}

/// How many points landing from where a descent ended takes at most before the first answer: what a descent keeps back.
pub(super) fn price(feasible: &FeasibleSet) -> u64 {
    let continuous = feasible.domains().iter().all(|domain| matches!(domain, Domain::Range { .. }));
    match (feasible.is_box(), continuous) {
        (true, true) => STRETCHES.len() as u64,
        (true, false) => 2 * (2 + (1 << feasible.domains().len().min(CELL))),
        (false, _) => 4,
    }
}

/// The highest score near the end of a descent that had no threshold.
pub(super) fn highest(walker: &mut Walker) -> Action {
    let case = walker.case;
    let mut candidates = around(case.feasible, &walker.highest_at, false);
    candidates.push(case.feasible.stay());
    candidates.retain(|action| case.feasible.contains(action));
    let scored = score(case, candidates, walker.meter).unwrap_or_default();
    let Some(best) = search::highest(&scored) else { return case.feasible.stay() };
    if case.feasible.is_box() && !case.feasible.is_finite() {
        return best.action().clone();
    }
    climb(case, best.clone(), Threshold::NEVER, walker.meter).reached.action().clone()
}

/// Actions that lead near a point: on a lattice, the corners of its cell.
fn around(feasible: &FeasibleSet, point: &[f32], continuous: bool) -> Vec<Action> {
    if continuous {
        return STRETCHES.iter().map(|&stretch| ranged(feasible, point, stretch)).collect();
    }
    let nearest = feasible.project(point);
    let steps = feasible.domains().iter().zip(&nearest.moves).map(|(domain, &step)| search::without_hair(domain, step));
    let mut found = vec![Action { moves: steps.collect() }, nearest];
    if !feasible.is_box() {
        return found;
    }
    let corners: Vec<[Move; 2]> = feasible
        .levers()
        .map(|lever| {
            let change = change(feasible, lever.feature, point);
            match lever.domain {
                Domain::Grid { step, lo, hi } => {
                    let below = (change / step).floor() as i64;
                    [below, below + 1].map(|steps| Move::Steps(steps.clamp(*lo, *hi)))
                }
                Domain::Range { lo, hi } => [search::without_hair(lever.domain, Move::By(change.clamp(*lo, *hi))); 2],
                Domain::Choice { .. } => [lever.domain.stay(); 2],
            }
        })
        .collect();
    for corner in 0..1u32 << corners.len().min(CELL) {
        let side = |lever: usize| if lever < CELL { (corner >> lever & 1) as usize } else { (corner & 1) as usize };
        found.push(Action { moves: corners.iter().enumerate().map(|(lever, ends)| ends[side(lever)]).collect() });
    }
    found
}

/// The change of a feature with one column that leads to a point, in original units.
fn change(feasible: &FeasibleSet, feature: usize, point: &[f32]) -> f64 {
    let column = feasible.encoding().columns(feature).start;
    (f64::from(point[column]) - f64::from(feasible.point()[column])) * feasible.encoding().deviation(feature)
}

/// The action of a box of ranges that leads `stretch` times as far as a point.
fn ranged(feasible: &FeasibleSet, point: &[f32], stretch: f64) -> Action {
    let step = |feature: usize, domain: &Domain| match domain {
        Domain::Range { lo, hi } => {
            search::without_hair(domain, Move::By((stretch * change(feasible, feature, point)).clamp(*lo, *hi)))
        }
        _ => domain.stay(),
    };
    Action { moves: feasible.levers().map(|lever| step(lever.feature, lever.domain)).collect() }
}
