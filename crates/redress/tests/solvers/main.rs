//! One conformance suite for every solver: random (model, policy, person) triples over boxes, polytopes, lattices,
//! categories and links. No answer may break the policy, claim a yes that the model does not give, or deny a way that
//! is there.

mod random;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::{KINDS, Kind, Trial, World};
use rayon::prelude::*;
use redress::{
    feasible::{Action, Domain, FeasibleSet, Move},
    model::{Model, Scorer},
    recourse::{
        Absence, Budget, Case, Improver, Plan, Solver, Verdict,
        exact::Exact,
        gradient::{Gradient, Schedule},
        linear::{Lime, LinearProgram},
        lp::Lp,
        options,
    },
};

/// Triples in all, and how many of them share a policy.
const TRIPLES: u64 = 100_000;
const PER_WORLD: u64 = 50;
/// Lattices up to this size are searched by brute force; other sets are sampled so often.
const LISTED: u128 = 400;
const SAMPLES: usize = 12;

fn solvers() -> Vec<Box<dyn Solver>> {
    let schedule = Schedule { iterations: 30, ..Schedule::default() };
    let lime = Lime { samples: 60, ..Lime::default() };
    vec![Box::new(Lp::default()), Box::new(Gradient { schedule }), Box::new(LinearProgram { lime, grid: 12, plans: 2 })]
}

/// What brute force or sampling knows about a case.
struct Known {
    /// The highest logit seen at a permitted point.
    best: f32,
    /// The least cost of a yes among the actions seen.
    cheapest: Option<f64>,
    /// Whether every permitted action was seen.
    complete: bool,
}

fn look(case: &Case, seed: u64) -> Known {
    let listed = case.feasible.lattice_size().is_some_and(|size| size <= LISTED);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let actions: Vec<Action> = match case.feasible.actions().filter(|_| listed) {
        Some(actions) => actions.collect(),
        None => (0..SAMPLES)
            .map(|_| sample(case.feasible, &mut rng))
            .filter(|action| case.feasible.contains(action))
            .collect(),
    };
    let mut known = Known { best: case.logit(), cheapest: None, complete: listed };
    for action in &actions {
        let logit = case.logit_after(action);
        known.best = known.best.max(logit);
        if case.threshold.approves(logit) {
            let cost = case.costs.of(case.feasible, action);
            known.cheapest = Some(known.cheapest.map_or(cost, |best| best.min(cost)));
        }
    }
    known
}

fn sample(feasible: &FeasibleSet, rng: &mut ChaCha8Rng) -> Action {
    let step = |domain: &Domain, rng: &mut ChaCha8Rng| match domain {
        Domain::Range { lo, hi } => Move::By([*lo, *hi, lo + (hi - lo) * rng.random::<f64>()][rng.random_range(0..3)]),
        Domain::Grid { lo, hi, .. } => Move::Steps(rng.random_range(*lo..=*hi)),
        Domain::Choice { to, .. } => Move::To(to[rng.random_range(0..to.len())]),
    };
    Action { moves: feasible.domains().iter().map(|domain| step(domain, rng)).collect() }
}

/// What must hold of every plan, whoever made it.
fn check_plan(case: &Case, plan: &Plan) -> Result<(), String> {
    let feasible = case.feasible;
    let mut point = vec![0.0; case.model.inputs()];
    feasible.encoding().encode(plan.values(), &mut point);
    let checks = [
        (feasible.contains(plan.action()), "breaks the policy"),
        (feasible.apply(plan.action()) == plan.values(), "leads elsewhere than it says"),
        (feasible.contains_values(plan.values()), "ends at values outside the policy"),
        (case.threshold.approves(case.model.logit(&point)), "does not flip the decision"),
        (case.model.logit(&point) == plan.logit(), "has another score than it says"),
        (case.costs.of(feasible, plan.action()) == plan.cost(), "costs something else than it says"),
    ];
    match checks.iter().find(|check| !check.0) {
        Some((_, fault)) => Err(format!("{plan:?} {fault}")),
        None => Ok(()),
    }
}

/// What must hold of a verdict, given what else is known.
fn check_verdict(case: &Case, verdict: &Verdict, known: &Known) -> Result<(), String> {
    let approved = case.threshold.approves(case.logit());
    if approved != matches!(verdict, Verdict::Approved { .. }) {
        return Err("is wrong about whether the person is approved".into());
    }
    match verdict {
        Verdict::Recourse(plans) => {
            if plans.is_empty() {
                return Err("offers recourse without a plan".into());
            }
            plans.iter().try_for_each(|plan| check_plan(case, plan))?;
            let cheapest = plans.iter().map(Plan::cost).fold(f64::INFINITY, f64::min);
            if known.complete && known.cheapest.is_none_or(|cost| cheapest < cost - 1e-9) {
                return Err(format!("beats brute force: {cheapest} < {:?}", known.cheapest));
            }
        }
        Verdict::NoRecourse(Absence::Proven { best_logit, upper }) => {
            if known.cheapest.is_some() || f64::from(known.best) > *upper || f64::from(*best_logit) > *upper {
                return Err(format!("proves what is false: a logit of {} is permitted", known.best));
            }
        }
        Verdict::NoRecourse(Absence::NotFound { best_logit }) | Verdict::Unknown { best_logit, .. } => {
            if case.threshold.approves(*best_logit) || known.complete && *best_logit > known.best {
                return Err(format!("saw a logit of {best_logit} at a permitted point; the best is {}", known.best));
            }
        }
        Verdict::Approved { .. } => {}
    }
    Ok(())
}

/// Two verdicts on one person may differ in what they found, not in what is so.
fn check_together(verdicts: &[(&str, Verdict)]) -> Result<(), String> {
    let yes = verdicts.iter().find(|(_, verdict)| matches!(verdict, Verdict::Recourse(_)));
    let proof = verdicts.iter().find(|(_, verdict)| matches!(verdict, Verdict::NoRecourse(Absence::Proven { .. })));
    match (yes, proof) {
        (Some((a, _)), Some((b, _))) => Err(format!("{a} found a way where {b} proved that there is none")),
        _ => Ok(()),
    }
}

/// Runs `check` on triples of every kind and reports the first that fails, with all that is needed to see it again.
fn on_triples(count: u64, check: impl Fn(&World, &Trial, &Case, u64) -> Result<(), String> + Sync) {
    let worlds = count / PER_WORLD;
    (0..worlds).into_par_iter().for_each(|index| {
        let kind: Kind = KINDS[(index % 5) as usize];
        let world = World::new(kind, index);
        for seed in 0..PER_WORLD {
            let seed = index * PER_WORLD + seed;
            let trial = world.trial(seed);
            let feasible = world.space.feasible(&trial.person, None).unwrap();
            let case =
                Case { model: &trial.model, feasible: &feasible, threshold: trial.threshold, costs: &world.costs };
            if let Err(fault) = check(&world, &trial, &case, seed) {
                panic!(
                    "world {index}, seed {seed} ({kind:?}): {fault}\nperson {:?}, logit {}, threshold {:?}\n{}",
                    trial.person,
                    case.logit(),
                    trial.threshold,
                    world.text
                );
            }
        }
    });
}

#[test]
fn no_answer_breaks_the_policy_claims_a_false_yes_or_denies_a_way() {
    let solvers = solvers();
    on_triples(TRIPLES, |_, _, case, seed| {
        let known = look(case, seed);
        let exact = Exact::default().answer(case, &Budget::default());
        let mut verdicts = vec![("exact", exact.verdict)];
        verdicts.extend(solvers.iter().map(|solver| (solver.name(), solver.solve(case, &Budget::default()))));
        for (name, verdict) in &verdicts {
            check_verdict(case, verdict, &known).map_err(|fault| format!("{name} {fault}"))?;
            let cost = verdict.plan().map(Plan::cost);
            if let Some(cost) = cost.filter(|cost| *cost < exact.cost_at_least * (1.0 - 1e-9)) {
                return Err(format!("{name} costs {cost}, exact says at least {}", exact.cost_at_least));
            }
        }
        check_together(&verdicts)
    });
}

#[test]
fn budgets_are_kept_whatever_they_are() {
    let mut solvers = solvers();
    solvers.push(Box::new(Exact::default()));
    on_triples(5_000, |_, _, case, seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let known = look(case, seed);
        for solver in &solvers {
            let budget =
                Budget { evaluations: rng.random_range(0..150), nodes: rng.random_range(0..30), ..Budget::default() };
            let verdict = solver.solve(case, &budget);
            if let Verdict::Unknown { spent, .. } = &verdict {
                if spent.evaluations > budget.evaluations || spent.nodes > budget.nodes {
                    return Err(format!("{} spent {spent:?} of {budget:?}", solver.name()));
                }
                continue;
            }
            check_verdict(case, &verdict, &known).map_err(|fault| format!("{} {fault}", solver.name()))?;
        }
        Ok(())
    });
}

#[test]
fn improvers_stay_permitted_and_never_see_the_threshold() {
    let gradient = Gradient { schedule: Schedule { iterations: 30, ..Schedule::default() } };
    on_triples(5_000, |_, _, case, _| {
        for improver in [&Lp::default() as &dyn Improver, &gradient] {
            let action = improver.improve(case.model, case.feasible);
            if !case.feasible.contains(&action) {
                return Err(format!("{} breaks the policy with {action:?}", improver.name()));
            }
        }
        if case.logit_after(&gradient.improve(case.model, case.feasible)) < case.logit() {
            return Err("gradient made the score worse".into());
        }
        Ok(())
    });
}

/// The highest score that exact search finds is never below another's by more than the gap that it promises.
#[test]
fn exact_reaches_every_others_score() {
    let gradient = Gradient { schedule: Schedule { iterations: 30, ..Schedule::default() } };
    let exact = Exact::best_score();
    on_triples(5_000, |_, _, case, _| {
        let best = match exact.answer(case, &Budget::default()).verdict {
            Verdict::Unknown { .. } => return Ok(()),
            Verdict::Recourse(plans) => plans.iter().map(Plan::logit).fold(f32::NEG_INFINITY, f32::max),
            Verdict::NoRecourse(Absence::Proven { best_logit, .. } | Absence::NotFound { best_logit }) => best_logit,
            Verdict::Approved { logit } => logit.max(case.logit_after(&exact.improve(case.model, case.feasible))),
        };
        for improver in [&Lp::default() as &dyn Improver, &gradient] {
            let logit = case.logit_after(&improver.improve(case.model, case.feasible));
            if f64::from(logit) > f64::from(best) + exact.logit_gap {
                return Err(format!("{} reaches {logit}, exact {best}", improver.name()));
            }
        }
        Ok(())
    });
}

#[test]
fn linear_on_a_linear_model_is_brute_force_on_the_grid() {
    on_triples(20_000, |_, _, case, seed| {
        let known = look(case, seed);
        if !known.complete || !matches!(case.model, Model::Linear(_)) {
            return Ok(());
        }
        let verdict = LinearProgram::default().solve(case, &Budget::UNLIMITED);
        let found = verdict.plan().map(Plan::cost);
        let expected = known.cheapest.filter(|_| !matches!(verdict, Verdict::Approved { .. }));
        match (found, expected) {
            (Some(found), Some(expected)) if (found - expected).abs() <= 1e-9 * expected.max(1.0) => Ok(()),
            (None, None) => Ok(()),
            _ => Err(format!("the integer program says {found:?}, brute force {expected:?}")),
        }
    });
}

#[test]
fn options_differ_in_their_features_and_start_with_the_cheapest() {
    on_triples(2_000, |_, _, case, _| {
        let solver = LinearProgram { lime: Lime { samples: 60, ..Lime::default() }, grid: 12, plans: 1 };
        let Verdict::Recourse(plans) = options(&solver, case, &Budget::default(), 3) else { return Ok(()) };
        let moved = |plan: &Plan| {
            let moves = case.feasible.domains().iter().zip(&plan.action().moves);
            moves.map(|(domain, step)| !domain.stays(*step)).collect::<Vec<bool>>()
        };
        let all_different = (0..plans.len()).all(|i| (0..i).all(|j| moved(&plans[i]) != moved(&plans[j])));
        let cheapest_first = plans.iter().all(|plan| plans[0].cost() <= plan.cost());
        plans.iter().try_for_each(|plan| check_plan(case, plan))?;
        if plans.len() > 3 || !all_different || !cheapest_first {
            return Err(format!("{plans:?}"));
        }
        Ok(())
    });
}
