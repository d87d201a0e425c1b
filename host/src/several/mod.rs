//! The lessons of several devices: inputs, launches, references.
//!
//! They differ from the other lessons in that they have more than one device, so each is a function of
//! devices and a size. Reading order: [`outcome`]; [`node`], the devices with what the lessons need on
//! each; [`lesson`]; [`jacobi`], [`all_reduce`], [`transpose`], [`gemm`], [`ping_pong`]; [`across_processes`], the same
//! sum with a process for each device.

pub mod across_processes;
pub mod all_reduce;
pub mod gemm;
pub mod jacobi;
pub mod lesson;
pub mod node;
pub mod outcome;
pub mod ping_pong;
pub mod transpose;

pub use lesson::{Lesson, Way};
pub use node::Node;
pub use outcome::{Failure, Measured, Outcome};

/// All of them, in reading order.
pub static LESSONS: [&Lesson; 5] = [
    &jacobi::LESSON,
    &all_reduce::LESSON,
    &transpose::LESSON,
    &gemm::LESSON,
    &ping_pong::LESSON,
];

/// The kernels of all lessons.
pub fn kernels() -> impl Iterator<Item = &'static str> {
    let ways = LESSONS.iter().flat_map(|lesson| lesson.ways);
    ways.flat_map(|way| way.kernels.iter().copied())
}
