//! The CUDA driver's functions on the simulator.
//!
//! Programs that use the driver API, in any language, run without a GPU: this crate contains the
//! functions, and `sim_driver_library` makes them a `libcuda.so.1`. Within a Rust program,
//! [`function`] returns a function by name, to fill a table with.
//!
//! In reading order, each on top of the previous ones: [`status`] and [`settings`]; [`driver`], the
//! devices, and [`handles`], of which each kind of object has its own table; `each`; [`tasks`],
//! work that is done later; [`pool`], [`context`], [`peers`] and [`host_memory`]; [`records`], what is found,
//! [`recorder`], which collects it, and [`observe`](fn@observe), the same for tests in the process;
//! `image`, `jit`, [`linker`] and [`module`]; [`launch`], with `orders`, other orders,
//! `in_turn`, checked launches, and `execution`; `copies`: [`operation`], what streams consist of; [`user_object`], `session` and [`event`];
//! [`graph`], [`capture`], [`stream`] and [`executable`]; `ending`, which ends contexts, and
//! `start`; `client`, the memory behind pointers; [`api`], the functions themselves.
//!
//! Left out: textures, arrays, sharing with other processes and other interfaces, virtual memory
//! management: those functions report that they are not supported. The driver's undocumented tables
//! are refused.

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
mod execution;
mod fork;
pub mod graph;
pub mod handles;
pub mod happens_before;
pub mod host_memory;
mod image;
mod in_turn;
mod jit;
pub mod launch;
pub mod linker;
pub mod module;
mod observe;
pub mod operation;
mod orders;
pub mod peers;
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
