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
use ptx_sim::{Device, Launch, LaunchOptions, Module};

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
    let [input, output] = ["input", "output"].map(|label| device.alloc(4 * N as u64, label));
    let (input, output) = (input?, output?);
    let values: Vec<u8> = (0..N).flat_map(|i| (i as f32).to_le_bytes()).collect();
    device.write(input, &values)?;
    let racy = ROTATE.replace("\tbar.sync", "\t// bar.sync");
    for ptx in [ROTATE, ROTATE, &racy] {
        let loaded = device.load(&Module::parse(ptx)?)?;
        let launch = Launch {
            grid: [2, 1, 1],
            block: [64, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[&input.to_le_bytes(), &output.to_le_bytes()],
            options: LaunchOptions::default(),
        };
        let (goes_on, ended) = device.debug(&loaded, "rotate", &launch, &mut control)?;
        ended?;
        if !goes_on {
            break;
        }
    }
    Ok(())
}
