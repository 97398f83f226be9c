//! The elementwise steps of a bound, one box at a time: see [`bounds`](super::bounds) for the whole.

use crate::model::kernel::PAD;

use super::envelope::ROUNDING;

/// Adds the bias to the centre of the affine forms and writes the interval that each form spans.
///
/// `form` holds the centres and then one row a term; `spread` is what lies around them, before and after rounding.
#[inline(always)]
pub(super) fn intervals(form: &mut [f32], spread: &mut [f32], layer: (&[f32], f32), low: &mut [f32], high: &mut [f32]) {
    let (bias, rounding) = layer;
    let width = spread.len();
    let (centres, terms) = form.split_at_mut(width);
    let mut reach = [0.0; PAD];
    for at in (0..width).step_by(PAD) {
        reach.fill(0.0);
        for term in terms.chunks_exact(width) {
            for lane in 0..PAD {
                reach[lane] += term[at + lane].abs();
            }
        }
        let (centre, bias) = (block_mut(centres, at), block(bias, at));
        let (spread, low, high) = (block_mut(spread, at), block_mut(low, at), block_mut(high, at));
        for lane in 0..PAD {
            let c = centre[lane] + bias[lane];
            let around = spread[lane] * (1.0 + rounding + ROUNDING) + rounding * bias[lane].abs();
            let total = (reach[lane] + around) * (1.0 + ROUNDING) + ROUNDING * c.abs();
            centre[lane] = c;
            spread[lane] = around;
            low[lane] = c - total;
            high[lane] = c + total;
        }
    }
}

/// Puts affine forms through their envelopes (slope, offset, error), and readies the spread for a product that rounds by
/// `rounding`. Writes the size of each form.
#[inline(always)]
pub(super) fn pass(
    form: &mut [f32],
    spread: &mut [f32],
    size: &mut [f32],
    envelope: (&[f32], &[f32], &[f32]),
    rounding: f32,
) {
    let width = spread.len();
    let (centres, terms) = form.split_at_mut(width);
    let mut sizes = [0.0; PAD];
    for at in (0..width).step_by(PAD) {
        let (slope, offset, error) = (block(envelope.0, at), block(envelope.1, at), block(envelope.2, at));
        let centre = block_mut(centres, at);
        for lane in 0..PAD {
            centre[lane] = slope[lane] * centre[lane] + offset[lane];
            sizes[lane] = centre[lane].abs();
        }
        for term in terms.chunks_exact_mut(width) {
            let term = block_mut(term, at);
            for lane in 0..PAD {
                term[lane] *= slope[lane];
                sizes[lane] += term[lane].abs();
            }
        }
        let (spread, size) = (block_mut(spread, at), block_mut(size, at));
        for lane in 0..PAD {
            let around = (slope[lane] * spread[lane] + error[lane]) * (1.0 + ROUNDING)
                + ROUNDING * (sizes[lane] + offset[lane].abs());
            size[lane] = (sizes[lane] + around) * (1.0 + ROUNDING);
            spread[lane] = (around + rounding * size[lane]) * (1.0 + ROUNDING);
        }
    }
}

/// What the backward pass adds up: the middle of the bound, what the envelopes leave around it, and rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    pub centre: f64,
    pub slack: f64,
    pub noise: f64,
}

impl Sums {
    /// Adds one hidden layer's part, and turns the signal behind its activation into the signal before it.
    #[inline(always)]
    pub fn collect(&mut self, signal: &mut [f32], layer: &Relaxation<'_>) {
        let (mut centre, mut slack, mut noises) = ([0.0f64; PAD], [0.0f64; PAD], [0.0f64; PAD]);
        for at in (0..signal.len()).step_by(PAD) {
            let (slope, offset) = (block(layer.slope, at), block(layer.offset, at));
            let (error, noise, bias) = (block(layer.error, at), block(layer.noise, at), block(layer.bias, at));
            let signal = block_mut(signal, at);
            for lane in 0..PAD {
                let behind = signal[lane];
                let before = behind * slope[lane];
                centre[lane] += f64::from(behind) * f64::from(offset[lane]) + f64::from(before) * f64::from(bias[lane]);
                slack[lane] += f64::from(behind.abs()) * f64::from(error[lane]);
                noises[lane] += f64::from(before.abs()) * f64::from(noise[lane]);
                signal[lane] = before;
            }
        }
        self.centre += centre.iter().sum::<f64>();
        self.slack += slack.iter().sum::<f64>();
        self.noise += noises.iter().sum::<f64>();
    }
}

/// The envelopes and the rounding of one box's neurons in one layer.
pub(super) struct Relaxation<'a> {
    pub slope: &'a [f32],
    pub offset: &'a [f32],
    pub error: &'a [f32],
    pub noise: &'a [f32],
    pub bias: &'a [f32],
}

/// Σ a·b and Σ |a·b|.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> (f64, f64) {
    let (mut sum, mut size) = ([0.0f64; PAD], [0.0f64; PAD]);
    for at in (0..a.len()).step_by(PAD) {
        let (a, b) = (block(a, at), block(b, at));
        for lane in 0..PAD {
            let product = f64::from(a[lane]) * f64::from(b[lane]);
            sum[lane] += product;
            size[lane] += product.abs();
        }
    }
    (sum.iter().sum(), size.iter().sum())
}

/// One register's worth of a row, whose length is a multiple of [`PAD`].
#[inline(always)]
fn block(row: &[f32], at: usize) -> &[f32; PAD] {
    row[at..at + PAD].first_chunk().unwrap_or(&[0.0; PAD])
}

#[inline(always)]
fn block_mut(row: &mut [f32], at: usize) -> &mut [f32; PAD] {
    // A slice of PAD numbers is an array of them; the range check is the slice's.
    row[at..at + PAD].first_chunk_mut().expect("a block is PAD long")
}
