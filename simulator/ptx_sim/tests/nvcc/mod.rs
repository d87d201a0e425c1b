//! CUDA C++ kernels compiled by nvcc, run on the simulator with every check,
//! and compared with the same in Rust. `README.md` in this folder says how the PTX was
//! made.

mod arithmetic;
mod language;
mod memory;
mod warps;

use ptx_sim::{Call, Device, LoadedModule, Module};

/// A device and one of this folder's modules on it.
struct Bench {
    device: Device,
    loaded: LoadedModule,
}

impl Bench {
    fn new(ptx: &str) -> Self {
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(module.unsupported(), [], "every instruction is known");
        let device = Device::new();
        let loaded = device.load(&module).unwrap();
        Self { device, loaded }
    }

    /// A launch with all checks.
    fn call<'a>(&'a mut self, kernel: &'a str) -> Call<'a> {
        self.device.call(&self.loaded, kernel).check(true)
    }
}

/// Numbers that look random, the same each time (SplitMix64).
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

/// `n` numbers from `-scale` to `scale`.
fn reals(seed: u64, n: usize, scale: f64) -> Vec<f64> {
    let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    random(seed).take(n).map(|r| unit(r) * scale).collect()
}

fn singles(seed: u64, n: usize, scale: f64) -> Vec<f32> {
    reals(seed, n, scale)
        .into_iter()
        .map(|x| x as f32)
        .collect()
}

/// Every element within `tolerance`, relative to the larger of 1 and the
/// reference; NaN agrees with nothing.
#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f - e).abs() <= tolerance * e.abs().max(1.0),
            "element {i}: {f}, not {e}"
        );
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}
