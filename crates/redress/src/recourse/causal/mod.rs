//! Recourse under a structural causal model, after Karimi et al. (2020).
//!
//! What a person does to one feature moves the features that it causes: abduction finds the noise that explains the
//! person, action sets the features acted on, prediction lets the others follow. An action on a feature cuts what its
//! own causes would do to it. The cost counts only what the person does.
//!
//! A lever that stays is not acted on: it follows its causes, if it has any. Limits on *how far* a person may move a
//! feature bind what they do; limits on *where* a feature may be (`min`, `max`) and constraints between changes bind
//! consequences too.

mod model;

use std::sync::Arc;

pub use model::{CausalError, StructuralEquation, StructuralModel};

use super::{
    Absence, Case, Meter, Plan, Solver, Verdict,
    case::{Scored, Terrain, score},
    search::{self, Climbed, cheapen, climb},
};
use crate::feasible::{Action, Domain, FeasibleSet, Move};

/// Search under a causal model as a solver.
///
/// A lattice with no more points than the budget has evaluations is searched completely, and then a missing way is
/// proven. Otherwise gradients are followed for every set of levers acted on, through the linear map from what is done
/// to what becomes of it, and the end is improved move by move.
#[derive(Debug, Clone)]
pub struct Causal {
    /// The causal model.
    pub causes: Arc<StructuralModel>,
}

/// One person before one model, with causes.
#[derive(Clone, Copy)]
pub struct CausalCase<'a> {
    /// The person.
    pub case: Case<'a>,
    /// The causal model.
    pub causes: &'a StructuralModel,
}

/// Lattices up to this size are searched completely.
const COMPLETE: u128 = 50_000;
/// Points scored together.
const BATCH: usize = 256;
/// With more levers than this, only small sets of them and all together are tried.
const LEVERS: usize = 6;
/// Repetitions of the one-step program for a set of levers.
const ASCENTS: usize = 8;

impl CausalCase<'_> {
    /// The person's values after an action, links and causes included.
    pub fn values_after(&self, action: &Action) -> Vec<f64> {
        let feasible = self.case.feasible;
        let person = feasible.person();
        let mut values = feasible.apply(action);
        let moved: Vec<bool> = values.iter().zip(person).map(|(after, before)| after != before).collect();
        self.causes.propagate(person, |feature| moved[feature], &mut values);
        values
    }

    /// A plan, if the action lies in Δ(x), its consequences within their limits, and the model says yes to what comes
    /// of it; otherwise, and when the budget ends first, nothing.
    pub fn verify(&self, action: &Action, meter: &mut Meter) -> Option<Plan> {
        let scored = score(self, vec![action.clone()], meter)?;
        scored.first().and_then(|scored| self.accept(scored))
    }

    /// A plan, if the action and its consequences are permitted and the model said yes to what comes of it.
    fn accept(&self, scored: &Scored) -> Option<Plan> {
        if !self.permits(scored.action()) {
            return None;
        }
        self.case.plan(scored, self.values_after(scored.action()))
    }
}

impl Terrain for CausalCase<'_> {
    fn case(&self) -> &Case<'_> {
        &self.case
    }

    fn permits(&self, action: &Action) -> bool {
        let feasible = self.case.feasible;
        feasible.contains(action) && self.causes.within_limits(feasible.person(), &self.values_after(action))
    }

    fn land(&self, action: &Action, point: &mut [f32]) {
        self.case.feasible.encoding().encode(&self.values_after(action), point);
    }
}

impl Solver for Causal {
    fn name(&self) -> &'static str {
        "causal"
    }

    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict {
        let stay = case.feasible.stay();
        let Some(before) = case.score(stay, meter) else { return Verdict::nothing_known(meter) };
        if case.threshold.approves(before.logit()) {
            return Verdict::Approved { logit: before.logit() };
        }
        let person = CausalCase { case: *case, causes: &self.causes };
        let size =
            case.feasible.lattice_size().filter(|&size| size <= COMPLETE.min(u128::from(meter.rest().evaluations)));
        let found = match size {
            Some(_) => everything(&person, before.logit(), meter),
            None => gradients(&person, &before, meter),
        };
        match found.plan {
            Some(plan) => Verdict::Recourse(vec![plan]),
            None if found.out_of_budget => Verdict::unknown(meter, found.best_logit),
            None if size.is_some() => {
                let (best_logit, upper) = (found.best_logit, f64::from(found.best_logit));
                Verdict::NoRecourse(Absence::Proven { best_logit, upper })
            }
            None => Verdict::NoRecourse(Absence::NotFound { best_logit: found.best_logit }),
        }
    }
}

/// What a search came to.
struct Found {
    plan: Option<Plan>,
    best_logit: f32,
    out_of_budget: bool,
}

impl Found {
    /// Keeps the cheaper plan.
    fn offer(&mut self, plan: Option<Plan>) {
        let cheaper = |plan: &Plan| self.plan.as_ref().is_none_or(|best| plan.cost() < best.cost());
        if let Some(plan) = plan.filter(cheaper) {
            self.plan = Some(plan);
        }
    }
}

/// Every action of a finite lattice.
fn everything(person: &CausalCase, before: f32, meter: &mut Meter) -> Found {
    let mut found = Found { plan: None, best_logit: before, out_of_budget: false };
    let Some(mut actions) = person.case.feasible.actions() else { return found };
    loop {
        let batch: Vec<Action> = actions.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return found;
        }
        let permitted = batch.into_iter().filter(|action| person.permits(action)).collect();
        let scored = if meter.in_time() { score(person, permitted, meter) } else { None };
        let Some(scored) = scored else {
            found.out_of_budget = true;
            return found;
        };
        for scored in &scored {
            found.best_logit = found.best_logit.max(scored.logit());
            found.offer(person.accept(scored));
        }
    }
}

/// For every set of levers: up the gradient to a yes, then back as far as the yes allows.
fn gradients(person: &CausalCase, before: &Scored, meter: &mut Meter) -> Found {
    let case = &person.case;
    let mut found = Found { plan: None, best_logit: before.logit(), out_of_budget: false };
    for set in lever_sets(case.feasible.domains().len()) {
        let Some(start) = ascend(person, &set, before, meter) else {
            found.out_of_budget = true;
            break;
        };
        let Climbed { reached, cut_short } = climb(person, start, case.threshold, meter);
        found.best_logit = found.best_logit.max(reached.logit());
        found.out_of_budget |= cut_short;
        if case.threshold.approves(reached.logit()) {
            found.offer(person.accept(&cheapen(person, reached, meter)));
        }
    }
    found
}

/// The sets of levers to act on: all of them for few levers, else one lever, two levers and all.
fn lever_sets(levers: usize) -> Vec<Vec<usize>> {
    if levers <= LEVERS {
        let set = |bits: u32| (0..levers).filter(|lever| bits >> lever & 1 == 1).collect();
        return (1..1u32 << levers).map(set).collect();
    }
    let mut sets: Vec<Vec<usize>> = (0..levers).map(|lever| vec![lever]).collect();
    for first in 0..levers {
        sets.extend((first + 1..levers).map(|second| vec![first, second]));
    }
    sets.push((0..levers).collect());
    sets
}

/// Repeats the one-step program within a set of levers from where it last led, as long as the score grows. `None` when
/// the budget is spent.
fn ascend(person: &CausalCase, set: &[usize], before: &Scored, meter: &mut Meter) -> Option<Scored> {
    let case = &person.case;
    let mut best = before.clone();
    let mut point = case.point().to_vec();
    let mut gradient = vec![0.0; point.len()];
    for _ in 0..ASCENTS {
        case.gradient(&point, &mut gradient, meter)?;
        let corner = uphill(person, set, &gradient);
        // Consequences may pass a limit at the corner: then a part of the way is tried.
        let shares = [1.0, 0.75, 0.5, 0.25, 0.1].map(|share| scaled(case.feasible, &corner, share));
        let permitted = shares.into_iter().filter(|action| person.permits(action)).collect();
        match search::highest(&score(person, permitted, meter)?) {
            Some(higher) if higher.logit() > best.logit() => best = higher.clone(),
            _ => break,
        }
        if case.threshold.approves(best.logit()) {
            break;
        }
        person.land(best.action(), &mut point);
    }
    Some(best)
}

/// The end of each lever's domain, within the set, towards which the linearised score grows, consequences included.
fn uphill(person: &CausalCase, set: &[usize], gradient: &[f32]) -> Action {
    let feasible = person.case.feasible;
    let mut corner = feasible.stay();
    let mut point = feasible.point().to_vec();
    for &lever in set {
        let ends: Vec<Move> = match &feasible.domains()[lever] {
            Domain::Range { lo, hi } => vec![Move::By(*lo), Move::By(*hi)],
            Domain::Grid { lo, hi, .. } => vec![Move::Steps(*lo), Move::Steps(*hi)],
            Domain::Choice { to, .. } => to.iter().map(|&to| Move::To(to)).collect(),
        };
        let mut best = 0.0;
        for step in ends {
            let mut action = feasible.stay();
            action.moves[lever] = step;
            person.land(&action, &mut point);
            let differences = point.iter().zip(feasible.point()).zip(gradient);
            let gain: f64 = differences.map(|((to, from), slope)| f64::from(to - from) * f64::from(*slope)).sum();
            if gain > best {
                best = gain;
                corner.moves[lever] = step;
            }
        }
    }
    corner
}

/// This share of an action; categories move whole.
fn scaled(feasible: &FeasibleSet, action: &Action, share: f64) -> Action {
    let scale = |(domain, step): (&Domain, &Move)| match (domain, *step) {
        (Domain::Range { .. }, Move::By(change)) => Move::By(change * share),
        (Domain::Grid { .. }, Move::Steps(steps)) => Move::Steps((steps as f64 * share) as i64),
        (_, step) => step,
    };
    Action { moves: feasible.domains().iter().zip(&action.moves).map(scale).collect() }
}
