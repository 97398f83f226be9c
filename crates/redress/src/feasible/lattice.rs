//! Every action of a finite feasible set, one after the other.

use super::action::{Action, Domain, Move};
use super::set::FeasibleSet;

impl FeasibleSet {
    /// Whether the permitted actions can be listed: every lever moves in steps or between categories.
    pub fn is_finite(&self) -> bool {
        self.lattice_size().is_some()
    }

    /// How many combinations of moves there are, before rows are considered; `None` when some lever moves freely.
    pub fn lattice_size(&self) -> Option<u128> {
        self.domains.iter().try_fold(1u128, |size, domain| Some(size.saturating_mul(domain.size()?)))
    }

    /// Every permitted action in a fixed order: the last lever moves fastest, each from its lowest move (or first
    /// category) to its highest. `None` when some lever moves freely, so that the actions cannot be listed.
    pub fn actions(&self) -> Option<Actions<'_>> {
        let size = self.lattice_size()?;
        let next = (size > 0).then(|| self.domains.iter().map(first).collect());
        Some(Actions { set: self, next })
    }
}

/// The permitted actions of a finite feasible set, made by [`FeasibleSet::actions`].
#[derive(Debug, Clone)]
pub struct Actions<'a> {
    set: &'a FeasibleSet,
    next: Option<Vec<Move>>,
}

impl Iterator for Actions<'_> {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        loop {
            let moves = self.next.take()?;
            self.next = successor(&self.set.domains, &moves);
            if self.set.rows_hold(&moves) {
                return Some(Action { moves });
            }
        }
    }
}

fn first(domain: &Domain) -> Move {
    match domain {
        Domain::Range { lo, .. } => Move::By(*lo),
        Domain::Grid { lo, .. } => Move::Steps(*lo),
        Domain::Choice { to, from } => Move::To(to.first().copied().unwrap_or(*from)),
    }
}

/// The move after this one; `None` after the last.
fn after(domain: &Domain, step: Move) -> Option<Move> {
    match (domain, step) {
        (Domain::Grid { hi, .. }, Move::Steps(steps)) => (steps < *hi).then_some(Move::Steps(steps + 1)),
        (Domain::Choice { to, .. }, Move::To(category)) => {
            to.iter().find(|&&other| other > category).map(|&other| Move::To(other))
        }
        _ => None,
    }
}

/// Counts up by one, as an odometer does.
fn successor(domains: &[Domain], moves: &[Move]) -> Option<Vec<Move>> {
    let turns = (0..moves.len()).rev().find(|&lever| after(&domains[lever], moves[lever]).is_some())?;
    let mut next = moves.to_vec();
    next[turns] = after(&domains[turns], moves[turns])?;
    for lever in turns + 1..moves.len() {
        next[lever] = first(&domains[lever]);
    }
    Some(next)
}
