//! The compiler for the kernels: where it is, and how it is fetched.
//!
//! Kernels want a newer rustc than the host has, with the sources of `core`.
//! It is looked for in this order:
//!
//! 1. `LOCKSTEP_RUSTC`, the path of such a rustc;
//! 2. the pinned toolchain ([`PINNED`]) in rustup;
//! 3. the cache, where an earlier run unpacked it ([`Locator::cache_dir`]);
//! 4. rustup again, asked to install it, unless `RUSTUP_AUTO_INSTALL=0`;
//! 5. the distribution's own packages, unpacked into the cache. Nothing is
//!    installed and no root is needed.
//!
//! A `rust-toolchain.toml` is not looked at: it names the toolchain of the host's code.
//!
//! [`Locator::locate`] only looks (1 to 3); [`Locator::ensure`] also fetches.
//!
//! What it leaves out: distributions without Debian's archive have steps 1 to 4.

mod apt;
mod cache;
mod ensure;
mod error;
mod locator;
mod process;
mod progress;
mod room;
mod rustup;
mod toolchain;
mod unpack;

pub use error::ToolchainError;
pub use locator::{Locator, PINNED};
pub use progress::{Lines, Progress, Quiet, Terminal};
pub use room::Room;
pub use toolchain::{MINIMUM, Release, Source, Toolchain};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
