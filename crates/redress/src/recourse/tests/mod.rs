//! Laws of costs, causes, words and batches, on a small lender.

mod budgets;
mod causes;
mod costs;
pub(super) mod lender;
mod speech;
mod tables;
