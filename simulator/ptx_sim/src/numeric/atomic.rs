//! The values that `atom` and `red` store.
//!
//! `and`, `or`, `xor`, `exch`, integer `add`, `min` and `max` are Rust's own.

use super::Rounding;
use super::float::{Float, add, flush};
use super::half::{Half, packed2};

/// `inc.u32`: one more, or 0 where the limit has been reached.
#[inline]
pub fn inc(old: u32, limit: u32) -> u32 {
    if old >= limit { 0 } else { old + 1 }
}

/// `dec.u32`: one less, or the limit from 0 and from above the limit.
#[inline]
pub fn dec(old: u32, limit: u32) -> u32 {
    if old == 0 || old > limit {
        limit
    } else {
        old - 1
    }
}

/// `cas`: the value to store.
#[inline]
pub fn cas<T: PartialEq>(old: T, expected: T, new: T) -> T {
    if old == expected { new } else { old }
}

/// `add.f32` in shared memory, and `add.f64`, `add.noftz.f16`, `add.noftz.bf16`
/// anywhere: rounded to nearest, subnormals kept.
#[inline]
pub fn add_float<F: Float>(old: F, value: F) -> F {
    add(old, value, Rounding::NearestEven)
}

/// `add.f32` in global memory, where subnormals are flushed.
#[inline]
pub fn add_global_f32(old: f32, value: f32) -> f32 {
    flush(add_float(flush(old), flush(value)))
}

/// `add.noftz.f16x2` and `add.noftz.bf16x2`; the two halves are each atomic,
/// not the pair.
#[inline]
pub fn add_packed<H: Half>(old: u32, value: u32) -> u32 {
    packed2::<H>(old, value, add_float)
}
