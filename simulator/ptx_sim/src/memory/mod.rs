//! The device's memory, by state space.
//!
//! - [`global`]: which [`allocation`] an address belongs to; global and constant
//!   variables are allocations too. [`heap`] makes and frees them, in [`ranges`] of
//!   address space with gaps between them; [`kernel_heap`] is what kernels allocate from
//!   themselves; [`transfer`] copies to and from them, [`snapshot`] keeps what they hold,
//!   [`journal`] what a launch overwrites;
//!   [`recent`] remembers which ones accesses found.
//! - [`shared`]: one block's shared memory.
//! - [`local`]: one warp's local memory, interleaved by thread as the hardware
//!   lays it out.
//! - [`address`]: generic addresses and the windows that shared and local
//!   memory have in them;
//! - [`wrong_space`]: addresses of one space that are used in another;
//! - [`written`]: which bytes of an allocation have been written.
//!
//! Left out: caches, and the order in which other threads see writes. Each worker executes
//! one access at a time, and accesses of different workers are single relaxed atomic
//! operations on the host.

pub mod address;
pub mod allocation;
pub mod global;
pub mod heap;
pub mod journal;
pub mod kernel_heap;
pub mod local;
pub mod recent;
pub mod wrong_space;
mod ranges;
pub mod shared;
pub mod snapshot;
pub mod transfer;
pub mod written;
