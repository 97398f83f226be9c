//! Budgets are kept: what solvers say they spent is what the model was really asked, and never more than was allowed.

use std::{sync::Arc, time::Instant};

use proptest::prelude::*;

use super::lender;
use crate::{
    calibrate::Threshold,
    dataset::FeatureKind::Category,
    feasible::{
        FeasibleSet, Lattice,
        tests::random::{self, Levers},
    },
    model::{Activation, Architecture, Model, Scorer, counter::counted},
    policy::{Causal as Causes, Equation},
    recourse::{
        Budget, Case, Costs, Measure, Method, Request, Solver, Verdict,
        causal::{Causal, StructuralModel},
        exact::Exact,
        gradient::{Gradient, Schedule},
        linear::LinearProgram,
        lp::Lp,
        options, words,
    },
};

const MEASURES: [Measure; 5] =
    [Measure::L1, Measure::L2, Measure::MadL1, Measure::PercentileTotal, Measure::PercentileMax];

/// Every solver with the settings that the product uses, and the long ones with others that spend more.
fn solvers(causes: StructuralModel) -> Vec<Box<dyn Solver>> {
    vec![
        Box::new(Lp::default()),
        Box::new(Gradient::default()),
        Box::new(Gradient { schedule: Schedule { iterations: 200, ..Schedule::alibi() } }),
        Box::new(LinearProgram::default()),
        Box::new(LinearProgram { plans: 3, ..LinearProgram::default() }),
        Box::new(Exact::default()),
        Box::new(Exact::options(3)),
        Box::new(Exact::best_score()),
        Box::new(Causal { causes: Arc::new(causes) }),
    ]
}

fn model(set: &FeasibleSet, seed: u64) -> Model {
    let hidden = [vec![], vec![6], vec![8, 8]][(seed % 3) as usize].clone();
    let activation = if seed.is_multiple_of(2) { Activation::Tanh } else { Activation::Relu };
    let architecture = Architecture { hidden, activation, dropout: 0.0 };
    let mut layers = Model::random(set.encoding().width(), &architecture, seed).unwrap().layers().into_owned();
    layers.iter_mut().flat_map(|layer| &mut layer.weights).for_each(|weight| *weight *= 3.0);
    Model::from_layers(layers, activation, 0.0).unwrap()
}

/// Budgets from nothing to more than is needed, small ones as often as large ones.
fn budgets() -> impl Strategy<Value = Budget> {
    let upto = |most: f64| (0.0..most.ln()).prop_map(|size: f64| size.exp() as u64 - 1);
    (upto(30_000.0), upto(3_000.0)).prop_map(|(evaluations, nodes)| Budget { evaluations, nodes, ..Budget::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_solver_spends_what_it_says_and_no_more_than_it_may(
        random in random::case(Levers::Mixed, 4, 1, 1),
        seed: u64,
        distance in -0.2f64..3.0,
        measure in 0usize..5,
        weight in -1.0f64..1.0,
        budgets in prop::collection::vec(budgets(), 9),
        count in 1usize..4,
    ) {
        let set = random.set();
        let model = model(&set, seed);
        let costs = Costs::plain(set.encoding(), MEASURES[measure]);
        let threshold = Threshold::from_logit(f64::from(model.logit(set.point())) + distance);
        let case = Case::new(&model, &set, threshold, &costs);
        let mut policy = random.fixture.policy.clone();
        let child = set.person().len() - 1;
        let is_number = |feature: &usize| !matches!(random.fixture.schema.features[*feature].kind, Category { .. });
        let parents: Vec<usize> = (0..child).filter(is_number).collect();
        let given = Some((vec![weight; parents.len()], 0.0));
        policy.causal = Some(Causes { equations: vec![Equation { child, parents, given }] });
        let causes = StructuralModel::fit(&policy, &random.fixture.dataset()).unwrap();
        for (solver, budget) in solvers(causes).iter().zip(&budgets) {
            let mut meter = budget.meter();
            let (verdict, asked) = counted(|| options(&**solver, &case, &mut meter, count));
            let spent = meter.spent();
            prop_assert_eq!(asked, spent.evaluations, "{} {:?}", solver.name(), &verdict);
            prop_assert!(asked <= budget.evaluations, "{} asked {asked} of {budget:?}: {verdict:?}", solver.name());
            prop_assert!(spent.nodes <= budget.nodes, "{} {spent:?} of {budget:?}", solver.name());
            if let Verdict::Unknown { spent: said, .. } = verdict {
                prop_assert_eq!(said, spent);
            }
        }
    }

    /// A whole request, the fallback of exact search and several options included: the budget, one evaluation for the
    /// decision, and what words take.
    #[test]
    fn every_request_keeps_its_budget(
        row in 0usize..60, method in 0usize..5, options in 1usize..4, budget in budgets(), free: bool, linear: bool,
    ) {
        let lattice = if free { Lattice::Continuous } else { Lattice::AsPolicy };
        let advisor = lender::advisor(linear, true, lattice, Measure::L1);
        let people = lender::applicants(60, 31).people;
        let request = Request { method: Method::ALL[method], options, budget, ..Request::default() };
        let (explained, asked) = counted(|| advisor.explain(people.row(row), None, &request).unwrap());
        let extra = 1 + explained.options.len() as u64 * words::evaluations(advisor.space().levers().len());
        prop_assert!(asked <= budget.evaluations + extra, "{asked} of {budget:?} and {extra}: {:?}", explained.outcome);
    }
}

#[test]
fn after_the_deadline_nobody_is_asked() {
    let advisor = lender::advisor(false, true, Lattice::AsPolicy, Measure::L1);
    let people = lender::applicants(40, 32).people;
    let causes = StructuralModel::fit(&lender::policy(true), &lender::applicants(300, 1)).unwrap();
    let past = Budget { deadline: Some(Instant::now()), ..Budget::UNLIMITED };
    for row in 0..people.len() {
        let feasible = advisor.space().feasible(people.row(row), None).unwrap();
        for solver in solvers(causes.clone()) {
            let (verdict, asked) = counted(|| solver.solve(&advisor.case(&feasible), &past));
            assert!(asked == 0 && matches!(verdict, Verdict::Unknown { .. }), "{}: {asked} {verdict:?}", solver.name());
        }
    }
}
