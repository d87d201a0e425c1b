//! Errors of a tensor map.

use super::kinds::{Element, Interleave, Swizzle};

/// A rule that a tensor map breaks: the value, and what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorMapError {
    /// Too few dimensions, or too many.
    #[error("the tensor has {rank} dimensions, but a tensor map has 1 to 5")]
    Rank {
        /// Dimensions given.
        rank: usize,
    },
    /// A list that does not go with the number of dimensions.
    #[error("{given} {what} are given for a tensor of {rank} dimensions, which takes {takes}")]
    Length {
        /// What the list contains.
        what: &'static str,
        /// Its length.
        given: usize,
        /// What the length must be.
        takes: usize,
        /// Dimensions.
        rank: usize,
    },
    /// An interleaved layout of too few dimensions.
    #[error("the interleaved layout {interleave:?} takes 3 to 5 dimensions, but {rank} are given")]
    InterleavedRank {
        /// The layout.
        interleave: Interleave,
        /// Dimensions.
        rank: usize,
    },
    /// A tensor that does not start at a multiple of 16 or 32 bytes.
    #[error(
        "the tensor starts at {address:#x}, which is {} past a multiple of {multiple_of}: its \
         address must be a multiple of {multiple_of} bytes{}",
        address % multiple_of,
        because(*multiple_of)
    )]
    Address {
        /// The address.
        address: u64,
        /// 16 or 32.
        multiple_of: u64,
    },
    /// A dimension without elements, or with too many.
    #[error("dimension {dimension} has {value} elements, but must have 1 to 2^32")]
    Dim {
        /// The dimension, from 0.
        dimension: usize,
        /// Elements.
        value: u64,
    },
    /// A dimension of packed elements that does not end where it must.
    #[error(
        "dimension 0 has {value} elements, but with {element:?} must have a multiple of {multiple_of}"
    )]
    PackedDim {
        /// Elements.
        value: u64,
        /// Their type.
        element: Element,
        /// What they must be a multiple of.
        multiple_of: u64,
    },
    /// A stride that is not a multiple of 16 or 32 bytes.
    #[error(
        "the stride of dimension {dimension} is {value} bytes, but must be a multiple of \
         {multiple_of} bytes{}: pad the rows, or copy them without a tensor map",
        because(*multiple_of)
    )]
    StrideMultiple {
        /// The dimension, from 1.
        dimension: usize,
        /// The stride in bytes.
        value: u64,
        /// 16 or 32.
        multiple_of: u64,
    },
    /// A stride that is too long.
    #[error("the stride of dimension {dimension} is {value} bytes, but must be less than 2^40")]
    StrideSize {
        /// The dimension, from 1.
        dimension: usize,
        /// The stride in bytes.
        value: u64,
    },
    /// A tile without elements, or with too many.
    #[error("the box has {value} elements in dimension {dimension}, but must have 1 to 256")]
    Box {
        /// The dimension, from 0.
        dimension: usize,
        /// Elements of the box.
        value: u32,
    },
    /// A tile that is too large in total.
    #[error(
        "the box has {bytes} bytes, but must have less than 2^18: an H200's driver takes no more, \
         and a block has no room for it"
    )]
    BoxSize {
        /// Its bytes.
        bytes: u64,
    },
    /// Rows of a tile that are not whole pieces of 16 bytes.
    #[error(
        "a row of the box has {elements} elements of {} bytes, {bytes} bytes, but must be a \
         multiple of 16 bytes",
        bytes / elements
    )]
    BoxRow {
        /// Elements of a row.
        elements: u32,
        /// Their bytes.
        bytes: u32,
    },
    /// A box of packed elements that does not have the only size allowed.
    #[error("a row of the box has {elements} elements, but with {element:?} must have {takes}")]
    PackedBox {
        /// Elements of a row.
        elements: u32,
        /// Their type.
        element: Element,
        /// The required number.
        takes: u32,
    },
    /// Rows of a tile that are longer than the swizzle's.
    #[error(
        "a row of the box has {elements} elements, {bytes} bytes, but with swizzle {swizzle:?} \
         must have at most {span} bytes: make the box narrower, and copy more of them"
    )]
    SwizzleSpan {
        /// Elements of a row.
        elements: u32,
        /// Their bytes.
        bytes: u32,
        /// The swizzle.
        swizzle: Swizzle,
        /// Bytes within which it works.
        span: u32,
    },
    /// A swizzle that does not go with the interleaved layout.
    #[error(
        "the interleaved layout B32 goes only with swizzle B32, but the swizzle is {swizzle:?}"
    )]
    InterleavedSwizzle {
        /// The swizzle.
        swizzle: Swizzle,
    },
    /// A step that is 0, or too long.
    #[error("the element stride of dimension {dimension} is {value}, but must be 1 to 8")]
    ElementStride {
        /// The dimension, from 0.
        dimension: usize,
        /// The step.
        value: u32,
    },
    /// A fill with NaN for a type that has none.
    #[error("elements of {element:?} have no NaN to fill with: fill with zeros")]
    FillNan {
        /// The type.
        element: Element,
    },
}

/// Why 32, where it is.
fn because(multiple_of: u64) -> &'static str {
    match multiple_of {
        32 => " (32 with the interleaved layout B32 and with 16-byte aligned packed elements)",
        _ => "",
    }
}
