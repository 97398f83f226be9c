//! The settings of a training run, checked once.

use crate::model::{Activation, Architecture};

/// Everything that decides a training run besides the rows. The default is the paper's.
///
/// ```
/// use redress::train::TrainParams;
///
/// let params = TrainParams { lambda: 0.4, epochs: 5, ..TrainParams::default() };
/// assert!(params.check().is_ok());
/// assert!(TrainParams { lambda: f64::NAN, ..TrainParams::default() }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainParams {
    /// λ ≥ 0: how much the way to a yes weighs against fitting the labels. 0 trains a plain classifier.
    pub lambda: f64,
    /// How δ* is found.
    pub inner: Inner,
    /// Whether the rarer class weighs as much as the other in the first term.
    pub class_weights: bool,
    /// Passes over the training rows.
    pub epochs: usize,
    /// Rows a step.
    pub batch: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// The width of each hidden layer; none trains logistic regression.
    pub hidden: Vec<usize>,
    /// What happens between layers.
    pub activation: Activation,
    /// The chance that a hidden output is dropped in training.
    pub dropout: f32,
    /// Which epoch's weights are kept.
    pub best_epoch: BestEpoch,
    /// Stop after this many epochs without a better one.
    pub early_stop: Option<usize>,
    /// The same seed gives the same weights, bit for bit, on the same kind of machine.
    pub seed: u64,
}

/// How δ* is found.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Inner {
    /// Towards a yes, or as the released code has it.
    pub objective: InnerObjective,
    /// Steps of the search for δ*: 1 is the paper's linearised minimum, more follow the curve of the score.
    pub steps: usize,
    /// The standard deviation of Gaussian noise on the columns a person can move, added to x + δ*, in encoded units.
    pub noise: f64,
}

/// What δ* does to the loss ℓ(g(x + δ), 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InnerObjective {
    /// δ* *lowers* the loss towards a yes: the minimum the paper writes.
    #[default]
    AsWritten,
    /// δ* *raises* the loss, which is what the paper's released code computes. Only for reproducing its tables.
    AsReleased,
}

/// Which epoch's weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BestEpoch {
    /// The one with the highest F1 on the validation rows, each epoch at its own F1-best threshold; of equals the one that
    /// gives more of them approval or recourse, then the first.
    #[default]
    F1,
    /// The one with the lowest mean of ℓ(g(x), y) on the validation rows, as in the paper's released code.
    Loss,
}

impl Default for Inner {
    fn default() -> Self {
        Inner { objective: InnerObjective::AsWritten, steps: 1, noise: 0.0 }
    }
}

impl Default for TrainParams {
    fn default() -> Self {
        let Architecture { hidden, activation, dropout } = Architecture::default();
        TrainParams {
            lambda: 0.8,
            inner: Inner::default(),
            class_weights: true,
            epochs: 15,
            batch: 15,
            learning_rate: 0.002,
            hidden,
            activation,
            dropout,
            best_epoch: BestEpoch::default(),
            early_stop: None,
            seed: 0,
        }
    }
}

/// A setting outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// λ is negative, infinite or not a number.
    #[error("lambda must be a number of at least 0, not {0}")]
    Lambda(f64),
    /// The learning rate is not a positive number.
    #[error("the learning rate must be a number above 0, not {0}")]
    LearningRate(f64),
    /// Dropout is not in [0, 1).
    #[error("dropout must be at least 0 and below 1, not {0}")]
    Dropout(f32),
    /// The noise is negative, infinite or not a number.
    #[error("the noise must be a number of at least 0, not {0}")]
    Noise(f64),
    /// A count that must be at least 1 is 0.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A network too large to hold.
    #[error("hidden layers of {0:?} make a network too large to hold")]
    TooLarge(Vec<usize>),
}

/// Settings that have been checked: the only ones [`super::fit`] takes.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedParams(TrainParams);

impl TrainParams {
    /// Checks every setting. Ranges are written so that NaN fails.
    pub fn check(self) -> Result<CheckedParams, ParamError> {
        if !(self.lambda >= 0.0 && self.lambda <= f64::from(f32::MAX)) {
            return Err(ParamError::Lambda(self.lambda));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= f64::from(f32::MAX)) {
            return Err(ParamError::LearningRate(self.learning_rate));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(ParamError::Dropout(self.dropout));
        }
        if !(self.inner.noise >= 0.0 && self.inner.noise <= f64::from(f32::MAX)) {
            return Err(ParamError::Noise(self.inner.noise));
        }
        let counts = [
            ("the number of epochs", self.epochs),
            ("the batch size", self.batch),
            ("the number of inner steps", self.inner.steps),
            ("the patience of early stopping", self.early_stop.unwrap_or(1)),
            ("the width of a hidden layer", self.hidden.iter().copied().min().unwrap_or(1)),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(ParamError::Zero(name));
        }
        const MOST_WEIGHTS: usize = 1 << 28;
        let squares = self.hidden.iter().map(|width| width.saturating_mul(*width));
        if squares.fold(0usize, usize::saturating_add) > MOST_WEIGHTS {
            return Err(ParamError::TooLarge(self.hidden));
        }
        Ok(CheckedParams(self))
    }

    /// The shape of the model.
    pub fn architecture(&self) -> Architecture {
        Architecture { hidden: self.hidden.clone(), activation: self.activation, dropout: self.dropout }
    }
}

impl std::ops::Deref for CheckedParams {
    type Target = TrainParams;

    fn deref(&self) -> &TrainParams {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_papers_and_passes() {
        let checked = TrainParams::default().check().unwrap();
        assert_eq!((checked.epochs, checked.batch, checked.learning_rate), (15, 15, 0.002));
        assert_eq!(checked.hidden, [100, 100, 100]);
        assert_eq!((checked.dropout, checked.lambda), (0.3, 0.8));
    }

    #[test]
    fn settings_outside_their_range_are_refused_by_name() {
        let refuse = |change: fn(&mut TrainParams)| {
            let mut params = TrainParams::default();
            change(&mut params);
            params.check().unwrap_err()
        };
        assert_eq!(refuse(|p| p.lambda = -0.1), ParamError::Lambda(-0.1));
        assert!(matches!(refuse(|p| p.lambda = f64::NAN), ParamError::Lambda(_)));
        assert!(matches!(refuse(|p| p.lambda = f64::INFINITY), ParamError::Lambda(_)));
        assert!(matches!(refuse(|p| p.learning_rate = 0.0), ParamError::LearningRate(_)));
        assert!(matches!(refuse(|p| p.learning_rate = f64::NAN), ParamError::LearningRate(_)));
        assert!(matches!(refuse(|p| p.dropout = 1.0), ParamError::Dropout(_)));
        assert!(matches!(refuse(|p| p.inner.noise = -1.0), ParamError::Noise(_)));
        assert_eq!(refuse(|p| p.batch = 0), ParamError::Zero("the batch size"));
        assert_eq!(refuse(|p| p.epochs = 0), ParamError::Zero("the number of epochs"));
        assert_eq!(refuse(|p| p.inner.steps = 0), ParamError::Zero("the number of inner steps"));
        assert_eq!(refuse(|p| p.hidden = vec![3, 0]), ParamError::Zero("the width of a hidden layer"));
        assert!(matches!(refuse(|p| p.hidden = vec![usize::MAX]), ParamError::TooLarge(_)));
    }
}
