//! The cells of one column as numbers, by the kind of the feature.
//!
//! Two values that no feature can have carry news: [`MISSING`] and [`WRONG`].

use std::borrow::Cow;

use super::error::{DataError, quoted_list};
use super::view::{View, coded};
use super::{Feature, FeatureKind};
use crate::policy::{Data, FeatureRule, UnknownCategory, number, same};
use crate::table::{Column, Values};

/// Stands for a missing cell.
pub(super) const MISSING: f64 = f64::NAN;
/// Stands for a cell that is not of the feature's kind.
pub(super) const WRONG: f64 = f64::INFINITY;

/// Beyond this, whole numbers are no longer told apart as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads one column for one feature.
pub(super) struct Cells<'t> {
    column: &'t Column,
    source: Source<'t>,
    /// Numbers that stand for "missing".
    absent: Vec<f64>,
    whole: bool,
}

enum Source<'t> {
    Numbers(&'t [f64]),
    Integers(&'t [i64]),
    /// Each distinct value was settled once; `stand_in` marks those taken for another known value.
    Codes {
        codes: Cow<'t, [u32]>,
        lookup: Vec<f64>,
        stand_in: Vec<bool>,
    },
}

impl<'t> Cells<'t> {
    pub(super) fn new(feature: &Feature, rule: &FeatureRule, data: &Data, column: &'t Column) -> Self {
        let absent_text: Vec<&str> = absent(rule, data).collect();
        let absent: Vec<f64> = absent_text.iter().filter_map(|text| number(text)).collect();
        let numeric = matches!(feature.kind, FeatureKind::Number | FeatureKind::Integer);
        let source = match column.values() {
            Values::Number(values) if numeric => Source::Numbers(values),
            Values::Integer(values) if numeric => Source::Integers(values),
            _ => {
                let text = coded(column);
                let stand_in = stand_in(feature, rule);
                let mut marks = Vec::with_capacity(text.dictionary.len());
                let lookup = text.dictionary.iter().map(|value| {
                    let found = if is_absent(value, &absent_text) { MISSING } else { settle(&feature.kind, value) };
                    marks.push(found == WRONG && stand_in.is_some());
                    if found == WRONG { stand_in.unwrap_or(WRONG) } else { found }
                });
                let lookup = lookup.collect();
                let codes = match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.codes.as_slice()),
                    Cow::Owned(text) => Cow::Owned(text.codes),
                };
                Source::Codes { codes, lookup, stand_in: marks }
            }
        };
        Self { column, source, absent, whole: matches!(feature.kind, FeatureKind::Integer) }
    }

    /// Writes the values of `rows` at `offset`, `offset + width`, … of `out`.
    pub(super) fn write(&self, rows: &[usize], out: &mut [f64], offset: usize, width: usize) {
        let places = out.iter_mut().skip(offset).step_by(width).zip(rows);
        match &self.source {
            Source::Numbers(values) => places.for_each(|(place, &row)| *place = self.judge(values[row])),
            Source::Integers(values) => places.for_each(|(place, &row)| *place = self.judge(values[row] as f64)),
            Source::Codes { codes, lookup, .. } => {
                places.for_each(|(place, &row)| *place = lookup.get(codes[row] as usize).copied().unwrap_or(MISSING));
            }
        }
        if matches!(self.column.values(), Values::Missing(_)) {
            out.iter_mut().skip(offset).step_by(width).for_each(|place| *place = MISSING);
        } else if self.column.missing().count() > 0 {
            let places = out.iter_mut().skip(offset).step_by(width).zip(rows);
            places.filter(|(_, row)| self.column.is_missing(**row)).for_each(|(place, _)| *place = MISSING);
        }
    }

    fn judge(&self, value: f64) -> f64 {
        if value.is_nan() || self.absent.contains(&value) {
            MISSING
        } else if value.is_infinite() || (self.whole && !(value.fract() == 0.0 && value.abs() <= EXACT)) {
            WRONG
        } else {
            value + 0.0
        }
    }

    /// How many of these rows hold a value that was taken for another.
    pub(super) fn stand_ins(&self, rows: &[usize]) -> usize {
        match &self.source {
            Source::Codes { codes, stand_in, .. } if stand_in.contains(&true) => rows
                .iter()
                .filter(|&&row| !self.column.is_missing(row) && stand_in.get(codes[row] as usize) == Some(&true))
                .count(),
            _ => 0,
        }
    }

    /// Says what is wrong with the cell at `row`.
    pub(super) fn fault(&self, view: &View, feature: &Feature, row: usize) -> DataError {
        let value = self.column.text(row).unwrap_or_default();
        let allowed = match &feature.kind {
            FeatureKind::Number => "a number".to_owned(),
            FeatureKind::Integer if number(&value).is_some_and(|number| number.fract() == 0.0) => {
                "a whole number below 2^53".to_owned()
            }
            FeatureKind::Integer => "a whole number".to_owned(),
            FeatureKind::YesNo { no, yes } => format!("\"{no}\" or \"{yes}\""),
            FeatureKind::Category { values } | FeatureKind::Ordered { values } => {
                format!("one of {}", quoted_list(values, "and"))
            }
        };
        DataError::Cell { place: view.place(row, &feature.column), value, allowed }
    }
}

/// The texts that stand for "missing" in this feature's column.
pub(super) fn absent<'p>(rule: &'p FeatureRule, data: &'p Data) -> impl Iterator<Item = &'p str> {
    data.missing_values.iter().chain(&rule.missing_values).map(String::as_str)
}

/// Whether a text stands for "missing": the empty text, or one of those listed.
pub(super) fn is_absent(text: &str, absent: &[&str]) -> bool {
    text.is_empty() || absent.iter().any(|absent| same(text, absent))
}

/// The numeric form of the value that an unknown category is treated as.
fn stand_in(feature: &Feature, rule: &FeatureRule) -> Option<f64> {
    match &rule.unknown {
        UnknownCategory::Refuse => None,
        UnknownCategory::TreatAs(known) => Some(settle(&feature.kind, known)).filter(|value| value.is_finite()),
    }
}

/// The numeric form of a text.
pub(super) fn settle(kind: &FeatureKind, text: &str) -> f64 {
    match kind {
        FeatureKind::Number | FeatureKind::Integer => {
            let whole = matches!(kind, FeatureKind::Integer);
            let flag = match text {
                "true" => Some(1.0),
                "false" => Some(0.0),
                _ => None,
            };
            number(text)
                .or(flag)
                .filter(|value| !whole || (value.fract() == 0.0 && value.abs() <= EXACT))
                .map_or(WRONG, |value| value + 0.0)
        }
        FeatureKind::YesNo { no, yes } => {
            if same(text, yes) {
                1.0
            } else if same(text, no) {
                0.0
            } else {
                WRONG
            }
        }
        FeatureKind::Category { values } | FeatureKind::Ordered { values } => values
            .iter()
            .position(|value| value == text)
            .or_else(|| values.iter().position(|value| same(value, text)))
            .map_or(WRONG, |index| index as f64),
    }
}
