//! A layer made ready for bounding, and the rounding of its sums.

use super::envelope::ROUNDING;
use crate::model::Dense;
use crate::model::kernel::padded;

/// One layer with what the bounds need of it, padded for the kernels.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    pub width: usize,
    /// `inputs × width`.
    pub weights: Vec<f32>,
    /// |weights|, `inputs × width`.
    pub sizes: Vec<f32>,
    /// `outputs × padded(inputs)`.
    pub transposed: Vec<f32>,
    pub bias: Vec<f32>,
    /// As many zeros as there are biases.
    pub nothing: Vec<f32>,
    /// 2γ of a sum of `inputs` terms.
    pub rounding: f32,
    /// 2γ·(Σ|w| + |b|): the rounding noise for inputs of size at most 1, which tanh's are.
    pub noise: Vec<f32>,
}

impl Layer {
    pub fn new(dense: &Dense) -> Self {
        let (inputs, outputs, width) = (dense.inputs, dense.outputs, padded(dense.outputs));
        let mut layer = Self {
            inputs,
            outputs,
            width,
            weights: vec![0.0; inputs * width],
            sizes: vec![0.0; inputs * width],
            transposed: vec![0.0; outputs * padded(inputs)],
            bias: vec![0.0; width],
            nothing: vec![0.0; width],
            rounding: doubled_gamma(inputs),
            noise: vec![0.0; width],
        };
        layer.bias[..outputs].copy_from_slice(&dense.bias);
        let mut sums: Vec<f64> = dense.bias.iter().map(|bias| f64::from(bias.abs())).collect();
        for (input, row) in dense.weights.chunks_exact(outputs).enumerate() {
            for (output, &weight) in row.iter().enumerate() {
                layer.weights[input * width + output] = weight;
                layer.sizes[input * width + output] = weight.abs();
                layer.transposed[output * padded(inputs) + input] = weight;
                sums[output] += f64::from(weight.abs());
            }
        }
        for (noise, sum) in layer.noise.iter_mut().zip(sums) {
            *noise = (f64::from(layer.rounding) * sum * (1.0 + 1e-5)) as f32;
        }
        layer
    }

    /// Turns rows of |W||h| into 2γ·(|W||h| + |b|).
    pub fn turn_into_noise(&self, sums: &mut [f32]) {
        for row in sums.chunks_exact_mut(self.width) {
            for (sum, bias) in row.iter_mut().zip(&self.bias) {
                *sum = self.rounding * (*sum * (1.0 + self.rounding) + bias.abs()) * (1.0 + 2.0 * ROUNDING);
            }
        }
    }
}

/// 2γ for sums of `terms` products, rounded up.
fn doubled_gamma(terms: usize) -> f32 {
    let small = (terms as f64 + 8.0) * 2f64.powi(-24);
    // Beyond 2²⁴ terms nothing could be promised.
    if small < 0.5 { (2.0 * small / (1.0 - small) * (1.0 + 1e-6)) as f32 } else { f32::INFINITY }
}
