//! One person before one model, and the one way to ask it.
//!
//! The model of a [`Case`] is private to this file: whoever asks it pays a [`Meter`] first, one evaluation for a logit and
//! two for a logit with its gradient. No solver can pass its budget, whatever it does.

use super::{Costs, Meter};
use crate::{
    calibrate::Threshold,
    feasible::{Action, FeasibleSet},
    model::{Linear, Model, Scorer},
};

/// Everything a solver needs to know about one person.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    model: &'a Model,
    /// What the person may change, and how that is encoded.
    pub feasible: &'a FeasibleSet,
    /// The score that means yes.
    pub threshold: Threshold,
    /// What changes cost.
    pub costs: &'a Costs,
}

/// An action with the logit that the model gave to where it leads. Only asking the model makes one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scored {
    action: Action,
    logit: f32,
}

/// An action that is permitted and gets a yes. Only [`Case::verify`] and its twin under a causal model
/// ([`CausalCase::verify`](super::causal::CausalCase::verify)) make one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    action: Action,
    values: Vec<f64>,
    logit: f32,
    cost: f64,
}

/// Points that go through the model at a time: between two such batches a deadline is looked at.
const TOGETHER: usize = 512;

impl<'a> Case<'a> {
    /// A person's feasible set before a model, which says yes from the threshold on.
    pub fn new(model: &'a Model, feasible: &'a FeasibleSet, threshold: Threshold, costs: &'a Costs) -> Self {
        Self { model, feasible, threshold, costs }
    }

    /// The same person, model and threshold with another feasible set.
    pub(super) fn restricted_to<'b>(&self, feasible: &'b FeasibleSet) -> Case<'b>
    where
        'a: 'b,
    {
        Case { feasible, ..*self }
    }

    /// The model, where it is linear: a solver may read its weights.
    pub fn linear(&self) -> Option<&'a Linear> {
        match self.model {
            Model::Linear(linear) => Some(linear),
            Model::Mlp(_) => None,
        }
    }

    /// What bounds the model over boxes; what that costs is counted in nodes.
    pub(super) fn bounder(&self) -> super::exact::Bounder {
        super::exact::Bounder::new(self.model)
    }

    /// Whether both stand before the very same model.
    pub(super) fn shares_model(&self, other: &Case) -> bool {
        std::ptr::eq(self.model, other.model)
    }

    /// The person as the model sees them.
    pub fn point(&self) -> &'a [f32] {
        self.feasible.point()
    }

    /// The logit of each point, row after row; `None` when the budget ends first.
    pub fn logits(&self, points: &[f32], meter: &mut Meter) -> Option<Vec<f32>> {
        let inputs = self.model.inputs();
        let mut logits = vec![0.0; points.len() / inputs];
        if !meter.affords(logits.len() as u64) {
            return None;
        }
        for (points, logits) in points.chunks(TOGETHER * inputs).zip(logits.chunks_mut(TOGETHER)) {
            if !meter.evaluate(logits.len() as u64) {
                return None;
            }
            self.model.logits(points, logits);
        }
        Some(logits)
    }

    /// The logit of the person as they are; `None` when the budget ends first.
    pub fn logit(&self, meter: &mut Meter) -> Option<f32> {
        self.logits(self.point(), meter).map(|logits| logits[0])
    }

    /// The logit of a point, its gradient written; `None` when the budget ends first.
    pub fn gradient(&self, point: &[f32], gradient: &mut [f32], meter: &mut Meter) -> Option<f32> {
        let mut logit = [0.0];
        meter.evaluate(2).then(|| self.model.gradients(point, &mut logit, gradient))?;
        Some(logit[0])
    }

    /// A plan, if the action lies in Δ(x) and the model says yes to it; otherwise, and when the budget ends first,
    /// nothing.
    pub fn verify(&self, action: &Action, meter: &mut Meter) -> Option<Plan> {
        self.score(action.clone(), meter).and_then(|scored| self.accept(&scored))
    }

    /// The action with the logit it leads to; `None` when the budget ends first.
    pub(super) fn score(&self, action: Action, meter: &mut Meter) -> Option<Scored> {
        score(self, vec![action], meter).and_then(|mut scored| scored.pop())
    }

    /// A plan, if the action lies in Δ(x) and the model said yes to it; otherwise nothing.
    pub(super) fn accept(&self, scored: &Scored) -> Option<Plan> {
        if !self.threshold.approves(scored.logit) || !self.feasible.contains(&scored.action) {
            return None;
        }
        self.plan(scored, self.feasible.apply(&scored.action))
    }

    /// A plan, if the model said yes to a permitted action, which leads to these values.
    pub(super) fn plan(&self, scored: &Scored, values: Vec<f64>) -> Option<Plan> {
        let Scored { action, logit } = scored;
        let cost = self.costs.of(self.feasible, action);
        self.threshold.approves(*logit).then(|| Plan { action: action.clone(), values, logit: *logit, cost })
    }
}

/// What an action leads to: directly ([`Case`]) or through a causal model.
pub(super) trait Terrain {
    /// The person and the model.
    fn case(&self) -> &Case<'_>;
    /// Whether the action and what it leads to are permitted.
    fn permits(&self, action: &Action) -> bool;
    /// Writes the point that the action leads to.
    fn land(&self, action: &Action, point: &mut [f32]);
}

impl Terrain for Case<'_> {
    fn case(&self) -> &Case<'_> {
        self
    }

    fn permits(&self, action: &Action) -> bool {
        self.feasible.contains(action)
    }

    fn land(&self, action: &Action, point: &mut [f32]) {
        self.feasible.encode(action, point);
    }
}

/// Actions with the logits that they lead to, in their order; `None` when the budget does not have that many.
pub(super) fn score(terrain: &dyn Terrain, actions: Vec<Action>, meter: &mut Meter) -> Option<Vec<Scored>> {
    let case = terrain.case();
    let inputs = case.model.inputs();
    let mut points = vec![0.0; actions.len() * inputs];
    for (action, point) in actions.iter().zip(points.chunks_exact_mut(inputs)) {
        terrain.land(action, point);
    }
    let logits = case.logits(&points, meter)?;
    Some(actions.into_iter().zip(logits).map(|(action, logit)| Scored { action, logit }).collect())
}

/// Actions of several people before one model, each with the row of the meter that pays for it, with the logits that they
/// lead to, in their order; `None` for those whose meter does not have the evaluation.
pub(super) fn score_each<'a>(
    actions: impl Iterator<Item = (&'a Case<'a>, Action, usize)>,
    meters: &mut [Meter],
) -> Vec<Option<Scored>> {
    let mut batch: Option<Batch<1>> = None;
    let mut asked: Vec<Option<Action>> = Vec::new();
    for (case, action, row) in actions {
        let batch = batch.get_or_insert_with(|| Batch::before(case));
        let paid = batch.ask(&mut meters[row], |point| case.feasible.encode(&action, point));
        asked.push(paid.then_some(action));
    }
    let mut logits = batch.as_mut().map_or(&[][..], Batch::logits).iter();
    let scored = asked.into_iter().map(|action| {
        let action = action?;
        logits.next().map(|&logit| Scored { action, logit })
    });
    scored.collect()
}

impl Scored {
    /// The action.
    pub(super) fn action(&self) -> &Action {
        &self.action
    }

    /// The logit that it leads to.
    pub(super) fn logit(&self) -> f32 {
        self.logit
    }
}

impl Plan {
    /// What to do.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// The person's feature values afterwards, in original units, consequences included.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The logit afterwards.
    pub fn logit(&self) -> f32 {
        self.logit
    }

    /// What it costs.
    pub fn cost(&self) -> f64 {
        self.cost
    }
}

/// Points of several people that go through one model together, each paid for by its person's meter at `PRICE`
/// evaluations: 1 for logits, 2 for logits with gradients.
pub(super) struct Batch<'a, const PRICE: u64> {
    model: &'a Model,
    points: Vec<f32>,
    logits: Vec<f32>,
    gradients: Vec<f32>,
}

impl<'a, const PRICE: u64> Batch<'a, PRICE> {
    /// An empty batch before the model of a case.
    pub(super) fn before(case: &Case<'a>) -> Self {
        Self { model: case.model, points: Vec::new(), logits: Vec::new(), gradients: Vec::new() }
    }

    /// Forgets the points of the round before.
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    /// Adds the point that `write` writes, if the meter pays for it.
    pub(super) fn ask(&mut self, meter: &mut Meter, write: impl FnOnce(&mut [f32])) -> bool {
        let paid = meter.evaluate(PRICE);
        if paid {
            let start = self.points.len();
            self.points.resize(start + self.model.inputs(), 0.0);
            write(&mut self.points[start..]);
        }
        paid
    }
}

impl Batch<'_, 1> {
    /// The logit of each point.
    pub(super) fn logits(&mut self) -> &[f32] {
        self.logits.resize(self.points.len() / self.model.inputs(), 0.0);
        self.model.logits(&self.points, &mut self.logits);
        &self.logits
    }
}

impl Batch<'_, 2> {
    /// The logit of each point and its gradient, row after row.
    pub(super) fn gradients(&mut self) -> (&[f32], &[f32]) {
        self.logits.resize(self.points.len() / self.model.inputs(), 0.0);
        self.gradients.resize(self.points.len(), 0.0);
        self.model.gradients(&self.points, &mut self.logits, &mut self.gradients);
        (&self.logits, &self.gradients)
    }
}
