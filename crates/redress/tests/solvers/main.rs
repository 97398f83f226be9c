//! One conformance suite for every solver: random (model, policy, person) triples over boxes, polytopes, lattices,
//! categories, links and causes. No answer may break the policy, claim a yes that the model does not give, or deny a way
//! that is there.

mod random;

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::{KINDS, Kind, Trial, World};
use rayon::prelude::*;
use redress::{
    feasible::{Action, Domain, FeasibleSet, Move},
    model::{Model, Scorer},
    recourse::{
        Absence, Budget, Case, Improver, Plan, Solver, Verdict,
        causal::{Causal, CausalCase, StructuralModel},
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
/// Every so many triples are solved with the settings that the product uses; the others with quicker ones.
const AS_SHIPPED: u64 = 20;
/// Lattices up to this size are searched by brute force; other sets are sampled so often.
const LISTED: u128 = 400;
const SAMPLES: usize = 12;

/// A solver, and whether its plans have consequences by causes.
struct Contender {
    solver: Box<dyn Solver>,
    causal: bool,
}

/// Every solver but `exact`, as shipped or quicker.
fn contenders(causes: &Arc<StructuralModel>, as_shipped: bool) -> Vec<Contender> {
    let quick = Gradient { schedule: Schedule { iterations: 30, ..Schedule::default() } };
    let few = LinearProgram { lime: Lime { samples: 60, ..Lime::default() }, grid: 12, plans: 2 };
    let (gradient, linear) = if as_shipped { (Gradient::default(), LinearProgram::default()) } else { (quick, few) };
    let contender = |solver: Box<dyn Solver>, causal: bool| Contender { solver, causal };
    vec![
        contender(Box::<Lp>::default(), false),
        contender(Box::new(gradient), false),
        contender(Box::new(linear), false),
        contender(Box::new(Causal { causes: causes.clone() }), true),
    ]
}

/// A triple, and what an action leads to with the world's causes or without.
struct Scene<'a> {
    case: Case<'a>,
    world: &'a World,
    trial: &'a Trial,
    /// Without causes, there are none to follow.
    causes: Option<&'a StructuralModel>,
}

impl<'a> Scene<'a> {
    fn new(case: &Case<'a>, world: &'a World, trial: &'a Trial, causal: bool) -> Self {
        Self { case: *case, world, trial, causes: causal.then_some(&*world.causes) }
    }

    /// The person's values after an action: abduction, action and prediction, equation by equation.
    fn values_after(&self, action: &Action) -> Vec<f64> {
        let (feasible, Some(causes)) = (self.case.feasible, self.causes) else {
            return self.case.feasible.apply(action);
        };
        let person = feasible.person();
        let mut values = feasible.apply(action);
        for equation in causes.equations() {
            // What the person did stands; everything else follows its causes.
            if values[equation.child] == person[equation.child] {
                let weights = || equation.weights.iter().zip(&equation.parents);
                let sum = |at: &[f64]| weights().map(|(weight, &parent)| weight * at[parent]).sum::<f64>();
                let noise = person[equation.child] - (equation.intercept + sum(person));
                values[equation.child] = equation.intercept + sum(&values) + noise;
            }
        }
        values
    }

    fn logit_at(&self, values: &[f64]) -> f32 {
        let mut point = vec![0.0; self.trial.model.inputs()];
        self.case.feasible.encoding().encode(values, &mut point);
        self.trial.model.logit(&point)
    }

    fn logit(&self) -> f32 {
        self.trial.model.logit(self.case.point())
    }

    /// The logit after an action, bit for bit as solvers see it.
    fn logit_after(&self, action: &Action) -> f32 {
        let person = CausalCase { case: self.case, causes: &self.world.causes };
        match self.causes {
            Some(_) => self.logit_at(&person.values_after(action)),
            None => self.logit_at(&self.case.feasible.apply(action)),
        }
    }

    /// Whether the action and what follows from it keep the policy: limits on where features may be, and constraints.
    fn permits(&self, action: &Action) -> bool {
        let feasible = self.case.feasible;
        feasible.contains(action) && (self.causes.is_none() || self.keeps_limits(&self.values_after(action), 1e-9))
    }

    /// Whether values keep the policy's limits and constraints, give or take.
    fn keeps_limits(&self, values: &[f64], tolerance: f64) -> bool {
        let (policy, person) = (&self.world.policy, self.case.feasible.person());
        let within = |feature: usize| {
            let action = &policy.features[feature].action;
            let moved = (values[feature] - person[feature]).abs() > 1e-9;
            let above = action.min.is_none_or(|min| values[feature] >= min.min(person[feature]) - tolerance);
            let below = action.max.is_none_or(|max| values[feature] <= max.max(person[feature]) + tolerance);
            !moved || (above && below)
        };
        let holds = policy.constraints.iter().all(|constraint| {
            let changes = constraint.terms.iter().map(|&(feature, by)| by * (values[feature] - person[feature]));
            changes.sum::<f64>() <= constraint.bound + tolerance
        });
        (0..values.len()).all(within) && holds
    }
}

/// What brute force or sampling knows about a scene.
struct Known {
    /// The highest logit seen at a permitted point.
    best: f32,
    /// The least cost of a yes among the actions seen.
    cheapest: Option<f64>,
    /// Whether every permitted action was seen.
    complete: bool,
}

fn look(scene: &Scene, seed: u64) -> Known {
    let case = &scene.case;
    let listed = case.feasible.lattice_size().is_some_and(|size| size <= LISTED);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let actions: Vec<Action> = match case.feasible.actions().filter(|_| listed) {
        Some(actions) => actions.collect(),
        None => (0..SAMPLES).map(|_| sample(case.feasible, &mut rng)).collect(),
    };
    let mut known = Known { best: scene.logit(), cheapest: None, complete: listed };
    for action in actions.iter().filter(|action| scene.permits(action)) {
        let logit = scene.logit_after(action);
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
fn check_plan(scene: &Scene, plan: &Plan) -> Result<(), String> {
    let (case, feasible) = (&scene.case, scene.case.feasible);
    let logit = scene.logit_at(plan.values());
    let expected = scene.values_after(plan.action());
    let leads = expected.iter().zip(plan.values()).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()));
    let plain = scene.causes.is_none();
    let checks = [
        (feasible.contains(plan.action()), "breaks the policy"),
        (leads && (!plain || expected == plan.values()), "leads elsewhere than it says"),
        (!plain || feasible.contains_values(plan.values()), "ends at values outside the policy"),
        (plain || scene.keeps_limits(plan.values(), 1e-6), "has consequences that break the policy"),
        (case.threshold.approves(logit), "does not flip the decision"),
        (logit == plan.logit(), "has another score than it says"),
        (case.costs.of(feasible, plan.action()) == plan.cost(), "costs something else than it says"),
    ];
    match checks.iter().find(|check| !check.0) {
        Some((_, fault)) => Err(format!("{plan:?} {fault}")),
        None => Ok(()),
    }
}

/// What must hold of a verdict, given what else is known.
fn check_verdict(scene: &Scene, verdict: &Verdict, known: &Known) -> Result<(), String> {
    let threshold = scene.case.threshold;
    if threshold.approves(scene.logit()) != matches!(verdict, Verdict::Approved { .. }) {
        return Err("is wrong about whether the person is approved".into());
    }
    match verdict {
        Verdict::Recourse(plans) => {
            if plans.is_empty() {
                return Err("offers recourse without a plan".into());
            }
            plans.iter().try_for_each(|plan| check_plan(scene, plan))?;
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
            if threshold.approves(*best_logit) || known.complete && *best_logit > known.best {
                return Err(format!("saw a logit of {best_logit} at a permitted point; the best is {}", known.best));
            }
        }
        Verdict::Approved { .. } => {}
    }
    Ok(())
}

/// Two verdicts on one person may differ in what they found, not in what is so. The first is that of `exact`, which
/// misses no way that another finds.
fn check_together(verdicts: &[(&str, Verdict)]) -> Result<(), String> {
    let yes = verdicts.iter().find(|(_, verdict)| matches!(verdict, Verdict::Recourse(_)));
    let proof = verdicts.iter().find(|(_, verdict)| matches!(verdict, Verdict::NoRecourse(Absence::Proven { .. })));
    match (yes, proof) {
        (Some((a, _)), Some((b, _))) => Err(format!("{a} found a way where {b} proved that there is none")),
        (Some((a, _)), _) if verdicts[0].1.plan().is_none() => {
            Err(format!("{a} found a way that {} did not: {:?}", verdicts[0].0, verdicts[0].1))
        }
        _ => Ok(()),
    }
}

/// The highest score that exact search finds is never below another's by more than the gap that it promises.
fn check_scores(case: &Case, known: &Known, verdicts: &[(&str, Verdict)]) -> Result<(), String> {
    let exact = Exact::best_score();
    let best = match exact.answer(case, &Budget::default()).verdict {
        Verdict::Recourse(plans) => plans.iter().map(Plan::logit).fold(f32::NEG_INFINITY, f32::max),
        Verdict::NoRecourse(Absence::Proven { best_logit, .. } | Absence::NotFound { best_logit }) => best_logit,
        Verdict::Approved { .. } | Verdict::Unknown { .. } => return Ok(()),
    };
    let reached = verdicts.iter().map(|(name, verdict)| match verdict {
        Verdict::Recourse(plans) => (*name, plans.iter().map(Plan::logit).fold(f32::NEG_INFINITY, f32::max)),
        Verdict::NoRecourse(Absence::Proven { best_logit, .. } | Absence::NotFound { best_logit })
        | Verdict::Unknown { best_logit, .. } => (*name, *best_logit),
        Verdict::Approved { logit } => (*name, *logit),
    });
    let mut all = reached.chain([("looking around", known.best)]);
    match all.find(|(_, logit)| f64::from(*logit) > f64::from(best) + exact.logit_gap) {
        Some((name, logit)) => Err(format!("{name} reaches {logit}, exact {best}")),
        None => Ok(()),
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
            let case = Case::new(&trial.model, &feasible, trial.threshold, &world.costs);
            if let Err(fault) = check(&world, &trial, &case, seed) {
                panic!(
                    "world {index}, seed {seed} ({kind:?}): {fault}\nperson {:?}, logit {}, threshold {:?}\n{}",
                    trial.person,
                    trial.model.logit(case.point()),
                    trial.threshold,
                    world.text
                );
            }
        }
    });
}

#[test]
fn no_answer_breaks_the_policy_claims_a_false_yes_or_denies_a_way() {
    on_triples(TRIPLES, |world, trial, case, seed| {
        let scene = |causal: bool| Scene::new(case, world, trial, causal);
        let (plain, causal) = (look(&scene(false), seed), look(&scene(true), seed));
        let exact = Exact::default().answer(case, &Budget::default());
        check_verdict(&scene(false), &exact.verdict, &plain).map_err(|fault| format!("exact {fault}"))?;
        let mut comparable = vec![("exact", exact.verdict)];
        let no_causes = world.causes.equations().is_empty();
        for contender in contenders(&world.causes, seed.is_multiple_of(AS_SHIPPED)) {
            let (name, verdict) = (contender.solver.name(), contender.solver.solve(case, &Budget::default()));
            let known = if contender.causal { &causal } else { &plain };
            check_verdict(&scene(contender.causal), &verdict, known).map_err(|fault| format!("{name} {fault}"))?;
            // Where nothing causes anything, the causal solver answers the same question as the others.
            if !contender.causal || no_causes {
                let cost = verdict.plan().map(Plan::cost);
                if let Some(cost) = cost.filter(|cost| *cost < exact.cost_at_least * (1.0 - 1e-9)) {
                    return Err(format!("{name} costs {cost}, exact says at least {}", exact.cost_at_least));
                }
                comparable.push((name, verdict));
            }
        }
        check_together(&comparable)?;
        if seed.is_multiple_of(AS_SHIPPED) { check_scores(case, &plain, &comparable) } else { Ok(()) }
    });
}

#[test]
fn answers_within_any_budget_are_right() {
    on_triples(5_000, |world, trial, case, seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut all = contenders(&world.causes, false);
        all.push(Contender { solver: Box::new(Exact::default()), causal: false });
        for Contender { solver, causal } in all {
            let scene = Scene::new(case, world, trial, causal);
            let budget =
                Budget { evaluations: rng.random_range(0..150), nodes: rng.random_range(0..30), ..Budget::default() };
            let mut meter = budget.meter();
            let verdict = solver.search(case, &mut meter);
            let spent = meter.spent();
            if spent.evaluations > budget.evaluations || spent.nodes > budget.nodes {
                return Err(format!("{} spent {spent:?} of {budget:?}", solver.name()));
            }
            if !matches!(verdict, Verdict::Unknown { .. }) {
                let known = look(&scene, seed);
                check_verdict(&scene, &verdict, &known).map_err(|fault| format!("{} {fault}", solver.name()))?;
            }
        }
        Ok(())
    });
}

#[test]
fn improvers_stay_permitted_and_exact_reaches_every_others_score() {
    let gradient = Gradient { schedule: Schedule { iterations: 30, ..Schedule::default() } };
    let exact = Exact::best_score();
    on_triples(5_000, |world, trial, case, _| {
        let scene = Scene::new(case, world, trial, false);
        let best = scene.logit_after(&exact.improve(&trial.model, case.feasible));
        for improver in [&Lp::default() as &dyn Improver, &gradient, &exact] {
            let action = improver.improve(&trial.model, case.feasible);
            let logit = scene.logit_after(&action);
            if !case.feasible.contains(&action) {
                return Err(format!("{} breaks the policy with {action:?}", improver.name()));
            }
            if improver.name() != "lp" && logit < scene.logit() {
                return Err(format!("{} made the score worse", improver.name()));
            }
            if f64::from(logit) > f64::from(best) + exact.logit_gap {
                return Err(format!("{} reaches {logit}, exact {best}", improver.name()));
            }
        }
        Ok(())
    });
}

#[test]
fn linear_on_a_linear_model_is_brute_force_on_the_grid() {
    on_triples(20_000, |world, trial, case, seed| {
        let known = look(&Scene::new(case, world, trial, false), seed);
        if !known.complete || !matches!(trial.model, Model::Linear(_)) {
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
    on_triples(2_000, |world, trial, case, _| {
        let scene = Scene::new(case, world, trial, false);
        let solver = LinearProgram { lime: Lime { samples: 60, ..Lime::default() }, grid: 12, plans: 1 };
        let Verdict::Recourse(plans) = options(&solver, case, &mut Budget::default().meter(), 3) else { return Ok(()) };
        let moved = |plan: &Plan| {
            let moves = case.feasible.domains().iter().zip(&plan.action().moves);
            moves.map(|(domain, step)| !domain.stays(*step)).collect::<Vec<bool>>()
        };
        let all_different = (0..plans.len()).all(|i| (0..i).all(|j| moved(&plans[i]) != moved(&plans[j])));
        let cheapest_first = plans.iter().all(|plan| plans[0].cost() <= plan.cost());
        plans.iter().try_for_each(|plan| check_plan(&scene, plan))?;
        if plans.len() > 3 || !all_different || !cheapest_first {
            return Err(format!("{plans:?}"));
        }
        Ok(())
    });
}
