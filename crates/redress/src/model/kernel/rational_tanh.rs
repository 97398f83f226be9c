//! The activations. The C library's tanh would make a training step four times as slow; this one has no branch.

use super::lanes::Lanes;
use super::{PAD, dispatched};
use crate::model::Activation;

/// What the backward pass needs of an activation.
pub(crate) struct Slopes<'a> {
    /// The derivative of the output by its input, mask included.
    pub out: &'a mut [f32],
    /// A factor for each output: 0 for a dropped one, 1/(1 − p) for a kept one; none in evaluation.
    pub mask: Option<&'a [f32]>,
}

dispatched! {
    /// Replaces each `z` by its activation (times its mask), and writes the slopes where asked for.
    fn activate(activation: Activation, values: &mut [f32], slopes: Option<Slopes<'_>>) = run
}

#[inline(always)]
unsafe fn run<L: Lanes>(activation: Activation, values: &mut [f32], slopes: Option<Slopes<'_>>) {
    let count = values.len();
    assert!(count.is_multiple_of(PAD));
    let (slope, mask) = match slopes {
        Some(Slopes { out, mask }) => {
            assert!(out.len() == count && mask.is_none_or(|mask| mask.len() == count));
            (Some(out.as_mut_ptr()), mask.map(<[f32]>::as_ptr))
        }
        None => (None, None),
    };
    let values = values.as_mut_ptr();
    // SAFETY: every slice has `count` numbers, a multiple of the lanes.
    unsafe {
        match activation {
            Activation::Tanh => each::<L, true>(count, values, slope, mask),
            Activation::Relu => each::<L, false>(count, values, slope, mask),
        }
    }
}

#[inline(always)]
unsafe fn each<L: Lanes, const TANH: bool>(
    count: usize,
    values: *mut f32,
    slopes: Option<*mut f32>,
    mask: Option<*const f32>,
) {
    unsafe {
        let one = L::splat(1.0);
        for at in (0..count).step_by(L::WIDTH) {
            let z = L::load(values.add(at));
            let (mut value, mut slope);
            if TANH {
                value = tanh(z);
                slope = one.sub(value.mul(value));
            } else {
                slope = z.where_positive(one);
                // max(0, z) that lets NaN through, so that a run that diverges is seen to.
                value = z.mul(slope);
            }
            if let Some(mask) = mask {
                let factor = L::load(mask.add(at));
                value = value.mul(factor);
                slope = slope.mul(factor);
            }
            value.store(values.add(at));
            if let Some(slopes) = slopes {
                slope.store(slopes.add(at));
            }
        }
    }
}

/// tanh z as a rational function of degree 13 over 6, with `z` held within ±7.9053111, where tanh is 1 in `f32`.
///
/// The largest error is 2.6e-7, or 3.8e-7 without fused multiply-add. By hand: tanh 0 = 0, tanh 1 = 0.7615942.
#[allow(clippy::excessive_precision)]
#[inline(always)]
unsafe fn tanh<L: Lanes>(z: L) -> L {
    // A minimax fit on ±7.9, the one Eigen uses, with its digits.
    const ODD: [f32; 7] = [
        -2.76076847742355e-16,
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ];
    const EVEN: [f32; 4] = [1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03];
    unsafe {
        let x = z.within(7.90531110763549805);
        let square = x.mul(x);
        let mut top = L::splat(ODD[0]);
        for &coefficient in &ODD[1..] {
            top = top.mul_add(square, L::splat(coefficient));
        }
        let mut bottom = L::splat(EVEN[0]);
        for &coefficient in &EVEN[1..] {
            bottom = bottom.mul_add(square, L::splat(coefficient));
        }
        top.mul(x).div(bottom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kernel::Isa;

    #[test]
    fn tanh_is_near_libm_on_every_instruction_set() {
        let inputs: Vec<f32> = (-160_000..160_000).map(|i| i as f32 * 1e-4).chain([1e-6; PAD]).collect();
        for isa in Isa::available() {
            let mut values = inputs[..inputs.len() / PAD * PAD].to_vec();
            activate(isa, Activation::Tanh, &mut values, None);
            let limit = if isa == Isa::portable() { 3.8e-7 } else { 2.61e-7 };
            for (value, input) in values.iter().zip(&inputs) {
                let error = (f64::from(*value) - f64::from(*input).tanh()).abs();
                assert!(error <= limit, "{}: tanh {input} = {value}, off by {error:e}", isa.name());
            }
        }
    }

    #[test]
    fn nan_stays_nan_and_infinities_saturate() {
        for isa in Isa::available() {
            for activation in [Activation::Tanh, Activation::Relu] {
                let mut values = [f32::NAN; PAD];
                activate(isa, activation, &mut values, None);
                assert!(values.iter().all(|value| value.is_nan()), "{} {activation:?}", isa.name());
            }
            let mut values = [f32::INFINITY; PAD];
            activate(isa, Activation::Tanh, &mut values, None);
            assert!(values.iter().all(|value| (value - 1.0).abs() < 1e-6));
        }
    }

    #[test]
    fn slopes_are_the_derivatives_times_the_mask() {
        let inputs: Vec<f32> = (0..64).map(|i| i as f32 * 0.1 - 3.15).collect();
        let mask: Vec<f32> = (0..64).map(|i| if i % 3 == 0 { 0.0 } else { 1.25 }).collect();
        for isa in Isa::available() {
            for activation in [Activation::Tanh, Activation::Relu] {
                let (mut values, mut out) = (inputs.clone(), vec![0.0; 64]);
                activate(isa, activation, &mut values, Some(Slopes { out: &mut out, mask: Some(&mask) }));
                for i in 0..64 {
                    let (value, slope) = match activation {
                        Activation::Tanh => (inputs[i].tanh(), 1.0 - inputs[i].tanh().powi(2)),
                        Activation::Relu => (inputs[i].max(0.0), if inputs[i] > 0.0 { 1.0 } else { 0.0 }),
                    };
                    assert!((values[i] - value * mask[i]).abs() < 1e-6);
                    assert!((out[i] - slope * mask[i]).abs() < 1e-6);
                }
            }
        }
    }
}
