//! From a data set to a certified model: the steps in their order, for every command that trains.
//!
//! ```text
//! Dataset ─ split ─► Study ─ fit ─► Model ─► Summary ─► Certificate
//! ```

mod preset;
mod study;
mod summary;

pub use preset::Preset;
pub use study::{Part, Study, StudyError};
pub use summary::{Goal, Pare, Prospect, Summary, scores};
