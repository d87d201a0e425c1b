//! The simulator's results and refusals: first with the simulator as it is, then with its internal
//! checks, which are too slow for the tests of `plain.rs`:
//!
//!     cargo --config simulator/ptx_sim/checked.toml test -p ptx_sim-tests --test checked
//!
//! This is one program of many files, because linking many programs takes long.

mod calls;
mod cases;
mod devices;
mod divergence;
mod errors;
mod fail;
mod gaps;
mod kernel_heap;
mod matrix;
mod memory;
mod races;
mod reference_reports;
mod schedules;
mod sync;
