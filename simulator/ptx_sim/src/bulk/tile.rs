//! A tile of a tensor: which bytes in global memory, and where they go in shared memory.

use std::ops::Range;

use crate::tensor_map::{Fill, TensorMap};

/// The least that TMA moves, in bytes.
const CHUNK_BYTES: u32 = 16;

/// The tile of a tensor map at some coordinates.
#[derive(Clone, Hash)]
pub(crate) struct Tile {
    pub map: TensorMap,
    /// Of its first element, in the tensor. They may be outside of it.
    pub origin: [i32; 5],
}

/// A row of a tile: elements that are neighbours in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Where it begins, in bytes from the tile's first without a swizzle.
    pub at: u32,
    /// Its part within the tensor, in bytes from its first one.
    pub inside: Range<u32>,
    /// Where that part begins in global memory; means nothing if it is empty.
    pub address: u64,
}

impl Tile {
    /// Bytes of a row.
    pub fn row_bytes(&self) -> u32 {
        self.map.tile_dim(0) * self.map.element().bytes()
    }

    /// Bytes of the tile in shared memory.
    pub fn bytes(&self) -> u64 {
        self.map.tile_bytes()
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u32 {
        self.map.element().bytes()
    }

    /// Calls `f` with every row, in the order in which they lie in shared memory.
    pub fn each_row(&self, f: impl FnMut(Row)) {
        self.rows(&self.inside_of_rows(), f);
    }

    /// The same for a tile that is stored: all of the 16-byte chunk in which a row of the
    /// tensor ends is written, as on an H200.
    pub fn each_stored_row(&self, f: impl FnMut(Row)) {
        let inside = self.inside_of_rows();
        let end = match inside.is_empty() {
            true => inside.end,
            false => inside
                .end
                .next_multiple_of(CHUNK_BYTES)
                .min(self.row_bytes()),
        };
        self.rows(&(inside.start..end), f);
    }

    /// What is wrong with the tile's place: the first coordinate, for a copy one way or
    /// the other.
    pub fn misplaced(&self, is_stored: bool) -> Option<String> {
        let first = self.origin[0];
        let bytes = i64::from(first) * i64::from(self.element_bytes());
        if bytes % i64::from(CHUNK_BYTES) != 0 {
            return Some(format!(
                "the tile's first coordinate is {first}, {bytes} bytes from the start of a row: it \
                 must be a multiple of {CHUNK_BYTES} bytes (an H200 stops with an illegal instruction)"
            ));
        }
        (is_stored && first < 0).then(|| {
            format!(
                "the tile's first coordinate is {first}, and a tile that is stored must not begin \
                 before the rows of the tensor (an H200 stops with an illegal instruction)"
            )
        })
    }

    fn rows(&self, inside: &Range<u32>, mut f: impl FnMut(Row)) {
        let rank = self.map.rank();
        let row_bytes = self.row_bytes();
        let mut index = [0_u32; 5];
        let mut at = 0;
        loop {
            let address = self.row_address(&index, inside.start);
            f(Row {
                at,
                inside: match address {
                    Some(_) => inside.clone(),
                    None => 0..0,
                },
                address: address.unwrap_or(0),
            });
            at += row_bytes;
            // The next one: the first dimension counts fastest, except for that of the
            // elements.
            let mut dimension = 1;
            loop {
                if dimension >= rank {
                    return;
                }
                index[dimension] += 1;
                if index[dimension] < self.map.tile_dim(dimension) {
                    break;
                }
                index[dimension] = 0;
                dimension += 1;
            }
        }
    }

    /// The part of every row that is within the tensor in the dimension of neighbours, in
    /// bytes.
    fn inside_of_rows(&self) -> Range<u32> {
        let first = i64::from(self.origin[0]);
        let n = i64::from(self.map.tile_dim(0));
        let end = i64::try_from(self.map.dims()[0]).unwrap_or(i64::MAX);
        let from = (-first).clamp(0, n);
        let to = (end - first).clamp(from, n);
        let bytes = self.element_bytes();
        from as u32 * bytes..to as u32 * bytes
    }

    /// Where a row is in global memory, from byte `skipped` on; none if it is outside.
    fn row_address(&self, index: &[u32; 5], skipped: u32) -> Option<u64> {
        let first = i64::from(self.origin[0]) * i64::from(self.element_bytes());
        let mut address = self
            .map
            .address()
            .checked_add_signed(first + i64::from(skipped));
        let outer = self.origin.iter().zip(index).skip(1);
        let sizes = self.map.dims()[1..].iter().zip(self.map.strides());
        let steps = &self.map.element_strides()[1..];
        for (((&first, &index), (&dim, &stride)), &step) in outer.zip(sizes).zip(steps) {
            let at = i64::from(first) + i64::from(index) * i64::from(step);
            let at = u64::try_from(at).ok()?;
            if at >= dim {
                return None;
            }
            let offset = at.checked_mul(stride);
            address = address
                .zip(offset)
                .and_then(|(sum, by)| sum.checked_add(by));
        }
        // An address past all others is found to be nowhere.
        Some(address.unwrap_or(u64::MAX))
    }

    /// The bytes of an element that is out of bounds.
    pub fn filler(&self) -> u64 {
        match self.map.fill() {
            Fill::Zeros => 0,
            Fill::Nan => (1 << (8 * self.element_bytes() - 1)) - 1,
        }
    }
}
