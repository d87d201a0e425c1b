//! Kernels as programs of Rust-CUDA have them: its attributes, types and prelude.
//! `tests/on_the_simulator.rs` runs them.
// Each test launches its kernel with buffers that fit; `# Safety` sections and comments would all
// say so.
#![allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;
use cuda_std::atomic::{AtomicF32, AtomicF64, BlockAtomicF32, SystemAtomicF32};
use cuda_std::glam::{Mat3, UVec3, Vec3};
use cuda_std::prelude::*;
use cuda_std::ptr::{AddressSpace, is_in_address_space};
// The host has `floor` without it.
#[allow(unused_imports)]
use cuda_std::GpuFloat;
use cuda_std::{address_space, gpu_only};

// A module of a kernel's name, from which the kernel is exported.
mod reversed;
pub use reversed::reversed;

/// Threads of a block of [`transposed`], in each direction.
pub const SIDE: usize = 8;

/// Transposes a matrix of `SIDE` × `SIDE` numbers, by a tile whose size is a constant of the
/// function.
#[kernel]
pub unsafe fn transposed(from: &[f32], to: *mut f32) {
    const PADDED: usize = SIDE + 1;
    #[address_space(shared)]
    static mut TILE: [[MaybeUninit<f32>; PADDED]; SIDE] =
        [[const { MaybeUninit::uninit() }; PADDED]; SIDE];

    let place = thread::thread_idx();
    let (x, y) = (place.x as usize, place.y as usize);
    unsafe { TILE[y][x].write(from[y * SIDE + x]) };
    thread::sync_threads();
    unsafe { *to.add(y * SIDE + x) = TILE[x][y].assume_init() };
}

/// A tile of a module's own, which functions may share.
#[address_space(shared)]
pub static mut LINE: [MaybeUninit<u32>; 64] = [MaybeUninit::uninit(); 64];

/// The number that the next thread gives, through [`LINE`]: a safe function with a barrier.
fn of_next_thread(own: u32) -> u32 {
    let (i, n) = (
        thread::thread_idx_x() as usize,
        thread::block_dim_x() as usize,
    );
    unsafe { LINE[i].write(own) };
    thread::sync_threads();
    let line = &raw const LINE;
    unsafe { (&(*line))[(i + 1) % n].assume_init() }
}

/// Each thread's index in the grid, by a block's neighbour.
#[kernel]
pub unsafe fn neighbors(to: *mut u32) {
    let index = thread::index();
    unsafe { *to.add(index as usize) = of_next_thread(index) };
}

/// A grid of three dimensions: each thread's index in all of them.
#[kernel]
pub unsafe fn indices(to: *mut UVec3) {
    let own = thread::index_3d();
    let in_block = thread::block_idx() * thread::block_dim() + thread::thread_idx();
    assert_eq!(own, in_block);
    assert_eq!(own.truncate(), thread::index_2d());
    unsafe { *to.add(thread::index() as usize) = own };
}

/// A vector turned by a matrix; both are arguments by value.
#[kernel]
pub unsafe fn turned(matrix: Mat3, vector: Vec3, to: *mut Vec3) {
    unsafe { *to = matrix * vector };
}

/// What threads add up in all scopes, and the value before in `olds`.
#[repr(C)]
pub struct Sums {
    device: AtomicF32,
    wide: AtomicF64,
    system: SystemAtomicF32,
}

/// Adds each thread's index to the sums, and to one of the block's own.
#[kernel]
pub unsafe fn summed(sums: &Sums, of_blocks: *mut f32) {
    #[address_space(shared)]
    static mut OF_BLOCK: [MaybeUninit<BlockAtomicF32>; 1] = [const { MaybeUninit::uninit() }];

    let (i, index) = (thread::thread_idx_x(), thread::index_1d());
    if i == 0 {
        unsafe { OF_BLOCK[0].write(BlockAtomicF32::new(0.5)) };
    }
    thread::sync_threads();
    let of_block = unsafe { OF_BLOCK[0].assume_init_ref() };
    unsafe { of_block.fetch_add(index as f32, Ordering::Relaxed) };
    sums.device.fetch_add(index as f32, Ordering::AcqRel);
    sums.wide.fetch_sub(f64::from(index), Ordering::Relaxed);
    sums.system.fetch_add(1.0, Ordering::SeqCst);
    thread::sync_threads();
    if i == 0 {
        let sum = unsafe { of_block.load(Ordering::Acquire) };
        unsafe { *of_blocks.add(thread::block_idx_x() as usize) = sum };
    }
}

/// Clears, sets and inverts bits of a float, then stores one: the values before.
#[kernel]
pub unsafe fn bits(value: &AtomicF32, olds: *mut f32) {
    let mut place = olds;
    let mut put = |old: f32| unsafe {
        *place = old;
        place = place.add(1);
    };
    put(value.fetch_and(f32::from_bits(0xffff_0000), Ordering::Relaxed));
    put(value.fetch_or(f32::from_bits(0x0000_00ff), Ordering::Acquire));
    put(value.fetch_xor(f32::from_bits(0x0000_000f), Ordering::Release));
    put(value.load(Ordering::SeqCst));
    value.store(2.5, Ordering::Release);
    put(value.load(Ordering::Relaxed));
}

// The host's compiler does not know these features.
#[allow(unexpected_cfgs)]
/// The spaces of three pointers, the sizes of shared memory, whether the clock goes on, and a
/// capability that the compiler was asked for.
#[kernel]
pub unsafe fn environment(to: *mut u32) {
    #[address_space(shared)]
    static mut WORDS: [MaybeUninit<u32>; 32] = [MaybeUninit::uninit(); 32];

    let before = cuda_std::misc::clock();
    let shared = unsafe { WORDS[0].write(1) } as *const u32;
    let is_in = |pointer, space| u32::from(unsafe { is_in_address_space(pointer, space) });
    let answers = [
        is_in(shared, AddressSpace::Shared),
        is_in(shared, AddressSpace::Global),
        is_in(to.cast_const(), AddressSpace::Global),
        cuda_std::mem::dynamic_smem_size(),
        cuda_std::mem::total_smem_size(),
        u32::from(cuda_std::misc::clock() > before),
        u32::from(cfg!(target_feature = "compute_75")),
        u32::from(cfg!(target_feature = "compute_90")),
    ];
    for (i, answer) in answers.into_iter().enumerate() {
        unsafe { *to.add(i) = answer };
    }
}

/// A function that only the device has, as on the device.
#[gpu_only]
fn halved(x: f32) -> f32 {
    (x * 0.5).floor()
}

/// Half of each number, rounded down.
#[kernel]
pub unsafe fn halves(from: &[f32], to: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < from.len() {
        unsafe { *to.add(i) = halved(from[i]) };
    }
}
