//! Sound bounds on the logit over boxes of points.
//!
//! # The bound
//! Let a box have centre `c` and radii `r`, and write its points as `x = c + r·t` with every `tᵢ` in [−1, 1]. Going
//! forward, each neuron gets an affine form `z(t) = z₀ + Σ zᵢtᵢ ± e`; each activation is replaced by its
//! [envelope](super::envelope) `λz + μ ± ε` over the interval that the form spans. Going backward from the logit with
//! the slopes λ, `v₃ = w`, `s₃ = v₃λ₃`, `v₂ = W₃ᵀs₃`, … , the envelopes add up to
//!
//! ```text
//! logit(x)  ∈  Σₖ (sₖ·bₖ + vₖ·μₖ) + s₁·W₁c + b  ±  ( Σᵢ |s₁·W₁[i]|·rᵢ  +  Σₖ |vₖ|·εₖ )
//! ```
//!
//! which keeps the cancellations between layers that a plain forward pass loses. For smooth activations the slack shrinks
//! with the square of the box. One box costs about as much as `varying columns + 5` points. A linear model has no
//! activations, and its bound is exact up to rounding.
//!
//! # Rounding
//! The bound is about the logit **as the model computes it** in `f32`, not about the real-valued network. With
//! u = 2⁻²⁴ and γ = (n+8)u / (1−(n+8)u), a dot product of `n` terms in any order, fused or not, is off by at most
//! γ·(|W||h| + |b|). So the model's layer `k` is the exact layer with a disturbance of at most γM, `M = |W||h| + |b|`, in each
//! neuron; the forms computed here are off by at most as much again, and so are the signals `v`. All are counted where
//! they arise: 2γM in each `e` going forward, and `Σₖ |sₖ|·2γMₖ` in the logit going backward; tanh's own error of 2.6e-7 is
//! part of ε. The sums of the last step are taken in `f64`. What this adds is the **tolerance** of a proof: 1e-3 to 2e-3 in
//! the logit for the paper's network, at most 5e-4 in the probability. Bounds never err on the other side.

use super::chunk::Chunk;
use super::layer::Layer;
use super::passes::Scratch;
use crate::model::kernel::Isa;
use crate::model::{Activation, Model, Scorer};

/// Boxes that pass through the network together.
const CHUNK: usize = 16;

/// Boxes of points: one lower and one upper corner each, row after row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Boxes {
    /// The lower corners, `inputs` numbers each.
    pub low: Vec<f32>,
    /// The upper corners.
    pub high: Vec<f32>,
}

impl Boxes {
    /// The centre and the radius of an interval, as the bounds see it.
    pub fn span(low: f32, high: f32) -> (f32, f32) {
        let centre = 0.5 * low + 0.5 * high;
        let middle = f64::from(centre);
        let radius = (f64::from(high) - middle).max(middle - f64::from(low));
        (centre, (radius * (1.0 + 1e-6)) as f32)
    }
}

/// What is known about the logit in one box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    /// No point of the box has a smaller logit.
    pub lower: f64,
    /// No point of the box has a larger logit.
    pub upper: f64,
    /// How far the logit may be from the linear part of the bound: what splitting the box reduces, and rounding.
    pub slack: f64,
    /// What rounding adds to the slack.
    pub noise: f64,
}

/// Bounds for several boxes, with what guides a search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    /// One a box.
    pub bounds: Vec<Bound>,
    /// For each box and column, by how much the linear part of the bound changes over the column's radius: its sign
    /// says where the logit rises.
    pub rises: Vec<f32>,
    /// For each box and column, how much the column feeds the slack of the bound: the largest is worth splitting.
    pub spreads: Vec<f32>,
}

/// A model made ready for bounding.
#[derive(Debug, Clone)]
pub(crate) struct Bounder {
    pub(super) layers: Vec<Layer>,
    pub(super) activation: Activation,
    pub(super) inputs: usize,
    pub(super) isa: Isa,
}

impl Bound {
    /// `centre ± radius`, with room for the rounding of the `f64` sums; nothing is known where these are not numbers.
    pub(super) fn around(centre: f64, linear: f64, slack: f64, noise: f64) -> Self {
        let radius = linear + slack + noise;
        let radius = radius + 1e-10 * (centre.abs() + radius) + 1e-12;
        let (lower, upper) = (centre - radius, centre + radius);
        if lower.is_nan() || upper.is_nan() {
            return Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY, slack: f64::INFINITY, noise: 0.0 };
        }
        Self { lower, upper, slack: slack + noise, noise }
    }
}

impl Bounds {
    /// Makes room for one more box of this many columns, and says where it starts.
    pub(super) fn extend(&mut self, columns: usize) -> usize {
        let start = self.rises.len();
        self.rises.resize(start + columns, 0.0);
        self.spreads.resize(start + columns, 0.0);
        start
    }
}

impl Bounder {
    /// Prepares a model.
    pub fn new(model: &Model) -> Self {
        Self {
            layers: model.layers().iter().map(Layer::new).collect(),
            activation: model.architecture().activation,
            inputs: model.inputs(),
            isa: Isa::detect(),
        }
    }

    /// Bounds every box. A box's result does not depend on the others.
    pub fn bound(&self, boxes: &Boxes) -> Bounds {
        let mut bounds = Bounds::default();
        let mut scratch = Scratch::default();
        let size = CHUNK * self.inputs;
        for (low, high) in boxes.low.chunks(size).zip(boxes.high.chunks(size)) {
            let chunk = Chunk::new(self.inputs, low, high);
            if self.layers.len() == 1 {
                self.bound_linear(&chunk, &mut bounds);
            } else {
                self.forward(&chunk, &mut scratch);
                self.backward(&chunk, &mut scratch, &mut bounds);
            }
        }
        bounds
    }

    /// A linear model: the closed form.
    fn bound_linear(&self, chunk: &Chunk, bounds: &mut Bounds) {
        let layer = &self.layers[0];
        let weight = |column: usize| f64::from(layer.weights[column * layer.width]);
        for at in 0..chunk.boxes {
            let coordinates = at * chunk.inputs..(at + 1) * chunk.inputs;
            let (mut centre, mut size) = (f64::from(layer.bias[0]), f64::from(layer.bias[0].abs()));
            for (column, index) in coordinates.enumerate() {
                centre += weight(column) * f64::from(chunk.centre[index]);
                size += weight(column).abs() * f64::from(chunk.size[index]);
            }
            let noise = size * f64::from(layer.rounding);
            let mut linear = 0.0;
            let row = bounds.extend(self.inputs);
            for &(column, radius_of) in &chunk.varying[at] {
                let rise = weight(column) * f64::from(radius_of);
                linear += rise.abs();
                bounds.rises[row + column] = rise as f32;
                bounds.spreads[row + column] = rise.abs() as f32;
            }
            bounds.bounds.push(Bound::around(centre, linear, 0.0, noise));
        }
    }

    /// The bound of one box.
    #[cfg(test)]
    pub fn bound_one(&self, low: &[f32], high: &[f32]) -> Bound {
        self.bound(&Boxes { low: low.to_vec(), high: high.to_vec() }).bounds[0]
    }
}
