//! What one person may do: the set Δ(x) of permitted changes.
//!
//! An [`ActionSpace`] is a policy compiled against an encoding: what is the same for everybody. Given a person it makes a
//! [`FeasibleSet`], in original units:
//!
//! ```text
//! Δ(x) = { one move a lever :  each move in its domain  (a range, whole steps, or a choice of categories)
//!                              every row  Σ coefficient · change ≤ bound  holds
//!                              what links force stays within the limits of the feature that it moves }
//! ```
//!
//! Doing nothing is always in Δ(x): a person outside a limit may stay where they are, and so every limit is widened to
//! include where the person is. All solvers ask the same few questions here: is this action permitted
//! ([`FeasibleSet::contains`]), what does it lead to ([`FeasibleSet::apply`]), which action lowers a linear function most
//! ([`FeasibleSet::minimise`]), which is nearest to a point ([`FeasibleSet::project`]), which are there
//! ([`FeasibleSet::actions`]).

mod action;
mod bounds;
mod compile;
mod corners;
mod lattice;
mod limits;
mod minimise;
mod pieces;
mod program;
mod project;
mod relax;
mod search;
mod set;
mod space;
#[cfg(test)]
pub(crate) mod tests;

pub use action::{Action, Domain, Lever, Move};
pub use compile::SpaceError;
pub use lattice::Actions;
pub use limits::Limits;
pub use set::FeasibleSet;
pub use space::{ActionSpace, Lattice, LeverRule, Reach};
