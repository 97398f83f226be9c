//! The optimiser.

use std::ops::Range;

use crate::model::kernel::{AdamRates, Aligned, Isa, adam};
use crate::model::packed::Update;

/// Adam (Kingma and Ba 2015) with PyTorch's defaults: β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸.
#[derive(Debug, Clone)]
pub(super) struct Adam {
    learning_rate: f64,
    steps: i32,
    mean: Aligned,
    square: Aligned,
}

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

impl Adam {
    pub(super) fn new(learning_rate: f64, parameters: usize) -> Adam {
        Adam { learning_rate, steps: 0, mean: Aligned::zeros(parameters), square: Aligned::zeros(parameters) }
    }

    /// The next update, done a part at a time.
    pub(super) fn next(&mut self, isa: Isa) -> AdamStep<'_> {
        self.steps = self.steps.saturating_add(1);
        let rates = AdamRates {
            beta1: BETA1 as f32,
            beta2: BETA2 as f32,
            rate: (self.learning_rate / (1.0 - BETA1.powi(self.steps))) as f32,
            unbias: (1.0 / (1.0 - BETA2.powi(self.steps)).sqrt()) as f32,
            epsilon: EPSILON,
            flush: self.steps % 100 == 0,
        };
        AdamStep { isa, rates, mean: &mut self.mean, square: &mut self.square }
    }
}

/// One update in progress.
pub(super) struct AdamStep<'a> {
    isa: Isa,
    rates: AdamRates,
    mean: &'a mut [f32],
    square: &'a mut [f32],
}

impl Update for AdamStep<'_> {
    fn apply(&mut self, range: Range<usize>, values: &mut [f32], gradient: &[f32]) {
        adam(self.isa, self.rates, values, gradient, &mut self.mean[range.clone()], &mut self.square[range]);
    }
}
