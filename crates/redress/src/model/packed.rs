//! A network as the kernels want it: padded, with transposes, and the buffers of a pass through it.

use std::ops::Range;

use super::kernel::{
    Aligned, Isa, PAD, Product, Slopes, Strided, Transpose, activate, multiply, padded, product, scale_rows, transpose,
};
use super::{Activation, Dense};

/// The layers in one flat run of numbers, so that the optimiser sees a single vector.
///
/// Each layer holds `inputs` rows of weights and one of bias, padded to [`Shape::width`]; the padding is 0 and stays
/// 0 in training.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub(crate) shapes: Vec<Shape>,
    pub(crate) values: Aligned,
    transposed: Vec<Aligned>,
}

/// Where a layer lies in the flat run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// The outputs, padded.
    pub(crate) width: usize,
    at: usize,
}

impl Shape {
    pub(crate) fn weights(&self) -> Range<usize> {
        self.at..self.at + self.inputs * self.width
    }

    pub(crate) fn bias(&self) -> Range<usize> {
        let at = self.at + self.inputs * self.width;
        at..at + self.width
    }
}

impl Packed {
    pub(crate) fn new(layers: &[Dense]) -> Packed {
        let (mut shapes, mut transposed, mut at) = (Vec::new(), Vec::new(), 0);
        for layer in layers {
            let width = padded(layer.outputs);
            shapes.push(Shape { inputs: layer.inputs, outputs: layer.outputs, width, at });
            transposed.push(Aligned::zeros(layer.outputs * padded(layer.inputs)));
            at += (layer.inputs + 1) * width;
        }
        let mut values = Aligned::zeros(at);
        for (shape, layer) in shapes.iter().zip(layers) {
            let rows = layer.weights.chunks(layer.outputs).chain([&layer.bias[..]]);
            for (row, out) in rows.zip(values[shape.at..].chunks_mut(shape.width)) {
                out[..layer.outputs].copy_from_slice(row);
            }
        }
        let mut packed = Packed { shapes, values, transposed };
        for (index, layer) in layers.iter().enumerate() {
            packed.retranspose(Isa::detect(), index, 0..layer.inputs);
        }
        packed
    }

    /// The layers without padding.
    pub(crate) fn layers(&self) -> Vec<Dense> {
        let unpad = |shape: &Shape, range: Range<usize>| {
            self.values[range].chunks(shape.width).flat_map(|row| &row[..shape.outputs]).copied().collect()
        };
        self.shapes
            .iter()
            .map(|shape| Dense {
                inputs: shape.inputs,
                outputs: shape.outputs,
                weights: unpad(shape, shape.weights()),
                bias: unpad(shape, shape.bias()),
            })
            .collect()
    }

    /// Brings the transposes up to date with these rows of a layer's weights.
    fn retranspose(&mut self, isa: Isa, layer: usize, rows: Range<usize>) {
        let shape = &self.shapes[layer];
        let operands = Transpose {
            rows: rows.len(),
            columns: shape.outputs,
            matrix: &self.values[shape.weights()][rows.start * shape.width..],
            matrix_row: shape.width,
            out: &mut self.transposed[layer][rows.start..],
            out_row: padded(shape.inputs),
        };
        transpose(isa, operands);
    }

    pub(crate) fn inputs(&self) -> usize {
        self.shapes[0].inputs
    }
}

/// The buffers of passes over up to `capacity` rows. Passes over disjoint ranges of rows lie side by side, so that one
/// product sums the weight gradient of both.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The points, row after row without padding.
    pub(crate) points: Vec<f32>,
    /// What each layer puts out; the last holds the logit in column 0.
    outputs: Vec<Aligned>,
    /// The slope of each hidden activation, mask included.
    slopes: Vec<Aligned>,
    /// The derivative by what each layer puts out before its activation.
    signals: Vec<Aligned>,
    /// The derivative by the points, padded.
    gradient: Aligned,
}

/// Dropout factors, one buffer a hidden layer, and the row of them that belongs to the first row of the pass.
pub(crate) struct Masks<'a> {
    pub(crate) layers: &'a [Aligned],
    pub(crate) first: usize,
}

impl Trace {
    /// Buffers for forward and backward passes.
    pub(crate) fn new(packed: &Packed, capacity: usize) -> Trace {
        let hidden = &packed.shapes[..packed.shapes.len() - 1];
        let buffers = |shapes: &[Shape]| shapes.iter().map(|shape| Aligned::zeros(capacity * shape.width)).collect();
        Trace {
            slopes: buffers(hidden),
            signals: buffers(&packed.shapes),
            gradient: Aligned::zeros(capacity * padded(packed.inputs())),
            ..Trace::forward_only(packed, capacity)
        }
    }

    /// Buffers for forward passes that no backward pass follows.
    pub(crate) fn forward_only(packed: &Packed, capacity: usize) -> Trace {
        Trace {
            points: vec![0.0; capacity * packed.inputs()],
            outputs: packed.shapes.iter().map(|shape| Aligned::zeros(capacity * shape.width)).collect(),
            slopes: Vec::new(),
            signals: Vec::new(),
            gradient: Aligned::default(),
        }
    }

    /// The logit of a row, after a forward pass.
    pub(crate) fn logit(&self, row: usize) -> f32 {
        self.outputs.last().map_or(f32::NAN, |outputs| outputs[row * PAD])
    }

    /// The derivative of a row's logit by its point, after a backward pass that went that far.
    pub(crate) fn gradient(&self, row: usize, inputs: usize) -> &[f32] {
        &self.gradient[row * padded(inputs)..][..inputs]
    }

    /// Multiplies what the backward pass found for the `count` rows from row 0 by a factor a row: from ∂logit to ∂loss.
    pub(crate) fn scale(&mut self, isa: Isa, shapes: &[Shape], factors: &[f32]) {
        for (signals, shape) in self.signals.iter_mut().zip(shapes) {
            scale_rows(isa, signals, shape.width, factors);
        }
    }
}

impl Packed {
    /// Runs the `rows` of the trace forward.
    pub(crate) fn forward(
        &self,
        isa: Isa,
        activation: Activation,
        trace: &mut Trace,
        rows: Range<usize>,
        masks: Option<Masks<'_>>,
    ) {
        let last = self.shapes.len() - 1;
        for (index, shape) in self.shapes.iter().enumerate() {
            let (before, after) = trace.outputs.split_at_mut(index);
            let (data, row) = match before.last() {
                Some(outputs) => (&outputs[..], self.shapes[index - 1].width),
                None => (&trace.points[..], shape.inputs),
            };
            let span = rows.start * shape.width..rows.end * shape.width;
            let out = &mut after[0][span.clone()];
            product(
                isa,
                Product {
                    rows: rows.len(),
                    depth: shape.inputs,
                    left: Strided { data: &data[rows.start * row..], row, step: 1 },
                    right: &self.values[shape.weights()],
                    start: Some(&self.values[shape.bias()]),
                    out,
                    width: shape.width,
                },
            );
            if index < last {
                let mask = masks.as_ref().map(|masks| {
                    let from = masks.first * shape.width;
                    &masks.layers[index][from..from + span.len()]
                });
                let slopes = trace.slopes.get_mut(index).map(|slopes| Slopes { out: &mut slopes[span], mask });
                activate(isa, activation, out, slopes);
            }
        }
    }

    /// Runs the `rows` of the trace backward from the logit, whose derivative is `seed(row)` with the first row 0;
    /// as far as the points where `to_points`, else as far as the first layer.
    pub(crate) fn backward(
        &self,
        isa: Isa,
        trace: &mut Trace,
        rows: Range<usize>,
        seed: impl Fn(usize) -> f32,
        to_points: bool,
    ) {
        let last = self.shapes.len() - 1;
        for (index, row) in trace.signals[last][rows.start * PAD..rows.end * PAD].chunks_exact_mut(PAD).enumerate() {
            row[0] = seed(index);
        }
        for index in (0..=last).rev() {
            if index == 0 && !to_points {
                break;
            }
            let shape = &self.shapes[index];
            let width = padded(shape.inputs);
            let span = rows.start * width..rows.end * width;
            let (before, after) = trace.signals.split_at_mut(index);
            let out = before.last_mut().unwrap_or(&mut trace.gradient);
            let out = &mut out[span.clone()];
            let left = Strided { data: &after[0][rows.start * shape.width..], row: shape.width, step: 1 };
            let right = &self.transposed[index];
            product(isa, Product { rows: rows.len(), depth: shape.outputs, left, right, start: None, out, width });
            if index > 0 {
                multiply(isa, out, &trace.slopes[index - 1][span]);
            }
        }
    }

    /// Sums the gradient by every weight and bias over the first `rows` rows of the trace, a few kilobytes at a time, and
    /// hands each part to `update` together with the values it is the gradient of. The values may change: the transposes
    /// follow.
    ///
    /// In parts, because a part is still in the nearest cache when it is used.
    pub(crate) fn update(
        &mut self,
        isa: Isa,
        trace: &Trace,
        rows: usize,
        part: &mut Aligned,
        update: &mut impl Update,
    ) {
        for index in 0..self.shapes.len() {
            let shape = self.shapes[index];
            let (data, step) = match index {
                0 => (&trace.points[..], shape.inputs),
                _ => (&trace.outputs[index - 1][..], self.shapes[index - 1].width),
            };
            let (right, width) = (&trace.signals[index][..], shape.width);
            for first in (0..shape.inputs).step_by(PART_ROWS) {
                let last = (first + PART_ROWS).min(shape.inputs);
                let at = shape.at + first * width..shape.at + last * width;
                let left = Strided { data: &data[first..], row: 1, step };
                let out = &mut part[..at.len()];
                product(isa, Product { rows: last - first, depth: rows, left, right, start: None, out, width });
                update.apply(at.clone(), &mut self.values[at], &part[..last * width - first * width]);
                // Whole blocks are faster, even with rows done before.
                self.retranspose(isa, index, first.min(last.saturating_sub(PART_ROWS))..last);
            }
            let left = Strided { data: &[1.0], row: 0, step: 0 };
            let out = &mut part[..width];
            product(isa, Product { rows: 1, depth: rows, left, right, start: None, out, width });
            update.apply(shape.bias(), &mut self.values[shape.bias()], &part[..width]);
        }
    }

    /// A buffer for the parts of [`Packed::update`].
    pub(crate) fn part(&self) -> Aligned {
        Aligned::zeros(PART_ROWS * self.shapes.iter().map(|shape| shape.width).max().unwrap_or(0))
    }
}

/// Rows of weights that are updated together.
const PART_ROWS: usize = 16;

/// What happens to values once their gradient is known.
pub(crate) trait Update {
    /// Changes the values that lie at `range` of the flat run, given their gradient.
    fn apply(&mut self, range: Range<usize>, values: &mut [f32], gradient: &[f32]);
}
