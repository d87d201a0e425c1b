//! Every kernel of the catalogue, in Rust, for the GPU and the simulator.
//!
//! One file or folder per topic, numbered in reading order; in a folder, one file per idea,
//! numbered as well. Code that several lessons share, and that is not a lesson, is in `parts`.
//!
//! For the device, each topic becomes a PTX module of its own,
//! with an entry for every `#[kernel]`, so a changed line costs the compilation of one
//! topic; that is why topics are cargo features (see `Cargo.toml`). For the host, this is
//! an ordinary library with all of them: the kernels' launch markers, the launch
//! geometry, and the index functions, which are tested there.
//!
//! Left out: anything that launches, checks or measures a kernel; the
//! `host` crate does that.
// The `# Safety` section of a kernel with pointers states what its launch must guarantee, and
// covers every access through them.
#![allow(unsafe_op_in_unsafe_fn)]
// A kernel takes each array and each number as a parameter of its own.
#![allow(clippy::too_many_arguments)]

// The lessons, in reading order.

#[cfg(feature = "copy")]
#[path = "01_copy.rs"]
pub mod copy;
#[cfg(feature = "coalescing")]
#[path = "02_coalescing.rs"]
pub mod coalescing;
#[cfg(feature = "bank_conflicts")]
#[path = "03_bank_conflicts/mod.rs"]
pub mod bank_conflicts;
#[cfg(feature = "transpose")]
#[path = "04_transpose/mod.rs"]
pub mod transpose;
#[cfg(feature = "swizzled_tile")]
#[path = "05_swizzled_tile.rs"]
pub mod swizzled_tile;
#[cfg(feature = "local_memory")]
#[path = "06_local_memory/mod.rs"]
pub mod local_memory;
#[cfg(feature = "atomics")]
#[path = "07_atomics/mod.rs"]
pub mod atomics;
#[cfg(feature = "reduction")]
#[path = "08_reduction/mod.rs"]
pub mod reduction;
#[cfg(feature = "neighbor")]
#[path = "09_neighbor/mod.rs"]
pub mod neighbor;
#[cfg(feature = "tensor")]
#[path = "10_tensor/mod.rs"]
pub mod tensor;
#[cfg(feature = "sgemm")]
#[path = "11_sgemm/mod.rs"]
pub mod sgemm;
#[cfg(feature = "gemm")]
#[path = "12_gemm/mod.rs"]
pub mod gemm;
#[cfg(feature = "devices")]
#[path = "13_devices/mod.rs"]
pub mod devices;

// Code that several lessons share.

#[path = "parts/warp.rs"]
pub mod warp;
#[path = "parts/matrix.rs"]
mod matrix;
#[path = "parts/banks.rs"]
pub mod banks;
#[path = "parts/swizzle.rs"]
pub mod swizzle;
#[cfg(any(feature = "gemm", feature = "sgemm"))]
#[path = "parts/quotient.rs"]
mod quotient;
#[cfg(any(feature = "gemm", feature = "sgemm"))]
#[path = "parts/shares.rs"]
pub mod shares;
