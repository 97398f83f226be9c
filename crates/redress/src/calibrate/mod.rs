//! The threshold with a proof: *Probably Approximately has REcourse* (PARE).
//!
//! Every calibration person gets the score `max(g(x), g(x + A(x)))`, where `A` finds a permitted change without looking
//! at the threshold. A threshold that at most `k(n, ε, α)` of `n` such scores miss leaves, with confidence 1 − α, at
//! most a share ε of the population without approval or recourse. [`pare::bound`] finds the highest such threshold;
//! every lower one keeps the guarantee.

mod certificate;
mod rates;
mod tail;

pub mod pare;

pub use certificate::{Certificate, CertificateFault, Evidence, ceiling, promise, sha256_hex, sha256_of};
pub use rates::{FailureProb, MissRate, RateError, Threshold, probability};
pub use tail::{Interval, allowed_misses, binomial_tail, clopper_pearson, rows_needed};
