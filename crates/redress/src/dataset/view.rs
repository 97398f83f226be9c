//! A table with the policy's derived columns beside its own.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{DataError, Place};
use crate::policy::{Derived, DerivedRule, Policy, nearest, same};
use crate::table::{Column, Missing, Table, Text, Values};

/// A table and what was derived from it.
pub(super) struct View<'t> {
    pub(super) table: &'t Table,
    derived: Vec<Column>,
    /// Whether places in messages have a row: a single person has none.
    pub(super) numbered: bool,
}

impl<'t> View<'t> {
    /// Computes the derived columns. A table that already holds one under its name and lacks the columns it comes from
    /// is taken at its word: that is how one person is written by hand.
    pub(super) fn new(policy: &Policy, table: &'t Table, numbered: bool) -> Result<Self, DataError> {
        let mut view = View { table, derived: Vec::new(), numbered };
        for derived in &policy.derived {
            let sources = match &derived.rule {
                DerivedRule::DaysBetween(from, to) => vec![from, to],
                DerivedRule::Contains(column, _) | DerivedRule::Equals(column, _) => vec![column],
            };
            let given = table.column(&derived.name).is_some();
            if given && sources.iter().all(|source| view.find(source).is_none()) {
                continue;
            }
            if given {
                let message = "the table has this column already; give the derived column another name".to_owned();
                return Err(DataError::Column { column: derived.name.clone(), message });
            }
            let column = view.derive(derived)?;
            view.derived.push(column);
        }
        Ok(view)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Column> {
        self.derived.iter().find(|column| column.name() == name).or_else(|| self.table.column(name))
    }

    /// The column, or a fault that suggests the nearest.
    pub(super) fn column(&self, name: &str, role: &str) -> Result<&Column, DataError> {
        self.find(name).ok_or_else(|| {
            let columns: Vec<String> =
                self.table.columns().iter().chain(&self.derived).map(|column| column.name().to_owned()).collect();
            let near = nearest(name, columns.iter().map(String::as_str)).map(str::to_owned);
            DataError::NoColumn { column: name.to_owned(), role: role.to_owned(), near, columns }
        })
    }

    /// The place of a cell; `row` counts from 0.
    pub(super) fn place(&self, row: usize, column: &str) -> Place {
        Place { row: self.numbered.then_some(row + 1), column: column.to_owned() }
    }

    fn derive(&self, derived: &Derived) -> Result<Column, DataError> {
        let role = format!("the derived column `{}` needs it", derived.name);
        match &derived.rule {
            DerivedRule::DaysBetween(from, to) => {
                self.days_between(&derived.name, self.column(from, &role)?, self.column(to, &role)?)
            }
            DerivedRule::Contains(column, part) => {
                Ok(flags(&derived.name, self.column(column, &role)?, |text| text.contains(part.as_str())))
            }
            DerivedRule::Equals(column, values) => Ok(flags(&derived.name, self.column(column, &role)?, |text| {
                values.iter().any(|value| same(text, value))
            })),
        }
    }

    fn days_between(&self, name: &str, from: &Column, to: &Column) -> Result<Column, DataError> {
        let (from_seconds, to_seconds) = (self.seconds(from)?, self.seconds(to)?);
        let mut days = Vec::with_capacity(self.table.rows());
        let mut missing = Missing::none();
        for row in 0..self.table.rows() {
            match (from_seconds(row), to_seconds(row)) {
                (Some(from), Some(to)) => days.push((to - from).div_euclid(86_400)),
                _ => {
                    missing.insert(row);
                    days.push(0);
                }
            }
        }
        Ok(Column::new(name, Values::Integer(days), missing))
    }

    /// The dates of a column as seconds; every date is checked, each distinct one once.
    fn seconds<'c>(&self, column: &'c Column) -> Result<impl Fn(usize) -> Option<i64> + 'c, DataError> {
        let text = coded(column);
        let dates: Vec<Option<i64>> = text.dictionary.iter().map(|date| seconds(date)).collect();
        for row in 0..text.codes.len() {
            let code = text.codes[row] as usize;
            if !column.is_missing(row) && dates[code].is_none() {
                return Err(DataError::Cell {
                    place: self.place(row, column.name()),
                    value: text.dictionary[code].clone(),
                    allowed: "a date such as 2013-08-14 or 2013-08-14 05:41:20".to_owned(),
                });
            }
        }
        Ok(move |row: usize| if column.is_missing(row) { None } else { dates[text.codes[row] as usize] })
    }
}

/// A true/false column from a test of each distinct value; what is missing stays missing.
fn flags(name: &str, column: &Column, test: impl Fn(&str) -> bool) -> Column {
    let text = coded(column);
    let verdicts: Vec<bool> = text.dictionary.iter().map(|value| test(value)).collect();
    let flags = text.codes.iter().map(|&code| verdicts.get(code as usize).copied().unwrap_or(false)).collect();
    let missing = match column.values() {
        Values::Missing(rows) => {
            let mut all = Missing::none();
            (0..*rows).for_each(|row| all.insert(row));
            all
        }
        _ => column.missing().clone(),
    };
    Column::new(name, Values::Boolean(flags), missing)
}

/// Any column as dictionary-coded text. Codes of missing rows mean nothing, but lie within the dictionary unless that
/// is empty.
pub(crate) fn coded(column: &Column) -> Cow<'_, Text> {
    match column.values() {
        Values::Text(text) => Cow::Borrowed(text),
        Values::Boolean(values) => {
            let dictionary = vec!["false".to_owned(), "true".to_owned()];
            Cow::Owned(Text { codes: values.iter().map(|&value| u32::from(value)).collect(), dictionary })
        }
        Values::Integer(values) => Cow::Owned(code(values, |value| *value as u64, ToString::to_string)),
        Values::Number(values) => {
            Cow::Owned(code(values, |value| (value + 0.0).to_bits(), |value| (value + 0.0).to_string()))
        }
        Values::Missing(rows) => Cow::Owned(Text { codes: vec![0; *rows], dictionary: Vec::new() }),
    }
}

fn code<T>(values: &[T], key: impl Fn(&T) -> u64, show: impl Fn(&T) -> String) -> Text {
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut dictionary = Vec::new();
    let codes = values
        .iter()
        .map(|value| {
            *known.entry(key(value)).or_insert_with(|| {
                dictionary.push(show(value));
                (dictionary.len() - 1) as u32
            })
        })
        .collect();
    Text { codes, dictionary }
}

/// Seconds from 1970-01-01 to `YYYY-MM-DD`, with or without a time.
fn seconds(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (whole(parts.next()?, 4)?, whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let mut clock = time.trim().splitn(3, ':');
    let (hour, minute) = (whole(clock.next()?, 2)?, whole(clock.next()?, 2)?);
    let second = match clock.next() {
        None => 0,
        Some(second) => whole(second.split('.').next()?, 2)?,
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Exactly `digits` digits.
fn whole(text: &str, digits: usize) -> Option<i64> {
    if text.len() != digits || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Days from 1970-01-01 in the Gregorian calendar: March begins the counted year, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
