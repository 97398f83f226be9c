//! Laws of feasible sets, against definitions written out and brute force.

pub mod fixture;
mod laws;
mod oracle;
mod projection;
pub mod random;

use super::{Domain, FeasibleSet, Move};

/// The move at a share of the way from the lowest to the highest.
fn at_share(domain: &Domain, share: f64) -> Move {
    match domain {
        Domain::Range { lo, hi } => Move::By((lo + (hi - lo) * share).clamp(*lo, *hi)),
        Domain::Grid { lo, hi, .. } => Move::Steps(lo + ((hi - lo) as f64 * share).round() as i64),
        Domain::Choice { to, .. } => Move::To(to[((to.len() - 1) as f64 * share).round() as usize]),
    }
}

/// A part of the domains: the share of each from `cut.0` to `cut.1`.
fn narrowed(set: &FeasibleSet, cuts: &[(f64, f64)]) -> Vec<Domain> {
    let part = |domain: &Domain, (a, b): (f64, f64)| {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let whole = |lo: i64, hi: i64, share: f64| lo + ((hi - lo) as f64 * share) as i64;
        match domain {
            Domain::Range { lo, hi } => Domain::Range { lo: lo + (hi - lo) * a, hi: (lo + (hi - lo) * b).min(*hi) },
            Domain::Grid { step, lo, hi } => {
                Domain::Grid { step: *step, lo: whole(*lo, *hi, a), hi: whole(*lo, *hi, b) }
            }
            Domain::Choice { from, to } => {
                let last = to.len() as i64 - 1;
                let kept = &to[whole(0, last, a) as usize..=whole(0, last, b) as usize];
                Domain::Choice { from: *from, to: kept.to_vec() }
            }
        }
    };
    set.domains().iter().zip(cuts).map(|(domain, &cut)| part(domain, cut)).collect()
}
