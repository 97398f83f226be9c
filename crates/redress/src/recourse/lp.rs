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

use super::{
    Absence, Budget, Case, Improver, Meter, Solver, Verdict,
    case::{Batch, score_each},
};
use crate::{
    dataset::People,
    feasible::{Action, ActionSpace, FeasibleSet, SpaceError},
    model::{Model, Scorer},
    train::{InnerObjective, InnerProblem},
};

/// The one-step linear program as a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lp {
    /// Which way the step goes: towards a yes, as the paper writes it, or away from it, as its released code does (kept
    /// only to reproduce the printed tables).
    pub objective: InnerObjective,
}

/// Turns gradients of the logit into gradients of what the step minimises.
fn to_minimise(objective: InnerObjective, gradients: &mut [f32]) {
    if objective == InnerObjective::AsWritten {
        gradients.iter_mut().for_each(|slope| *slope = -*slope);
    }
}

impl Improver for Lp {
    fn name(&self) -> &'static str {
        match self.objective {
            InnerObjective::AsWritten => "lp",
            InnerObjective::AsReleased => "lp as released",
        }
    }

    fn improve(&self, model: &Model, feasible: &FeasibleSet) -> Action {
        let mut gradient = vec![0.0; model.inputs()];
        model.gradients(feasible.point(), &mut [0.0], &mut gradient);
        to_minimise(self.objective, &mut gradient);
        feasible.minimise(&gradient)
    }
}

impl Lp {
    /// The verdict on each of many people who share a model: the same as one by one, on every core.
    pub fn solve_all(&self, cases: &[Case<'_>], budget: &Budget) -> Vec<Verdict> {
        let chunks = cases.par_chunks(CHUNK);
        chunks.flat_map_iter(|cases| self.verdicts(cases, &mut vec![budget.meter(); cases.len()])).collect()
    }

    /// The verdicts on people who share a model, each with a meter of their own: one batch of gradients, one program a
    /// person, one batch of logits.
    fn verdicts(&self, cases: &[Case<'_>], meters: &mut [Meter]) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = meters.iter().map(Verdict::nothing_known).collect();
        let Some(mut batch) = cases.first().map(Batch::<2>::before) else { return verdicts };
        let pairs = cases.iter().zip(meters.iter_mut()).enumerate();
        let paid = pairs.filter_map(|(row, (case, meter))| {
            batch.ask(meter, |point| point.copy_from_slice(case.point())).then_some(row)
        });
        let paid: Vec<usize> = paid.collect();
        let (logits, gradients) = batch.gradients();
        let width = gradients.len() / logits.len().max(1);
        let mut gradient = vec![0.0; width];
        let (mut stepped, mut actions) = (Vec::with_capacity(paid.len()), Vec::with_capacity(paid.len()));
        for (index, (&row, &before)) in paid.iter().zip(logits).enumerate() {
            let (case, meter) = (&cases[row], &mut meters[row]);
            if case.threshold.approves(before) {
                verdicts[row] = Verdict::Approved { logit: before };
                continue;
            }
            verdicts[row] = Verdict::unknown(meter, before);
            if meter.visit() {
                gradient.copy_from_slice(&gradients[index * width..(index + 1) * width]);
                to_minimise(self.objective, &mut gradient);
                stepped.push((row, before));
                actions.push((case, case.feasible.minimise(&gradient), row));
            }
        }
        for ((row, before), step) in stepped.into_iter().zip(score_each(actions.into_iter(), meters)) {
            verdicts[row] = match step.as_ref().map(|step| (step.logit(), cases[row].accept(step))) {
                Some((_, Some(plan))) => Verdict::Recourse(vec![plan]),
                Some((after, None)) => Verdict::NoRecourse(Absence::NotFound { best_logit: before.max(after) }),
                None => Verdict::unknown(&meters[row], before),
            };
        }
        verdicts
    }
}

impl Solver for Lp {
    fn name(&self) -> &'static str {
        Improver::name(self)
    }

    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict {
        let verdict = self.verdicts(std::slice::from_ref(case), std::slice::from_mut(meter)).pop();
        verdict.unwrap_or_else(|| Verdict::nothing_known(meter))
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
/// It is the inner problem of training, solved by the same code: where Δ(x) is a box (see [`ActionSpace::is_box`]) and
/// nobody has overrides, in closed form and without allocating for a person.
pub fn step_all(
    model: &Model,
    space: &ActionSpace,
    people: &People,
    points: &[f32],
    objective: InnerObjective,
) -> Result<Stepped, SpaceError> {
    let width = space.encoding().width();
    let count = people.len();
    let mut stepped = Stepped { before: vec![0.0; count], after: vec![0.0; count], points: vec![0.0; points.len()] };
    if width == 0 || count == 0 {
        return Ok(stepped);
    }
    let inner = InnerProblem::new(space, people)?;
    let chunks = points.par_chunks(CHUNK * width).zip(stepped.points.par_chunks_mut(CHUNK * width));
    let chunks = chunks.zip(stepped.before.par_chunks_mut(CHUNK).zip(stepped.after.par_chunks_mut(CHUNK)));
    chunks.enumerate().for_each(|(chunk, ((points, moved), (before, after)))| {
        let mut gradients = vec![0.0; points.len()];
        model.gradients(points, before, &mut gradients);
        let rows = points.chunks_exact(width).zip(gradients.chunks_exact(width)).zip(moved.chunks_exact_mut(width));
        for (row, ((point, gradient), moved)) in rows.enumerate() {
            inner.respond(chunk * CHUNK + row, objective, point, gradient, moved);
        }
        model.logits(moved, after);
    });
    Ok(stepped)
}
