//! Files that are whole or not there.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::failure::Failure;

/// A folder of results.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder that need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Fails before any work is done where nothing could be written at the end.
    pub fn check_writable(&self) -> Result<(), Failure> {
        let existing = self.path.ancestors().find(|folder| folder.exists() || folder.as_os_str().is_empty());
        let existing = existing.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !existing.is_dir() {
            return Err(Failure::in_file(existing, "is a file, not a folder; choose another --out"));
        }
        tempfile::tempfile_in(existing)
            .map(|_| ())
            .map_err(|error| Failure::in_file(existing, format!("cannot be written: {error}")))
    }

    /// Creates the folder.
    pub fn create(&self) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.path)
            .map_err(|error| Failure::in_file(&self.path, format!("cannot be created: {error}")))
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole: a temporary file in the same folder, then a rename.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        write_whole(&self.path(name), bytes)
    }

    /// Writes a JSON document whole.
    pub fn write_json(&self, name: &str, document: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(document).map_err(|error| Failure::in_file(&self.path(name), error))?;
        self.write(name, format!("{text}\n").as_bytes())
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(formatter)
    }
}

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    redress::artifact::write_whole(path, bytes)
        .map_err(|error| Failure::in_file(path, format!("cannot be written: {error}")))
}
