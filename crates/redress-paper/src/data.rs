//! The paper's data sets, read by the built-in policies with the paper's changes to them.
//!
//! A variant (german's label as released, another δ_max, no limits but δ_max) is an edit of the policy's text: the
//! edited policy then goes the way of every policy.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use redress::{
    dataset::{Dataset, Schema, split::Split},
    feasible::Lattice,
    pipeline::{Part, Preset, Study},
    policy::{Amount, Policy, Rule},
    table::Table,
    train::Examples,
};
use redress_data::{Builtin, DataFolders, Presence, Tables, builtin, load};

use crate::{
    error::PaperError,
    recipe::{HeldOut, Sample},
};

/// The paper's data sets, in the order of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Census incomes.
    Adult,
    /// Recidivism, Broward County.
    Compas,
    /// Recidivism, North Carolina.
    Bail,
    /// Credit in Germany.
    German,
}

/// Which label counts as a yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The one the policy calls favourable.
    AsPolicy,
    /// The other one: the released code has it so for german.
    Flipped,
}

impl Name {
    /// All four.
    pub const ALL: [Name; 4] = [Name::Adult, Name::Compas, Name::Bail, Name::German];

    /// The name of the built-in data set.
    pub fn as_str(self) -> &'static str {
        match self {
            Name::Adult => "adult",
            Name::Compas => "compas",
            Name::Bail => "bail",
            Name::German => "german",
        }
    }

    /// About how many rows its policy keeps.
    pub fn rows(self) -> usize {
        match self {
            Name::Adult => 32_561,
            Name::Compas => 6_172,
            Name::Bail => 8_000,
            Name::German => 1_000,
        }
    }

    /// Columns of two groups each, large enough to calibrate on: whites and others where race is known, men and women.
    fn groups(self) -> &'static [&'static str] {
        match self {
            Name::Adult | Name::Compas => &["white", "male"],
            Name::Bail => &["WHITE", "MALE"],
            Name::German => &["female"],
        }
    }

    /// The feature that tells whites from others, where there is one.
    pub fn white(self) -> Option<&'static str> {
        match self {
            Name::Adult | Name::Compas => Some("white"),
            Name::Bail => Some("WHITE"),
            Name::German => None,
        }
    }
}

/// The tables that are on this machine.
pub struct Shelf {
    tables: HashMap<Name, (&'static Builtin, Tables)>,
    advice: HashMap<Name, String>,
}

impl Shelf {
    /// Reads every data set that is here, and notes how to get the others.
    pub fn open() -> Result<Shelf, PaperError> {
        let folders = DataFolders::standard();
        let (mut tables, mut advice) = (HashMap::new(), HashMap::new());
        for name in Name::ALL {
            let context = |error: &dyn std::fmt::Display| PaperError::step(format!("reading {}", name.as_str()), error);
            let builtin = builtin(name.as_str()).map_err(|error| context(&error))?;
            if let Presence::Absent { files } = builtin.presence(&folders) {
                advice.insert(name, format!(
                    "{} is not here ({} missing): get it with `redress datasets fetch {}`, or set REDRESS_DATA to the folder that holds it",
                    name.as_str(),
                    files.join(", "),
                    name.as_str(),
                ));
                continue;
            }
            let read = load(&builtin.policy(), ".", &folders).map_err(|error| context(&error))?;
            tables.insert(name, (builtin, read));
        }
        Ok(Shelf { tables, advice })
    }

    /// Whether a data set is here.
    pub fn holds(&self, name: Name) -> bool {
        self.tables.contains_key(&name)
    }

    /// How to get a data set that is not here.
    pub fn advice(&self, name: Name) -> Option<String> {
        self.advice.get(&name).cloned()
    }

    /// A sample's rows: read by its policy, split and encoded.
    pub fn study(&self, sample: &Sample) -> Result<Study, PaperError> {
        let name = sample.data.as_str();
        let context = |error: &dyn std::fmt::Display| PaperError::step(format!("preparing {name}"), error);
        let missing = || PaperError::Missing { data: name, advice: self.advice(sample.data).unwrap_or_default() };
        let (builtin, tables) = self.tables.get(&sample.data).ok_or_else(missing)?;
        let text = edited(builtin.policy(), &tables.table, sample);
        let policy = Policy::parse(&text, name).map_err(|error| context(&error))?;
        let schema = Arc::new(Schema::resolve(&policy, &tables.table).map_err(|error| context(&error))?);
        let read = |table: &Table| Dataset::read(&policy, schema.clone(), table).map(|(dataset, _)| dataset);
        let pool = read(&tables.table).map_err(|error| context(&error))?;
        let plan = Preset::Paper.split(pool.len(), sample.seed);
        let split = match &tables.test {
            Some(test) => Split::with_test(&pool, &read(test).map_err(|error| context(&error))?, &plan),
            None => Split::new(&pool, &plan),
        };
        let split = split.map_err(|error| context(&error))?;
        let mut study = Study::new(policy, split, sample.lattice).map_err(|error| context(&error))?;
        if sample.held_out == HeldOut::Whole {
            let dataset = together(&study.validation.dataset, &study.calibration.dataset);
            let examples = Examples::new(&dataset, &study.space).map_err(|error| context(&error))?;
            study.validation = Part { dataset, examples };
        }
        Ok(study)
    }
}

/// The rows of both.
fn together(one: &Dataset, other: &Dataset) -> Dataset {
    let mut both = one.clone();
    both.people.values.extend_from_slice(&other.people.values);
    both.people.source_rows.extend_from_slice(&other.people.source_rows);
    both.people.overrides.extend_from_slice(&other.people.overrides);
    both.labels.extend_from_slice(&other.labels);
    for (column, more) in both.groups.iter_mut().zip(&other.groups) {
        column.codes.extend_from_slice(&more.codes);
    }
    both
}

/// The text of the built-in policy with the sample's changes: δ_max in every lever and, with real-valued changes, no limits
/// but δ_max, as in the paper.
fn edited(mut policy: Policy, table: &Table, sample: &Sample) -> String {
    policy.data.groups = sample.data.groups().iter().map(|group| (*group).to_owned()).collect();
    policy.data.drop_duplicates |= sample.distinct;
    if sample.label == Label::Flipped {
        policy.data.favourable = Rule::OneOf(other_labels(&policy, table));
    }
    for feature in policy.features.iter_mut().filter(|feature| feature.action.max_change.is_some()) {
        feature.action.max_change = Some(Amount::Deviations(f64::from(sample.delta_max) / 100.0));
        if sample.lattice == Lattice::Continuous {
            (feature.action.min, feature.action.max) = (None, None);
        }
    }
    policy.to_toml()
}

/// The labels that the policy does not call favourable.
fn other_labels(policy: &Policy, table: &Table) -> Vec<String> {
    let Some(column) = table.column(&policy.data.label) else { return Vec::new() };
    let labels = (0..table.rows()).filter_map(|row| column.text(row));
    let mut others: Vec<String> = labels.filter(|text| !policy.data.favourable.accepts(text)).collect();
    others.sort();
    others.dedup();
    others
}
