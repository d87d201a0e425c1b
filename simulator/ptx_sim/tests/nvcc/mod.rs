//! CUDA C++ kernels compiled by nvcc, run on the simulator with every check,
//! and compared with the same in Rust. `README.md` in this folder says how the PTX was
//! made.

mod arithmetic;
mod language;
mod memory;
mod warps;

use common::Bench;

/// One of this folder's modules on a device.
fn bench(ptx: &str) -> Bench {
    let bench = Bench::new(ptx);
    let unknown = bench.loaded.module().unsupported();
    assert_eq!(unknown, [], "every instruction is known");
    bench
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
