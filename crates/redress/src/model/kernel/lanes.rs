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
    /// `then` where `|self| < limit`, else `otherwise`.
    unsafe fn where_small(self, limit: f32, then: Self, otherwise: Self) -> Self;
}

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
        unsafe fn where_small(self, limit: f32, then: Self, otherwise: Self) -> Self {
            unsafe {
                let small = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(self), _mm512_set1_ps(limit));
                _mm512_mask_blend_ps(small, otherwise, then)
            }
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
        unsafe fn where_small(self, limit: f32, then: Self, otherwise: Self) -> Self {
            unsafe {
                let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), self);
                _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<_CMP_LT_OQ>(size, _mm256_set1_ps(limit)))
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
    unsafe fn where_small(self, limit: f32, then: Self, otherwise: Self) -> Self {
        let (size, then, otherwise) = (self.0, then.0, otherwise.0);
        Plain(std::array::from_fn(|lane| if size[lane].abs() < limit { then[lane] } else { otherwise[lane] }))
    }
}
