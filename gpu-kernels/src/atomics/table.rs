//! One kernel for each operation and type, with every space, scope and order.
//!
//! Each kernel runs 24 *cells*: 2 spaces × 3 scopes × 4 orders. In a cell, every
//! thread does the operation once on the same address as many others, and writes
//! down what it returned. Who contends with whom depends on the cell:
//!
//! - global memory, device and system scope: all threads of the grid;
//! - global memory, block scope: the threads of a block. Each block has an
//!   address of its own, since across blocks the scope promises nothing;
//! - shared memory: the threads of a block, whatever the scope.
//!
//! So each cell has one *place* a block, and a cell of the first kind uses only
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
/// Cells of the table for an operation and type.
pub const N_CELLS: u32 = 24;

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

/// Index of cell `cell`'s place for block `block`, in `places`.
#[inline(always)]
pub const fn place(cell: u32, block: u32) -> u32 {
    cell * N_BLOCKS + block
}

/// Index of what thread `thread` of the grid got in cell `cell`, in `returned`.
#[inline(always)]
pub const fn returned_index(cell: u32, thread: u32) -> u32 {
    cell * N_THREADS + thread
}

/// Runs the cells in the order of [`CELLS`]. `$operate!(address, space, scope,
/// order)` is the operation.
macro_rules! run_cells {
    ($operate:ident, $shared:ident, $places:ident, $returned:ident) => {{
        let block = thread::block_idx_x();
        let mut cell = 0;
        run_cells!(@scopes $operate, $shared, $places, $returned, block, cell, Global);
        run_cells!(@scopes $operate, $shared, $places, $returned, block, cell, Shared);
        let _ = cell;
    }};
    (@scopes $operate:ident, $shared:ident, $places:ident, $returned:ident, $block:ident, $cell:ident, $space:ident) => {
        run_cells!(@orders $operate, $shared, $places, $returned, $block, $cell, $space, Block);
        run_cells!(@orders $operate, $shared, $places, $returned, $block, $cell, $space, Device);
        run_cells!(@orders $operate, $shared, $places, $returned, $block, $cell, $space, System);
    };
    (@orders $operate:ident, $shared:ident, $places:ident, $returned:ident, $block:ident, $cell:ident, $space:ident, $scope:ident) => {
        run_cells!(@cell $operate, $shared, $places, $returned, $block, $cell, $space, $scope, Relaxed);
        run_cells!(@cell $operate, $shared, $places, $returned, $block, $cell, $space, $scope, Acquire);
        run_cells!(@cell $operate, $shared, $places, $returned, $block, $cell, $space, $scope, Release);
        run_cells!(@cell $operate, $shared, $places, $returned, $block, $cell, $space, $scope, AcqRel);
    };
    (@cell $operate:ident, $shared:ident, $places:ident, $returned:ident, $block:ident, $cell:ident, Global, $scope:ident, $order:ident) => {
        let block = run_cells!(@block $block, $scope);
        let address = $places.add(place($cell, block) as usize);
        let old = $operate!(address, Global, $scope, $order);
        *$returned.add(returned_index($cell, thread::index_1d()) as usize) = old;
        $cell += 1;
    };
    (@cell $operate:ident, $shared:ident, $places:ident, $returned:ident, $block:ident, $cell:ident, Shared, $scope:ident, $order:ident) => {
        let address = $places.add(place($cell, $block) as usize);
        if thread::thread_idx_x() == 0 {
            *$shared = *address;
        }
        thread::sync_threads();
        let old = $operate!($shared, Shared, $scope, $order);
        *$returned.add(returned_index($cell, thread::index_1d()) as usize) = old;
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            *address = *$shared;
        }
        $cell += 1;
    };
    (@block $block:ident, Block) => { $block };
    (@block $block:ident, $scope:ident) => { 0 };
}

/// Kernels of operations that take one value.
macro_rules! operation_kernels {
    ($($doc:literal $operation:ident: $($kernel:ident = $type:ty),*;)*) => { $($(
        #[doc = $doc]
        ///
        /// # Safety
        ///
        /// `places` holds [`N_CELLS`] · [`N_BLOCKS`] elements, `operands`
        /// [`N_THREADS`], `returned` [`N_CELLS`] · [`N_THREADS`]; they do not
        /// overlap. Launch with [`BLOCK`] threads and [`GRID`] blocks.
        #[kernel(launch_bounds(BLOCK_THREADS))]
        pub unsafe fn $kernel(places: *mut $type, operands: *const $type, returned: *mut $type) {
            let shared = shared_array![$type; 1];
            let operand = *operands.add(thread::index_1d() as usize);
            macro_rules! operate {
                ($address:expr, $space:ident, $scope:ident, $order:ident) => {
                    atomic::$operation($address, operand, $space, $scope, $order)
                };
            }
            run_cells!(operate, shared, places, returned);
        }
    )*)* };
}

operation_kernels! {
    "Adds."
    add: atomic_add_u32 = u32, atomic_add_i32 = i32, atomic_add_u64 = u64, atomic_add_i64 = i64,
        atomic_add_f32 = f32, atomic_add_f64 = f64, atomic_add_f16x2 = F16x2,
        atomic_add_bf16x2 = Bf16x2;
    "Subtracts, by adding the negative."
    sub: atomic_sub_u32 = u32, atomic_sub_i32 = i32, atomic_sub_u64 = u64, atomic_sub_i64 = i64,
        atomic_sub_f32 = f32, atomic_sub_f64 = f64, atomic_sub_f16x2 = F16x2,
        atomic_sub_bf16x2 = Bf16x2;
    "Stores, and takes what was there."
    exch: atomic_exch_u32 = u32, atomic_exch_i32 = i32, atomic_exch_u64 = u64,
        atomic_exch_i64 = i64, atomic_exch_f32 = f32, atomic_exch_f64 = f64;
    "Keeps the smaller."
    min: atomic_min_u32 = u32, atomic_min_i32 = i32, atomic_min_u64 = u64, atomic_min_i64 = i64;
    "Keeps the larger."
    max: atomic_max_u32 = u32, atomic_max_i32 = i32, atomic_max_u64 = u64, atomic_max_i64 = i64;
    "Keeps the bits that both have."
    and: atomic_and_u32 = u32, atomic_and_i32 = i32, atomic_and_u64 = u64, atomic_and_i64 = i64;
    "Keeps the bits that either has."
    or: atomic_or_u32 = u32, atomic_or_i32 = i32, atomic_or_u64 = u64, atomic_or_i64 = i64;
    "Keeps the bits that one of them has."
    xor: atomic_xor_u32 = u32, atomic_xor_i32 = i32, atomic_xor_u64 = u64, atomic_xor_i64 = i64;
    "Counts up to the operand and round to 0."
    inc: atomic_inc_u32 = u32;
    "Counts down from the operand to 0 and round."
    dec: atomic_dec_u32 = u32;
}

/// Kernels of compare-and-swap, which takes two values.
macro_rules! cas_kernels {
    ($($kernel:ident = $type:ty),*) => { $(
        /// Stores the thread's `value` if its `expected` is what is there.
        ///
        /// A thread that finds something else gives up; a program would look at
        /// what it found and try again. That is how operations that the hardware
        /// lacks are built, as `bf16x2` addition is before sm_90.
        ///
        /// # Safety
        ///
        /// As the other kernels of the table; `expected` holds [`N_THREADS`]
        /// elements too.
        #[kernel(launch_bounds(BLOCK_THREADS))]
        pub unsafe fn $kernel(
            places: *mut $type,
            expected: *const $type,
            values: *const $type,
            returned: *mut $type,
        ) {
            let shared = shared_array![$type; 1];
            let expected = *expected.add(thread::index_1d() as usize);
            let value = *values.add(thread::index_1d() as usize);
            macro_rules! operate {
                ($address:expr, $space:ident, $scope:ident, $order:ident) => {
                    atomic::cas($address, expected, value, $space, $scope, $order)
                };
            }
            run_cells!(operate, shared, places, returned);
        }
    )* };
}

cas_kernels!(
    atomic_cas_u32 = u32,
    atomic_cas_i32 = i32,
    atomic_cas_u64 = u64,
    atomic_cas_i64 = i64,
    atomic_cas_f32 = f32,
    atomic_cas_f64 = f64
);

/// Block of every kernel here, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Grid of every kernel here.
pub const GRID: [u32; 3] = [N_BLOCKS, 1, 1];

#[cfg(test)]
mod tests {
    use super::{CELLS, N_BLOCKS, N_CELLS, place};

    #[test]
    fn no_cell_is_listed_twice() {
        for (i, cell) in CELLS.iter().enumerate() {
            assert!(!CELLS[..i].contains(cell), "{cell:?}");
        }
    }

    #[test]
    fn a_third_of_the_cells_spans_the_grid() {
        assert_eq!(CELLS.iter().filter(|cell| cell.spans_grid()).count(), 8);
    }

    #[test]
    fn every_place_belongs_to_one_cell_and_block() {
        let mut next = 0;
        for cell in 0..N_CELLS {
            for block in 0..N_BLOCKS {
                assert_eq!(place(cell, block), next);
                next += 1;
            }
        }
    }
}
