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
//! // `kernels::double` is a `#[kernel]` function, `PTX` what `cuda_builder` made of its crate.
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
//! A [`Device`] is a GPU or the simulator, which needs neither GPU nor driver nor CUDA
//! toolkit. Arguments of launches are checked by the compiler. A [`Report`] tells what a
//! launch cost, and has functions for tests that claim it.
//!
//! In reading order: [`Device`], [`Buffer`], [`Module`], [`LaunchConfig`], [`Report`] with
//! [`Line`]; [`TensorMap`], [`Stream`], [`Event`], [`Graph`], [`Pinned`]; `foreign` (memory and streams of `cust`
//! and others); then what they are made of,
//! [`engine`] (GPU and simulator behind one untyped trait, also used to time kernels against
//! each other), [`counts`], [`record`], [`source`].
//!
//! Left out: kernels (`cuda_std`), their compilation (`cuda_builder`), programs that others
//! wrote (`sim_driver`).

pub mod counts;
pub mod engine;
pub mod source;

mod device;
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

pub use device::{Device, Simulator};
pub use engine::record;
pub use engine::tensor_map::{self, TensorMap};
pub use engine::{EngineError as Error, LaunchConfig, PtxModule};
pub use event::Event;
pub use graph::Graph;
pub use lines::Line;
pub use module::Module;
pub use pinned::Pinned;
pub use report::Report;
pub use source::{own_place, own_source};
pub use stream::Stream;

/// The kernels that the package's build script compiled by `cuda_builder`, as a module to
/// [load](Device::load), with the folder of their sources.
///
/// ```ignore
/// let kernels = device.load(lockstep::kernels!())?;
/// ```
///
/// It stands for what the variables `KERNELS_PTX` and `KERNELS_PTX_SOURCES` name at compile
/// time; `kernels!("OTHER")` for `OTHER` and `OTHER_SOURCES`.
#[macro_export]
macro_rules! kernels {
    () => {
        $crate::kernels!("KERNELS_PTX")
    };
    ($name:literal) => {
        $crate::PtxModule::of_text("kernels.ptx", include_str!(env!($name)))
            .with_sources(env!(concat!($name, "_SOURCES")))
    };
}

/// Values of type `T` in the memory of a [`Device`], which it keeps alive.
pub type Buffer<T> = engine::Buffer<'static, T>;

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
