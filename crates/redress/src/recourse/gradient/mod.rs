//! Gradient descent towards a yes, after Wachter et al. (2017), in the schedule of alibi's `CounterFactual`.
//!
//! ```text
//! minimise over x' ∈ x + Δ(x):   (p(x') − target)² + λ′ · ‖x' − x‖₁
//! ```
//!
//! by Adam, projected onto Δ(x) after every step. λ′ starts at 0.001 and is searched over: up when a weight left at
//! least five yeses behind, down when it did not. The nearest yes that was ever met wins.
//!
//! # Differs from the paper
//!
//! The paper calls alibi, one person at a time. Here
//!
//! - many people descend together, and who is done leaves the batch;
//! - the descent first asks, without any distance term, whether a yes can be reached at all, from the corner that the
//!   linear program of [`lp`](super::lp) names. Alibi runs ten sweeps of falling λ′ to the same end; its smallest λ′ is
//!   10⁻¹², where the distance no longer counts. Where no yes is met, no weight on the distance would meet one;
//! - the target lies a tolerance above the threshold, and every score from the threshold up counts as a yes. Alibi
//!   counts what lies within the tolerance on either side, which may be a no;
//! - Adam's ε is 10⁻²⁰ in place of 10⁻⁸, so that people whose score has saturated still move;
//! - a descent ends when the projection stops it, and a search over λ′ when it no longer gains;
//! - at the end the change is cut back along the straight line, and lattice policies land on the lattice: the corners
//!   of the cell around the point are tried, then steps from the best of them.
//!
//! [`Schedule::alibi`] has alibi's numbers of steps; [`Schedule::default`] stops sooner.

mod descent;
mod landing;

use rayon::prelude::*;

use super::{Budget, Case, Costs, Improver, Measure, Meter, Solver, Verdict};
use crate::{
    calibrate::Threshold,
    feasible::{Action, FeasibleSet},
    model::Model,
};

/// How long to descend, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Schedule {
    /// λ′ at the start.
    pub distance_weight: f64,
    /// How often λ′ is changed at most.
    pub weight_steps: usize,
    /// Steps of one descent at most; the learning rate falls to 0 over them.
    pub iterations: usize,
    /// Steps in a row that are all a yes, or all a no, after which λ′ is changed.
    pub early_stop: usize,
    /// How far above the threshold the target lies, as a probability.
    pub tolerance: f64,
    /// Adam's learning rate at the start, in standard deviations.
    pub learning_rate: f64,
    /// The search over λ′ ends when a round brings the nearest yes less than this share nearer.
    pub least_gain: f64,
}

/// Yeses that a round must meet for λ′ to go up.
const ENOUGH: usize = 5;

impl Default for Schedule {
    /// Stops as soon as more effort no longer shows.
    fn default() -> Self {
        Self { iterations: 100, early_stop: 8, least_gain: 0.05, ..Self::alibi() }
    }
}

impl Schedule {
    /// The numbers that the paper's experiments used: alibi's, with λ′ from 0.001.
    pub fn alibi() -> Self {
        Self {
            distance_weight: 0.001,
            weight_steps: 10,
            iterations: 1000,
            early_stop: 50,
            tolerance: 0.05,
            learning_rate: 0.1,
            least_gain: 0.0,
        }
    }
}

/// Gradient descent as a solver.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gradient {
    /// How long to descend, and how fast.
    pub schedule: Schedule,
}

/// People who descend together. Fixed, so that the work is cut the same way on any number of threads.
const CHUNK: usize = 512;

impl Gradient {
    /// The verdicts on many people, each with a budget of their own: the same, bit for bit, as one by one.
    pub fn solve_all(&self, cases: &[Case<'_>], budget: &Budget) -> Vec<Verdict> {
        let chunks = cases.par_chunks(CHUNK);
        chunks
            .flat_map_iter(|cases| {
                let mut meters = vec![budget.meter(); cases.len()];
                descent::verdicts(&self.schedule, cases, &mut meters)
            })
            .collect()
    }
}

impl Solver for Gradient {
    fn name(&self) -> &'static str {
        "gradient"
    }

    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict {
        let verdict = descent::verdicts(&self.schedule, std::slice::from_ref(case), std::slice::from_mut(meter)).pop();
        verdict.unwrap_or_else(|| Verdict::nothing_known(meter))
    }
}

/// Descends towards a score of 1, a target that does not depend on the threshold, and keeps the highest score met.
impl Improver for Gradient {
    fn name(&self) -> &'static str {
        "gradient"
    }

    fn improve(&self, model: &Model, feasible: &FeasibleSet) -> Action {
        let costs = Costs::plain(feasible.encoding(), Measure::L1);
        let case = Case::new(model, feasible, Threshold::NEVER, &costs);
        descent::furthest(&self.schedule, &case)
    }
}
