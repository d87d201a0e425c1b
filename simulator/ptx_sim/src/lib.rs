#![doc = include_str!("../README.md")]
//!
//! ## The source
//!
//! In reading order:
//!
//! - [`parse`] and [`ir`]: text to instructions, by the crate `ptx`;
//! - `program`, `decode`: instructions to what the interpreter runs;
//! - `lanes`, `registers`: one operation on 32 lanes;
//! - `memory`: spaces, bounds, alignment;
//! - `warp`, `repetition`, `spare`, `copies`, `bulk`, `in_flight`: divergence and
//!   reconvergence, warps that repeat themselves or are kept for the next launch,
//!   asynchronous copies, bulk copies and products in flight;
//! - [`tensor_map`]: tensors in global memory, as bulk copies know them;
//! - `checks`: observers that count, and that look for what a GPU lets pass;
//! - `clock`: durations, even where the host has no clock;
//! - `pending`: work of others on memory that a launch does not come after;
//! - `context`: what is the same for all blocks of a launch;
//! - `step`, `stop`: executing one instruction after the other, and why one was not
//!   executed;
//! - [`schedule`]: other orders than the usual one;
//! - `barriers`, `cluster`, `membership`, `warpgroups`, `registers_of_block`, `block`:
//!   scheduling;
//! - [`diagnostics`]: how a launch ends badly;
//! - `link`: several texts made one module;
//! - `machine`, `device`, `peers` (several devices), `launch`, `report`, `gaps`, [`trace`]: what a host uses;
//! - `occupancy`, `attributes`: what a driver reports of kernels.
//!
//! No files import each other in a circle: `tests/structure` holds that.

mod attributes;
mod barriers;
mod block;
mod buffer;
mod bulk;
mod call;
mod checks;
mod clock;
mod cluster;
mod context;
mod copies;
pub mod debug;
mod decode;
mod device;
pub mod diagnostics;
mod gaps;
mod in_flight;
mod lanes;
mod launch;
mod link;
mod machine;
mod membership;
mod memory;
mod module;
mod numbering;
pub mod numeric;
mod occupancy;
mod peers;
mod pending;
mod program;
mod registers;
mod registers_of_block;
mod repetition;
mod report;
pub mod schedule;
mod spare;
mod step;
mod stop;
pub mod tensor_map;
mod warp;
mod warpgroups;

pub use attributes::{KernelAttributes, RegisterLimits};
pub use buffer::Buffer;
pub use bytemuck::Pod;
pub use call::{Argument, Call, Dim, run_together};
pub use checks::access::AccessClass;
pub use checks::count;
pub use checks::trace::{self, Trace, TraceOptions};
pub use cluster::{MAX_CLUSTER, MAX_NON_PORTABLE_CLUSTER};
pub use device::{
    AllocationInfo, Device, DeviceConfig, LoadedModule, Managed, MemoryError, PlaceManaged,
};
pub use diagnostics::{LaunchError, readable};
pub use gaps::Omission;
pub use lanes::{has_wide_vectors, run_plainly};
pub use launch::{
    Difference, Explanation, Launch, LaunchOptions, MAX_BLOCK, MAX_GRID, Member, MemberError,
    NotSearched, OrderError, Orders, launch_together,
};
pub use link::{Definition, LinkError, Linker, UndefinedSymbol};
pub use memory::kernel_heap::{KernelHeap, Taken};
pub use module::{KernelInfo, Module, UnsupportedInstruction};
pub use occupancy::{BestBlock, BlockNeeds, MAX_BLOCK_THREADS};
pub use peers::{MAX_DEVICES, PeerError};
pub use pending::{Clock, Footprint, Pending, Touches, Usage, remember};
pub use ptx::{ir, parse};
pub use report::{Counts, InstructionCounts, Report};
pub use schedule::Schedule;
