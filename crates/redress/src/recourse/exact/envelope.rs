//! Linear envelopes of the activations: two parallel lines that hold the activation between them over an interval.

use crate::model::Activation;
use crate::model::kernel::{Isa, PAD, activate};

/// A bound on what rounding adds to a handful of operations, relative to their operands: 32 units of 2⁻²⁴.
pub(super) const ROUNDING: f32 = 1.92e-6;

/// A bound on the error of one tanh of the model (2.6e-7), of one more in the envelope, and of the tangent point.
const TANH_SLACK: f32 = 1.2e-6;

/// Below this width the chord's slope is lost in rounding, and the slope in the middle serves.
const NARROW: f32 = 2e-3;

/// Envelopes of many activations: `slope·z + offset ± error` holds for every `z` of the interval.
///
/// The activation is the one the model computes in `f32`, its rounding included, and so `error` is never 0.
pub(super) struct Envelopes<'a> {
    /// The ends of the intervals; overwritten.
    pub low: &'a mut [f32],
    /// The upper ends; overwritten.
    pub high: &'a mut [f32],
    /// The slopes of the lines.
    pub slope: &'a mut [f32],
    /// The value at 0 of the line in the middle.
    pub offset: &'a mut [f32],
    /// How far the activation is from it at most.
    pub error: &'a mut [f32],
}

impl Envelopes<'_> {
    /// Fills slopes, offsets and errors. All slices have one length, a multiple of [`PAD`].
    pub fn fill(self, isa: Isa, activation: Activation) {
        match activation {
            Activation::Relu => dispatch(isa, self, relu_block),
            Activation::Tanh => {
                self.offset.copy_from_slice(self.low);
                self.error.copy_from_slice(self.high);
                activate(isa, Activation::Tanh, self.offset, None);
                activate(isa, Activation::Tanh, self.error, None);
                dispatch(isa, self, tanh_block);
            }
        }
    }
}

/// One block of envelopes: low, high, slope, offset, error.
type Block<'a> = (&'a [f32; PAD], &'a [f32; PAD], &'a mut [f32; PAD], &'a mut [f32; PAD], &'a mut [f32; PAD]);

/// Runs `block` over all blocks, compiled for the instruction set so that its loops become vector instructions.
#[inline(always)]
fn dispatch(isa: Isa, envelopes: Envelopes<'_>, block: impl Fn(Block<'_>) + Copy) {
    super::vectorised(isa, || {
        let Envelopes { low, high, slope, offset, error } = envelopes;
        let ends = low.as_chunks().0.iter().zip(high.as_chunks().0);
        let lines = slope.as_chunks_mut().0.iter_mut().zip(offset.as_chunks_mut().0);
        for (((low, high), (slope, offset)), error) in ends.zip(lines).zip(error.as_chunks_mut().0) {
            block((low, high, slope, offset, error));
        }
    });
}

/// tanh over [l, u]; `offset` and `error` hold tanh l and tanh u beforehand.
///
/// The lines have the chord's slope λ. `tanh z − λz` has its extremes at the ends or where tanh′ = λ, that is at
/// `z = ±x*` with `tanh x* = √(1−λ)` and `x* = ½·ln((1 + tanh x*)² / λ)`. The error of `x*` counts squared, because the
/// difference is flat there.
#[inline(always)]
fn tanh_block((low, high, slope, offset, error): Block<'_>) {
    for lane in 0..PAD {
        let (l, u, tanh_l, tanh_u) = (low[lane], high[lane], offset[lane], error[lane]);
        let width = u - l;
        let middle = 0.5 * (tanh_l + tanh_u);
        let chord = (tanh_u - tanh_l) / width;
        let s = within(if width < NARROW { 1.0 - middle * middle } else { chord }, 1e-9, 1.0);
        let tangent_tanh = (1.0 - s).sqrt();
        let one_more = 1.0 + tangent_tanh;
        let tangent = 0.5 * logarithm(one_more * one_more / s);
        let bump = tangent_tanh - s * tangent;
        let (at_l, at_u) = (tanh_l - s * l, tanh_u - s * u);
        let at_right = if l < tangent && tangent < u { bump } else { at_l };
        let at_left = if l < -tangent && -tangent < u { -bump } else { at_l };
        let most = larger(larger(at_l, at_u), larger(at_left, at_right));
        let least = smaller(smaller(at_l, at_u), smaller(at_left, at_right));
        slope[lane] = s;
        offset[lane] = 0.5 * (most + least);
        error[lane] = 0.5 * (most - least) + TANH_SLACK + ROUNDING * s * (l.abs() + u.abs());
    }
}

/// max(0, z) over [l, u]. `max(0, z) − λz` has its extremes at the ends or at 0.
#[inline(always)]
fn relu_block((low, high, slope, offset, error): Block<'_>) {
    for lane in 0..PAD {
        let (l, u) = (low[lane], high[lane]);
        let s = if l >= 0.0 {
            1.0
        } else if u <= 0.0 {
            0.0
        } else {
            u / (u - l)
        };
        let (at_l, at_u) = (larger(l, 0.0) - s * l, larger(u, 0.0) - s * u);
        let at_kink = if l < 0.0 && 0.0 < u { 0.0 } else { at_l };
        let most = larger(larger(at_l, at_u), at_kink);
        let least = smaller(smaller(at_l, at_u), at_kink);
        slope[lane] = s;
        offset[lane] = 0.5 * (most + least);
        error[lane] = 0.5 * (most - least) + ROUNDING * s * (l.abs() + u.abs());
    }
}

/// ln x for a finite x ≥ 1, within 3e-6: exponent times ln 2, plus `2·artanh((m − 1)/(m + 1))` of the mantissa.
#[inline(always)]
fn logarithm(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let mantissa = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let t2 = t * t;
    let series = 2.0 + t2 * (2.0 / 3.0 + t2 * (2.0 / 5.0 + t2 * (2.0 / 7.0 + t2 * (2.0 / 9.0))));
    exponent as f32 * std::f32::consts::LN_2 + t * series
}

/// The larger of two, as one instruction; which of them for NaN does not matter here.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn within(value: f32, least: f32, most: f32) -> f32 {
    smaller(larger(value, least), most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn envelope(isa: Isa, activation: Activation, l: f32, u: f32) -> (f64, f64, f64) {
        let (mut low, mut high) = ([l; PAD], [u; PAD]);
        let (mut slope, mut offset, mut error) = ([0.0; PAD], [0.0; PAD], [0.0; PAD]);
        Envelopes { low: &mut low, high: &mut high, slope: &mut slope, offset: &mut offset, error: &mut error }
            .fill(isa, activation);
        (slope[0].into(), offset[0].into(), error[0].into())
    }

    fn applied(isa: Isa, activation: Activation, z: f32) -> f64 {
        let mut values = [z; PAD];
        activate(isa, activation, &mut values, None);
        values[0].into()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn an_envelope_holds_the_activation_that_the_model_computes(
            centre in -12.0f32..12.0, size in -5.0f32..1.3, at in 0.0f32..=1.0, tanh: bool,
        ) {
            let radius = 10f32.powf(size);
            let (l, u) = (centre - radius, centre + radius);
            let activation = if tanh { Activation::Tanh } else { Activation::Relu };
            for isa in Isa::available() {
                let (slope, offset, error) = envelope(isa, activation, l, u);
                for z in [l, u, (l + at * (u - l)).clamp(l, u), 0.0f32.clamp(l, u)] {
                    let distance = (applied(isa, activation, z) - slope * f64::from(z) - offset).abs();
                    prop_assert!(distance <= error, "{activation:?} [{l}, {u}] at {z}: {distance} > {error}");
                }
            }
        }

        #[test]
        fn a_tanh_envelope_is_as_narrow_as_its_curvature_allows(centre in -3.0f32..3.0, radius in 0.01f32..0.5) {
            // A function with |f''| ≤ M stays within M·w²/8 of its chord over a width w; the envelope halves that.
            let (_, _, error) = envelope(Isa::portable(), Activation::Tanh, centre - radius, centre + radius);
            let width = 2.0 * f64::from(radius);
            prop_assert!(error <= 0.7699 * width * width / 16.0 * 1.1 + 4e-6, "{error}");
        }
    }

    #[test]
    fn the_logarithm_is_within_3e_6() {
        let mut x = 1.0f32;
        while x < 1e10 {
            assert!((f64::from(logarithm(x)) - f64::from(x).ln()).abs() < 3e-6, "{x}");
            x *= 1.000_37;
        }
    }
}
