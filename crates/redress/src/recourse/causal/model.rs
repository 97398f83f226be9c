//! A structural causal model: linear equations with additive noise.

use serde::{Deserialize, Serialize};

use super::super::least_squares::NormalEquations;
use crate::{
    dataset::{Dataset, FeatureKind, Schema},
    policy::Policy,
};

/// Why a causal section makes no structural model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CausalError {
    /// The policy has no causal section.
    #[error("the policy has no [causal] section: a causal method needs one")]
    Missing,
    /// A feature causes itself, directly or through others.
    #[error("the causal equations go round in a circle through feature `{feature}`")]
    Cycle {
        /// A feature on the circle.
        feature: String,
    },
    /// An equation about a category, which is not a number.
    #[error("feature `{feature}` is a category: a linear equation needs a number, a yes/no or an ordered category")]
    Category {
        /// The feature.
        feature: String,
    },
    /// Two equations for one feature.
    #[error("feature `{feature}` has two causal equations")]
    Twice {
        /// The feature.
        feature: String,
    },
    /// Given weights that are not one finite number a parent.
    #[error("the causal equation of feature `{feature}` needs one finite weight for each parent")]
    Weights {
        /// The feature.
        feature: String,
    },
    /// No training rows to fit on.
    #[error("the causal equation of feature `{feature}` cannot be fitted: there are no training rows")]
    NoRows {
        /// The feature.
        feature: String,
    },
}

/// `child = intercept + Σ weight · parent + noise`, in original units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StructuralEquation {
    /// The child feature.
    pub child: usize,
    /// Its parents.
    pub parents: Vec<usize>,
    /// One weight a parent.
    pub weights: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// Consequences do not push the child below this (widened to where the person is); `None` for no limit.
    pub min: Option<f64>,
    /// Nor above this.
    pub max: Option<f64>,
}

/// Equations in an order in which every parent comes before its children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StructuralModel {
    equations: Vec<StructuralEquation>,
    /// The policy's constraints on changes that consequences have a part in.
    #[serde(default)]
    rows: Vec<Row>,
}

/// `Σ coefficient · change ≤ bound`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    terms: Vec<(usize, f64)>,
    bound: f64,
}

/// A row may be missed by this share of its terms: they are sums of rounded numbers.
const ROUNDING: f64 = 1e-9;

impl Row {
    fn holds(&self, person: &[f64], values: &[f64]) -> bool {
        let changes = self.terms.iter().map(|&(feature, by)| by * (values[feature] - person[feature]));
        let (sum, size) = changes.fold((0.0, self.bound.abs()), |(sum, size), term| (sum + term, size + term.abs()));
        sum <= self.bound + ROUNDING * size
    }
}

impl StructuralModel {
    /// The model of a policy: given equations as they are, the others fitted on the training rows by least squares.
    pub fn fit(policy: &Policy, train: &Dataset) -> Result<Self, CausalError> {
        let causal = policy.causal.as_ref().ok_or(CausalError::Missing)?;
        let schema = &train.people.schema;
        let name = |feature: usize| schema.features[feature].column.clone();
        let mut equations: Vec<StructuralEquation> = Vec::new();
        for equation in &causal.equations {
            let child = equation.child;
            for &feature in equation.parents.iter().chain([&child]) {
                if matches!(schema.features[feature].kind, FeatureKind::Category { .. }) {
                    return Err(CausalError::Category { feature: name(feature) });
                }
            }
            if equations.iter().any(|known| known.child == child) {
                return Err(CausalError::Twice { feature: name(child) });
            }
            let (weights, intercept) = match &equation.given {
                Some((weights, intercept)) => (weights.clone(), *intercept),
                None if train.people.is_empty() => return Err(CausalError::NoRows { feature: name(child) }),
                None => least_squares(train, child, &equation.parents),
            };
            let finite = weights.iter().all(|weight| weight.is_finite()) && intercept.is_finite();
            if weights.len() != equation.parents.len() || !finite {
                return Err(CausalError::Weights { feature: name(child) });
            }
            let (min, max) = limits(policy, schema, child);
            equations.push(StructuralEquation {
                child,
                parents: equation.parents.clone(),
                weights,
                intercept,
                min,
                max,
            });
        }
        let equations = ordered(equations).map_err(|feature| CausalError::Cycle { feature: name(feature) })?;
        let follows = |feature: usize| equations.iter().any(|equation| equation.child == feature);
        let rows = policy.constraints.iter().filter(|row| row.terms.iter().any(|term| follows(term.0)));
        let rows = rows.map(|row| Row { terms: row.terms.clone(), bound: row.bound }).collect();
        Ok(Self { equations, rows })
    }

    /// The equations, parents before children.
    pub fn equations(&self) -> &[StructuralEquation] {
        &self.equations
    }

    /// Abduction: the noise of each equation that explains these values, `child − (intercept + Σ weight · parent)`.
    pub fn noise(&self, values: &[f64]) -> Vec<f64> {
        self.equations.iter().map(|equation| values[equation.child] - equation.predict(values)).collect()
    }

    /// Action and prediction: `values` hold the person with the features for which `acted` is true set to new values;
    /// all others follow from their equations with the noise that abduction found for `person`. An equation of a
    /// feature that was set does not apply: do() cuts what its parents would do to it.
    ///
    /// With additive noise this is `child + Σ weight · (change of parent)`, computed so: what does not change keeps its
    /// bits.
    pub fn propagate(&self, person: &[f64], acted: impl Fn(usize) -> bool, values: &mut [f64]) {
        for equation in self.equations.iter().filter(|equation| !acted(equation.child)) {
            let changes = equation.weights.iter().zip(&equation.parents);
            let change: f64 = changes.map(|(weight, &parent)| weight * (values[parent] - person[parent])).sum();
            values[equation.child] = person[equation.child] + change;
        }
    }

    /// The counterfactual of a person after setting some features: [`StructuralModel::noise`], then
    /// [`StructuralModel::propagate`].
    pub fn counterfactual(&self, person: &[f64], set: &[(usize, f64)]) -> Vec<f64> {
        let mut values = person.to_vec();
        set.iter().for_each(|&(feature, value)| values[feature] = value);
        self.propagate(person, |feature| set.iter().any(|&(acted, _)| acted == feature), &mut values);
        values
    }

    /// Whether consequences stay within the limits of the features they move, and the policy's constraints hold with them.
    pub fn within_limits(&self, person: &[f64], values: &[f64]) -> bool {
        let within = self.equations.iter().all(|equation| {
            let (before, after) = (person[equation.child], values[equation.child]);
            let above = equation.min.is_none_or(|min| after >= min.min(before));
            let below = equation.max.is_none_or(|max| after <= max.max(before));
            after.is_finite() && above && below
        });
        within && self.rows.iter().all(|row| row.holds(person, values))
    }
}

impl StructuralEquation {
    /// `intercept + Σ weight · parent`.
    fn predict(&self, values: &[f64]) -> f64 {
        self.weights
            .iter()
            .zip(&self.parents)
            .fold(self.intercept, |sum, (weight, &parent)| sum + weight * values[parent])
    }
}

/// Weights and intercept that fit the training rows best. Columns are centred first, which keeps the equations well
/// conditioned for values such as years.
fn least_squares(train: &Dataset, child: usize, parents: &[usize]) -> (Vec<f64>, f64) {
    let people = &train.people;
    let count = people.len() as f64;
    let mean = |feature: usize| (0..people.len()).map(|row| people.row(row)[feature]).sum::<f64>() / count;
    let centre: Vec<f64> = parents.iter().map(|&parent| mean(parent)).collect();
    let middle = mean(child);
    let mut normal = NormalEquations::new(parents.len());
    let mut row = vec![0.0; parents.len()];
    for index in 0..people.len() {
        let values = people.row(index);
        for (cell, (&parent, centre)) in row.iter_mut().zip(parents.iter().zip(&centre)) {
            *cell = values[parent] - centre;
        }
        normal.add(&row, values[child] - middle, 1.0);
    }
    let weights = normal.solve(&vec![0.0; parents.len()]);
    let intercept = middle - weights.iter().zip(&centre).map(|(weight, centre)| weight * centre).sum::<f64>();
    (weights, intercept)
}

/// Where consequences may move a feature: the policy's limits within what its kind can be.
fn limits(policy: &Policy, schema: &Schema, child: usize) -> (Option<f64>, Option<f64>) {
    let action = &policy.features[child].action;
    let greatest = match &schema.features[child].kind {
        FeatureKind::YesNo { .. } => Some(1.0),
        FeatureKind::Ordered { values } => Some(values.len().saturating_sub(1) as f64),
        _ => None,
    };
    let least = greatest.map(|_| 0.0f64);
    let min = [action.min, least].into_iter().flatten().reduce(f64::max);
    let max = [action.max, greatest].into_iter().flatten().reduce(f64::min);
    (min, max)
}

/// Parents before children; a feature on a circle where there is one.
fn ordered(mut equations: Vec<StructuralEquation>) -> Result<Vec<StructuralEquation>, usize> {
    let mut done = Vec::with_capacity(equations.len());
    while !equations.is_empty() {
        let waits = |equation: &StructuralEquation| {
            equation.parents.iter().any(|parent| equations.iter().any(|other| other.child == *parent))
        };
        let Some(ready) = equations.iter().position(|equation| !waits(equation)) else {
            return Err(equations[0].child);
        };
        done.push(equations.remove(ready));
    }
    Ok(done)
}
