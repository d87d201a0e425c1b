//! The size of a problem, its work, and the amount to run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The size of a problem, or all sizes up to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: Vec<u32>,
    sweep: bool,
}

impl Shape {
    /// One size.
    pub fn of(dims: &[u32]) -> Self {
        Self {
            dims: dims.to_vec(),
            sweep: false,
        }
    }

    /// Every size from 1 to this, along every axis.
    pub fn every(dims: &[u32]) -> Self {
        Self {
            dims: dims.to_vec(),
            sweep: true,
        }
    }

    /// The extents, or the largest ones of a sweep.
    pub fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// The product of the extents. Users choose sizes, so it is wide.
    pub fn n_elements(&self) -> u128 {
        let extents = self.dims.iter().map(|&dim| u128::from(dim));
        extents.fold(1, u128::saturating_mul)
    }

    /// Rows and columns of a matrix.
    ///
    /// # Panics
    ///
    /// If it does not have two axes, which is a mistake in the lesson.
    pub fn matrix(&self) -> (u32, u32) {
        match self.dims[..] {
            [rows, columns] => (rows, columns),
            _ => panic!("the shape {self} is not a matrix"),
        }
    }

    /// Whether it stands for every size up to its own.
    pub fn is_sweep(&self) -> bool {
        self.sweep
    }

    /// Its name in results: `8192x8192`, or `1..=64x1..=64` for a sweep.
    pub fn name(&self) -> String {
        self.joined("x")
    }

    fn joined(&self, by: &str) -> String {
        let range = if self.sweep { "1..=" } else { "" };
        let dims: Vec<_> = self
            .dims
            .iter()
            .map(|dim| format!("{range}{dim}"))
            .collect();
        dims.join(by)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(if self.sweep { " × " } else { "×" }))
    }
}

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// Seconds, for a first look.
    Quick,
    /// One shape per lesson, enough work to time the simulator by.
    Sample,
    /// Everything that the catalogue claims, at sizes that suit the engine.
    #[default]
    Default,
    /// The catalogue's sizes, whatever the engine.
    Full,
}

/// Device memory read and written by a perfect kernel, and its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Bytes read and written, each once.
    pub bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_have_names() {
        assert_eq!(Shape::of(&[8192, 8192]).name(), "8192x8192");
        assert_eq!(Shape::every(&[64, 64]).name(), "1..=64x1..=64");
        assert_eq!(Shape::of(&[3, 5]).to_string(), "3×5");
    }
}
