//! Exercises that judge themselves.
//!
//! An exercise is a folder of data: a kernel with a gap, what the launch looks like, what is
//! right, what it may cost. Its author compiles no host code. The judge compiles the
//! learner's kernel, runs it on the simulator with all checks, and compares its results, its
//! counts and its instructions with what the exercise asks for.
//!
//! In reading order:
//!
//! - [`expression`], [`values`], [`kinds`], [`format`](mod@format): what is written in `exercise.toml`;
//! - [`exercise`], [`course`]: a folder with an exercise, and a folder of such folders;
//! - [`workshop`]: from sources to PTX, one file of a learner or many files at once;
//! - [`judge`]: from PTX to a verdict;
//! - [`progress`], [`workplace`]: the learner's copies, and which of them are solved;
//! - [`proof`]: validation of an exercise: unsolved it fails, solved it passes, and no known
//!   cheat gets through;
//! - [`scaffold`]: a new exercise to begin with.
//!
//! Left out: the command line, and how a verdict looks in a terminal.

pub mod course;
mod error;
pub mod exercise;
pub mod expression;
pub mod format;
pub mod judge;
pub mod kinds;
pub mod progress;
pub mod proof;
pub mod scaffold;
pub mod values;
pub mod workplace;
pub mod workshop;

pub use course::Course;
pub use error::Error;
pub use exercise::Exercise;
pub use judge::{Failure, Verdict};
pub use workplace::Workplace;
pub use workshop::Workshop;
