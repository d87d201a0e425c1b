//! A tile of a tensor: which bytes in global memory, and where they go in shared memory.

use std::ops::Range;

use crate::tensor_map::{Fill, TensorMap};

/// The tile of a tensor map at some coordinates.
#[derive(Clone)]
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
    pub fn each_row(&self, mut f: impl FnMut(Row)) {
        let rank = self.map.rank();
        let row_bytes = self.row_bytes();
        let inside = self.inside_of_rows();
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
            // The next one: the first dimension counts fastest, the elements' own apart.
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
        let mut offset = i128::from(first) + i128::from(skipped);
        let outer = self.origin.iter().zip(index).skip(1);
        let sizes = self.map.dims()[1..].iter().zip(self.map.strides());
        let steps = &self.map.element_strides()[1..];
        for (((&first, &index), (&dim, &stride)), &step) in outer.zip(sizes).zip(steps) {
            let at = i64::from(first) + i64::from(index) * i64::from(step);
            let at = u64::try_from(at).ok()?;
            if at >= dim {
                return None;
            }
            offset += i128::from(at) * i128::from(stride);
        }
        let address = i128::from(self.map.address()) + offset;
        // What is past all addresses is found to be nowhere.
        Some(u64::try_from(address).unwrap_or(u64::MAX))
    }

    /// The bytes of an element that is out of bounds.
    pub fn filler(&self) -> u64 {
        match self.map.fill() {
            Fill::Zeros => 0,
            Fill::Nan => (1 << (8 * self.element_bytes() - 1)) - 1,
        }
    }
}
