//! Parts of a column, block after block, to one column.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use redress::table::{Column, ColumnType, Missing, Text, Values};

use super::parse::{Part, PartText, PartValues};

/// A column that grows.
pub(crate) struct Builder {
    values: Values,
    missing: Missing,
    words: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The column turned out to be text after values were read as something else, whose spelling is gone: it has to be
    /// read again.
    spelling_lost: bool,
}

impl Builder {
    /// A column without rows whose type is not known.
    pub(crate) fn new() -> Self {
        Self::of(ColumnType::Missing)
    }

    /// A column without rows of this type.
    pub(crate) fn of(kind: ColumnType) -> Self {
        let values = match kind {
            ColumnType::Number => Values::Number(Vec::new()),
            ColumnType::Integer => Values::Integer(Vec::new()),
            ColumnType::Boolean => Values::Boolean(Vec::new()),
            ColumnType::Text => Values::Text(Text::default()),
            ColumnType::Missing => Values::Missing(0),
        };
        Builder {
            values,
            missing: Missing::none(),
            words: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            spelling_lost: false,
        }
    }

    /// The rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.values.len()
    }

    /// The type so far.
    pub(crate) fn column_type(&self) -> ColumnType {
        if self.spelling_lost { ColumnType::Text } else { self.values.column_type() }
    }

    /// Whether the column must be read again as text.
    pub(crate) fn spelling_lost(&self) -> bool {
        self.spelling_lost
    }

    /// Makes room for so many rows at once: a column that grows bit by bit leaves half of the memory it went through
    /// behind.
    pub(crate) fn expect_rows(&mut self, rows: usize) {
        let more = rows.saturating_sub(self.rows());
        // A guess that is far too high may be refused; the column then grows bit by bit after all.
        let _ = match &mut self.values {
            Values::Number(all) => all.try_reserve_exact(more),
            Values::Integer(all) => all.try_reserve_exact(more),
            Values::Boolean(all) => all.try_reserve_exact(more),
            Values::Text(text) => text.codes.try_reserve_exact(more),
            Values::Missing(_) => Ok(()),
        };
    }

    /// Appends a part. A part of a more general type makes the column so: whole numbers and numbers are numbers, any
    /// other two types are text.
    pub(crate) fn append(&mut self, part: Part) {
        let before = self.rows();
        if self.spelling_lost {
            return;
        }
        for row in &part.missing {
            self.missing.insert(before + *row as usize);
        }
        self.make_room_for(&part.values);
        if self.spelling_lost {
            return;
        }
        match (&mut self.values, part.values) {
            (Values::Number(all), PartValues::Number(more)) => all.extend(more),
            (Values::Number(all), PartValues::Integer(more)) => all.extend(more.into_iter().map(|value| value as f64)),
            (Values::Integer(all), PartValues::Integer(more)) => all.extend(more),
            (Values::Boolean(all), PartValues::Boolean(more)) => all.extend(more),
            (Values::Text(all), PartValues::Text(more)) => {
                append_text(all, more, &mut self.words, &self.hasher);
                // A missing row holds the code 0 whatever the part's first word became, so that equal files make equal
                // tables.
                part.missing.iter().for_each(|row| all.codes[before + *row as usize] = 0);
            }
            (_, PartValues::Missing(rows)) => self.append_missing(before, rows),
            // `make_room_for` has joined the types.
            _ => self.spelling_lost = true,
        }
    }

    /// Takes over a part's type and none of its values.
    pub(crate) fn join_type(&mut self, part: &Part) {
        if !self.spelling_lost {
            self.make_room_for(&part.values);
        }
    }

    /// Widens the column to the join of its type and the part's.
    fn make_room_for(&mut self, part: &PartValues) {
        let kind = match part {
            PartValues::Number(_) => ColumnType::Number,
            PartValues::Integer(_) => ColumnType::Integer,
            PartValues::Boolean(_) => ColumnType::Boolean,
            PartValues::Text(_) => ColumnType::Text,
            PartValues::Missing(_) => return,
        };
        match (&mut self.values, kind) {
            (Values::Missing(rows), kind) => {
                let rows = *rows;
                let missing = std::mem::take(&mut self.missing);
                *self = Builder { missing, ..Self::of(kind) };
                self.append_missing(0, rows);
            }
            (Values::Integer(all), ColumnType::Number) => {
                self.values = Values::Number(all.iter().map(|&value| value as f64).collect());
            }
            (values, kind) => {
                let fits = values.column_type() == kind
                    || (values.column_type() == ColumnType::Number && kind == ColumnType::Integer);
                if !fits {
                    self.spelling_lost = true;
                    self.values = Values::Missing(0);
                    self.missing = Missing::none();
                }
            }
        }
    }

    fn append_missing(&mut self, before: usize, rows: usize) {
        let total = before + rows;
        match &mut self.values {
            Values::Number(all) => all.resize(total, 0.0),
            Values::Integer(all) => all.resize(total, 0),
            Values::Boolean(all) => all.resize(total, false),
            Values::Text(text) => text.codes.resize(total, 0),
            Values::Missing(all) => {
                *all = total;
                return;
            }
        }
        (before..total).for_each(|row| self.missing.insert(row));
    }

    /// The column, under its name.
    pub(crate) fn finish(mut self, name: &str) -> Column {
        match &mut self.values {
            Values::Number(all) => all.shrink_to_fit(),
            Values::Integer(all) => all.shrink_to_fit(),
            Values::Boolean(all) => all.shrink_to_fit(),
            Values::Text(text) => text.codes.shrink_to_fit(),
            Values::Missing(_) => {}
        }
        Column::new(name, self.values, self.missing)
    }
}

fn append_text(all: &mut Text, more: PartText, words: &mut HashTable<u32>, hasher: &DefaultHashBuilder) {
    let codes: Vec<u32> = more
        .dictionary()
        .map(|word| {
            let hash = hasher.hash_one(word.as_bytes());
            match words.find(hash, |&code| all.dictionary[code as usize] == word) {
                Some(&code) => code,
                None => {
                    let code = all.dictionary.len() as u32;
                    all.dictionary.push(word.to_owned());
                    words.insert_unique(hash, code, |&code| hasher.hash_one(all.dictionary[code as usize].as_bytes()));
                    code
                }
            }
        })
        .collect();
    // A part without any words has the code 0 in all of its rows.
    all.codes.extend(more.codes.into_iter().map(|code| codes.get(code as usize).copied().unwrap_or(0)));
}
