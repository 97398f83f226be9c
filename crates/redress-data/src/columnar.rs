//! Parquet to tables, whole or batch by batch.

use std::fs::File;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use redress::table::{ColumnType, Table};

use crate::error::ReadReason;
use crate::interchange::{column_type, from_record_batch};
use crate::source::read_error;

/// A Parquet file whose footer has been read.
pub(crate) struct ParquetFile {
    builder: ParquetRecordBatchReaderBuilder<File>,
    names: Vec<String>,
    types: Vec<ColumnType>,
}

impl ParquetFile {
    pub(crate) fn open(path: &Path) -> Result<Self, ReadReason> {
        let file = File::open(path).map_err(read_error)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
        if builder.metadata().file_metadata().num_rows() == 0 {
            return Err(ReadReason::HeaderOnly);
        }
        let names = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        let types = builder.schema().fields().iter().map(|field| column_type(field)).collect::<Result<_, _>>()?;
        Ok(ParquetFile { builder, names, types })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn types(&self) -> &[ColumnType] {
        &self.types
    }

    /// Reads the whole file.
    pub(crate) fn read(self, missing_values: &[String]) -> Result<Table, ReadReason> {
        let schema = self.builder.schema().clone();
        let batches = self.batches(1 << 16)?.collect::<Result<Vec<RecordBatch>, _>>().map_err(damaged)?;
        let batch = concat_batches(&schema, &batches).map_err(damaged)?;
        drop(batches);
        from_record_batch(&batch, missing_values)
    }

    /// Hands out tables of `rows` rows (the last may be shorter) until `take` returns `false`.
    pub(crate) fn stream(
        self,
        missing_values: &[String],
        rows: usize,
        mut take: impl FnMut(Table) -> bool,
    ) -> Result<(), ReadReason> {
        for batch in self.batches(rows)? {
            if !take(from_record_batch(&batch.map_err(damaged)?, missing_values)?) {
                break;
            }
        }
        Ok(())
    }

    fn batches(self, rows: usize) -> Result<ParquetRecordBatchReader, ReadReason> {
        self.builder.with_batch_size(rows).build().map_err(damaged)
    }
}

fn damaged(error: impl std::fmt::Display) -> ReadReason {
    ReadReason::Parquet(error.to_string())
}
