//! Dropout masks from sixteen random streams side by side.

use rand::Rng;

use super::lanes::Lanes;
use super::{PAD, dispatched};

/// A source of dropout masks: sixteen xoshiro128++ streams, one a lane. A cryptographic stream would cost as much as
/// the products that the masks apply to.
#[derive(Debug, Clone)]
pub(crate) struct Dropout {
    state: [[u32; PAD]; 4],
    /// Numbers below this drop their output.
    limit: u32,
    keep: f32,
}

impl Dropout {
    /// Masks that drop with chance `rate` in [0, 1) and multiply what they keep by 1/(1 − rate).
    pub(crate) fn new(rate: f32, random: &mut impl Rng) -> Dropout {
        let mut state = [[0; PAD]; 4];
        state.iter_mut().flatten().for_each(|word| *word = random.next_u32());
        // A stream whose four words are all 0 would stay there.
        state[0].iter_mut().for_each(|word| *word |= 1);
        let limit = (f64::from(rate) * 4_294_967_296.0) as u32;
        Dropout { state, limit, keep: (1.0 / (1.0 - f64::from(rate))) as f32 }
    }
}

dispatched! {
    /// Fills a run of numbers, a multiple of [`PAD`] long, with the next masks.
    fn fill_mask(source: &mut Dropout, mask: &mut [f32]) = run
}

#[inline(always)]
unsafe fn run<L: Lanes>(source: &mut Dropout, mask: &mut [f32]) {
    assert!(mask.len().is_multiple_of(PAD));
    let (limit, keep) = (source.limit, source.keep);
    let [mut a, mut b, mut c, mut d] = source.state;
    for out in mask.chunks_exact_mut(PAD) {
        for lane in 0..PAD {
            let number = a[lane].wrapping_add(d[lane]).rotate_left(7).wrapping_add(a[lane]);
            let shifted = b[lane] << 9;
            c[lane] ^= a[lane];
            d[lane] ^= b[lane];
            b[lane] ^= c[lane];
            a[lane] ^= d[lane];
            c[lane] ^= shifted;
            d[lane] = d[lane].rotate_left(11);
            out[lane] = if number < limit { 0.0 } else { keep };
        }
    }
    source.state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::model::kernel::Isa;

    #[test]
    fn drops_at_its_rate_and_keeps_the_mean_alike_on_every_instruction_set() {
        for rate in [0.0, 0.3, 0.9] {
            let masks: Vec<Vec<f32>> = Isa::available()
                .into_iter()
                .map(|isa| {
                    let mut source = Dropout::new(rate, &mut ChaCha8Rng::seed_from_u64(3));
                    let mut mask = vec![0.0; 160_000];
                    fill_mask(isa, &mut source, &mut mask);
                    mask
                })
                .collect();
            assert!(masks.windows(2).all(|pair| pair[0] == pair[1]));
            let dropped = masks[0].iter().filter(|&&factor| factor == 0.0).count() as f32 / 160_000.0;
            // Five standard deviations of a share of 160,000.
            assert!((dropped - rate).abs() < 5.0 * (rate * (1.0 - rate) / 160_000.0).sqrt() + 1e-9, "{dropped}");
            let mean = masks[0].iter().sum::<f32>() / 160_000.0;
            assert!((mean - 1.0).abs() < 0.04, "{mean}");
        }
    }
}
