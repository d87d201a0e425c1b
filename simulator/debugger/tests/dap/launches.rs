//! Launches of a kernel that a test's editor controls, on a thread of their own.

use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;
use std::thread::JoinHandle;

use debugger::Debugger;
use debugger::dap::{Server, Then};
use debugger::sources::Sources;
use ptx_sim::{Device, LaunchError, Module};

/// The kernel `rotate`, from the source next to it.
pub const ROTATE: &str = include_str!("../fixtures/rotate.ptx");
/// The kernel `largest`, with its variables, from the source next to it.
pub const LARGEST: &str = include_str!("../fixtures/variables_cu.ptx");
/// Elements of the buffers.
pub const N: usize = 128;

/// The folder with the kernel's source.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// How launches went.
pub struct Ended {
    /// What the editor left, for each.
    pub then: Vec<Then>,
    /// The errors of those that failed.
    pub errors: Vec<LaunchError>,
    /// The output buffer.
    pub output: Vec<f32>,
}

impl Ended {
    /// Whether the output is what `rotate` computes.
    pub fn is_right(&self) -> bool {
        let expected = |i: usize| 2.0 * (i - i % 64 + (i % 64 + 1) % 64) as f32;
        let all = self.output.iter().enumerate();
        self.errors.is_empty() && all.into_iter().all(|(i, &value)| value == expected(i))
    }
}

/// Runs a kernel `n` times with its editor at the other end of two pipes.
pub fn launch(ptx: &str, n: usize, input: PipeReader, output: PipeWriter) -> JoinHandle<Ended> {
    let module = Module::parse(ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    std::thread::spawn(move || run(&module, n, Server::new(input, output)))
}

fn run(module: &Module, n: usize, mut server: Server) -> Ended {
    let device = Device::new();
    let loaded = device.load(module).expect("a module");
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let input = device.upload(&values, "input").expect("there is room");
    let output = device.zeros::<f32>(N, "output").expect("there is room");
    let call = || match module.kernel("largest") {
        Some(_) => device
            .call(&loaded, "largest")
            .block(32)
            .arg(input)
            .arg(output)
            .arg(2_u32),
        None => device
            .call(&loaded, "rotate")
            .grid(2)
            .block(64)
            .arg(input)
            .arg(output),
    };
    let mut ended = Ended {
        then: Vec::new(),
        errors: Vec::new(),
        output: Vec::new(),
    };
    for _ in 0..n {
        let debugged = call()
            .fuel(1 << 24)
            .debug(|session| server.control(&mut Debugger::new(session, Sources::new([folder()]))));
        let (then, result) = debugged.expect("an allowed launch");
        ended.then.push(then);
        ended.errors.extend(result.err());
    }
    server.finish(0);
    ended.output = device.download(output).expect("the output");
    ended
}
