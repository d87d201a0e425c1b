//! Swizzle functions.

/// CuTe's bit form.
pub struct Swizzle<const B: u32, const M: u32, const S: u32>;

impl<const B: u32, const M: u32, const S: u32> Swizzle<B, M, S> {
    /// Swizzled offset.
    #[inline(always)]
    pub const fn apply(offset: u32) -> u32 {
        let mask = ((1 << B) - 1) << M;
        offset ^ ((offset >> S) & mask)
    }
}
