//! Kernels that take structures by value, and tensor maps.
// The fields are what their types say.
#![allow(missing_docs)]

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::{KernelArg, TensorMap, println};

/// Two numbers, as a pair that the compiler might take apart.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C)]
pub struct Pair {
    pub a: u32,
    pub b: f32,
}

/// Fields of many sizes, with padding between them and at the end.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C)]
pub struct Mixed {
    pub small: u8,
    pub wide: f64,
    pub three: [u16; 3],
    pub pair: Pair,
    pub half: f16,
}

/// As large as a tensor map, and with the largest alignment of a structure.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(C, align(16))]
pub struct Map(pub [u64; 16]);

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, KernelArg)]
#[repr(transparent)]
pub struct Wrapped(pub i32);

/// Larger than registers can hold.
#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Table {
    pub values: [u32; 512],
}

/// Stores what it was given.
#[kernel]
pub unsafe fn takes_structures(
    pair: Pair,
    before: u8,
    mixed: Mixed,
    map: Map,
    wrapped: Wrapped,
    out: *mut f64,
) {
    let values = [
        f64::from(pair.a),
        f64::from(pair.b),
        f64::from(before),
        f64::from(mixed.small),
        mixed.wide,
        f64::from(mixed.three[0]),
        f64::from(mixed.three[2]),
        f64::from(mixed.pair.a),
        f64::from(mixed.pair.b),
        f64::from(u32::from(mixed.half.to_bits())),
        map.0[0] as f64,
        map.0[15] as f64,
        f64::from(wrapped.0),
    ];
    let mut i = 0;
    while i < values.len() {
        *out.add(i) = values[i];
        i += 1;
    }
}

/// Each thread's element of a table that the launch carries.
#[kernel(local_memory)]
pub unsafe fn looks_up(table: Table, out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(i) = table.values[i % 512];
}

/// A structure that is passed on, and changed.
#[kernel]
pub unsafe fn changes_its_copy(mut mixed: Mixed, out: *mut f64) {
    #[inline(never)]
    fn sum(mixed: &Mixed) -> f64 {
        mixed.wide + f64::from(mixed.three[1])
    }
    let i = thread::index_1d() as usize;
    mixed.three[1] += i as u16;
    mixed.wide *= 2.0;
    *out.add(i) = sum(&mixed);
    if i == 0 {
        println!("{:.1}", mixed.wide);
    }
}

/// 16 threads copy the words of two maps, and how far the maps' addresses are from a multiple
/// of 64.
#[kernel]
pub unsafe fn reads_maps(
    offsets: &[u32],
    a: &TensorMap,
    pair: Pair,
    b: &TensorMap,
    map: Map,
    out: *mut u64,
) {
    #[inline(never)]
    unsafe fn word(map: &TensorMap, i: usize) -> u64 {
        *(map.address() as *const u64).add(i)
    }
    let i = thread::index_1d() as usize;
    let Some(&offset) = offsets.get(i) else {
        return;
    };
    *out.add(i) = word(a, i);
    let b = if pair.a == offset { a } else { b };
    *out.add(16 + i) = word(b, i);
    if i == 0 {
        *out.add(32) = a.address() % 64;
        *out.add(33) = b.address() % 64;
        *out.add(34) = map.0[15];
    }
}
