//! Buffers that start on a cache line. A register as wide as a line that straddles two of them costs two accesses, which
//! would make a training step a fifth slower.

use std::ops::{Deref, DerefMut};

use super::PAD;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; PAD]);

/// A run of numbers, a multiple of [`PAD`] long, aligned to a cache line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aligned(Vec<Line>);

impl Aligned {
    /// Zeros, as many as asked for rounded up to a multiple of [`PAD`].
    pub(crate) fn zeros(count: usize) -> Aligned {
        Aligned(vec![Line([0.0; PAD]); count.div_ceil(PAD)])
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a line is sixteen floats and nothing else: 64 bytes, aligned to 64.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PAD) }
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * PAD) }
    }
}
