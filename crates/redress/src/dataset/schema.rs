//! Settling the features against a table: categories, which value is yes, and what stands in for a missing value.

use super::cells::{Cells, absent, is_absent, settle};
use super::error::{DataError, quoted_list};
use super::read::{first_fault, kept_by_filters};
use super::view::{View, coded};
use super::{Feature, FeatureKind, Schema};
use crate::policy::{FeatureRule, Kind, MissingRule, Policy, Trigger, UnknownCategory, nearest, same};
use crate::table::{Column, Table, Values};

/// The value that a missing category becomes under `missing = "fill"`, and the group of those without one.
pub const MISSING_VALUE: &str = "(missing)";

/// Pairs that say by themselves which is yes, lower case, no first.
const KNOWN_PAIRS: [(&str, &str); 5] = [("false", "true"), ("no", "yes"), ("0", "1"), ("n", "y"), ("f", "t")];

impl Schema {
    /// Settles kinds and categories of the policy's features on a table, usually the training table.
    ///
    /// Categories that the policy does not list are those of the rows that pass the policy's filters, sorted by text.
    /// Every column that the policy names must be there.
    pub fn resolve(policy: &Policy, table: &Table) -> Result<Schema, DataError> {
        let view = View::new(policy, table, true)?;
        if table.rows() == 0 {
            return Err(DataError::NoRows("the table has a header but no rows".to_owned()));
        }
        view.column(&policy.data.label, "the label")?;
        for group in &policy.data.groups {
            view.column(group, "a group column")?;
        }
        for column in &policy.ignored {
            view.column(column, "a feature with `use = false`")?;
        }
        for column in &policy.override_columns {
            view.column(&column.column, "an override")?;
        }
        let rows = kept_by_filters(policy, &view)?.rows;
        let features: Result<Vec<Feature>, DataError> =
            policy.features.iter().map(|rule| settle_feature(policy, rule, &view, &rows)).collect();
        let schema = Schema { features: features? };
        check_links(policy, &schema)?;
        Ok(schema)
    }

    /// A value of a feature in words: `Bachelors`, `40`, `yes`.
    pub fn show(&self, feature: usize, value: f64) -> String {
        match &self.features[feature].kind {
            FeatureKind::Number | FeatureKind::Integer => (value + 0.0).to_string(),
            FeatureKind::YesNo { no, yes } => {
                let text = if value >= 0.5 { yes } else { no };
                match text.as_str() {
                    "1" | "true" => "yes".to_owned(),
                    "0" | "false" => "no".to_owned(),
                    _ => text.clone(),
                }
            }
            FeatureKind::Category { values } | FeatureKind::Ordered { values } => {
                values.get(value as usize).cloned().unwrap_or_else(|| value.to_string())
            }
        }
    }

    /// The same to be read and not to be computed with: numbers with at most six digits, where they have decimals.
    pub fn show_about(&self, feature: usize, value: f64) -> String {
        let about = match self.features[feature].kind {
            FeatureKind::Number if value.abs() >= 1e5 => value.round(),
            FeatureKind::Number => format!("{value:.5e}").parse().unwrap_or(value),
            _ => value,
        };
        self.show(feature, about)
    }
}

fn settle_feature(policy: &Policy, rule: &FeatureRule, view: &View, rows: &[usize]) -> Result<Feature, DataError> {
    let column = view.column(&rule.column, "a feature")?;
    let absent: Vec<&str> = absent(rule, &policy.data).collect();
    let fills = policy.data.missing == MissingRule::Fill;
    let kind = match &rule.kind {
        Kind::Number => FeatureKind::Number,
        Kind::Integer => FeatureKind::Integer,
        Kind::YesNo { yes } => yes_no(rule, yes.as_deref(), distinct(column, rows, &absent).0)?,
        Kind::Ordered { values } => FeatureKind::Ordered { values: values.clone() },
        Kind::Category { values } => {
            let (found, some_missing) = distinct(column, rows, &absent);
            let mut values = values.clone().unwrap_or(found);
            if fills && some_missing {
                values.push(MISSING_VALUE.to_owned());
            }
            if values.is_empty() {
                let message = "every value is missing, so that there are no categories".to_owned();
                return Err(DataError::Column { column: rule.column.clone(), message });
            }
            FeatureKind::Category { values }
        }
    };
    let mut feature =
        Feature { column: rule.column.clone(), label: rule.label.clone(), unit: rule.unit.clone(), kind, fill: None };
    check_names(rule, &feature)?;
    if fills {
        feature.fill = fill(&feature, rule, policy, view, column, rows)?;
    }
    Ok(feature)
}

/// The distinct values of these rows, sorted by text, and whether any is missing.
pub(super) fn distinct(column: &Column, rows: &[usize], absent: &[&str]) -> (Vec<String>, bool) {
    let text = coded(column);
    let mut seen = vec![false; text.dictionary.len()];
    let mut some_missing = false;
    for &row in rows {
        if column.is_missing(row) {
            some_missing = true;
        } else {
            seen[text.codes[row] as usize] = true;
        }
    }
    let mut values = Vec::new();
    for (value, _) in text.dictionary.iter().zip(seen).filter(|(_, seen)| *seen) {
        if is_absent(value, absent) {
            some_missing = true;
        } else {
            values.push(value.clone());
        }
    }
    values.sort_unstable();
    (values, some_missing)
}

/// Which of the two values is yes.
fn yes_no(rule: &FeatureRule, yes: Option<&str>, found: Vec<String>) -> Result<FeatureKind, DataError> {
    let fault = |message: String| DataError::Column { column: rule.column.clone(), message };
    if found.len() > 2 {
        return Err(fault(format!(
            "a yes/no has two values, but there are {}: {}; make it a category, or derive a yes/no with `equals`",
            found.len(),
            quoted_list(&found, "and")
        )));
    }
    if let Some(yes) = yes {
        let no = found.iter().find(|value| !same(value, yes)).cloned();
        if found.len() == 2 && !found.iter().any(|value| same(value, yes)) {
            return Err(fault(format!(
                "no row has the value \"{yes}\", which the policy calls yes; the values are {}",
                quoted_list(&found, "and")
            )));
        }
        return Ok(FeatureKind::YesNo { no: no.unwrap_or_else(|| format!("not {yes}")), yes: yes.to_owned() });
    }
    for (no, yes) in KNOWN_PAIRS {
        let named = |word: &str| found.iter().find(|value| same(&value.to_lowercase(), word));
        if found.iter().all(|value| same(&value.to_lowercase(), no) || same(&value.to_lowercase(), yes)) {
            let text = |word: &str| named(word).cloned().unwrap_or_else(|| word.to_owned());
            return Ok(FeatureKind::YesNo { no: text(no), yes: text(yes) });
        }
    }
    Err(fault(format!("which of {} is yes? Say so in the policy: yes = \"{}\"", quoted_list(&found, "and"), found[0])))
}

/// Values that the policy names must be among the values there are.
fn check_names(rule: &FeatureRule, feature: &Feature) -> Result<(), DataError> {
    let FeatureKind::Category { values } = &feature.kind else { return Ok(()) };
    let known = |key: &str, value: &str| {
        if values.iter().any(|known| known == value) {
            return Ok(());
        }
        let near = match nearest(value, values.iter().map(String::as_str)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the values are {}", quoted_list(values, "and")),
        };
        let message = format!("`{key}` in the policy names \"{value}\", which no row has; {near}");
        Err(DataError::Column { column: rule.column.clone(), message })
    };
    for (from, targets) in rule.action.moves.iter().flatten() {
        known("moves", from)?;
        targets.iter().try_for_each(|to| known("moves", to))?;
    }
    match &rule.unknown {
        UnknownCategory::Refuse => Ok(()),
        UnknownCategory::TreatAs(value) => known("treat_as", value),
    }
}

/// A link may wait for a value; it must be one that the feature can take.
fn check_links(policy: &Policy, schema: &Schema) -> Result<(), DataError> {
    for link in &policy.links {
        let Trigger::Becomes(value) = &link.trigger else { continue };
        let feature = &schema.features[link.cause];
        if !settle(&feature.kind, value).is_finite() {
            let message = format!("the link \"{}\" waits for \"{value}\", a value that no row has", link.text);
            return Err(DataError::Column { column: feature.column.clone(), message });
        }
    }
    Ok(())
}

/// What stands in for a missing value: the lower median of a number or a rank, the more common of yes and no, and a
/// category of its own. Always a value that a person can have.
fn fill(
    feature: &Feature,
    rule: &FeatureRule,
    policy: &Policy,
    view: &View,
    column: &Column,
    rows: &[usize],
) -> Result<Option<f64>, DataError> {
    if let FeatureKind::Category { values } = &feature.kind {
        return Ok(values.iter().position(|value| value == MISSING_VALUE).map(|index| index as f64));
    }
    let cells = Cells::new(feature, rule, &policy.data, column);
    let mut values = vec![0.0; rows.len()];
    cells.write(rows, &mut values, 0, 1);
    first_fault(view, std::slice::from_ref(feature), std::slice::from_ref(&cells), rows, &values)?;
    values.retain(|value| !value.is_nan());
    if values.is_empty() || matches!(column.values(), Values::Missing(_)) {
        let message = "every value is missing, so that nothing can stand in for them".to_owned();
        return Err(DataError::Column { column: rule.column.clone(), message });
    }
    let middle = (values.len() - 1) / 2;
    Ok(Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_to_be_read_have_at_most_six_digits() {
        let feature = |kind| Feature { column: "x".into(), label: "x".into(), unit: None, kind, fill: None };
        let schema = Schema { features: vec![feature(FeatureKind::Number), feature(FeatureKind::Integer)] };
        for (value, shown) in [
            (0.17732787927195148, "0.177328"),
            (-3.0092706731202163, "-3.00927"),
            (4137.62, "4137.62"),
            (1234567.89, "1234568"),
            (40.0, "40"),
            (-0.0, "0"),
            (1.5e-7, "0.00000015"),
        ] {
            assert_eq!(schema.show_about(0, value), shown);
        }
        assert_eq!(schema.show_about(1, 12_345_678.0), "12345678");
    }
}
