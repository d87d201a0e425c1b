//! The size of a problem, its work, and the amount to run.

use lockstep::engine::EngineKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The size of a problem, or all sizes up to one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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

    /// One problem, and as many as suit the engine and the effort, or a sample alone: few for a first
    /// look, `n_simulated` on the simulator, `n_full` on a GPU.
    pub fn problems(
        [n_quick, n_simulated, n_full]: [u32; 3],
        engine: EngineKind,
        effort: Effort,
    ) -> Vec<Self> {
        let many = match (engine, effort) {
            (_, Effort::Quick) => n_quick,
            (_, Effort::Sample) => return vec![Self::of(&[n_simulated])],
            (EngineKind::Sim, Effort::Default) => n_simulated,
            (EngineKind::Gpu, _) | (_, Effort::Full) => n_full,
        };
        vec![Self::of(&[1]), Self::of(&[many])]
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

    /// The first extent: the length of an array, the number of problems.
    pub fn n(&self) -> u32 {
        self.dims[0]
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

    /// m, n and k of a product of matrices.
    ///
    /// # Panics
    ///
    /// If it does not have three axes, which is a mistake in the lesson.
    pub fn product(&self) -> [u32; 3] {
        match self.dims[..] {
            [m, n, k] => [m, n, k],
            _ => panic!("the shape {self} is not a product"),
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

impl Work {
    /// This many bytes and operations.
    pub const fn new(bytes: u64, flops: u64) -> Self {
        Self { bytes, flops }
    }
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
