//! Tensor maps: what a bulk copy of a tile has to know about the tensor in global memory.
//!
//! A [`TensorMap`] is made from the arguments of `cuTensorMapEncodeTiled`, by the same
//! rules; a broken rule is a [`TensorMapError`] that names the value and the rule, so that
//! a program can use the same check before it asks a GPU's driver. A map is passed as 128
//! bytes. Their layout on a GPU is not public; here it is our own, with a magic number, so
//! that other bytes are recognised.
//!
//! Left out: maps for `im2col`. Interleaved layouts and packed elements of 4 and 6 bits
//! can be described, but copies with them are not simulated.

mod bytes;
mod error;
mod kinds;
mod rules;
mod spec;

pub use bytes::{NotATensorMap, TENSOR_MAP_BYTES};
pub use error::TensorMapError;
pub use kinds::{Element, Fill, Interleave, L2Promotion, Swizzle};
pub use spec::{MAX_RANK, TensorSpec};

/// A tensor in global memory, and the tiles that copies move. It obeys all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    element: Element,
    rank: u8,
    address: u64,
    dims: [u64; MAX_RANK],
    /// Of each dimension; that of the first is an element's size.
    strides: [u64; MAX_RANK],
    box_dims: [u32; MAX_RANK],
    element_strides: [u32; MAX_RANK],
    interleave: Interleave,
    swizzle: Swizzle,
    l2_promotion: L2Promotion,
    fill: Fill,
}

impl TensorMap {
    /// A map of this tensor.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn new(spec: &TensorSpec<'_>) -> Result<Self, TensorMapError> {
        rules::check(spec)?;
        let mut map = Self {
            element: spec.element,
            rank: spec.dims.len() as u8,
            address: spec.address,
            dims: [1; MAX_RANK],
            strides: [0; MAX_RANK],
            box_dims: [1; MAX_RANK],
            element_strides: [1; MAX_RANK],
            interleave: spec.interleave,
            swizzle: spec.swizzle,
            l2_promotion: spec.l2_promotion,
            fill: spec.fill,
        };
        let rank = spec.dims.len();
        map.dims[..rank].copy_from_slice(spec.dims);
        map.strides[0] = u64::from(spec.element.bytes());
        map.strides[1..rank].copy_from_slice(spec.strides);
        map.box_dims[..rank].copy_from_slice(spec.box_dims);
        map.element_strides[..rank].copy_from_slice(spec.element_strides);
        Ok(map)
    }

    /// The map of a tensor of the same shape at another address.
    ///
    /// # Errors
    /// The address does not have the required alignment.
    pub fn at(&self, address: u64) -> Result<Self, TensorMapError> {
        Self::new(&TensorSpec {
            element: self.element,
            address,
            dims: self.dims(),
            strides: self.strides(),
            box_dims: self.box_dims(),
            element_strides: self.element_strides(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            l2_promotion: self.l2_promotion,
            fill: self.fill,
        })
    }

    /// Type of an element.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of dimensions, 1 to 5.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// Address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Elements of each dimension.
    pub fn dims(&self) -> &[u64] {
        &self.dims[..self.rank()]
    }

    /// Bytes from one index to the next, of each dimension but the first.
    pub fn strides(&self) -> &[u64] {
        &self.strides[1..self.rank()]
    }

    /// Elements of a tile in each dimension, skipped ones included.
    pub fn box_dims(&self) -> &[u32] {
        &self.box_dims[..self.rank()]
    }

    /// One of this many elements of a tile is copied, in each dimension.
    pub fn element_strides(&self) -> &[u32] {
        &self.element_strides[..self.rank()]
    }

    /// Layout of channels in global memory.
    pub fn interleave(&self) -> Interleave {
        self.interleave
    }

    /// Order of pieces in shared memory.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// How much is read into the second-level cache.
    pub fn l2_promotion(&self) -> L2Promotion {
        self.l2_promotion
    }

    /// What a tile holds where it reaches out of the tensor.
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// Elements that a copy moves in a dimension.
    pub fn tile_dim(&self, dimension: usize) -> u32 {
        let step = match dimension {
            // Ignored in the dimension of neighbours, as on the hardware.
            0 => 1,
            _ => self.element_strides[dimension],
        };
        self.box_dims[dimension].div_ceil(step)
    }

    /// Bytes that a copy moves, elements out of bounds included: what a barrier has to
    /// expect.
    pub fn tile_bytes(&self) -> u64 {
        let elements = (0..self.rank()).map(|d| u64::from(self.tile_dim(d)));
        elements.product::<u64>() * u64::from(self.element.bytes())
    }
}

#[cfg(test)]
mod tests;
