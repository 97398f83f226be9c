//! One model, fully described: which rows, which permitted changes, how it is trained.

use std::ops::RangeInclusive;

use serde::Serialize;

use redress::{
    feasible::Lattice,
    train::{Inner, TrainParams},
};

use crate::{
    data::{Label, Name},
    settings::{Reading, Settings},
};

/// The paper's δ_max, in hundredths of a standard deviation.
pub const DELTA_MAX: u32 = 75;

/// What the rows that neither train nor test are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOut {
    /// All of them pick the epoch and the threshold, as in the paper. None are left to vouch for a guarantee.
    Whole,
    /// Some of them only vouch for a guarantee.
    Apart,
}

/// One split of one data set, with what people may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Sample {
    /// The data set.
    pub data: Name,
    /// Which label counts as a yes.
    pub label: Label,
    /// δ_max in hundredths of a standard deviation.
    pub delta_max: u32,
    /// Whether changes keep to whole steps.
    pub lattice: Lattice,
    /// Whether equal rows are dropped before splitting.
    pub distinct: bool,
    /// Whether rows are kept apart for a guarantee.
    pub held_out: HeldOut,
    /// The seed of the split.
    pub seed: u64,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// The rows it is trained on.
    pub sample: Sample,
    /// How it is trained.
    pub params: TrainParams,
}

impl Sample {
    /// The paper's reading of a data set: δ_max = 0.75, real-valued changes, every row, german's label as released (the
    /// printed figures were made with it).
    pub fn paper(data: Name, seed: u64) -> Sample {
        let label = if data == Name::German { Label::Flipped } else { Label::AsPolicy };
        let (delta_max, lattice, held_out) = (DELTA_MAX, Lattice::Continuous, HeldOut::Whole);
        Sample { data, label, delta_max, lattice, distinct: false, held_out, seed }
    }

    /// The paper's reading of each of these data sets, in every one of these splits.
    pub fn each(data: impl IntoIterator<Item = Name>, seeds: RangeInclusive<u64>) -> impl Iterator<Item = Sample> {
        data.into_iter().flat_map(move |data| seeds.clone().map(move |seed| Sample::paper(data, seed)))
    }

    /// The same data set with each row once: copies of a training row would stand among the others too.
    pub fn distinct(self) -> Sample {
        Sample { distinct: true, ..self }
    }

    /// The same rows with the label that the policy of the data set calls favourable.
    pub fn label_of_policy(self) -> Sample {
        Sample { label: Label::AsPolicy, ..self }
    }

    /// The same rows with changes in whole steps, or any real change.
    pub fn lattice(self, lattice: Lattice) -> Sample {
        Sample { lattice, ..self }
    }

    /// The same rows with some of those held out kept apart for a guarantee.
    pub fn apart(self) -> Sample {
        Sample { held_out: HeldOut::Apart, ..self }
    }

    /// Name and label, as tables show them.
    pub fn title(&self) -> String {
        match (self.data, self.label) {
            (Name::German, Label::AsPolicy) => "german (good credit = yes)".to_owned(),
            (data, _) if self.distinct => format!("{} (each row once)", data.as_str()),
            (data, _) => data.as_str().to_owned(),
        }
    }
}

impl Recipe {
    /// The paper's training of a sample at this λ. A quick run trains on its first epochs only.
    pub fn paper(sample: Sample, lambda: f64, settings: &Settings) -> Recipe {
        Recipe::with(sample, lambda, settings.reading, settings.quick)
    }

    /// [`Recipe::paper`] of every sample at every λ.
    pub fn each(samples: impl IntoIterator<Item = Sample>, lambdas: &[f64], settings: &Settings) -> Vec<Recipe> {
        let samples = samples.into_iter();
        samples.flat_map(|sample| lambdas.iter().map(move |&lambda| Recipe::paper(sample, lambda, settings))).collect()
    }

    /// [`Recipe::paper`] under a reading of its own.
    pub fn with(sample: Sample, lambda: f64, reading: Reading, quick: bool) -> Recipe {
        let params = reading.params(sample.data.rows());
        let epochs = if quick { params.epochs.div_ceil(10).max(1) } else { params.epochs };
        // λ = 0 has no second term: how δ* is found then has no part in the weights.
        let inner = if lambda == 0.0 { Inner::default() } else { params.inner.clone() };
        Recipe { sample, params: TrainParams { lambda, inner, epochs, seed: sample.seed, ..params } }
    }

    /// The recipe of its weights. Without a second term what people may change has no part in training: one model then
    /// serves every Δ.
    pub fn weights(&self) -> Recipe {
        if self.params.lambda > 0.0 {
            return self.clone();
        }
        let sample = Sample { delta_max: DELTA_MAX, lattice: Lattice::Continuous, ..self.sample };
        Recipe { sample, params: self.params.clone() }
    }

    /// The work of training it, in steps of one row: what progress is counted in.
    pub fn work(&self) -> f64 {
        let passes = if self.params.lambda > 0.0 { 1.0 + self.params.inner.steps as f64 } else { 1.0 };
        (self.sample.data.rows() * self.params.epochs) as f64 * passes
    }
}
