//! Whole tables: the same answers as one by one, on any number of threads.

use super::lender;
use crate::{
    calibrate::Threshold,
    feasible::{Lattice, Move},
    model::Scorer,
    recourse::{
        Advisor, Budget, Case, Improver, Measure, Method, Request, RequestError, Solver,
        gradient::Gradient,
        lp::{self, Lp},
    },
    train::InnerObjective,
};

fn box_only(lattice: Lattice) -> Advisor {
    // Without the category and the link, Δ(x) is a box.
    let advisor = lender::advisor(false, false, lattice, Measure::L1);
    let mut policy = lender::policy(false);
    policy.features[4].action = Default::default();
    let space = crate::feasible::ActionSpace::new(&policy, advisor.space().encoding(), lattice).unwrap();
    assert!(space.is_box());
    Advisor::new(advisor.model().clone(), space, advisor.threshold(), advisor.costs().clone(), None).unwrap()
}

#[test]
fn the_step_for_a_table_is_the_program_for_each_person() {
    let people = lender::applicants(1200, 6).people;
    let with_links = lender::advisor(false, true, Lattice::AsPolicy, Measure::L1);
    for advisor in [box_only(Lattice::Continuous), box_only(Lattice::AsPolicy), with_links] {
        let points = advisor.space().encoding().encode_all(&people);
        let width = advisor.model().inputs();
        for objective in [InnerObjective::AsWritten, InnerObjective::AsReleased] {
            let stepped = lp::step_all(advisor.model(), advisor.space(), &people, &points, objective).unwrap();
            for row in (0..people.len()).step_by(7) {
                let feasible = advisor.space().feasible(people.row(row), None).unwrap();
                let action = Lp { objective }.improve(advisor.model(), &feasible);
                let mut point = vec![0.0; width];
                feasible.encode(&action, &mut point);
                assert_eq!(point, stepped.points[row * width..(row + 1) * width]);
                assert_eq!(advisor.model().logit(&point), stepped.after[row]);
                assert_eq!(advisor.model().logit(feasible.point()), stepped.before[row]);
            }
        }
    }
}

#[test]
fn as_written_raises_a_linear_score_and_as_released_lowers_it() {
    let advisor = lender::advisor(true, false, Lattice::AsPolicy, Measure::L1);
    let people = lender::applicants(100, 8).people;
    let points = advisor.space().encoding().encode_all(&people);
    let step = |objective| lp::step_all(advisor.model(), advisor.space(), &people, &points, objective).unwrap();
    let (up, down) = (step(InnerObjective::AsWritten), step(InnerObjective::AsReleased));
    assert!((0..100).all(|row| up.after[row] >= up.before[row] && down.after[row] <= down.before[row]));
}

#[test]
fn descending_together_is_descending_alone() {
    let people = lender::applicants(150, 12).people;
    for lattice in [Lattice::Continuous, Lattice::AsPolicy] {
        let advisor = box_only(lattice);
        let sets: Vec<_> = (0..150).map(|row| advisor.space().feasible(people.row(row), None).unwrap()).collect();
        let cases: Vec<Case> = sets.iter().map(|feasible| advisor.case(feasible)).collect();
        let gradient = Gradient::default();
        let together = gradient.solve_all(&cases, &Budget::default());
        let alone: Vec<_> = cases.iter().map(|case| gradient.solve(case, &Budget::default())).collect();
        assert_eq!(together, alone);
        assert!(together.iter().any(|verdict| verdict.plan().is_some()));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let advisor = lender::advisor(false, true, Lattice::AsPolicy, Measure::L1);
    let people = lender::applicants(80, 13).people;
    for method in [Method::Exact, Method::Lp, Method::Gradient, Method::Linear, Method::Causal] {
        let request = Request {
            method,
            options: 2,
            budget: Budget { evaluations: 20_000, nodes: 500, ..Budget::default() },
            ..Request::default()
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| advisor.explain_all(&people, &request).unwrap())
        };
        let alone: Vec<_> = (0..80).map(|row| advisor.explain(people.row(row), None, &request).unwrap()).collect();
        assert_eq!(on(1), alone, "{method:?}");
        assert_eq!(on(3), alone, "{method:?}");
    }
}

/// Six in ten are denied. Of the ways that exact search finds for them, gradient descent lands on nearly all, in whole steps.
#[test]
fn steps_on_a_lattice_are_whole() {
    let people = lender::applicants(200, 14).people;
    let advisor = box_only(Lattice::AsPolicy);
    let mut logits: Vec<f32> = advisor.decide(&people).unwrap().iter().map(|decision| decision.logit).collect();
    logits.sort_by(f32::total_cmp);
    let threshold = Threshold::from_logit(f64::from(logits[120]));
    let (model, space) = (advisor.model().clone(), advisor.space().clone());
    let advisor = Advisor::new(model, space, threshold, advisor.costs().clone(), None).unwrap();
    let by = |method| advisor.verdicts(&people, &Request { method, ..Request::default() }).unwrap();
    let (gradient, exact) = (by(Method::Gradient), by(Method::Exact));
    let plans: Vec<_> = gradient.iter().filter_map(|verdict| verdict.plan()).collect();
    let ways = exact.iter().filter(|verdict| verdict.plan().is_some()).count();
    assert!(ways > 20 && plans.len() <= ways && 20 * plans.len() >= 19 * ways, "{} of {ways}", plans.len());
    for plan in plans {
        assert!(plan.values()[..3].iter().all(|value| value.fract() == 0.0), "{plan:?}");
        assert!(matches!(plan.action().moves[..], [Move::Steps(_), Move::Steps(_), Move::By(_)]));
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let advisor = box_only(Lattice::AsPolicy);
    let person = [30.0, 12.0, 40.0, 7.0, 1.0];
    let none = Request { options: 0, ..Request::default() };
    assert_eq!(advisor.explain(&person, None, &none), Err(RequestError::NoOptions));
    let causal = Request { method: Method::Causal, ..Request::default() };
    assert_eq!(advisor.explain(&person, None, &causal), Err(RequestError::NoCausalModel));
    let short = advisor.explain(&person[..3], None, &Request::default());
    assert!(matches!(short, Err(RequestError::Person { row: 1, .. })), "{short:?}");
    let mut others = lender::applicants(3, 1).people;
    let mut schema = (*others.schema).clone();
    schema.features[0].column = "height".into();
    others.schema = schema.into();
    assert!(matches!(advisor.decide(&others), Err(RequestError::OtherSchema { .. })));
    assert_eq!(
        "simplex".parse::<Method>().unwrap_err().to_string(),
        "there is no method `simplex`; there are exact, lp, gradient, linear and causal"
    );
}
