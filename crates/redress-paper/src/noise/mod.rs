//! Noise that a classifier should shrug off: three kinds, after the paper's appendix.
//!
//! Each kind proposes a disturbance of a person; only its part in the columns that people can change is added, and the
//! decision should stay what it was.

pub mod deepfool;
pub mod gan;
mod net;
