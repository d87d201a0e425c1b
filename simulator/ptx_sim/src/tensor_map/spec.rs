//! The specification of a tensor map.

use super::kinds::{Element, Fill, Interleave, L2Promotion, Swizzle};

/// The most dimensions.
pub const MAX_RANK: usize = 5;

/// The parameters of a tensor map; dimension 0 is the one whose elements are neighbours in
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct TensorSpec<'a> {
    /// Type of an element.
    pub element: Element,
    /// Address of the first element, in global memory.
    pub address: u64,
    /// Elements of each dimension; as many as there are dimensions.
    pub dims: &'a [u64],
    /// Bytes from one index to the next, of each dimension but the first.
    pub strides: &'a [u64],
    /// Elements of a tile in each dimension, those included that `element_strides` skips.
    pub box_dims: &'a [u32],
    /// One of this many elements of a tile is copied, in each dimension but the first.
    pub element_strides: &'a [u32],
    /// Layout of channels in global memory.
    pub interleave: Interleave,
    /// Order of 16-byte pieces in shared memory.
    pub swizzle: Swizzle,
    /// How much is read into the second-level cache: ignored here.
    pub l2_promotion: L2Promotion,
    /// What a tile holds where it reaches out of the tensor.
    pub fill: Fill,
}
