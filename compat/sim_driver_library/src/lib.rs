//! `libcuda.so.1` on the simulator: the driver's functions under their own names.
//!
//! `build.rs` makes the list, `exports` defines the functions.

#[macro_use]
mod exports;

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
