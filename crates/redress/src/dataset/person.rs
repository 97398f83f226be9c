//! One person, written as a JSON document.

use std::sync::Arc;

use serde_json::Value;

use super::error::DataError;
use super::overrides;
use super::view::View;
use super::{People, Schema};
use crate::policy::{DerivedRule, Overrides, Policy, nearest};
use crate::table::{Column, Missing, Table, Text, Values};

impl People {
    /// Reads one person from `{"age": 39, "job": "clerk", …}`. The key `overrides` holds limits of their own,
    /// `{"age": {"max": 60}}`; other keys that the policy does not know are passed over.
    pub fn from_json(policy: &Policy, schema: Arc<Schema>, document: &Value) -> Result<People, DataError> {
        let Value::Object(fields) = document else {
            return Err(DataError::Person(
                "a person is an object such as {\"age\": 39, \"job\": \"clerk\"}".to_owned(),
            ));
        };
        let mut columns = Vec::new();
        for (name, value) in fields.iter().filter(|(name, _)| *name != "overrides") {
            match cell(value) {
                Some(values) => columns.push(Column::new(name, values, Missing::none())),
                None if used(policy, name) => {
                    return Err(DataError::Person(format!("\"{name}\" is {value}, but should be one value")));
                }
                None => {}
            }
        }
        // A person has no limits of their own unless they say so.
        for source in &policy.override_columns {
            if !fields.contains_key(&source.column) && columns.iter().all(|column| column.name() != source.column) {
                columns.push(Column::new(&source.column, Values::Missing(1), Missing::none()));
            }
        }
        let table = Table::new(columns).map_err(|error| DataError::Person(error.to_string()))?;
        let view = View::new(policy, &table, false).map_err(|error| not_given(error, fields))?;
        let mut people = People::read_view(policy, schema, &view).map_err(|error| not_given(error, fields))?;
        if let Some(own) = fields.get("overrides") {
            let mut entry = people.overrides.pop().unwrap_or_else(Overrides::default);
            overrides::from_json(policy, &people.schema, own, &mut entry)?;
            people.overrides.push(entry);
        }
        Ok(people)
    }
}

/// One value as a column of one row; `None` for lists and objects.
fn cell(value: &Value) -> Option<Values> {
    Some(match value {
        Value::Null => Values::Missing(1),
        Value::Bool(flag) => Values::Boolean(vec![*flag]),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Values::Integer(vec![whole]),
            None => Values::Number(vec![number.as_f64()?]),
        },
        Value::String(text) => Values::Text(Text { codes: vec![0], dictionary: vec![text.clone()] }),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// Whether the policy reads this key.
fn used(policy: &Policy, name: &str) -> bool {
    let derives = |rule: &DerivedRule| match rule {
        DerivedRule::DaysBetween(from, to) => from == name || to == name,
        DerivedRule::Contains(column, _) | DerivedRule::Equals(column, _) => column == name,
    };
    policy.features.iter().any(|feature| feature.column == name)
        || policy.derived.iter().any(|derived| derives(&derived.rule))
        || policy.override_columns.iter().any(|source| source.column == name)
}

/// A missing column of a person is a key that was not given; a misspelt one is likely to be there instead.
fn not_given(error: DataError, fields: &serde_json::Map<String, Value>) -> DataError {
    match error {
        DataError::NoColumn { column, .. } => {
            let near = nearest(&column, fields.keys().map(String::as_str))
                .map_or(String::new(), |near| format!("; \"{near}\" is: was that meant?"));
            DataError::Person(format!("\"{column}\" is not given{near}"))
        }
        other => other,
    }
}
