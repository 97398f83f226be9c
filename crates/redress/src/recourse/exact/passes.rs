//! The two passes of a bound: affine forms and envelopes forward, the sums of the bound backward.

use super::bounds::{Bound, Bounder, Bounds};
use super::chunk::{Chunk, MAX_TERMS};
use super::envelope::{Envelopes, larger};
use super::forms::{Relaxation, Sums, dot, intervals, pass};
use super::layer::Layer;
use super::vectorised;
use crate::model::Activation;
use crate::model::kernel::{Product, Strided, padded, product};

/// Buffers for one chunk of boxes.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
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

/// Makes a buffer this long; what it holds does not matter.
fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

impl Bounder {
    /// Affine forms and envelopes of every hidden layer.
    pub(super) fn forward(&self, chunk: &Chunk, scratch: &mut Scratch) {
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
            let terms = chunk.terms(index);
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
            for &(column, radius) in chunk.rest(index) {
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
    pub(super) fn backward(&self, chunk: &Chunk, scratch: &mut Scratch, bounds: &mut Bounds) {
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
}
