//! Sums of 128 rows for one warpgroup.

use crate::gpu_only;

use super::operand::{Factor, Operand, Rows};
#[cfg(target_arch = "nvptx64")]
use super::registers::{products, with_halves};
use super::sums::Multiply;

/// 128 × `REGISTERS` sums, spread over the threads of one warpgroup: the upper 64 rows in the first
/// half of the registers, the lower in the second, each half as [`Sums`](super::Sums) has them.
///
/// Every column of B that is read is used for twice as many rows. Columns are 64, 96 or 128.
pub struct TallSums<T: Factor, const REGISTERS: usize> {
    registers: [T::Sum; REGISTERS],
}

/// Factors that can be multiplied into tall sums of this many registers.
pub trait MultiplyTall<const REGISTERS: usize>: Multiply<REGISTERS> {
    /// See [`TallSums::add_product`].
    #[doc(hidden)]
    unsafe fn add_tall<A: Rows, B: Rows>(
        sums: &mut [Self::Sum; REGISTERS],
        upper: Operand<Self, A>,
        lower: Operand<Self, A>,
        b: Operand<Self, B>,
        keep: bool,
    );
}

impl<T: MultiplyTall<REGISTERS>, const REGISTERS: usize> TallSums<T, REGISTERS> {
    /// All zero.
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            registers: T::ZEROS,
        }
    }

    /// As [`Sums::add_product`](super::Sums::add_product), with 64 rows of A in each of two
    /// operands: eight instructions in one group.
    ///
    /// # Safety
    ///
    /// As [`Sums::add_product`](super::Sums::add_product).
    #[inline(always)]
    pub unsafe fn add_product<A: Rows, B: Rows>(
        &mut self,
        upper: Operand<T, A>,
        lower: Operand<T, A>,
        b: Operand<T, B>,
        keep: bool,
    ) {
        // SAFETY: by this function's own contract.
        unsafe { T::add_tall(&mut self.registers, upper, lower, b, keep) }
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

impl<T: MultiplyTall<REGISTERS>, const REGISTERS: usize> Default for TallSums<T, REGISTERS> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! instructions {
    ($($t:ty: $types:literal, $n:tt $name:literal;)*) => { $(
        impl MultiplyTall<$n> for $t {
            #[gpu_only]
            #[inline(always)]
            unsafe fn add_tall<A: Rows, B: Rows>(
                sums: &mut [f32; $n],
                upper: Operand<Self, A>,
                lower: Operand<Self, A>,
                b: Operand<Self, B>,
                keep: bool,
            ) {
                // SAFETY: by the contract of `add_product`.
                unsafe {
                    with_halves!($n, products!(
                        of concat!("m64n", $name, "k16.f32.", $types, ".", $types),
                        ", 1, 1, {trans_a}, {trans_b}", sums, [u upper l lower], b, keep,
                        [trans_a = const A::IS_TRANSPOSED, trans_b = const B::IS_TRANSPOSED,]
                    ));
                }
            }
        }
    )* };
}

instructions! {
    half::f16: "f16", 64 "64";
    half::f16: "f16", 96 "96";
    half::f16: "f16", 128 "128";
    half::bf16: "bf16", 64 "64";
    half::bf16: "bf16", 96 "96";
    half::bf16: "bf16", 128 "128";
}
