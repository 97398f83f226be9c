//! Every table and figure of *Learning Models for Actionable Recourse* (Ross, Lakkaraju and Bastani, NeurIPS 2021) as a
//! function over the library, with the printed figures beside ours.
//!
//! ```text
//! experiments ─► Plan: the models they need, each once ─► Lab: trained on all cores, cached ─► Outcome: ours · printed · why
//! ```
//!
//! [`run`] runs experiments; [`mod@write`] turns outcomes into files. Two readings can be run ([`Reading`]): the paper as
//! written, and what its released code computes.

mod cache;
mod data;
mod error;
mod experiments;
mod lab;
mod measured;
mod method;
mod noise;
mod outcome;
mod plan;
pub mod printed;
mod progress;
mod recipe;
mod run;
mod settings;
pub mod write;

pub use cache::Cache;
pub use data::{Label, Name};
pub use error::PaperError;
pub use experiments::Experiment;
pub use measured::Measured;
pub use outcome::{Comparison, Extra, Outcome};
pub use plan::Plan;
pub use progress::Standing;
pub use recipe::{HeldOut, Recipe, Sample};
pub use run::{Run, run};
pub use settings::{Reading, Settings};
