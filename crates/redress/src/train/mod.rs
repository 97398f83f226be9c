//! Training for recourse.
//!
//! [`fit`] looks for weights that are small in
//!
//! ```text
//! mean over rows of   w(y)·ℓ(g(x), y)  +  λ · min over δ ∈ Δ(x) of ℓ(g(x + δ), 1)
//! ```
//!
//! [`objective`] holds the terms, [`inner`] finds δ*, and the gradient holds δ* fixed (Danskin). The inner minimum is
//! taken over a linearisation of the score at x, as in the paper, so for most policies δ* has a closed form.
//!
//! Dropout follows PyTorch: a mask a pass, kept outputs scaled by 1/(1 − p). The pass over `x` serves the first term and
//! finds δ*; the pass over `x + δ*` draws masks of its own, as a second forward pass would.

mod adam;
mod assess;
mod examples;
mod fit;
pub mod inner;
pub mod objective;
mod params;
mod step;

pub use assess::{Assessment, Reached, assess, reach};
pub use examples::Examples;
pub use fit::{EpochReport, Fitted, Stop, TrainError, fit, fit_on, fit_while};
pub use inner::{BoxLever, Boxes, InnerProblem};
pub use params::{BestEpoch, CheckedParams, Inner, InnerObjective, ParamError, TrainParams};

#[cfg(test)]
mod tests;
