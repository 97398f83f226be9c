//! The paper's one-step linear program.
//!
//! ```text
//! δ* = argmin over δ ∈ Δ(x) of ∇ₓℓ(g(x), 1)ᵀ δ
//! ```
//!
//! The step that *lowers* the loss towards a yes, to first order. ℓ falls as the logit grows, so ∇ₓℓ is a negative
//! multiple of ∂logit/∂x, and the logit's own gradient, which does not round to 0 where the loss saturates, gives the
//! same step.
//!
//! One gradient and one linear program a person: the fastest solver, exact for a linear model, and the one whose step
//! training with λ > 0 makes good.

use rayon::prelude::*;

use super::{Absence, Budget, Case, Improver, Solver, Verdict};
use crate::{
    dataset::People,
    feasible::{Action, ActionSpace, FeasibleSet, SpaceError},
    model::{Model, Scorer},
};

/// Which way the step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Towards a yes, as the paper writes it.
    #[default]
    AsWritten,
    /// Away from a yes, as the released code does: kept only to reproduce the printed tables.
    AsReleased,
}

/// The one-step linear program as a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lp {
    /// Which way the step goes.
    pub step: Step,
}

impl Step {
    /// The gradient of what the step minimises, from the gradient of the logit.
    fn objective(self, gradient: &mut [f32]) {
        if self == Step::AsWritten {
            gradient.iter_mut().for_each(|slope| *slope = -*slope);
        }
    }
}

impl Improver for Lp {
    fn name(&self) -> &'static str {
        match self.step {
            Step::AsWritten => "lp",
            Step::AsReleased => "lp as released",
        }
    }

    fn improve(&self, model: &Model, feasible: &FeasibleSet) -> Action {
        let mut gradient = vec![0.0; model.inputs()];
        model.gradients(feasible.point(), &mut [0.0], &mut gradient);
        self.step.objective(&mut gradient);
        feasible.minimise(&gradient)
    }
}

impl Solver for Lp {
    fn name(&self) -> &'static str {
        Improver::name(self)
    }

    fn solve(&self, case: &Case, budget: &Budget) -> Verdict {
        let mut meter = budget.meter();
        if !meter.evaluate(3) || !meter.visit() {
            return Verdict::Unknown { spent: meter.spent(), best_logit: f32::NEG_INFINITY };
        }
        let before = case.logit();
        if case.threshold.approves(before) {
            return Verdict::Approved { logit: before };
        }
        let action = self.improve(case.model, case.feasible);
        match case.verify(&action) {
            Some(plan) => Verdict::Recourse(vec![plan]),
            None => {
                let best_logit = before.max(case.logit_after(&action));
                Verdict::NoRecourse(Absence::NotFound { best_logit })
            }
        }
    }
}

/// The logits of many people after the step.
#[derive(Debug, Clone, PartialEq)]
pub struct Stepped {
    /// The logit of each person as they are.
    pub before: Vec<f32>,
    /// The logit of each person after the step.
    pub after: Vec<f32>,
    /// The encoded point of each person after the step, row after row.
    pub points: Vec<f32>,
}

/// People who go through the network together. Fixed, so that the work is cut the same way on any number of threads.
const CHUNK: usize = 512;

/// The step for a whole table. `points` are the encoded people, row after row, as
/// [`Encoding::encode_all`](crate::encoding::Encoding::encode_all) makes them.
///
/// Where Δ(x) is a box (see [`ActionSpace::is_box`]) and nobody has overrides, nothing is allocated for a person: the
/// program has the closed form of [`FeasibleSet::minimise`]. Everywhere else one [`FeasibleSet`] is made for each.
pub fn step_all(
    model: &Model,
    space: &ActionSpace,
    people: &People,
    points: &[f32],
    step: Step,
) -> Result<Stepped, SpaceError> {
    let width = space.encoding().width();
    let count = people.len();
    let mut stepped = Stepped { before: vec![0.0; count], after: vec![0.0; count], points: points.to_vec() };
    if width == 0 || count == 0 {
        return Ok(stepped);
    }
    let is_box = space.is_box() && people.overrides.is_empty();
    let chunks = stepped.points.par_chunks_mut(CHUNK * width);
    let chunks = chunks.zip(stepped.before.par_chunks_mut(CHUNK)).zip(stepped.after.par_chunks_mut(CHUNK));
    chunks.enumerate().try_for_each(|(chunk, ((points, before), after))| {
        let mut gradients = vec![0.0; points.len()];
        model.gradients(points, before, &mut gradients);
        step.objective(&mut gradients);
        let rows = chunk * CHUNK..chunk * CHUNK + before.len();
        let moved = rows.zip(points.chunks_exact_mut(width).zip(gradients.chunks_exact(width)));
        if is_box {
            let mut corners = Corners::new(space);
            moved.for_each(|(row, (point, gradient))| corners.step(space, people.row(row), gradient, point));
        } else {
            for (row, (point, gradient)) in moved {
                let feasible = space.feasible(people.row(row), people.overrides.get(row))?;
                feasible.encode(&feasible.minimise(gradient), point);
            }
        }
        model.logits(points, after);
        Ok(())
    })?;
    Ok(stepped)
}

/// The closed form of the program over a box, for one person after the other.
struct Corners {
    lo: Vec<f32>,
    hi: Vec<f32>,
}

impl Corners {
    fn new(space: &ActionSpace) -> Self {
        let levers = space.levers().len();
        Self { lo: vec![0.0; levers], hi: vec![0.0; levers] }
    }

    /// δ_i = lo_i where ∇_i > 0, hi_i where ∇_i < 0, 0 where the gradient is 0.
    fn step(&mut self, space: &ActionSpace, person: &[f64], gradient: &[f32], point: &mut [f32]) {
        space.bounds(person, &mut self.lo, &mut self.hi);
        for (lever, (lo, hi)) in space.levers().iter().zip(self.lo.iter().zip(&self.hi)) {
            let slope = gradient[lever.column];
            if slope > 0.0 {
                point[lever.column] = *lo;
            } else if slope < 0.0 {
                point[lever.column] = *hi;
            }
        }
    }
}
