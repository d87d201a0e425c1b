//! A whole product of tiles, eight sums at a time.
//!
//! [`mma::dot`](super::mma::dot) computes one sum bit by bit. This module gives the same
//! bits by the vectors of x86-64. What is computed how, the fastest first:
//!
//! | module | numbers |
//! |---|---|
//! | [`whole`] | whole numbers of few bits, at any common scale |
//! | [`near`] | those with exponents not far from that of one |
//! | [`far`] | all but infinity and NaN |
//!
//! Left out, and reported to the caller, which then takes the slow path: machines without
//! these vectors, models that add up in several groups, and sums with an infinity or a NaN.

#[cfg(target_arch = "x86_64")]
mod factors;
#[cfg(target_arch = "x86_64")]
mod far;
#[cfg(target_arch = "x86_64")]
mod integers;
#[cfg(target_arch = "x86_64")]
mod near;
mod operands;
#[cfg(target_arch = "x86_64")]
mod rounding;
#[cfg(target_arch = "x86_64")]
mod whole;
#[cfg(target_arch = "x86_64")]
mod wide;

pub(crate) use operands::{Blocks, Missing, Product, Register};

use operands::ALL_MISSING;

/// Computes `d`, as much of it as it can.
pub(crate) fn multiply(product: &Product<'_>, d: &mut [Register]) -> Missing {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && 8 * product.b.len() <= product.model.group {
        // SAFETY: This machine has the vectors.
        return unsafe { wide::multiply(product, d) };
    }
    let _ = (product, d);
    ALL_MISSING
}

/// Adds the products to `sums`, block by block; what it cannot compute is left unchanged,
/// and reported by block in `missing`.
pub(crate) fn add_blocks(
    blocks: &Blocks<'_>,
    sums: &mut [Register],
    mut missing: impl FnMut(usize, Missing, &mut [Register]),
) {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && blocks.n_products() <= blocks.model.group {
        // SAFETY: This machine has the vectors.
        return unsafe { wide::add_blocks(blocks, sums, missing) };
    }
    for (block, sums) in sums.chunks_mut(blocks.n_registers()).enumerate() {
        missing(block, ALL_MISSING, sums);
    }
}
