//! What the commands know, as reports for people.

pub mod audit;
pub mod parts;
pub mod sweep;
pub mod train;
