//! One split of one data set, encoded and ready to train on.

use crate::{
    calibrate::sha256_hex,
    dataset::{Dataset, split::Split},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice, SpaceError},
    policy::Policy,
    train::Examples,
};

/// Why a data set cannot be studied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StudyError {
    /// The policy does not fit the rows.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// A policy and the four parts of its rows, encoded by the training part alone.
#[derive(Debug, Clone)]
pub struct Study {
    /// Who may change what.
    pub policy: Policy,
    /// The same, compiled for these rows; holds the encoding.
    pub space: ActionSpace,
    /// Rows the weights are fitted on.
    pub train: Part,
    /// Rows that pick the epoch and the threshold.
    pub validation: Part,
    /// Rows that vouch for the threshold, and serve nothing else.
    pub calibration: Part,
    /// Rows that all figures are reported on.
    pub test: Part,
}

/// One part of the rows, in original units and encoded.
#[derive(Debug, Clone)]
pub struct Part {
    /// People, labels and groups.
    pub dataset: Dataset,
    /// Points, labels and Δ(x).
    pub examples: Examples,
}

impl Study {
    /// Fits the encoding on the training part and prepares every part for it.
    pub fn new(policy: Policy, split: Split, lattice: Lattice) -> Result<Self, StudyError> {
        let encoding = Encoding::fit(split.train.dataset());
        let space = ActionSpace::new(&policy, &encoding, lattice)?;
        let part = |dataset: Dataset| Part::new(dataset, &space);
        Ok(Self {
            train: part(split.train.into_dataset())?,
            validation: part(split.validation.into_dataset())?,
            calibration: part(split.calibration.into_dataset())?,
            test: part(split.test.into_dataset())?,
            space,
            policy,
        })
    }
}

impl Study {
    /// All rows of the four parts.
    pub fn rows(&self) -> usize {
        [&self.train, &self.validation, &self.calibration, &self.test].map(|part| part.examples.len()).iter().sum()
    }
}

impl Part {
    /// Encodes rows and prepares what each person may change.
    pub fn new(dataset: Dataset, space: &ActionSpace) -> Result<Self, StudyError> {
        let examples = Examples::new(&dataset, space)?;
        Ok(Self { dataset, examples })
    }

    /// SHA-256 of the points and labels: which rows, exactly.
    pub fn sha256(&self) -> String {
        let labels = self.examples.labels.iter().map(|&label| u8::from(label));
        let points = self.examples.points.iter().flat_map(|value| value.to_le_bytes());
        sha256_hex(&points.chain(labels).collect::<Vec<u8>>())
    }
}
