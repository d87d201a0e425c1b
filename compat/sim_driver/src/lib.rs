//! The CUDA driver's functions on the simulator.
//!
//! Programs that use the driver API, in any language, run without a GPU: this crate has the
//! functions, `sim_driver_library` makes of them a `libcuda.so.1`. In a Rust program of its
//! own, [`function`] gives a function by name, to fill a table with.
//!
//! In reading order, each on what comes before it: [`status`] and [`settings`]; [`driver`], the
//! devices, and [`handles`], of which each kind of object has its own table; `each`; [`tasks`],
//! work that is done later; [`context`], [`host_memory`] and [`pool`]; [`records`], what is found
//! out, [`recorder`], who notes it, and [`observe`](fn@observe), the same for tests in the process;
//! `image`, `jit`, [`linker`] and [`module`]; [`launch`], with `orders`, other orders, and `copies`:
//! [`operation`], what streams are made of; [`user_object`], `session` and [`event`]; [`graph`],
//! [`capture`], [`stream`] and [`executable`]; `ending`, which ends contexts, and `start`; `client`,
//! what its pointers lead to; [`api`], the functions themselves.
//!
//! Left out: textures, arrays, sharing with other processes and other interfaces, virtual
//! memory management: those functions answer that they are not supported. Tables of the
//! driver that are documented nowhere are refused.

pub mod api;
mod attributes;
pub mod capture;
mod client;
pub mod context;
mod copies;
pub mod driver;
mod each;
mod ending;
pub mod event;
pub mod executable;
mod fork;
pub mod graph;
pub mod handles;
pub mod host_memory;
mod image;
mod jit;
pub mod launch;
pub mod linker;
pub mod module;
mod observe;
pub mod operation;
mod orders;
pub mod pool;
pub mod recorder;
pub mod records;
mod session;
pub mod settings;
mod start;
pub mod status;
pub mod stream;
pub mod tasks;
pub mod user_object;

pub use api::function;
pub use observe::{Observed, observe};
pub use settings::Settings;
pub use start::initialize_with;
pub use status::Status;

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
