//! Copies of whole tiles by the Tensor Memory Accelerator (TMA): one thread starts them, and no register is
//! needed. From sm_90 on.
//!
//! A [`TensorMap`], made on the host and passed to the kernel, describes how a tensor of one to
//! five axes lies in memory, how large a box of it is, and how the box lies in shared memory (its
//! *swizzle*). A copy then needs only a place in the tensor and a place in shared memory. Parts
//! of a box outside the tensor are filled with zeros, and not written on the way back (except
//! within a chunk of 16 bytes).
//!
//! *Into shared memory* ([`load_box`]) a copy completes at a barrier in memory: one thread arrives
//! and announces how many bytes will come
//! ([`mbarrier::arrive_expecting`](crate::mbarrier::arrive_expecting)), and every thread that waits
//! for the phase sees them.
//!
//! *Out of shared memory* ([`store_box`]) copies are gathered in groups, like those of
//! [`cp_async`](crate::cp_async): [`commit_group`], [`wait_group_read`] (shared memory may be
//! written again), [`wait_group`] (the bytes have been written).
//!
//! TMA does not see what threads have written on its own: every thread that has written
//! shared memory calls [`fence`], then comes a barrier, then the copy.
//!
//! | function | bytes |
//! |---|---|
//! | [`load_box`], [`load_box_to_all`] | a box of 1 to 5 axes |
//! | [`store_box`] | a box of 1 to 5 axes |
//! | [`load`], [`store`] | a row of bytes, without a map |
//!
//! Left out: `im2col`, reductions (`cp.reduce.async.bulk`), cache hints.
//!
//! Source: PTX ISA, `cp.async.bulk`, `cp.async.bulk.tensor`.

use crate::gpu_only;
use crate::tensor_map::TensorMap;

/// A place in a tensor of one to five axes: that of the box's first element, the fastest
/// axis first. It may be outside the tensor. Along the fastest axis it must be a multiple of 16
/// bytes, and not negative for a box that is stored; otherwise an H200 stops with an illegal
/// instruction.
pub trait Coordinates: sealed::Coordinates {}

mod sealed {
    use crate::tensor_map::TensorMap;

    #[doc(hidden)]
    pub trait Coordinates: Copy {
        unsafe fn load(self, shared: u32, map: &TensorMap, barrier: u32);
        unsafe fn load_to_all(self, shared: u32, map: &TensorMap, barrier: u32, blocks: u16);
        unsafe fn store(self, map: &TensorMap, shared: u32);
    }
}

macro_rules! places {
    ($($n:literal: $axes:literal, $($name:ident $i:literal)*;)*) => { $(
        impl Coordinates for [i32; $n] {}

        impl sealed::Coordinates for [i32; $n] {
            #[gpu_only]
            #[inline(always)]
            unsafe fn load(self, shared: u32, map: &TensorMap, barrier: u32) {
                // SAFETY: by the contract of `load_box`.
                unsafe {
                    ptx!(
                        concat!(
                            "cp.async.bulk.tensor.", $n, "d.shared::cluster.global.tile\
                             .mbarrier::complete_tx::bytes [{shared}], [{map}, {{", $axes,
                            "}}], [{barrier}];"
                        ),
                        shared = in(reg32) shared,
                        map = in(reg64) map.address(),
                        barrier = in(reg32) barrier,
                        $($name = in(reg32) self[$i]),*
                    );
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn load_to_all(self, shared: u32, map: &TensorMap, barrier: u32, blocks: u16) {
                // SAFETY: by the contract of `load_box_to_all`.
                unsafe {
                    ptx!(
                        concat!(
                            "cp.async.bulk.tensor.", $n, "d.shared::cluster.global.tile\
                             .mbarrier::complete_tx::bytes.multicast::cluster [{shared}], [{map}, {{",
                            $axes, "}}], [{barrier}], {blocks};"
                        ),
                        shared = in(reg32) shared,
                        map = in(reg64) map.address(),
                        barrier = in(reg32) barrier,
                        blocks = in(reg16) blocks,
                        $($name = in(reg32) self[$i]),*
                    );
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn store(self, map: &TensorMap, shared: u32) {
                // SAFETY: by the contract of `store_box`.
                unsafe {
                    ptx!(
                        concat!(
                            "cp.async.bulk.tensor.", $n, "d.global.shared::cta.tile.bulk_group \
                             [{map}, {{", $axes, "}}], [{shared}];"
                        ),
                        map = in(reg64) map.address(),
                        shared = in(reg32) shared,
                        $($name = in(reg32) self[$i]),*
                    );
                }
            }
        }
    )* };
}

places! {
    1: "{x}", x 0;
    2: "{x}, {y}", x 0 y 1;
    3: "{x}, {y}, {z}", x 0 y 1 z 2;
    4: "{x}, {y}, {z}, {u}", x 0 y 1 z 2 u 3;
    5: "{x}, {y}, {z}, {u}, {v}", x 0 y 1 z 2 u 3 v 4;
}

/// Fetches the map itself ahead of its first use.
#[gpu_only]
#[inline(always)]
pub fn prefetch_map(map: &TensorMap) {
    // SAFETY: a hint.
    unsafe { ptx!("prefetch.tensormap [{map}];", map = in(reg64) map.address()) }
}

/// Starts the copy of a box to `shared`. The copy counts its bytes, including those outside the
/// tensor, towards what the barrier expects.
///
/// # Safety
///
/// `shared` is the address of room for a box in this block's shared memory, a multiple of 128, or
/// of 1024 for a swizzle of 128 bytes (512 and 256 for 64 and 32); `barrier` is that of a barrier
/// that has been [published](crate::mbarrier::publish). Until the barrier's phase has
/// ended nothing accesses the room. One thread calls it, not each.
#[inline(always)]
pub unsafe fn load_box(shared: u32, map: &TensorMap, place: impl Coordinates, barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe { place.load(shared, map, barrier) }
}

/// [`load_box`] into every block of the cluster whose bit is set in `blocks`, at the same
/// address in each, where the copy completes at the block's own barrier at `barrier`.
///
/// # Safety
///
/// As [`load_box`], in each of these blocks, none of which has ended.
#[inline(always)]
pub unsafe fn load_box_to_all(
    shared: u32,
    map: &TensorMap,
    place: impl Coordinates,
    barrier: u32,
    blocks: u16,
) {
    // SAFETY: by this function's own contract.
    unsafe { place.load_to_all(shared, map, barrier, blocks) }
}

/// Adds the copy of a box from `shared` to memory to the thread's open group. Where a row of the
/// tensor ends within 16 bytes, all of them are written: what follows must be padding.
///
/// # Safety
///
/// `shared` is the address of a box, aligned as for [`load_box`], whose writers have called
/// [`fence`] before a barrier. Until the group has been waited for nothing writes it, and no other
/// thread accesses the elements in memory.
#[inline(always)]
pub unsafe fn store_box(map: &TensorMap, place: impl Coordinates, shared: u32) {
    // SAFETY: by this function's own contract.
    unsafe { place.store(map, shared) }
}

/// Starts the copy of `n_bytes` bytes to `shared`, which counts them towards what the barrier
/// expects.
/// # Safety
///
/// As [`load_box`]; `shared`, `from` and `n_bytes` are multiples of 16.
#[gpu_only]
#[inline(always)]
pub unsafe fn load<T>(shared: u32, from: *const T, n_bytes: u32, barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "{{",
            ".reg .b64 global;",
            "cvta.to.global.u64 global, {from};",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{shared}], [global], {n_bytes}, [{barrier}];",
            "}}",
            shared = in(reg32) shared, from = in(reg64) from, n_bytes = in(reg32) n_bytes,
            barrier = in(reg32) barrier
        );
    }
}

/// Adds the copy of `n_bytes` bytes from `shared` to memory to the thread's open group.
///
/// # Safety
///
/// As [`store_box`]; `to`, `shared` and `n_bytes` are multiples of 16.
#[gpu_only]
#[inline(always)]
pub unsafe fn store<T>(to: *mut T, shared: u32, n_bytes: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "{{",
            ".reg .b64 global;",
            "cvta.to.global.u64 global, {to};",
            "cp.async.bulk.global.shared::cta.bulk_group [global], [{shared}], {n_bytes};",
            "}}",
            to = in(reg64) to, shared = in(reg32) shared, n_bytes = in(reg32) n_bytes
        );
    }
}

/// Closes the thread's group of copies out of shared memory.
#[gpu_only]
#[inline(always)]
pub fn commit_group() {
    // SAFETY: touches no memory.
    unsafe { ptx!("cp.async.bulk.commit_group;") }
}

/// Waits until no more than `N` of the thread's groups still read shared memory.
#[gpu_only]
#[inline(always)]
pub fn wait_group_read<const N: u32>() {
    // SAFETY: waits.
    unsafe { ptx!("cp.async.bulk.wait_group.read {n};", n = const N) }
}

/// Waits until no more than `N` of the thread's groups are in flight.
#[gpu_only]
#[inline(always)]
pub fn wait_group<const N: u32>() {
    // SAFETY: waits.
    unsafe { ptx!("cp.async.bulk.wait_group {n};", n = const N) }
}

/// Makes what this thread has written to shared memory visible to copies and
/// [`wgmma`](crate::wgmma) that are started after the next barrier.
#[gpu_only]
#[inline(always)]
pub fn fence() {
    // SAFETY: it only orders accesses.
    unsafe { ptx!("fence.proxy.async.shared::cta;") }
}
