//! What a change costs the person who makes it.

use serde::{Deserialize, Serialize};

use crate::{
    encoding::Encoding,
    feasible::{Action, Domain, FeasibleSet, Move},
    policy::Policy,
};

/// How changes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Σ w·|change| in standard deviations: the default. A category that changes counts 1.
    #[default]
    L1,
    /// √Σ (w·change)² in standard deviations.
    L2,
    /// Σ w·|change| in median absolute deviations (Wachter et al.); standard deviations where the MAD is 0.
    MadL1,
    /// Σ w·|shift in percentile| (Ustun et al.'s total).
    PercentileTotal,
    /// max w·|shift in percentile| (Ustun et al.'s maximum).
    PercentileMax,
}

/// A measure with the policy's weights and fixed costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    measure: Measure,
    encoding: Encoding,
    /// For each feature, its weight and the cost of changing it at all.
    features: Vec<(f64, f64)>,
}

impl Costs {
    /// The costs of a policy under one measure.
    pub fn new(policy: &Policy, encoding: &Encoding, measure: Measure) -> Self {
        let features = policy.features.iter().map(|rule| (rule.cost_weight, rule.fixed_cost)).collect();
        Self { measure, encoding: encoding.clone(), features }
    }

    /// Costs with weight 1 for every feature and no fixed costs.
    pub fn plain(encoding: &Encoding, measure: Measure) -> Self {
        Self { measure, encoding: encoding.clone(), features: vec![(1.0, 0.0); encoding.schema().features.len()] }
    }

    /// The measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The cost of an action. Only what the person does counts: consequences by links or causes are free.
    pub fn of(&self, feasible: &FeasibleSet, action: &Action) -> f64 {
        let parts = (0..action.moves.len()).map(|lever| self.of_move(feasible, lever, &action.moves[lever]));
        self.total(parts)
    }

    /// One lever's part of the cost; [`Costs::of`] adds parts up. Never decreases as a change grows either way.
    pub fn of_move(&self, feasible: &FeasibleSet, lever: usize, moved: &Move) -> f64 {
        let Some(lever) = feasible.levers().nth(lever) else { return f64::INFINITY };
        match (*moved, lever.domain) {
            (Move::To(to), Domain::Choice { from, .. }) => self.of_leaving(lever.feature, to != *from),
            (Move::Steps(steps), Domain::Grid { step, .. }) => {
                self.of_change(feasible, lever.feature, steps as f64 * step)
            }
            (Move::By(change), Domain::Range { .. }) => self.of_change(feasible, lever.feature, change),
            // A move of another kind than its lever is not in Δ(x).
            _ => f64::INFINITY,
        }
    }

    /// The least cost of any action whose moves lie in these parts of the levers' domains: a bound for searches.
    pub fn least(&self, feasible: &FeasibleSet, domains: &[Domain]) -> f64 {
        self.total(feasible.levers().zip(domains).map(|(lever, domain)| match domain {
            Domain::Range { lo, hi } => self.of_change(feasible, lever.feature, nearest_to_zero(*lo, *hi)),
            Domain::Grid { step, lo, hi } => {
                let steps = if *lo > 0 { *lo } else { (*hi).min(0) };
                self.of_change(feasible, lever.feature, steps as f64 * step)
            }
            Domain::Choice { from, to } => self.of_leaving(lever.feature, !to.is_empty() && !to.contains(from)),
        }))
    }

    /// Adds up parts as the measure says.
    fn total(&self, parts: impl Iterator<Item = f64>) -> f64 {
        match self.measure {
            Measure::L2 => parts.map(|part| part * part).sum::<f64>().sqrt(),
            Measure::PercentileMax => parts.fold(0.0, f64::max),
            Measure::L1 | Measure::MadL1 | Measure::PercentileTotal => parts.sum(),
        }
    }

    /// The cost of leaving a category, or of staying in it.
    fn of_leaving(&self, feature: usize, leaves: bool) -> f64 {
        let (weight, fixed) = self.features[feature];
        if leaves { weight + fixed } else { 0.0 }
    }

    /// The cost of changing a numeric feature by this much.
    fn of_change(&self, feasible: &FeasibleSet, feature: usize, change: f64) -> f64 {
        if change == 0.0 {
            return 0.0;
        }
        let statistics = self.encoding.statistics(feature);
        let size = match self.measure {
            Measure::L1 | Measure::L2 => change.abs() / self.encoding.deviation(feature),
            Measure::MadL1 if statistics.mad > 0.0 => change.abs() / statistics.mad,
            Measure::MadL1 => change.abs() / self.encoding.deviation(feature),
            Measure::PercentileTotal | Measure::PercentileMax => {
                let from = feasible.person()[feature];
                (statistics.percentile(from + change) - statistics.percentile(from)).abs()
            }
        };
        let (weight, fixed) = self.features[feature];
        weight * size + fixed
    }
}

/// The number in [lo, hi] nearest to 0.
fn nearest_to_zero(lo: f64, hi: f64) -> f64 {
    0.0f64.clamp(lo.min(hi), hi.max(lo))
}
