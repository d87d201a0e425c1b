//! Generic kernels without instances, and instances that do not fit.
use cuda_std::kernel;

#[kernel]
pub unsafe fn copy<T: Copy, const N: usize>(x: *const T, z: *mut T) {}

#[kernel]
pub unsafe fn first<'a>(x: &'a [f32]) {}

#[kernel(instances(of_floats = not_generic::<f32>))]
pub unsafe fn not_generic(x: *const f32) {}

#[kernel(instances(few = gives_one::<f32>))]
pub unsafe fn gives_one<T, const N: usize>(x: *const T) {}

#[kernel(instances(same = same::<f32>))]
pub unsafe fn same<T>(x: *const T) {}

#[kernel(instances(other = first::<f32>))]
pub unsafe fn of_another<T>(x: *const T) {}

#[kernel(instances())]
pub unsafe fn of_none<T>(x: *const T) {}

#[kernel]
pub unsafe fn where_not_generic(x: *const f32) where f32: Copy {}

/// The compiler reports types that violate a bound, on the host as well.
#[kernel(instances(of_text = bounded::<&'static str>))]
pub unsafe fn bounded<T: Into<f32>>(n: u32) {}

/// And types that no kernel takes.
#[kernel(instances(of_a_tuple = takes::<(u32, u32)>))]
pub unsafe fn takes<T: Copy>(_x: T) {}

pub trait Number {
    type Wide;
}
impl Number for f32 {
    type Wide = f64;
}

#[kernel(instances(of_wide = shortened::<f32>))]
pub unsafe fn shortened<T: Number>(_x: *const T::Wide) {}

fn main() {}
