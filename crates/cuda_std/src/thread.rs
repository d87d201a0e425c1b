//! A thread's place in its block and grid, block barriers, memory fences.
//!
//! # Barriers
//!
//! [`sync_threads`] and its relatives wait for every thread of the block. All
//! threads that have not ended must reach *the same* call: in a branch that
//! only part of the block takes, the behaviour is undefined in PTX, and usually they never
//! return. They also order memory: every thread of the block reads after the barrier what any
//! of them wrote before it.
//!
//! No type says which threads reach a call, so barriers are `unsafe`, like everything else here
//! that threads must do together: shuffles and votes ([`crate::warp`]), barriers of a cluster,
//! products of tiles. A kernel with pointers is an `unsafe fn` and calls them plainly. A safe
//! one waits by [`Block::sync`](crate::view::Block::sync), which `#[kernel]` allows only
//! where all threads reach it.

use crate::gpu_only;

/// Two numbers, for [`index_2d`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vec2 {
    /// Along the fastest dimension.
    pub x: u32,
    /// Along the second dimension.
    pub y: u32,
}

/// Three numbers: an index or a size in blocks or threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vec3 {
    /// Along the fastest dimension.
    pub x: u32,
    /// Along the second dimension.
    pub y: u32,
    /// Along the third dimension.
    pub z: u32,
}

/// LLVM's intrinsics for this module. Barriers need them: LLVM
/// knows that they may not be moved into or out of branches (`convergent`),
/// which it would not know of inline assembly.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    macro_rules! declare {
        ($($link_name:literal fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
            unsafe extern "C" { $(
                #[link_name = $link_name]
                pub safe fn $name($($arg: $type),*) $(-> $out)?;
            )* }
        };
    }
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
        pub fn barrier(id: i32);
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
        pub fn barrier_of(id: i32, n_threads: i32);
        #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
        pub fn barrier_popc(id: i32, predicate: bool) -> i32;
        #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
        pub fn barrier_and(id: i32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
        pub fn barrier_or(id: i32, predicate: bool) -> bool;
    }
    declare! {
        "llvm.nvvm.read.ptx.sreg.tid.x" fn tid_x() -> u32;
        "llvm.nvvm.read.ptx.sreg.tid.y" fn tid_y() -> u32;
        "llvm.nvvm.read.ptx.sreg.tid.z" fn tid_z() -> u32;
        "llvm.nvvm.read.ptx.sreg.ctaid.x" fn ctaid_x() -> u32;
        "llvm.nvvm.read.ptx.sreg.ctaid.y" fn ctaid_y() -> u32;
        "llvm.nvvm.read.ptx.sreg.ctaid.z" fn ctaid_z() -> u32;
        "llvm.nvvm.read.ptx.sreg.ntid.x" fn ntid_x() -> u32;
        "llvm.nvvm.read.ptx.sreg.ntid.y" fn ntid_y() -> u32;
        "llvm.nvvm.read.ptx.sreg.ntid.z" fn ntid_z() -> u32;
        "llvm.nvvm.read.ptx.sreg.nctaid.x" fn nctaid_x() -> u32;
        "llvm.nvvm.read.ptx.sreg.nctaid.y" fn nctaid_y() -> u32;
        "llvm.nvvm.read.ptx.sreg.nctaid.z" fn nctaid_z() -> u32;
        "llvm.nvvm.read.ptx.sreg.warpsize" fn warpsize() -> u32;
        "llvm.nvvm.membar.cta" fn membar_cta();
        "llvm.nvvm.membar.gl" fn membar_gl();
        "llvm.nvvm.membar.sys" fn membar_sys();
        "llvm.nvvm.nanosleep" fn nanosleep(nanos: i32);
    }
}

macro_rules! special_registers {
    ($($(#[$doc:meta])* $name:ident = $register:ident;)*) => { $(
        $(#[$doc])*
        #[gpu_only]
        #[inline(always)]
        pub fn $name() -> u32 {
            llvm::$register()
        }
    )* };
}

special_registers! {
    /// This thread's first index in its block: `threadIdx.x`.
    thread_idx_x = tid_x;
    /// This thread's second index in its block: `threadIdx.y`.
    thread_idx_y = tid_y;
    /// This thread's third index in its block: `threadIdx.z`.
    thread_idx_z = tid_z;
    /// This block's first index in the grid: `blockIdx.x`.
    block_idx_x = ctaid_x;
    /// This block's second index in the grid: `blockIdx.y`.
    block_idx_y = ctaid_y;
    /// This block's third index in the grid: `blockIdx.z`.
    block_idx_z = ctaid_z;
    /// Threads of a block along the first dimension: `blockDim.x`.
    block_dim_x = ntid_x;
    /// Threads of a block along the second dimension: `blockDim.y`.
    block_dim_y = ntid_y;
    /// Threads of a block along the third dimension: `blockDim.z`.
    block_dim_z = ntid_z;
    /// Blocks of the grid along the first dimension: `gridDim.x`.
    grid_dim_x = nctaid_x;
    /// Blocks of the grid along the second dimension: `gridDim.y`.
    grid_dim_y = nctaid_y;
    /// Blocks of the grid along the third dimension: `gridDim.z`.
    grid_dim_z = nctaid_z;
    /// Threads in a warp, as reported by the hardware: 32 everywhere so far.
    warp_size = warpsize;
}

/// This thread's index in its block.
#[inline(always)]
pub fn thread_idx() -> Vec3 {
    Vec3 {
        x: thread_idx_x(),
        y: thread_idx_y(),
        z: thread_idx_z(),
    }
}

/// This block's index in the grid.
#[inline(always)]
pub fn block_idx() -> Vec3 {
    Vec3 {
        x: block_idx_x(),
        y: block_idx_y(),
        z: block_idx_z(),
    }
}

/// The block's size in threads.
#[inline(always)]
pub fn block_dim() -> Vec3 {
    Vec3 {
        x: block_dim_x(),
        y: block_dim_y(),
        z: block_dim_z(),
    }
}

/// The grid's size in blocks.
#[inline(always)]
pub fn grid_dim() -> Vec3 {
    Vec3 {
        x: grid_dim_x(),
        y: grid_dim_y(),
        z: grid_dim_z(),
    }
}

/// This thread's number in its block, whatever the block's dimensions: x first, as warps are made
/// of threads.
#[inline(always)]
pub fn index_in_block() -> u32 {
    let (block_dim, thread_idx) = (block_dim(), thread_idx());
    (thread_idx.z * block_dim.y + thread_idx.y) * block_dim.x + thread_idx.x
}

/// The number of threads in a block.
#[inline(always)]
pub fn n_threads_in_block() -> u32 {
    let block_dim = block_dim();
    block_dim.x * block_dim.y * block_dim.z
}

/// A number that identifies this thread in the grid, whatever the dimensions of the
/// grid and the block. It wraps in grids of 2³² threads or more.
#[inline(always)]
pub fn index() -> u32 {
    let (grid_dim, block_idx) = (grid_dim(), block_idx());
    let block = (block_idx.z * grid_dim.y + block_idx.y) * grid_dim.x + block_idx.x;
    block * n_threads_in_block() + index_in_block()
}

/// This thread's index in a grid of one dimension:
/// `blockIdx.x * blockDim.x + threadIdx.x`.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// This thread's index in a grid of two dimensions.
#[inline(always)]
pub fn index_2d() -> Vec2 {
    Vec2 {
        x: index_1d(),
        y: block_idx_y() * block_dim_y() + thread_idx_y(),
    }
}

/// This thread's index in a grid of three dimensions.
#[inline(always)]
pub fn index_3d() -> Vec3 {
    let Vec2 { x, y } = index_2d();
    Vec3 {
        x,
        y,
        z: block_idx_z() * block_dim_z() + thread_idx_z(),
    }
}

/// Whether this is the first thread of the first block: true for exactly one
/// thread of the grid.
#[inline(always)]
pub fn first() -> bool {
    let zero = Vec3 { x: 0, y: 0, z: 0 };
    block_idx() == zero && thread_idx() == zero
}

/// Waits until every thread of the block has arrived: `__syncthreads()`.
///
/// # Safety
///
/// All threads of the block that have not ended reach this very call: it is not in a branch
/// or a loop that only some of them take.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_threads() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier(0) }
}

/// Waits until `N_THREADS` of the block's threads have arrived, in whole warps, as
/// [`sync_threads`] waits for all. `ID` is 1 to 15, one for each group of threads
/// that meet.
///
/// # Safety
///
/// All lanes of a warp call it together, `N_THREADS` threads reach this barrier each time,
/// and no others use its number in the meantime.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_some_threads<const ID: u32, const N_THREADS: u32>() {
    const {
        assert!(0 < ID && ID < 16, "barriers are numbered from 1 to 15");
        assert!(
            N_THREADS.is_multiple_of(32),
            "whole warps meet at a barrier"
        );
    }
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier_of(ID as i32, N_THREADS as i32) }
}

/// [`sync_threads`], and the number of threads whose `predicate` is not 0.
///
/// # Safety
///
/// As [`sync_threads`].
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_threads_count(predicate: u32) -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier_popc(0, predicate != 0) }.cast_unsigned()
}

/// [`sync_threads`], and 1 if no thread's `predicate` is 0, else 0.
///
/// # Safety
///
/// As [`sync_threads`].
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_threads_and(predicate: u32) -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier_and(0, predicate != 0) }.into()
}

/// [`sync_threads`], and 1 if any thread's `predicate` is not 0, else 0.
///
/// # Safety
///
/// As [`sync_threads`].
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_threads_or(predicate: u32) -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier_or(0, predicate != 0) }.into()
}

/// Memory fence for the block: the block's threads see what this thread did before it
/// ahead of what it does after. It waits for no other thread.
#[gpu_only]
#[inline(always)]
pub fn block_fence() {
    llvm::membar_cta();
}

/// Memory fence for every thread of the device: `__threadfence()`.
#[gpu_only]
#[inline(always)]
pub fn device_fence() {
    llvm::membar_gl();
}

/// [`device_fence`], under the other name that Rust-CUDA has for it.
#[inline(always)]
pub fn grid_fence() {
    device_fence();
}

/// Memory fence for the device, the host, and other devices:
/// `__threadfence_system()`.
#[gpu_only]
#[inline(always)]
pub fn system_fence() {
    llvm::membar_sys();
}

/// Sleeps for about `nanos` nanoseconds (anything from 0 to twice as long, and
/// at most a millisecond), to wait without loading the memory system.
#[gpu_only]
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    llvm::nanosleep(nanos.cast_signed());
}
