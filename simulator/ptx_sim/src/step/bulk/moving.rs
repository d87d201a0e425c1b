//! The movement of bulk copies' bytes: row by row, or 16 bytes at a time where a swizzle
//! permutes them.

use super::super::atomic::update_element;
use crate::bulk::{Row, Span, Tile};
use crate::memory::global::GlobalMemory;
use crate::memory::shared::SharedMemory;
use crate::memory::transfer;
use crate::program::BulkReduction;
use crate::tensor_map::{Element, Swizzle};

/// Bytes of the longest row of a tile.
const MAX_ROW: usize = 2048;

/// Some bytes of shared memory.
pub(super) fn read_shared(shared: &SharedMemory, from: u32, n_bytes: u32) -> Vec<u8> {
    let mut bytes = vec![0; n_bytes as usize];
    // SAFETY: The copy was checked when it started; one host thread at a time works on
    // this memory.
    unsafe {
        let host = shared.host().add(from as usize);
        std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), bytes.len());
    }
    bytes
}

/// Writes bytes to shared memory.
pub(super) fn write_shared(shared: &SharedMemory, to: u32, bytes: &[u8]) {
    // SAFETY: As in `read_shared`.
    unsafe {
        let host = shared.host().add(to as usize);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len());
    }
}

/// Combines bytes with those in shared memory.
pub(super) fn reduce_shared(shared: &SharedMemory, to: u32, bytes: &[u8], op: BulkReduction) {
    // SAFETY: As in `read_shared`; elements are aligned, as the copy is to 16 bytes.
    unsafe { reduce(shared.host().add(to as usize), bytes, op) };
}

/// Combines bytes with those in memory, element by element.
///
/// # Safety
/// There is memory for as many bytes, aligned for the elements, and others access it
/// atomically only.
unsafe fn reduce(host: *mut u8, bytes: &[u8], op: BulkReduction) {
    for (i, element) in bytes.chunks_exact(op.bytes as usize).enumerate() {
        let value = element.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        // SAFETY: The caller's promise.
        unsafe { update_element(host.add(i * op.bytes as usize), op, value) };
    }
}

/// Calls `f` with the host's address of each part of a range of global memory, and where
/// in the range that part is: mostly there is one.
fn each_part(
    memory: &GlobalMemory,
    address: u64,
    n_bytes: usize,
    mut f: impl FnMut(*mut u8, std::ops::Range<usize>),
) {
    let mut at = 0;
    while at < n_bytes {
        let start = address + at as u64;
        // It existed when the copy started, and the launch keeps what it began with.
        let Some(allocation) = memory.find(start).filter(|a| a.contains(start, 1)) else {
            return;
        };
        let Some(host) = allocation.host() else {
            return;
        };
        let offset = start - allocation.base;
        let left = (allocation.size_bytes - offset).min((n_bytes - at) as u64) as usize;
        f(host.as_ptr().wrapping_add(offset as usize), at..at + left);
        at += left;
    }
}

/// Reads global memory.
fn read_global(memory: &GlobalMemory, address: u64, to: &mut [u8]) {
    each_part(memory, address, to.len(), |host, part| {
        // SAFETY: In range of a live allocation.
        unsafe { transfer::read(host, &mut to[part]) };
    });
}

/// Writes global memory, or combines bytes with what is there.
fn write_global(
    memory: &GlobalMemory,
    address: u64,
    bytes: &[u8],
    reduction: Option<BulkReduction>,
) {
    each_part(memory, address, bytes.len(), |host, part| {
        // SAFETY: In range of a live allocation; elements are aligned, as the copy is.
        unsafe {
            match reduction {
                None => transfer::write(host, &bytes[part]),
                Some(op) => reduce(host, &bytes[part], op),
            }
        }
    });
}

/// The pieces of a row that stay together under a swizzle: where they are in the row, and
/// in shared memory.
fn each_piece(
    swizzle: Swizzle,
    first: u32,
    n_bytes: u32,
    mut f: impl FnMut(std::ops::Range<usize>, u32),
) {
    let piece = match swizzle {
        Swizzle::None => return f(0..n_bytes as usize, first),
        Swizzle::B128Atom32Flip8 => 8,
        _ => 16,
    };
    for at in (0..n_bytes).step_by(piece as usize) {
        let end = (at + piece).min(n_bytes);
        f(at as usize..end as usize, swizzle.place(first + at));
    }
}

/// Copies a piece, mostly of 16 bytes.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[inline(always)]
unsafe fn copy_piece(from: *const u8, to: *mut u8, n_bytes: usize) {
    // SAFETY: The caller's promise.
    unsafe {
        match n_bytes {
            16 => std::ptr::copy_nonoverlapping(from, to, 16),
            _ => std::ptr::copy_nonoverlapping(from, to, n_bytes),
        }
    }
}

/// Brings global memory to shared memory.
pub(super) fn bring(memory: &GlobalMemory, shared: &SharedMemory, span: &Span, to: u32) {
    match span {
        &Span::Range { address, bytes } => {
            each_part(memory, address, bytes as usize, |host, part| {
                let mut buffer = vec![0; part.len()];
                // SAFETY: In range of a live allocation.
                unsafe { transfer::read(host, &mut buffer) };
                write_shared(shared, to + part.start as u32, &buffer);
            });
        }
        Span::Tile(tile) => bring_tile(memory, shared, tile, to),
    }
}

fn bring_tile(memory: &GlobalMemory, shared: &SharedMemory, tile: &Tile, to: u32) {
    let mut buffer = [0; MAX_ROW];
    let row = &mut buffer[..tile.row_bytes() as usize];
    let (filler, element) = (tile.filler().to_le_bytes(), tile.element_bytes() as usize);
    tile.each_row(|place| {
        let inside = place.inside.start as usize..place.inside.end as usize;
        if inside.len() < row.len() {
            for bytes in row.chunks_exact_mut(element) {
                bytes.copy_from_slice(&filler[..element]);
            }
        }
        if !inside.is_empty() {
            read_global(memory, place.address, &mut row[inside.clone()]);
        }
        if matches!(tile.map.element(), Element::Tf32 | Element::Tf32Ftz) {
            round_to_tf32(&mut row[inside]);
        }
        let n_bytes = row.len() as u32;
        each_piece(tile.map.swizzle(), to + place.at, n_bytes, |part, at| {
            let from = row[part.clone()].as_ptr();
            // SAFETY: As in `read_shared`.
            unsafe { copy_piece(from, shared.host().add(at as usize), part.len()) };
        });
    });
}

/// Rounds numbers to `tf32`, to the nearest and to even, as an H200 does when it loads a tile
/// of that type. It keeps denormals, even where the type says that they are to be flushed.
fn round_to_tf32(numbers: &mut [u8]) {
    for bytes in numbers.as_chunks_mut().0 {
        let bits = u32::from_le_bytes(*bytes);
        let rounded = if f32::from_bits(bits).is_nan() {
            0x7FFF_E000
        } else {
            (bits + 0xFFF + (bits >> 13 & 1)) & !0x1FFF
        };
        *bytes = rounded.to_le_bytes();
    }
}

/// Takes shared memory to global memory.
pub(super) fn take(
    memory: &GlobalMemory,
    shared: &SharedMemory,
    from: u32,
    span: &Span,
    reduction: Option<BulkReduction>,
) {
    match span {
        &Span::Range { address, bytes } => {
            let buffer = read_shared(shared, from, bytes);
            write_global(memory, address, &buffer, reduction);
        }
        Span::Tile(tile) => take_tile(memory, shared, from, tile, reduction),
    }
}

fn take_tile(
    memory: &GlobalMemory,
    shared: &SharedMemory,
    from: u32,
    tile: &Tile,
    reduction: Option<BulkReduction>,
) {
    let mut buffer = [0; MAX_ROW];
    let row = &mut buffer[..tile.row_bytes() as usize];
    let each = |place: Row| {
        let inside = place.inside.start as usize..place.inside.end as usize;
        if inside.is_empty() {
            return;
        }
        let n_bytes = row.len() as u32;
        each_piece(tile.map.swizzle(), from + place.at, n_bytes, |part, at| {
            // SAFETY: As in `read_shared`.
            unsafe {
                let host = shared.host().add(at as usize);
                let to = row[part.clone()].as_mut_ptr();
                copy_piece(host, to, part.len());
            }
        });
        write_global(memory, place.address, &row[inside], reduction);
    };
    match reduction {
        None => tile.each_stored_row(each),
        Some(_) => tile.each_row(each),
    }
}

#[cfg(test)]
mod tests {
    use super::round_to_tf32;

    #[test]
    fn numbers_are_rounded_as_an_h200_rounds_them() {
        for (from, to) in [
            (0x1, 0),
            (0x8000_0001, 0x8000_0000),
            (0x7F_FFFF, 0x80_0000),
            (0x3F80_1000, 0x3F80_0000),
            (0x3F80_1001, 0x3F80_2000),
            (0x3F80_3000, 0x3F80_4000),
            (0x7F7F_FFFF, 0x7F80_0000),
            (0xFF7F_FFFF, 0xFF80_0000),
            (0x7F80_0000, 0x7F80_0000),
            (0x7FC0_0000, 0x7FFF_E000),
            (0xFFBF_FFFF, 0x7FFF_E000),
            (0x1000, 0),
            (0x3000, 0x4000),
            (0x8A51_2C38, 0x8A51_2000),
            (0xC901_9754, 0xC901_A000),
        ] {
            let mut bytes = u32::to_le_bytes(from);
            round_to_tf32(&mut bytes);
            assert_eq!(u32::from_le_bytes(bytes), to, "{from:#x}");
        }
    }
}
