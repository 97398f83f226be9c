//! One person's own limits, from columns of the input or from a document. They narrow the policy or are refused.

use serde_json::Value;

use super::error::{DataError, Place};
use super::view::View;
use super::{FeatureKind, Schema};
use crate::policy::{Actionability, Amount, Direction, FeatureRule, OverrideField, Overrides, Policy, nearest, number};

/// Reads the override columns: one entry a row, or none at all when no row has any.
pub(super) fn from_columns(
    policy: &Policy,
    schema: &Schema,
    view: &View,
    rows: &[usize],
) -> Result<Vec<Overrides>, DataError> {
    let mut all: Vec<Overrides> = Vec::new();
    for source in &policy.override_columns {
        let column = view.column(&source.column, "an override")?;
        for (at, &row) in rows.iter().enumerate() {
            let Some(text) = column.text(row).filter(|text| !text.trim().is_empty()) else { continue };
            if all.is_empty() {
                all.resize_with(rows.len(), Overrides::default);
            }
            let place = view.place(row, &source.column);
            narrow(policy, schema, source.feature, source.field, text.trim(), &mut all[at], place)?;
        }
    }
    Ok(all)
}

/// Reads `{"feature": {"max": 14}}`.
pub(super) fn from_json(
    policy: &Policy,
    schema: &Schema,
    document: &Value,
    into: &mut Overrides,
) -> Result<(), DataError> {
    let Value::Object(features) = document else {
        return Err(DataError::Person("\"overrides\" is not an object such as {\"age\": {\"max\": 60}}".to_owned()));
    };
    for (name, fields) in features {
        let columns = || policy.features.iter().map(|feature| feature.column.as_str());
        let Some(feature) = columns().position(|column| column == name) else {
            let near = nearest(name, columns()).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            return Err(DataError::Person(format!("\"overrides\" names \"{name}\", which is no feature{near}")));
        };
        let Value::Object(fields) = fields else {
            return Err(DataError::Person(format!("\"overrides.{name}\" is not an object such as {{\"max\": 60}}")));
        };
        for (word, value) in fields {
            let place = Place { row: None, column: format!("overrides.{name}.{word}") };
            let Some(field) = OverrideField::ALL.into_iter().find(|field| field.word() == word) else {
                let message = "the fields are change, max_change, min, max and step".to_owned();
                return Err(DataError::Override { place, message });
            };
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                other => {
                    return Err(DataError::Cell {
                        place,
                        value: other.to_string(),
                        allowed: "a number or a word".to_owned(),
                    });
                }
            };
            narrow(policy, schema, feature, field, &text, into, place)?;
        }
    }
    Ok(())
}

/// Puts one field in place of the policy's own, if it is narrower.
fn narrow(
    policy: &Policy,
    schema: &Schema,
    feature: usize,
    field: OverrideField,
    text: &str,
    overrides: &mut Overrides,
    place: Place,
) -> Result<(), DataError> {
    let rule = &policy.features[feature];
    let kind = &schema.features[feature].kind;
    if field != OverrideField::Change && matches!(kind, FeatureKind::YesNo { .. } | FeatureKind::Category { .. }) {
        let message = format!("\"{}\" has no {}: it is not a number", rule.column, field.word());
        return Err(DataError::Override { place, message });
    }
    let index = overrides.features.iter().position(|(known, _)| *known == feature).unwrap_or_else(|| {
        overrides.features.push((feature, rule.action.clone()));
        overrides.features.len() - 1
    });
    let action = &mut overrides.features[index].1;
    let own = match field {
        OverrideField::Change => return narrow_change(rule, text, action, place),
        _ => measure(kind, field, text, &place)?,
    };
    let before = match field {
        OverrideField::Min => rule.action.min.filter(|min| !(own >= *min)),
        OverrideField::Max => rule.action.max.filter(|max| !(own <= *max)),
        OverrideField::Step => lattice(rule, kind).filter(|step| !is_multiple(own, *step)),
        _ => match rule.action.max_change {
            Some(Amount::Units(units)) => Some(units).filter(|units| !(own <= *units)),
            _ => None,
        },
    };
    if let Some(before) = before {
        let word = field.word();
        let message =
            format!("{word} {own} widens the policy, which says {word} {before}; an override may only narrow it");
        return Err(DataError::Override { place, message });
    }
    match field {
        OverrideField::Min => action.min = Some(own),
        OverrideField::Max => action.max = Some(own),
        OverrideField::Step => action.step = Some(own),
        _ => action.max_change = Some(Amount::Units(own)),
    }
    match (action.min, action.max) {
        (Some(min), Some(max)) if !(min <= max) => {
            let message = format!("no value is left between min {min} and max {max}");
            Err(DataError::Override { place, message })
        }
        _ => Ok(()),
    }
}

/// The policy's own step, said or implied.
fn lattice(rule: &FeatureRule, kind: &FeatureKind) -> Option<f64> {
    rule.action.step.or_else(|| (!matches!(kind, FeatureKind::Number)).then_some(1.0))
}

/// Whether `own` is a whole number of `step`s, up to the rounding of decimals.
fn is_multiple(own: f64, step: f64) -> bool {
    let count = own / step;
    count >= 0.5 && (count - count.round()).abs() <= 1e-9 * count.abs()
}

fn narrow_change(rule: &FeatureRule, text: &str, action: &mut Actionability, place: Place) -> Result<(), DataError> {
    let own = match text {
        "fixed" => Direction::Fixed,
        "increase" => Direction::Increase,
        "decrease" => Direction::Decrease,
        "any" => Direction::Any,
        _ => {
            let allowed = "\"fixed\", \"increase\", \"decrease\" or \"any\"".to_owned();
            return Err(DataError::Cell { place, value: text.to_owned(), allowed });
        }
    };
    let policy = rule.action.change;
    if !(own == Direction::Fixed || own == policy || policy == Direction::Any) {
        let says = format!("{policy:?}").to_lowercase();
        let message = format!("change {text} widens the policy, which says {says}; an override may only narrow it");
        return Err(DataError::Override { place, message });
    }
    action.change = own;
    Ok(())
}

/// A limit as a number: the rank for an ordered category.
fn measure(kind: &FeatureKind, field: OverrideField, text: &str, place: &Place) -> Result<f64, DataError> {
    let fault =
        |allowed: &str| DataError::Cell { place: place.clone(), value: text.to_owned(), allowed: allowed.to_owned() };
    if let (FeatureKind::Ordered { values }, OverrideField::Min | OverrideField::Max) = (kind, field) {
        let rank = values.iter().position(|value| value == text);
        return rank
            .map(|rank| rank as f64)
            .ok_or_else(|| fault(&format!("one of {}", super::error::quoted_list(values, "and"))));
    }
    let own = number(text).ok_or_else(|| fault("a number"))?;
    match field {
        OverrideField::MaxChange if !(own >= 0.0) => Err(fault("a number that is not negative")),
        OverrideField::Step if !(own > 0.0) => Err(fault("a number above 0")),
        _ => Ok(own),
    }
}
