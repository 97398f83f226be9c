//! Settings that belong together.

use serde::{Deserialize, Serialize};

use crate::{dataset::split::SplitPlan, feasible::Lattice, train::TrainParams};

/// A table of at most this many rows is trained like the paper's german: 50 epochs of batches of 30, 100 test rows.
const SMALL_TABLE: usize = 2_000;

/// A set of settings that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Changes people can take: whole steps where the policy has them, in training as in the answers.
    #[default]
    Default,
    /// The paper's: real-valued changes, 80% of the rows for training, 500 (small tables: 100) for testing.
    Paper,
}

impl Preset {
    /// The training settings for a table of so many rows.
    pub fn params(self, rows: usize) -> TrainParams {
        let (epochs, batch) = if rows <= SMALL_TABLE { (50, 30) } else { (15, 15) };
        TrainParams { epochs, batch, ..TrainParams::default() }
    }

    /// How a table of so many rows is split.
    pub fn split(self, rows: usize, seed: u64) -> SplitPlan {
        match self {
            Preset::Default => SplitPlan::default_shares(seed),
            Preset::Paper => SplitPlan::paper(if rows <= SMALL_TABLE { 100 } else { 500 }, seed),
        }
    }

    /// Whether changes keep to whole steps.
    pub fn lattice(self) -> Lattice {
        match self {
            Preset::Default => Lattice::AsPolicy,
            Preset::Paper => Lattice::Continuous,
        }
    }
}
