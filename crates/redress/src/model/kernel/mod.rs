//! The dense arithmetic of models and training, in three forms chosen at run time: AVX-512F, AVX2 with FMA, portable.
//!
//! Each result is computed from its own operands in one fixed order, whatever the tile it falls into. So the logit of
//! a row has the same bits in any batch, and AVX2 and AVX-512 agree bit for bit; the portable form differs from them
//! by rounding where the machine has no fused multiply-add.
//!
//! The instruction set is an [`Isa`] value that only detection can make, which is what makes the calls sound.

mod adam;
mod aligned;
mod dropout;
mod lanes;
mod product;
mod rational_tanh;
mod scale;
mod transpose;

pub(crate) use adam::{AdamRates, adam};
pub(crate) use aligned::Aligned;
pub(crate) use dropout::{Dropout, fill_mask};
pub(crate) use product::{Product, Strided, product};
pub(crate) use rational_tanh::{Slopes, activate};
pub(crate) use scale::{multiply, scale_rows};
pub(crate) use transpose::{Transpose, transpose};

/// Rows of weights and activations are padded with zeros to a multiple of this, so that no kernel has a ragged edge.
pub(crate) const PAD: usize = 16;

/// The least multiple of [`PAD`] that holds `width` numbers.
pub(crate) fn padded(width: usize) -> usize {
    width.next_multiple_of(PAD)
}

/// An instruction set this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Isa {
    /// The fastest set of this machine. The environment variable `REDRESS_KERNEL` (`portable`, `avx2`, `avx512`) asks
    /// for another; one the machine does not have is passed over.
    pub fn detect() -> Isa {
        static CHOICE: std::sync::OnceLock<Isa> = std::sync::OnceLock::new();
        *CHOICE.get_or_init(|| {
            let wanted = std::env::var("REDRESS_KERNEL").unwrap_or_default();
            let available = Isa::available();
            available.iter().copied().find(|isa| isa.name() == wanted).unwrap_or(available[0])
        })
    }

    /// Every set of this machine, fastest first. The last one is always the portable one.
    pub fn available() -> Vec<Isa> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 && is_x86_feature_detected!("avx512f") {
                sets.push(Isa(Set::Avx512));
            }
            if avx2 {
                sets.push(Isa(Set::Avx2));
            }
        }
        sets.push(Isa(Set::Portable));
        sets
    }

    /// The set every machine has.
    pub fn portable() -> Isa {
        Isa(Set::Portable)
    }

    /// `avx512`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            Set::Portable => "portable",
        }
    }
}

/// Defines `fn name(isa, args…)` that runs `body::<L>(args…)` with the lanes of the instruction set.
///
/// The body is `unsafe` and `#[inline(always)]`: it becomes part of the function that has the target feature, and so
/// do the intrinsics it calls.
macro_rules! dispatched {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:ident) => {
        $(#[$doc])*
        pub(crate) fn $name(isa: crate::model::kernel::Isa, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($arg: $type),*) {
                // SAFETY: the feature is enabled here; the body checks its operands.
                unsafe { $body::<std::arch::x86_64::__m512>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) {
                // SAFETY: as above.
                unsafe { $body::<std::arch::x86_64::__m256>($($arg),*) }
            }
            match isa.0 {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: an `Isa` exists only for a set the machine has.
                crate::model::kernel::Set::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                crate::model::kernel::Set::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: the portable lanes need no feature; the body checks its operands.
                crate::model::kernel::Set::Portable => unsafe {
                    $body::<crate::model::kernel::lanes::Plain>($($arg),*)
                },
            }
        }
    };
}
use dispatched;
