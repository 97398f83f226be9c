//! Counterfactuals on `loan`, whose true equations are known: what the structural model predicts is what happens.

use redress::{
    dataset::{Dataset, Schema},
    policy::{Equation, Policy},
    recourse::causal::StructuralModel,
};
use redress_data::{
    builtin,
    loan::{self, Applicant, Circumstances, Intervention},
};

const FEATURES: [&str; 7] = ["gender", "age", "education", "amount", "duration", "income", "savings"];

fn policy_and_rows(rows: usize) -> (Policy, Dataset) {
    let policy = builtin("loan").expect("loan is built in").policy();
    let columns: Vec<&str> = policy.features.iter().map(|rule| rule.column.as_str()).collect();
    assert_eq!(columns, FEATURES);
    let table = loan::table(rows, 3);
    let schema = Schema::resolve(&policy, &table).expect("the policy fits its table");
    let (dataset, _) = Dataset::read(&policy, schema.into(), &table).expect("the rows are whole");
    (policy, dataset)
}

fn seen(values: &[f64]) -> Applicant {
    let [gender, age, education, amount, duration, income, savings] = values[..] else { panic!("seven features") };
    Applicant { gender, age, education, amount, duration, income, savings, chance: 0.5, repaid: false }
}

fn values(applicant: &Applicant) -> [f64; 7] {
    let Applicant { gender, age, education, amount, duration, income, savings, .. } = *applicant;
    [gender, age, education, amount, duration, income, savings]
}

/// D = −1 + 0.1·A + 2·G + L + U_D is linear, so a change of the amount moves the duration exactly as in truth; and a
/// duration that is set stays as set, whatever the amount does.
#[test]
fn an_action_on_the_amount_is_the_truth() {
    let (policy, dataset) = policy_and_rows(500);
    let model = StructuralModel::fit(&policy, &dataset).expect("the equations make a model");
    for row in 0..dataset.len() {
        let person = dataset.people.row(row);
        let truth = Circumstances::of(&seen(person), 0.5);
        for change in [-1.5, -0.25, 0.75, 2.0] {
            let amount = person[3] + change;
            let after = truth.under(&Intervention { amount: Some(amount), ..Default::default() });
            close(&model.counterfactual(person, &[(3, amount)]), &values(&after));
            let both = Intervention { amount: Some(amount), duration: Some(person[4]), ..Default::default() };
            close(&model.counterfactual(person, &[(3, amount), (4, person[4])]), &values(&truth.under(&both)));
        }
    }
}

/// S = −4 + 1.5·max(I, 0) + U_S is linear where incomes stay positive: with the true slope given, the whole chain from
/// income to savings is the truth for the people it holds for.
#[test]
fn an_action_on_a_positive_income_is_the_truth() {
    let (mut policy, dataset) = policy_and_rows(500);
    let causal = policy.causal.as_mut().expect("loan has causes");
    causal.equations.retain(|equation| equation.child != 6);
    causal.equations.push(Equation { child: 6, parents: vec![5], given: Some((vec![1.5], -4.0)) });
    let model = StructuralModel::fit(&policy, &dataset).expect("the equations make a model");
    let people = (0..dataset.len()).map(|row| dataset.people.row(row)).filter(|person| person[5] > 0.5);
    let mut looked_at = 0;
    for person in people {
        let truth = Circumstances::of(&seen(person), 0.5);
        for change in [-0.5, 1.0, 3.0] {
            let income = person[5] + change;
            let after = truth.under(&Intervention { income: Some(income), ..Default::default() });
            close(&model.counterfactual(person, &[(5, income)]), &values(&after));
            looked_at += 1;
        }
    }
    assert!(looked_at > 100, "{looked_at}");
}

/// An equation that is linear in truth is found from rows, up to their noise.
#[test]
fn fitted_equations_come_near_the_truth() {
    let (mut policy, dataset) = policy_and_rows(20_000);
    let causal = policy.causal.as_mut().expect("loan has causes");
    causal.equations.iter_mut().filter(|equation| equation.child == 4).for_each(|equation| equation.given = None);
    let model = StructuralModel::fit(&policy, &dataset).expect("the equations make a model");
    let duration = model.equations().iter().find(|equation| equation.child == 4).expect("duration has an equation");
    // gender 2, age 0.1, amount 1, intercept −1; noise of deviation 3 over 20,000 rows.
    for (weight, truth) in duration.weights.iter().zip([2.0, 0.1, 1.0]) {
        assert!((weight - truth).abs() < 0.1, "{duration:?}");
    }
    assert!((duration.intercept + 1.0).abs() < 0.15, "{duration:?}");
}

fn close(found: &[f64], truth: &[f64; 7]) {
    assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}\n{truth:?}");
}
