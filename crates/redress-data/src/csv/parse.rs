//! One block of text to typed parts of columns.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU8, Ordering};

use hashbrown::{DefaultHashBuilder, HashTable};
use redress::table::ColumnType;

use super::scan::{Records, Span};
use super::value;
use crate::error::ReadReason;

/// What a block says about one column.
pub(crate) struct Part {
    pub(crate) values: PartValues,
    /// The rows without a value, counted from the block's first, in order.
    pub(crate) missing: Vec<u32>,
}

/// The values of a part; a missing row holds a zero or the code 0.
pub(crate) enum PartValues {
    Number(Vec<f64>),
    Integer(Vec<i64>),
    Boolean(Vec<bool>),
    Text(PartText),
    Missing(usize),
}

/// Dictionary-coded text whose dictionary is one string: blocks have many, and short-lived ones.
#[derive(Default)]
pub(crate) struct PartText {
    pub(crate) codes: Vec<u32>,
    letters: String,
    ends: Vec<usize>,
}

impl PartText {
    /// The distinct values in order of first appearance.
    pub(crate) fn dictionary(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|code| self.entry(code))
    }

    fn entry(&self, code: usize) -> &str {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.letters[start..self.ends[code]]
    }
}

/// What is known about the type of a column before a block is read.
pub(crate) enum Expected {
    /// The least general type that fits what was read so far; it only grows, and only speeds reading up: the join of
    /// all blocks' types is the same whatever a block was told.
    AtLeast(AtomicU8),
    /// The type that every value must have.
    Exactly(ColumnType),
    /// The column is not wanted.
    Skip,
}

impl Expected {
    /// Nothing is known yet.
    pub(crate) fn unknown() -> Self {
        Expected::AtLeast(AtomicU8::new(rank(ColumnType::Missing)))
    }

    /// Tells blocks read from now on that the column is at least of this type.
    pub(crate) fn raise(&self, seen: ColumnType) {
        if let Expected::AtLeast(known) = self {
            known.store(rank(seen), Ordering::Relaxed);
        }
    }
}

fn rank(kind: ColumnType) -> u8 {
    match kind {
        ColumnType::Missing => 0,
        ColumnType::Integer => 1,
        ColumnType::Number => 2,
        ColumnType::Boolean => 3,
        ColumnType::Text => 4,
    }
}

/// The columns of a block, as far as they are wanted.
pub(crate) struct ParsedBlock {
    /// One a column; `None` where the column is not wanted.
    pub(crate) parts: Vec<Option<Part>>,
    pub(crate) rows: usize,
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// A value in a block that does not have the type its column must have.
pub(crate) struct Misfit {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: String,
    pub(crate) expected: ColumnType,
}

/// Why a block could not be read; rows and lines count within the block.
pub(crate) enum BlockError {
    Reason(ReadReason),
    Misfit(Misfit),
}

/// Reads every wanted column of `records`.
pub(crate) fn columns(
    block: &str,
    records: &Records,
    expected: &[Expected],
    missing: &[String],
) -> Result<ParsedBlock, BlockError> {
    let cells = |column| Cells { block, spans: &records.spans, width: expected.len(), column, missing };
    let parts = expected
        .iter()
        .enumerate()
        .map(|(column, known)| match known {
            Expected::Skip => Ok(None),
            Expected::AtLeast(known) => Ok(Some(cells(column).infer(known.load(Ordering::Relaxed)))),
            Expected::Exactly(kind) => cells(column).exactly(*kind).map(Some),
        })
        .collect::<Result<_, _>>()
        .map_err(BlockError::Misfit)?;
    Ok(ParsedBlock { parts, rows: records.rows, lines: records.lines, bytes: block.len() })
}

/// The cells of one column of a block.
struct Cells<'a> {
    block: &'a str,
    spans: &'a [Span],
    width: usize,
    column: usize,
    missing: &'a [String],
}

impl<'a> Cells<'a> {
    fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Span, &'a str)> {
        let block = self.block;
        let spans = self.spans.get(self.column..).unwrap_or_default();
        spans.iter().step_by(self.width).map(move |span| (span, span.raw(block)))
    }

    fn is_missing(&self, text: &str) -> bool {
        text.is_empty() || self.missing.iter().any(|missing| missing == text)
    }

    /// The least general type at or above `known` that every cell fits.
    fn infer(&self, known: u8) -> Part {
        if known <= rank(ColumnType::Integer) {
            match self.read(value::integer) {
                Ok((values, missing)) if missing.len() == values.len() => {
                    return Part { values: PartValues::Missing(values.len()), missing: Vec::new() };
                }
                Ok((values, missing)) => return Part { values: PartValues::Integer(values), missing },
                Err(_) => {}
            }
        }
        if known <= rank(ColumnType::Number)
            && let Ok((values, missing)) = self.read(value::number)
        {
            return Part { values: PartValues::Number(values), missing };
        }
        // A column of numbers that meets a boolean is text: there is no number that `true` is.
        let numeric = known == rank(ColumnType::Integer) || known == rank(ColumnType::Number);
        if !numeric
            && known <= rank(ColumnType::Boolean)
            && let Ok((values, missing)) = self.read(value::boolean)
        {
            return Part { values: PartValues::Boolean(values), missing };
        }
        self.text()
    }

    /// Every cell as a value of type `kind`.
    fn exactly(&self, kind: ColumnType) -> Result<Part, Misfit> {
        let misfit =
            |(row, value): (usize, &str)| Misfit { row, column: self.column, value: value.to_owned(), expected: kind };
        Ok(match kind {
            ColumnType::Number => {
                let (values, missing) = self.read(value::number).map_err(misfit)?;
                Part { values: PartValues::Number(values), missing }
            }
            ColumnType::Integer => {
                let (values, missing) = self.read(value::integer).map_err(misfit)?;
                Part { values: PartValues::Integer(values), missing }
            }
            ColumnType::Boolean => {
                let (values, missing) = self.read(value::boolean).map_err(misfit)?;
                Part { values: PartValues::Boolean(values), missing }
            }
            ColumnType::Missing => {
                let (values, _) = self.read(|_| None::<bool>).map_err(misfit)?;
                Part { values: PartValues::Missing(values.len()), missing: Vec::new() }
            }
            ColumnType::Text => self.text(),
        })
    }

    /// Every cell through `convert`, or the first row and text it does not take.
    #[allow(clippy::type_complexity)]
    fn read<T: Default>(&self, convert: impl Fn(&str) -> Option<T>) -> Result<(Vec<T>, Vec<u32>), (usize, &'a str)> {
        let cells = self.iter();
        let mut values = Vec::with_capacity(cells.len());
        let mut missing = Vec::new();
        for (row, (_, text)) in cells.enumerate() {
            if self.is_missing(text) {
                missing.push(row as u32);
                values.push(T::default());
            } else {
                values.push(convert(text).ok_or((row, text))?);
            }
        }
        Ok((values, missing))
    }

    fn text(&self) -> Part {
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::<u32>::new();
        let mut text = PartText::default();
        let mut missing = Vec::new();
        let cells = self.iter();
        text.codes.reserve_exact(cells.len());
        for (row, (span, raw)) in cells.enumerate() {
            if self.is_missing(raw) {
                missing.push(row as u32);
                text.codes.push(0);
                continue;
            }
            let value = span.value(self.block);
            let hash = hasher.hash_one(value.as_bytes());
            let code = match table.find(hash, |&code| text.entry(code as usize) == value) {
                Some(&code) => code,
                None => {
                    let code = text.ends.len() as u32;
                    text.letters.push_str(&value);
                    text.ends.push(text.letters.len());
                    table.insert_unique(hash, code, |&code| hasher.hash_one(text.entry(code as usize).as_bytes()));
                    code
                }
            };
            text.codes.push(code);
        }
        Part { values: PartValues::Text(text), missing }
    }
}
