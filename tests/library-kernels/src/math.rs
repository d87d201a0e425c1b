//! The well-bounded functions, on the device as on the host.

use cuda_std::prelude::*;

/// The number of results of [`all`].
pub const N_FUNCTIONS: usize = 46;

/// Puts the results of all functions of `GpuFloat`.
pub fn all<T: GpuFloat>(x: T, y: T, mut put: impl FnMut(T)) {
    let (sin, cos) = x.sin_cos();
    put(sin);
    put(cos);
    put(x.sin());
    put(x.cos());
    put(x.tan());
    put(x.sqrt());
    put(x.mul_add(y, x));
    put(x.floor());
    put(x.ceil());
    put(x.trunc());
    put(x.fract());
    put(x.round());
    put(x.round_ties_even());
    put(x.recip_exact());
    put(x.abs());
    put(x.signum());
    put(x.copysign(y));
    put(x.div_euclid(y));
    put(x.rem_euclid(y));
    put(x.asin());
    put(x.acos());
    put(x.atan());
    put(x.atan2(y));
    put(x.exp());
    put(x.exp2());
    put(x.exp_m1());
    put(x.ln());
    put(x.ln_1p());
    put(x.log(y));
    put(x.log2());
    put(x.log10());
    put(x.sinh());
    put(x.cosh());
    put(x.tanh());
    put(x.asinh());
    put(x.acosh());
    put(x.atanh());
    put(x.cbrt());
    put(x.hypot(y));
    put(x.powf(y));
    put(x.powi(0));
    put(x.powi(1));
    put(x.powi(3));
    put(x.powi(-2));
    put(x.powi(13));
    put(x.powi(-16));
}

/// All functions of an `x` and a `y` per thread.
#[kernel(local_memory, instances(
    functions_f32 = functions::<f32>,
    functions_f64 = functions::<f64>,
))]
pub unsafe fn functions<T: GpuFloat>(x: &[T], y: &[T], results: *mut T) {
    let i = thread::index_1d() as usize;
    let mut place = results.add(i * N_FUNCTIONS);
    all(x[i], y[i], |value| {
        place.write(value);
        place = place.add(1);
    });
}
