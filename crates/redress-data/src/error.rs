//! Why a table could not be read or written.

use std::path::PathBuf;

use redress::table::{ColumnType, TableError};

/// Why a file did not become a table. Its message names the file first.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub reason: ReadReason,
}

/// What is wrong with a file that should be a table. Lines count from 1 and include the header.
#[derive(Debug, thiserror::Error)]
pub enum ReadReason {
    /// There is nothing at the path.
    #[error("no such file")]
    NotFound,
    /// The path is a directory.
    #[error("is a directory; a CSV or Parquet file was expected")]
    Directory,
    /// The system refused.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// There is no text in it.
    #[error("is empty; a table with at least one row was expected")]
    Empty,
    /// There are column names and nothing else.
    #[error("has a header but no rows; a table with at least one row was expected")]
    HeaderOnly,
    /// A record has another number of fields than the first.
    #[error("line {line} has {found} fields; {expected} were expected, as in the first line")]
    Ragged {
        /// The line on which the record begins.
        line: usize,
        /// The fields of the first record.
        expected: usize,
        /// The fields of this one.
        found: usize,
    },
    /// The policy names another number of columns than the file has.
    #[error("has {found} columns; the layout names {expected}")]
    ColumnCount {
        /// The names given.
        expected: usize,
        /// The fields of the first record.
        found: usize,
    },
    /// The text is not UTF-8.
    #[error("line {line} is not UTF-8 text (byte 0x{byte:02x} at column {column}); save the file as UTF-8")]
    NotUtf8 {
        /// The line.
        line: usize,
        /// The byte's place in the line, from 1.
        column: usize,
        /// The first byte that is not UTF-8.
        byte: u8,
    },
    /// A quoted field does not end.
    #[error("line {line}: a quoted field begins here and never ends")]
    UnclosedQuote {
        /// The line on which it begins.
        line: usize,
    },
    /// A record of more than 2 GiB.
    #[error("holds a record longer than 2 GiB; a quoted field is probably not closed")]
    RecordTooLong,
    /// A quoted field goes on after its closing quote.
    #[error("line {line}: text after a closing quote; write a quote inside quotes twice (\"\")")]
    AfterQuote {
        /// The line.
        line: usize,
    },
    /// A field separator that cannot be one.
    #[error(
        "`{0}` cannot separate fields; use a comma, a semicolon, a tab, a space or another ASCII character that is not a quote"
    )]
    Delimiter(char),
    /// A value does not fit the type that the column was said to have.
    #[error("row {row}, column `{column}`: `{value}` is not {}", described(*.expected))]
    Value {
        /// The row, counting data rows from 1.
        row: usize,
        /// The column.
        column: String,
        /// The text found.
        value: String,
        /// The type expected.
        expected: ColumnType,
    },
    /// The columns are not those of the schema given.
    #[error("the columns are {found:?}; {expected:?} were expected")]
    Columns {
        /// The names expected.
        expected: Vec<String>,
        /// The names found.
        found: Vec<String>,
    },
    /// The compressed stream is damaged or cut short.
    #[error("cannot be unpacked as gzip: {0}; the file is damaged or cut short")]
    Gzip(String),
    /// A Parquet file is damaged or cut short.
    #[error("cannot be read as Parquet: {0}; the file is damaged or cut short")]
    Parquet(String),
    /// A column holds something that is not a number, a boolean or text.
    #[error("column `{column}` holds {found}; numbers, booleans, text, dates and times can be read")]
    ColumnKind {
        /// The column.
        column: String,
        /// Its type in the file.
        found: String,
    },
    /// The columns do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Why a table was not written. Nothing is left at the path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What went wrong.
    #[source]
    pub reason: WriteReason,
}

/// What went wrong while writing.
#[derive(Debug, thiserror::Error)]
pub enum WriteReason {
    /// The system refused.
    #[error("cannot be written: {0}")]
    Io(std::io::Error),
    /// The Parquet writer refused.
    #[error("cannot be written as Parquet: {0}")]
    Parquet(String),
    /// A later table has other columns than the first.
    #[error("the next rows have columns {found}; the file has {expected}")]
    Columns {
        /// The first table's columns.
        expected: String,
        /// This table's columns.
        found: String,
    },
}

impl ReadReason {
    /// The error for the file at `path`.
    pub(crate) fn at(self, path: impl Into<PathBuf>) -> ReadError {
        ReadError { path: path.into(), reason: self }
    }

    /// The same with its line counted from `lines` lines earlier.
    pub(crate) fn after_lines(mut self, lines: usize) -> ReadReason {
        match &mut self {
            ReadReason::Ragged { line, .. }
            | ReadReason::NotUtf8 { line, .. }
            | ReadReason::UnclosedQuote { line }
            | ReadReason::AfterQuote { line } => *line += lines,
            _ => {}
        }
        self
    }
}

impl WriteReason {
    /// The error for the file at `path`.
    pub(crate) fn at(self, path: impl Into<PathBuf>) -> WriteError {
        WriteError { path: path.into(), reason: self }
    }
}

fn described(expected: ColumnType) -> &'static str {
    match expected {
        ColumnType::Number => "a number",
        ColumnType::Integer => "a whole number",
        ColumnType::Boolean => "true or false",
        ColumnType::Text => "text",
        ColumnType::Missing => "missing, as in every other row",
    }
}
