//! Random policies and people: every kind of feature, rows, links and lattices.

use proptest::prelude::*;

use super::fixture::{Fixture, words, yes_no};
use crate::dataset::FeatureKind;
use crate::feasible::{FeasibleSet, Lattice};
use crate::policy::{Actionability, Amount, Direction, Trigger};

/// What the levers of a random policy may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Levers {
    /// Every lever moves freely.
    Free,
    /// Every lever moves in steps or between categories.
    Steps,
    /// Either.
    Mixed,
}

/// A random feasible set with a gradient of its width.
#[derive(Debug, Clone)]
pub struct Case {
    pub fixture: Fixture,
    pub lattice: Lattice,
    pub person: Vec<f64>,
    pub gradient: Vec<f32>,
}

impl Case {
    pub fn set(&self) -> FeasibleSet {
        self.fixture.space(self.lattice).feasible(&self.person, None).unwrap()
    }
}

#[derive(Debug, Clone)]
struct Written {
    kind: u8,
    change: u8,
    max_change: Option<u8>,
    deviations: bool,
    min: Option<i8>,
    max: Option<i8>,
    value: i8,
    moves: bool,
}

fn written() -> impl Strategy<Value = Written> {
    let limits =
        (prop::option::weighted(0.8, 0..5u8), any::<bool>(), prop::option::of(-4..4i8), prop::option::of(-4..4i8));
    (0..6u8, 0..4u8, limits, -3..4i8, any::<bool>()).prop_map(
        |(kind, change, (max_change, deviations, min, max), value, moves)| Written {
            kind,
            change,
            max_change,
            deviations,
            min,
            max,
            value,
            moves,
        },
    )
}

type Sentence = (Vec<(usize, i8)>, u8);
type Consequence = (usize, u8, i8, bool);

/// A random case with up to `levers` levers; `rows` and `links` at most as many as said.
pub fn case(kinds: Levers, levers: usize, rows: usize, links: usize) -> impl Strategy<Value = Case> {
    let features = prop::collection::vec(written(), 1..=levers);
    let sentence = (prop::collection::vec((0..levers + 1, -3..4i8), 1..4), 0..7u8);
    let sentences = prop::collection::vec(sentence, 0..=rows);
    let consequences = prop::collection::vec((0..levers, 0..4u8, -3..4i8, any::<bool>()), 0..=links);
    let gradient = prop::collection::vec(prop_oneof![4 => -2.0f32..2.0, 1 => Just(0.0)], 4 * (levers + 1));
    (features, sentences, consequences, gradient).prop_map(move |(features, sentences, consequences, gradient)| {
        build(kinds, &features, &sentences, &consequences, &gradient)
    })
}

fn build(
    kinds: Levers,
    features: &[Written],
    sentences: &[Sentence],
    consequences: &[Consequence],
    gradient: &[f32],
) -> Case {
    let mut fixture = Fixture::new();
    let mut person: Vec<f64> = features.iter().map(|written| add(&mut fixture, kinds, written)).collect();
    let fixed = Actionability { min: Some(-2.0), max: Some(5.0), ..Default::default() };
    let effect = fixture.feature(FeatureKind::Number, fixed);
    person.push(2.0);
    for (terms, bound) in sentences {
        let mut merged = std::collections::BTreeMap::new();
        for &(feature, coefficient) in terms.iter().filter(|term| term.0 <= features.len()) {
            if coefficient != 0 && !matches!(fixture.schema.features[feature].kind, FeatureKind::Category { .. }) {
                merged.insert(feature, f64::from(coefficient) / 2.0);
            }
        }
        let terms: Vec<(usize, f64)> = merged.into_iter().collect();
        fixture.constraint(&terms, f64::from(*bound) / 2.0);
    }
    for &(cause, trigger, amount, each) in consequences.iter().filter(|link| link.0 < features.len()) {
        let category = matches!(fixture.schema.features[cause].kind, FeatureKind::Category { .. });
        let stepped = !matches!(fixture.schema.features[cause].kind, FeatureKind::Number);
        let trigger = match trigger {
            0 if !category => Trigger::Increases,
            1 if !category => Trigger::Decreases,
            2 if stepped => becomes(&fixture.schema.features[cause].kind),
            _ => Trigger::Changes,
        };
        fixture.link(cause, trigger, effect, f64::from(amount), each);
    }
    fixture.training = vec![
        person.clone(),
        person.iter().enumerate().map(|(index, value)| shifted(&fixture, index, *value)).collect(),
    ];
    let width = fixture.encoding().width();
    Case { fixture, lattice: Lattice::AsPolicy, person, gradient: gradient[..width].to_vec() }
}

fn becomes(kind: &FeatureKind) -> Trigger {
    Trigger::Becomes(match kind {
        FeatureKind::YesNo { yes, .. } => yes.clone(),
        FeatureKind::Category { values } | FeatureKind::Ordered { values } => values[1].clone(),
        _ => "1".into(),
    })
}

/// A second training value, so that columns have a spread.
fn shifted(fixture: &Fixture, feature: usize, value: f64) -> f64 {
    match &fixture.schema.features[feature].kind {
        FeatureKind::Number | FeatureKind::Integer => value + 5.0 + feature as f64,
        _ => 0.0,
    }
}

fn add(fixture: &mut Fixture, kinds: Levers, written: &Written) -> f64 {
    let kind = match kinds {
        Levers::Free => 0,
        Levers::Steps => 1 + written.kind % 5,
        Levers::Mixed => written.kind,
    };
    let change = [Direction::Any, Direction::Increase, Direction::Decrease, Direction::Any][written.change as usize];
    let size = |amount: u8| {
        let amount = f64::from(amount);
        if written.deviations { Amount::Deviations(amount / 2.0) } else { Amount::Units(amount) }
    };
    let (min, max) = match (written.min.map(f64::from), written.max.map(f64::from)) {
        (Some(min), Some(max)) if min > max => (Some(max), Some(min)),
        other => other,
    };
    let mut action = Actionability { change, max_change: written.max_change.map(size), min, max, ..Default::default() };
    let value = f64::from(written.value);
    match kind {
        0 => {
            fixture.feature(FeatureKind::Number, action);
            value / 2.0
        }
        1 => {
            action.step = Some(0.75);
            fixture.feature(FeatureKind::Number, action);
            value / 2.0
        }
        2 => {
            fixture.feature(FeatureKind::Integer, action);
            value
        }
        3 => {
            fixture.feature(yes_no(), Actionability { min: None, max: None, ..action });
            f64::from(written.value.rem_euclid(2))
        }
        4 => {
            fixture
                .feature(FeatureKind::Ordered { values: words(4) }, Actionability { min: None, max: None, ..action });
            f64::from(written.value.rem_euclid(4))
        }
        _ => {
            let values = words(4);
            let listed = [
                (values[0].clone(), vec![values[1].clone(), values[3].clone()]),
                (values[2].clone(), vec![values[0].clone()]),
            ];
            let moves = written.moves.then(|| listed.into_iter().collect());
            fixture.feature(
                FeatureKind::Category { values },
                Actionability { change: Direction::Any, moves, ..Default::default() },
            );
            f64::from(written.value.rem_euclid(4))
        }
    }
}
