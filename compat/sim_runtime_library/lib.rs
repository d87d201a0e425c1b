//! `libcudart.so.12` or `libcudart.so.13`: the runtime's functions under their own names.
//!
//! Two packages build this file, one for each version. `build.rs` makes the list; the functions are
//! defined as for the driver.

#[macro_use]
#[path = "../sim_driver_library/src/exports.rs"]
mod exports;

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
