//! Tables to files, piece by piece, all or nothing.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as ParquetCompression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use redress::table::{Column, ColumnType, Table, Values};
use tempfile::NamedTempFile;

use crate::error::{WriteError, WriteReason};
use crate::interchange::to_record_batch;

/// Writes tables of equal columns, one after the other, into one file, in the order in which they come.
///
/// The name decides the format: `.parquet` is Parquet, `.tsv` text with tabs, anything else text with commas; `.gz`
/// after it packs text. Rows go to a temporary file beside the target; [`finish`](TableWriter::finish) puts it in
/// place in one step, so that the target is whole or not there. A writer that is dropped leaves nothing behind.
pub struct TableWriter {
    path: PathBuf,
    /// The first table's columns; later tables must have the same.
    columns: Option<Vec<(String, ColumnType)>>,
    sink: Sink,
}

enum Sink {
    Text {
        out: TextSink,
        delimiter: u8,
    },
    /// Opened by the first table, which brings the schema.
    ParquetToBe(NamedTempFile),
    Parquet(Box<ArrowWriter<NamedTempFile>>),
    /// Writing failed before.
    Failed,
}

enum TextSink {
    Plain(BufWriter<NamedTempFile>),
    Packed(BufWriter<Box<GzEncoder<NamedTempFile>>>),
}

impl TableWriter {
    /// Begins a file. Fails at once if its folder cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<TableWriter, WriteError> {
        let path = path.as_ref().to_owned();
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let file =
            NamedTempFile::with_prefix_in(".redress-", folder).map_err(|error| WriteReason::Io(error).at(&path))?;
        let name = path.to_string_lossy().to_lowercase();
        let (stem, packed) = match name.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (name.as_str(), false),
        };
        let sink = if name.ends_with(".parquet") {
            Sink::ParquetToBe(file)
        } else {
            let delimiter = if stem.ends_with(".tsv") { b'\t' } else { b',' };
            let out = match packed {
                true => TextSink::Packed(BufWriter::new(Box::new(GzEncoder::new(file, Compression::default())))),
                false => TextSink::Plain(BufWriter::new(file)),
            };
            Sink::Text { out, delimiter }
        };
        Ok(TableWriter { path, columns: None, sink })
    }

    /// Appends the rows of `table`.
    pub fn write(&mut self, table: &Table) -> Result<(), WriteError> {
        self.append(table).map_err(|reason| reason.at(&self.path))
    }

    /// Puts the file in place.
    pub fn finish(self) -> Result<(), WriteError> {
        let TableWriter { path, sink, .. } = self;
        finish(sink, &path).map_err(|reason| reason.at(&path))
    }

    fn append(&mut self, table: &Table) -> Result<(), WriteReason> {
        let columns: Vec<_> =
            table.columns().iter().map(|column| (column.name().to_owned(), column.column_type())).collect();
        let first = self.columns.is_none();
        match &self.columns {
            Some(expected) if *expected != columns => {
                return Err(WriteReason::Columns { expected: described(expected), found: described(&columns) });
            }
            Some(_) => {}
            None => self.columns = Some(columns),
        }
        match &mut self.sink {
            Sink::Text { out, delimiter } => write_text(out, *delimiter, table, first).map_err(WriteReason::Io),
            sink => {
                let batch = to_record_batch(table).map_err(parquet_refused)?;
                if let Sink::ParquetToBe(_) = sink {
                    let Sink::ParquetToBe(file) = std::mem::replace(sink, Sink::Failed) else { return Ok(()) };
                    let level = ParquetCompression::ZSTD(ZstdLevel::default());
                    let properties = WriterProperties::builder().set_compression(level).build();
                    let writer =
                        ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(parquet_refused)?;
                    *sink = Sink::Parquet(Box::new(writer));
                }
                match sink {
                    Sink::Parquet(writer) => writer.write(&batch).map_err(parquet_refused),
                    _ => Err(already_failed()),
                }
            }
        }
    }
}

fn finish(sink: Sink, path: &Path) -> Result<(), WriteReason> {
    let unbuffered = |error: io::Error| WriteReason::Io(error);
    let file = match sink {
        Sink::Text { out: TextSink::Plain(out), .. } => {
            out.into_inner().map_err(|error| unbuffered(error.into_error()))?
        }
        Sink::Text { out: TextSink::Packed(out), .. } => {
            let encoder = out.into_inner().map_err(|error| unbuffered(error.into_error()))?;
            encoder.finish().map_err(unbuffered)?
        }
        Sink::Parquet(writer) => writer.into_inner().map_err(parquet_refused)?,
        Sink::ParquetToBe(_) => return Err(WriteReason::Parquet("no table was written".to_owned())),
        Sink::Failed => return Err(already_failed()),
    };
    place(file, path).map_err(unbuffered)
}

/// Makes the temporary file the file at `path`, on the disk before it has the name.
pub(crate) fn place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    set_usual_permissions(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    // The name lasts through a power cut only once the folder is on the disk; not every system can do that.
    #[cfg(unix)]
    if let Some(folder) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Temporary files are private to their owner; a table is an ordinary file.
fn set_usual_permissions(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

fn write_text(out: &mut TextSink, delimiter: u8, table: &Table, header: bool) -> io::Result<()> {
    match out {
        TextSink::Plain(out) => write_rows(out, delimiter, table, header),
        TextSink::Packed(out) => write_rows(out, delimiter, table, header),
    }
}

fn write_rows(out: &mut impl Write, delimiter: u8, table: &Table, header: bool) -> io::Result<()> {
    if header {
        for (index, column) in table.columns().iter().enumerate() {
            separate(out, delimiter, index)?;
            write_quoted(out, delimiter, column.name())?;
        }
        out.write_all(b"\n")?;
    }
    let single = table.columns().len() == 1;
    for row in 0..table.rows() {
        for (index, column) in table.columns().iter().enumerate() {
            separate(out, delimiter, index)?;
            write_cell(out, delimiter, column, row, single)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn separate(out: &mut impl Write, delimiter: u8, index: usize) -> io::Result<()> {
    if index == 0 { Ok(()) } else { out.write_all(&[delimiter]) }
}

fn write_cell(out: &mut impl Write, delimiter: u8, column: &Column, row: usize, single: bool) -> io::Result<()> {
    if column.is_missing(row) {
        // In a table of one column an empty line would be no row at all.
        return out.write_all(if single { b"\"\"" } else { b"" });
    }
    match column.values() {
        Values::Number(values) => write!(out, "{}", values[row]),
        Values::Integer(values) => write!(out, "{}", values[row]),
        Values::Boolean(values) => write!(out, "{}", values[row]),
        Values::Text(text) => write_quoted(out, delimiter, &text.dictionary[text.codes[row] as usize]),
        Values::Missing(_) => Ok(()),
    }
}

/// Quotes what would not read back as itself without quotes.
fn write_quoted(out: &mut impl Write, delimiter: u8, text: &str) -> io::Result<()> {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bytes = text.as_bytes();
    if bytes.iter().any(|&byte| special(byte)) || blank(bytes.first()) || blank(bytes.last()) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        out.write_all(bytes)
    }
}

fn described(columns: &[(String, ColumnType)]) -> String {
    columns.iter().map(|(name, kind)| format!("{name} ({kind})")).collect::<Vec<_>>().join(", ")
}

fn parquet_refused(error: impl std::fmt::Display) -> WriteReason {
    WriteReason::Parquet(error.to_string())
}

fn already_failed() -> WriteReason {
    WriteReason::Io(io::Error::other("an earlier write failed"))
}
