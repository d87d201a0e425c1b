//! What the host knows of a kernel: its entry name, its argument types and its
//! launch limits.
//!
//! `#[kernel]` compiles a function twice. For the device it becomes a PTX
//! entry. For the host it becomes a unit struct of the same name that
//! implements [`Kernel`], so that a launch is checked by the compiler: wrong
//! number, order, type or mutability of arguments does not compile.
//!
//! | kernel parameter | host argument | PTX parameters |
//! |---|---|---|
//! | `&[T]` | [`DeviceSlice<T>`] | `u64` address, `u64` length in elements |
//! | `*const T` | [`DevicePtr<T>`] | `u64` address |
//! | `*mut T` | [`DevicePtrMut<T>`] | `u64` address |
//! | scalar `T` | `T` | one of its size |
//!
//! A safe kernel ([`crate::view`]) has the same arguments by addresses, for launches that
//! are `unsafe`, and arguments that know their lengths, which [`SafeKernel::admit`] checks.
//!
//! Nothing here launches anything: engines live in the `host` crate.

mod safe;

use core::marker::PhantomData;

pub use crate::device_copy::DeviceCopy;
#[doc(hidden)]
pub use safe::Wanted;
pub use safe::{Input, Output, SafeKernel, Unfit};

/// Address in device memory that a kernel reads `T`s from.
#[repr(transparent)]
pub struct DevicePtr<T> {
    address: u64,
    element: PhantomData<*const T>,
}

/// Address in device memory that a kernel may write `T`s to.
#[repr(transparent)]
pub struct DevicePtrMut<T> {
    address: u64,
    element: PhantomData<*mut T>,
}

/// Address and length of `T`s in device memory that a kernel only reads.
pub struct DeviceSlice<T> {
    address: u64,
    n_elements: u64,
    element: PhantomData<*const T>,
}

macro_rules! by_copy {
    ($($name:ident),*) => { $(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self { *self }
        }
        impl<T> Copy for $name<T> {}
    )* };
}
by_copy!(DevicePtr, DevicePtrMut, DeviceSlice);

impl<T> DevicePtr<T> {
    /// The pointer to `address` in the device's global address space.
    pub const fn new(address: u64) -> Self {
        Self {
            address,
            element: PhantomData,
        }
    }
}

impl<T> DevicePtrMut<T> {
    /// The pointer to `address` in the device's global address space.
    pub const fn new(address: u64) -> Self {
        Self {
            address,
            element: PhantomData,
        }
    }

    /// The same address, for reading.
    pub const fn as_const(self) -> DevicePtr<T> {
        DevicePtr::new(self.address)
    }
}

impl<T> DeviceSlice<T> {
    /// `n_elements` values from `address` in the device's global address space.
    pub const fn new(address: u64, n_elements: u64) -> Self {
        Self {
            address,
            n_elements,
            element: PhantomData,
        }
    }
}

/// One parameter of a PTX entry, as bytes in the device's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamValue {
    bytes: [u8; 8],
    size_bytes: u8,
    is_address: bool,
}

impl ParamValue {
    /// A parameter of `N` bytes, `N` in 1, 2, 4, 8.
    pub fn new<const N: usize>(value: [u8; N]) -> Self {
        const { assert!(N == 1 || N == 2 || N == 4 || N == 8) };
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&value);
        Self {
            bytes,
            size_bytes: N as u8,
            is_address: false,
        }
    }

    /// A pointer into device memory.
    pub fn of_address(address: u64) -> Self {
        Self {
            is_address: true,
            ..Self::new(address.to_le_bytes())
        }
    }

    /// The device address, if it is a pointer.
    pub fn address(&self) -> Option<u64> {
        self.is_address.then(|| u64::from_le_bytes(self.bytes))
    }

    /// The parameter's bytes, little-endian.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.size_bytes as usize]
    }
}

/// A host value that stands for one argument of a kernel.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}` by value",
    label = "in this kernel",
    note = "it takes slices (`&[T]`), pointers (`*const T`, `*mut T`) and numbers; pass anything else through a pointer"
)]
pub trait KernelArg {
    /// Sizes in bytes of the PTX parameters it becomes, in order.
    const PARAM_SIZES: &'static [u32];
    /// Hands each PTX parameter it becomes to `push`, in order.
    fn push_params(&self, push: &mut dyn FnMut(ParamValue));
}

macro_rules! scalar_arg {
    ($($t:ty: $n:literal),*) => { $(
        impl KernelArg for $t {
            const PARAM_SIZES: &'static [u32] = &[$n];
            fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
                push(ParamValue::new(self.to_le_bytes()));
            }
        }
    )* };
}
scalar_arg!(half::f16: 2, half::bf16: 2);
scalar_arg!(u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8, f32: 4, f64: 8);

impl KernelArg for usize {
    const PARAM_SIZES: &'static [u32] = &[8];
    fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
        push(ParamValue::new((*self as u64).to_le_bytes()));
    }
}

impl<T> KernelArg for DevicePtr<T> {
    const PARAM_SIZES: &'static [u32] = &[8];
    fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
        push(ParamValue::of_address(self.address));
    }
}

impl<T> KernelArg for DevicePtrMut<T> {
    const PARAM_SIZES: &'static [u32] = &[8];
    fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
        push(ParamValue::of_address(self.address));
    }
}

impl<T> KernelArg for DeviceSlice<T> {
    const PARAM_SIZES: &'static [u32] = &[8, 8];
    fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
        push(ParamValue::of_address(self.address));
        push(ParamValue::new(self.n_elements.to_le_bytes()));
    }
}

/// All arguments of a kernel: a tuple of [`KernelArg`]s.
pub trait KernelArgs {
    /// Sizes in bytes of the PTX parameters, in order.
    fn param_sizes() -> impl Iterator<Item = u32>;
    /// Hands every PTX parameter to `push`, in order.
    fn push_params(&self, push: &mut dyn FnMut(ParamValue));
}

macro_rules! tuple_args {
    ($($name:ident)*) => {
        impl<$($name: KernelArg),*> KernelArgs for ($($name,)*) {
            fn param_sizes() -> impl Iterator<Item = u32> {
                let sizes: [&'static [u32]; _] = [$($name::PARAM_SIZES),*];
                sizes.into_iter().flatten().copied()
            }
            #[allow(non_snake_case, unused_variables)]
            fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
                let ($($name,)*) = self;
                $($name.push_params(push);)*
            }
        }
    };
}
tuple_args!();
tuple_args!(A);
tuple_args!(A B);
tuple_args!(A B C);
tuple_args!(A B C D);
tuple_args!(A B C D E);
tuple_args!(A B C D E F);
tuple_args!(A B C D E F G);
tuple_args!(A B C D E F G H);
tuple_args!(A B C D E F G H I);
tuple_args!(A B C D E F G H I J);
tuple_args!(A B C D E F G H I J K);
tuple_args!(A B C D E F G H I J K L);
tuple_args!(A B C D E F G H I J K L M);
tuple_args!(A B C D E F G H I J K L M N);

/// What `#[kernel(launch_bounds(threads, min_blocks))]` promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Largest block, in threads.
    pub max_threads: u32,
    /// Blocks per multiprocessor to aim for.
    pub min_blocks: Option<u32>,
}

/// A kernel as the host sees it; implemented by `#[kernel]` alone.
pub trait Kernel: Copy {
    /// Entry name in the PTX.
    const NAME: &'static str;
    /// Where it is written: `gpu_kernels::sgemm::fast`.
    const MODULE_PATH: &'static str;
    /// Parameter names as in the Rust source.
    const PARAM_NAMES: &'static [&'static str];
    /// Launch limits, if the kernel has them.
    const LAUNCH_BOUNDS: Option<LaunchBounds>;
    /// Whether a launch may start before the one before it in the stream has ended:
    /// the kernel waits for it by itself (`cuda_std::grid`).
    const IS_EARLY: bool;
    /// Argument types, as a tuple.
    type Args: KernelArgs;
}
