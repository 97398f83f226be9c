//! The structural model: fitted equations, counterfactuals, cuts.

use super::lender;
use crate::{
    feasible::{Action, Lattice, Move},
    policy::{Causal, Constraint, Equation},
    recourse::{
        Absence, Budget, Measure, Solver, Verdict,
        causal::{Causal as CausalSolver, CausalCase, CausalError, StructuralModel},
    },
};

const HOURS: usize = 2;
const SAVINGS: usize = 3;

#[test]
fn a_fitted_equation_is_least_squares() {
    let train = lender::applicants(300, 5);
    let mut policy = lender::policy(false);
    policy.causal = Some(Causal { equations: vec![Equation { child: SAVINGS, parents: vec![HOURS, 0], given: None }] });
    let model = StructuralModel::fit(&policy, &train).unwrap();
    let noise: Vec<f64> = (0..300).map(|row| model.noise(train.people.row(row))[0]).collect();
    // The residuals of least squares sum to 0 and are uncorrelated with every parent.
    for column in [None, Some(HOURS), Some(0)] {
        let dot: f64 =
            (0..300).map(|row| noise[row] * column.map_or(1.0, |column| train.people.row(row)[column])).sum();
        assert!(dot.abs() < 1e-6, "{column:?}: {dot}");
    }
    assert!((model.equations()[0].weights[0] - 0.1).abs() < 0.02, "{:?}", model.equations());
}

#[test]
fn children_follow_unless_they_are_acted_on() {
    let policy = lender::policy(false);
    let model = StructuralModel::fit(&policy, &lender::applicants(50, 2)).unwrap();
    let person = [30.0, 12.0, 40.0, 7.0, 1.0];
    assert_eq!(model.noise(&person), [7.0 - (0.5 + 0.1 * 40.0)]);
    assert_eq!(model.counterfactual(&person, &[(HOURS, 50.0)]), [30.0, 12.0, 50.0, 8.0, 1.0]);
    assert_eq!(model.counterfactual(&person, &[(HOURS, 50.0), (SAVINGS, 7.5)]), [30.0, 12.0, 50.0, 7.5, 1.0]);
    assert_eq!(model.counterfactual(&person, &[(1, 14.0)]), [30.0, 14.0, 40.0, 7.0, 1.0]);
}

#[test]
fn the_counterfactual_is_abduction_action_prediction() {
    let train = lender::applicants(200, 3);
    let mut policy = lender::policy(false);
    let equation = |child, parents: &[usize]| Equation { child, parents: parents.to_vec(), given: None };
    policy.causal = Some(Causal { equations: vec![equation(SAVINGS, &[HOURS, 1]), equation(HOURS, &[0])] });
    let model = StructuralModel::fit(&policy, &train).unwrap();
    assert_eq!(model.equations()[0].child, HOURS, "parents come first");
    for row in 0..200 {
        let person = train.people.row(row);
        let noise = model.noise(person);
        let mut expected = person.to_vec();
        expected[0] += 3.0;
        for (equation, noise) in model.equations().iter().zip(noise) {
            let parents = equation.parents.iter().zip(&equation.weights);
            let sum: f64 = parents.map(|(&parent, weight)| weight * expected[parent]).sum();
            expected[equation.child] = equation.intercept + sum + noise;
        }
        let found = model.counterfactual(person, &[(0, person[0] + 3.0)]);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {expected:?}");
    }
}

#[test]
fn wrong_equations_are_refused_with_the_reason() {
    let train = lender::applicants(20, 4);
    let fit = |equations: Vec<Equation>| {
        let mut policy = lender::policy(false);
        policy.causal = Some(Causal { equations });
        StructuralModel::fit(&policy, &train).unwrap_err()
    };
    let equation = |child, parents: &[usize], given| Equation { child, parents: parents.to_vec(), given };
    let circle = fit(vec![equation(0, &[1], None), equation(1, &[2], None), equation(2, &[0], None)]);
    assert_eq!(circle, CausalError::Cycle { feature: "age".into() });
    assert_eq!(fit(vec![equation(0, &[4], None)]), CausalError::Category { feature: "housing".into() });
    let twice = vec![equation(0, &[1], None), equation(0, &[2], None)];
    assert_eq!(fit(twice), CausalError::Twice { feature: "age".into() });
    let given = Some((vec![f64::NAN], 0.0));
    assert_eq!(fit(vec![equation(0, &[1], given)]), CausalError::Weights { feature: "age".into() });
    let mut policy = lender::policy(false);
    policy.causal = None;
    assert_eq!(StructuralModel::fit(&policy, &train).unwrap_err(), CausalError::Missing);
}

/// Every plan is permitted, its values are the counterfactual's, and on a lattice no permitted action is cheaper.
#[test]
fn causal_plans_hold_under_the_causes_and_are_the_cheapest_of_a_lattice() {
    let advisor = lender::advisor(true, true, Lattice::AsPolicy, Measure::L1);
    let policy = lender::policy(true);
    let causes = StructuralModel::fit(&policy, &lender::applicants(300, 1)).unwrap();
    let solver = CausalSolver { causes: causes.clone().into() };
    let people = lender::applicants(60, 9).people;
    let (mut found, mut proven) = (0, 0);
    for row in 0..people.len() {
        // Without a free lever the lattice is finite.
        let feasible = advisor.space().feasible(people.row(row), None).unwrap().only(&[true, true, false, true]);
        let case = advisor.case(&feasible);
        let person = CausalCase { case, causes: &causes };
        let yeses = feasible
            .actions()
            .into_iter()
            .flatten()
            .filter_map(|action| person.verify(&action, &mut Budget::UNLIMITED.meter()));
        let cheapest = yeses.map(|plan| plan.cost()).min_by(f64::total_cmp);
        match solver.solve(&case, &Budget::UNLIMITED) {
            Verdict::Recourse(plans) => {
                found += 1;
                assert_eq!(Some(plans[0].cost()), cheapest);
                assert_eq!(plans[0].values(), person.values_after(plans[0].action()));
                assert!(feasible.contains(plans[0].action()));
            }
            Verdict::NoRecourse(Absence::Proven { .. }) => {
                proven += 1;
                assert_eq!(cheapest, None);
            }
            verdict => assert!(matches!(verdict, Verdict::Approved { .. }), "{verdict:?}"),
        }
    }
    assert!(found > 5 && proven > 0, "{found} {proven}");
}

/// With a free lever the search follows gradients; what it returns holds, and the consequences carry part of the way.
#[test]
fn consequences_count_for_the_score_and_not_for_the_cost() {
    let advisor = lender::advisor(true, false, Lattice::Continuous, Measure::L1);
    let causes = StructuralModel::fit(&lender::policy(false), &lender::applicants(300, 1)).unwrap();
    let people = lender::applicants(60, 11).people;
    let mut carried = 0;
    for row in 0..people.len() {
        let feasible = advisor.space().feasible(people.row(row), None).unwrap();
        let case = advisor.case(&feasible);
        let solver = CausalSolver { causes: causes.clone().into() };
        let Verdict::Recourse(plans) = solver.solve(&case, &Budget::default()) else { continue };
        let person = CausalCase { case, causes: &causes };
        assert_eq!(person.verify(plans[0].action(), &mut Budget::UNLIMITED.meter()).as_ref(), Some(&plans[0]));
        assert_eq!(plans[0].cost(), advisor.costs().of(&feasible, plans[0].action()));
        let stays = plans[0].action().moves[2] == Move::By(0.0);
        carried += usize::from(stays && plans[0].values()[SAVINGS] != people.row(row)[SAVINGS]);
    }
    assert!(carried > 0);
}

#[test]
fn consequences_keep_to_the_limits_of_their_features() {
    let mut policy = lender::policy(false);
    policy.features[SAVINGS].action.max = Some(7.5);
    let causes = StructuralModel::fit(&policy, &lender::applicants(50, 2)).unwrap();
    let advisor = lender::advisor(true, false, Lattice::AsPolicy, Measure::L1);
    let feasible = advisor.space().feasible(&[30.0, 12.0, 40.0, 7.0, 1.0], None).unwrap();
    let person = CausalCase { case: advisor.case(&feasible), causes: &causes };
    let more_hours = |steps| Action { moves: vec![Move::Steps(0), Move::Steps(steps), Move::By(0.0), Move::To(1)] };
    assert_eq!(person.values_after(&more_hours(10))[SAVINGS], 8.0);
    assert_eq!(person.verify(&more_hours(10), &mut Budget::UNLIMITED.meter()), None);
}

/// Ten more hours are a thousand more savings: together they are more than the constraint lets change.
#[test]
fn consequences_keep_to_the_constraints_between_changes() {
    let mut policy = lender::policy(false);
    let constraint = |bound| Constraint { text: String::new(), terms: vec![(HOURS, 1.0), (SAVINGS, 2.0)], bound };
    policy.constraints = vec![constraint(11.0)];
    let train = lender::applicants(50, 2);
    let causes = StructuralModel::fit(&policy, &train).unwrap();
    let person = [30.0, 12.0, 40.0, 7.0, 1.0];
    let after = |hours| causes.counterfactual(&person, &[(HOURS, hours)]);
    assert!(!causes.within_limits(&person, &after(50.0)));
    assert!(causes.within_limits(&person, &after(49.0)));
    policy.constraints = vec![constraint(12.0)];
    let causes = StructuralModel::fit(&policy, &train).unwrap();
    assert!(causes.within_limits(&person, &causes.counterfactual(&person, &[(HOURS, 50.0)])));
}
