//! Reading people, labels and groups out of a table.

use std::sync::Arc;

use rayon::prelude::*;

use super::cells::{Cells, WRONG};
use super::error::{DataError, LabelFault};
use super::schema::{MISSING_VALUE, distinct};
use super::view::{View, coded};
use super::{Dataset, Feature, GroupColumn, People, ReadSummary, Schema, duplicates, overrides};
use crate::policy::{Comparison, Filter, MissingRule, Policy, Rule, number};
use crate::table::{Column, Table, Values};

/// Rows whose values fit into a core's own cache, so that writing columns into rows stays cheap.
const ROWS_AT_ONCE: usize = 2048;

impl Dataset {
    /// Reads people with labels and groups: derived columns, filters, duplicates, the rule for missing values, and
    /// overrides, in this order. What was left out or filled in is counted, never silent.
    pub fn read(policy: &Policy, schema: Arc<Schema>, table: &Table) -> Result<(Dataset, ReadSummary), DataError> {
        if table.rows() == 0 {
            return Err(DataError::NoRows("the table has a header but no rows".to_owned()));
        }
        let view = View::new(policy, table, true)?;
        let Kept { mut rows, filtered } = kept_by_filters(policy, &view)?;
        let mut summary = ReadSummary { table_rows: table.rows(), filtered, ..ReadSummary::default() };
        let label = Label::new(policy, &view)?;
        let without = label.drop_missing(policy, &view, &mut rows)?;
        if without > 0 {
            summary.dropped.push((policy.data.label.clone(), without));
        }
        if policy.data.drop_duplicates {
            let before = rows.len();
            duplicates::drop_repeats(table, &mut rows);
            summary.duplicates = before - rows.len();
        }
        let people = read_people(policy, schema, &view, rows, policy.data.missing, &mut summary)?;
        if people.is_empty() {
            return Err(DataError::NoRows(format!("all of {} rows miss a value or were filtered out", table.rows())));
        }
        let rows: Vec<usize> = people.source_rows.iter().map(|row| row - 1).collect();
        let labels = label.read(policy, &rows)?;
        let groups = policy.data.groups.iter().map(|name| group(policy, view.column(name, "a group column")?, &rows));
        let groups = groups.collect::<Result<_, _>>()?;
        summary.rows = people.len();
        Ok((Dataset { people, labels, groups }, summary))
    }
}

impl People {
    /// Reads people without labels, for prediction. Every row is kept, in order: a row that the policy's filters would
    /// leave out is a fault, and so is a missing value unless the policy fills it in. A filter on a column that the
    /// table does not have (one known only in hindsight) is passed over.
    pub fn read(policy: &Policy, schema: Arc<Schema>, table: &Table) -> Result<People, DataError> {
        Self::read_view(policy, schema, &View::new(policy, table, true)?)
    }

    /// [`People::read`] for a file of people: rows that the policy drops for a missing value are left out. The others
    /// keep their order, and [`People::source_rows`] says which they are.
    pub fn read_complete(policy: &Policy, schema: Arc<Schema>, table: &Table) -> Result<People, DataError> {
        Self::read_by(policy, schema, &View::new(policy, table, true)?, policy.data.missing)
    }

    pub(super) fn read_view(policy: &Policy, schema: Arc<Schema>, view: &View) -> Result<People, DataError> {
        // A person who asks cannot be dropped.
        let missing = match policy.data.missing {
            MissingRule::Fill => MissingRule::Fill,
            MissingRule::Refuse | MissingRule::DropRow => MissingRule::Refuse,
        };
        Self::read_by(policy, schema, view, missing)
    }

    fn read_by(policy: &Policy, schema: Arc<Schema>, view: &View, missing: MissingRule) -> Result<People, DataError> {
        let rows: Vec<usize> = (0..view.table.rows()).collect();
        for filter in &policy.data.filters {
            let Some(column) = view.find(&filter.column) else { continue };
            let passes = passes(policy, filter, column);
            if let Some(&row) = rows.iter().find(|&&row| !passes(row)) {
                let value = column.text(row).unwrap_or_default();
                return Err(DataError::Filtered { row: row + 1, filter: filter.text.clone(), value });
            }
        }
        read_people(policy, schema, view, rows, missing, &mut ReadSummary::default())
    }
}

/// The rows that pass every filter, and how many each filter left out.
pub(super) struct Kept {
    pub(super) rows: Vec<usize>,
    pub(super) filtered: Vec<(String, usize)>,
}

/// Applies the filters one after the other; a missing value passes none.
pub(super) fn kept_by_filters(policy: &Policy, view: &View) -> Result<Kept, DataError> {
    let mut rows: Vec<usize> = (0..view.table.rows()).collect();
    let mut filtered = Vec::new();
    for filter in &policy.data.filters {
        let column = view.column(&filter.column, &format!("the filter \"{}\" needs it", filter.text))?;
        let before = rows.len();
        let passes = passes(policy, filter, column);
        rows.retain(|&row| passes(row));
        filtered.push((filter.text.clone(), before - rows.len()));
    }
    if rows.is_empty() {
        return Err(DataError::NoRows(format!("the filters leave none of {} rows", view.table.rows())));
    }
    Ok(Kept { rows, filtered })
}

pub(super) fn passes<'c>(policy: &Policy, filter: &'c Filter, column: &'c Column) -> Box<dyn Fn(usize) -> bool + 'c> {
    let absent: Vec<&str> = policy.data.missing_values.iter().map(String::as_str).collect();
    let numbers: Vec<f64> = absent.iter().filter_map(|text| number(text)).collect();
    let bound = number(&filter.value);
    let test = move |value: f64| match bound {
        Some(bound) => !numbers.contains(&value) && filter.comparison.holds(value, bound),
        None => filter.comparison == Comparison::NotEqual,
    };
    match column.values() {
        Values::Number(values) => {
            Box::new(move |row| !column.is_missing(row) && !values[row].is_nan() && test(values[row]))
        }
        Values::Integer(values) => Box::new(move |row| !column.is_missing(row) && test(values[row] as f64)),
        _ => {
            let text = coded(column);
            let verdicts: Vec<bool> = text
                .dictionary
                .iter()
                .map(|value| !super::cells::is_absent(value, &absent) && filter.accepts(value))
                .collect();
            Box::new(move |row| !column.is_missing(row) && verdicts[text.codes[row] as usize])
        }
    }
}

pub(super) fn read_people(
    policy: &Policy,
    schema: Arc<Schema>,
    view: &View,
    mut rows: Vec<usize>,
    missing: MissingRule,
    summary: &mut ReadSummary,
) -> Result<People, DataError> {
    let width = schema.features.len();
    let mut cells = Vec::with_capacity(width);
    for (feature, rule) in schema.features.iter().zip(&policy.features) {
        let column = view.column(&feature.column, "a feature")?;
        cells.push(Cells::new(feature, rule, &policy.data, column));
    }
    let mut values = vec![0.0; rows.len() * width];
    values.par_chunks_mut(ROWS_AT_ONCE * width).zip(rows.par_chunks(ROWS_AT_ONCE)).for_each(|(out, rows)| {
        for (offset, cells) in cells.iter().enumerate() {
            cells.write(rows, out, offset, width);
        }
    });
    first_fault(view, &schema.features, &cells, &rows, &values)?;
    settle_missing(&schema, view, missing, &mut rows, &mut values, summary)?;
    for (feature, cells) in schema.features.iter().zip(&cells) {
        let count = cells.stand_ins(&rows);
        if count > 0 {
            summary.treated_as_known.push((feature.column.clone(), count));
        }
    }
    let overrides = overrides::from_columns(policy, &schema, view, &rows)?;
    rows.iter_mut().for_each(|row| *row += 1);
    Ok(People { schema, values, source_rows: rows, overrides })
}

/// Reports the first cell, row by row, that is not of its feature's kind.
pub(super) fn first_fault(
    view: &View,
    features: &[Feature],
    cells: &[Cells],
    rows: &[usize],
    values: &[f64],
) -> Result<(), DataError> {
    let fault = values.par_iter().position_first(|value| *value == WRONG);
    match fault {
        None => Ok(()),
        Some(index) => {
            let (row, feature) = (index / features.len(), index % features.len());
            Err(cells[feature].fault(view, &features[feature], rows[row]))
        }
    }
}

/// Refuses, drops or fills what is missing.
fn settle_missing(
    schema: &Schema,
    view: &View,
    rule: MissingRule,
    rows: &mut Vec<usize>,
    values: &mut Vec<f64>,
    summary: &mut ReadSummary,
) -> Result<(), DataError> {
    let width = schema.features.len();
    if !values.par_iter().any(|value| value.is_nan()) {
        return Ok(());
    }
    let mut counts = vec![0usize; width];
    let mut kept = 0;
    for at in 0..rows.len() {
        let row = &mut values[at * width..(at + 1) * width];
        let absent = row.iter().position(|value| value.is_nan());
        match (absent, rule) {
            (None, _) => {}
            (Some(feature), MissingRule::Refuse) => {
                return Err(refused(view, rows[at], &schema.features[feature].column));
            }
            (Some(feature), MissingRule::DropRow) => {
                counts[feature] += 1;
                continue;
            }
            (Some(_), MissingRule::Fill) => {
                for (feature, value) in row.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
                    counts[feature] += 1;
                    *value = schema.features[feature].fill.ok_or_else(|| DataError::MissingCell {
                        place: view.place(rows[at], &schema.features[feature].column),
                        hint: "and the training rows had no missing value here to learn from".to_owned(),
                    })?;
                }
            }
        }
        values.copy_within(at * width..(at + 1) * width, kept * width);
        rows[kept] = rows[at];
        kept += 1;
    }
    rows.truncate(kept);
    values.truncate(kept * width);
    let counted = schema.features.iter().zip(counts).filter(|(_, count)| *count > 0);
    let counted = counted.map(|(feature, count)| (feature.column.clone(), count));
    match rule {
        MissingRule::Fill => summary.filled.extend(counted),
        _ => summary.dropped.extend(counted),
    }
    Ok(())
}

fn refused(view: &View, row: usize, column: &str) -> DataError {
    let hint = if view.numbered {
        "to allow it, say `missing = \"drop_row\"` or \"fill\" in the policy's `[data]`".to_owned()
    } else {
        String::new()
    };
    DataError::MissingCell { place: view.place(row, column), hint }
}

/// The label column with each distinct value judged once.
pub(super) struct Label<'v> {
    column: &'v Column,
    text: std::borrow::Cow<'v, crate::table::Text>,
    favourable: Vec<bool>,
    absent: Vec<bool>,
}

impl<'v> Label<'v> {
    pub(super) fn new(policy: &Policy, view: &'v View) -> Result<Self, DataError> {
        let column = view.column(&policy.data.label, "the label")?;
        let text = coded(column);
        let absent_text: Vec<&str> = policy.data.missing_values.iter().map(String::as_str).collect();
        let favourable = text.dictionary.iter().map(|value| policy.data.favourable.accepts(value)).collect();
        let absent = text.dictionary.iter().map(|value| super::cells::is_absent(value, &absent_text)).collect();
        Ok(Self { column, text, favourable, absent })
    }

    /// Drops rows without a label, where the policy drops rows; a label is never filled in.
    pub(super) fn drop_missing(&self, policy: &Policy, view: &View, rows: &mut Vec<usize>) -> Result<usize, DataError> {
        let missing = |row: usize| self.column.is_missing(row) || self.absent[self.text.codes[row] as usize];
        let before = rows.len();
        if policy.data.missing == MissingRule::DropRow {
            rows.retain(|&row| !missing(row));
        } else if let Some(&row) = rows.iter().find(|&&row| missing(row)) {
            let hint = "a label is never filled in: say `missing = \"drop_row\"` or leave the row out with a filter";
            return Err(DataError::MissingCell { place: view.place(row, self.column.name()), hint: hint.to_owned() });
        }
        Ok(before - rows.len())
    }

    /// Whether the label of each row is favourable.
    pub(super) fn favourable(&self, rows: &[usize]) -> Vec<bool> {
        rows.iter().map(|&row| self.favourable[self.text.codes[row] as usize]).collect()
    }

    /// The labels of these rows, which must show both outcomes.
    fn read(&self, policy: &Policy, rows: &[usize]) -> Result<Vec<bool>, DataError> {
        let labels = self.favourable(rows);
        let fault = |fault| Err(DataError::Label { column: self.column.name().to_owned(), fault });
        let values = || distinct(self.column, rows, &[]).0;
        let rule = &policy.data.favourable;
        let named: &[String] = match rule {
            Rule::Is(value) => std::slice::from_ref(value),
            Rule::OneOf(values) => values,
            Rule::Compare(..) => &[],
        };
        let never = named.iter().find(|named| {
            let single = Rule::Is((*named).clone());
            !self.text.dictionary.iter().any(|value| single.accepts(value))
        });
        if let Some(value) = never {
            return fault(LabelFault::NeverFavourable { value: value.clone(), values: values() });
        }
        let favourable = labels[0];
        if labels.iter().all(|&label| label == favourable) {
            return fault(LabelFault::Constant { favourable, values: values(), rule: rule.to_string() });
        }
        if matches!(rule, Rule::Is(_)) {
            let values = values();
            if values.len() > 2 {
                return fault(LabelFault::TooMany(values));
            }
        }
        Ok(labels)
    }
}

/// Membership in one group column; rows without a value are a group of their own.
pub(super) fn group(policy: &Policy, column: &Column, rows: &[usize]) -> Result<GroupColumn, DataError> {
    let absent: Vec<&str> = policy.data.missing_values.iter().map(String::as_str).collect();
    let (mut values, some_missing) = distinct(column, rows, &absent);
    if some_missing {
        values.push(MISSING_VALUE.to_owned());
    }
    let text = coded(column);
    let last = values.len().saturating_sub(1) as u32;
    let lookup: Vec<u32> = text
        .dictionary
        .iter()
        .map(|value| values.iter().position(|known| known == value).map_or(last, |index| index as u32))
        .collect();
    let code = |&row: &usize| if column.is_missing(row) { last } else { lookup[text.codes[row] as usize] };
    let codes = rows.iter().map(code).collect();
    Ok(GroupColumn { name: column.name().to_owned(), values, codes })
}
