//! What a model does to people: performance, recourse, groups, robustness.

pub mod curve;
pub mod metrics;
pub mod rates;
