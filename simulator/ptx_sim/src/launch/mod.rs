//! Launching a kernel.
//!
//! In reading order: `options`, the request; `validate`, whether it is allowed, and `clusters`, the
//! same for its clusters; `grid_workspace`, memory for a barrier of all its blocks; `memory`, what
//! it may use; `prepared`, ready to be run; `run`, a launch from beginning to end; `checked`, one
//! with checks; `workers`, which run its blocks; `together`, launches on several devices at the same
//! time; `findings`, what checks found, as the launch's error; `orders`, a launch in other orders
//! than the usual one, and `difference`, what that changes.

mod checked;
mod clusters;
mod difference;
mod findings;
pub(crate) mod grid_workspace;
pub(crate) mod memory;
mod options;
mod orders;
pub(crate) mod prepared;
mod run;
mod together;
mod validate;
pub(crate) mod workers;

pub use difference::{Difference, Explanation};
pub use options::{Launch, LaunchOptions, MAX_BLOCK, MAX_GRID};
pub use orders::{NotSearched, OrderError, Orders};
pub use together::{Member, MemberError, launch_together};
