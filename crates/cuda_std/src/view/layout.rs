//! Layouts of tiles: where each element lies, and which block fills them.

/// Where the elements of a tile lie: made by [`tile_layout!`](crate::tile_layout) from a
/// function, after the compiler has tried all of its arguments.
///
/// It is not a [`Layout`](crate::tile::Layout), because a safe kernel relies on it: the compiler
/// can try a `const fn` at all places of one size, and cannot call a trait's function.
///
/// # Safety
///
/// `offset` is one-to-one for `row < ROWS` and `column < COLUMNS`, and less than
/// `N_ELEMENTS`.
pub unsafe trait TileLayout: Copy + 'static {
    /// Rows of the tile.
    const ROWS: u32;
    /// Columns of the tile.
    const COLUMNS: u32;
    /// Threads along x and y of a block that fills it.
    const BLOCK: [u32; 2];
    /// Elements of memory that the tile takes up.
    const N_ELEMENTS: usize;

    /// Where element `(row, column)` lies, in elements.
    fn offset(row: u32, column: u32) -> usize;
}

/// A layout whose block has one thread for each element.
///
/// # Safety
///
/// `BLOCK` is `[COLUMNS, ROWS]`.
#[diagnostic::on_unimplemented(
    message = "`put` needs a block with a thread for each element of the tile, and the layout `{Self}` has another block",
    label = "a thread has no element, or several",
    note = "let the threads fill the tile together: `tile.fill(|row, column| …)`"
)]
pub unsafe trait ThreadPerElement: TileLayout {}

/// A layout for tiles in safe kernels, from a `const fn` that says where an element lies:
///
/// ```
/// const fn columns_first(row: u32, column: u32) -> usize {
///     (column * 8 + row) as usize
/// }
/// const fn rows_first(row: u32, column: u32) -> usize {
///     (row * 34 + column) as usize
/// }
///
/// cuda_std::tile_layout! {
///     /// Column after column.
///     pub ColumnsFirst = columns_first(8, 16);
///     /// A tile of 8 × 32 elements with those around it.
///     pub Halo = rows_first(10, 34), block = [32, 8];
/// }
/// ```
///
/// The numbers are the tile's rows and columns. `block` has the threads along x and y of the
/// blocks that fill the tile; without it there is one thread for each element, rows along y. A
/// function that puts two elements in one place does not compile.
#[macro_export]
macro_rules! tile_layout {
    ($(
        $(#[$about:meta])*
        $visibility:vis $name:ident = $offset:ident($rows:expr, $columns:expr) $(, block = $block:expr)?;
    )*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name;

        // SAFETY: all elements are tried, below.
        unsafe impl $crate::view::TileLayout for $name {
            const ROWS: u32 = $rows;
            const COLUMNS: u32 = $columns;
            const BLOCK: [u32; 2] = $crate::tile_layout!(@block [Self::COLUMNS, Self::ROWS] $($block)?);
            const N_ELEMENTS: usize = {
                let (mut n, mut end) = (0, 0);
                while n < Self::ROWS * Self::COLUMNS {
                    let place = $offset(n / Self::COLUMNS, n % Self::COLUMNS);
                    end = if place < end { end } else { place + 1 };
                    n += 1;
                }
                end
            };

            #[inline(always)]
            fn offset(row: u32, column: u32) -> usize {
                $offset(row, column)
            }
        }
        $crate::tile_layout!(@thread_per_element $name $($block)?);

        const _: () = {
            use $crate::view::TileLayout as Layout;
            let mut taken = [false; <$name as Layout>::N_ELEMENTS];
            let mut n = 0;
            while n < <$name as Layout>::ROWS * <$name as Layout>::COLUMNS {
                let place = $offset(n / <$name as Layout>::COLUMNS, n % <$name as Layout>::COLUMNS);
                let is_taken = ::core::mem::replace(&mut taken[place], true);
                ::core::assert!(!is_taken, "two elements of the tile lie in one place");
                n += 1;
            }
        };
    )* };
    (@block [$($default:tt)*]) => { [$($default)*] };
    (@block [$($default:tt)*] $block:expr) => { $block };
    (@thread_per_element $name:ident) => {
        // SAFETY: it is the default.
        #[diagnostic::do_not_recommend]
        unsafe impl $crate::view::ThreadPerElement for $name {}
    };
    (@thread_per_element $name:ident $block:expr) => {};
}

#[cfg(test)]
mod tests {
    use super::TileLayout;

    const fn xor(row: u32, column: u32) -> usize {
        (row * 4 + (column ^ row)) as usize
    }
    const fn longer(row: u32, column: u32) -> usize {
        (row * 5 + column) as usize
    }
    tile_layout! {
        Xor = xor(4, 4);
        Longer = longer(3, 4);
        Several = longer(3, 4), block = [32, 2];
    }

    #[test]
    fn a_layout_is_its_function() {
        assert_eq!(Xor::offset(3, 1), xor(3, 1));
        assert_eq!(
            (Longer::ROWS, Longer::COLUMNS, Longer::N_ELEMENTS),
            (3, 4, 14)
        );
        assert_eq!((Longer::BLOCK, Several::BLOCK), ([4, 3], [32, 2]));
    }
}
