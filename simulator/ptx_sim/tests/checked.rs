//! The simulator's results and refusals, in programs of their own here: first the
//! simulator as it always is, then with its own checks, which cost too much for the tests of `plain.rs`:
//!
//!     cargo --config simulator/ptx_sim/checked.toml test -p ptx_sim-tests --test unit --test checked
//!
//! One program of many files, because linking is what many programs take their time for.

mod calls;
mod cases;
mod divergence;
mod errors;
mod fail;
mod gaps;
mod kernel_heap;
mod matrix;
mod memory;
mod races;
mod schedules;
mod sync;
