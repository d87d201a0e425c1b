//! One kernel for each type, with every operation, space, scope and order.
//!
//! Each operation runs in 24 *cells*: 2 spaces × 3 scopes × 4 orders. In a cell,
//! every thread does the operation once, on the same address as many others, and
//! records what it returned. Who contends with whom depends on the cell:
//!
//! - global memory, device and system scope: all threads of the grid;
//! - global memory, block scope: the threads of a block. Each block has an
//!   address of its own, since across blocks the scope promises nothing;
//! - shared memory: the threads of a block, whatever the scope.
//!
//! So each cell has one *place* per block, and a cell of the first kind uses only
//! the first block's.

use cuda_std::atomic::{
    self, AcqRel, Acquire, Block, Device, Global, Relaxed, Release, Shared, System,
};
use cuda_std::prelude::*;
use cuda_std::vector::{Bf16x2, F16x2};

/// Threads in a block.
pub const BLOCK_THREADS: u32 = 64;
/// Blocks in the grid.
pub const N_BLOCKS: u32 = 4;
/// Threads in the grid.
pub const N_THREADS: u32 = N_BLOCKS * BLOCK_THREADS;
/// Cells that an operation on a type has.
pub const N_CELLS: u32 = 24;

/// An operation on a place. The table of what each stores is in
/// [the lesson](super).
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Add,
    Sub,
    Exch,
    Cas,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
}

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellSpace {
    /// Global memory.
    Global,
    /// The block's shared memory.
    Shared,
}

/// One combination of space, scope and order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Where the places are.
    pub space: CellSpace,
    /// The scope as PTX writes it: `cta`, `gpu` or `sys`.
    pub scope: &'static str,
    /// The order as PTX writes it.
    pub order: &'static str,
}

/// Every cell, in the order in which the kernels run them.
pub const CELLS: [Cell; N_CELLS as usize] = {
    const SPACES: [CellSpace; 2] = [CellSpace::Global, CellSpace::Shared];
    const SCOPES: [&str; 3] = ["cta", "gpu", "sys"];
    const ORDERS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];
    let mut cells = [Cell {
        space: CellSpace::Global,
        scope: "",
        order: "",
    }; N_CELLS as usize];
    let mut i = 0;
    while i < cells.len() {
        cells[i] = Cell {
            space: SPACES[i / 12],
            scope: SCOPES[i / 4 % 3],
            order: ORDERS[i % 4],
        };
        i += 1;
    }
    cells
};

impl Cell {
    /// Whether all threads of the grid contend for one place, or each block's
    /// threads for their own.
    pub fn spans_grid(&self) -> bool {
        matches!(self.space, CellSpace::Global) && self.scope != "cta"
    }
}

/// The first cell whose place all blocks share; the cells before it are global
/// memory in block scope.
const FIRST_CELL_OF_GRID: u32 = 4;

/// Index in `places` of operation `operation`'s place in cell `cell` for block
/// `block`.
#[inline(always)]
pub const fn place(operation: u32, cell: u32, block: u32) -> usize {
    ((operation * N_CELLS + cell) * N_BLOCKS + block) as usize
}

/// Index in `operands` of the operand of thread `thread` of the grid for operation
/// `operation`.
#[inline(always)]
pub const fn operand_index(operation: u32, thread: u32) -> usize {
    (operation * N_THREADS + thread) as usize
}

/// Index in `returned` of the value returned to thread `thread` of the grid.
#[inline(always)]
pub const fn returned_index(operation: u32, cell: u32, thread: u32) -> usize {
    ((operation * N_CELLS + cell) * N_THREADS + thread) as usize
}

/// Runs operation number `$i`, `$operation`, in all cells in the order of
/// [`CELLS`].
macro_rules! run_cells {
    ($run:ident, $i:expr, $operation:ident) => {
        run_cells!(@scopes $run, $i, $operation, 0, Global);
        run_cells!(@scopes $run, $i, $operation, 12, Shared);
    };
    (@scopes $run:ident, $i:expr, $operation:ident, $cell:expr, $space:ident) => {
        run_cells!(@orders $run, $i, $operation, $cell, $space, Block);
        run_cells!(@orders $run, $i, $operation, $cell + 4, $space, Device);
        run_cells!(@orders $run, $i, $operation, $cell + 8, $space, System);
    };
    (@orders $run:ident, $i:expr, $operation:ident, $cell:expr, $space:ident, $scope:ident) => {
        $run!($i, $operation, $cell, $space, $scope, Relaxed);
        $run!($i, $operation, $cell + 1, $space, $scope, Acquire);
        $run!($i, $operation, $cell + 2, $space, $scope, Release);
        $run!($i, $operation, $cell + 3, $space, $scope, AcqRel);
    };
}

/// The kernel of a type, and the list of its operations.
macro_rules! table_kernels {
    ($($kernel:ident = $type:ty, $operations:ident: $($name:ident $operation:ident),*;)*) => { $(
        #[doc = concat!("Operations of [`", stringify!($kernel), "`], in its order.")]
        pub const $operations: &[Operation] = &[$(Operation::$name),*];

        #[doc = concat!("Every operation on `", stringify!($type), "`, in every cell.")]
        ///
        /// # Safety
        ///
        /// With `n` operations, `places` holds `n` · [`N_CELLS`] · [`N_BLOCKS`]
        /// elements, `operands` `n` · [`N_THREADS`], `expected` (of the
        /// compare-and-swap) [`N_THREADS`], `returned` `n` · [`N_CELLS`] ·
        /// [`N_THREADS`]; they do not overlap. Launch with [`BLOCK`] threads and
        /// [`GRID`] blocks.
        #[kernel(launch_bounds(BLOCK_THREADS))]
        pub unsafe fn $kernel(
            places: *mut $type,
            operands: *const $type,
            expected: *const $type,
            returned: *mut $type,
        ) {
            let shared = shared_array![$type; 1];
            let (block, thread) = (thread::block_idx_x(), thread::index_1d());
            let expected = *expected.add(thread as usize);

            macro_rules! operate {
                (cas, $address:expr, $operand:expr, $space:ident, $scope:ident, $order:ident) => {
                    atomic::cas($address, expected, $operand, $space, $scope, $order)
                };
                ($op:ident, $address:expr, $operand:expr, $space:ident, $scope:ident, $order:ident) => {
                    atomic::$op($address, $operand, $space, $scope, $order)
                };
            }
            macro_rules! run {
                ($i:expr, $op:ident, $cell:expr, Global, $scope:ident, $order:ident) => {
                    let contended = if $cell < FIRST_CELL_OF_GRID { block } else { 0 };
                    let address = places.add(place($i, $cell, contended));
                    let operand = *operands.add(operand_index($i, thread));
                    let old = operate!($op, address, operand, Global, $scope, $order);
                    *returned.add(returned_index($i, $cell, thread)) = old;
                };
                ($i:expr, $op:ident, $cell:expr, Shared, $scope:ident, $order:ident) => {
                    let address = places.add(place($i, $cell, block));
                    let operand = *operands.add(operand_index($i, thread));
                    if thread::thread_idx_x() == 0 {
                        *shared = *address;
                    }
                    thread::sync_threads();
                    let old = operate!($op, shared, operand, Shared, $scope, $order);
                    *returned.add(returned_index($i, $cell, thread)) = old;
                    thread::sync_threads();
                    if thread::thread_idx_x() == 0 {
                        *address = *shared;
                    }
                };
            }
            table_kernels!(@each run, 0, $($operation)*);
        }
    )* };
    (@each $run:ident, $i:expr, $operation:ident $($rest:ident)*) => {
        run_cells!($run, $i, $operation);
        table_kernels!(@each $run, $i + 1, $($rest)*);
    };
    (@each $run:ident, $i:expr,) => {};
}

table_kernels! {
    atomic_u32 = u32, OPERATIONS_U32: Add add, Sub sub, Exch exch, Cas cas, Min min, Max max,
        And and, Or or, Xor xor, Inc inc, Dec dec;
    atomic_i32 = i32, OPERATIONS_I32: Add add, Sub sub, Exch exch, Cas cas, Min min, Max max,
        And and, Or or, Xor xor;
    atomic_u64 = u64, OPERATIONS_U64: Add add, Sub sub, Exch exch, Cas cas, Min min, Max max,
        And and, Or or, Xor xor;
    atomic_i64 = i64, OPERATIONS_I64: Add add, Sub sub, Exch exch, Cas cas, Min min, Max max,
        And and, Or or, Xor xor;
    atomic_f32 = f32, OPERATIONS_F32: Add add, Sub sub, Exch exch, Cas cas;
    atomic_f64 = f64, OPERATIONS_F64: Add add, Sub sub, Exch exch, Cas cas;
    atomic_f16x2 = F16x2, OPERATIONS_F16X2: Add add, Sub sub, Exch exch, Cas cas;
    atomic_bf16x2 = Bf16x2, OPERATIONS_BF16X2: Add add, Sub sub, Exch exch, Cas cas;
}

/// Block of every kernel here, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Grid of every kernel here.
pub const GRID: [u32; 3] = [N_BLOCKS, 1, 1];

#[cfg(test)]
mod tests {
    use super::{CELLS, FIRST_CELL_OF_GRID, N_BLOCKS, N_CELLS, place};

    #[test]
    fn no_cell_is_listed_twice() {
        for (i, cell) in CELLS.iter().enumerate() {
            assert!(!CELLS[..i].contains(cell), "{cell:?}");
        }
    }

    #[test]
    fn a_third_of_the_cells_spans_the_grid() {
        assert_eq!(CELLS.iter().filter(|cell| cell.spans_grid()).count(), 8);
        assert_eq!(
            CELLS.iter().position(|cell| cell.spans_grid()),
            Some(FIRST_CELL_OF_GRID as usize)
        );
    }

    #[test]
    fn every_place_belongs_to_one_operation_cell_and_block() {
        let mut next = 0;
        for operation in 0..3 {
            for cell in 0..N_CELLS {
                for block in 0..N_BLOCKS {
                    assert_eq!(place(operation, cell, block), next);
                    next += 1;
                }
            }
        }
    }
}
