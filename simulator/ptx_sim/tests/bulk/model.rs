//! Tiles by the manual, element by element: the reference for the simulator.

use ptx_sim::tensor_map::{Fill, TensorMap};

/// An element of a tile: where it is in shared memory and, if it is in bounds, in global
/// memory, in bytes from the tensor's first element.
pub struct Element {
    pub shared: u32,
    pub global: Option<usize>,
}

/// Bytes of which all are written if one is, as an H200 does.
const CHUNK: u64 = 16;

/// All elements of the tile at `origin`, which begins at `shared`; those of a chunk in which a row
/// ends count as in bounds, if whole chunks are asked for.
pub fn elements(map: &TensorMap, origin: &[i32], shared: u32, in_chunks: bool) -> Vec<Element> {
    let bytes = map.element().bytes();
    let counts: Vec<u32> = (0..map.rank()).map(|d| map.tile_dim(d)).collect();
    let n: u32 = counts.iter().product();
    (0..n)
        .map(|number| {
            let mut left = number;
            let mut offset = Some(0_usize);
            for d in 0..map.rank() {
                let index = left % counts[d];
                left /= counts[d];
                let step = if d == 0 { 1 } else { map.element_strides()[d] };
                let at = i64::from(origin[d]) + i64::from(index * step);
                let stride = match d {
                    0 => u64::from(bytes),
                    _ => map.strides()[d - 1],
                };
                let mut end = map.dims()[d];
                if in_chunks && d == 0 {
                    end = (end * u64::from(bytes)).next_multiple_of(CHUNK) / u64::from(bytes);
                }
                let is_inside = at >= 0 && at < end as i64;
                offset = offset
                    .filter(|_| is_inside)
                    .map(|offset| offset + at as usize * stride as usize);
            }
            Element {
                shared: map.swizzle().place(shared + number * bytes),
                global: offset,
            }
        })
        .collect()
}

/// What shared memory holds from `tile` on after a tile was loaded, where it held `before`.
pub fn loaded(
    map: &TensorMap,
    origin: &[i32],
    (tensor, mut shared): (&[u8], Vec<u8>),
    first: u32,
) -> Vec<u8> {
    let n = map.element().bytes() as usize;
    let filler: u64 = match map.fill() {
        Fill::Zeros => 0,
        Fill::Nan => u64::MAX >> (65 - 8 * n),
    };
    for element in elements(map, origin, first, false) {
        let at = element.shared as usize;
        let bytes = match element.global {
            Some(from) => tensor[from..from + n].to_vec(),
            None => filler.to_le_bytes()[..n].to_vec(),
        };
        shared[at..at + n].copy_from_slice(&bytes);
    }
    shared
}

/// What the tensor holds after a tile in shared memory was stored.
pub fn stored(
    map: &TensorMap,
    origin: &[i32],
    (shared, mut tensor): (&[u8], Vec<u8>),
    first: u32,
) -> Vec<u8> {
    let n = map.element().bytes() as usize;
    for element in elements(map, origin, first, true) {
        if let Some(to) = element.global {
            let from = element.shared as usize;
            tensor[to..to + n].copy_from_slice(&shared[from..from + n]);
        }
    }
    tensor
}
