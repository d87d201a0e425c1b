//! The compiler for the kernels: finding it, and fetching it.
//!
//! Kernels need a newer rustc than the host may have, with the sources of `core`.
//! The order of the search is:
//!
//! 1. `LOCKSTEP_RUSTC`, the path of such a rustc;
//! 2. the pinned toolchain ([`PINNED`]) in rustup;
//! 3. the cache, where an earlier run unpacked it ([`Locator::cache_dir`]);
//! 4. rustup again, asked to install it, unless `RUSTUP_AUTO_INSTALL=0`;
//! 5. the distribution's own packages, unpacked into the cache. Nothing is
//!    installed and no root is needed.
//!
//! A `rust-toolchain.toml` is ignored: it names the toolchain of the host's code.
//!
//! [`Locator::locate`] only looks (1 to 3); [`Locator::ensure`] also fetches.
//!
//! Left out: on distributions without Debian's archive, only steps 1 to 4 are available.

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
