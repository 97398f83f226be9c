//! Laws of feasible sets, against definitions written out and brute force.

pub mod fixture;
mod laws;
mod oracle;
mod random;

use super::{Domain, Move};

/// The move at a share of the way from the lowest to the highest.
fn at_share(domain: &Domain, share: f64) -> Move {
    match domain {
        Domain::Range { lo, hi } => Move::By((lo + (hi - lo) * share).clamp(*lo, *hi)),
        Domain::Grid { lo, hi, .. } => Move::Steps(lo + ((hi - lo) as f64 * share).round() as i64),
        Domain::Choice { to, .. } => Move::To(to[((to.len() - 1) as f64 * share).round() as usize]),
    }
}
