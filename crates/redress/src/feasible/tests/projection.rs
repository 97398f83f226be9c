//! The nearest permitted action, against brute force.

use proptest::prelude::*;

use super::random::{Case, Levers, case};
use crate::feasible::{Action, Domain, FeasibleSet, Move};

/// Squared distance over the columns of the levers.
fn distance(set: &FeasibleSet, target: &[f32], action: &Action) -> f64 {
    let mut point = vec![0.0; set.encoding().width()];
    set.encode(action, &mut point);
    let columns = set.levers().flat_map(|lever| set.encoding().columns(lever.feature));
    columns.map(|column| (f64::from(point[column]) - f64::from(target[column])).powi(2)).sum()
}

/// The person's point, moved along the gradient: anywhere near Δ(x).
fn target(case: &Case, set: &FeasibleSet) -> Vec<f32> {
    set.point().iter().zip(&case.gradient).map(|(cell, step)| cell + step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_on_a_lattice_is_nearer(case in case(Levers::Steps, 3, 3, 2)) {
        let set = case.set();
        let target = target(&case, &set);
        let found = set.project(&target);
        prop_assert!(set.contains(&found));
        let best = set.actions().unwrap().map(|action| distance(&set, &target, &action)).fold(f64::INFINITY, f64::min);
        prop_assert!((distance(&set, &target, &found) - best).abs() < 1e-4, "{:?}: nearest is {}", found, best);
    }

    #[test]
    fn nothing_in_a_polytope_is_nearer(
        case in case(Levers::Free, 3, 3, 0),
        shares in prop::collection::vec(prop::collection::vec(0.0..=1.0, 3), 60),
        along in 0.0..1.0,
    ) {
        let set = case.set();
        let target = target(&case, &set);
        let found = set.project(&target);
        prop_assert!(set.contains(&found));
        let nearest = distance(&set, &target, &found);
        for shares in &shares {
            let moves = set.domains().iter().zip(shares).map(|(domain, &share)| super::at_share(domain, share));
            let mut action = Action { moves: moves.collect() };
            // Between the answer and another action: where a nearer one would be found first.
            for (step, own) in action.moves.iter_mut().zip(&found.moves) {
                if let (Move::By(change), Move::By(own)) = (step, own) {
                    *change = own + along * (*change - own);
                }
            }
            let inside = |(domain, step): (&Domain, &Move)| domain.contains(*step);
            if set.domains().iter().zip(&action.moves).all(inside) && set.contains(&action) {
                prop_assert!(nearest <= distance(&set, &target, &action) + 1e-4, "{:?} is nearer than {:?}", action, found);
            }
        }
    }

    #[test]
    fn a_projection_is_permitted_and_nowhere_projects_to_staying(case in case(Levers::Mixed, 4, 3, 3)) {
        let set = case.set();
        let target = target(&case, &set);
        prop_assert!(set.contains(&set.project(&target)));
        let nowhere = vec![f32::NAN; target.len()];
        prop_assert_eq!(set.project(&nowhere), set.stay());
    }

    #[test]
    fn where_an_action_leads_projects_to_it(case in case(Levers::Steps, 3, 2, 2)) {
        let set = case.set();
        let mut point = vec![0.0; set.encoding().width()];
        for action in set.actions().unwrap() {
            set.encode(&action, &mut point);
            prop_assert_eq!(set.project(&point), action);
        }
    }
}
