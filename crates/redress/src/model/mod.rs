//! Scores: a logit for every point, and its gradient with respect to the point.

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
