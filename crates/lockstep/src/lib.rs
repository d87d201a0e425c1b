//! Launches CUDA kernels written in Rust, on a GPU or on a simulator of one.
//!
//! ```
//! use lockstep::{Device, LaunchConfig};
//! # mod kernels {
//! #     use cuda_std::prelude::*;
//! #     #[kernel]
//! #     pub unsafe fn double(x: &[f32], y: *mut f32) {}
//! # }
//! # const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
//! #     .visible .entry double(.param .u64 x, .param .u64 n, .param .u64 y) { ret; }";
//!
//! // `kernels::double` is a `#[kernel]` function; `PTX` is its crate, compiled by `cuda_builder`.
//! let device = Device::open()?;
//! let module = device.load(PTX)?;
//! let x = device.upload("x", &[1.0f32; 1000])?;
//! let y = device.zeroed::<f32>("y", x.len())?;
//! let config = LaunchConfig::linear(x.len(), 256);
//! // SAFETY: `y` is as long as `x`, and the kernel checks its index.
//! let report = unsafe { module.launch(kernels::double, config, (x.as_slice(), y.as_mut_ptr())) }?;
//! println!("{} on {}", report.place(), device.why());
//! # assert_eq!(y.read()?.len(), 1000);
//! # Ok::<(), lockstep::Error>(())
//! ```
//!
//! A [`Device`] is a GPU or the simulator, which needs no GPU, driver or CUDA toolkit. The compiler
//! checks the arguments of launches. A [`Report`] says what a launch cost, and has functions for
//! tests that assert it.
//!
//! In reading order: [`Device`], [`Buffer`], [`Module`], [`LaunchConfig`], [`Report`] with
//! [`Line`]; [`TensorMap`], [`Stream`], [`Event`], [`Graph`], [`Pinned`]; `devices` (several of
//! them), [`Together`] and [`collectives`]; `foreign` (memory and
//! streams of `cust` and others); then what these are built on: [`engine`] (GPU and simulator
//! behind one untyped trait, also used to time kernels against each other), [`counts`], [`record`],
//! [`source`].
//!
//! Left out: writing kernels (`cuda_std`), compiling them (`cuda_builder`), running programs that
//! others wrote (`sim_driver`).

pub mod collectives;
pub mod counts;
pub mod engine;
pub mod source;

mod device;
mod devices;
mod driver;
mod event;
mod foreign;
mod graph;
mod lines;
mod module;
mod pinned;
mod report;
mod step;
mod stream;
mod together;

#[doc(inline)]
pub use cuda_std::kernels;
pub use device::{Device, Simulator};
pub use engine::record;
pub use engine::tensor_map::{self, TensorMap};
pub use engine::{EngineError as Error, LaunchConfig, PtxModule};
pub use event::Event;
pub use graph::Graph;
pub use lines::Line;
pub use module::Module;
pub use pinned::Pinned;
pub use ptx_sim::Schedule;
pub use report::{Expected, Report};
pub use source::{own_place, own_source};
pub use stream::Stream;
pub use together::Together;

/// Values of type `T` in the memory of a [`Device`], which the buffer keeps alive.
pub type Buffer<T> = engine::Buffer<'static, T>;

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
