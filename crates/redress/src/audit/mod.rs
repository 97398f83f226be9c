//! What a model does to people: performance, recourse, groups, robustness.
//!
//! An [`Audit`] takes the rows of a file piece by piece, in constant memory, and ends in [`Findings`]. Rates come with
//! Clopper–Pearson intervals; groups are compared with a stated chance of a false alarm ([`disparity`]), and so are two
//! models on the same people ([`paired`]); what needs all people at once, such as the rules that describe those without
//! recourse, rests on samples drawn with a fixed seed.

pub mod curve;
pub mod disparity;
mod engine;
mod findings;
pub mod frontier;
pub mod likeness;
pub mod metrics;
pub mod paired;
pub mod rates;
mod requirement;
pub mod rules;
pub mod sketch;
mod tally;
#[cfg(test)]
mod tests;
mod thresholds;

pub use engine::{Audit, AuditError, AuditSettings};
pub use findings::{
    CertificateCheck, Example, Findings, GroupFindings, LeverFindings, ObservedPromise, Outcomes, Robustness, Without,
};
pub use requirement::{Requirement, RequirementCheck, RequirementError};
