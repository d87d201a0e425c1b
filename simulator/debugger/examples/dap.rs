//! A program for trying editors: it launches `tests/fixtures/rotate.ptx` three times, the last time
//! without its barrier.
//!
//! Without arguments it is a debug adapter on standard input and output that debugs its own
//! launches. `--adapter` is the adapter that starts a program, such as this one with `--program`,
//! whose debugger talks as the variable `LOCKSTEP_DEBUG` says.

use std::path::PathBuf;

use debugger::dap::{Server, Then, adapter};
use debugger::sources::Sources;
use debugger::{Debugger, front};
use ptx_sim::debug::Session;
use ptx_sim::{Device, Module};

const ROTATE: &str = include_str!("../tests/fixtures/rotate.ptx");
const N: usize = 128;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    match std::env::args().nth(1).as_deref() {
        Some("--adapter") => {
            adapter::serve(std::io::stdin(), std::io::stdout(), front::to_adapter)?;
        }
        Some("--program") => launches(|session| {
            println!("a launch begins");
            if let Err(error) = front::control(session, std::slice::from_ref(&folder)) {
                eprintln!("{error}");
            }
            true
        })?,
        _ => {
            let mut server = Server::standard();
            if server.start(|_| Ok(())).is_none() {
                return Ok(());
            }
            let ended = launches(|session| {
                let sources = Sources::new([folder.clone()]);
                server.control(&mut Debugger::new(session, sources)) != Then::Terminate
            });
            server.finish(i32::from(ended.is_err()));
            ended?;
        }
    }
    Ok(())
}

/// Launches the kernel until `control` says that it is enough.
fn launches(
    mut control: impl FnMut(&mut Session<'_, '_>) -> bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new();
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let input = device.upload(&values, "input")?;
    let output = device.zeros::<f32>(N, "output")?;
    let racy = ROTATE.replace("\tbar.sync", "\t// bar.sync");
    for ptx in [ROTATE, ROTATE, &racy] {
        let loaded = device.load(&Module::parse(ptx)?)?;
        let call = device.call(&loaded, "rotate").grid(2).block(64);
        let (goes_on, ended) = call.arg(input).arg(output).debug(&mut control)?;
        ended?;
        if !goes_on {
            break;
        }
    }
    Ok(())
}
