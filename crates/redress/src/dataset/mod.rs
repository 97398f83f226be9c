//! People and labels, read out of a table by the rules of a policy.
//!
//! [`Schema::resolve`] settles the features on the training table; [`Dataset::read`] reads rows with labels, and
//! [`People::read`] and [`People::from_json`] read people whose label nobody knows yet. Nothing is left out silently:
//! [`ReadSummary`] counts what was.

mod cells;
mod duplicates;
mod error;
mod inspect;
mod overrides;
mod person;
mod piece;
mod read;
mod schema;
pub mod split;
mod view;

use std::sync::Arc;

pub use error::{DataError, LabelFault, Place};
pub use inspect::{FeatureInspection, GroupInspection, Inspection, Warning, inspect};
pub use piece::{Piece, PieceReader};
pub use schema::MISSING_VALUE;
pub(crate) use view::coded;

use crate::policy::Overrides;

/// The features of a data set, with kinds and categories settled. It travels with the model.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Schema {
    /// In the policy's order.
    pub features: Vec<Feature>,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Feature {
    /// The column it reads.
    pub column: String,
    /// The human name.
    pub label: String,
    /// The unit, where there is one.
    pub unit: Option<String>,
    /// Kind and categories.
    pub kind: FeatureKind,
    /// The numeric form of the value that stands in for a missing one (`missing = "fill"`).
    pub fill: Option<f64>,
}

/// The kind of a feature, with its categories. Each kind has one numeric form, used in [`People`]: numbers are
/// themselves, yes/no is 1/0, categories are the index of their value.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureKind {
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// Two values.
    YesNo {
        /// The value that is 0.
        no: String,
        /// The value that is 1.
        yes: String,
    },
    /// One of several values without an order.
    Category {
        /// The values.
        values: Vec<String>,
    },
    /// One of several values from lowest to highest; its numeric form is the rank from 0.
    Ordered {
        /// The values, lowest first.
        values: Vec<String>,
    },
}

/// Rows of feature values in original units (numeric form, see [`FeatureKind`]), row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct People {
    /// What the columns are.
    pub schema: Arc<Schema>,
    /// `rows × features` values, row after row.
    pub values: Vec<f64>,
    /// For each row, its number in the table it came from, counting from 1.
    pub source_rows: Vec<usize>,
    /// Per-person overrides: empty when nobody has any, else one a row.
    pub overrides: Vec<Overrides>,
}

/// People with labels and groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Who they are.
    pub people: People,
    /// Whether the label is the favourable one.
    pub labels: Vec<bool>,
    /// Group membership, one entry a group column of the policy.
    pub groups: Vec<GroupColumn>,
}

/// Membership in the groups of one column, such as `race`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupColumn {
    /// The column.
    pub name: String,
    /// The distinct values.
    pub values: Vec<String>,
    /// For each row, the index of its value.
    pub codes: Vec<u32>,
}

/// What happened to the rows of a table while it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct ReadSummary {
    /// The rows of the table.
    pub table_rows: usize,
    /// The rows that were kept.
    pub rows: usize,
    /// For each filter, as written, the rows that it left out.
    pub filtered: Vec<(String, usize)>,
    /// For each column, the rows dropped because its value is missing. A row counts once, in its first such column.
    pub dropped: Vec<(String, usize)>,
    /// For each column, the values filled in.
    pub filled: Vec<(String, usize)>,
    /// For each column, the values that nobody knew and that were treated as a known one.
    pub treated_as_known: Vec<(String, usize)>,
    /// The rows dropped because they repeat another.
    pub duplicates: usize,
}

impl Dataset {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The rows of these indices, in their order.
    pub fn subset(&self, rows: &[usize]) -> Dataset {
        Dataset {
            people: self.people.subset(rows),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            groups: self
                .groups
                .iter()
                .map(|group| GroupColumn {
                    name: group.name.clone(),
                    values: group.values.clone(),
                    codes: rows.iter().map(|&row| group.codes[row]).collect(),
                })
                .collect(),
        }
    }
}

impl People {
    /// The people of these indices, in their order.
    pub fn subset(&self, rows: &[usize]) -> People {
        People {
            schema: self.schema.clone(),
            values: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
            source_rows: rows.iter().map(|&row| self.source_rows[row]).collect(),
            overrides: if self.overrides.is_empty() {
                Vec::new()
            } else {
                rows.iter().map(|&row| self.overrides[row].clone()).collect()
            },
        }
    }

    /// The number of people.
    pub fn len(&self) -> usize {
        self.source_rows.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.source_rows.is_empty()
    }

    /// The feature values of one person.
    pub fn row(&self, index: usize) -> &[f64] {
        let width = self.schema.features.len();
        &self.values[index * width..(index + 1) * width]
    }
}
