//! Single memory accesses: one instruction of one warp, and what it costs.
//!
//! The simulator's counts stand or fall with the rules in [`ptx_sim::count`].
//! Here those rules meet the hardware: a [`Case`] is one instruction, 32 lane
//! offsets and a mask, with what the counters of a GPU said of it.
//!
//! Reading order: `case`; [`mod@file`], cases as CSV; [`rules`], what the rules
//! say of a case; [`instructions`], the instructions and the PTX that carries one
//! out; [`patterns`], fresh cases by a random number; [`measure`], running them.

mod case;

pub mod file;
pub mod instructions;
pub mod measure;
pub mod patterns;
pub mod rules;

pub use case::{Case, Counted, FIGURES, Global, LANES, Shared};
