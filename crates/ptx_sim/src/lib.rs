//! Runs PTX on the CPU, checks every access and counts memory work.
//!
//! The PTX that a GPU runs, rustc's or nvcc's, is parsed, decoded and carried
//! out warp by warp, 32 lanes in lockstep. Every memory access is checked, and
//! the counters say what the hardware's counters would: bank conflicts,
//! sectors, instructions, for each line of the PTX and of its source.
//!
//! In reading order:
//!
//! - [`parse`] and [`ir`]: text to instructions;
//! - `program`, `decode`: instructions to what the interpreter runs;
//! - `lanes`, `registers`: one operation on 32 lanes;
//! - `memory`: spaces, bounds, alignment;
//! - `warp`: divergence and reconvergence; `block`: barriers, scheduling;
//! - `step`: one instruction after the other;
//! - `checks`: observers that count;
//! - [`diagnostics`]: how a launch ends badly;
//! - `device`, `launch`, `report`: what a host uses.

mod block;
mod checks;
mod decode;
mod device;
pub mod diagnostics;
pub mod ir;
mod lanes;
mod launch;
mod memory;
mod module;
pub mod numeric;
pub mod parse;
mod program;
mod registers;
mod report;
mod step;
mod warp;

pub use checks::count;
pub use device::{Device, DeviceConfig, LoadedModule, MemoryError};
pub use diagnostics::LaunchError;
pub use launch::{Launch, LaunchOptions, MAX_BLOCK_THREADS};
pub use module::{KernelInfo, Module};
pub use report::{Counts, InstructionCounts, Report};
