//! Tables from files, and the built-in data sets.
//!
//! [`read_table`] turns a CSV or Parquet file into a [`Table`]; [`TableStream`] and [`TableWriter`] do the same piece
//! by piece for files that do not fit into memory; [`to_record_batch`] and [`from_record_batch`] exchange tables with
//! anything that speaks Arrow.
//!
//! [`load`] gives the tables that a policy names, in files or built in. [`datasets`] lists the built-in ones, [`fetch`]
//! gets those that are not part of the program, and [`loan`] is a population whose truth is known.

mod builtin;
mod columnar;
mod csv;
mod error;
mod fetch;
mod interchange;
mod load;
pub mod loan;
mod source;
mod stream;
mod write;

use std::path::Path;

use redress::policy::Layout;
use redress::table::Table;

pub use builtin::{
    Builtin, BuiltinError, DATA_FOLDER_VARIABLE, DataFolders, Presence, UnknownBuiltin, builtin, datasets,
};
pub use error::{ReadError, ReadReason, WriteError, WriteReason};
pub use fetch::{FetchError, FetchOptions, Fetched, Progress, fetch};
pub use interchange::{from_record_batch, to_record_batch};
pub use load::{LoadError, Tables, load, load_policy_file, read_policy_file};
use source::{Bytes, Format};
pub use stream::{STREAM_ROWS, TableStream};
pub use write::TableWriter;

/// Reads a CSV or Parquet file, packed with gzip or not, into typed columns.
///
/// A cell without text is missing, as is one whose text is among `missing_values`. A CSV column is the least general
/// of integer, number, boolean (`true`, `false`) and text that all of its values fit; blanks around values that are
/// not quoted are left out. The second column named `x` is called `x.1`, the third `x.2`, and a column without a name
/// `column_3` when it is the third.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "age, name, income\n39, Ada, 1200.5\n50, Ben, ?\n")?;
/// let table = redress_data::read_table(&path, &Default::default(), &["?".to_owned()])?;
/// assert_eq!(table.rows(), 2);
/// assert_eq!(table.columns()[0].text(1).as_deref(), Some("50"));
/// assert!(table.columns()[2].is_missing(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_table(path: impl AsRef<Path>, layout: &Layout, missing_values: &[String]) -> Result<Table, ReadError> {
    let path = path.as_ref();
    read(Bytes::File(path.to_owned()), layout, missing_values).map_err(|reason| reason.at(path))
}

fn read(bytes: Bytes, layout: &Layout, missing_values: &[String]) -> Result<Table, ReadReason> {
    match (bytes.format()?, &bytes) {
        (Format::Parquet, Bytes::File(path)) => columnar::ParquetFile::open(path)?.read(missing_values),
        _ => csv::TextFile::open(bytes, layout, missing_values)?.read(),
    }
}
