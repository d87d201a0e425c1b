//! Launching a kernel.
//!
//! In reading order: `options`, what is asked for; `validate`, whether it is allowed;
//! `run`, a launch from beginning to end; `workers`, who runs its blocks; `findings`,
//! what checks found, as the launch's error.

mod findings;
mod options;
mod run;
mod validate;
mod workers;

pub use options::{Launch, LaunchOptions, MAX_BLOCK_THREADS};
