//! Scores: a logit for every point, and its gradient with respect to the point.
//!
//! ```
//! use redress::model::{Dense, Linear, Model, Scorer};
//!
//! // logit = 0.5 + 2·x₀ − 1·x₁
//! let model = Model::Linear(Linear::new(vec![2.0, -1.0], 0.5)?);
//! assert_eq!(model.logit(&[1.0, 3.0]), -0.5);
//! let (mut logits, mut gradients) = ([0.0; 1], [0.0; 2]);
//! model.gradients(&[1.0, 3.0], &mut logits, &mut gradients);
//! assert_eq!(gradients, [2.0, -1.0]);
//! # Ok::<(), redress::model::ModelError>(())
//! ```

mod initial;
pub mod kernel;
mod linear;
mod mlp;
pub(crate) mod packed;

pub use kernel::Isa;
pub use linear::Linear;
pub use mlp::Mlp;

/// A differentiable score. Higher logits are nearer to a yes.
///
/// `points` holds points row after row, [`Scorer::inputs`] numbers each. The logit of a point does not depend, in any
/// bit, on the other points of the batch.
pub trait Scorer: Send + Sync {
    /// The number of inputs.
    fn inputs(&self) -> usize;

    /// Writes the logit of each point.
    fn logits(&self, points: &[f32], logits: &mut [f32]);

    /// Writes the logit of each point and its gradient ∂logit/∂point (row after row, like `points`).
    fn gradients(&self, points: &[f32], logits: &mut [f32], gradients: &mut [f32]);

    /// The logit of one point.
    fn logit(&self, point: &[f32]) -> f32 {
        let mut logit = [0.0];
        self.logits(point, &mut logit);
        logit[0]
    }
}

/// One dense layer, `out = in · weights + bias`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// The number of inputs.
    pub inputs: usize,
    /// The number of outputs.
    pub outputs: usize,
    /// `inputs × outputs`, row after row: row `k` holds the weights of input `k`.
    pub weights: Vec<f32>,
    /// One for each output.
    pub bias: Vec<f32>,
}

/// What happens between layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The hyperbolic tangent: the paper's.
    Tanh,
    /// `max(0, z)`.
    Relu,
}

/// Any model of the library.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// A multi-layer perceptron.
    Mlp(Mlp),
    /// Logistic regression.
    Linear(Linear),
}

/// The shape of a model before it has weights.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Architecture {
    /// The width of each hidden layer; none makes the model linear.
    pub hidden: Vec<usize>,
    /// What happens between layers.
    pub activation: Activation,
    /// The chance that training drops a hidden output, in [0, 1).
    pub dropout: f32,
}

impl Default for Architecture {
    /// The paper's: three hidden layers of 100, tanh, dropout 0.3.
    fn default() -> Self {
        Architecture { hidden: vec![100; 3], activation: Activation::Tanh, dropout: 0.3 }
    }
}

/// Why layers do not make a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// There is no layer at all.
    #[error("a model needs at least one layer")]
    NoLayers,
    /// A layer has no inputs or no outputs.
    #[error("layer {layer} is empty: {inputs} inputs, {outputs} outputs")]
    EmptyLayer {
        /// Which, from 0.
        layer: usize,
        /// Its inputs.
        inputs: usize,
        /// Its outputs.
        outputs: usize,
    },
    /// A layer holds the wrong number of weights or biases.
    #[error("layer {layer} is {inputs} × {outputs} but holds {weights} weights and {biases} biases")]
    WrongCount {
        /// Which, from 0.
        layer: usize,
        /// Its inputs.
        inputs: usize,
        /// Its outputs.
        outputs: usize,
        /// The weights it holds.
        weights: usize,
        /// The biases it holds.
        biases: usize,
    },
    /// A layer takes another number of inputs than the layer before it puts out.
    #[error("layer {layer} takes {inputs} inputs, but the layer before it puts out {before}")]
    Mismatch {
        /// Which, from 0.
        layer: usize,
        /// What it takes.
        inputs: usize,
        /// What the layer before it puts out.
        before: usize,
    },
    /// The last layer does not put out one logit.
    #[error("the last layer puts out {outputs} numbers; a score is one")]
    NotOneLogit {
        /// What it puts out.
        outputs: usize,
    },
    /// A weight or bias is not a finite number.
    #[error("layer {layer} holds a weight or bias that is not a finite number ({value})")]
    NotFinite {
        /// Which, from 0.
        layer: usize,
        /// The first such value.
        value: f32,
    },
    /// The dropout rate is not in [0, 1).
    #[error("dropout must be at least 0 and below 1, not {0}")]
    Dropout(f32),
}

impl Model {
    /// The model of these layers: linear when there is but one.
    pub fn from_layers(layers: Vec<Dense>, activation: Activation, dropout: f32) -> Result<Model, ModelError> {
        if let [layer] = &layers[..] {
            check_layers(&layers)?;
            return Ok(Model::Linear(Linear::new(layer.weights.clone(), layer.bias[0])?));
        }
        Ok(Model::Mlp(Mlp::new(layers, activation, dropout)?))
    }

    /// A model with random weights, drawn as PyTorch draws them: every weight and bias of a layer uniform within
    /// ±1/√inputs. The same seed gives the same bits.
    pub fn random(inputs: usize, architecture: &Architecture, seed: u64) -> Result<Model, ModelError> {
        let layers = initial::layers(inputs, &architecture.hidden, seed);
        Model::from_layers(layers, architecture.activation, architecture.dropout)
    }

    /// The layers from input to logit.
    pub fn layers(&self) -> std::borrow::Cow<'_, [Dense]> {
        match self {
            Model::Mlp(mlp) => mlp.layers().into(),
            Model::Linear(linear) => vec![linear.layer()].into(),
        }
    }

    /// `mlp` or `linear`.
    pub fn kind(&self) -> &'static str {
        match self {
            Model::Mlp(_) => "mlp",
            Model::Linear(_) => "linear",
        }
    }

    /// The shape of the model. A linear one has the default activation, which it never uses.
    pub fn architecture(&self) -> Architecture {
        match self {
            Model::Mlp(mlp) => Architecture {
                hidden: mlp.layers()[1..].iter().map(|layer| layer.inputs).collect(),
                activation: mlp.activation(),
                dropout: mlp.dropout(),
            },
            Model::Linear(_) => Architecture { hidden: Vec::new(), dropout: 0.0, ..Architecture::default() },
        }
    }
}

impl Scorer for Model {
    fn inputs(&self) -> usize {
        match self {
            Model::Mlp(mlp) => mlp.inputs(),
            Model::Linear(linear) => linear.inputs(),
        }
    }

    fn logits(&self, points: &[f32], logits: &mut [f32]) {
        match self {
            Model::Mlp(mlp) => mlp.logits(points, logits),
            Model::Linear(linear) => linear.logits(points, logits),
        }
    }

    fn gradients(&self, points: &[f32], logits: &mut [f32], gradients: &mut [f32]) {
        match self {
            Model::Mlp(mlp) => mlp.gradients(points, logits, gradients),
            Model::Linear(linear) => linear.gradients(points, logits, gradients),
        }
    }
}

/// Checks that layers fit together, end in one logit and hold finite numbers.
fn check_layers(layers: &[Dense]) -> Result<(), ModelError> {
    let mut before = None;
    for (layer, dense) in layers.iter().enumerate() {
        let Dense { inputs, outputs, .. } = *dense;
        if inputs == 0 || outputs == 0 {
            return Err(ModelError::EmptyLayer { layer, inputs, outputs });
        }
        let (weights, biases) = (dense.weights.len(), dense.bias.len());
        if inputs.checked_mul(outputs) != Some(weights) || biases != outputs {
            return Err(ModelError::WrongCount { layer, inputs, outputs, weights, biases });
        }
        if let Some(before) = before.filter(|before| *before != inputs) {
            return Err(ModelError::Mismatch { layer, inputs, before });
        }
        if let Some(value) = dense.weights.iter().chain(&dense.bias).find(|value| !value.is_finite()) {
            return Err(ModelError::NotFinite { layer, value: *value });
        }
        before = Some(outputs);
    }
    match before {
        None => Err(ModelError::NoLayers),
        Some(1) => Ok(()),
        Some(outputs) => Err(ModelError::NotOneLogit { outputs }),
    }
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
pub(crate) mod counter;
