//! `wgmma` compared with an NVIDIA H200, bit for bit: all types, shapes, layouts in shared
//! memory, and numbers of all kinds.

mod cases;
mod kernel;

use cases::{Case, cases, mix};
use kernel::kernel;
use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// Shared memory of a block: more than any descriptor reaches.
const SHARED_BYTES: u32 = 200 << 10;

/// The words that the first tiles of a case give.
fn simulated(index: usize, case: &Case, n_tiles: usize, check: bool) -> Vec<u32> {
    let text = kernel(case);
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{index}: {e}\n{text}"));
    let device = Device::new();
    let loaded = device.load(&module).unwrap_or_else(|e| panic!("{e}"));
    let operands: Vec<_> = (0..n_tiles)
        .map(|tile| case.operands(index, tile))
        .collect();
    let upload = |part: fn(&cases::Operands) -> &Vec<u8>, name| {
        let bytes: Vec<u8> = operands.iter().flat_map(part).copied().collect();
        let address = device.alloc(bytes.len() as u64, name).unwrap();
        device.write(address, &bytes).unwrap();
        (address, bytes.len())
    };
    let (image, _) = upload(|o| &o.image, "image");
    let (a, _) = upload(|o| &o.a, "a");
    let (c, n_bytes) = upload(|o| &o.c, "c");
    let d = device.alloc(n_bytes as u64, "d").unwrap();
    let params = [image, a, c, d].map(u64::to_le_bytes);
    let launch = Launch {
        grid: [n_tiles as u32, 1, 1],
        block: [128, 1, 1],
        dynamic_shared_bytes: SHARED_BYTES,
        params: &[&params[0], &params[1], &params[2], &params[3]],
        options: LaunchOptions {
            check,
            ..LaunchOptions::default()
        },
    };
    let result = device.launch(&loaded, "k", &launch);
    result.unwrap_or_else(|e| panic!("{index}: {case:?}: {e}"));
    let mut found = vec![0; n_bytes];
    device.read(d, &mut found).unwrap();
    let words = found.as_chunks().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

fn hashed(words: &[u32]) -> u64 {
    let words = words.iter().zip(1_u64..);
    words.fold(0, |sum: u64, (&word, place)| {
        let place = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum.wrapping_add(mix(u64::from(word) ^ place))
    })
}

#[test]
fn smoke() {
    let all = cases();
    let start = std::time::Instant::now();
    let only = std::env::var("CASE")
        .ok()
        .map(|n| n.parse::<usize>().unwrap());
    for (index, case) in all.iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let words = simulated(index, case, 1, only.is_some());
        if index < 3 || only.is_some() {
            println!("{index} {:08x?}", &words[..16.min(words.len())]);
        }
        println!("{index} {:016x}", hashed(&words));
    }
    println!("{:?}", start.elapsed());
}
