//! The lessons of several devices: inputs, launches, references.
//!
//! They differ from the other lessons in that they have more than one device, so each is a function of
//! devices and a size. Reading order: [`node`], the devices with what the lessons need on each;
//! [`jacobi`], [`all_reduce`], [`transpose`], [`gemm`]; [`across_processes`], the same sum with a process
//! for each device.

pub mod across_processes;
pub mod all_reduce;
pub mod gemm;
pub mod jacobi;
pub mod node;
pub mod transpose;

pub use node::Node;

use crate::kernels::KernelsError;
use lockstep::Error;

/// A way to do a lesson's work.
pub struct Way {
    /// Its name on the command line.
    pub id: &'static str,
    /// What it does differently.
    pub idea: &'static str,
    /// The kernels that it launches.
    pub kernels: &'static [&'static str],
    /// Does it once, compares with the reference, and on GPUs measures it.
    pub run: fn(&Node, u32) -> Result<Outcome, Failure>,
}

/// A lesson of several devices.
pub struct Lesson {
    /// Its name on the command line.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Its source file.
    pub source: &'static str,
    /// What a size is.
    pub size: &'static str,
    /// A size that takes a moment on the simulator.
    pub quick: u32,
    /// Sizes to measure on GPUs.
    pub sizes: &'static [u32],
    /// The ways to do it, in reading order.
    pub ways: &'static [Way],
}

/// All of them, in reading order.
pub static LESSONS: [&Lesson; 4] = [
    &jacobi::LESSON,
    &all_reduce::LESSON,
    &transpose::LESSON,
    &gemm::LESSON,
];

/// The kernels of all lessons.
pub fn kernels() -> impl Iterator<Item = &'static str> {
    let ways = LESSONS.iter().flat_map(|lesson| lesson.ways);
    ways.flat_map(|way| way.kernels.iter().copied())
}

/// What a way has done, rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Bytes that kernels moved over links; on simulators only, where they are counted.
    pub link_bytes: Option<u64>,
    /// What was measured; on GPUs only.
    pub measured: Option<Measured>,
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

/// Compares a result with its reference, value by value.
///
/// # Errors
///
/// The first difference of more than `tolerance`, relative to the largest value.
pub fn compare(what: &str, got: &[f32], expected: &[f32], tolerance: f32) -> Result<(), Failure> {
    let scale = expected
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    let differs = |&i: &usize| {
        let close = (got[i] - expected[i]).abs() <= tolerance * scale;
        got[i].to_bits() != expected[i].to_bits() && !close
    };
    if got.len() != expected.len() {
        let (n, of) = (got.len(), expected.len());
        return Err(Failure::Wrong(format!(
            "{what}: {n} values instead of {of}"
        )));
    }
    match (0..got.len()).find(differs) {
        None => Ok(()),
        Some(i) => Err(Failure::Wrong(format!(
            "{what}: value {i} is {}, expected {}",
            got[i], expected[i]
        ))),
    }
}

/// Values that no two places have alike, for sums that are exact.
pub fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let number = |i: usize| {
        let mixed = (i as u32 ^ seed.wrapping_mul(0x9E37_79B9)).wrapping_mul(2_654_435_761);
        (mixed >> 24) as f32 - 128.0
    };
    (0..n).map(number).collect()
}
