//! Launches of all kernels of a module, as specified by a text's first line: `//`, and 16
//! hexadecimal digits.

use ptx_sim::{Buffer, Call, Device, LaunchError, LoadedModule, Module, Schedule};

use crate::random::Random;

/// Fuel of a launch, in warp instructions: enough for a few loops.
const FUEL: u64 = 20_000;
/// Where the number of a generic address's window begins.
const WINDOW_SHIFT: u32 = 44;
/// Kernels of a module that are launched.
const MOST_KERNELS: usize = 8;

/// What a text's first line says, or its length if it says nothing.
pub fn seed(text: &str) -> u64 {
    let digits = text.strip_prefix("//").and_then(|rest| rest.get(..16));
    let seed = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    seed.unwrap_or(text.len() as u64)
}

/// How to launch.
struct How {
    grid: u32,
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    options: ptx_sim::LaunchOptions,
}

impl How {
    fn drawn(random: &mut Random) -> Self {
        let blocks = [
            [1, 1, 1],
            [32, 1, 1],
            [32, 1, 1],
            [40, 1, 1],
            [128, 1, 1],
            [8, 4, 1],
            [3, 5, 7],
        ];
        // Enough threads for two host threads to share the work.
        let spread = random.once_in(64);
        Self {
            grid: if spread {
                160
            } else {
                1 + random.below(2) as u32
            },
            block: if spread {
                [128, 1, 1]
            } else {
                blocks[random.below(blocks.len())]
            },
            dynamic_shared_bytes: [0, 64, 100, 4096][random.below(4)],
            options: ptx_sim::LaunchOptions {
                fuel: Some(FUEL),
                count: random.once_in(2),
                check: !spread && random.once_in(2),
                go_on: random.once_in(2),
                threads: Some(1 + random.below(2)),
                schedule: (!spread && random.once_in(4)).then(|| Schedule::new(random.next())),
                ..ptx_sim::LaunchOptions::default()
            },
        }
    }
}

/// What launches did, as text, and what they left in their buffers.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    told: Vec<String>,
    left: Vec<Vec<u8>>,
}

/// Launches every kernel of a text as usual, and once more plainly: each launch ends in a report
/// or an error, and in the same one.
pub fn both_ways(text: &str, module: &Module, device: &Device) {
    let buffers = [4096_usize, 256].map(|n| device.zeros::<u8>(n, "buffer"));
    let buffers: Vec<Buffer<u8>> = buffers.into_iter().flatten().collect();
    let run = || {
        for buffer in &buffers {
            device
                .fill(buffer.address(), buffer.len() as u64, 0)
                .expect("a buffer");
        }
        let loaded = device.load(module).ok()?;
        let addresses: Vec<u64> = buffers.iter().map(|buffer| buffer.address()).collect();
        let told = every_kernel(device, &loaded, &addresses, seed(text))?;
        let left = buffers
            .iter()
            .map(|&buffer| device.download(buffer).expect("a buffer"));
        Some(Outcome {
            told,
            left: left.collect(),
        })
    };
    let usual = run();
    // Clocks, host threads that race, and what kernels have allocated differ every time.
    let differs = ["clock", "globaltimer", "malloc"];
    if usual.is_none() || differs.iter().any(|word| text.contains(word)) {
        return;
    }
    ptx_sim::run_plainly(true);
    let plain = run();
    ptx_sim::run_plainly(false);
    // Variables may have been elsewhere.
    if usual != plain && usual == run() {
        panic!("as usual: {usual:?}\nplainly: {plain:?}");
    }
}

/// Launches every kernel. Each launch ends in a report or an error; gives which, unless host
/// threads shared one.
fn every_kernel(
    device: &Device,
    loaded: &LoadedModule,
    addresses: &[u64],
    seed: u64,
) -> Option<Vec<String>> {
    let random = &mut Random(seed);
    let module = loaded.module().clone();
    let (mut told, mut alone) = (Vec::new(), true);
    for kernel in module.kernels().take(MOST_KERNELS) {
        let mut how = How::drawn(random);
        if let Some(block) = kernel.bounds.required_block
            && block.iter().map(|&n| u64::from(n)).product::<u64>() <= 1024
        {
            how.block = block;
        }
        alone &= how.options.threads == Some(1);
        let mut call = device
            .call(loaded, kernel.name)
            .grid(how.grid)
            .block(how.block)
            .dynamic_shared_bytes(how.dynamic_shared_bytes)
            .options(how.options);
        for param in kernel.params {
            call = argument(call, param.size_bytes as usize, addresses, random);
        }
        told.push(match call.run() {
            Ok(report) => format!("{:?} {:?}", report.counts, report.instructions()),
            Err(error @ LaunchError::Internal { .. }) => panic!("{error}"),
            Err(error) => without_addresses(&error.to_string()),
        });
    }
    alone.then_some(told)
}

/// A text whose hexadecimal numbers are left out: variables may be elsewhere the next time.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + "0x" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
    })
}

/// A parameter of this many bytes: addresses, small numbers or garbage.
fn argument<'a>(
    call: Call<'a>,
    n_bytes: usize,
    addresses: &[u64],
    random: &mut Random,
) -> Call<'a> {
    let mut word = || match random.below(10) {
        0 => random.next(),
        1 | 2 => random.below(100) as u64,
        // Shared, local and constant memory, parameters, functions, and nothing.
        3 | 4 => (random.below(16) as u64) << WINDOW_SHIFT | (random.below(24) as u64 * 8),
        _ => random.of(addresses).copied().unwrap_or(0),
    };
    match n_bytes {
        1 => call.arg(word() as u8),
        2 => call.arg(word() as u16),
        4 => call.arg((word() & 0xff) as u32),
        8 => call.arg(word()),
        _ => {
            let bytes: Vec<u8> = (0..n_bytes.div_ceil(8))
                .flat_map(|_| word().to_le_bytes())
                .collect();
            call.arg(Bytes(&bytes[..n_bytes]))
        }
    }
}

/// A structure.
struct Bytes<'a>(&'a [u8]);

impl ptx_sim::Argument for Bytes<'_> {
    fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.0);
    }
}
