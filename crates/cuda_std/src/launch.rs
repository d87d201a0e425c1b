//! A kernel as seen by the host: its entry name, its argument types and its
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
//! | [`&TensorMap`](crate::TensorMap) | [`DeviceTensorMap`] | one of 128 bytes, aligned to 64 |
//! | number `T` | `T` | one of its size |
//! | structure `T` with [`#[derive(KernelArg)]`](macro@crate::KernelArg) | `T` | one of its size and alignment |
//!
//! A safe kernel ([`crate::view`]) takes the same arguments by address, for `unsafe` launches,
//! and also arguments that know their lengths, which [`SafeKernel::admit`] checks.
//!
//! Nothing here launches anything: engines live in the `host` crate.

mod safe;
mod tensor_map;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use core::fmt;
use core::marker::PhantomData;

pub use crate::device_copy::DeviceCopy;
#[doc(hidden)]
pub use safe::Wanted;
pub use safe::{Input, Output, SafeKernel, Unfit};
pub use tensor_map::DeviceTensorMap;

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

/// Bytes of a tensor map.
pub const MAP_BYTES: usize = crate::TensorMap::SIZE_BYTES;

/// Gives a map of an array of the same shape at another address, or the reason why there is
/// none: what `cuTensorMapReplaceAddress` does.
pub type MovedMap = fn(&[u8; MAP_BYTES], u64) -> Result<[u8; MAP_BYTES], String>;

/// One parameter of a PTX entry, as bytes in the device's order.
#[derive(Clone)]
pub struct ParamValue {
    bytes: Bytes,
    holds: Holds,
}

/// The reference to device memory in a parameter.
#[derive(Clone)]
enum Holds {
    Nothing,
    /// Its address, which is the whole parameter.
    Address,
    /// A tensor map of it.
    Map {
        address: u64,
        moved: MovedMap,
    },
}

/// Numbers and addresses are stored inline: launches make them by the million.
#[derive(Clone)]
enum Bytes {
    Few { bytes: [u8; FEW], n: u8 },
    Many(Box<[u8]>),
}

/// Bytes of the largest number.
const FEW: usize = 16;

impl Bytes {
    fn zeros(n: usize) -> Self {
        match n {
            ..=FEW => Self::Few {
                bytes: [0; FEW],
                n: n as u8,
            },
            _ => Self::Many(vec![0; n].into()),
        }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Few { bytes, n } => &mut bytes[..usize::from(*n)],
            Self::Many(bytes) => bytes,
        }
    }

    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Few { bytes, n } => &bytes[..usize::from(*n)],
            Self::Many(bytes) => bytes,
        }
    }
}

impl ParamValue {
    /// Largest parameter: the limit for all parameters of a kernel together on every
    /// supported device.
    pub const MAX_BYTES: usize = 4096;

    /// A parameter of `N` bytes, from 1 to [`Self::MAX_BYTES`].
    pub fn new<const N: usize>(value: [u8; N]) -> Self {
        const { assert!(N != 0 && N <= Self::MAX_BYTES) };
        let mut bytes = Bytes::zeros(N);
        bytes.as_mut().copy_from_slice(&value);
        Self {
            bytes,
            holds: Holds::Nothing,
        }
    }

    /// A structure or number in the device's layout; padding is 0.
    pub fn of<T: ParamBytes>(value: &T) -> Self {
        const {
            assert!(
                size_of::<T>() != 0 && size_of::<T>() <= Self::MAX_BYTES,
                "a kernel's parameter has 1 to 4096 bytes"
            );
        }
        let mut bytes = Bytes::zeros(size_of::<T>());
        value.write_bytes(bytes.as_mut());
        Self {
            bytes,
            holds: Holds::Nothing,
        }
    }

    /// A pointer into device memory.
    pub fn of_address(address: u64) -> Self {
        Self {
            holds: Holds::Address,
            ..Self::new(address.to_le_bytes())
        }
    }

    /// The device address, if it is a pointer or a tensor map.
    pub fn address(&self) -> Option<u64> {
        match self.holds {
            Holds::Nothing => None,
            Holds::Address => Some(u64::from_le_bytes(*self.as_bytes().first_chunk()?)),
            Holds::Map { address, .. } => Some(address),
        }
    }

    /// The same parameter for other memory: `to` maps each address to one there.
    ///
    /// # Errors
    ///
    /// A tensor map cannot be moved there: the reason.
    pub fn relocated(&self, to: &dyn Fn(u64) -> u64) -> Result<Self, String> {
        Ok(match self.holds {
            Holds::Nothing => self.clone(),
            Holds::Address => self
                .address()
                .map(to)
                .map_or_else(|| self.clone(), Self::of_address),
            Holds::Map { address, moved } => {
                let (bytes, address) = (self.as_bytes(), to(address));
                let mut there = [0; MAP_BYTES];
                there.copy_from_slice(bytes);
                Self {
                    holds: Holds::Map { address, moved },
                    ..Self::new(moved(&there, address)?)
                }
            }
        })
    }

    /// The parameter's bytes, little-endian.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl PartialEq for ParamValue {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes() && self.address() == other.address()
    }
}

impl Eq for ParamValue {}

impl fmt::Debug for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            Some(address) if matches!(self.holds, Holds::Map { .. }) => {
                write!(f, "tensor map of {address:#x}")
            }
            Some(address) => write!(f, "address {address:#x}"),
            None => write!(f, "bytes {:02x?}", self.as_bytes()),
        }
    }
}

/// A value that can be a parameter, or part of one, as bytes.
///
/// # Safety
///
/// The type has the same layout on the host and on the device, and
/// [`write_bytes`](Self::write_bytes) leaves a valid value of it.
#[diagnostic::on_unimplemented(
    message = "a kernel's parameter cannot hold a `{Self}`",
    note = "it holds numbers, arrays, and structures with `#[derive(KernelArg)]`; a pointer is a parameter of its own, \
            because from inside a structure the compiler does not see that it points to global memory"
)]
pub unsafe trait ParamBytes: Copy + 'static {
    /// Writes the value to `bytes`, which are zeros and have its size.
    fn write_bytes(&self, bytes: &mut [u8]);
}

macro_rules! number_bytes {
    ($($t:ty),*) => { $(
        // SAFETY: a number without padding; the device is little-endian.
        unsafe impl ParamBytes for $t {
            fn write_bytes(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}
number_bytes!(
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    u128,
    i128,
    f32,
    f64,
    half::f16,
    half::bf16
);

// SAFETY: one element after the other, as on the device.
unsafe impl<T: ParamBytes, const N: usize> ParamBytes for [T; N] {
    fn write_bytes(&self, bytes: &mut [u8]) {
        for (element, bytes) in self.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
            element.write_bytes(bytes);
        }
    }
}

/// A host value for one argument of a kernel.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}` by value",
    label = "in this kernel",
    note = "it takes slices (`&[T]`), pointers (`*const T`, `*mut T`), numbers of up to 64 bits, `&TensorMap`, and `#[repr(C)]` \
            structures with `#[derive(KernelArg)]`; pass a `bool` as a `u32`, anything else through a pointer",
    note = "views (`cuda_std::view`) are written by their own names, not those that `use … as` gives them"
)]
pub trait KernelArg {
    /// Sizes in bytes of the PTX parameters it becomes, in order.
    const PARAM_SIZES: &'static [u32];
    /// Passes each PTX parameter it becomes to `push`, in order.
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

macro_rules! address_sized_arg {
    ($($t:ty),*) => { $(
        impl KernelArg for $t {
            const PARAM_SIZES: &'static [u32] = &[8];
            fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
                push(ParamValue::new((*self as i64).to_le_bytes()));
            }
        }
    )* };
}
address_sized_arg!(usize, isize);

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

/// All arguments of a kernel: a tuple of up to 14 [`KernelArg`]s.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take these parameters: `{Self}`",
    note = "each of them has to be a `KernelArg`, and there are at most 14: put numbers and pointers into a structure with `#[derive(KernelArg)]`"
)]
pub trait KernelArgs {
    /// Sizes in bytes of the PTX parameters, in order.
    fn param_sizes() -> impl Iterator<Item = u32>;
    /// Passes every PTX parameter to `push`, in order.
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

/// The promise of `#[kernel(launch_bounds(threads, min_blocks))]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Largest block, in threads.
    pub max_threads: u32,
    /// Blocks per SM to aim for.
    pub min_blocks: Option<u32>,
}

/// A kernel as the host sees it; implemented only by `#[kernel]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "a launch takes a function that has `#[kernel]` above it, by its name alone; of a generic one, an instance: \
            `#[kernel(instances(NAME = FUNCTION::<…>))]`"
)]
pub trait Kernel: Copy {
    /// Entry name in the PTX.
    const NAME: &'static str;
    /// The module that it is in: `gpu_kernels::sgemm::fast`.
    const MODULE_PATH: &'static str;
    /// The source file that it is in, as a path from the workspace's root.
    const FILE: &'static str;
    /// Parameter names as in the Rust source.
    const PARAM_NAMES: &'static [&'static str];
    /// Launch limits, if the kernel has them.
    const LAUNCH_BOUNDS: Option<LaunchBounds>;
    /// Whether a launch may start before the previous one in the stream has ended:
    /// the kernel waits for it itself (`cuda_std::grid`).
    const USES_PDL: bool;
    /// Whether its blocks may wait for each other (`cuda_std::grid::sync`), so that a launch needs
    /// room for all of them at once.
    const IS_COOPERATIVE: bool;
    /// Argument types, as a tuple.
    type Args: KernelArgs;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_bytes_and_what_they_are() {
        let value = ParamValue::new(0x0102_0304u32.to_le_bytes());
        assert_eq!(
            (value.as_bytes(), value.address()),
            (&[4, 3, 2, 1][..], None)
        );
        let value = ParamValue::of_address(0x1000);
        assert_eq!((value.as_bytes().len(), value.address()), (8, Some(0x1000)));
        let value = ParamValue::new([7; ParamValue::MAX_BYTES]);
        assert_eq!(value.as_bytes(), [7; ParamValue::MAX_BYTES]);
        assert_ne!(
            ParamValue::of_address(1),
            ParamValue::new(1u64.to_le_bytes())
        );
        assert_eq!(ParamValue::of(&[1u16, 2]).as_bytes(), [1, 0, 2, 0]);
    }

    #[test]
    fn addresses_move_and_numbers_stay() {
        let to = |address| address + 0x100;
        let moved = |param: ParamValue| param.relocated(&to).expect("it can be there");
        let number = ParamValue::new(7u64.to_le_bytes());
        assert_eq!(moved(number.clone()), number);
        let there = moved(ParamValue::of_address(0x1000));
        assert_eq!(there, ParamValue::of_address(0x1100));
    }
}
