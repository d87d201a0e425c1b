//! Atomic operations' arithmetic.

use super::super::atomic::{add_float, add_global_f32, add_packed, cas, dec, inc};
use super::super::half::F16;

#[test]
fn counters_wrap_at_their_limit() {
    assert_eq!((inc(0, 2), inc(1, 2), inc(2, 2), inc(7, 2)), (1, 2, 0, 0));
    assert_eq!((dec(0, 2), dec(1, 2), dec(2, 2), dec(7, 2)), (2, 0, 1, 2));
    assert_eq!(inc(u32::MAX, u32::MAX), 0);
    assert_eq!(dec(0, u32::MAX), u32::MAX);
}

#[test]
fn compare_and_swap() {
    assert_eq!((cas(1_u32, 1, 9), cas(2_u32, 1, 9)), (9, 2));
}

#[test]
fn sums() {
    let tiny = f32::from_bits(3);
    assert_eq!(add_float(tiny, tiny), f32::from_bits(6));
    assert_eq!(add_global_f32(tiny, tiny), 0.0);
    assert_eq!(add_global_f32(1.0, 2.0), 3.0);
    assert_eq!(add_packed::<F16>(0x3c00_4000, 0x3c00_3c00), 0x4000_4200);
}
