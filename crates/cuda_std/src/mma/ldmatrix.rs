//! `ldmatrix`: 8×8 matrices of 16-bit elements from shared memory to registers.
//!
//! A warp loads one, two or four matrices at once. Lanes `8m` to `8m + 7` each
//! name a row of matrix `m` ([`map::address_of`](super::map::address_of)); a row
//! is 16 bytes. After the load, register `m` of every lane holds its two
//! elements of matrix `m` ([`map::matrix`](super::map::matrix)): each row has
//! been distributed over four lanes. That exchange between lanes is what a plain
//! load cannot do: with `ld.shared` a fragment takes a load per register.
//!
//! `…_trans` distributes columns instead of rows
//! ([`map::matrix_transposed`](super::map::matrix_transposed)).
//!
//! Rows are named by tile, row and column, so that the tile's layout decides
//! where they are. The whole warp must execute the instruction together; keep it out
//! of branches that lanes may take differently.

use crate::gpu_only;
use crate::tile::{Layout, Tile};

use super::Element;

macro_rules! ldmatrix {
    ($($(#[$doc:meta])* $name:ident $at:ident, $n:literal, $suffix:literal, $($register:ident)*;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// All 32 lanes of the warp call it together. Every row that is used
        /// is in the tile, `column` is a multiple of 8, and what other threads
        /// stored there is visible (after a barrier).
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $name<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
            tile: Tile<T, ROWS, COLUMNS, L>,
            row: u32,
            column: u32,
        ) -> [u32; $n] {
            // SAFETY: by this function's own contract.
            unsafe { $at(tile.row_address(row, column)) }
        }

        #[doc = concat!("[`", stringify!($name), "`] of rows that begin at `address` in the shared space, this lane's.")]
        /// For loops in which a layout's arithmetic is done once, and addresses are advanced.
        ///
        /// # Safety
        ///
        #[doc = concat!("As [`", stringify!($name), "`]; `address` is a multiple of 16.")]
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $at(address: u32) -> [u32; $n] {
            $(let $register: u32;)*
            // SAFETY: by this function's own contract. Never `pure`: the whole
            // warp takes part, so it must not be moved into a branch.
            unsafe {
                ptx!(
                    concat!(
                        "ldmatrix.sync.aligned.m8n8.", $suffix, ".shared.b16 {{",
                        register_list!($($register)*),
                        "}}, [{address}];"
                    ),
                    $($register = out(reg32) $register,)*
                    address = in(reg32) address,
                    options(readonly)
                );
            }
            [$($register),*]
        }
    )* };
}

for_each_count!(ldmatrix);
