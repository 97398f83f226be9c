//! What a run is asked for.

use serde::{Deserialize, Serialize};

use redress::{
    calibrate::{FailureProb, MissRate, RateError},
    model::Activation,
    pipeline::Preset,
    train::{BestEpoch, Inner, InnerObjective, TrainParams},
};

/// Which paper is reproduced: the one that was written, or the one that its released code computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The formulas of the paper.
    AsWritten,
    /// What the released code does instead: δ is sought where the loss towards a yes is *highest*, in training and when
    /// recourse is computed; the network has two hidden layers with ReLU, batches of 10, and keeps the epoch with the
    /// lowest validation loss; the threshold is calibrated on the validation rows with 0.95 where α = 0.05 belongs; causal
    /// actions leave their descendants where they are.
    AsReleased,
}

impl Reading {
    /// `as written` or `as released`.
    pub fn title(self) -> &'static str {
        match self {
            Reading::AsWritten => "as written",
            Reading::AsReleased => "as released",
        }
    }

    /// Which way δ* goes.
    pub fn objective(self) -> InnerObjective {
        match self {
            Reading::AsWritten => InnerObjective::AsWritten,
            Reading::AsReleased => InnerObjective::AsReleased,
        }
    }

    /// The paper's training settings, or those of its released code.
    pub fn params(self, rows: usize) -> TrainParams {
        let paper = Preset::Paper.params(rows);
        match self {
            Reading::AsWritten => paper,
            Reading::AsReleased => TrainParams {
                hidden: vec![100, 100],
                activation: Activation::Relu,
                batch: 10,
                best_epoch: BestEpoch::Loss,
                inner: self.inner(),
                ..paper
            },
        }
    }

    /// The one-step search for δ* of this reading.
    pub fn inner(self) -> Inner {
        Inner { objective: self.objective(), ..Inner::default() }
    }

    /// What stands for ε and α when both are said to be `level`: the released code passes 1 − α as the failure chance.
    pub fn levels(self, level: f64) -> Result<(MissRate, FailureProb), RateError> {
        let alpha = match self {
            Reading::AsWritten => level,
            Reading::AsReleased => 1.0 - level,
        };
        Ok((MissRate::new(level)?, FailureProb::new(alpha)?))
    }
}

/// What a run is asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Which paper.
    pub reading: Reading,
    /// One split, fewer λ, fewer rows, shorter training: shows that everything runs, proves nothing.
    pub quick: bool,
    /// Random splits of each data set; the causal figure takes 20 unless this is given.
    pub splits: Option<u64>,
}

impl Settings {
    /// The full run of a reading.
    pub fn full(reading: Reading) -> Settings {
        Settings { reading, quick: false, splits: None }
    }

    /// The seeds of the splits, where the paper takes `paper` of them.
    pub fn seeds(&self, paper: u64) -> std::ops::RangeInclusive<u64> {
        let splits = self.splits.unwrap_or(if self.quick { 1 } else { paper });
        1..=splits.max(1)
    }

    /// λ = 0, 0.2, …, 2; three of them in a quick run.
    pub fn lambdas(&self) -> Vec<f64> {
        let tenths: Vec<u32> = if self.quick { vec![0, 8, 16] } else { (0..=10).map(|step| 2 * step).collect() };
        tenths.into_iter().map(|tenths| f64::from(tenths) / 10.0).collect()
    }

    /// How many people a solver that takes its time is asked about, of each test set.
    pub fn people(&self) -> usize {
        if self.quick { 40 } else { usize::MAX }
    }
}
