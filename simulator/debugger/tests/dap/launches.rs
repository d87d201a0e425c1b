//! Launches of a kernel that a test's editor controls, on a thread of their own.

use std::io::{PipeReader, PipeWriter};
use std::path::PathBuf;
use std::thread::JoinHandle;

use debugger::Debugger;
use debugger::dap::{Server, Then};
use debugger::sources::Sources;
use ptx_sim::{Device, Launch, LaunchError, LaunchOptions, Module};

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
    let [input, output] = ["input", "output"].map(|label| {
        let bytes = 4 * N as u64;
        device.alloc(bytes, label).expect("there is room")
    });
    let values: Vec<u8> = (0..N).flat_map(|i| (i as f32).to_le_bytes()).collect();
    device.write(input, &values).expect("the input");
    let (input, at) = (input.to_le_bytes(), output.to_le_bytes());
    let width = 2_u32.to_le_bytes();
    let all: [&[u8]; 3] = [&input, &at, &width];
    let has_width = module.kernel("largest").is_some();
    let (kernel, grid, block, n_params) = match has_width {
        true => ("largest", 1, 32, 3),
        false => ("rotate", 2, 64, 2),
    };
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared_bytes: 0,
        params: &all[..n_params],
        options: LaunchOptions {
            fuel: Some(1 << 24),
            ..LaunchOptions::default()
        },
    };
    let mut ended = Ended {
        then: Vec::new(),
        errors: Vec::new(),
        output: Vec::new(),
    };
    for _ in 0..n {
        let debugged = device.debug(&loaded, kernel, &launch, |session| {
            server.control(&mut Debugger::new(session, Sources::new([folder()])))
        });
        let (then, result) = debugged.expect("an allowed launch");
        ended.then.push(then);
        ended.errors.extend(result.err());
    }
    server.finish(0);
    let mut bytes = vec![0; 4 * N];
    device.read(output, &mut bytes).expect("the output");
    let words = bytes.chunks_exact(4);
    let float = |word: &[u8]| f32::from_le_bytes(word.try_into().expect("four bytes"));
    ended.output = words.map(float).collect();
    ended
}
