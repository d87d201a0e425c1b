//! Launching a kernel.
//!
//! In reading order: `options`, what is asked for; `validate`, whether it is allowed;
//! `prepared`, ready to be run; `run`, a launch from beginning to end; `checked`, one with checks; `workers`, who runs
//! its blocks; `findings`, what checks found, as the launch's error.

mod checked;
mod findings;
mod options;
mod prepared;
mod run;
mod validate;
mod workers;

pub use options::{Launch, LaunchOptions, MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID};
