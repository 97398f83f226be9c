//! Logistic regression.

use super::{Dense, ModelError, Scorer, check_layers};

/// `logit = bias + Σ weight · input`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    weights: Vec<f32>,
    bias: f32,
}

impl Linear {
    /// A model of one weight an input, all finite.
    pub fn new(weights: Vec<f32>, bias: f32) -> Result<Linear, ModelError> {
        let linear = Linear { weights, bias };
        check_layers(&[linear.layer()])?;
        Ok(linear)
    }

    /// One weight an input.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The logit of the origin.
    pub fn bias(&self) -> f32 {
        self.bias
    }

    /// As a dense layer with one output.
    pub fn layer(&self) -> Dense {
        Dense { inputs: self.weights.len(), outputs: 1, weights: self.weights.clone(), bias: vec![self.bias] }
    }
}

impl Scorer for Linear {
    fn inputs(&self) -> usize {
        self.weights.len()
    }

    fn logits(&self, points: &[f32], logits: &mut [f32]) {
        #[cfg(test)]
        super::counter::note(logits.len());
        for (point, logit) in points.chunks_exact(self.weights.len()).zip(logits) {
            *logit = self.weights.iter().zip(point).fold(self.bias, |sum, (weight, value)| sum + weight * value);
        }
    }

    fn gradients(&self, points: &[f32], logits: &mut [f32], gradients: &mut [f32]) {
        self.logits(points, logits);
        #[cfg(test)]
        super::counter::note(logits.len());
        gradients.chunks_exact_mut(self.weights.len()).for_each(|row| row.copy_from_slice(&self.weights));
    }
}
