//! Given a model, a policy and a person: is there a way to a yes, which is the cheapest, and if there is none, how do we
//! know?
//!
//! Every solver answers with one [`Verdict`]. A way to a yes is a [`Plan`], and a plan can only be made by
//! [`Case::verify`], which checks the action against Δ(x) and scores it with the true model: no solver can return an
//! action that breaks the policy or does not flip the decision.
//!
//! Every request keeps its [`Budget`]: one [`Meter`] goes through all that is done for it, and a [`Case`] lets nobody ask
//! its model without paying that meter. Putting a plan that was found into words is a fixed number of evaluations on top,
//! [`words::evaluations`].

mod budget;
mod case;
mod columns;
mod cost;
mod least_squares;
mod rounding;
mod search;
mod verdict;

pub mod causal;
pub mod engine;
pub mod exact;
pub mod gradient;
pub mod letter;
pub mod linear;
pub mod lp;
pub mod options;
pub mod words;

pub use budget::{Budget, Meter, Spent, StopFlag};
pub use case::{Case, Plan};
pub use columns::columns;
pub use cost::{Costs, Measure};
pub use engine::{Advisor, Decision, Explanation, Method, Outcome, Request, RequestError};
pub use letter::{LetterText, letter};
pub use options::options;
pub use verdict::{Absence, Verdict};

use crate::{
    feasible::{Action, FeasibleSet},
    model::Model,
};

/// An algorithm that looks for recourse.
pub trait Solver: Send + Sync {
    /// Its name in commands, certificates and reports.
    fn name(&self) -> &'static str;

    /// The verdict on one person, with what the meter has left: plans from the cheapest on, at most as many as the solver
    /// was asked for.
    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict;

    /// The verdict on one person within a budget.
    fn solve(&self, case: &Case, budget: &Budget) -> Verdict {
        self.search(case, &mut budget.meter())
    }
}

/// An algorithm that raises the score as far as it can without knowing the threshold: what calibration may use, since a
/// guarantee that holds for a threshold must not depend on it.
pub trait Improver: Send + Sync {
    /// Its name in certificates and reports.
    fn name(&self) -> &'static str;

    /// A permitted action, which may be to stay.
    fn improve(&self, model: &Model, feasible: &FeasibleSet) -> Action;
}

#[cfg(test)]
mod tests;
