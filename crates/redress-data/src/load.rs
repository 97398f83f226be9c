//! From a policy to the tables it speaks about.

use std::path::{Path, PathBuf};

use redress::policy::{Policy, PolicyError, Source};
use redress::table::Table;

use crate::builtin::{BuiltinError, DataFolders, UnknownBuiltin, builtin};
use crate::error::ReadError;
use crate::read_table;

/// The rows that a policy names.
#[derive(Debug, Clone, PartialEq)]
pub struct Tables {
    /// The rows to train on, or all rows.
    pub table: Table,
    /// The rows of the policy's `test_path`, where it has one.
    pub test: Option<Table>,
}

/// Why a policy's rows could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The policy file cannot be read.
    #[error("{}: {error}", path.display())]
    PolicyFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The policy file is wrong.
    #[error("{}: {error}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// Its text, for pointing into it.
        text: String,
        /// What is wrong.
        error: Box<PolicyError>,
    },
    /// There is no such built-in data set.
    #[error(transparent)]
    Unknown(#[from] UnknownBuiltin),
    /// A built-in data set cannot be read.
    #[error(transparent)]
    Builtin(#[from] BuiltinError),
    /// A table cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Loads the tables of a policy. Paths in it are relative to `base`, the folder of the policy file.
///
/// ```
/// use redress_data::{DataFolders, builtin, load};
/// let policy = builtin("german")?.policy();
/// let tables = load(&policy, ".", &DataFolders::standard())?;
/// assert_eq!(tables.table.rows(), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load(policy: &Policy, base: impl AsRef<Path>, folders: &DataFolders) -> Result<Tables, LoadError> {
    let (layout, missing) = (&policy.data.layout, &policy.data.missing_values);
    let test_path = policy.data.test_path.as_ref();
    match &policy.data.source {
        Source::Path(path) => {
            let base = base.as_ref();
            let table = read_table(base.join(path), layout, missing)?;
            let test = test_path.map(|path| read_table(base.join(path), layout, missing)).transpose()?;
            Ok(Tables { table, test })
        }
        Source::Builtin(name) => {
            let builtin = builtin(name)?;
            let table = builtin.read(folders, layout, missing)?;
            let test = test_path.map(|file| builtin.read_file(file, folders, layout, missing)).transpose()?;
            Ok(Tables { table, test })
        }
    }
}

/// Reads a policy file and loads its tables.
pub fn load_policy_file(path: impl AsRef<Path>, folders: &DataFolders) -> Result<(Policy, Tables), LoadError> {
    let path = path.as_ref();
    let policy = read_policy_file(path)?;
    let base = path.parent().unwrap_or(Path::new(""));
    let tables = load(&policy, base, folders)?;
    Ok((policy, tables))
}

/// Reads a policy file.
pub fn read_policy_file(path: impl AsRef<Path>) -> Result<Policy, LoadError> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|error| LoadError::PolicyFile { path: path.to_owned(), error })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Policy::parse(&text, &stem).map_err(|error| LoadError::Policy {
        path: path.to_owned(),
        text,
        error: Box::new(error),
    })
}
