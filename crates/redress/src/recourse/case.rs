//! One person before one model.

use super::Costs;
use crate::{
    calibrate::Threshold,
    feasible::{Action, FeasibleSet},
    model::{Model, Scorer},
};

/// Everything a solver needs to know about one person.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The model that decides.
    pub model: &'a Model,
    /// What the person may change, and how that is encoded.
    pub feasible: &'a FeasibleSet,
    /// The score that means yes.
    pub threshold: Threshold,
    /// What changes cost.
    pub costs: &'a Costs,
}

/// An action that is permitted and gets a yes. Only [`Case::verify`] makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    action: Action,
    values: Vec<f64>,
    logit: f32,
    cost: f64,
}

impl Case<'_> {
    /// The person as the model sees them.
    pub fn point(&self) -> &[f32] {
        self.feasible.point()
    }

    /// The person as the model would see them after an action.
    pub fn point_after(&self, action: &Action) -> Vec<f32> {
        let mut point = vec![0.0; self.model.inputs()];
        self.feasible.encode(action, &mut point);
        point
    }

    /// The logit of the person as they are.
    pub fn logit(&self) -> f32 {
        self.model.logit(self.point())
    }

    /// The logit after an action.
    pub fn logit_after(&self, action: &Action) -> f32 {
        self.model.logit(&self.point_after(action))
    }

    /// A plan, if the action lies in Δ(x) and the model says yes to it; otherwise nothing.
    pub fn verify(&self, action: &Action) -> Option<Plan> {
        if !self.feasible.contains(action) {
            return None;
        }
        self.plan(action, self.feasible.apply(action))
    }

    /// A plan, if the model says yes to the values that a permitted action leads to.
    pub(super) fn plan(&self, action: &Action, values: Vec<f64>) -> Option<Plan> {
        let mut point = vec![0.0; self.model.inputs()];
        self.feasible.encoding().encode(&values, &mut point);
        let logit = self.model.logit(&point);
        let cost = self.costs.of(self.feasible, action);
        self.threshold.approves(logit).then(|| Plan { action: action.clone(), values, logit, cost })
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
