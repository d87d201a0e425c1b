//! Copies of tiles of tensors.

use std::ops::Range;

use super::super::access::{Addresses, Request, locate, read8, read64};
use super::super::context::Step;
use super::start::{
    address_of, bad, come, for_each_target, go, require_aligned, require_there, word_of,
};
use crate::bulk::{Row, Source, Span, Tile};
use crate::checks::access::BulkTouch;
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::WARP_SIZE;
use crate::program::{AddressOperand, AtomicKind, AtomicType, BulkReduction, TileCopy};
use crate::stop::Stop;
use crate::tensor_map::{Element, Interleave, TENSOR_MAP_BYTES, TensorMap};
use ptx::ir::Space;

/// The alignment of a tile's first byte in shared memory.
const TILE_ALIGN: u64 = 128;

/// Starts a lane's copy.
pub(super) fn start<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &TileCopy,
    lane: usize,
) -> Result<(), Stop> {
    let rank = op.coordinates.len();
    let map = read_map(step, op.map, (rank, lane))?;
    let mut origin = [0; 5];
    for (at, &slot) in origin.iter_mut().zip(&op.coordinates) {
        *at = word_of(step, slot, lane).cast_signed();
    }
    let tile = Tile { map, origin };
    if let Some(message) = tile.misplaced(op.signal.is_none()) {
        return Err(bad(lane, message));
    }
    let shared = address_of(step, op.shared, lane);
    let bytes = u32::try_from(tile.bytes()).unwrap_or(u32::MAX);
    let Some(signal) = &op.signal else {
        return store(step, (&tile, bytes), shared, op.reduction, lane);
    };
    let target = (shared, signal, bytes, TILE_ALIGN);
    let mut rows = None;
    for_each_target(step, lane, target, |step, to, barrier| {
        if rows.is_none() {
            rows = Some(rows_in_tensor(
                step,
                lane,
                &tile,
                (AccessKind::Load, false),
            )?);
        }
        // Reported once, however many blocks it goes to.
        let reads = BulkTouch {
            space: Space::Global,
            ranges: rows.as_mut().map(std::mem::take).unwrap_or_default(),
        };
        let span = Span::Tile(Box::new(tile.clone()));
        let source = (Source::Global(span), reads);
        come(step, lane, (to, bytes, barrier), source, None);
        Ok(())
    })
}

/// Starts a lane's copy to the tensor.
fn store<O: Observer>(
    step: &mut Step<'_, '_, O>,
    (tile, bytes): (&Tile, u32),
    from: u64,
    reduction: Option<AtomicKind>,
    lane: usize,
) -> Result<(), Stop> {
    let reduction = match reduction {
        Some(kind) => Some(reduction_of(kind, tile.map.element(), lane)?),
        None => None,
    };
    require_aligned(lane, "the tile", Space::Shared, from, TILE_ALIGN)?;
    require_there(step, lane, (Space::Shared, AccessKind::Load), from, bytes)?;
    let writes = BulkTouch {
        space: Space::Global,
        ranges: rows_in_tensor(step, lane, tile, (AccessKind::Store, reduction.is_none()))?,
    };
    let reads = BulkTouch {
        space: Space::Shared,
        // Only the checks ask which.
        ranges: if O::ON && step.launch.checks {
            stored_part(tile, from as u32, reduction.is_none())
        } else {
            Vec::new()
        },
    };
    let target = Span::Tile(Box::new(tile.clone()));
    go(step, lane, (from, target, reduction), (reads, writes));
    Ok(())
}

/// Reads a tensor map, which has to be one of this many dimensions, of a kind that can be
/// copied.
pub(super) fn read_map<O: Observer>(
    step: &Step<'_, '_, O>,
    operand: AddressOperand,
    (rank, lane): (usize, usize),
) -> Result<TensorMap, Stop> {
    let mut lanes = [0; WARP_SIZE];
    lanes[lane] = address_of(step, operand, lane);
    let mut addresses = Addresses::of(lanes);
    let (space, _) = addresses.resolve(Space::Generic, 1 << lane);
    let address = addresses.lanes[lane];
    if matches!(space, Space::Shared | Space::Local) {
        let message = "a tensor map lies in a kernel's parameters, in constant or in global \
                       memory, not in shared or local memory: take its address where it is, and \
                       do not copy it to a variable";
        return Err(bad(lane, message.to_owned()));
    }
    let bytes = map_bytes(step, (space, address), lane)?;
    let map = TensorMap::from_bytes(&bytes).map_err(|why| bad(lane, why.to_string()))?;
    if !address.is_multiple_of(64) {
        let message = format!(
            "the tensor map lies at {address:#x}, which is {} past a multiple of 64: a tensor map \
             must be aligned to 64 bytes",
            address % 64
        );
        return Err(bad(lane, message));
    }
    if rank != map.rank() {
        let message = format!(
            "the instruction gives {rank} coordinate{}, but the tensor map has {} dimensions",
            if rank == 1 { "" } else { "s" },
            map.rank()
        );
        return Err(bad(lane, message));
    }
    if map.interleave() != Interleave::None {
        let reason = "tensor maps of interleaved layouts are not simulated";
        return Err(Stop::unsupported("cp.async.bulk.tensor", reason));
    }
    if map.element().is_packed() {
        let reason = "tensor maps of elements of 4 and 6 bits are not simulated";
        return Err(Stop::unsupported("cp.async.bulk.tensor", reason));
    }
    Ok(map)
}

/// The bytes of a tensor map.
fn map_bytes<O: Observer>(
    step: &Step<'_, '_, O>,
    (space, address): (Space, u64),
    lane: usize,
) -> Result<[u8; TENSOR_MAP_BYTES], Stop> {
    let mut addresses = [0; WARP_SIZE];
    let mut host = |at: u64, bytes: u32| {
        addresses[lane] = address.wrapping_add(at);
        let request = Request {
            space,
            bytes,
            mask: 1 << lane,
            kind: AccessKind::Load,
            addresses: &addresses,
            stride: None,
        };
        let located = locate(step, request)?;
        Ok::<_, Stop>(located.host(&addresses, lane))
    };
    let mut bytes = [0; TENSOR_MAP_BYTES];
    let (words, _) = bytes.as_chunks_mut::<8>();
    let by_words = (0..).step_by(8).zip(words).try_for_each(|(at, word)| {
        // SAFETY: `locate` found eight aligned bytes.
        *word = unsafe { read64(host(at, 8)?) }.to_le_bytes();
        Ok::<_, Stop>(())
    });
    if by_words.is_err() {
        // Byte by byte, to find the one that is not there; and the map may not be aligned.
        for (at, byte) in (0..).zip(&mut bytes) {
            // SAFETY: `locate` found the byte.
            *byte = unsafe { read8(host(at, 1)?) };
        }
    }
    Ok(bytes)
}

/// The bytes of a tile that are within the tensor, or in whole chunks, which have to exist.
fn rows_in_tensor<O: Observer>(
    step: &Step<'_, '_, O>,
    lane: usize,
    tile: &Tile,
    (kind, in_chunks): (AccessKind, bool),
) -> Result<Vec<Range<u64>>, Stop> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut outcome = Ok(());
    let each = |row: Row| {
        let bytes = row.inside.end - row.inside.start;
        if bytes == 0 || outcome.is_err() {
            return;
        }
        outcome = require_there(step, lane, (Space::Global, kind), row.address, bytes);
        if O::ON && outcome.is_ok() {
            ranges.push(row.address..row.address + u64::from(bytes));
        }
    };
    match in_chunks {
        true => tile.each_stored_row(each),
        false => tile.each_row(each),
    }
    outcome.map(|()| ranges)
}

/// The bytes of a tile in shared memory at `from` that a copy to the tensor stores: what
/// is out of bounds it leaves out.
fn stored_part(tile: &Tile, from: u32, in_chunks: bool) -> Vec<Range<u64>> {
    let swizzle = tile.map.swizzle();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let each = |row: Row| {
        let mut at = row.inside.start;
        while at < row.inside.end {
            let end = (at / 8 * 8 + 8).min(row.inside.end);
            let place = u64::from(swizzle.place(from + row.at + at));
            let past = place + u64::from(end - at);
            match ranges.last_mut() {
                Some(last) if last.end == place => last.end = past,
                _ => ranges.push(place..past),
            }
            at = end;
        }
    };
    match in_chunks {
        true => tile.each_stored_row(each),
        false => tile.each_row(each),
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = last.end == next.start;
        if touches {
            last.end = next.end;
        }
        touches
    });
    ranges
}

/// What a reduction does with elements of a tensor's type.
fn reduction_of(kind: AtomicKind, element: Element, lane: usize) -> Result<BulkReduction, Stop> {
    use AtomicKind::{Add, Decrement, Increment, Max, Min};
    let ty = match element {
        Element::S32 | Element::S64 => AtomicType::Signed,
        Element::F16 => AtomicType::F16,
        Element::Bf16 => AtomicType::Bf16,
        Element::F32 | Element::F32Ftz | Element::Tf32 | Element::Tf32Ftz => AtomicType::F32,
        Element::F64 => AtomicType::F64,
        _ => AtomicType::Unsigned,
    };
    let is_wide = element.bytes() >= 4;
    let fits = match (kind, ty) {
        (Increment | Decrement, _) => element == Element::U32,
        (Add, AtomicType::Signed | AtomicType::Unsigned) => is_wide && element != Element::S64,
        (Add, _) => true,
        (Min | Max, AtomicType::F32 | AtomicType::F64) => false,
        (Min | Max, AtomicType::F16 | AtomicType::Bf16) => true,
        (Min | Max, AtomicType::Signed | AtomicType::Unsigned) => is_wide,
        (_, AtomicType::Signed | AtomicType::Unsigned) => is_wide && element != Element::S64,
        _ => false,
    };
    if !fits {
        let message = format!("a reduction by {kind:?} has no form for elements of {element:?}");
        return Err(bad(lane, message));
    }
    Ok(BulkReduction {
        kind,
        ty,
        bytes: element.bytes(),
    })
}
