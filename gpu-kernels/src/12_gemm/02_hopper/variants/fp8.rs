//! Elements of 8 bits: steps twice as deep in the same number of bytes.
//!
//! A row of 128 bytes holds 128 of them, and an instruction takes 32 along k. So the blocks of
//! [`warp_specialized`] need no other code for them: only the type differs. Sums are in `f32`,
//! though not as exact as for 16 bits: the tensor cores keep 14 bits of each addend.

use cuda_std::TensorMap;
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::wgmma::E4m3;

use super::epilogue::{AsItIs, TmaEpilogue};
use super::warp_specialized::{self, BLOCK_THREADS};
use super::{Sizes, depth};

/// Boxes of the maps of A and B.
pub fn boxes() -> [[u32; 2]; 2] {
    warp_specialized::boxes(depth::<E4m3>(), 1)
}

/// C = A·B with A stored by rows and B by columns, of elements with 4 bits of exponent.
///
/// # Safety
///
/// As [`gemm_epilogue`](struct@warp_specialized::gemm_epilogue), with these [`boxes`].
#[kernel(launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_e4m3(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
) {
    let store = TmaEpilogue::<f16, _>::new(c, AsItIs);
    warp_specialized::work::<E4m3, 1, { warp_specialized::REGISTERS }, true, _>(
        a,
        b,
        Sizes { m, n, k },
        group,
        store,
    );
}
