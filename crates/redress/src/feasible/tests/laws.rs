//! What is in Δ(x), what it leads to, and how it is listed and bounded.

use proptest::prelude::*;

use super::fixture::{Fixture, any, words};
use super::random::{Case, Levers, case};
use crate::dataset::FeatureKind;
use crate::feasible::{Action, ActionSpace, Domain, FeasibleSet, Lattice, Move, SpaceError};
use crate::policy::{Actionability, Amount, Direction, Overrides, Trigger};

/// The definition, from the policy and the values before and after, sharing nothing with the implementation: each
/// lever's change in its direction, size, limits and steps; rows and links over the changes.
fn permitted(case: &Case, after: &[f64]) -> bool {
    let (policy, before) = (&case.fixture.policy, &case.person);
    let encoding = case.fixture.encoding();
    let change = |feature: usize| after[feature] - before[feature];
    let tiny = 1e-6;
    for (feature, rule) in policy.features.iter().enumerate() {
        let (kind, action) = (&case.fixture.schema.features[feature].kind, &rule.action);
        let delta = change(feature);
        if let FeatureKind::Category { values } = kind {
            let listed = action
                .moves
                .as_ref()
                .map(|moves| moves.get(&values[before[feature] as usize]).cloned().unwrap_or_default());
            if delta != 0.0 && listed.is_some_and(|targets| !targets.contains(&values[after[feature] as usize])) {
                return false;
            }
            continue;
        }
        let forced: f64 =
            policy.links.iter().filter(|link| link.effect == feature).map(|link| forced(case, link, after)).sum();
        let within = |min: f64, max: f64| {
            after[feature] >= min.min(before[feature]) - tiny && after[feature] <= max.max(before[feature]) + tiny
        };
        let (natural_min, natural_max) = match kind {
            FeatureKind::YesNo { .. } => (0.0, 1.0),
            FeatureKind::Ordered { values } => (0.0, values.len() as f64 - 1.0),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let (min, max) =
            (action.min.unwrap_or(natural_min).max(natural_min), action.max.unwrap_or(natural_max).min(natural_max));
        if !within(min, max) {
            return false;
        }
        if action.change == Direction::Fixed {
            if (delta - forced).abs() > tiny {
                return false;
            }
            continue;
        }
        let most = match action.max_change {
            Some(Amount::Units(units)) => units,
            Some(Amount::Deviations(deviations)) => deviations * encoding.deviation(feature),
            None => f64::INFINITY,
        };
        let unlimited = most.is_infinite();
        let trained = encoding.statistics(feature);
        let right_way = match action.change {
            Direction::Increase => delta >= 0.0,
            Direction::Decrease => delta <= 0.0,
            _ => true,
        };
        let trained_min = if unlimited && min.is_infinite() { trained.min() } else { min };
        let trained_max = if unlimited && max.is_infinite() { trained.max() } else { max };
        let step = action.step.or((!matches!(kind, FeatureKind::Number)).then_some(1.0));
        let on_lattice = step.is_none_or(|step| ((delta / step).round() * step - delta).abs() < tiny);
        if !(right_way && delta.abs() <= most + tiny && within(trained_min, trained_max) && on_lattice) {
            return false;
        }
    }
    policy.constraints.iter().all(|row| {
        row.terms.iter().map(|&(feature, coefficient)| coefficient * change(feature)).sum::<f64>() <= row.bound + tiny
    })
}

fn forced(case: &Case, link: &crate::policy::Link, after: &[f64]) -> f64 {
    let delta = after[link.cause] - case.person[link.cause];
    let kind = &case.fixture.schema.features[link.cause].kind;
    let word = |value: f64| match kind {
        FeatureKind::YesNo { no, yes } => {
            if value == 1.0 {
                yes.clone()
            } else {
                no.clone()
            }
        }
        FeatureKind::Category { values } | FeatureKind::Ordered { values } => values[value as usize].clone(),
        _ => value.to_string(),
    };
    let applies = delta != 0.0
        && match &link.trigger {
            Trigger::Increases => delta > 0.0,
            Trigger::Decreases => delta < 0.0,
            Trigger::Changes => true,
            Trigger::Becomes(value) => &word(after[link.cause]) == value,
        };
    let times = if link.each && !matches!(kind, FeatureKind::Category { .. }) { delta.abs() } else { 1.0 };
    if applies { link.amount * times } else { 0.0 }
}

/// Every combination of moves of the domains, permitted or not.
fn combinations(set: &FeasibleSet) -> Vec<Action> {
    let moves = |domain: &Domain| -> Vec<Move> {
        match domain {
            Domain::Range { lo, hi } => (0..=8).map(|part| Move::By(lo + (hi - lo) * f64::from(part) / 8.0)).collect(),
            Domain::Grid { lo, hi, .. } => (*lo..=*hi).map(Move::Steps).collect(),
            Domain::Choice { to, .. } => to.iter().map(|&to| Move::To(to)).collect(),
        }
    };
    set.domains().iter().fold(vec![Action::default()], |actions, domain| {
        let extended = actions.iter().flat_map(|action| {
            moves(domain).into_iter().map(|step| Action { moves: action.moves.iter().copied().chain([step]).collect() })
        });
        extended.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn doing_nothing_is_permitted(case in case(Levers::Mixed, 4, 3, 3)) {
        let set = case.set();
        prop_assert!(set.contains(&set.stay()));
        prop_assert_eq!(set.apply(&set.stay()), case.person.clone());
        prop_assert!(set.contains_values(&case.person));
    }

    #[test]
    fn contains_is_the_policy_written_out(case in case(Levers::Mixed, 3, 2, 2)) {
        let set = case.set();
        for action in combinations(&set) {
            let after = set.apply(&action);
            prop_assert_eq!(set.contains(&action), permitted(&case, &after), "{:?} leads to {:?}", action, after);
        }
    }

    #[test]
    fn moves_outside_the_domains_are_not_permitted(case in case(Levers::Mixed, 3, 0, 0), lever in 0usize..3, beyond in 1i64..4) {
        let set = case.set();
        let lever = lever % set.domains().len();
        let outside = match &set.domains()[lever] {
            Domain::Range { hi, .. } => vec![Move::By(hi + beyond as f64 * 1e-3), Move::By(f64::NAN), Move::Steps(0)],
            Domain::Grid { lo, hi, .. } => vec![Move::Steps(lo - beyond), Move::Steps(hi + beyond), Move::By(0.0)],
            Domain::Choice { .. } => vec![Move::To(4), Move::Steps(0)],
        };
        for step in outside {
            let mut action = set.stay();
            action.moves[lever] = step;
            prop_assert!(!set.contains(&action));
        }
        prop_assert!(!set.contains(&Action::default()));
    }

    #[test]
    fn listing_finds_exactly_the_permitted_actions(case in case(Levers::Steps, 3, 3, 2)) {
        let set = case.set();
        let listed: Vec<Action> = set.actions().unwrap().collect();
        let all = combinations(&set);
        prop_assert_eq!(set.lattice_size().unwrap(), all.len() as u128);
        let expected: Vec<Action> = all.into_iter().filter(|action| set.contains(action)).collect();
        prop_assert_eq!(listed, expected);
    }

    #[test]
    fn values_lead_back_to_the_action(case in case(Levers::Mixed, 3, 2, 2)) {
        let set = case.set();
        for action in combinations(&set).into_iter().filter(|action| set.contains(action)) {
            let after = set.apply(&action);
            let back = set.action_from_values(&after).unwrap();
            let again = set.apply(&back);
            prop_assert!(after.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-9));
            let mut elsewhere = after.clone();
            *elsewhere.last_mut().unwrap() += 0.5;
            prop_assert!(!set.contains_values(&elsewhere));
        }
    }

    #[test]
    fn encoding_an_action_is_encoding_where_it_leads(case in case(Levers::Mixed, 3, 2, 2)) {
        let set = case.set();
        let width = set.encoding().width();
        let (mut direct, mut through) = (vec![0.0; width], vec![0.0; width]);
        for action in combinations(&set) {
            set.encode(&action, &mut direct);
            set.encoding().encode(&set.apply(&action), &mut through);
            prop_assert_eq!(&direct, &through);
        }
    }

    #[test]
    fn decoded_points_are_permitted_where_actions_are(case in case(Levers::Steps, 3, 2, 2)) {
        let set = case.set();
        let mut point = vec![0.0; set.encoding().width()];
        for action in set.actions().unwrap() {
            set.encode(&action, &mut point);
            let values = set.encoding().decode(&point).unwrap();
            prop_assert_eq!(&values, &set.apply(&action));
            prop_assert!(set.contains_values(&values));
        }
    }

    #[test]
    fn bounds_are_the_ends_of_the_columns(case in case(Levers::Mixed, 4, 0, 0)) {
        let space = case.fixture.space(case.lattice);
        let set = case.set();
        let levers = space.levers().len();
        let (mut lo, mut hi) = (vec![0.0; levers], vec![0.0; levers]);
        space.bounds(&case.person, &mut lo, &mut hi);
        let width = set.encoding().width();
        let (mut low, mut high) = (vec![0.0; width], vec![0.0; width]);
        set.encoded_box(set.domains(), &mut low, &mut high);
        for (lever, rule) in space.levers().iter().enumerate() {
            prop_assert_eq!((f64::from(lo[lever]), f64::from(hi[lever])), (low[rule.column], high[rule.column]));
        }
    }

    /// A part that holds only staying sets nothing off: its box is where the person is, up to rounding.
    #[test]
    fn the_box_of_staying_is_the_person(case in case(Levers::Mixed, 4, 2, 3)) {
        let set = case.set();
        let staying = |domain: &Domain| match domain {
            Domain::Range { .. } => Domain::Range { lo: 0.0, hi: 0.0 },
            Domain::Grid { step, .. } => Domain::Grid { step: *step, lo: 0, hi: 0 },
            Domain::Choice { from, .. } => Domain::Choice { from: *from, to: vec![*from] },
        };
        let domains: Vec<Domain> = set.domains().iter().map(staying).collect();
        let (mut lo, mut hi) = (vec![0.0; set.point().len()], vec![0.0; set.point().len()]);
        set.encoded_box(&domains, &mut lo, &mut hi);
        for (column, &at) in set.point().iter().enumerate() {
            prop_assert!(lo[column] <= f64::from(at) && f64::from(at) <= hi[column]);
            prop_assert!(hi[column] - lo[column] <= 1e-5, "column {column}: {} to {}", lo[column], hi[column]);
        }
    }

    #[test]
    fn no_action_leaves_the_encoded_box(case in case(Levers::Mixed, 3, 2, 2), cuts in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 3)) {
        let set = case.set();
        let domains = super::narrowed(&set, &cuts);
        let width = set.encoding().width();
        let (mut lo, mut hi, mut point) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
        set.encoded_box(&domains, &mut lo, &mut hi);
        let inside = |action: &Action| domains.iter().zip(&action.moves).all(|(domain, &step)| domain.contains(step));
        let mut reached = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
        for action in combinations(&set).into_iter().filter(inside) {
            set.encode(&action, &mut point);
            for column in 0..width {
                let coordinate = f64::from(point[column]);
                prop_assert!(lo[column] <= coordinate && coordinate <= hi[column]);
                reached[column] = (reached[column].0.min(coordinate), reached[column].1.max(coordinate));
            }
            prop_assert!(!set.contains(&action) || set.rows_may_hold(&domains));
        }
        if set.is_finite() {
            for column in 0..width {
                prop_assert!((reached[column].0 - lo[column]).abs() < 1e-5 && (reached[column].1 - hi[column]).abs() < 1e-5);
            }
        }
    }
}

/// Hours (integer, any, ±10, at most 60), education (integer, up by 2) and age, which a year of school raises by one.
fn adult() -> (Fixture, Vec<f64>) {
    let mut fixture = Fixture::new();
    let hours = fixture.feature(FeatureKind::Integer, Actionability { max: Some(60.0), ..any(10.0) });
    let school = fixture.feature(FeatureKind::Integer, Actionability { change: Direction::Increase, ..any(2.0) });
    let age = fixture.feature(FeatureKind::Integer, Actionability::default());
    fixture.link(school, Trigger::Increases, age, 1.0, true);
    fixture.constraint(&[(hours, 1.0), (school, 4.0)], 12.0);
    fixture.training = vec![vec![40.0, 9.0, 30.0], vec![50.0, 13.0, 50.0]];
    (fixture, vec![40.0, 9.0, 37.0])
}

#[test]
fn a_year_of_school_makes_one_a_year_older() {
    let (fixture, person) = adult();
    let set = fixture.space(Lattice::AsPolicy).feasible(&person, None).unwrap();
    let action = Action { moves: vec![Move::Steps(4), Move::Steps(2)] };
    assert_eq!(set.apply(&action), [44.0, 11.0, 39.0]);
    assert!(set.contains(&action));
    assert!(!set.contains(&Action { moves: vec![Move::Steps(5), Move::Steps(2)] }));
}

#[test]
fn continuous_drops_the_steps_of_numbers_only() {
    let mut fixture = Fixture::new();
    fixture.feature(FeatureKind::Integer, any(2.5));
    fixture.feature(FeatureKind::Ordered { values: words(3) }, any(9.0));
    fixture.training = vec![vec![0.0, 0.0], vec![1.0, 2.0]];
    let set = fixture.space(Lattice::Continuous).feasible(&[0.0, 1.0], None).unwrap();
    assert_eq!(set.domains(), [Domain::Range { lo: -2.5, hi: 2.5 }, Domain::Grid { step: 1.0, lo: -1, hi: 1 }]);
}

#[test]
fn overrides_narrow_and_never_widen() {
    let (fixture, person) = adult();
    let space = fixture.space(Lattice::AsPolicy);
    let with = |own: Actionability| space.feasible(&person, Some(&Overrides { features: vec![(0, own)] }));
    let hours = |own: Actionability| with(own).unwrap().domains()[0].clone();
    let open = Actionability { change: Direction::Any, ..Default::default() };
    assert_eq!(hours(open.clone()), Domain::Grid { step: 1.0, lo: -10, hi: 10 });
    assert_eq!(hours(Actionability { max: Some(45.0), ..open.clone() }), Domain::Grid { step: 1.0, lo: -10, hi: 5 });
    assert_eq!(hours(Actionability { max: Some(100.0), ..any(50.0) }), Domain::Grid { step: 1.0, lo: -10, hi: 10 });
    assert_eq!(hours(Actionability { step: Some(5.0), ..open.clone() }), Domain::Grid { step: 5.0, lo: -2, hi: 2 });
    assert_eq!(
        hours(Actionability { change: Direction::Fixed, ..open.clone() }),
        Domain::Grid { step: 1.0, lo: 0, hi: 0 }
    );
    for own in [
        Actionability { step: Some(1.5), ..open.clone() },
        Actionability { min: Some(9.0), max: Some(8.0), ..open.clone() },
        any(f64::NAN),
    ] {
        assert!(matches!(with(own), Err(SpaceError::Override { .. })));
    }
}

#[test]
fn people_that_do_not_fit_are_refused() {
    let (fixture, person) = adult();
    let space = fixture.space(Lattice::AsPolicy);
    assert_eq!(space.feasible(&person[1..], None).unwrap_err(), SpaceError::Person { found: 2, expected: 3 });
    assert!(matches!(space.feasible(&[f64::NAN, 9.0, 37.0], None), Err(SpaceError::Value { .. })));
}

#[test]
fn a_feature_without_limits_stays_where_training_was() {
    let mut fixture = Fixture::new();
    fixture.feature(FeatureKind::Integer, Actionability { change: Direction::Any, ..Default::default() });
    fixture.training = vec![vec![10.0], vec![20.0]];
    let space = fixture.space(Lattice::AsPolicy);
    let domain = |value: f64| space.feasible(&[value], None).unwrap().domains()[0].clone();
    assert_eq!(domain(12.0), Domain::Grid { step: 1.0, lo: -2, hi: 8 });
    assert_eq!(domain(25.0), Domain::Grid { step: 1.0, lo: -15, hi: 0 });
}

#[test]
fn sentences_that_cannot_be_obeyed_are_refused() {
    let refused = |edit: &dyn Fn(&mut Fixture)| {
        let (mut fixture, _) = adult();
        let category = fixture.feature(FeatureKind::Category { values: words(2) }, Actionability::default());
        assert_eq!(category, 3);
        fixture.training.iter_mut().for_each(|row| row.push(0.0));
        edit(&mut fixture);
        ActionSpace::new(&fixture.policy, &fixture.encoding(), Lattice::AsPolicy).unwrap_err()
    };
    let sentence = |error: SpaceError| matches!(error, SpaceError::Sentence { .. });
    assert!(sentence(refused(&|fixture| fixture.link(1, Trigger::Changes, 3, 1.0, false))), "moves a category");
    assert!(sentence(refused(&|fixture| fixture.link(1, Trigger::Changes, 0, 1.0, false))), "moves a lever");
    assert!(sentence(refused(&|fixture| fixture.link(2, Trigger::Changes, 3, 1.0, false))), "a chain");
    assert!(sentence(refused(&|fixture| fixture.link(0, Trigger::Changes, 2, 0.5, true))), "half a year");
    assert!(sentence(refused(&|fixture| fixture.link(0, Trigger::Becomes("soon".into()), 2, 1.0, true))), "no number");
    assert!(sentence(refused(&|fixture| fixture.constraint(&[(3, 1.0)], 1.0))), "a category's change");
    assert!(sentence(refused(&|fixture| fixture.constraint(&[(0, 1.0)], -1.0))), "excludes doing nothing");
    let moves = |fixture: &mut Fixture| {
        let listed = [("value 0".to_string(), vec!["value 7".to_string()])];
        fixture.policy.features[3].action.moves = Some(listed.into_iter().collect());
    };
    assert!(matches!(refused(&moves), SpaceError::Category { value, .. } if value == "value 7"));
    assert!(matches!(refused(&|fixture| fixture.policy.features.truncate(3)), SpaceError::Features { .. }));
}
