//! Runs PTX on the CPU, checks every access and counts memory work.
//!
//! The PTX that a GPU runs, rustc's or nvcc's, is parsed, decoded and carried
//! out warp by warp, 32 lanes in lockstep. Every memory access is checked, and
//! the counters say what the hardware's counters would: bank conflicts,
//! sectors, instructions, for each line of the PTX and of its source.
//!
//! # Example
//!
//! ```
//! use ptx_sim::{Device, Launch, LaunchOptions, Module};
//!
//! // Each thread doubles one number.
//! let module = Module::parse(
//!     r#"
//!     .version 7.0
//!     .target sm_70
//!     .address_size 64
//!     .visible .entry double(.param .u64 data, .param .u32 n)
//!     {
//!         .reg .pred %p<2>;
//!         .reg .b32 %r<6>;
//!         .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [data];
//!         ld.param.u32 %r1, [n];
//!         mov.u32 %r2, %tid.x;
//!         setp.ge.u32 %p1, %r2, %r1;
//!         @%p1 ret;
//!         mul.wide.u32 %rd2, %r2, 4;
//!         add.u64 %rd3, %rd1, %rd2;
//!         ld.global.u32 %r3, [%rd3];
//!         shl.b32 %r4, %r3, 1;
//!         st.global.u32 [%rd3], %r4;
//!         ret;
//!     }
//!     "#,
//! )?;
//! let mut device = Device::new();
//! let loaded = device.load(&module)?;
//! let data = device.alloc(8 * 4, "data")?;
//! device.write(data, &[7; 32])?;
//!
//! let launch = |n: u32, device: &mut Device| {
//!     device.launch(
//!         &loaded,
//!         "double",
//!         &Launch {
//!             grid: [1, 1, 1],
//!             block: [32, 1, 1],
//!             dynamic_shared_bytes: 0,
//!             params: &[&data.to_le_bytes(), &n.to_le_bytes()],
//!             options: LaunchOptions::default(),
//!         },
//!     )
//! };
//! let report = launch(8, &mut device)?;
//! let mut out = [0; 32];
//! device.read(data, &mut out)?;
//! assert_eq!(out, [14; 32]);
//! // Eight neighbouring words: one request, one sector of 32 bytes.
//! assert_eq!(report.counts.global_load_requests, 1);
//! assert_eq!(report.counts.global_load_sectors, 1);
//!
//! // Nine words are more than there are.
//! let error = launch(9, &mut device).unwrap_err().to_string();
//! assert!(error.contains("just past the end of `data` (32 bytes)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! There are no caches and no clocks: it counts work, and does not predict
//! time. Instructions that it does not know are reported when a thread reaches
//! them, never skipped. One access is carried out at a time and every access
//! is visible at once, so a kernel that lacks a fence may work here and fail
//! on a GPU.
//!
//! # The source
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
mod numbering;
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
pub use lanes::has_wide_vectors;
pub use launch::{Launch, LaunchOptions, MAX_BLOCK_THREADS};
pub use module::{KernelInfo, Module};
pub use report::{Counts, InstructionCounts, Report};
