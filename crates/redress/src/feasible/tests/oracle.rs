//! The linear oracle against brute force, and its methods against each other.

use proptest::prelude::*;

use super::random::{Case, Levers, case};
use crate::feasible::{Action, FeasibleSet, Move, corners, program, search};

/// `gradient · (point after − point before)`, from the points themselves.
fn gain(set: &FeasibleSet, gradient: &[f32], action: &Action) -> f64 {
    let mut point = vec![0.0; set.encoding().width()];
    set.encode(action, &mut point);
    point.iter().zip(set.point()).zip(gradient).map(|((a, b), g)| (f64::from(*a) - f64::from(*b)) * f64::from(*g)).sum()
}

fn weights(case: &Case) -> Vec<f64> {
    case.gradient.iter().map(|&entry| f64::from(entry)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_oracle_is_brute_force_on_lattices(case in case(Levers::Steps, 4, 3, 3)) {
        let set = case.set();
        let found = set.minimise(&case.gradient);
        prop_assert!(set.contains(&found));
        let best = set.actions().unwrap().map(|action| gain(&set, &case.gradient, &action)).fold(f64::INFINITY, f64::min);
        prop_assert!((gain(&set, &case.gradient, &found) - best).abs() < 1e-4, "{:?}: best is {}", found, best);
    }

    #[test]
    fn the_program_is_the_search(case in case(Levers::Steps, 4, 3, 3)) {
        let set = case.set();
        prop_assume!(!set.is_box());
        let linear = set.linear(&weights(&case));
        let searched = search::search(&set, &linear, usize::MAX);
        prop_assert!(searched.complete);
        let value = set.value(&linear, &searched.action);
        if let Some(solved) = program::minimise(&set, &linear) {
            prop_assert!(set.contains(&solved));
            prop_assert!((set.value(&linear, &solved) - value).abs() < 1e-6);
        } else {
            prop_assert_eq!(value, 0.0);
        }
    }

    #[test]
    fn the_table_of_corners_is_the_program(case in case(Levers::Free, 3, 4, 0)) {
        let set = case.set();
        prop_assume!(!set.is_box());
        let linear = set.linear(&weights(&case));
        let table = corners::of(&set).unwrap();
        let corner = corners::minimise(&set, &table, &linear).unwrap();
        prop_assert!(set.contains(&corner));
        let value = set.value(&linear, &corner);
        match program::minimise(&set, &linear) {
            Some(solved) => {
                let solved = set.shrink(solved);
                prop_assert!((set.value(&linear, &solved) - value).abs() < 1e-6, "{:?} {:?}", corner, solved);
            }
            None => prop_assert!(value.abs() < 1e-9),
        }
        let found = set.minimise(&case.gradient);
        prop_assert!((set.value(&linear, &found) - value).abs() < 1e-6);
    }

    #[test]
    fn no_permitted_action_beats_the_oracle(
        case in case(Levers::Mixed, 4, 3, 2),
        shares in prop::collection::vec(prop::collection::vec(0.0..=1.0, 4), 60),
    ) {
        let set = case.set();
        let found = set.minimise(&case.gradient);
        prop_assert!(set.contains(&found));
        let best = gain(&set, &case.gradient, &found);
        prop_assert!(best <= 1e-6);
        for shares in &shares {
            let moves = set.domains().iter().zip(shares).map(|(domain, &share)| super::at_share(domain, share));
            let action = Action { moves: moves.collect() };
            if set.contains(&action) {
                // An unattained minimum (see `minimise`) is answered to a millionth.
                prop_assert!(best <= gain(&set, &case.gradient, &action) + 1e-4, "{:?} beats {:?}", action, found);
            }
        }
    }

    #[test]
    fn nothing_in_the_narrowed_domains_beats_the_relaxation(
        case in case(Levers::Mixed, 3, 3, 2),
        cuts in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 3),
        shares in prop::collection::vec(prop::collection::vec(0.0..=1.0, 3), 60),
    ) {
        let set = case.set();
        let domains = super::narrowed(&set, &cuts);
        let bound = set.relaxed_minimum(&domains, &weights(&case));
        let here: f64 = set.point().iter().zip(&case.gradient).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        for shares in &shares {
            let moves = domains.iter().zip(shares).map(|(domain, &share)| super::at_share(domain, share));
            let action = Action { moves: moves.collect() };
            if set.contains(&action) {
                prop_assert!(bound <= here + gain(&set, &case.gradient, &action), "{} against {:?}", bound, action);
            }
        }
    }

    #[test]
    fn the_relaxation_is_tight_without_steps(case in case(Levers::Free, 3, 1, 0)) {
        // One row between free levers: the dual of a linear program with one multiplier.
        let set = case.set();
        let bound = set.relaxed_minimum(set.domains(), &weights(&case));
        let here: f64 = set.point().iter().zip(&case.gradient).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let best = here + gain(&set, &case.gradient, &set.minimise(&case.gradient));
        prop_assert!(bound <= best && bound >= best - 1e-4, "{} against {}", bound, best);
    }

    #[test]
    fn what_has_no_gradient_does_not_move(case in case(Levers::Mixed, 4, 3, 0), lever in 0usize..4) {
        let set = case.set();
        let lever = lever % set.domains().len();
        let feature = set.levers().nth(lever).unwrap().feature;
        let mut gradient = case.gradient.clone();
        gradient[set.encoding().columns(feature)].fill(f32::NAN);
        let found = set.minimise(&gradient);
        let mut without = found.clone();
        without.moves[lever] = set.stay().moves[lever];
        // It may move only to make room for another.
        prop_assert!(without == found || !set.contains(&without));
    }
}

#[test]
fn a_box_goes_to_its_ends() {
    use super::fixture::{Fixture, any};
    use crate::dataset::FeatureKind;
    let mut fixture = Fixture::new();
    for _ in 0..3 {
        fixture.feature(FeatureKind::Number, any(2.0));
    }
    fixture.training = vec![vec![0.0; 3], vec![1.0; 3]];
    let set = fixture.space(crate::feasible::Lattice::AsPolicy).feasible(&[0.0; 3], None).unwrap();
    let expected = Action { moves: vec![Move::By(-2.0), Move::By(2.0), Move::By(0.0)] };
    assert_eq!(set.minimise(&[0.5, -0.1, 0.0]), expected);
    assert_eq!(set.minimise(&[f32::INFINITY, -f32::INFINITY, f32::NAN]), expected);
}
