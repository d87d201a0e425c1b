//! `stmatrix`: the reverse of [`ldmatrix`](super::ldmatrix), from registers
//! to 8×8 matrices in shared memory. From sm_90 on.
//!
//! Device code compiled for an older architecture does not have these
//! functions; [`store_c`](super::store_c) does the same with a store per register.

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub use instructions::*;

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
mod instructions {
    use crate::gpu_only;
    use crate::mma::Element;
    use crate::tile::{Layout, Tile};

    macro_rules! stmatrix {
        ($($(#[$doc:meta])* $name:ident $at:ident, $n:literal, $suffix:literal, $($register:ident)*;)*) => { $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// All 32 lanes of the warp call it together. Every row that is
            /// used is in the tile, `column` is a multiple of 8, and no other
            /// thread accesses the rows until a barrier.
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $name<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
                tile: Tile<T, ROWS, COLUMNS, L>,
                row: u32,
                column: u32,
                registers: [u32; $n],
            ) {
                // SAFETY: by this function's own contract.
                unsafe { $at(tile.row_address(row, column), registers) }
            }

            #[doc = concat!("[`", stringify!($name), "`] to rows that begin at `address` in the shared space, this lane's.")]
            /// For layouts that are not a tile's, such as TMA's.
            ///
            /// # Safety
            ///
            #[doc = concat!("As [`", stringify!($name), "`]; `address` is a multiple of 16.")]
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $at(address: u32, [$($register),*]: [u32; $n]) {
                // SAFETY: by this function's own contract.
                unsafe {
                    ptx!(
                        concat!(
                            "stmatrix.sync.aligned.m8n8.", $suffix, ".shared.b16 [{address}], {{",
                            register_list!($($register)*),
                            "}};"
                        ),
                        $($register = in(reg32) $register,)*
                        address = in(reg32) address
                    );
                }
            }
        )* };
    }

    for_each_count!(stmatrix);
}
