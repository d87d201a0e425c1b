//! Qualifiers that a kernel cannot have.
use cuda_std::kernel;

#[kernel]
pub async unsafe fn later() {}

#[kernel]
pub const unsafe fn early() {}

#[kernel]
pub unsafe extern "C" fn foreign() {}

fn main() {}
