//! Delimited text to tables.
//!
//! The file is cut into blocks of whole records; all cores turn blocks into typed parts of columns; the parts are
//! joined in order. Types are decided by the whole file: a column is the least general of integer, number, boolean
//! and text that every value fits. When a value late in the file makes a column text, the earlier values are read
//! again, so that text is always spelt as in the file.

pub(crate) mod blocks;
mod build;
pub(crate) mod layout;
mod parse;
mod scan;
mod value;

use std::io::Read;

use redress::policy::Layout;
use redress::table::{ColumnType, Table};

use self::blocks::{BLOCK_BYTES, Blocks, Plan};
use self::build::Builder;
use self::layout::Settled;
use self::parse::Expected;
use crate::error::ReadReason;
use crate::source::{Bytes, read_error};

/// A text file with its layout settled.
pub(crate) struct TextFile {
    bytes: Bytes,
    layout: Settled,
    missing: Vec<String>,
    block_bytes: usize,
}

impl TextFile {
    pub(crate) fn open(bytes: Bytes, layout: &Layout, missing: &[String]) -> Result<Self, ReadReason> {
        let layout = Settled::detect(&bytes, layout)?;
        Ok(TextFile { bytes, layout, missing: missing.to_vec(), block_bytes: BLOCK_BYTES })
    }

    /// The column names.
    pub(crate) fn names(&self) -> &[String] {
        &self.layout.names
    }

    /// Reads the whole file.
    pub(crate) fn read(&self) -> Result<Table, ReadReason> {
        let mut builders: Vec<Builder> = self.names().iter().map(|_| Builder::new()).collect();
        self.infer(
            |builder, part, rows| {
                builder.append(part);
                rows.into_iter().for_each(|rows| builder.expect_rows(rows));
            },
            &mut builders,
        )?;
        self.read_lost(&mut builders)?;
        let columns = builders.into_iter().zip(self.names()).map(|(builder, name)| builder.finish(name)).collect();
        Ok(Table::new(columns)?)
    }

    /// The type of every column, decided by the whole file in constant memory.
    pub(crate) fn types(&self) -> Result<Vec<ColumnType>, ReadReason> {
        let mut kinds: Vec<Builder> = self.names().iter().map(|_| Builder::new()).collect();
        self.infer(|kind, part, _| kind.join_type(&part), &mut kinds)?;
        Ok(kinds.iter().map(Builder::column_type).collect())
    }

    /// Hands out tables of at least `rows` rows (the last may be shorter), whose columns have the given types, until
    /// `take` returns `false`.
    pub(crate) fn stream(
        &self,
        types: &[ColumnType],
        rows: usize,
        mut take: impl FnMut(Table) -> bool,
    ) -> Result<(), ReadReason> {
        let expected: Vec<Expected> = types.iter().map(|&kind| Expected::Exactly(kind)).collect();
        let fresh = || types.iter().map(|&kind| Builder::of(kind)).collect::<Vec<_>>();
        let finish = |builders: Vec<Builder>| {
            Table::new(builders.into_iter().zip(self.names()).map(|(builder, name)| builder.finish(name)).collect())
        };
        let (mut builders, mut held, mut go_on, mut failed) = (fresh(), 0, true, None);
        self.run(&expected, |block| {
            held += block.rows;
            for (builder, part) in builders.iter_mut().zip(block.parts) {
                part.into_iter().for_each(|part| builder.append(part));
            }
            if held >= rows {
                held = 0;
                match finish(std::mem::replace(&mut builders, fresh())) {
                    Ok(table) => go_on = take(table),
                    Err(error) => failed = Some(error),
                }
            }
            go_on && failed.is_none()
        })?;
        match failed {
            Some(error) => return Err(error.into()),
            None if go_on && held > 0 => {
                take(finish(builders)?);
            }
            None => {}
        }
        Ok(())
    }

    /// Reads every column with its type left open and hands the parts to `accept`, the first ones with the number of
    /// rows that the file is likely to have.
    fn infer(
        &self,
        accept: impl Fn(&mut Builder, parse::Part, Option<usize>),
        builders: &mut [Builder],
    ) -> Result<(), ReadReason> {
        let expected: Vec<Expected> = builders.iter().map(|_| Expected::unknown()).collect();
        let mut rows = 0;
        self.run(&expected, |block| {
            let likely = if rows == 0 { self.likely_rows(&block) } else { None };
            rows += block.rows;
            for ((builder, part), known) in builders.iter_mut().zip(block.parts).zip(&expected) {
                if let Some(part) = part {
                    accept(builder, part, likely);
                    known.raise(builder.column_type());
                }
            }
            true
        })?;
        if rows == 0 { Err(ReadReason::HeaderOnly) } else { Ok(()) }
    }

    /// The rows that the file has if it goes on like `block`, and a few more.
    fn likely_rows(&self, block: &parse::ParsedBlock) -> Option<usize> {
        let blocks = self.bytes.length()? as f64 / block.bytes.max(1) as f64;
        (blocks > 1.0).then_some((block.rows as f64 * blocks * 1.02) as usize)
    }

    /// Reads columns again that turned out to be text after their first values were taken for something else.
    fn read_lost(&self, builders: &mut [Builder]) -> Result<(), ReadReason> {
        if !builders.iter().any(Builder::spelling_lost) {
            return Ok(());
        }
        let again = |builder: &Builder| match builder.spelling_lost() {
            true => Expected::Exactly(ColumnType::Text),
            false => Expected::Skip,
        };
        let expected: Vec<Expected> = builders.iter().map(again).collect();
        for builder in builders.iter_mut().filter(|builder| builder.spelling_lost()) {
            *builder = Builder::of(ColumnType::Text);
        }
        self.run(&expected, |block| {
            for (builder, part) in builders.iter_mut().zip(block.parts) {
                part.into_iter().for_each(|part| builder.append(part));
            }
            true
        })
    }

    fn run(&self, expected: &[Expected], take: impl FnMut(parse::ParsedBlock) -> bool) -> Result<(), ReadReason> {
        let mut reader = self.bytes.open()?;
        std::io::copy(&mut (&mut reader).take(self.layout.skip), &mut std::io::sink()).map_err(read_error)?;
        let mut blocks = Blocks::new(reader, self.layout.delimiter, self.block_bytes);
        let plan = Plan {
            delimiter: self.layout.delimiter,
            expected,
            names: self.names(),
            missing: &self.missing,
            lines_before: self.layout.lines,
        };
        plan.run(&mut blocks, take)
    }
}

#[cfg(test)]
mod tests;
