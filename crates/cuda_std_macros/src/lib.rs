//! Macros of `cuda_std`: [`macro@kernel`], [`macro@gpu_only`], [`shared_array!`],
//! [`derive@KernelArg`], [`print!`] and [`println!`]; and of `rust_cuda_std`, for programs of
//! Rust-CUDA: [`macro@rust_cuda_kernel`] and [`macro@address_space`].
//!
//! Use them through these crates, which re-export them; their expansion
//! names items of `cuda_std`. Left out: anything that needs to know types.
//! Whether a type is allowed for a parameter is a trait bound of the
//! expansion (`cuda_std::launch::KernelArg`), checked by the compiler.

mod address_space;
mod device_copy;
mod device_errors;
mod entry;
mod format_string;
mod gpu_only;
mod host;
mod instance;
mod kernel;
mod kernel_arg;
mod options;
mod parameter;
mod print;
mod rust_cuda;
mod shared_array;
mod view;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point that the host launches.
///
/// ```ignore
/// # use cuda_std::prelude::*;
/// /// Adds `x` and `y`, element by element.
/// ///
/// /// # Safety
/// /// `y` and `z` are as long as `x`, `z` overlaps neither input.
/// #[kernel]
/// pub unsafe fn add(x: &[f32], y: *const f32, z: *mut f32) {
///     let i = thread::index_1d() as usize;
///     if let Some(x) = x.get(i) {
///         *z.add(i) = x + *y.add(i);
///     }
/// }
/// ```
///
/// The launch's guarantees cover every unsafe operation of such a body, so none needs a
/// block of its own: the lint `unsafe_op_in_unsafe_fn` is off in it. In functions that kernels
/// call it is as set by the crate.
///
/// # On the device
///
/// The function becomes the PTX entry `add`. A slice parameter becomes two PTX
/// parameters, address and length, and is put together again inside: passed
/// whole, a slice is a 16-byte structure, and the compiler no longer knows
/// that it points to global memory.
///
/// # On the host
///
/// The function becomes a unit struct of the same name, with the function's
/// documentation, that implements `cuda_std::launch::Kernel`. A launch with
/// arguments that do not match does not compile. The body is also type-checked,
/// and discarded. As with any unit struct, no variable in the module can have
/// the kernel's name.
///
/// # Parameters
///
/// `&[T]`, `*const T`, `*mut T`, numbers, and structures with
/// [`#[derive(KernelArg)]`](derive@KernelArg); or views, see below. There is no `&mut [T]`: all
/// threads of the grid would hold the same exclusive reference, which Rust
/// forbids; take a `*mut T`.
///
/// A tensor map is taken as `&TensorMap` (`cuda_std::tensor_map`). In PTX it is a parameter of
/// 128 bytes, and the reference points to it there. rustc cannot pass by value a type that is
/// aligned to more than 16 bytes, so the macro leaves a comment,
/// `// lockstep.tensor_map NAME PARAMETER` (from 0), and `cuda_builder` sets the parameter's
/// alignment to 64.
///
/// # Safe kernels
///
/// A kernel with such parameters is an `unsafe fn`: nothing checks that the memory it is
/// launched with fits its grid. A kernel may be a safe `fn` if all its parameters are
/// numbers and the views of `cuda_std::view`:
///
/// ```ignore
/// # use cuda_std::prelude::*;
/// # use cuda_std::view::{Disjoint, Global};
/// /// Doubles `x`.
/// #[kernel]
/// pub fn double(x: Global<[f32; n]>, mut y: Disjoint<[f32; n]>, n: u32) {
///     let i = thread::index_1d();
///     if let (Some(x), Some(y)) = (x.get(i), y.own()) {
///         y.set(2.0 * x);
///     }
/// }
/// ```
///
/// A view's length is another parameter, a `u32`, or a constant. In PTX a view is an
/// address; parameters of the types `Filling` and `Block`, a tile in shared memory and
/// the token for what a block's threads do together, do not appear there. On the host the unit struct also
/// implements `cuda_std::launch::SafeKernel`, which checks whether buffers and geometry fit.
///
/// # Generic kernels
///
/// A PTX entry has one name and one body. A generic kernel lists the entries to make from
/// it, each with a name and all its parameters:
///
/// ```ignore
/// # use cuda_std::prelude::*;
/// # use std::ops::Mul;
/// #[kernel(
///     launch_bounds(THREADS),
///     instances(scale_f32 = scale::<f32, 256>, scale_f64 = scale::<f64, 128>)
/// )]
/// pub unsafe fn scale<T, const THREADS: u32>(x: &[T], y: *mut T, factor: T)
/// where
///     T: Copy + Mul<Output = T>,
/// {
///     let i = thread::index_1d() as usize;
///     if let Some(&x) = x.get(i) {
///         *y.add(i) = x * factor;
///     }
/// }
/// ```
///
/// The PTX then has the entries `scale_f32` and `scale_f64`, and the host has unit structs of
/// these names, each with its own types for arguments. `scale` itself stays a generic function,
/// which kernels can call. A type that depends on a parameter is written out:
/// `<T as Number>::Wide`, not `T::Wide`.
///
/// # Launch bounds
///
/// `#[kernel(launch_bounds(MAX_THREADS))]` and
/// `#[kernel(launch_bounds(MAX_THREADS, MIN_BLOCKS))]` promise that a block
/// has at most `MAX_THREADS` threads, and limit registers so that
/// `MIN_BLOCKS` blocks fit on an SM. Both are constant expressions.
/// rustc has no attribute that LLVM would turn into `.maxntid` and
/// `.minnctapersm`, so the macro leaves a comment in the PTX,
/// `// lockstep.launch_bounds NAME THREADS BLOCKS` (blocks 0: not given), and
/// `cuda_builder` writes the directives.
///
/// # Programmatic dependent launch
///
/// `#[kernel(pdl)]` lets a launch start before the previous one in the stream
/// has ended, where the device supports that. Every thread then calls
/// `cuda_std::grid::wait_for_previous` before it accesses memory that other
/// launches access.
///
/// # Cooperative launch
///
/// `#[kernel(cooperative)]` lets all blocks meet, by `cuda_std::grid::sync`. They must be resident
/// at once: a launch of more blocks than the device has room for is refused.
///
/// # Local memory
///
/// `#[kernel(local_memory)]` states that the kernel is meant to use local memory. `cuda_builder` warns
/// of any other kernel that does, and names the line.
///
/// # Requirements on the crate
///
/// None: `cuda_builder` tells the compiler that the device has no standard library, and
/// which language features to allow.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Lets kernels take a structure by value.
///
/// ```ignore
/// # use cuda_std::KernelArg;
/// # use cuda_std::prelude::*;
/// #[derive(Clone, Copy, KernelArg)]
/// #[repr(C)]
/// pub struct Shape {
///     pub n_rows: u32,
///     pub spacing: [f64; 3],
/// }
///
/// #[kernel]
/// pub unsafe fn relax(shape: Shape, x: *mut f64) {
///     let row = thread::index_1d();
///     if row < shape.n_rows {
///         *x.add(row as usize) *= shape.spacing[0];
///     }
/// }
/// ```
///
/// The structure is `#[repr(C)]` or `#[repr(transparent)]`, has up to 4096 bytes, and
/// its fields are numbers, arrays, or structures with the same derive. Its alignment is
/// at most 16 bytes, the most that rustc supports on this target. Padding is passed
/// as zeros. Pointers are parameters of their own: from inside a structure the compiler
/// does not see that they point to global memory.
///
/// Fields that the kernel names are loaded where they are used. An array in a structure
/// that is indexed by a variable is first copied to local memory, all of it.
#[proc_macro_derive(KernelArg)]
pub fn kernel_arg(input: TokenStream) -> TokenStream {
    kernel_arg::expand(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Lets buffers and views hold a structure.
///
/// ```ignore
/// # use cuda_std::DeviceCopy;
/// # use cuda_std::prelude::*;
/// # use cuda_std::view::{Disjoint, Global};
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// pub struct Body {
///     pub at: [f64; 3],
///     pub mass: f64,
/// }
///
/// #[kernel]
/// pub fn fall(bodies: Global<[Body; n]>, mut moved: Disjoint<[Body; n]>, n: u32, by: f64) {
///     if let (Some(mut body), Some(moved)) = (bodies.get(thread::index_1d()), moved.own()) {
///         body.at[2] -= by;
///         moved.set(body);
///     }
/// }
/// ```
///
/// It is `#[repr(C)]` or `#[repr(transparent)]`. Its fields are numbers, arrays, or structures with the
/// same derive; any bits have to be a value of them, so none is a `bool`. It has no padding. It
/// derives [`derive@KernelArg`] as well if it is also a kernel's parameter.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(input: TokenStream) -> TokenStream {
    device_copy::expand(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Keeps a function's body for the device; on the host, calling it panics with
/// a message that says so. The signature exists on both sides, so that kernels
/// type-check on the host.
#[proc_macro_attribute]
pub fn gpu_only(attribute: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// A static array in the block's shared memory, as `*mut T`; one of rows,
/// `shared_array![[T; COLUMNS]; ROWS]`, as a `cuda_std::shared::Matrix`, which is indexed by
/// `tile[row][column]` with bounds checked.
///
/// `shared_array![T; N]`, or `shared_array![T; N, align = 128]` where the
/// alignment of `T` is not enough (16-byte accesses to an `f32` array, swizzle
/// patterns that repeat every 1024 bytes). `T`, `N` and the alignment may use
/// names visible in the enclosing module, but neither generic parameters nor
/// names declared inside a function.
///
/// Every place where it is written is an array of its own, even if a
/// `macro_rules!` macro writes it several times. A place that runs more than
/// once (in a loop, or in a function called twice) is the same array each
/// time, like a `__shared__` variable in CUDA C++.
///
/// The memory is not initialised. Loads and stores through the pointer compile
/// to `ld.shared` and `st.shared`.
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    shared_array::expand(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function a kernel, in programs of Rust-CUDA, where its name is `kernel`.
///
/// For the device it is the PTX entry that [`macro@kernel`] makes; a parameter may have any type
/// that is not larger than a kernel's parameters may be. On the host it stays the function that it
/// is, so there is no typed launch: `cust` launches by name.
#[proc_macro_attribute]
pub fn rust_cuda_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    rust_cuda::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Rust-CUDA's way to say where a static is, for programs written for it; our own kernels use
/// [`shared_array!`].
///
/// ```ignore
/// # use core::mem::MaybeUninit;
/// # use cuda_std::prelude::*;
/// # use cuda_std::address_space;
/// #[kernel]
/// pub unsafe fn reverse(data: *mut u32) {
///     const N: usize = 64;
///     #[address_space(shared)]
///     static mut LINE: [MaybeUninit<u32>; N] = [MaybeUninit::uninit(); N];
///
///     let i = thread::thread_idx_x() as usize;
///     unsafe {
///         LINE[i].write(*data.add(i));
///         thread::sync_threads();
///         *data.add(i) = LINE[N - 1 - i].assume_init();
///     }
/// }
/// ```
///
/// | space | the static is |
/// |---|---|
/// | `shared` | in the block's shared memory; a `static mut` of `MaybeUninit`s |
/// | `global`, `constant` | in global memory, where rustc puts every static |
///
/// A static in shared memory is used by index, by its elements' and slices' methods, or
/// dereferenced: `(*(&raw mut LINE)).as_mut_ptr()`. If its address is cast to another pointer
/// type instead, `cuda_builder` reports an error, because that address is not in shared memory.
#[proc_macro_attribute]
pub fn address_space(attribute: TokenStream, item: TokenStream) -> TokenStream {
    address_space::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints from a kernel, like Rust's own `print!`: see [`println!`].
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    print::expand(input.into(), "")
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints a line from a kernel: `println!("thread {i} has {x:.3}")`.
///
/// The string is Rust's, translated to C's while the kernel is compiled: at run time
/// there is one call of `vprintf` per thread. A GPU keeps what was printed in a buffer
/// of 1 MB, and the driver writes it to the process's standard output when the host
/// next waits; the simulator does so for launches in streams, and puts it into the report
/// of others, a string per call (`Report::printed`); what a launch printed before it failed goes to the
/// standard output.
///
/// | placeholder | prints | differs from Rust |
/// |---|---|---|
/// | `{}` | integers, `bool`, `char`, `&str`, `&CStr`, floats | floats as C's `%g`, with six digits: `0.1`, `1e+10`, `nan` |
/// | `{:.3}` | floats; the first characters of text | |
/// | `{:+}` | floats and signed integers | floats as `{}` |
/// | `{:x}`, `{:X}`, `{:#x}`, `{:o}` | integers, the negative ones as two's complements | |
/// | `{:e}`, `{:E}`, `{:.3e}` | floats | six digits by default, and exponents of two digits: `1.500000e+00` |
/// | `{:p}` | pointers and references | |
///
/// Widths (`{:8}`), zeros (`{:08}`) and alignment (`{:<8}`, `{:>8}`) work with all of them.
/// Arguments are taken in order, by number, by name, or from a variable (`{x}`). Text
/// is truncated after 255 bytes. `{:?}`, `{:b}`, centred text, fill characters
/// and widths that are arguments do not compile, with a message that says so.
/// On the host, it panics.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    print::expand(input.into(), "\n")
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// The kernels that the package's build script compiled with `cuda_builder`, as a module to load,
/// with the folder of their sources: `lockstep::kernels!()`.
///
/// ```ignore
/// let kernels = device.load(lockstep::kernels!())?;
/// ```
///
/// It uses the paths in the variables `KERNELS_PTX` and `KERNELS_PTX_SOURCES` at compile time;
/// `kernels!("OTHER")` those in `OTHER` and `OTHER_SOURCES`. If the kernels do not compile, it does
/// not either, and the errors of the device's compiler appear at their places in the source.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    device_errors::embedded(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
