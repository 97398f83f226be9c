//! The training loop.

use std::ops::ControlFlow;

use rand::seq::SliceRandom;

use super::assess::{Assessment, assess};
use super::objective::ClassWeights;
use super::step::{Terms, Trainer, random, stream};
use super::{BestEpoch, CheckedParams, Examples};
use crate::model::{Isa, Model, ModelError};

/// What one epoch came to.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EpochReport {
    /// From 1.
    pub epoch: usize,
    /// The mean of w(y)·ℓ(g(x), y) over the epoch's steps.
    pub supervised: f64,
    /// The mean of ℓ(g(x + δ*), 1) over the epoch's steps, without λ; 0 where λ is 0.
    pub recourse: f64,
    /// The objective: the first term plus λ times the second.
    pub objective: f64,
    /// The validation rows at their F1-best threshold.
    pub validation: Assessment,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Every epoch was run.
    Finished,
    /// No epoch was better for as long as the patience allowed.
    NoBetter,
    /// Asked to.
    Asked,
}

/// A trained model: the weights of the best epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The epoch it is from.
    pub best: EpochReport,
    /// Every epoch run.
    pub epochs: Vec<EpochReport>,
    /// Why the run ended.
    pub stop: Stop,
    /// Steps taken in all.
    pub steps: u64,
}

/// Why there is no trained model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// A split without rows.
    #[error("the {split} split has no rows")]
    Empty {
        /// `training` or `validation`.
        split: &'static str,
    },
    /// A split whose labels are all alike: nothing can be learnt from it or chosen on it.
    #[error("every one of the {rows} rows of the {split} split has the {label} label; both are needed")]
    SingleClass {
        /// `training` or `validation`.
        split: &'static str,
        /// How many rows there are.
        rows: usize,
        /// `favourable` or `unfavourable`.
        label: &'static str,
    },
    /// Points, labels and feasible sets that do not belong together.
    #[error("the points, labels and permitted changes of the {split} split do not fit together")]
    Shape {
        /// `training` or `validation`.
        split: &'static str,
    },
    /// A point that is not finite.
    #[error("row {row} of the {split} split has a value that is not a finite number")]
    NotFinite {
        /// `training` or `validation`.
        split: &'static str,
        /// The row, from 0.
        row: usize,
    },
    /// More rows than can be counted in 32 bits.
    #[error("{rows} training rows are more than this can count ({most})", most = u32::MAX)]
    TooMany {
        /// The rows.
        rows: usize,
    },
    /// The loss or a weight became infinite or NaN.
    #[error(
        "training diverged in epoch {epoch}: the loss or a weight is no longer a finite number; lower the learning rate"
    )]
    Diverged {
        /// From 1.
        epoch: usize,
    },
    /// Asked to stop before the first epoch ended.
    #[error("training was stopped before its first epoch ended")]
    Stopped,
    /// The settings and the width of the points make no model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Trains a model and returns the weights of the best epoch, by the validation rows (see [`BestEpoch`]).
///
/// `observe` sees each epoch as it ends and may stop the run, which then returns the best so far. The same parameters and
/// rows give the same bits, on any number of threads.
pub fn fit(
    params: &CheckedParams,
    train: &Examples,
    validation: &Examples,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<Fitted, TrainError> {
    run(Isa::detect(), params, train, validation, observe, &|| true)
}

/// [`fit`] for as long as `keep_going` says yes, which is asked before every step: a stop is heard within an epoch, too.
pub fn fit_while(
    params: &CheckedParams,
    train: &Examples,
    validation: &Examples,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
    keep_going: &dyn Fn() -> bool,
) -> Result<Fitted, TrainError> {
    run(Isa::detect(), params, train, validation, observe, keep_going)
}

/// [`fit`] on a chosen instruction set.
pub fn fit_on(
    isa: Isa,
    params: &CheckedParams,
    train: &Examples,
    validation: &Examples,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<Fitted, TrainError> {
    run(isa, params, train, validation, observe, &|| true)
}

fn run(
    isa: Isa,
    params: &CheckedParams,
    train: &Examples,
    validation: &Examples,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
    keep_going: &dyn Fn() -> bool,
) -> Result<Fitted, TrainError> {
    check("training", train)?;
    check("validation", validation)?;
    if train.width() != validation.width() {
        return Err(TrainError::Shape { split: "validation" });
    }
    let mut order: Vec<u32> = match u32::try_from(train.len()) {
        Ok(rows) => (0..rows).collect(),
        Err(_) => return Err(TrainError::TooMany { rows: train.len() }),
    };
    let weights = if params.class_weights { ClassWeights::of(&train.labels) } else { ClassWeights::EVEN };
    let start = Model::random(train.width(), &params.architecture(), params.seed)?;
    let mut trainer = Trainer::new(isa, params, &start, weights);
    let mut order_source = random(params.seed, stream::ORDER);
    let mut epochs: Vec<EpochReport> = Vec::new();
    let mut best: Option<(EpochReport, Model)> = None;
    let (mut stop, mut steps) = (Stop::Finished, 0);

    'epochs: for epoch in 1..=params.epochs {
        order.shuffle(&mut order_source);
        let mut sum = Terms::default();
        for rows in order.chunks(params.batch) {
            if !keep_going() {
                stop = Stop::Asked;
                break 'epochs;
            }
            let terms = trainer.step(train, rows);
            sum.supervised += terms.supervised;
            sum.recourse += terms.recourse;
            steps += 1;
            if !(sum.supervised + sum.recourse).is_finite() {
                return Err(TrainError::Diverged { epoch });
            }
        }
        let model = current(isa, &trainer, params).map_err(|_| TrainError::Diverged { epoch })?;
        let (supervised, recourse) = (sum.supervised / train.len() as f64, sum.recourse / train.len() as f64);
        let objective = supervised + params.lambda * recourse;
        let validation = assess(&model, validation, &params.inner, None);
        let report = EpochReport { epoch, supervised, recourse, objective, validation };
        epochs.push(report);
        if best.as_ref().is_none_or(|(before, _)| better(params.best_epoch, &report, before)) {
            best = Some((report, model));
        }
        if observe(&report).is_break() {
            stop = Stop::Asked;
            break;
        }
        let since = epoch - best.as_ref().map_or(0, |(report, _)| report.epoch);
        if epoch < params.epochs && params.early_stop.is_some_and(|patience| since >= patience) {
            stop = Stop::NoBetter;
            break;
        }
    }
    let (best, model) =
        best.ok_or(if stop == Stop::Asked { TrainError::Stopped } else { TrainError::Diverged { epoch: 1 } })?;
    Ok(Fitted { model, best, epochs, stop, steps })
}

/// Whether an epoch beats the best before it.
fn better(by: BestEpoch, new: &EpochReport, before: &EpochReport) -> bool {
    let key = |report: &EpochReport| match by {
        BestEpoch::F1 => (report.validation.f1, report.validation.recourse_all),
        BestEpoch::Loss => (-report.validation.loss, report.validation.recourse_all),
    };
    key(new) > key(before)
}

/// The model in its present state; fails where a weight is not finite.
fn current(isa: Isa, trainer: &Trainer, params: &CheckedParams) -> Result<Model, ModelError> {
    let model = Model::from_layers(trainer.packed.layers(), params.activation, params.dropout)?;
    Ok(match model {
        Model::Mlp(mlp) => Model::Mlp(mlp.on(isa)),
        linear => linear,
    })
}

/// Checks that a split can be trained or chosen on.
fn check(split: &'static str, examples: &Examples) -> Result<(), TrainError> {
    let (rows, width) = (examples.len(), examples.width());
    if rows == 0 {
        return Err(TrainError::Empty { split });
    }
    if width == 0 || examples.points.len() != rows * width || !examples.inner.fits(rows, width) {
        return Err(TrainError::Shape { split });
    }
    if let Some(at) = examples.points.iter().position(|value| !value.is_finite()) {
        return Err(TrainError::NotFinite { split, row: at / width });
    }
    let first = examples.labels[0];
    if examples.labels.iter().all(|&label| label == first) {
        let label = if first { "favourable" } else { "unfavourable" };
        return Err(TrainError::SingleClass { split, rows, label });
    }
    Ok(())
}
