//! Policies, encodings and people made directly, without a file.

use std::sync::Arc;

use crate::dataset::{Dataset, Feature, FeatureKind, People, Schema};
use crate::encoding::Encoding;
use crate::feasible::{ActionSpace, Lattice};
use crate::policy::{
    Actionability, Amount, Constraint, Data, Direction, FeatureRule, Kind, Layout, Link, MissingRule, Policy, Rule,
    Source, Trigger, UnknownCategory,
};

/// A policy in the making, with the schema that goes with it.
#[derive(Debug, Clone)]
pub struct Fixture {
    pub policy: Policy,
    pub schema: Schema,
    pub training: Vec<Vec<f64>>,
}

impl Fixture {
    pub fn new() -> Self {
        let data = Data {
            source: Source::Builtin("none".into()),
            test_path: None,
            layout: Layout::default(),
            label: "label".into(),
            favourable: Rule::Is("1".into()),
            filters: vec![],
            missing: MissingRule::Refuse,
            missing_values: vec![],
            drop_duplicates: false,
            groups: vec![],
        };
        let policy = Policy {
            source: String::new(),
            name: "fixture".into(),
            data,
            derived: vec![],
            ignored: vec![],
            features: vec![],
            constraints: vec![],
            links: vec![],
            override_columns: vec![],
            causal: None,
        };
        Self { policy, schema: Schema { features: vec![] }, training: vec![] }
    }

    /// Adds a feature and returns its index; its name is `f` and the index.
    pub fn feature(&mut self, kind: FeatureKind, action: Actionability) -> usize {
        let index = self.schema.features.len();
        let column = format!("f{index}");
        let written = match &kind {
            FeatureKind::Number => Kind::Number,
            FeatureKind::Integer => Kind::Integer,
            FeatureKind::YesNo { .. } => Kind::YesNo { yes: None },
            FeatureKind::Category { .. } => Kind::Category { values: None },
            FeatureKind::Ordered { values } => Kind::Ordered { values: values.clone() },
        };
        self.policy.features.push(FeatureRule {
            column: column.clone(),
            label: column.clone(),
            unit: None,
            kind: written,
            action,
            cost_weight: 1.0,
            fixed_cost: 0.0,
            unknown: UnknownCategory::Refuse,
            missing_values: vec![],
        });
        self.schema.features.push(Feature { column: column.clone(), label: column, unit: None, kind, fill: None });
        index
    }

    pub fn constraint(&mut self, terms: &[(usize, f64)], bound: f64) {
        let text = format!("{terms:?} <= {bound}");
        self.policy.constraints.push(Constraint { text, terms: terms.to_vec(), bound });
    }

    pub fn link(&mut self, cause: usize, trigger: Trigger, effect: usize, amount: f64, each: bool) {
        let text = format!("{cause} {trigger:?}: {effect} by {amount}");
        self.policy.links.push(Link { text, cause, trigger, effect, amount, each });
    }

    pub fn encoding(&self) -> Encoding {
        Encoding::fit(&self.dataset())
    }

    pub fn dataset(&self) -> Dataset {
        let rows = self.training.len();
        let people = People {
            schema: Arc::new(self.schema.clone()),
            values: self.training.concat(),
            source_rows: (1..=rows).collect(),
            overrides: vec![],
        };
        Dataset { people, labels: vec![true; rows], groups: vec![] }
    }

    pub fn space(&self, lattice: Lattice) -> ActionSpace {
        ActionSpace::new(&self.policy, &self.encoding(), lattice).unwrap()
    }
}

pub fn any(max_change: f64) -> Actionability {
    Actionability { change: Direction::Any, max_change: Some(Amount::Units(max_change)), ..Default::default() }
}

pub fn words(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("value {index}")).collect()
}

pub fn yes_no() -> FeatureKind {
    FeatureKind::YesNo { no: "no".into(), yes: "yes".into() }
}
