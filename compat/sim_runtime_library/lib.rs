//! `libcudart.so.12` or `libcudart.so.13`: the runtime's functions under their own names.
//!
//! Two packages build this one file, each for a version. `build.rs` makes the list; the
//! functions are made as the driver's are.

#[macro_use]
#[path = "../sim_driver_library/src/exports.rs"]
mod exports;

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
