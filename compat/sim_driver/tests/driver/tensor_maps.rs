//! Tensor maps: which arguments make one, and how to move one to another address.

use std::ffi::c_void;

use sim_driver::Status;
use sim_driver::api::tensor_map::*;

use crate::client::{Client, ok};
use crate::under_test::{call, fails, ok};

/// `CUtensorMap`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Map([u8; 128]);

impl Map {
    fn address(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

/// The arguments of `cuTensorMapEncodeTiled`.
#[derive(Clone, Copy, Debug)]
struct Described {
    element: u32,
    rank: u32,
    address: u64,
    dims: [u64; 5],
    strides: [u64; 4],
    box_dims: [u32; 5],
    element_strides: [u32; 5],
    interleave: u32,
    swizzle: u32,
    l2_promotion: u32,
    fill: u32,
}

const F16: u32 = 6;
const SWIZZLE_128: u32 = 3;

/// 300 rows of 1000 half-precision numbers.
const ROWS: Described = Described {
    element: F16,
    rank: 2,
    address: 0x7000_0000_0000,
    dims: [1000, 300, 1, 1, 1],
    strides: [2048, 1 << 20, 1 << 20, 1 << 20],
    box_dims: [64, 128, 1, 1, 1],
    element_strides: [1; 5],
    interleave: 0,
    swizzle: SWIZZLE_128,
    l2_promotion: 0,
    fill: 0,
};

impl Described {
    fn encode_at(&self, map: *mut c_void) -> u32 {
        call! {
            cuTensorMapEncodeTiled(
                map, self.element, self.rank, self.address as *mut c_void, self.dims.as_ptr(),
                self.strides.as_ptr(), self.box_dims.as_ptr(), self.element_strides.as_ptr(),
                self.interleave, self.swizzle, self.l2_promotion, self.fill
            )
        }
    }

    #[track_caller]
    fn encode(&self) -> Map {
        let mut map = Map([0; 128]);
        ok(self.encode_at(map.address()));
        map
    }

    #[track_caller]
    fn is_refused(&self, what: &str) {
        let mut map = Map([0; 128]);
        let answer = self.encode_at(map.address());
        assert_eq!(answer, Status::INVALID_VALUE.0, "{what}");
    }
}

#[test]
fn a_map_moves_with_its_tensor() {
    let _client = Client::new();
    let mut map = ROWS.encode();
    let there = Described {
        address: ROWS.address + 4096,
        ..ROWS
    };
    assert_ne!(map, there.encode());
    let to = there.address as *mut c_void;
    ok!(cuTensorMapReplaceAddress(map.address(), to));
    assert_eq!(map, there.encode());
    let odd = (there.address + 8) as *mut c_void;
    fails!(cuTensorMapReplaceAddress(map.address(), odd) with INVALID_VALUE);
}

#[test]
fn every_swizzle_has_its_widest_box() {
    let _client = Client::new();
    // By their numbers, with the widest rows in values; 256 is the maximum without a swizzle.
    for (swizzle, widest) in [(0, 256), (1, 16), (2, 32), (3, 64)] {
        let mut described = Described { swizzle, ..ROWS };
        described.box_dims[0] = widest;
        described.encode();
        described.box_dims[0] += 8;
        described.is_refused("a wider box");
    }
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let _client = Client::new();
    let changed = |change: fn(&mut Described)| {
        let mut described = ROWS;
        change(&mut described);
        described
    };
    changed(|d| d.rank = 0).is_refused("no dimensions");
    changed(|d| d.rank = 6).is_refused("six dimensions");
    changed(|d| d.element = 99).is_refused("an unknown type");
    changed(|d| d.address += 8).is_refused("an address that is not aligned");
    changed(|d| d.dims[1] = 0).is_refused("an empty dimension");
    changed(|d| d.dims[1] = (1 << 32) + 1).is_refused("a dimension of more than 2^32");
    changed(|d| d.strides[0] = 2056).is_refused("a stride that is not a multiple of 16");
    changed(|d| d.strides[0] = 1 << 40).is_refused("a stride of 2^40");
    changed(|d| d.box_dims[1] = 0).is_refused("an empty box");
    changed(|d| d.box_dims[1] = 257).is_refused("a box of 257 rows");
    changed(|d| d.box_dims[0] = 4).is_refused("rows of 8 bytes");
    changed(|d| d.element_strides[1] = 0).is_refused("an element stride of 0");
    changed(|d| d.element_strides[1] = 9).is_refused("an element stride of 9");
    changed(|d| d.swizzle = 99).is_refused("an unknown swizzle");
    changed(|d| (d.element, d.fill) = (1, 1)).is_refused("integers that are filled with NaN");
    // The counterparts.
    changed(|d| d.dims[1] = 1 << 32).encode();
    changed(|d| d.strides[0] = (1 << 40) - 16).encode();
    changed(|d| d.box_dims[1] = 256).encode();
    changed(|d| d.element_strides[1] = 8).encode();
    changed(|d| d.fill = 1).encode();
}

#[test]
fn a_map_begins_at_a_multiple_of_64() {
    let _client = Client::new();
    let mut room = [Map([0; 128]), Map([0; 128])];
    let beside = room[0].address().wrapping_byte_add(16);
    assert_eq!(ROWS.encode_at(beside), Status::INVALID_VALUE.0);
    let nowhere = std::ptr::null_mut();
    assert_eq!(ROWS.encode_at(nowhere), Status::INVALID_VALUE.0);
}
