//! The best score within reach and the cheapest way to a yes, with proofs.
//!
//! [`Exact`] searches Δ(x) by branch and bound. A part of Δ(x) is a box of encoded points; the network gives a sound bound on
//! the logit over it, rounding included. A part whose bound lies below the threshold holds no way to a yes and is ruled
//! out; the others are split at the lever that feeds the slack of their bound most. Parts are taken up from the cheapest
//! on, and every bound also names actions worth trying, so that a way to a yes is found early where there is one. Small
//! lattices are listed in the order of cost once their bound has failed to rule them out.
//!
//! So an answer is one of three: the cheapest action (on a lattice exactly, otherwise up to a relative gap in its cost);
//! a proof that there is none; or, when the budget ends first or the best score lies within rounding of the threshold,
//! that this is not known.

mod bounds;
mod chunk;
mod envelope;
mod forms;
mod layer;
mod part;
mod passes;
mod run;
mod search;
#[cfg(test)]
mod tests;

pub(super) use bounds::Bounder;
pub use run::Answer;

use super::{Budget, Case, Improver, Meter, Solver, Verdict};
use crate::feasible::{Action, FeasibleSet};
use crate::model::{Model, kernel::Isa};

/// What [`Exact`] looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Ways to a yes that change different sets of features: the cheapest, then the one with the fewest features where that
    /// is another, then the rest by cost.
    Cheapest {
        /// How many at most; 0 counts as 1.
        options: usize,
    },
    /// The highest score, whatever it costs.
    BestScore,
}

/// Branch and bound over Δ(x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// What to look for.
    pub goal: Goal,
    /// By how much, relative to its own cost, a plan over real-valued changes may be dearer than the cheapest; 0.005 where
    /// that is more, unless this is 0. On a lattice a plan that was searched for to the end *is* the cheapest.
    pub cost_gap: f64,
    /// By how much the best logit may be above the one found, for [`Goal::BestScore`].
    pub logit_gap: f64,
}

impl Default for Exact {
    fn default() -> Self {
        Self { goal: Goal::Cheapest { options: 1 }, cost_gap: 0.01, logit_gap: 0.01 }
    }
}

impl Exact {
    /// The cheapest plans of up to this many different sets of features.
    pub fn options(options: usize) -> Self {
        Self { goal: Goal::Cheapest { options }, ..Self::default() }
    }

    /// The highest score within reach.
    pub fn best_score() -> Self {
        Self { goal: Goal::BestScore, ..Self::default() }
    }

    /// The verdict on one person, with what it rests on.
    pub fn answer(&self, case: &Case, budget: &Budget) -> Answer {
        run::answer(self, case, &mut budget.meter())
    }

    /// The answers for many people, in their order. They share passes through the network, equal people are solved once,
    /// and all cores are used; each answer is the one that [`Exact::answer`] gives, unless a deadline cuts it short.
    pub fn answer_all(&self, cases: &[Case], budget: &Budget) -> Vec<Answer> {
        run::answer_all(self, cases, budget)
    }

    /// The verdicts of [`Exact::answer_all`].
    pub fn solve_all(&self, cases: &[Case], budget: &Budget) -> Vec<Verdict> {
        self.answer_all(cases, budget).into_iter().map(|answer| answer.verdict).collect()
    }
}

impl Solver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict {
        run::answer(self, case, meter).verdict
    }
}

impl Improver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    /// The action with the highest score, up to [`Exact::logit_gap`]; the best one found when the default budget ends
    /// first. Neither depends on a threshold.
    fn improve(&self, model: &Model, feasible: &FeasibleSet) -> Action {
        run::improve(self, model, feasible, &Budget::default())
    }
}

/// Runs `work` compiled for an instruction set, so that its loops over lanes become vector instructions.
#[inline(always)]
fn vectorised<R>(isa: Isa, work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx2,fma")]
        fn avx512<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        match isa.name() {
            // SAFETY: an `Isa` exists only for a set that the machine has.
            "avx512" => return unsafe { avx512(work) },
            // SAFETY: as above.
            "avx2" => return unsafe { avx2(work) },
            _ => {}
        }
    }
    let _ = isa;
    work()
}
