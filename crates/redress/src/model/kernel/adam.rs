//! One Adam update over a flat run of parameters.

use super::lanes::Lanes;
use super::{PAD, dispatched};

/// The numbers of one Adam update, with the bias corrections of this step worked in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AdamRates {
    /// β₁, how slowly the mean of the gradient forgets.
    pub beta1: f32,
    /// β₂, how slowly the mean of its square forgets.
    pub beta2: f32,
    /// The learning rate over 1 − β₁ᵗ.
    pub rate: f32,
    /// One over √(1 − β₂ᵗ).
    pub unbias: f32,
    /// Added to the denominator.
    pub epsilon: f32,
    /// Whether negligible means become 0 in this step. A parameter that gets no gradient would decay into subnormal
    /// numbers, which are a hundred times slower to multiply and, rounded to nearest, never reach 0. Every hundred
    /// steps is often enough: 10⁻³⁰ · 0.9¹⁰⁰ is still a normal number.
    pub flush: bool,
}

/// Means smaller than this are negligible.
const NEGLIGIBLE: f32 = 1e-30;

dispatched! {
    /// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − rate · m / (√v · unbias + ε).
    fn adam(rates: AdamRates, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) = run
}

#[inline(always)]
unsafe fn run<L: Lanes>(rates: AdamRates, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
    let count = weights.len();
    assert!(count.is_multiple_of(PAD) && gradient.len() == count && mean.len() == count && square.len() == count);
    // SAFETY: every slice has `count` numbers, a multiple of the lanes.
    unsafe {
        let (beta1, rest1) = (L::splat(rates.beta1), L::splat(1.0 - rates.beta1));
        let (beta2, rest2) = (L::splat(rates.beta2), L::splat(1.0 - rates.beta2));
        let (rate, unbias, epsilon) = (L::splat(rates.rate), L::splat(rates.unbias), L::splat(rates.epsilon));
        for at in (0..count).step_by(L::WIDTH) {
            let g = L::load(gradient.as_ptr().add(at));
            let m = L::load(mean.as_ptr().add(at)).mul(beta1);
            let mut m = g.mul_add(rest1, m);
            let v = L::load(square.as_ptr().add(at)).mul(beta2);
            let mut v = g.mul(g).mul_add(rest2, v);
            if rates.flush {
                (m, v) = (m.flush_below(NEGLIGIBLE), v.flush_below(NEGLIGIBLE));
            }
            let step = rate.mul(m).mul(v.sqrt().mul_add(unbias, epsilon).reciprocal());
            m.store(mean.as_mut_ptr().add(at));
            v.store(square.as_mut_ptr().add(at));
            let w = L::load(weights.as_ptr().add(at)).sub(step);
            w.store(weights.as_mut_ptr().add(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kernel::Isa;

    #[test]
    fn follows_the_recurrence_in_double_precision() {
        for isa in Isa::available() {
            let (mut w, mut m, mut v) = ([0.5f32; PAD], [0.0f32; PAD], [0.0f32; PAD]);
            let (mut dw, mut dm, mut dv) = (0.5f64, 0.0f64, 0.0f64);
            for t in 1..=50 {
                let g = (t as f32 * 0.7).sin() * 0.1;
                let (one, two) = (1.0 - 0.9f64.powi(t), 1.0 - 0.999f64.powi(t));
                let rates = AdamRates {
                    beta1: 0.9,
                    beta2: 0.999,
                    rate: (0.002 / one) as f32,
                    unbias: (1.0 / two.sqrt()) as f32,
                    epsilon: 1e-8,
                    flush: t % 2 == 0,
                };
                adam(isa, rates, &mut w, &[g; PAD], &mut m, &mut v);
                let g = f64::from(g);
                dm = 0.9 * dm + 0.1 * g;
                dv = 0.999 * dv + 0.001 * g * g;
                dw -= 0.002 * (dm / one) / ((dv / two).sqrt() + 1e-8);
            }
            assert!(w.iter().all(|w| (f64::from(*w) - dw).abs() < 1e-6), "{}: {w:?} {dw}", isa.name());
        }
    }

    #[test]
    fn the_first_step_is_the_learning_rate_against_the_gradient_and_none_without_one() {
        let unbias = 1.0 / 0.001f32.sqrt();
        let rates = AdamRates { beta1: 0.9, beta2: 0.999, rate: 0.02, unbias, epsilon: 1e-8, flush: true };
        let (mut w, mut m, mut v) = ([1.0f32; PAD], [0.0f32; PAD], [0.0f32; PAD]);
        let mut g = [3.0f32; PAD];
        g[1] = 0.0;
        adam(Isa::detect(), rates, &mut w, &g, &mut m, &mut v);
        assert!((w[0] - 0.998).abs() < 1e-6 && w[1] == 1.0 && v[1] == 0.0);
    }

    #[test]
    fn a_mean_without_gradient_dies_out_before_it_is_subnormal() {
        for isa in Isa::available() {
            let (mut w, mut m, mut v) = ([1.0f32; PAD], [1e-3f32; PAD], [1e-6f32; PAD]);
            for step in 1..3000 {
                let flush = step % 100 == 0;
                let rates = AdamRates { beta1: 0.9, beta2: 0.9, rate: 0.0, unbias: 1.0, epsilon: 1e-8, flush };
                adam(isa, rates, &mut w, &[0.0; PAD], &mut m, &mut v);
                assert!(m.iter().chain(&v).all(|mean| *mean == 0.0 || mean.is_normal()));
            }
            assert!(m == [0.0; PAD] && v == [0.0; PAD]);
        }
    }
}
