//! `stmatrix`: [`ldmatrix`](super::ldmatrix) the other way round, from registers
//! to 8×8 matrices in shared memory. From sm_90 on.
//!
//! Device code compiled for an older architecture does not have these
//! functions; [`store_c`](super::store_c) does the same with a store a register.

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub use instructions::*;

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
mod instructions {
    use crate::gpu_only;
    use crate::mma::Element;
    use crate::tile::{Layout, Tile};

    macro_rules! stmatrix {
        ($($(#[$doc:meta])* $name:ident, $n:literal, $suffix:literal, $($register:ident)*;)*) => { $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// All 32 lanes of the warp are here, together. Every row that
            /// counts is in the tile, `column` is a multiple of 8, and no other
            /// thread accesses the rows until a barrier.
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $name<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
                tile: Tile<T, ROWS, COLUMNS, L>,
                row: u32,
                column: u32,
                [$($register),*]: [u32; $n],
            ) {
                // SAFETY: by this function's own contract.
                unsafe {
                    core::arch::asm!(
                        concat!(
                            "stmatrix.sync.aligned.m8n8.", $suffix, ".shared.b16 [{address}], {{",
                            stmatrix!(@list $($register)*),
                            "}};"
                        ),
                        $($register = in(reg32) $register,)*
                        address = in(reg32) tile.row_address(row, column),
                        options(nostack, preserves_flags)
                    );
                }
            }
        )* };
        (@list r0) => { "{r0}" };
        (@list r0 r1) => { "{r0}, {r1}" };
        (@list r0 r1 r2 r3) => { "{r0}, {r1}, {r2}, {r3}" };
    }

    stmatrix! {
        /// One matrix; lanes 0 to 7 name its rows.
        x1, 1, "x1", r0;
        /// Two matrices; lanes 0 to 15 name their rows.
        x2, 2, "x2", r0 r1;
        /// Four matrices; lane `l` names row `l mod 8` of matrix `l / 8`.
        x4, 4, "x4", r0 r1 r2 r3;
        /// One matrix, transposed.
        x1_trans, 1, "x1.trans", r0;
        /// Two matrices, each transposed.
        x2_trans, 2, "x2.trans", r0 r1;
        /// Four matrices, each transposed.
        x4_trans, 4, "x4.trans", r0 r1 r2 r3;
    }
}
