//! Weights before training.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Dense;

/// Layers with every weight and bias uniform within ±1/√inputs: PyTorch's `nn.Linear`.
pub(super) fn layers(inputs: usize, hidden: &[usize], seed: u64) -> Vec<Dense> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut inputs = inputs;
    hidden
        .iter()
        .chain(&[1])
        .map(|&outputs| {
            let limit = 1.0 / (inputs as f32).sqrt();
            let mut draw = |count: usize| (0..count).map(|_| random.random_range(-limit..=limit)).collect();
            let layer = Dense { inputs, outputs, weights: draw(inputs * outputs), bias: draw(outputs) };
            inputs = outputs;
            layer
        })
        .collect()
}
