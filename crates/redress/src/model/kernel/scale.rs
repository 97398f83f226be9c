//! Products element by element.

use super::lanes::Lanes;
use super::{PAD, dispatched};

dispatched! {
    /// Multiplies each value by its factor.
    fn multiply(values: &mut [f32], factors: &[f32]) = each
}

dispatched! {
    /// Multiplies each row of `width` values (a multiple of [`PAD`]) by its factor, as far as there are factors.
    fn scale_rows(values: &mut [f32], width: usize, factors: &[f32]) = rows
}

#[inline(always)]
unsafe fn each<L: Lanes>(values: &mut [f32], factors: &[f32]) {
    assert!(values.len() == factors.len() && values.len().is_multiple_of(PAD));
    for at in (0..values.len()).step_by(L::WIDTH) {
        // SAFETY: both have as many numbers, a multiple of the lanes.
        unsafe {
            let product = L::load(values.as_ptr().add(at)).mul(L::load(factors.as_ptr().add(at)));
            product.store(values.as_mut_ptr().add(at));
        }
    }
}

#[inline(always)]
unsafe fn rows<L: Lanes>(values: &mut [f32], width: usize, factors: &[f32]) {
    assert!(width.is_multiple_of(PAD) && values.len() >= width * factors.len());
    for (row, factor) in factors.iter().enumerate() {
        for at in (row * width..(row + 1) * width).step_by(L::WIDTH) {
            // SAFETY: the row lies inside, by the assertion.
            unsafe {
                let product = L::load(values.as_ptr().add(at)).mul(L::splat(*factor));
                product.store(values.as_mut_ptr().add(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kernel::Isa;

    #[test]
    fn every_element_and_every_row_gets_its_factor() {
        for isa in Isa::available() {
            let start: Vec<f32> = (0..64).map(|i| i as f32).collect();
            let mut values = start.clone();
            multiply(isa, &mut values, &start);
            assert!(values.iter().zip(&start).all(|(value, x)| *value == x * x));
            let mut values = start.clone();
            scale_rows(isa, &mut values, 32, &[2.0]);
            assert!((0..64).all(|i| values[i] == start[i] * if i < 32 { 2.0 } else { 1.0 }));
        }
    }
}
