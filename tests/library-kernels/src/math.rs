//! The well-bounded functions, on the device as on the host.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;

/// The number of functions in [`all`].
pub const N_FUNCTIONS: usize = 20;

/// Every function of `GpuFloat`, of `x` and `y`.
pub fn all<T: GpuFloat>(x: T, y: T) -> [T; N_FUNCTIONS] {
    [
        x.sin(),
        x.cos(),
        x.tan(),
        x.asin(),
        x.acos(),
        x.atan(),
        x.exp(),
        x.exp2(),
        x.ln(),
        x.log2(),
        x.log10(),
        x.tanh(),
        x.powf(y),
        x.sqrt(),
        x.mul_add(y, x),
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.round_ties_even(),
        x.recip_exact(),
    ]
}

/// All functions of an `x` and a `y` per thread, in both precisions.
#[kernel]
pub unsafe fn all_functions(x: &[f64], y: &[f64], single: *mut f32, double: *mut f64) {
    let i = thread::index_1d() as usize;
    let singles = all(x[i] as f32, y[i] as f32);
    let doubles = all(x[i], y[i]);
    for (k, (a, b)) in singles.into_iter().zip(doubles).enumerate() {
        *single.add(i * N_FUNCTIONS + k) = a;
        *double.add(i * N_FUNCTIONS + k) = b;
    }
}
