//! A lesson of several devices, and the ways to do its work.

use super::node::Node;
use super::outcome::{Failure, Outcome};

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

/// The table of a lesson's ways: `id: "idea", [kernel, …], run;`.
macro_rules! ways {
    ($($id:ident: $idea:literal, [$($kernel:ident),*], $run:expr;)*) => {
        &[$($crate::several::Way {
            id: stringify!($id),
            idea: $idea,
            kernels: &[$(<$kernel as cuda_std::launch::Kernel>::NAME),*],
            run: $run,
        }),*]
    };
}
pub(super) use ways;

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
