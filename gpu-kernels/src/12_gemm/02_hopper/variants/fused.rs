//! A fused epilogue: work on a product's sums while they are still in registers.
//!
//! A layer of a network adds a bias to each column and applies a nonlinearity. A separate kernel
//! would read and write all of C once more; here it costs a few instructions, which are hidden
//! behind the other warpgroup's products ([`ping_pong`](super::ping_pong)).

use cuda_std::TensorMap;
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::wgmma::AlongK;

use super::Sizes;
use super::epilogue::{Finish, TmaEpilogue};
use super::ping_pong::{BLOCK_THREADS, Left, Plan, work};

/// GELU of a sum and its column's bias.
#[derive(Clone, Copy)]
struct BiasAndGelu {
    bias: *const f32,
    n: u32,
}

/// The usual approximation: x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x)))
}

/// By the device's own approximation, with a relative error of 2⁻¹¹.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn tanh(x: f32) -> f32 {
    cuda_std::float::GpuFloatApprox::tanh_approx(x)
}

#[cfg(not(target_arch = "nvptx64"))]
fn tanh(x: f32) -> f32 {
    cuda_std::float::GpuFloat::tanh(x)
}

impl Finish for BiasAndGelu {
    type Less = Self;

    #[inline(always)]
    fn less(&self) -> Option<Self> {
        Some(*self)
    }

    #[inline(always)]
    unsafe fn finish(&self, [low, high]: [f32; 2], _row: u32, column: u32) -> [f32; 2] {
        let bias = |column: u32| {
            if column < self.n {
                *self.bias.add(column as usize)
            } else {
                0.0
            }
        };
        [gelu(low + bias(column)), gelu(high + bias(column + 1))]
    }
}

/// GELU(A·B + bias) with A stored by rows and B by columns.
///
/// # Safety
///
/// As [`gemm_ping_pong`](struct@super::ping_pong::gemm_ping_pong); `bias` holds n elements.
#[kernel(pdl, launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_bias_gelu(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    bias: *const f32,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
) {
    let plan = Plan {
        sizes: Sizes { m, n, k },
        group,
        is_cut: false,
        left: Left::NOWHERE,
    };
    let store = TmaEpilogue::<f16, _>::new(c, BiasAndGelu { bias, n });
    work::<f16, AlongK, AlongK, 1, false, _>(a, b, plan, store);
}
