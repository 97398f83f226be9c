//! What is wrong with a table, in one sentence that names the row, the column, the value and what was allowed.

use std::fmt;

use crate::policy::PolicyError;

/// Why a table, or one person, cannot be read by the rules of a policy.
///
/// Rows count from 1, not counting a header. The edge puts the file's name before the message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DataError {
    /// The policy names a column that the table does not have.
    #[error("there is no column \"{column}\" ({role}){}", near_or_all(near, columns))]
    NoColumn {
        /// The name looked for.
        column: String,
        /// What the policy wants it for.
        role: String,
        /// The nearest column there is.
        near: Option<String>,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A value is not of the kind that the policy says.
    #[error("{place}: \"{value}\" is not {allowed}")]
    Cell {
        /// Where it stands.
        place: Place,
        /// What stands there.
        value: String,
        /// What may stand there.
        allowed: String,
    },
    /// A value is missing where the policy refuses that.
    #[error("{place}: the value is missing{}", if hint.is_empty() { String::new() } else { format!("; {hint}") })]
    MissingCell {
        /// Where it should stand.
        place: Place,
        /// What would allow it.
        hint: String,
    },
    /// A column as a whole is not what the policy says it is.
    #[error("column \"{column}\": {message}")]
    Column {
        /// The column.
        column: String,
        /// What is wrong with it.
        message: String,
    },
    /// The label column does not hold two outcomes.
    #[error("column \"{column}\": {fault}")]
    Label {
        /// The label column.
        column: String,
        /// What is wrong with it.
        fault: LabelFault,
    },
    /// A person's own limit is wider than the policy's, or leaves nothing.
    #[error("{place}: {message}")]
    Override {
        /// Where it stands.
        place: Place,
        /// What is wrong with it.
        message: String,
    },
    /// A row is outside the population that the policy covers.
    #[error("row {row}: outside the population that the policy covers: \"{filter}\" does not hold for \"{value}\"")]
    Filtered {
        /// The row.
        row: usize,
        /// The filter, as written.
        filter: String,
        /// The value it looked at; empty where missing.
        value: String,
    },
    /// No row is left.
    #[error("no row is left to work with: {0}")]
    NoRows(String),
    /// A person is not written as the policy says.
    #[error("{0}")]
    Person(String),
    /// A drafted policy is not a policy: the table's names cannot be written in one.
    #[error("the draft is not a policy: {0}")]
    Draft(#[from] PolicyError),
}

impl DataError {
    /// The same fault in a table that is part of a longer one: rows count on from `rows`.
    pub fn after(mut self, rows: usize) -> Self {
        match &mut self {
            DataError::Cell { place, .. }
            | DataError::MissingCell { place, .. }
            | DataError::Override { place, .. } => {
                place.row = place.row.map(|row| row + rows);
            }
            DataError::Filtered { row, .. } => *row += rows,
            _ => {}
        }
        self
    }
}

/// What a label column may be instead of two outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFault {
    /// Every row has one outcome.
    Constant {
        /// Whether it is the favourable one.
        favourable: bool,
        /// The label's values, as in the table.
        values: Vec<String>,
        /// The favourable rule, as written.
        rule: String,
    },
    /// More than two values, of which one is called favourable.
    TooMany(Vec<String>),
    /// A value called favourable that no row has.
    NeverFavourable {
        /// The value.
        value: String,
        /// The values there are.
        values: Vec<String>,
    },
}

/// A cell of a table, or of one person's own document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The row, counting from 1; `None` for a person who came without a table.
    pub row: Option<usize>,
    /// The column.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}, column \"{}\"", self.column),
            None => write!(f, "\"{}\"", self.column),
        }
    }
}

impl fmt::Display for LabelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelFault::Constant { values, .. } if values.len() == 1 => {
                write!(f, "the label is \"{}\" in every row; two outcomes are needed", values[0])
            }
            LabelFault::Constant { favourable, rule, .. } => {
                let every = if *favourable { "every" } else { "no" };
                write!(f, "{every} row is favourable by the rule `{rule}`; two outcomes are needed")
            }
            LabelFault::TooMany(values) => write!(
                f,
                "the label has {} values, {}; name all the favourable ones in a list, or leave rows out with a filter",
                values.len(),
                quoted_list(values, "and")
            ),
            LabelFault::NeverFavourable { value, values } => {
                write!(f, "no row has the favourable value \"{value}\"; the values are {}", quoted_list(values, "and"))
            }
        }
    }
}

fn near_or_all(near: &Option<String>, columns: &[String]) -> String {
    match near {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None => format!("; the columns are {}", quoted_list(columns, "and")),
    }
}

/// `"a", "b" and "c"`; long lists are cut and say so.
pub(super) fn quoted_list(texts: &[String], last: &str) -> String {
    const SHOWN: usize = 12;
    let quoted: Vec<String> = texts.iter().take(SHOWN).map(|text| format!("\"{text}\"")).collect();
    match (quoted.split_last(), texts.len() > SHOWN) {
        (None, _) => "none".to_owned(),
        (Some(_), true) => format!("{} {last} {} more", quoted.join(", "), texts.len() - SHOWN),
        (Some((end, rest)), false) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        (Some(_), false) => quoted.concat(),
    }
}
