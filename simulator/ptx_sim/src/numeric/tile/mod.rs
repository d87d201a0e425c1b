//! A whole product of tiles, eight sums at a time.
//!
//! [`mma::dot`](super::mma::dot) computes one sum bit by bit. This module gives the same
//! bits by the vectors of x86-64. What is computed how, the fastest first:
//!
//! | module | numbers |
//! |---|---|
//! | [`whole`] | whole numbers of few bits, at any common scale |
//! | [`near`] | those with exponents not far from that of one |
//! | [`far`] | all |
//!
//! Left out, and reported to the caller, which then takes the slow path: machines without
//! these vectors, and models that add up in several groups.

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

pub(crate) use operands::{Blocks, Product, Register};

/// Computes `d`, if it can; gives whether it could.
pub(crate) fn multiply(product: &Product<'_>, d: &mut [Register]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && 8 * product.b.len() <= product.model.group {
        // SAFETY: This machine has the vectors.
        return unsafe { wide::multiply(product, d) };
    }
    let _ = (product, d);
    false
}

/// Adds the products to `sums`, if it can; gives whether it could.
pub(crate) fn add_blocks(blocks: &Blocks<'_>, sums: &mut [Register]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::has_wide_vectors() && blocks.n_products() <= blocks.model.group {
        // SAFETY: This machine has the vectors.
        unsafe { wide::add_blocks(blocks, sums) };
        return true;
    }
    let _ = (blocks, sums);
    false
}
