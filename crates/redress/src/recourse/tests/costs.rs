//! Costs are what searches rely on: nothing for staying, more for more, never less than the bound.

use proptest::prelude::*;

use super::lender;
use crate::{
    feasible::{Action, Domain, FeasibleSet, Lattice, Move},
    recourse::Measure,
};

const MEASURES: [Measure; 5] =
    [Measure::L1, Measure::L2, Measure::MadL1, Measure::PercentileTotal, Measure::PercentileMax];

/// The part of each domain between two shares of it, and a move in it.
fn part(feasible: &FeasibleSet, shares: &[(f64, f64, f64)]) -> (Vec<Domain>, Action) {
    let mut domains = Vec::new();
    let mut moves = Vec::new();
    for (domain, &(a, b, along)) in feasible.domains().iter().zip(shares) {
        let (low, high) = (a.min(b), a.max(b));
        let at = |lo: f64, hi: f64, share: f64| lo + (hi - lo) * share;
        match domain {
            Domain::Range { lo, hi } => {
                let (from, to) = (at(*lo, *hi, low), at(*lo, *hi, high));
                domains.push(Domain::Range { lo: from, hi: to });
                moves.push(Move::By(at(from, to, along).clamp(from, to)));
            }
            Domain::Grid { step, lo, hi } => {
                let steps = |share: f64| at(*lo as f64, *hi as f64, share).round() as i64;
                let (from, to) = (steps(low), steps(high));
                domains.push(Domain::Grid { step: *step, lo: from, hi: to });
                moves.push(Move::Steps(at(from as f64, to as f64, along).round() as i64));
            }
            Domain::Choice { from, to } => {
                let kept = ((to.len() as f64 * low) as usize).min(to.len() - 1);
                let to = to[kept..].to_vec();
                moves.push(Move::To(to[((to.len() as f64 * along) as usize).min(to.len() - 1)]));
                domains.push(Domain::Choice { from: *from, to });
            }
        }
    }
    (domains, Action { moves })
}

proptest! {
    #[test]
    fn no_action_costs_less_than_the_bound_on_its_part(
        row in 0usize..300,
        measure in 0usize..5,
        continuous in any::<bool>(),
        shares in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64), 4),
    ) {
        let lattice = if continuous { Lattice::Continuous } else { Lattice::AsPolicy };
        let advisor = lender::advisor(true, false, lattice, MEASURES[measure]);
        let people = lender::applicants(300, 1).people;
        let feasible = advisor.space().feasible(people.row(row), None).unwrap();
        let (domains, action) = part(&feasible, &shares);
        let (least, cost) = (advisor.costs().least(&feasible, &domains), advisor.costs().of(&feasible, &action));
        prop_assert!(feasible.contains(&action));
        prop_assert!(least <= cost, "{} > {} for {:?} in {:?}", least, cost, action, domains);
        prop_assert_eq!(advisor.costs().of(&feasible, &feasible.stay()), 0.0);
    }
}

#[test]
fn by_hand() {
    let advisor = lender::advisor(true, false, Lattice::AsPolicy, Measure::L1);
    let feasible = advisor.space().feasible(&[30.0, 12.0, 40.0, 2.0, 0.0], None).unwrap();
    let action = Action { moves: vec![Move::Steps(2), Move::Steps(-3), Move::By(0.0), Move::To(1)] };
    let encoding = advisor.space().encoding();
    let expected = 2.0 / encoding.deviation(1) + 3.0 / encoding.deviation(2) + 1.0;
    assert!((advisor.costs().of(&feasible, &action) - expected).abs() < 1e-12);
    let wrong = Action { moves: vec![Move::By(2.0), Move::Steps(-3), Move::By(0.0), Move::To(1)] };
    assert_eq!(advisor.costs().of(&feasible, &wrong), f64::INFINITY);
}
