//! The view of a kernel in a PTX file, with a made-up launch: 64-bit parameters are buffers of
//! floats that count up, 32-bit ones are 64.
//!
//! `cargo run -p lockstep-debugger-view --example view -- FILE.ptx [KERNEL [BLOCK_X BLOCK_Y]]`

use std::error::Error;
use std::path::PathBuf;

use debugger::Debugger;
use debugger::sources::Sources;
use ptx_sim::{Device, Module};

/// Floats of a buffer.
const N: u64 = 1 << 14;
const SIZE: u32 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("which PTX file?")?);
    let module = Module::parse(&std::fs::read_to_string(&file)?)?;
    let asked = arguments.next();
    let mut entries = module
        .ir()
        .functions
        .iter()
        .filter(|function| function.is_entry);
    let kernel = entries.find(|function| asked.as_ref().is_none_or(|name| function.name == *name));
    let kernel = kernel.ok_or("there is no such kernel")?;
    let [x, y] = [0; 2].map(|_| arguments.next().and_then(|n| n.parse().ok()));
    let device = Device::new();
    let floats: Vec<f32> = (0..N).map(|n| n as f32).collect();
    let loaded = device.load(&module)?;
    let mut call = device.call(&loaded, &kernel.name).grid([2, 2]);
    call = call.block([x.unwrap_or(32), y.unwrap_or(32)]);
    for parameter in &kernel.params {
        call = match parameter.size_bytes {
            8 => call.arg(device.upload(&floats, &parameter.name)?),
            _ => call.arg(SIZE),
        };
    }
    let folder = file.parent().map(PathBuf::from);
    let (shown, report) = call.debug(|session| {
        let mut debugger = Debugger::new(session, Sources::new(folder));
        debugger_view::run(&mut debugger)
    })?;
    shown?;
    report?;
    Ok(())
}
