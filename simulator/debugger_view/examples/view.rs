//! The view of a kernel in a PTX file, with a made-up launch: 64-bit parameters are buffers of
//! floats that count up, 32-bit ones are 64.
//!
//! `cargo run -p lockstep-debugger-view --example view -- FILE.ptx [KERNEL [BLOCK_X BLOCK_Y]]`

use std::error::Error;
use std::path::PathBuf;

use debugger::Debugger;
use debugger::sources::Sources;
use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// Floats of a buffer.
const N: u64 = 1 << 14;
const SIZE: u32 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("which PTX file?")?);
    let module = Module::parse(&std::fs::read_to_string(&file)?)?;
    let asked = arguments.next();
    let entries = module
        .ir()
        .functions
        .iter()
        .filter(|function| function.is_entry);
    let kernel = entries
        .clone()
        .find(|function| asked.as_ref().is_none_or(|name| function.name == *name));
    let kernel = kernel.ok_or("there is no such kernel")?;
    let [x, y] = [0; 2].map(|_| arguments.next().and_then(|n| n.parse().ok()));
    let device = Device::new();
    let floats: Vec<u8> = (0..N).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let mut parameters = Vec::new();
    for parameter in &kernel.params {
        parameters.push(match parameter.size_bytes {
            8 => {
                let buffer = device.alloc(4 * N, &parameter.name)?;
                device.write(buffer, &floats)?;
                buffer.to_le_bytes().to_vec()
            }
            _ => SIZE.to_le_bytes().to_vec(),
        });
    }
    let parameters: Vec<&[u8]> = parameters.iter().map(Vec::as_slice).collect();
    let launch = Launch {
        grid: [2, 2, 1],
        block: [x.unwrap_or(32), y.unwrap_or(32), 1],
        dynamic_shared_bytes: 0,
        params: &parameters,
        options: LaunchOptions::default(),
    };
    let loaded = device.load(&module)?;
    let folder = file.parent().map(PathBuf::from);
    let (shown, report) = device.debug(&loaded, &kernel.name, &launch, |session| {
        let mut debugger = Debugger::new(session, Sources::new(folder));
        debugger_view::run(&mut debugger)
    })?;
    shown?;
    report?;
    Ok(())
}
