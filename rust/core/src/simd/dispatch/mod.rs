//! The choice of the lanes that this processor supports.
//!
//! The lanes with vector instructions are private to this module. Other code can't name them; it gets them only as the
//! type `L` of [`Work::run`], which [`dispatch`] calls after it has detected the features of the processor. So their
//! methods are safe.

#![allow(unsafe_code)] // functions that are compiled for vector instructions

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

use super::Work;
use super::quarters::Quarters;

/// The implementation with AVX2, 32 bytes at a time.
#[cfg(target_arch = "x86_64")]
struct Avx2;

/// The implementation with AVX-512, 64 bytes at a time.
#[cfg(target_arch = "x86_64")]
struct Avx512;

/// Run the work with the widest lanes that this processor supports.
pub(crate) fn dispatch<W: Work>(work: W) -> W::Done {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx512<W: Work>(work: W) -> W::Done {
            work.run::<Avx512>()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn run_avx2<W: Work>(work: W) -> W::Done {
            work.run::<Avx2>()
        }
        match *WIDEST {
            // SAFETY: the processor has the features that the function is compiled for.
            Widest::Avx512 => return unsafe { run_avx512(work) },
            // SAFETY: the processor has the features that the function is compiled for.
            Widest::Avx2 => return unsafe { run_avx2(work) },
            Widest::Quarters => {}
        }
    }
    work.run::<Quarters>()
}

/// The widest lanes that a processor supports.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
enum Widest {
    Avx512,
    Avx2,
    Quarters,
}

/// Detected once, since detecting each feature may take longer than the work.
#[cfg(target_arch = "x86_64")]
static WIDEST: LazyLock<Widest> = LazyLock::new(|| match () {
    () if has_avx512() => Widest::Avx512,
    () if has_avx2() => Widest::Avx2,
    () => Widest::Quarters,
});

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(test)]
mod tests;
