//! Tables that are read piece by piece, so that a file of any length needs the same memory.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use redress::policy::Layout;
use redress::table::{ColumnType, Table};

use crate::columnar::ParquetFile;
use crate::csv::TextFile;
use crate::error::{ReadError, ReadReason};
use crate::source::{Bytes, Format};

/// About how many rows a piece has.
pub const STREAM_ROWS: usize = 1 << 16;

/// The rows of a file as tables of about [`STREAM_ROWS`] rows, in order. All pieces have the same columns of the same
/// types. Reading runs ahead by a piece or two on another thread and stops when the stream is dropped.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ages.csv");
/// # std::fs::write(&path, "age\n39\n50\n")?;
/// let mut rows = 0;
/// for table in redress_data::TableStream::open(&path, &Default::default(), &[])? {
///     rows += table?.rows();
/// }
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableStream {
    columns: Vec<(String, ColumnType)>,
    tables: Receiver<Result<Table, ReadError>>,
}

impl TableStream {
    /// Opens a CSV or Parquet file. A CSV file is read twice: once to decide the types of its columns, once for its
    /// rows.
    pub fn open(path: impl AsRef<Path>, layout: &Layout, missing_values: &[String]) -> Result<TableStream, ReadError> {
        Self::start(path.as_ref(), layout, missing_values, None)
    }

    /// Opens a file whose columns must have these names and types, such as those of another stream's
    /// [`columns`](TableStream::columns). A CSV file is read once. A value of another type is an error that names its
    /// row.
    pub fn open_as(
        path: impl AsRef<Path>,
        layout: &Layout,
        missing_values: &[String],
        columns: &[(String, ColumnType)],
    ) -> Result<TableStream, ReadError> {
        Self::start(path.as_ref(), layout, missing_values, Some(columns))
    }

    /// The names and types of the columns.
    pub fn columns(&self) -> &[(String, ColumnType)] {
        &self.columns
    }

    fn start(
        path: &Path,
        layout: &Layout,
        missing_values: &[String],
        given: Option<&[(String, ColumnType)]>,
    ) -> Result<TableStream, ReadError> {
        let pieces = Pieces::open(path, layout, missing_values, given).map_err(|reason| reason.at(path))?;
        let columns = pieces.columns();
        let (send, tables) = sync_channel(1);
        let (path, missing_values) = (path.to_owned(), missing_values.to_vec());
        std::thread::spawn(move || {
            if let Err(reason) = pieces.run(&missing_values, |table| send.send(Ok(table)).is_ok()) {
                // Nobody listens any more once the stream is dropped.
                let _ = send.send(Err(reason.at(PathBuf::from(&path))));
            }
        });
        Ok(TableStream { columns, tables })
    }
}

impl Iterator for TableStream {
    type Item = Result<Table, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.tables.recv().ok()
    }
}

/// An opened file of either format.
enum Pieces {
    Text(TextFile, Vec<ColumnType>),
    Parquet(ParquetFile),
}

impl Pieces {
    fn open(
        path: &Path,
        layout: &Layout,
        missing_values: &[String],
        given: Option<&[(String, ColumnType)]>,
    ) -> Result<Self, ReadReason> {
        let bytes = Bytes::File(path.to_owned());
        match bytes.format()? {
            Format::Text => {
                let file = TextFile::open(bytes, layout, missing_values)?;
                let types = match given {
                    Some(given) => {
                        same_names(given, file.names())?;
                        given.iter().map(|(_, kind)| *kind).collect()
                    }
                    None => file.types()?,
                };
                Ok(Pieces::Text(file, types))
            }
            Format::Parquet => {
                let file = ParquetFile::open(path)?;
                if let Some(given) = given {
                    same_names(given, file.names())?;
                    for ((name, expected), found) in given.iter().zip(file.types()) {
                        if expected != found {
                            let found = format!("values of type {found} where {expected} was expected");
                            return Err(ReadReason::ColumnKind { column: name.clone(), found });
                        }
                    }
                }
                Ok(Pieces::Parquet(file))
            }
        }
    }

    fn columns(&self) -> Vec<(String, ColumnType)> {
        let (names, types) = match self {
            Pieces::Text(file, types) => (file.names(), types.as_slice()),
            Pieces::Parquet(file) => (file.names(), file.types()),
        };
        names.iter().cloned().zip(types.iter().copied()).collect()
    }

    fn run(self, missing_values: &[String], take: impl FnMut(Table) -> bool) -> Result<(), ReadReason> {
        match self {
            Pieces::Text(file, types) => file.stream(&types, STREAM_ROWS, take),
            Pieces::Parquet(file) => file.stream(missing_values, STREAM_ROWS, take),
        }
    }
}

fn same_names(given: &[(String, ColumnType)], found: &[String]) -> Result<(), ReadReason> {
    if given.len() == found.len() && given.iter().zip(found).all(|((name, _), found)| name == found) {
        return Ok(());
    }
    Err(ReadReason::Columns { expected: given.iter().map(|(name, _)| name.clone()).collect(), found: found.to_vec() })
}
