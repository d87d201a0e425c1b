//! A page about the cost of kernels: one HTML file that needs no network.
//!
//! ```
//! use lockstep::{Device, LaunchConfig};
//! use lockstep_page::{Kernel, Page};
//! # mod kernels {
//! #     use cuda_std::prelude::*;
//! #     #[kernel]
//! #     pub unsafe fn nothing(x: *mut f32) {}
//! # }
//! # const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
//! #     .visible .entry nothing(.param .u64 x) { ret; }";
//!
//! let device = Device::simulator();
//! let module = device.load(PTX)?;
//! let x = device.zeroed::<f32>("x", 32)?;
//! let config = LaunchConfig::linear(32, 32);
//! // SAFETY: the kernel does not use its argument.
//! let report = unsafe { module.launch(kernels::nothing, config, (x.as_mut_ptr(),)) }?;
//!
//! let mut page = Page::new("My kernels");
//! page.fact(device.why());
//! page.group("first", "The first", "The cost of a kernel that does nothing.")
//!     .add(Kernel::launched(&report).saying("does nothing"));
//! assert!(page.html().contains("does nothing"));
//! # Ok::<(), lockstep::Error>(())
//! ```
//!
//! A [`Page`] has groups of kernels that solve one problem. Each kernel is a row of its group's
//! table and an article: what is wasted and why, the source with the heat of each line, the
//! instructions, the PTX. It suits a phone and a wide screen, light and dark, keyboards and
//! screen readers. Without JavaScript everything is there except PTX and maps, which are packed, and
//! the player's frames, of which a table shows the main ones.
//!
//! In reading order: [`work`] (the memory work of instructions), [`verdict`] (its meaning in
//! words), [`touched`] (maps of what lanes touch), [`player`] (a block's run, frame by frame), [`listing`] (PTX), [`kernel`] (everything
//! known about a kernel), [`mod@page`] and its groups; then how they
//! are drawn: `document`, `table`, `article`, `heat`, `instructions`, and `packed` for parts that
//! are unfolded on demand; [`numbers`], `anchor`.
//!
//! Left out: running and measuring kernels (`lockstep`), drawing maps (`maps`), charts of
//! measurements. A page shows
//! what it is given, and says where something was not measured.

pub mod kernel;
pub mod listing;
pub mod numbers;
pub mod page;
pub mod player;
pub mod touched;
pub mod verdict;
pub mod work;

mod anchor;
mod article;
mod document;
mod heat;
mod instructions;
mod launched;
mod packed;
mod table;

pub use kernel::{Beside, Counted, Hardware, Kernel, Measure, Remark, Run, State, Time};
pub use page::{Group, Page, Picture};
pub use player::Player;
pub use touched::{Map, Touched};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
