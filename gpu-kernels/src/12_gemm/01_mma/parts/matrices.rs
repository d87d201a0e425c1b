//! The matrices of a product, and the way its result is stored.
//!
//! A has m rows of k elements, B has n rows of k, C has m rows of n: both factors lie
//! along k, which BLAS calls TN. Rows begin a *pitch* apart, which may be more than their
//! length, and is a multiple of 8 elements: so rows begin at multiples of 16 bytes,
//! whatever m, n and k are. Elements between the rows are neither used nor written.

use cuda_std::KernelArg;
use cuda_std::convert::GpuHalf;
use cuda_std::float::GpuFloat;
use cuda_std::half::f16;
use cuda_std::vector::F16x2;

/// Pitches are multiples of this many elements of 16 bits: 16 bytes.
pub const PITCH_UNIT: u32 = 8;

/// The sizes of the matrices, in elements.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C)]
pub struct Sizes {
    /// Rows of A and C.
    pub m: u32,
    /// Rows of B, columns of C.
    pub n: u32,
    /// Columns of A and B.
    pub k: u32,
    /// From one row of A to the next.
    pub a_pitch: u32,
    /// From one row of B to the next.
    pub b_pitch: u32,
    /// From one row of C to the next.
    pub c_pitch: u32,
}

/// C = alpha·A·B + beta·C. With beta = 0 the old C is not read: it may be anything.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C)]
pub struct Scale {
    /// Factor of the product.
    pub alpha: f32,
    /// Factor of the old C.
    pub beta: f32,
}

impl Scale {
    /// C = A·B.
    pub const PRODUCT: Self = Self {
        alpha: 1.0,
        beta: 0.0,
    };
}

/// Element `(row, column)` of a matrix.
#[inline(always)]
pub(super) const fn element(row: u32, column: u32, pitch: u32) -> usize {
    row as usize * pitch as usize + column as usize
}

/// The smaller.
#[inline(always)]
pub(super) const fn min(x: u32, y: u32) -> u32 {
    if x < y { x } else { y }
}

/// Two adjacent elements of a row of C, from the product's sums: `column` is even. Beyond C's
/// edge they are meaningless.
///
/// # Safety
///
/// `c` is C.
#[inline(always)]
pub(super) unsafe fn scaled_pair(
    c: *const f16,
    sizes: &Sizes,
    scale: Scale,
    (row, column): (u32, u32),
    sums: [f32; 2],
) -> F16x2 {
    let [mut x, mut y] = sums.map(|sum| scale.alpha * sum);
    if scale.beta != 0.0 && row < sizes.m && column < sizes.n {
        let old = c.add(element(row, column, sizes.c_pitch));
        x = GpuFloat::mul_add(scale.beta, (*old).widen(), x);
        if column + 1 < sizes.n {
            y = GpuFloat::mul_add(scale.beta, (*old.add(1)).widen(), y);
        }
    }
    F16x2::narrow(x, y)
}

/// Writes two adjacent elements of a row of C, from the product's sums: `column` is even.
///
/// A warp's lanes have 8 rows of 4 such pairs (`cuda_std::mma`): a store goes to 8 rows,
/// 16 bytes in each, which is half a sector.
///
/// # Safety
///
/// `c` is C, and no other thread writes these elements.
#[inline(always)]
pub(super) unsafe fn store_pair(
    c: *mut f16,
    sizes: &Sizes,
    scale: Scale,
    (row, column): (u32, u32),
    sums: [f32; 2],
) {
    if row >= sizes.m || column >= sizes.n {
        return;
    }
    let pair = scaled_pair(c, sizes, scale, (row, column), sums);
    let to = c.add(element(row, column, sizes.c_pitch));
    if column + 1 < sizes.n {
        pair.store(to.cast());
    } else {
        *to = pair.x;
    }
}
