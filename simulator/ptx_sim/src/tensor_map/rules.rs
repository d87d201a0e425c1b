//! The rules of `cuTensorMapEncodeTiled` for its arguments.
//!
//! Its manual also requires each stride to be a multiple of the one before and no less than
//! what it spans. The driver does not check that, and kernels make use of it (a tensor
//! whose dimensions are named in another order than they lie in memory), so it is not
//! required here either.

use super::error::TensorMapError;
use super::kinds::{Element, Fill, Interleave, Swizzle};
use super::spec::{MAX_RANK, TensorSpec};

/// Strides are shorter than this.
const STRIDE_END: u64 = 1 << 40;

/// A box has fewer bytes. The manual does not say so: an H200's driver took 2^17 and
/// refused 2^18.
const BOX_END: u64 = 1 << 18;

/// The first rule that is broken.
pub(super) fn check(spec: &TensorSpec<'_>) -> Result<(), TensorMapError> {
    lengths(spec)?;
    global(spec)?;
    tile(spec)
}

fn lengths(spec: &TensorSpec<'_>) -> Result<(), TensorMapError> {
    let rank = spec.dims.len();
    if !(1..=MAX_RANK).contains(&rank) {
        return Err(TensorMapError::Rank { rank });
    }
    let lists = [
        ("strides", spec.strides.len(), rank - 1),
        ("box dimensions", spec.box_dims.len(), rank),
        ("element strides", spec.element_strides.len(), rank),
    ];
    for (what, given, takes) in lists {
        if given != takes {
            return Err(TensorMapError::Length {
                what,
                given,
                takes,
                rank,
            });
        }
    }
    if spec.interleave != Interleave::None && rank < 3 {
        return Err(TensorMapError::InterleavedRank {
            interleave: spec.interleave,
            rank,
        });
    }
    Ok(())
}

/// The tensor in global memory.
fn global(spec: &TensorSpec<'_>) -> Result<(), TensorMapError> {
    let is_coarse = spec.interleave == Interleave::B32
        || matches!(spec.element, Element::U4x16Align16 | Element::U6x16Align16);
    let multiple_of = if is_coarse { 32 } else { 16 };
    if !spec.address.is_multiple_of(multiple_of) {
        return Err(TensorMapError::Address {
            address: spec.address,
            multiple_of,
        });
    }
    for (dimension, &value) in spec.dims.iter().enumerate() {
        if !(1..=1 << 32).contains(&value) {
            return Err(TensorMapError::Dim { dimension, value });
        }
    }
    let packed = match spec.element {
        Element::U4x16Align8 => 2,
        Element::U4x16Align16 | Element::U6x16Align16 => 128,
        _ => 1,
    };
    if !spec.dims[0].is_multiple_of(packed) {
        return Err(TensorMapError::PackedDim {
            value: spec.dims[0],
            element: spec.element,
            multiple_of: packed,
        });
    }
    for (i, &value) in spec.strides.iter().enumerate() {
        let dimension = i + 1;
        if !value.is_multiple_of(multiple_of) {
            return Err(TensorMapError::StrideMultiple {
                dimension,
                value,
                multiple_of,
            });
        }
        if value >= STRIDE_END {
            return Err(TensorMapError::StrideSize { dimension, value });
        }
    }
    Ok(())
}

/// The tile that a copy moves.
fn tile(spec: &TensorSpec<'_>) -> Result<(), TensorMapError> {
    for (dimension, &value) in spec.box_dims.iter().enumerate() {
        if !(1..=256).contains(&value) {
            return Err(TensorMapError::Box { dimension, value });
        }
    }
    for (dimension, &value) in spec.element_strides.iter().enumerate() {
        if !(1..=8).contains(&value) {
            return Err(TensorMapError::ElementStride { dimension, value });
        }
    }
    let elements = spec.box_dims[0];
    if matches!(spec.element, Element::U4x16Align16 | Element::U6x16Align16) && elements != 128 {
        return Err(TensorMapError::PackedBox {
            elements,
            element: spec.element,
            takes: 128,
        });
    }
    let bytes = (elements * spec.element.bits()).div_ceil(8);
    if spec.interleave == Interleave::None {
        if !bytes.is_multiple_of(16) {
            return Err(TensorMapError::BoxRow { elements, bytes });
        }
        if let Some(span) = spec.swizzle.span_bytes().filter(|&span| bytes > span) {
            return Err(TensorMapError::SwizzleSpan {
                elements,
                bytes,
                swizzle: spec.swizzle,
                span,
            });
        }
    }
    let all: u64 = spec.box_dims[1..]
        .iter()
        .map(|&dim| u64::from(dim))
        .product();
    let total = all * u64::from(bytes);
    if total >= BOX_END {
        return Err(TensorMapError::BoxSize { bytes: total });
    }
    if spec.interleave == Interleave::B32 && spec.swizzle != Swizzle::B32 {
        return Err(TensorMapError::InterleavedSwizzle {
            swizzle: spec.swizzle,
        });
    }
    if spec.fill == Fill::Nan && !spec.element.is_float() {
        return Err(TensorMapError::FillNan {
            element: spec.element,
        });
    }
    Ok(())
}
