//! A register of `f32` lanes, on each instruction set.

/// A register of lanes. Every operation works on each lane alone.
///
/// # Safety
/// The methods may only run where the instruction set of the implementing type is enabled; pointers must be valid for
/// [`Lanes::WIDTH`] numbers.
#[allow(clippy::missing_safety_doc)] // said once, above
pub(super) trait Lanes: Copy {
    /// The number of lanes; divides [`super::PAD`].
    const WIDTH: usize;
    /// The most rows of a product tile, so that the tile stays in registers.
    const TILE_ROWS: usize;
    /// The most registers a row of a product tile.
    const TILE_REGISTERS: usize;

    unsafe fn splat(value: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    unsafe fn sqrt(self) -> Self;
    /// `self · factor + term`, in one rounding where the machine can.
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self` held within ±`limit`; NaN stays NaN.
    unsafe fn within(self, limit: f32) -> Self;
    /// `then` where `self > 0`, else 0.
    unsafe fn where_positive(self, then: Self) -> Self;
    /// 0 where `|self| < limit`, else `self`. NaN stays NaN.
    unsafe fn flush_below(self, limit: f32) -> Self;
    /// `term − self · factor`, in one rounding where the machine can.
    unsafe fn neg_mul_add(self, factor: Self, term: Self) -> Self;
    /// Within an eighth of `1/self`, for positive normal `self`.
    unsafe fn reciprocal_guess(self) -> Self;
    /// Transposes 8 × 8 numbers; rows are `row` apart in the source and `to_row` in the target.
    unsafe fn transpose_block(from: *const f32, row: usize, to: *mut f32, to_row: usize);

    /// `1/self` to about the last bit, for positive normal `self`: three Newton steps, which unlike the division of most
    /// machines leave the divider to the square root.
    #[inline(always)]
    unsafe fn reciprocal(self) -> Self {
        unsafe {
            let mut guess = self.reciprocal_guess();
            for _ in 0..3 {
                let error = self.neg_mul_add(guess, Self::splat(1.0));
                guess = guess.mul_add(error, guess);
            }
            guess
        }
    }
}

/// Subtracting the bits of a float from this gives those of a first guess at its reciprocal: it negates the exponent.
const RECIPROCAL_BITS: u32 = 0x7EF3_11C7;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    impl super::Lanes for __m512 {
        const WIDTH: usize = 16;
        // 24 accumulators, 3 operands and a broadcast of 32 registers.
        const TILE_ROWS: usize = 8;
        const TILE_REGISTERS: usize = 3;

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            unsafe { _mm512_sub_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            unsafe { _mm512_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn div(self, other: Self) -> Self {
            unsafe { _mm512_div_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn sqrt(self) -> Self {
            unsafe { _mm512_sqrt_ps(self) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { _mm512_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn within(self, limit: f32) -> Self {
            // Minimum and maximum return their second operand when one is NaN.
            unsafe { _mm512_max_ps(_mm512_set1_ps(-limit), _mm512_min_ps(_mm512_set1_ps(limit), self)) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, then: Self) -> Self {
            unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(self, _mm512_setzero_ps()), then) }
        }
        #[inline(always)]
        unsafe fn flush_below(self, limit: f32) -> Self {
            unsafe {
                let large = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(_mm512_abs_ps(self), _mm512_set1_ps(limit));
                _mm512_maskz_mov_ps(large, self)
            }
        }
        #[inline(always)]
        unsafe fn reciprocal_guess(self) -> Self {
            unsafe {
                let bits = _mm512_set1_epi32(super::RECIPROCAL_BITS as i32);
                _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_castps_si512(self)))
            }
        }
        #[inline(always)]
        unsafe fn transpose_block(from: *const f32, row: usize, to: *mut f32, to_row: usize) {
            unsafe { transpose_8_by_8(from, row, to, to_row) }
        }
        #[inline(always)]
        unsafe fn neg_mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { _mm512_fnmadd_ps(self, factor, term) }
        }
    }

    impl super::Lanes for __m256 {
        const WIDTH: usize = 8;
        // 12 accumulators, 3 operands and a broadcast of 16 registers.
        const TILE_ROWS: usize = 4;
        const TILE_REGISTERS: usize = 3;

        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            unsafe { _mm256_sub_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            unsafe { _mm256_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn div(self, other: Self) -> Self {
            unsafe { _mm256_div_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn sqrt(self) -> Self {
            unsafe { _mm256_sqrt_ps(self) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { _mm256_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn within(self, limit: f32) -> Self {
            unsafe { _mm256_max_ps(_mm256_set1_ps(-limit), _mm256_min_ps(_mm256_set1_ps(limit), self)) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, then: Self) -> Self {
            unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(self, _mm256_setzero_ps()), then) }
        }
        #[inline(always)]
        unsafe fn flush_below(self, limit: f32) -> Self {
            unsafe {
                let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), self);
                _mm256_and_ps(_mm256_cmp_ps::<_CMP_NLT_UQ>(size, _mm256_set1_ps(limit)), self)
            }
        }
        #[inline(always)]
        unsafe fn reciprocal_guess(self) -> Self {
            unsafe {
                let bits = _mm256_set1_epi32(super::RECIPROCAL_BITS as i32);
                _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_castps_si256(self)))
            }
        }
        #[inline(always)]
        unsafe fn transpose_block(from: *const f32, row: usize, to: *mut f32, to_row: usize) {
            unsafe { transpose_8_by_8(from, row, to, to_row) }
        }
        #[inline(always)]
        unsafe fn neg_mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { _mm256_fnmadd_ps(self, factor, term) }
        }
    }

    /// Three rounds of shuffles: pairs, quadruples, halves.
    #[inline(always)]
    unsafe fn transpose_8_by_8(from: *const f32, row: usize, to: *mut f32, to_row: usize) {
        unsafe {
            let line = |index: usize| _mm256_loadu_ps(from.add(index * row));
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            let (e, f, g, h) = (line(4), line(5), line(6), line(7));
            let pairs = [
                _mm256_unpacklo_ps(a, b),
                _mm256_unpackhi_ps(a, b),
                _mm256_unpacklo_ps(c, d),
                _mm256_unpackhi_ps(c, d),
                _mm256_unpacklo_ps(e, f),
                _mm256_unpackhi_ps(e, f),
                _mm256_unpacklo_ps(g, h),
                _mm256_unpackhi_ps(g, h),
            ];
            let fours = [
                _mm256_shuffle_ps::<0x44>(pairs[0], pairs[2]),
                _mm256_shuffle_ps::<0xEE>(pairs[0], pairs[2]),
                _mm256_shuffle_ps::<0x44>(pairs[1], pairs[3]),
                _mm256_shuffle_ps::<0xEE>(pairs[1], pairs[3]),
                _mm256_shuffle_ps::<0x44>(pairs[4], pairs[6]),
                _mm256_shuffle_ps::<0xEE>(pairs[4], pairs[6]),
                _mm256_shuffle_ps::<0x44>(pairs[5], pairs[7]),
                _mm256_shuffle_ps::<0xEE>(pairs[5], pairs[7]),
            ];
            for index in 0..4 {
                let low = _mm256_permute2f128_ps::<0x20>(fours[index], fours[index + 4]);
                let high = _mm256_permute2f128_ps::<0x31>(fours[index], fours[index + 4]);
                _mm256_storeu_ps(to.add(index * to_row), low);
                _mm256_storeu_ps(to.add((index + 4) * to_row), high);
            }
        }
    }
}

/// Lanes that any compiler target can vectorise.
#[derive(Clone, Copy)]
pub(super) struct Plain([f32; 4]);

impl Plain {
    #[inline(always)]
    fn map(self, f: impl Fn(f32) -> f32) -> Plain {
        Plain(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Plain, f: impl Fn(f32, f32) -> f32) -> Plain {
        let (a, b) = (self.0, other.0);
        Plain([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }
}

/// Without the instruction, `f32::mul_add` is a call into the C library, a hundred times slower.
const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

impl Lanes for Plain {
    const WIDTH: usize = 4;
    // 8 accumulators, 2 operands and a broadcast of 16 registers.
    const TILE_ROWS: usize = 4;
    const TILE_REGISTERS: usize = 2;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Plain([value; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Plain(unsafe { from.cast::<[f32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { to.cast::<[f32; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }
    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
        if FUSED {
            let (a, b, c) = (self.0, factor.0, term.0);
            return Plain(std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane])));
        }
        self.zip(factor, |a, b| a * b).zip(term, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn within(self, limit: f32) -> Self {
        self.map(|a| a.clamp(-limit, limit))
    }
    #[inline(always)]
    unsafe fn where_positive(self, then: Self) -> Self {
        self.zip(then, |a, b| if a > 0.0 { b } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn flush_below(self, limit: f32) -> Self {
        self.map(|a| if a.abs() < limit { 0.0 } else { a })
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        unsafe { self.map(|a| -a).mul_add(factor, term) }
    }
    #[inline(always)]
    unsafe fn reciprocal_guess(self) -> Self {
        self.map(|a| f32::from_bits(RECIPROCAL_BITS.wrapping_sub(a.to_bits())))
    }
    #[inline(always)]
    unsafe fn transpose_block(from: *const f32, row: usize, to: *mut f32, to_row: usize) {
        for i in 0..8 {
            for j in 0..8 {
                unsafe { *to.add(j * to_row + i) = *from.add(i * row + j) };
            }
        }
    }
}
