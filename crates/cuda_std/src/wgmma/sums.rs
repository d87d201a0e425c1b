//! The sums of a warpgroup's products.

use crate::gpu_only;
use crate::mma::map::Position;

use super::operand::{Factor, Operand, Rows};
#[cfg(target_arch = "nvptx64")]
use super::registers::{finish, products, with_registers};
use super::{E4m3, E5m2, Tf32};

/// 64 × 2·`REGISTERS` sums, spread over the threads of a warpgroup; [`position`] says how.
pub struct Sums<T: Factor, const REGISTERS: usize> {
    registers: [T::Sum; REGISTERS],
}

/// Factors that can be multiplied into sums of this many registers.
pub trait Multiply<const REGISTERS: usize>: Factor {
    /// As a constant: an array that is filled in a loop is not kept in registers.
    #[doc(hidden)]
    const ZEROS: [Self::Sum; REGISTERS];
    /// See [`Sums::add_product`].
    #[doc(hidden)]
    unsafe fn add<A: Rows, B: Rows>(
        sums: &mut [Self::Sum; REGISTERS],
        a: Operand<Self, A>,
        b: Operand<Self, B>,
        keep: bool,
    );
    /// See [`Sums::finish`].
    #[doc(hidden)]
    unsafe fn finish(sums: &mut [Self::Sum; REGISTERS]);
}

impl<T: Multiply<REGISTERS>, const REGISTERS: usize> Sums<T, REGISTERS> {
    /// Columns of B, and of the sums.
    pub const N: u32 = 2 * REGISTERS as u32;

    /// All zero.
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            registers: T::ZEROS,
        }
    }

    /// Adds A·B, which are 128 bytes deep, as four instructions and a group of their own. The old
    /// sums are kept, or ignored: so nothing needs clearing between two tiles.
    ///
    /// It is asynchronous. Until it has been waited for, by [`wait_for_all_but`] or
    /// [`finish`](Self::finish), nothing may write the tiles.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup call it together, with the same operands. The tiles have been
    /// filled, and threads that wrote them by ordinary stores have called
    /// [`bulk::fence`](crate::bulk::fence) before a barrier.
    #[inline(always)]
    pub unsafe fn add_product<A: Rows, B: Rows>(
        &mut self,
        a: Operand<T, A>,
        b: Operand<T, B>,
        keep: bool,
    ) {
        // SAFETY: by this function's own contract.
        unsafe { T::add(&mut self.registers, a, b, keep) }
    }

    /// Waits for all products, and lends this thread's sums, to be read or changed.
    ///
    /// # Safety
    ///
    /// All threads of the warpgroup call it together.
    #[inline(always)]
    pub unsafe fn finish(&mut self) -> &mut [T::Sum; REGISTERS] {
        // SAFETY: by this function's own contract.
        unsafe { T::finish(&mut self.registers) };
        &mut self.registers
    }
}

impl<T: Multiply<REGISTERS>, const REGISTERS: usize> Default for Sums<T, REGISTERS> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

/// Row and column, within 64×N sums, of a register of a thread of the warpgroup.
#[inline(always)]
pub const fn position(thread: u32, register: u32) -> Position {
    let (warp, lane) = (thread / 32 % 4, thread % 32);
    Position {
        row: warp * 16 + register / 2 % 2 * 8 + lane / 4,
        column: register / 4 * 8 + lane % 4 * 2 + register % 2,
    }
}

/// Waits until at most the `N` products that were added last are in flight. The tiles of the
/// others may be written again; their sums must not be read yet.
///
/// # Safety
///
/// All threads of the warpgroup call it together.
#[gpu_only]
#[inline(always)]
pub unsafe fn wait_for_all_but<const N: u32>() {
    // SAFETY: by this function's own contract.
    unsafe { ptx!("wgmma.wait_group.sync.aligned {n};", n = const N) }
}

macro_rules! instructions {
    ($t:ty, $zero:literal, $k:literal, $types:literal, $end:literal, $operands:tt; $($registers:tt $n:literal)*) => { $(
        impl Multiply<$registers> for $t {
            const ZEROS: [Self::Sum; $registers] = [$zero; $registers];

            #[gpu_only]
            #[inline(always)]
            unsafe fn add<A: Rows, B: Rows>(
                sums: &mut [Self::Sum; $registers],
                a: Operand<Self, A>,
                b: Operand<Self, B>,
                keep: bool,
            ) {
                // SAFETY: by the contract of `add_product`.
                unsafe {
                    with_registers!($registers, products!(
                        of concat!("m64n", $n, "k", $k, ".", $types), $end, sums, [a a], b, keep, $operands
                    ));
                }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn finish(sums: &mut [Self::Sum; $registers]) {
                // SAFETY: it waits.
                unsafe { with_registers!($registers, finish!(sums)) }
            }
        }
    )* };
}

macro_rules! of_every_width {
    ($($t:ty: $zero:literal, $k:literal, $types:literal, $end:literal, $operands:tt;)*) => { $(
        instructions! {
            $t, $zero, $k, $types, $end, $operands;
            4 8 8 16 16 32 32 64 48 96 64 128 96 192 128 256
        }
    )* };
}

of_every_width! {
    half::f16: 0.0, 16, "f32.f16.f16", ", 1, 1, {trans_a}, {trans_b}",
        [trans_a = const A::IS_TRANSPOSED, trans_b = const B::IS_TRANSPOSED,];
    half::bf16: 0.0, 16, "f32.bf16.bf16", ", 1, 1, {trans_a}, {trans_b}",
        [trans_a = const A::IS_TRANSPOSED, trans_b = const B::IS_TRANSPOSED,];
    Tf32: 0.0, 8, "f32.tf32.tf32", ", 1, 1", [];
    E4m3: 0.0, 32, "f32.e4m3.e4m3", ", 1, 1", [];
    E5m2: 0.0, 32, "f32.e5m2.e5m2", ", 1, 1", [];
    i8: 0, 32, "s32.s8.s8", "", [];
    u8: 0, 32, "s32.u8.u8", "", [];
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn every_sum_is_in_one_register() {
        let mut seen = [[false; 32]; 64];
        for thread in 0..128 {
            for register in 0..16 {
                let at = position(thread, register);
                let seen = &mut seen[at.row as usize][at.column as usize];
                assert!(!*seen, "{at:?} twice");
                *seen = true;
            }
        }
        assert!(seen.iter().flatten().all(|&seen| seen));
    }
}
