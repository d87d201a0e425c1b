//! [`cuda_std::atomic`], and Rust-CUDA's types for floats that threads change atomically.
//!
//! A value may be in global or in shared memory, which the instruction determines at run time;
//! not in a thread's own variables. [`Ordering::SeqCst`] costs a fence more than the others.
//!
//! Left out: the host's versions. Like all device functions, these panic there.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

pub use cuda_std::atomic::*;
use cuda_std::gpu_only;

/// Calls a function of [`cuda_std::atomic`] with the marker type of an order.
#[cfg(target_arch = "nvptx64")]
macro_rules! in_order {
    ($order:ident, $scope:ident, [$($name:ident),*] or $last:ident, $function:ident $arguments:tt) => {
        // SAFETY: the value is alive, aligned, and accessed atomically only.
        unsafe {
            match $order {
                $(Ordering::$name => in_order!(@call $function $arguments $scope $name),)*
                Ordering::SeqCst => {
                    fence($scope, SeqCst);
                    in_order!(@call $function $arguments $scope $last)
                }
                _ => panic!(concat!("`", stringify!($function), "` does not have this order")),
            }
        }
    };
    (@call $function:ident ($($argument:expr),*) $scope:ident $name:ident) => {
        cuda_std::atomic::$function($($argument,)* Generic, $scope, $name)
    };
    ($order:ident, $scope:ident, $function:ident $arguments:tt) => {
        in_order!(
            $order, $scope, [Relaxed, Acquire, Release, AcqRel] or AcqRel, $function $arguments
        )
    };
}

macro_rules! atomic_floats {
    ($(
        $(#[$doc:meta])*
        $name:ident: $float:ty, $bits:ty, $scope:ident $(, $unsafety:tt)?;
    )*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$float>);

        // SAFETY: shared references access it atomically only.
        unsafe impl Sync for $name {}

        #[allow(clippy::missing_safety_doc, unused_unsafe)]
        impl $name {
            /// A value that is not shared yet.
            pub const fn new(v: $float) -> Self {
                Self(UnsafeCell::new(v))
            }

            /// The value, which is not shared any more.
            pub fn into_inner(self) -> $float {
                self.0.into_inner()
            }

            /// The value.
            ///
            /// # Panics
            ///
            /// `order` is `Release` or `AcqRel`.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn load(&self, order: Ordering) -> $float {
                in_order!(order, $scope, [Relaxed, Acquire] or Acquire, load(self.0.get()))
            }

            /// Replaces the value.
            ///
            /// # Panics
            ///
            /// `order` is `Acquire` or `AcqRel`.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn store(&self, val: $float, order: Ordering) {
                in_order!(order, $scope, [Relaxed, Release] or Release, store(self.0.get(), val));
            }

            /// Adds `val`, and returns the value from before.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn fetch_add(&self, val: $float, order: Ordering) -> $float {
                in_order!(order, $scope, add(self.0.get(), val))
            }

            /// Subtracts `val`, and returns the value from before.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn fetch_sub(&self, val: $float, order: Ordering) -> $float {
                in_order!(order, $scope, sub(self.0.get(), val))
            }

            /// Keeps the bits that `val` has too, and returns the value from before.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn fetch_and(&self, val: $float, order: Ordering) -> $float {
                let bits = self.0.get().cast::<$bits>();
                <$float>::from_bits(in_order!(order, $scope, and(bits, val.to_bits())))
            }

            /// Adds the bits that `val` has, and returns the value from before.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn fetch_or(&self, val: $float, order: Ordering) -> $float {
                let bits = self.0.get().cast::<$bits>();
                <$float>::from_bits(in_order!(order, $scope, or(bits, val.to_bits())))
            }

            /// Inverts the bits that `val` has, and returns the value from before.
            #[gpu_only]
            #[inline(always)]
            pub $($unsafety)? fn fetch_xor(&self, val: $float, order: Ordering) -> $float {
                let bits = self.0.get().cast::<$bits>();
                <$float>::from_bits(in_order!(order, $scope, xor(bits, val.to_bits())))
            }
        }
    )* };
}
atomic_floats! {
    /// An `f32` that the device's threads share.
    AtomicF32: f32, u32, Device;
    /// An `f64` that the device's threads share.
    AtomicF64: f64, u64, Device;
    /// An `f32` that the threads of a block share. Its functions are unsafe: no thread of
    /// another block may access it in the meantime.
    BlockAtomicF32: f32, u32, Block, unsafe;
    /// An `f64` that the threads of a block share. Its functions are unsafe: no thread of
    /// another block may access it in the meantime.
    BlockAtomicF64: f64, u64, Block, unsafe;
    /// An `f32` that the threads of all devices and of the host share.
    SystemAtomicF32: f32, u32, System;
    /// An `f64` that the threads of all devices and of the host share.
    SystemAtomicF64: f64, u64, System;
}
