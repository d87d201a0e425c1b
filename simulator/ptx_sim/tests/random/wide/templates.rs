//! A thread's own work, as templates.
//!
//! Left out is what the first set leaves out, and what PTX leaves open:
//!
//! - a position past the register in `bfe` and `bfi` as a constant (see `main.rs`), and
//!   positions and lengths over 255, past which PTX defines nothing: with ptxas `bfi.b64`
//!   uses all 32 bits of them, the 32-bit instructions the lowest 8;
//! - `cvt.rna.satfinite.tf32`, where ptxas decrements a NaN's payload;
//! - rounding left to the compiler, which may then fuse;
//!
//! and what ptxas of CUDA 13.0 without optimisation does differently from PTX:
//!
//! - 8 bits stored from a register of 16 (`st.b8`, `st.param.b8`): if that holds the result
//!   of an `f16` instruction, ptxas converts the number to an integer;
//! - `@p set` with sources of 16 bits: where `p` does not hold it cuts the destination to
//!   16 bits and extends them;
//! - `.ftz` in `cvt.rm.ftz.f16.f32` and with `.rp`, which it omits;
//! - `set` to a floating-point type (`generate.rs`).
//!
//! The simulator does not know `mad24.hi.sat` and conversions from and to `e4m3x2` and
//! `e5m2x2`.

use std::sync::LazyLock;

use crate::random::template::{Templates, section};

const TEMPLATES: &str = include_str!("templates.txt");

/// Integers, beyond those of the first set.
pub static INTEGERS: Templates = LazyLock::new(|| section(TEMPLATES, "integers"));

/// Bits.
pub static BITS: Templates = LazyLock::new(|| section(TEMPLATES, "bits"));

/// Packing, unpacking, and reinterpreting a register as another type.
pub static MOVES: Templates = LazyLock::new(|| section(TEMPLATES, "moves"));

/// Conversions.
pub static CONVERSIONS: Templates = LazyLock::new(|| section(TEMPLATES, "conversions"));

/// Half precision.
pub static HALVES_AND_PAIRS: Templates = LazyLock::new(|| section(TEMPLATES, "halves_and_pairs"));

/// Comparisons and selections.
pub static COMPARISONS: Templates = LazyLock::new(|| section(TEMPLATES, "comparisons"));

/// Memory at `B` in the space `S`: 64 bytes of the thread's own.
pub static MEMORY: Templates = LazyLock::new(|| section(TEMPLATES, "memory"));

/// Atomics on memory of the thread's own.
pub static ATOMICS: Templates = LazyLock::new(|| section(TEMPLATES, "atomics"));

/// Parameters in parts, constants, addresses, fresh values.
pub static READS: Templates = LazyLock::new(|| section(TEMPLATES, "reads"));
