//! Why a run stopped.

use std::path::{Path, PathBuf};

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The run was asked to stop; what was trained is kept.
    #[error("stopped; trained models are kept, and the same command goes on from there")]
    Stopped,
    /// A data set is not on this machine.
    #[error("the data set {data} is not here: {advice}")]
    Missing {
        /// Its name.
        data: &'static str,
        /// How to get it.
        advice: String,
    },
    /// There is no experiment of this name.
    #[error("there is no experiment `{name}`; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// A step of the library failed.
    #[error("{context}: {message}")]
    Step {
        /// What was being done.
        context: String,
        /// Why it failed.
        message: String,
    },
    /// A document cannot be written as JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Weights cannot be written.
    #[error("cannot write a model: {0}")]
    Weights(#[from] redress::artifact::ArtifactReason),
}

impl PaperError {
    /// A file that cannot be read or written.
    pub fn file(path: &Path, error: std::io::Error) -> PaperError {
        PaperError::File { path: path.to_owned(), error }
    }

    /// A step of the library that failed while doing `context`.
    pub fn step(context: impl Into<String>, error: impl std::fmt::Display) -> PaperError {
        PaperError::Step { context: context.into(), message: error.to_string() }
    }
}
