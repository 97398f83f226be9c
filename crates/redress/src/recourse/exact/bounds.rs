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
//! part of ε. The sums of the last step are taken in `f64`. What this adds is the **tolerance** of a proof: about 1e-3 in the
//! logit for the paper's network, less than 3e-4 in the probability. Bounds never err on the other side.

use crate::model::kernel::{Isa, Product, Strided, padded, product};
use crate::model::{Activation, Dense, Model, Scorer};

use super::envelope::{Envelopes, ROUNDING, larger};
use super::forms::{Relaxation, Sums, dot, intervals, pass};
use super::vectorised;

/// Columns that get a term of their own in the forms; further columns that vary are counted as spread.
const MAX_TERMS: usize = 12;

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
    layers: Vec<Layer>,
    activation: Activation,
    inputs: usize,
    isa: Isa,
}

/// One layer with what the bounds need of it, padded for the kernels.
#[derive(Debug, Clone)]
struct Layer {
    inputs: usize,
    outputs: usize,
    width: usize,
    /// `inputs × width`.
    weights: Vec<f32>,
    /// |weights|, `inputs × width`.
    sizes: Vec<f32>,
    /// `outputs × padded(inputs)`.
    transposed: Vec<f32>,
    bias: Vec<f32>,
    /// As many zeros as there are biases.
    nothing: Vec<f32>,
    /// 2γ of a sum of `inputs` terms.
    rounding: f32,
    /// 2γ·(Σ|w| + |b|): the rounding noise for inputs of size at most 1, which tanh's are.
    noise: Vec<f32>,
}

impl Layer {
    fn new(dense: &Dense) -> Self {
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
    fn turn_into_noise(&self, sums: &mut [f32]) {
        for row in sums.chunks_exact_mut(self.width) {
            for (sum, bias) in row.iter_mut().zip(&self.bias) {
                *sum = self.rounding * (*sum * (1.0 + self.rounding) + bias.abs()) * (1.0 + 2.0 * ROUNDING);
            }
        }
    }
}

impl Bound {
    /// `centre ± radius`, with room for the rounding of the `f64` sums; nothing is known where these are not numbers.
    fn around(centre: f64, linear: f64, slack: f64, noise: f64) -> Self {
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
    fn extend(&mut self, columns: usize) -> usize {
        let start = self.rises.len();
        self.rises.resize(start + columns, 0.0);
        self.spreads.resize(start + columns, 0.0);
        start
    }
}

/// 2γ for sums of `terms` products, rounded up.
fn doubled_gamma(terms: usize) -> f32 {
    let small = (terms as f64 + 8.0) * 2f64.powi(-24);
    // Beyond 2²⁴ terms nothing could be promised.
    if small < 0.5 { (2.0 * small / (1.0 - small) * (1.0 + 1e-6)) as f32 } else { f32::INFINITY }
}

/// Buffers for one chunk of boxes.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// Affine forms: for each box, the centre and one row a term.
    forms: Vec<f32>,
    next: Vec<f32>,
    /// The forms of the first layer before its activation.
    first: Vec<f32>,
    /// For each box, what spreads around the forms.
    spread: Vec<f32>,
    next_spread: Vec<f32>,
    /// For each box, the largest size of its neurons.
    size: Vec<f32>,
    low: Vec<f32>,
    high: Vec<f32>,
    /// For each hidden layer, the envelopes and the rounding noise of its neurons.
    relaxed: Vec<Relaxed>,
    signal: Vec<f32>,
    next_signal: Vec<f32>,
}

#[derive(Debug, Clone, Default)]
struct Relaxed {
    slope: Vec<f32>,
    offset: Vec<f32>,
    error: Vec<f32>,
    /// 2γM; empty where the layer's own will do.
    noise: Vec<f32>,
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

    /// The bound of one box.
    #[cfg(test)]
    pub fn bound_one(&self, low: &[f32], high: &[f32]) -> Bound {
        self.bound(&Boxes { low: low.to_vec(), high: high.to_vec() }).bounds[0]
    }
}

/// Some boxes as centres and radii.
struct Chunk {
    boxes: usize,
    terms: usize,
    inputs: usize,
    centre: Vec<f32>,
    /// The largest size of each coordinate.
    size: Vec<f32>,
    /// For each box, the columns that vary, with their radii.
    varying: Vec<Vec<(usize, f32)>>,
}

impl Chunk {
    fn new(inputs: usize, low: &[f32], high: &[f32]) -> Self {
        let mut chunk =
            Self { boxes: low.len() / inputs, terms: 0, inputs, centre: vec![], size: vec![], varying: vec![] };
        for (low, high) in low.chunks_exact(inputs).zip(high.chunks_exact(inputs)) {
            let mut varying = Vec::new();
            for (column, (&low, &high)) in low.iter().zip(high).enumerate() {
                let (centre, radius) = Boxes::span(low, high);
                chunk.centre.push(centre);
                chunk.size.push(larger(low.abs(), high.abs()));
                if radius > 0.0 {
                    varying.push((column, radius));
                }
            }
            // The widest columns get terms of their own.
            if varying.len() > MAX_TERMS {
                varying.sort_by(|a, b| b.1.total_cmp(&a.1));
            }
            chunk.terms = chunk.terms.max(varying.len().min(MAX_TERMS));
            chunk.varying.push(varying);
        }
        chunk
    }

    /// The columns with terms of their own, and the rest.
    fn split(&self, index: usize) -> (&[(usize, f32)], &[(usize, f32)]) {
        let varying = &self.varying[index];
        varying.split_at(varying.len().min(MAX_TERMS))
    }
}

/// Makes a buffer this long; what it holds does not matter.
fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl Bounder {
    /// Affine forms and envelopes of every hidden layer.
    fn forward(&self, chunk: &Chunk, scratch: &mut Scratch) {
        let hidden = self.layers.len() - 1;
        scratch.relaxed.resize_with(hidden, Relaxed::default);
        self.first_forms(chunk, scratch);
        for index in 0..hidden {
            self.relax(chunk, index, scratch);
            if index + 1 < hidden {
                self.next_forms(chunk, index + 1, scratch);
            }
        }
    }

    /// The forms of the first layer, without its bias: the centre by a product, each term a row of weights.
    fn first_forms(&self, chunk: &Chunk, scratch: &mut Scratch) {
        let layer = &self.layers[0];
        let width = layer.width;
        let stride = (chunk.terms + 1) * width;
        self.product(chunk.boxes, layer, &chunk.centre, chunk.inputs, &layer.weights, &mut scratch.next);
        let forms = sized(&mut scratch.forms, chunk.boxes * stride);
        for (index, form) in forms.chunks_exact_mut(stride).enumerate() {
            form[..width].copy_from_slice(&scratch.next[index * width..][..width]);
            let (terms, _) = chunk.split(index);
            form[width + terms.len() * width..].fill(0.0);
            for (&(column, radius), row) in terms.iter().zip(form[width..].chunks_exact_mut(width)) {
                let weights = &layer.weights[column * width..][..width];
                row.iter_mut().zip(weights).for_each(|(out, weight)| *out = weight * radius);
            }
        }
        // The spread: rounding, and the columns that have no term of their own.
        self.product(chunk.boxes, layer, &chunk.size, chunk.inputs, &layer.sizes, &mut scratch.spread);
        let noise = sized(&mut scratch.relaxed[0].noise, chunk.boxes * width);
        noise.copy_from_slice(&scratch.spread[..noise.len()]);
        layer.turn_into_noise(noise);
        let spread = &mut scratch.spread[..noise.len()];
        spread.copy_from_slice(noise);
        for (index, spread) in spread.chunks_exact_mut(width).enumerate() {
            for &(column, radius) in chunk.split(index).1 {
                let sizes = &layer.sizes[column * width..][..width];
                spread.iter_mut().zip(sizes).for_each(|(spread, size)| *spread += size * radius);
            }
        }
    }

    /// The forms of a later layer, without its bias, and its rounding.
    fn next_forms(&self, chunk: &Chunk, index: usize, scratch: &mut Scratch) {
        let (layer, before) = (&self.layers[index], self.layers[index - 1].width);
        let rows = chunk.boxes * (chunk.terms + 1);
        self.product(rows, layer, &scratch.forms, before, &layer.weights, &mut scratch.next);
        std::mem::swap(&mut scratch.forms, &mut scratch.next);
        if self.activation == Activation::Relu {
            let noise = &mut scratch.relaxed[index].noise;
            self.product(chunk.boxes, layer, &scratch.size, before, &layer.sizes, noise);
            layer.turn_into_noise(&mut noise[..chunk.boxes * layer.width]);
        }
        self.product(chunk.boxes, layer, &scratch.spread, before, &layer.sizes, &mut scratch.next_spread);
        std::mem::swap(&mut scratch.spread, &mut scratch.next_spread);
    }

    /// `out = left · right` for a matrix of the layer's shape.
    fn product(&self, rows: usize, layer: &Layer, left: &[f32], row: usize, right: &[f32], out: &mut Vec<f32>) {
        let (depth, width) = (layer.inputs, layer.width);
        let left = Strided { data: left, row, step: 1 };
        let out = sized(out, rows * width);
        product(self.isa, Product { rows, depth, left, right, start: None, out, width });
    }

    /// Adds the bias of a layer to its forms, fits the envelopes, and puts the forms through them.
    fn relax(&self, chunk: &Chunk, index: usize, scratch: &mut Scratch) {
        let layer = &self.layers[index];
        let width = layer.width;
        let stride = (chunk.terms + 1) * width;
        let length = chunk.boxes * width;
        let Scratch { forms, first, spread, size, low, high, relaxed, .. } = scratch;
        let (forms, spread, size) = (&mut forms[..chunk.boxes * stride], &mut spread[..length], sized(size, length));
        let (low, high) = (sized(low, length), sized(high, length));
        let Relaxed { slope, offset, error, .. } = &mut relaxed[index];
        let (slope, offset, error) = (sized(slope, length), sized(offset, length), sized(error, length));
        let rows = |at: usize| at * width..(at + 1) * width;
        vectorised(self.isa, || {
            for (at, form) in forms.chunks_exact_mut(stride).enumerate() {
                let layer = (&layer.bias[..], layer.rounding);
                intervals(form, &mut spread[rows(at)], layer, &mut low[rows(at)], &mut high[rows(at)]);
            }
        });
        if index == 0 {
            sized(first, forms.len()).copy_from_slice(forms);
        }
        Envelopes { low, high, slope, offset, error }.fill(self.isa, self.activation);
        if index + 2 < self.layers.len() {
            let rounding = self.layers[index + 1].rounding;
            vectorised(self.isa, || {
                for (at, form) in forms.chunks_exact_mut(stride).enumerate() {
                    let envelope = (&slope[rows(at)], &offset[rows(at)], &error[rows(at)]);
                    pass(form, &mut spread[rows(at)], &mut size[rows(at)], envelope, rounding);
                }
            });
        }
    }

    /// From the logit back to the first layer, adding up the bound.
    fn backward(&self, chunk: &Chunk, scratch: &mut Scratch, bounds: &mut Bounds) {
        let hidden = self.layers.len() - 1;
        let last = &self.layers[hidden];
        let mut sums: Vec<Sums> = (0..chunk.boxes).map(|at| self.first_sums(at, scratch)).collect();
        let signal = sized(&mut scratch.signal, chunk.boxes * padded(last.inputs));
        signal.chunks_exact_mut(padded(last.inputs)).for_each(|row| row.copy_from_slice(&last.transposed));
        for index in (0..hidden).rev() {
            let layer = &self.layers[index];
            let width = layer.width;
            let signal = &mut scratch.signal[..chunk.boxes * width];
            let relaxed = &scratch.relaxed[index];
            // The first layer's bias is in its forms.
            let bias = if index == 0 { &layer.nothing[..] } else { &layer.bias };
            vectorised(self.isa, || {
                for (at, (sums, signal)) in sums.iter_mut().zip(signal.chunks_exact_mut(width)).enumerate() {
                    let row = at * width..(at + 1) * width;
                    let noise = if relaxed.noise.is_empty() { &layer.noise[..] } else { &relaxed.noise[row.clone()] };
                    let (slope, offset) = (&relaxed.slope[row.clone()], &relaxed.offset[row.clone()]);
                    sums.collect(signal, &Relaxation { slope, offset, error: &relaxed.error[row], noise, bias });
                }
            });
            if index > 0 {
                let (left, width) = (Strided { data: signal, row: width, step: 1 }, padded(layer.inputs));
                let out = sized(&mut scratch.next_signal, chunk.boxes * width);
                let (rows, depth, right) = (chunk.boxes, layer.outputs, &layer.transposed[..]);
                product(self.isa, Product { rows, depth, left, right, start: None, out, width });
                std::mem::swap(&mut scratch.signal, &mut scratch.next_signal);
            }
        }
        self.finish(chunk, scratch, &sums, bounds);
    }

    /// The logit's own bias and rounding.
    fn first_sums(&self, at: usize, scratch: &Scratch) -> Sums {
        let last = &self.layers[self.layers.len() - 1];
        let noise = match self.activation {
            Activation::Tanh => f64::from(last.noise[0]),
            Activation::Relu => {
                let high = &scratch.high[at * padded(last.inputs)..][..last.inputs];
                let size = |(weight, &high): (&f32, &f32)| f64::from(weight.abs()) * f64::from(larger(high, 0.0));
                let sum: f64 = last.transposed.iter().zip(high).map(size).sum();
                (sum + f64::from(last.bias[0].abs())) * f64::from(last.rounding)
            }
        };
        Sums { centre: f64::from(last.bias[0]), slack: 0.0, noise }
    }

    /// Adds the linear part over the box to what was collected.
    fn finish(&self, chunk: &Chunk, scratch: &Scratch, sums: &[Sums], bounds: &mut Bounds) {
        let width = self.layers[0].width;
        let stride = (chunk.terms + 1) * width;
        for (at, sums) in sums.iter().enumerate() {
            let signal = &scratch.signal[at * width..][..width];
            let form = &scratch.first[at * stride..][..stride];
            let row = bounds.extend(self.inputs);
            let centre = sums.centre + vectorised(self.isa, || dot(signal, &form[..width])).0;
            let mut linear = 0.0;
            for (index, &(column, radius)) in chunk.varying[at].iter().enumerate() {
                // A column without a term of its own still has its weights.
                let (term, scale) = if index < MAX_TERMS {
                    (&form[(index + 1) * width..][..width], 1.0)
                } else {
                    (&self.layers[0].weights[column * width..][..width], f64::from(radius))
                };
                let (rise, spread) = vectorised(self.isa, || dot(signal, term));
                linear += (rise * scale).abs();
                bounds.rises[row + column] = (rise * scale) as f32;
                bounds.spreads[row + column] = (spread * scale) as f32;
            }
            bounds.bounds.push(Bound::around(centre, linear, sums.slack, sums.noise));
        }
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
}
