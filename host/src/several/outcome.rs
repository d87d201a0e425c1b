//! The outcome of a way to do a lesson: times and bytes, or the difference from the reference.

use crate::kernels::KernelsError;
use lesson::verify::{Tolerance, compare_slices};
use lockstep::Error;

/// What a way has done, rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Bytes that kernels moved over links; on simulators only, where they are counted.
    pub link_bytes: Option<u64>,
    /// What was measured; on GPUs only.
    pub measured: Option<Measured>,
}

impl Outcome {
    /// What was measured beside `reference`, if both were.
    pub fn beside(
        link_bytes: Option<u64>,
        measured: Option<Measured>,
        reference: Option<Measured>,
    ) -> Self {
        let reference_ms = reference.map(|reference| reference.time_ms);
        Self {
            link_bytes,
            measured: measured.map(|measured| Measured {
                reference_ms,
                ..measured
            }),
        }
    }
}

/// Times of a way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The median of some repetitions, in milliseconds.
    pub time_ms: f64,
    /// The same for what it is compared with.
    pub reference_ms: Option<f64>,
    /// The least and the greatest time over the median.
    pub spread: (f64, f64),
    /// Bytes that have to cross into the device that gets most.
    pub bytes: u64,
}

/// Why a way was not done, or not rightly.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A device or a kernel failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// There are no kernels.
    #[error(transparent)]
    Kernels(#[from] KernelsError),
    /// The result is not the reference's.
    #[error("{0}")]
    Wrong(String),
}

/// Compares a result with its reference, element by element.
///
/// # Errors
///
/// They differ.
pub fn compare(what: &str, got: &[f32], expected: &[f32]) -> Result<(), Failure> {
    match compare_slices(got, expected, Tolerance::Absolute(0.0)) {
        Ok(_) => Ok(()),
        Err(mismatch) => Err(Failure::Wrong(format!("{what}: {mismatch}"))),
    }
}

/// The sums of the `n` numbers that each of some devices has: [`numbers`], whose seed is the device's
/// number and 1.
pub fn sums(n: usize, n_devices: u32) -> Vec<f32> {
    let mut sums = vec![0.0_f32; n];
    for device in 0..n_devices {
        let values = numbers(n, device + 1);
        sums.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// Values that no two places have alike, for sums that are exact.
pub fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let number = |i: usize| {
        let mixed = (i as u32 ^ seed.wrapping_mul(0x9E37_79B9)).wrapping_mul(2_654_435_761);
        (mixed >> 24) as f32 - 128.0
    };
    (0..n).map(number).collect()
}
