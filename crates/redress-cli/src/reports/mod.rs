//! What the commands know, as reports for people.

pub mod parts;
pub mod train;
