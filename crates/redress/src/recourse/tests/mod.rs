//! Laws of costs, causes, words and batches, on a small lender.

mod causes;
mod costs;
mod lender;
mod speech;
mod tables;
