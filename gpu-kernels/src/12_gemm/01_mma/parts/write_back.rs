//! A warp's 64×64 of C from registers to global memory, in whole sectors.
//!
//! As `mma` leaves its sums, a lane has two adjacent elements: a store touches eight rows and
//! writes half a sector of each ([`store_pair`](super::matrices::store_pair)). So C goes through
//! shared memory: pairs in, 16-byte vectors out, eight lanes for each row of 128 bytes. The
//! swizzle keeps both ways free of conflicts. 16 rows, those of one `mma`, go at a time: few
//! enough to fit next to the tiles.

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::Tile;
use cuda_std::vector::UInt4;

use super::fragments::{SumRows, Sums, WARP_SIDE};
use super::matrices::{PITCH_UNIT, Scale, Sizes, element, scaled_pair};
use super::unrolled;

/// Rows that go at a time: those of one `mma`.
const PART_ROWS: u32 = 16;

/// The part of a warp's C that is in shared memory.
type Part = Tile<f16, PART_ROWS, WARP_SIDE, Swizzle<3, 3, 3>>;

/// Shared memory that a warp needs for it.
pub const WARP_BYTES: u32 = PART_ROWS * WARP_SIDE * size_of::<f16>() as u32;

/// Chunks in a row of the part.
const ROW_CHUNKS: u32 = WARP_SIDE / PITCH_UNIT;
/// Rows that a store of the warp has.
const STORE_ROWS: u32 = 32 / ROW_CHUNKS;

// The loops below are written out this many times.
const _: () = assert!(WARP_SIDE / PART_ROWS == 4 && PART_ROWS / STORE_ROWS == 4);

/// Writes the warp's sums to C, the first at `(row, column)`, through the shared memory from
/// `area` on.
///
/// # Safety
///
/// The whole warp calls it together; `area` is aligned to a line and has [`WARP_BYTES`] that
/// nothing else uses; `c` is C, and no other warp writes there.
#[inline(always)]
pub unsafe fn store(
    c: *mut f16,
    sizes: &Sizes,
    scale: Scale,
    area: *mut f16,
    (row, column): (u32, u32),
    sums: &Sums,
) {
    let part = Part::new(area);
    let lane = warp::lane_id();
    unrolled!(I in [0 1 2 3] {
        let at = (row + I as u32 * PART_ROWS, column);
        // Tested once, not for each of 16 pairs.
        if scale.beta == 0.0 {
            let scale = Scale { beta: 0.0, ..scale };
            write(part, c, sizes, scale, at, &sums[I]);
        } else {
            write(part, c, sizes, scale, at, &sums[I]);
        }
        warp::sync_warp(u32::MAX);
        unrolled!(J in [0 1 2 3] {
            let part_row = J as u32 * STORE_ROWS + lane / ROW_CHUNKS;
            let part_column = lane % ROW_CHUNKS * PITCH_UNIT;
            let chunk = UInt4::load(part.chunk::<UInt4>(part_row, part_column));
            store_chunk(c, sizes, (at.0 + part_row, at.1 + part_column), chunk);
        });
        // The next rows use the same memory.
        warp::sync_warp(u32::MAX);
    });
}

/// Writes 16 rows of the warp's sums to shared memory, as elements of C.
#[inline(always)]
unsafe fn write(
    part: Part,
    c: *const f16,
    sizes: &Sizes,
    scale: Scale,
    (row, column): (u32, u32),
    sums: &SumRows,
) {
    let lane = warp::lane_id();
    unrolled!(J in [0 1 2 3 4 5 6 7] {
        let pairs = sums[J].registers;
        unrolled!(HALF in [0 1] {
            const BELOW: u32 = HALF as u32 * 8;
            let (part_row, part_column) = (lane / 4, J as u32 * 8 + lane % 4 * 2);
            let at = (row + part_row + BELOW, column + part_column);
            let pair = [pairs[2 * HALF], pairs[2 * HALF + 1]];
            let pair = scaled_pair(c, sizes, scale, at, pair);
            *part.chunk_below::<u32, BELOW>(part_row, part_column) = pair.to_bits();
        });
    });
}

/// Writes eight consecutive elements of a row of C, or as many as the row has.
#[inline(always)]
unsafe fn store_chunk(c: *mut f16, sizes: &Sizes, (row, column): (u32, u32), chunk: UInt4) {
    if row >= sizes.m || column >= sizes.n {
        return;
    }
    let to = c.add(element(row, column, sizes.c_pitch));
    if column + PITCH_UNIT <= sizes.n {
        chunk.store(to.cast());
        return;
    }
    let pairs = [chunk.x, chunk.y, chunk.z, chunk.w];
    unrolled!(I in [0 1 2 3 4 5 6] {
        if column + (I as u32) < sizes.n {
            *to.add(I) = f16::from_bits((pairs[I / 2] >> (I % 2 * 16)) as u16);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;

    #[test]
    fn neither_way_has_conflicts() {
        let offset = |row, column| Part::offset(row, column) * size_of::<f16>() as u32;
        for j in 0..8 {
            let pairs = cost(4, |lane| offset(lane / 4, j * 8 + lane % 4 * 2));
            assert_eq!(pairs.conflicts, 0);
        }
        let chunks = cost(16, |lane| {
            offset(lane / ROW_CHUNKS, lane % ROW_CHUNKS * PITCH_UNIT)
        });
        assert_eq!(chunks.conflicts, 0);
    }
}
