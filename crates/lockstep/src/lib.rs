//! Launches CUDA kernels written in Rust, on a GPU or on a simulator of one.
//!
//! Reading order: [`engine`] (GPU and simulator), [`counts`] (what a launch cost in memory
//! work), [`record`] (the same, kernel by kernel), [`ptx`].
//!
//! Left out: kernels, and their compilation (`cuda_builder`).

pub mod counts;
pub mod engine;
pub mod ptx;
pub mod record;
