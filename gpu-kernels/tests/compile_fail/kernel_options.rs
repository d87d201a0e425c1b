//! Options that `#[kernel]` does not have, and items that it cannot be on.
use cuda_std::kernel;

#[kernel(launch_bounds())]
pub unsafe fn no_bounds() {}

#[kernel(max_threads = 128)]
pub unsafe fn other_name() {}

#[kernel(pdl, cooperative)]
pub unsafe fn early_and_together() {}

#[kernel]
struct NotAFunction;

fn main() {}
