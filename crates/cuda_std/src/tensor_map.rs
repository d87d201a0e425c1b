//! Tensor maps: what a tensor copy must know of a tensor.

/// A tensor map.
#[repr(C, align(64))]
pub struct TensorMap([u64; 16]);

impl TensorMap {
    /// Where it is.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        core::ptr::from_ref(self) as u64
    }
}
