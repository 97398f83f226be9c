//! One training step: two passes at most, no allocation, no threads.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::adam::Adam;
use super::inner::Search;
use super::objective::{ClassWeights, loss, slope, supervised};
use super::{CheckedParams, Examples};
use crate::model::kernel::{Aligned, Dropout, Isa, fill_mask};
use crate::model::packed::{Masks, Packed, Trace};
use crate::model::{Activation, Model};

/// The streams of a run's seed, so that a change in how often one is drawn from leaves the others alone.
pub(super) mod stream {
    pub(crate) const ORDER: u64 = 1;
    pub(crate) const DROPOUT: u64 = 2;
    pub(crate) const NOISE: u64 = 3;
}

/// A generator of one of the streams of a seed.
pub(super) fn random(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

/// The weights in training with all buffers a step needs.
pub(super) struct Trainer {
    isa: Isa,
    activation: Activation,
    lambda: f32,
    noise: f32,
    weights: ClassWeights,
    pub(super) packed: Packed,
    adam: Adam,
    /// A part of the gradient by the weights.
    part: Aligned,
    /// The points x of the batch.
    points: Vec<f32>,
    /// Rows 0..n hold x, rows n..2n hold x + δ*.
    trace: Trace,
    masks: Vec<Aligned>,
    dropout: Dropout,
    noise_source: ChaCha8Rng,
    search: Search,
    slopes: Vec<f32>,
}

/// The two terms of the objective, summed over the rows of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Terms {
    /// Σ w(y)·ℓ(g(x), y).
    pub(super) supervised: f64,
    /// Σ ℓ(g(x + δ*), 1), without λ.
    pub(super) recourse: f64,
}

impl Trainer {
    pub(super) fn new(isa: Isa, params: &CheckedParams, model: &Model, weights: ClassWeights) -> Trainer {
        let packed = Packed::new(&model.layers());
        let capacity = 2 * params.batch;
        let hidden = &packed.shapes[..packed.shapes.len() - 1];
        let masks = match params.dropout > 0.0 {
            true => hidden.iter().map(|shape| Aligned::zeros(capacity * shape.width)).collect(),
            false => Vec::new(),
        };
        Trainer {
            isa,
            activation: params.activation,
            lambda: params.lambda as f32,
            noise: params.inner.noise as f32,
            weights,
            adam: Adam::new(params.learning_rate, packed.values.len()),
            part: packed.part(),
            points: vec![0.0; params.batch * packed.inputs()],
            trace: Trace::new(&packed, capacity),
            masks,
            dropout: Dropout::new(params.dropout, &mut random(params.seed, stream::DROPOUT)),
            noise_source: random(params.seed, stream::NOISE),
            search: Search::new(params.inner.clone(), packed.inputs(), params.batch),
            slopes: vec![0.0; params.batch],
            packed,
        }
    }

    /// One step of Adam on the objective over these rows of the examples, at most a batch of them.
    pub(super) fn step(&mut self, examples: &Examples, rows: &[u32]) -> Terms {
        let (terms, passed) = self.differentiate(examples, rows);
        self.packed.update(self.isa, &self.trace, passed, &mut self.part, &mut self.adam.next(self.isa));
        terms
    }

    /// The terms over these rows; and how many rows of the trace now hold what the gradient by the weights is summed
    /// from, with δ* held fixed.
    fn differentiate(&mut self, examples: &Examples, rows: &[u32]) -> (Terms, usize) {
        let (width, count) = (self.packed.inputs(), rows.len());
        for (&row, point) in rows.iter().zip(self.points.chunks_exact_mut(width)) {
            point.copy_from_slice(&examples.points[row as usize * width..][..width]);
        }
        self.trace.points[..count * width].copy_from_slice(&self.points[..count * width]);
        self.forward(0, count);
        let mut terms = Terms::default();
        for (index, (&row, slope_of)) in rows.iter().zip(&mut self.slopes).enumerate() {
            let (logit, label) = (self.trace.logit(index), examples.labels[row as usize]);
            terms.supervised += f64::from(supervised(&self.weights, logit, label));
            *slope_of = self.weights.weight(label) * slope(logit, label) / count as f32;
        }
        if self.lambda == 0.0 {
            let slopes = &self.slopes;
            self.packed.backward(self.isa, &mut self.trace, 0..count, |row| slopes[row], false);
            return (terms, count);
        }
        // Once back from the logit itself: ∂logit/∂x finds δ*, and times ∂ℓ/∂logit it is the first term's gradient.
        self.packed.backward(self.isa, &mut self.trace, 0..count, |_| 1.0, true);
        self.find_changes(examples, rows);
        self.trace.scale(self.isa, &self.packed.shapes, &self.slopes[..count]);

        self.forward(count, count);
        for (index, slope_of) in self.slopes[..count].iter_mut().enumerate() {
            let logit = self.trace.logit(count + index);
            terms.recourse += f64::from(loss(logit, true));
            *slope_of = self.lambda * slope(logit, true) / count as f32;
        }
        let slopes = &self.slopes;
        self.packed.backward(self.isa, &mut self.trace, count..2 * count, |row| slopes[row], false);
        (terms, 2 * count)
    }

    /// Draws masks for `count` rows from `first` and runs them forward.
    fn forward(&mut self, first: usize, count: usize) {
        for (mask, shape) in self.masks.iter_mut().zip(&self.packed.shapes) {
            fill_mask(self.isa, &mut self.dropout, &mut mask[first * shape.width..(first + count) * shape.width]);
        }
        let masks = (!self.masks.is_empty()).then_some(Masks { layers: &self.masks, first });
        self.packed.forward(self.isa, self.activation, &mut self.trace, first..first + count, masks);
    }

    /// Puts x + δ* of each row beside x. The search sees the network through the masks of the pass over x, so that all
    /// its steps are about one function.
    fn find_changes(&mut self, examples: &Examples, rows: &[u32]) {
        let Trainer { isa, activation, packed, trace, masks, search, noise_source, .. } = self;
        let (width, count) = (packed.inputs(), rows.len());
        let beside = count * width..2 * count * width;
        for (row, gradient) in search.gradients.chunks_exact_mut(width).take(count).enumerate() {
            gradient.copy_from_slice(trace.gradient(row, width));
        }
        let mut score = |points: &[f32], logits: &mut [f32], gradients: &mut [f32]| {
            trace.points[beside.clone()].copy_from_slice(points);
            let masks = (!masks.is_empty()).then_some(Masks { layers: masks, first: 0 });
            packed.forward(*isa, *activation, trace, count..2 * count, masks);
            packed.backward(*isa, trace, count..2 * count, |_| 1.0, true);
            for (row, (logit, gradient)) in logits.iter_mut().zip(gradients.chunks_exact_mut(width)).enumerate() {
                *logit = trace.logit(count + row);
                gradient.copy_from_slice(trace.gradient(count + row, width));
            }
        };
        search.run(&examples.inner, rows, &self.points[..count * width], &mut score);
        trace.points[beside.clone()].copy_from_slice(&search.moved[..count * width]);
        if self.noise > 0.0 {
            for (&row, moved) in rows.iter().zip(trace.points[beside].chunks_exact_mut(width)) {
                let mut draw = || -> f32 { StandardNormal.sample(noise_source) };
                examples.inner.disturb(row as usize, moved, || self.noise * draw());
            }
        }
    }

    /// The terms over these rows and their gradient, laid out like the layers.
    #[cfg(test)]
    pub(super) fn gradient(&mut self, examples: &Examples, rows: &[u32]) -> (Terms, Vec<crate::model::Dense>) {
        let (terms, passed) = self.differentiate(examples, rows);
        let mut gradient = self.packed.clone();
        self.packed.update(self.isa, &self.trace, passed, &mut self.part, &mut Keep(&mut gradient.values));
        (terms, gradient.layers())
    }
}

/// Keeps the gradient and leaves the values alone.
#[cfg(test)]
struct Keep<'a>(&'a mut [f32]);

#[cfg(test)]
impl crate::model::packed::Update for Keep<'_> {
    fn apply(&mut self, range: std::ops::Range<usize>, _: &mut [f32], gradient: &[f32]) {
        self.0[range].copy_from_slice(gradient);
    }
}
