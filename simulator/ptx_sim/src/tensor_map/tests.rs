//! Every rule broken once, and maps converted to bytes and back.

use super::{
    Element, Fill, Interleave, L2Promotion, NotATensorMap, Swizzle, TensorMap, TensorMapError,
    TensorSpec,
};

/// A matrix of 1000 × 300 half-precision numbers in tiles of 64 × 128.
const MATRIX: TensorSpec<'static> = TensorSpec {
    element: Element::F16,
    address: 0x7000_0000_0100,
    dims: &[1000, 300],
    strides: &[2048],
    box_dims: &[64, 128],
    element_strides: &[1, 1],
    interleave: Interleave::None,
    swizzle: Swizzle::B128,
    l2_promotion: L2Promotion::B128,
    fill: Fill::Zeros,
};

fn refused(change: impl FnOnce(&mut TensorSpec<'static>)) -> TensorMapError {
    let mut spec = MATRIX;
    change(&mut spec);
    TensorMap::new(&spec).expect_err("a rule is broken")
}

#[test]
fn a_map_is_bytes_and_back() {
    let map = TensorMap::new(&MATRIX).expect("all rules are kept");
    assert_eq!(map.tile_bytes(), 64 * 128 * 2);
    assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map));
    let five = TensorSpec {
        element: Element::U8,
        dims: &[1 << 32, 1, 7, 1 << 32, 5],
        strides: &[16, (1 << 40) - 16, 0, 48],
        box_dims: &[256, 1, 7, 100, 1],
        element_strides: &[8, 1, 2, 3, 8],
        swizzle: Swizzle::None,
        ..MATRIX
    };
    let map = TensorMap::new(&five).expect("all rules are kept");
    assert_eq!(map.dims(), five.dims);
    assert_eq!(map.strides(), five.strides);
    assert_eq!([0, 1, 2, 3, 4].map(|d| map.tile_dim(d)), [256, 1, 4, 34, 1]);
    assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map));
}

#[test]
fn every_choice_survives() {
    for &element in Element::ALL {
        for &swizzle in Swizzle::ALL {
            for &l2_promotion in L2Promotion::ALL {
                let spec = TensorSpec {
                    element,
                    dims: &[1024, 300],
                    box_dims: &[if element.is_packed() { 128 } else { 16 }, 8],
                    swizzle,
                    l2_promotion,
                    ..MATRIX
                };
                let Ok(map) = TensorMap::new(&spec) else {
                    assert!(swizzle.span_bytes().is_some(), "{spec:?}");
                    continue;
                };
                assert_eq!(TensorMap::from_bytes(&map.to_bytes()), Ok(map));
            }
        }
    }
}

#[test]
fn bytes_that_are_no_map_are_told_apart() {
    let bytes = TensorMap::new(&MATRIX).expect("a map").to_bytes();
    assert_eq!(
        TensorMap::from_bytes(&[0; 128]),
        Err(NotATensorMap::Foreign)
    );
    for at in 0..128 {
        let mut other = bytes;
        other[at] ^= 4;
        let expected = match at {
            0..8 => NotATensorMap::Foreign,
            8 => NotATensorMap::Version { version: 5 },
            _ => NotATensorMap::Changed,
        };
        assert_eq!(TensorMap::from_bytes(&other), Err(expected), "byte {at}");
    }
}

#[test]
fn the_tensor_keeps_its_rules() {
    let messages = [
        refused(|spec| spec.dims = &[]),
        refused(|spec| spec.dims = &[16; 6]),
        refused(|spec| spec.strides = &[]),
        refused(|spec| spec.box_dims = &[64]),
        refused(|spec| spec.element_strides = &[1, 1, 1]),
        refused(|spec| spec.interleave = Interleave::B16),
        refused(|spec| spec.address += 8),
        refused(|spec| spec.dims = &[1000, 0]),
        refused(|spec| spec.dims = &[(1 << 32) + 1, 300]),
        refused(|spec| spec.strides = &[2008]),
        refused(|spec| spec.strides = &[1 << 40]),
        refused(|spec| (spec.element, spec.dims) = (Element::U4x16Align8, &[1001, 300])),
    ];
    insta::assert_snapshot!(all(&messages), @r"
    the tensor has 0 dimensions, but a tensor map has 1 to 5
    the tensor has 6 dimensions, but a tensor map has 1 to 5
    0 strides are given for a tensor of 2 dimensions, which takes 1
    1 box dimensions are given for a tensor of 2 dimensions, which takes 2
    3 element strides are given for a tensor of 2 dimensions, which takes 2
    the interleaved layout B16 takes 3 to 5 dimensions, but 2 are given
    the tensor starts at 0x700000000108, which is 8 past a multiple of 16: its address must be a multiple of 16 bytes
    dimension 1 has 0 elements, but must have 1 to 2^32
    dimension 0 has 4294967297 elements, but must have 1 to 2^32
    the stride of dimension 1 is 2008 bytes, but must be a multiple of 16 bytes: pad the rows, or copy them without a tensor map
    the stride of dimension 1 is 1099511627776 bytes, but must be less than 2^40
    dimension 0 has 1001 elements, but with U4x16Align8 must have a multiple of 2
    ");
}

#[test]
fn the_tile_keeps_its_rules() {
    let messages = [
        refused(|spec| spec.box_dims = &[64, 0]),
        refused(|spec| spec.box_dims = &[64, 257]),
        refused(|spec| {
            (spec.swizzle, spec.element, spec.box_dims) = (Swizzle::None, Element::F32, &[256, 256])
        }),
        refused(|spec| spec.box_dims = &[12, 8]),
        refused(|spec| spec.box_dims = &[72, 8]),
        refused(|spec| (spec.swizzle, spec.box_dims) = (Swizzle::B32, &[64, 8])),
        refused(|spec| spec.element_strides = &[1, 9]),
        refused(|spec| spec.element_strides = &[0, 1]),
        refused(|spec| (spec.element, spec.fill) = (Element::U16, Fill::Nan)),
        refused(|spec| (spec.element, spec.dims) = (Element::U6x16Align16, &[1024, 300])),
        refused(|spec| {
            spec.interleave = Interleave::B32;
            spec.dims = &[64, 8, 8];
            spec.strides = &[2048, 4096];
            spec.box_dims = &[16, 8, 8];
            spec.element_strides = &[1, 1, 1];
        }),
    ];
    insta::assert_snapshot!(all(&messages), @r"
    the box has 0 elements in dimension 1, but must have 1 to 256
    the box has 257 elements in dimension 1, but must have 1 to 256
    the box has 262144 bytes, but must have less than 2^18: an H200's driver takes no more, and a block has no room for it
    a row of the box has 12 elements of 2 bytes, 24 bytes, but must be a multiple of 16 bytes
    a row of the box has 72 elements, 144 bytes, but with swizzle B128 must have at most 128 bytes: make the box narrower, and copy more of them
    a row of the box has 64 elements, 128 bytes, but with swizzle B32 must have at most 32 bytes: make the box narrower, and copy more of them
    the element stride of dimension 1 is 9, but must be 1 to 8
    the element stride of dimension 0 is 0, but must be 1 to 8
    elements of U16 have no NaN to fill with: fill with zeros
    a row of the box has 64 elements, but with U6x16Align16 must have 128
    the interleaved layout B32 goes only with swizzle B32, but the swizzle is B128
    ");
}

fn all(messages: &[TensorMapError]) -> String {
    let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
    messages.join("\n")
}

#[test]
fn a_swizzle_only_changes_places() {
    for &swizzle in Swizzle::ALL {
        let mut seen = [false; 2048];
        for address in 0..2048 {
            let place = swizzle.place(address);
            let span = swizzle.span_bytes().unwrap_or(1);
            assert_eq!(place / span, address / span, "{swizzle:?} {address}");
            assert_eq!(swizzle.place(place), address, "its own inverse");
            assert!(!std::mem::replace(&mut seen[place as usize], true));
        }
    }
}
