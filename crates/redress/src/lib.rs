//! Classifiers that leave the people they turn down a real way to a yes.
//!
//! The problem, after *Learning Models for Actionable Recourse* (Ross, Lakkaraju, Bastani, NeurIPS 2021): given rows
//! `(x, y)`, find a score `g` that is small in
//!
//! ```text
//! E[ w(y)·ℓ(g(x), y)  +  λ · min over δ ∈ Δ(x) of ℓ(g(x + δ), 1) ]
//! ```
//!
//! and a threshold θ₀ so that, with confidence 1 − α, at least 1 − ε of people either have `g(x) ≥ θ₀` or a permitted
//! change δ ∈ Δ(x) with `g(x + δ) ≥ θ₀`. The set Δ(x) of permitted changes is written down in a [`policy`].
//!
//! One module a step, in the order in which data moves:
//!
//! ```text
//! table ─► policy ─► dataset ─► encoding ─► feasible ─► model ─► train ─► calibrate ─► recourse ─► audit
//! ```

pub mod artifact;
pub mod audit;
pub mod calibrate;
pub mod dataset;
pub mod encoding;
pub mod feasible;
pub mod model;
pub mod pipeline;
pub mod policy;
pub mod recourse;
pub mod table;
pub mod train;
