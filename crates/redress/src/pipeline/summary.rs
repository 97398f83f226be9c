//! A trained model in figures: at its F1-best threshold, and at the threshold that carries the guarantee.

use serde::Serialize;

use super::Study;
use crate::{
    audit::{
        metrics::{self, Performance},
        rates::RecourseRates,
    },
    calibrate::{
        FailureProb, MissRate, Threshold, ceiling,
        pare::{self, Bound, CalibrateError, Choice, GroupBound},
    },
    dataset::{Dataset, GroupColumn},
    model::Model,
    train::{Inner, Reached, reach},
};

/// What is to be guaranteed.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// ε.
    pub epsilon: MissRate,
    /// α.
    pub alpha: FailureProb,
    /// Group columns whose every group is to have the guarantee.
    pub groups: Vec<String>,
    /// How the threshold is chosen at or below the bound.
    pub choice: Choice,
}

/// A model in figures. Thresholds come from validation and calibration rows, all else from test rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The threshold with the best F1 on validation rows.
    pub threshold: Threshold,
    /// Its performance.
    pub performance: Performance,
    /// Its recourse by the one-step LP.
    pub recourse: RecourseRates,
    /// The same under the guarantee.
    pub pare: Pare,
}

/// A threshold with a guarantee, and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pare {
    /// The bound over everybody.
    pub overall: Bound,
    /// The bound of each group.
    pub groups: Vec<GroupBound>,
    /// The threshold in force.
    pub threshold: Threshold,
    /// Its performance.
    pub performance: Performance,
    /// Its recourse by the one-step LP.
    pub recourse: RecourseRates,
}

/// max(g(x), g(x + A(x))) with A the one-step LP: 0 ∈ Δ(x), so x reaches θ₀ if either does. Never lower than g(x + A(x)),
/// with the same guarantee.
pub fn scores(reached: &Reached) -> Vec<f32> {
    reached.logits.iter().zip(&reached.moved).map(|(&before, &after)| before.max(after)).collect()
}

impl Goal {
    /// Fails early, before anything is trained, where the calibration rows cannot carry the guarantee.
    pub fn check(&self, study: &Study) -> Result<(), CalibrateError> {
        self.bounds(&vec![0.0; study.calibration.dataset.len()], &study.calibration.dataset).map(|_| ())
    }

    /// The bounds over everybody and each group, for the scores of these people.
    pub fn bounds(&self, scores: &[f32], people: &Dataset) -> Result<(Bound, Vec<GroupBound>), CalibrateError> {
        let overall = pare::bound(scores, self.epsilon, self.alpha)?;
        let named = |column: &&GroupColumn| self.groups.contains(&column.name);
        let columns: Vec<_> = people.groups.iter().filter(named).cloned().collect();
        Ok((overall, pare::group_bounds(scores, &columns, self.epsilon, self.alpha)?))
    }
}

impl Summary {
    /// Chooses both thresholds for a model and measures them on the test rows.
    pub fn new(study: &Study, model: &Model, goal: &Goal) -> Result<Self, CalibrateError> {
        let towards_yes = Inner::default();
        let validation = reach(model, &study.validation.examples, &towards_yes);
        let test = reach(model, &study.test.examples, &towards_yes);
        let (threshold, _) = metrics::best_f1(&validation.logits, &study.validation.examples.labels, None);
        let scores = scores(&reach(model, &study.calibration.examples, &towards_yes));
        let (overall, groups) = goal.bounds(&scores, &study.calibration.dataset)?;
        let bound = ceiling(&overall, &groups);
        let chosen = pare::choose(goal.choice, bound, &validation.logits, &study.validation.examples.labels)?;
        let measure = |threshold: Threshold| {
            let performance = metrics::performance(&test.logits, &study.test.examples.labels, threshold);
            (performance, RecourseRates::count(&test.logits, &test.moved, threshold))
        };
        let (performance, recourse) = measure(threshold);
        let (certified_performance, certified_recourse) = measure(chosen);
        Ok(Self {
            threshold,
            performance,
            recourse,
            pare: Pare {
                overall,
                groups,
                threshold: chosen,
                performance: certified_performance,
                recourse: certified_recourse,
            },
        })
    }
}

/// What a model promises to be worth under the guarantee, judged on validation rows alone: for choosing between models
/// without touching the rows that will vouch for the choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prospect {
    /// The bound, had the validation rows been calibration rows.
    pub bound: Threshold,
    /// The F1-best threshold at or below it.
    pub threshold: Threshold,
    /// Performance at it.
    pub performance: Performance,
    /// Recourse at it, by the one-step LP.
    pub recourse: RecourseRates,
}

impl Prospect {
    /// Judges a model on the validation rows of a study.
    pub fn new(study: &Study, model: &Model, goal: &Goal) -> Result<Self, CalibrateError> {
        let reached = reach(model, &study.validation.examples, &Inner::default());
        let labels = &study.validation.examples.labels;
        let (overall, groups) = goal.bounds(&scores(&reached), &study.validation.dataset)?;
        let bound = ceiling(&overall, &groups);
        let threshold = pare::choose(goal.choice, bound, &reached.logits, labels)?;
        Ok(Self {
            bound,
            threshold,
            performance: metrics::performance(&reached.logits, labels, threshold),
            recourse: RecourseRates::count(&reached.logits, &reached.moved, threshold),
        })
    }

    /// Whether this is worth more than another: by F1, and among equals by recourse.
    pub fn beats(&self, other: &Self) -> bool {
        (self.performance.f1, self.recourse.all()) > (other.performance.f1, other.recourse.all())
    }
}
