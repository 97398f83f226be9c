//! The optimiser.

use crate::model::kernel::{AdamRates, Isa, adam};

/// Adam (Kingma and Ba 2015) with PyTorch's defaults: β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸.
#[derive(Debug, Clone)]
pub(super) struct Adam {
    learning_rate: f64,
    steps: i32,
    mean: Vec<f32>,
    square: Vec<f32>,
}

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

impl Adam {
    pub(super) fn new(learning_rate: f64, parameters: usize) -> Adam {
        Adam { learning_rate, steps: 0, mean: vec![0.0; parameters], square: vec![0.0; parameters] }
    }

    /// Moves the weights one step against the gradient.
    pub(super) fn update(&mut self, isa: Isa, weights: &mut [f32], gradient: &[f32]) {
        self.steps = self.steps.saturating_add(1);
        let rates = AdamRates {
            beta1: BETA1 as f32,
            beta2: BETA2 as f32,
            rate: (self.learning_rate / (1.0 - BETA1.powi(self.steps))) as f32,
            unbias: (1.0 / (1.0 - BETA2.powi(self.steps)).sqrt()) as f32,
            epsilon: EPSILON,
        };
        adam(isa, rates, weights, gradient, &mut self.mean, &mut self.square);
    }
}
