//! Who may change what: the policy that every later step and every solver obeys.
//!
//! A policy is a TOML file ([`document`] is its grammar, as written). [`Policy::parse`] checks everything that can be
//! checked without the table and gives the only type the rest of the library takes.

mod actions;
mod constraint;
mod describe;
pub mod document;
mod draft;
mod error;
mod features;
mod filter;
mod link;
mod parse;
mod profile;
mod scan;
mod write;

use std::collections::BTreeMap;

pub use constraint::Affine;
pub use draft::draft;
pub use error::{PolicyError, Position, nearest};
pub use link::LinkSentence;
pub use scan::SentenceError;

pub(crate) use filter::{number, same};

/// A checked policy.
///
/// Features keep the order of the file; every index below is an index into [`Policy::features`].
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The TOML text it was read from, byte for byte: what hashes and artefacts hold.
    pub source: String,
    /// A short name for reports: `name = "…"` in the file, else the policy file's stem.
    pub name: String,
    /// Where the rows come from and what the label is.
    pub data: Data,
    /// Columns computed from others before anything else reads the table.
    pub derived: Vec<Derived>,
    /// The features the model sees.
    pub features: Vec<FeatureRule>,
    /// Columns that the policy names but does not use (`use = false`).
    pub ignored: Vec<String>,
    /// Affine constraints between changes: the rows of `Aδ + b ≥ 0`.
    pub constraints: Vec<Constraint>,
    /// Changes that force other changes.
    pub links: Vec<Link>,
    /// Columns of the input that narrow a field for one person.
    pub override_columns: Vec<OverrideColumn>,
    /// The structural causal model, where one is given.
    pub causal: Option<Causal>,
}

/// `[data]`: the table and its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Where the rows are.
    pub source: Source,
    /// A second file whose rows are the test set (bail has one).
    pub test_path: Option<String>,
    /// How the text file is laid out; `None` means "detect".
    pub layout: Layout,
    /// The label column.
    pub label: String,
    /// Which labels are a yes.
    pub favourable: Rule,
    /// Rows that stay: all of these must hold.
    pub filters: Vec<Filter>,
    /// What to do with missing values.
    pub missing: MissingRule,
    /// Text that stands for "missing" besides the empty cell, such as `?` or `-9`.
    pub missing_values: Vec<String>,
    /// Whether equal rows are dropped before splitting.
    pub drop_duplicates: bool,
    /// Group columns for audits and group guarantees.
    pub groups: Vec<String>,
}

/// Where the rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, relative to the policy file.
    Path(String),
    /// A built-in data set.
    Builtin(String),
}

/// The layout of a delimited text file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layout {
    /// The field separator; `None` detects comma, semicolon or tab.
    pub delimiter: Option<char>,
    /// Whether the first line names the columns; `None` detects.
    pub header: Option<bool>,
    /// Column names for a file without a header.
    pub columns: Option<Vec<String>>,
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Equal to this text (numbers compare as numbers).
    Is(String),
    /// One of these.
    OneOf(Vec<String>),
    /// A comparison with a number.
    Compare(Comparison, f64),
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    NotEqual,
}

/// A row filter, `"days >= -30"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// As written.
    pub text: String,
    /// The column it reads.
    pub column: String,
    /// The comparison.
    pub comparison: Comparison,
    /// What it is compared with, as text; numbers compare as numbers.
    pub value: String,
}

/// What happens to rows with a missing value in a used column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingRule {
    /// Refuse the table and name the first such cell: the default, so that nothing is dropped silently.
    #[default]
    Refuse,
    /// Drop the row, and count it.
    DropRow,
    /// Fill numbers with the training median and give categories a value `(missing)`.
    Fill,
}

/// A column computed from others.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The new column's name.
    pub name: String,
    /// How it is computed.
    pub rule: DerivedRule,
}

/// How a derived column is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum DerivedRule {
    /// Whole days that pass from the first date to the second (`YYYY-MM-DD`, with or without a time), rounded down.
    DaysBetween(String, String),
    /// Whether the text contains this.
    Contains(String, String),
    /// Whether the value is one of these.
    Equals(String, Vec<String>),
}

/// One feature of the model: what it is and how far a person may move it.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRule {
    /// The column (or derived column) it reads.
    pub column: String,
    /// The human name, for letters and reports.
    pub label: String,
    /// The unit, such as `hours a week`.
    pub unit: Option<String>,
    /// What kind of value it is.
    pub kind: Kind,
    /// How far a person may move it.
    pub action: Actionability,
    /// The weight of this feature in every cost; 1 unless given.
    pub cost_weight: f64,
    /// A cost paid once when the feature changes at all; 0 unless given.
    pub fixed_cost: f64,
    /// What to do with a category that training never saw.
    pub unknown: UnknownCategory,
    /// Text that stands for "missing" in this column, besides [`Data::missing_values`]: `-9` may be missing here and a
    /// number there.
    pub missing_values: Vec<String>,
}

/// The kind of a feature, as the policy says it.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// Two values; `yes` names the one encoded as 1 (else true/1/yes).
    YesNo {
        /// The value that counts as yes.
        yes: Option<String>,
    },
    /// One of several values without an order; listed, or else collected from the training table.
    Category {
        /// The allowed values.
        values: Option<Vec<String>>,
    },
    /// One of several values from lowest to highest.
    Ordered {
        /// The values, lowest first.
        values: Vec<String>,
    },
}

/// How far a person may move one feature. The default is not at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Actionability {
    /// The permitted direction.
    pub change: Direction,
    /// The largest change either way.
    pub max_change: Option<Amount>,
    /// No action goes below this.
    pub min: Option<f64>,
    /// No action goes above this.
    pub max: Option<f64>,
    /// Changes are whole multiples of this. Integers, yes/no and ordered categories have 1 unless given.
    pub step: Option<f64>,
    /// For categories: the values one may move to from each value. `None` with `change = "any"` means all.
    pub moves: Option<BTreeMap<String, Vec<String>>>,
}

/// The permitted direction of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Never changes.
    #[default]
    Fixed,
    /// May only go up.
    Increase,
    /// May only go down.
    Decrease,
    /// May go either way.
    Any,
}

/// A size of change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// In the feature's own units.
    Units(f64),
    /// In standard deviations of the training rows.
    Deviations(f64),
}

/// An affine constraint between changes, `Σ coefficient · change ≤ bound`, in original units, with `bound ≥ 0` so that
/// doing nothing is always permitted. A constraint written with `>=` or `==` becomes one or two of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// As written.
    pub text: String,
    /// Feature index and coefficient; each feature at most once.
    pub terms: Vec<(usize, f64)>,
    /// The right-hand side.
    pub bound: f64,
}

/// A change in one feature that forces a change in another.
///
/// The effect feature is not a person's own to change (it is `fixed`); forced amounts from several links add up.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// As written, `"education_num increases: age increases by 2 each"`.
    pub text: String,
    /// The feature whose change has the consequence.
    pub cause: usize,
    /// Which change of it.
    pub trigger: Trigger,
    /// The feature that moves as a consequence.
    pub effect: usize,
    /// By how much, signed, in the effect's units.
    pub amount: f64,
    /// Whether the amount counts once for every unit of the cause's change (`each`) or once in all.
    pub each: bool,
}

/// Which change sets off a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// The cause goes up.
    Increases,
    /// The cause goes down.
    Decreases,
    /// The cause changes at all.
    Changes,
    /// The cause becomes this value, having been another.
    Becomes(String),
}

/// What to do with a category that training never saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UnknownCategory {
    /// Refuse the row and name the value.
    #[default]
    Refuse,
    /// Treat it as this known value.
    TreatAs(String),
}

/// `[overrides]`: a column of the input that narrows one field for that row's person.
#[derive(Debug, Clone, PartialEq)]
pub struct OverrideColumn {
    /// The feature narrowed.
    pub feature: usize,
    /// Which field.
    pub field: OverrideField,
    /// The column of the input that holds the value; an empty cell means "as the policy says".
    pub column: String,
}

/// The fields one person may have of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OverrideField {
    Change,
    MaxChange,
    Min,
    Max,
    Step,
}

impl OverrideField {
    /// Every field, in the order of the grammar.
    pub const ALL: [OverrideField; 5] =
        [OverrideField::Change, OverrideField::MaxChange, OverrideField::Min, OverrideField::Max, OverrideField::Step];

    /// The field's key in a policy.
    pub fn word(self) -> &'static str {
        match self {
            OverrideField::Change => "change",
            OverrideField::MaxChange => "max_change",
            OverrideField::Min => "min",
            OverrideField::Max => "max",
            OverrideField::Step => "step",
        }
    }
}

/// What one person's input says about them alone. It can only narrow the policy: the certificate speaks about the
/// policy, and an action outside it would not be covered.
///
/// Each entry is the policy's own rule with the person's narrower fields in their place. Where the policy's `max_change`
/// counts standard deviations and the person's counts units, both hold: the smaller is known only to an encoding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// Feature index and what is narrowed for it. `change` is the direction permitted to this person, and the policy's
    /// too: [`Direction::Any`] narrows nothing, [`Direction::Fixed`] forbids the change.
    pub features: Vec<(usize, Actionability)>,
}

/// `[causal]`: a structural causal model with additive noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Causal {
    /// One equation for each feature that has parents.
    pub equations: Vec<Equation>,
}

/// `child = intercept + Σ weight · parent + noise`.
#[derive(Debug, Clone, PartialEq)]
pub struct Equation {
    /// The child feature.
    pub child: usize,
    /// Its parents.
    pub parents: Vec<usize>,
    /// Given weights (one a parent) and intercept in original units; `None` fits them on the training rows.
    pub given: Option<(Vec<f64>, f64)>,
}
