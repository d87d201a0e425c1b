//! Every kernel of the catalogue, in Rust, for the GPU and the simulator.
//!
//! One file per topic. For the device, each topic becomes a PTX module of its own,
//! with an entry for every `#[kernel]`: a changed line costs the compilation of one
//! topic. Topics are cargo features for that (see `Cargo.toml`). For the host, this is
//! an ordinary library with all of them: the kernels' launch markers, the launch
//! geometry, and the index functions, which are tested there.
//!
//! Left out: anything that launches, checks or measures a kernel; that is the
//! `host` crate's.
// The `# Safety` section of a kernel with pointers says what its launch must hold, and
// covers every access through them.
#![allow(unsafe_op_in_unsafe_fn)]
// A kernel takes each array and each number as a parameter of its own.
#![allow(clippy::too_many_arguments)]

#[cfg(feature = "atomics")]
pub mod atomics;
#[cfg(feature = "bank_conflicts")]
pub mod bank_conflicts;
pub mod banks;
#[cfg(feature = "coalescing")]
pub mod coalescing;
#[cfg(feature = "copy")]
pub mod copy;
#[cfg(feature = "gemm")]
pub mod gemm;
#[cfg(feature = "local_memory")]
pub mod local_memory;
#[cfg(feature = "neighbor")]
pub mod neighbor;
#[cfg(feature = "reduction")]
pub mod reduction;
#[cfg(feature = "sgemm")]
pub mod sgemm;
pub mod swizzle;
#[cfg(feature = "swizzled_tile")]
pub mod swizzled_tile;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(feature = "transpose")]
pub mod transpose;
mod unrolled;
