//! Tensor cores: a warp multiplies two small matrices.
//!
//! `mma.sync` computes D = A·B + C, where A is 16×K, B is K×8, and C and D are
//! 16×8. No thread holds a matrix: each of the 32 lanes holds a *fragment* of
//! each, a few registers of two 16-bit elements, and the instruction defines which
//! lane holds what. [`map`] has that as functions.
//!
//! Fragments are read from shared memory by `ldmatrix` and written by
//! `stmatrix`, which move 8×8 matrices of 16-bit elements, one, two or four at
//! a time ([`ldmatrix`], [`stmatrix`]); [`load_a`], [`load_b`] and their
//! relatives build fragments from them.
//!
//! # Fragments
//!
//! `ldmatrix` and every operand are made of 8×8 matrices, in which lane `l`
//! holds two adjacent elements: row `l / 4`, columns `2 (l mod 4)` and one more.
//!
//! ```text
//!            column  0   1    2   3    4   5    6   7
//!     row 0         lane 0   lane 1   lane 2   lane 3
//!     row 1         lane 4   lane 5   lane 6   lane 7
//!     row 2         lane 8   lane 9   lane 10  lane 11
//!       ⋮
//!     row 7         lane 28  lane 29  lane 30  lane 31
//! ```
//!
//! ```text
//!        A, 16×16                B, 16×8 (K×N)          C and D, 16×8
//!     ┌────┬────┐                ┌────┐                 ┌────┐
//!     │ R0 │ R2 │  rows 0–7      │ R0 │  rows 0–7       │ R0 │  rows 0–7
//!     ├────┼────┤                ├────┤                 ├────┤
//!     │ R1 │ R3 │  rows 8–15     │ R1 │  rows 8–15      │ R1 │  rows 8–15
//!     └────┴────┘                └────┘                 └────┘
//!     A, 16×8: R0 and R1         B, 8×8: R0             f32: R0, R1 and R2, R3
//! ```
//!
//! In B the 8×8 matrices are *transposed*: lane `l` holds **column** `l / 4`, rows
//! `2 (l mod 4)` and one more. That is what `ldmatrix` gives if shared memory
//! holds Bᵀ (N×K, row by row); if it holds B, `ldmatrix.trans` transposes each 8×8
//! matrix on the way.
//!
//! With f32, C and D have a register per element: R0, R1 are the two neighbours
//! in rows 0–7, R2, R3 those in rows 8–15.
//!
//! This matters for chains of products: D in f16 has the same map as the
//! left or right half of A. Two D side by side *are* the next A
//! ([`FragmentA::from_products`]).
//!
//! # Bank conflicts
//!
//! `ldmatrix` reads a matrix in one go: 8 lanes give the addresses of its 8
//! rows, 16 bytes each, 128 bytes in all, exactly one line of the 32 banks. It
//! takes one wavefront if the 8 rows lie in 8 different sixteen-byte columns
//! of that line, that is, if their addresses differ in bits 4 to 6. Consecutive rows
//! at a pitch of 128 bytes, or a multiple of it, all agree in those bits:
//! 8 wavefronts, 7 conflicts per matrix. Layouts that avoid this are the subject of
//! [`tile`](crate::tile).
//!
//! # Rounding
//!
//! Products are exact. They are added, with C, in fixed point that is truncated,
//! in groups of K elements whose size differs between architectures; so
//! the last bits of an f32 result differ between them, and from a sum of `f32`.
//!
//! Left out: shapes for other types (integers, f64, tf32, fp8), sparse
//! matrices, `wgmma`.

/// Passes a macro the numbers of matrices that `ldmatrix` and `stmatrix` can move at once, and the
/// names of the same functions by address.
macro_rules! for_each_count {
    ($instruction:ident) => {
        $instruction! {
            /// One matrix; lanes 0 to 7 name its rows.
            x1 x1_at, 1, "x1", r0;
            /// Two matrices; lanes 0 to 15 name their rows.
            x2 x2_at, 2, "x2", r0 r1;
            /// Four matrices; lane `l` names row `l mod 8` of matrix `l / 8`.
            x4 x4_at, 4, "x4", r0 r1 r2 r3;
            /// One matrix, transposed.
            x1_trans x1_trans_at, 1, "x1.trans", r0;
            /// Two matrices, each transposed.
            x2_trans x2_trans_at, 2, "x2.trans", r0 r1;
            /// Four matrices, each transposed.
            x4_trans x4_trans_at, 4, "x4.trans", r0 r1 r2 r3;
        }
    };
}

/// Their registers, as listed between an instruction's braces.
#[cfg(target_arch = "nvptx64")]
macro_rules! register_list {
    (r0) => {
        "{r0}"
    };
    (r0 r1) => {
        "{r0}, {r1}"
    };
    (r0 r1 r2 r3) => {
        "{r0}, {r1}, {r2}, {r3}"
    };
}

mod fragment;
pub mod ldmatrix;
mod load;
pub mod map;
mod multiply;
pub mod stmatrix;

pub use fragment::{
    Accumulate, Element, FragmentA, FragmentB, FragmentC, M16N8K8, M16N8K16, Registers, Shape,
};
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub use load::store_matrices;
pub use load::{
    MATRIX_ROW, load_a, load_b, load_b_pair, load_b_transposed, load_b_transposed_pair,
    pair_address, quad_address, store_c,
};
pub use multiply::{Mma, mma};
