//! The library's behaviour on every device. The program that includes this chooses the device, by
//! `crate::device()`, and two that can use each other's memory, by `crate::devices()`.

mod devices;
pub mod kernels;
mod memory;
mod modules;
mod streams;
mod tensor_maps;

use kernels::PTX;
use lockstep::{Device, Module, PtxModule};

/// A device with the module.
pub fn loaded() -> (Device, Module) {
    let device = crate::device();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let module = PtxModule::of_text("kernels.ptx", PTX).with_sources(root);
    let module = device.load(module).expect("it loads");
    (device, module)
}
