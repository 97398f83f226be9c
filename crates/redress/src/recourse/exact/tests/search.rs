//! Searches against brute force and dense sampling.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::network;
use crate::calibrate::Threshold;
use crate::dataset::FeatureKind;
use crate::feasible::tests::fixture::{Fixture, any, words};
use crate::feasible::tests::random::{self, Levers};
use crate::feasible::{Action, Domain, FeasibleSet, Lattice, Move};
use crate::model::{Activation, Model, Scorer};
use crate::policy::{Actionability, Direction};
use crate::recourse::exact::Exact;
use crate::recourse::{Absence, Budget, Case, Costs, Improver, Measure, Plan, Solver, Verdict, linear::LinearProgram};

const MEASURES: [Measure; 5] =
    [Measure::L1, Measure::L2, Measure::MadL1, Measure::PercentileTotal, Measure::PercentileMax];

fn model_for(set: &FeasibleSet, tanh: bool, seed: u64) -> Model {
    let activation = if tanh { Activation::Tanh } else { Activation::Relu };
    let hidden: &[usize] = [&[8, 8][..], &[12], &[]][seed as usize % 3];
    network(set.encoding().width(), hidden, activation, 2.5, seed)
}

fn logit(model: &Model, set: &FeasibleSet, action: &Action) -> f32 {
    let mut point = vec![0.0; model.inputs()];
    set.encode(action, &mut point);
    model.logit(&point)
}

/// Random permitted actions: anywhere, at the ends, and near staying.
fn samples(set: &FeasibleSet, seed: u64, count: usize) -> Vec<Action> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || {
        let moves = set.domains().iter().map(|domain| {
            let share: f64 = [0.0, 0.5, 1.0, random.random(), random.random()][random.random_range(0..5)];
            match domain {
                _ if random.random_range(0..4) == 0 => domain.stay(),
                Domain::Range { lo, hi } => Move::By((lo + share * (hi - lo)).clamp(*lo, *hi)),
                Domain::Grid { lo, hi, .. } => Move::Steps(lo + ((hi - lo) as f64 * share) as i64),
                Domain::Choice { to, .. } => Move::To(to[((to.len() - 1) as f64 * share) as usize]),
            }
        });
        Action { moves: moves.collect() }
    };
    (0..count).map(|_| draw()).filter(|action| set.contains(action)).collect()
}

/// A threshold at a share of the way between two logits.
fn threshold_at(low: f32, high: f32, share: f64) -> Threshold {
    Threshold::from_logit(f64::from(low) + share * (f64::from(high) - f64::from(low)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_lattice_search_is_brute_force(
        case in random::case(Levers::Steps, 5, 2, 2), seed: u64, tanh: bool, share in -0.1f64..1.2, measure in 0usize..5,
    ) {
        let set = case.set();
        let model = model_for(&set, tanh, seed);
        let costs = Costs::plain(set.encoding(), MEASURES[measure]);
        let all: Vec<(f64, f32)> = set
            .actions().unwrap().take(20_000)
            .map(|action| (costs.of(&set, &action), logit(&model, &set, &action))).collect();
        prop_assume!(all.len() < 20_000);
        let stay = logit(&model, &set, &set.stay());
        let best = all.iter().map(|(_, logit)| *logit).fold(f32::MIN, f32::max);
        let threshold = threshold_at(stay, best, share);
        let case = Case::new(&model, &set, threshold, &costs);
        let cheapest = all.iter().filter(|(_, logit)| threshold.approves(*logit)).map(|(cost, _)| *cost);
        let cheapest = cheapest.fold(f64::INFINITY, f64::min);
        let answer = Exact::default().answer(&case, &Budget::UNLIMITED);
        match &answer.verdict {
            Verdict::Approved { logit } => prop_assert!(*logit == stay && threshold.approves(stay)),
            Verdict::Recourse(plans) => {
                prop_assert!((plans[0].cost() - cheapest).abs() < 1e-12, "{} {cheapest}", plans[0].cost());
                prop_assert_eq!(answer.cost_at_least, plans[0].cost());
            }
            Verdict::NoRecourse(Absence::Proven { best_logit, upper }) => {
                prop_assert!(cheapest.is_infinite());
                prop_assert!(*best_logit <= best && f64::from(best) <= *upper && *upper < threshold.logit());
            }
            other => prop_assert!(false, "{other:?}"),
        }
        let improved = logit(&model, &set, &Exact { logit_gap: 0.0, ..Exact::default() }.improve(&model, &set));
        prop_assert_eq!(improved, best);
    }

    #[test]
    fn no_sample_contradicts_a_search(
        case in random::case(Levers::Mixed, 4, 2, 2), seed: u64, tanh: bool, share in -0.1f64..1.2, measure in 0usize..5,
    ) {
        let set = case.set();
        let model = model_for(&set, tanh, seed);
        let costs = Costs::plain(set.encoding(), MEASURES[measure]);
        let all: Vec<(f64, f32)> = samples(&set, seed, 1_500)
            .iter().map(|action| (costs.of(&set, action), logit(&model, &set, action))).collect();
        let stay = logit(&model, &set, &set.stay());
        let best = all.iter().map(|(_, logit)| *logit).fold(stay, f32::max);
        let threshold = threshold_at(stay, best, share);
        let case = Case::new(&model, &set, threshold, &costs);
        let answer = Exact::default().answer(&case, &Budget { nodes: 4_000, ..Budget::default() });
        let cheapest = all.iter().filter(|(_, logit)| threshold.approves(*logit)).map(|(cost, _)| *cost);
        let cheapest = cheapest.fold(f64::INFINITY, f64::min);
        prop_assert!(answer.cost_at_least <= cheapest, "{} {cheapest}", answer.cost_at_least);
        match &answer.verdict {
            Verdict::Approved { .. } => prop_assert!(threshold.approves(stay)),
            Verdict::Recourse(plans) => {
                prop_assert!(set.contains(plans[0].action()) && threshold.approves(plans[0].logit()));
                prop_assert!(answer.cost_at_least <= plans[0].cost());
            }
            Verdict::NoRecourse(Absence::Proven { best_logit, upper }) => {
                prop_assert!(cheapest.is_infinite(), "{answer:?} {cheapest}");
                prop_assert!(*best_logit <= *upper as f32 && f64::from(best) <= *upper && *upper < threshold.logit());
            }
            Verdict::Unknown { .. } => {}
            other => prop_assert!(false, "{other:?}"),
        }
        let improved = logit(&model, &set, &Exact::default().improve(&model, &set));
        prop_assert!(f64::from(improved) >= f64::from(best) - 0.02, "{improved} {best}");
    }

    #[test]
    fn a_budget_is_kept(
        case in random::case(Levers::Mixed, 4, 1, 1), seed: u64, evaluations in 0u64..40, nodes in 0u64..40, options in 1usize..4,
    ) {
        let set = case.set();
        let model = model_for(&set, true, seed);
        let costs = Costs::plain(set.encoding(), Measure::L1);
        let threshold = threshold_at(logit(&model, &set, &set.stay()), 1.0, 0.5);
        let case = Case::new(&model, &set, threshold, &costs);
        let answer = Exact::options(options).answer(&case, &Budget { evaluations, nodes, ..Budget::default() });
        prop_assert!(answer.spent.evaluations <= evaluations && answer.spent.nodes <= nodes, "{:?}", answer.spent);
        if evaluations == 0 {
            let unknown = matches!(answer.verdict, Verdict::Unknown { .. });
            prop_assert!(unknown);
        }
    }

    #[test]
    fn options_change_different_features_from_the_cheapest_on(
        case in random::case(Levers::Mixed, 4, 1, 1), seed: u64, share in 0.1f64..0.6,
    ) {
        let set = case.set();
        let model = model_for(&set, true, seed);
        let costs = Costs::plain(set.encoding(), Measure::L1);
        let best = logit(&model, &set, &Exact::default().improve(&model, &set));
        let threshold = threshold_at(logit(&model, &set, &set.stay()), best, share);
        let case = Case::new(&model, &set, threshold, &costs);
        let budget = Budget { nodes: 3_000, ..Budget::default() };
        let one = Exact::default().answer(&case, &budget).verdict;
        let Verdict::Recourse(plans) = Exact::options(3).answer(&case, &budget).verdict else {
            let none = !matches!(one, Verdict::Recourse(_));
            prop_assert!(none);
            return Ok(());
        };
        prop_assert!(!plans.is_empty() && plans.len() <= 3);
        // Looking for further options may only find something cheaper, within the gap.
        prop_assert!(one.plan().is_some_and(|one| plans[0].cost() <= one.cost()));
        let stay = set.stay();
        let changed = |action: &Action| -> Vec<bool> {
            action.moves.iter().zip(&stay.moves).map(|(step, stay)| step != stay).collect()
        };
        for (index, plan) in plans.iter().enumerate() {
            prop_assert!(plans[..index].iter().all(|other| changed(other.action()) != changed(plan.action())));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Among two options or more is one that changes as few features as any action of the lattice that gets a yes, and it
    /// is the cheapest of these.
    #[test]
    fn one_option_changes_as_few_features_as_can_be(
        case in random::case(Levers::Steps, 4, 1, 1), seed: u64, share in 0.1f64..1.0, linear: bool,
    ) {
        let set = case.set();
        let model = model_for(&set, true, if linear { 3 * (seed / 3) + 2 } else { seed });
        let costs = Costs::plain(set.encoding(), Measure::L1);
        let all: Vec<(Action, f32)> =
            set.actions().unwrap().map(|action| (action.clone(), logit(&model, &set, &action))).collect();
        let stay = logit(&model, &set, &set.stay());
        let best = all.iter().map(|(_, logit)| *logit).fold(f32::MIN, f32::max);
        let threshold = threshold_at(stay, best, share);
        prop_assume!(!threshold.approves(stay));
        let case = Case::new(&model, &set, threshold, &costs);
        let changed = |action: &Action| action.moves.iter().zip(&set.stay().moves).filter(|(a, b)| a != b).count();
        let yeses = || all.iter().filter(|(_, logit)| threshold.approves(*logit)).map(|(action, _)| action);
        let Some(fewest) = yeses().map(changed).min() else { return Ok(()) };
        let costs_of = yeses().filter(|action| changed(action) == fewest).map(|action| costs.of(&set, action));
        let cheapest = costs_of.fold(f64::INFINITY, f64::min);
        let program = LinearProgram { plans: 2, ..LinearProgram::default() };
        let mut verdicts = vec![Exact::options(2).solve(&case, &Budget::UNLIMITED)];
        if case.linear().is_some() {
            verdicts.push(program.solve(&case, &Budget::UNLIMITED));
        }
        for verdict in verdicts {
            let Verdict::Recourse(plans) = verdict else { return Err(TestCaseError::fail("no recourse")) };
            let has = |plan: &&Plan| changed(plan.action()) == fewest;
            let plan = plans.iter().find(has);
            prop_assert!(plan.is_some_and(|plan| (plan.cost() - cheapest).abs() < 1e-9), "{plans:?} {fewest} {cheapest}");
        }
    }
}

/// Many people: the same answers together as alone, on one thread as on several.
#[test]
fn together_is_alone_on_any_number_of_threads() {
    let mut fixture = Fixture::new();
    let (first, second) =
        (fixture.feature(FeatureKind::Number, any(2.0)), fixture.feature(FeatureKind::Number, any(2.0)));
    fixture.feature(FeatureKind::Category { values: words(3) }, Actionability { change: Direction::Any, ..any(1.0) });
    fixture.feature(FeatureKind::Number, Actionability::default());
    fixture.constraint(&[(first, 1.0), (second, 1.0)], 2.5);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut number = || f64::from(random.random_range(-12..13)) / 4.0;
    let people: Vec<Vec<f64>> =
        (0..300).map(|index| vec![number(), number(), f64::from(index % 3), number()]).collect();
    fixture.training = people.clone();
    let space = fixture.space(Lattice::AsPolicy);
    let sets: Vec<FeasibleSet> = people.iter().map(|person| space.feasible(person, None).unwrap()).collect();
    let model = model_for(&sets[0], true, 3);
    let costs = Costs::plain(sets[0].encoding(), Measure::L1);
    let logits: Vec<f32> = sets.iter().map(|set| logit(&model, set, &set.stay())).collect();
    let mut sorted = logits.clone();
    sorted.sort_by(f32::total_cmp);
    let threshold = Threshold::from_logit(f64::from(sorted[270]));
    let cases: Vec<Case> = sets.iter().map(|feasible| Case::new(&model, feasible, threshold, &costs)).collect();
    let mut verdicts = std::collections::BTreeSet::new();
    // Small budgets end searches in the middle of a shared pass.
    for (evaluations, nodes) in [(5, 500), (500, 3), (500, 10), (10_000, 500)] {
        let budget = Budget { evaluations, nodes, ..Budget::default() };
        let alone: Vec<_> = cases.iter().map(|case| Exact::default().answer(case, &budget)).collect();
        verdicts.extend(alone.iter().map(|answer| answer.verdict.word()));
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let together = pool.install(|| Exact::default().answer_all(&cases, &budget));
            assert!(together == alone, "{threads} threads");
        }
    }
    assert!(verdicts.len() >= 4, "{verdicts:?}: the people are too much alike for this test to say much");
}
