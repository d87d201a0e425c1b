//! Engines, which run kernels: a GPU or the simulator, behind one trait.
//!
//! A lesson is written against [`Engine`] and cannot tell which one it has. The trait is
//! deliberately untyped, so that one `&dyn Engine` serves for everything; types come from the thin
//! layer on top of it: [`Buffer<T>`] for memory and [`Prepared`] for launches.
//!
//! Reading order: `config`, `unwritten`, [`error`], [`module`], [`mod@launch`], `interface`, which defines
//! [`Engine`], [`buffer`], [`mod@tensor_map`], [`timing`] (with [`library`] and [`product`]), then
//! the two engines, [`sim`] and [`gpu`], and [`machine`], which is either of them.

mod config;
pub mod error;
pub mod launch;
pub mod module;

mod interface;

pub mod buffer;
pub mod tensor_map;

pub mod library;
pub mod product;
pub mod timing;

pub mod gpu;
pub mod sim;

pub mod machine;

pub mod record;

mod panic;
pub(crate) mod pending;
mod unwritten;

pub use buffer::Buffer;
pub use config::LaunchConfig;
pub use error::{EngineError, Place};
pub use interface::{BaselineModule, DeviceProperties, Engine, EngineKind, Observe, launch};
pub use launch::Prepared;
pub use library::{Library, LibraryCall, SgemmMath};
pub use machine::Machine;
pub use module::{ModuleId, PtxModule};
pub use product::{Major, Matmul, MatrixType, Stored};
pub use tensor_map::{TensorElement, TensorMap};
pub use timing::{Clocked, Conditions, Contender, Fill, Timed, Timing};
pub use unwritten::Unwritten;
