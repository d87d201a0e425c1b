//! Ping-pong: two threads answer each other, again and again, which says how long a flag takes.
//!
//! | kernel | where the two are |
//! |---|---|
//! | [`ping_pong_device`] | in two blocks of a launch, with flags of device scope |
//! | [`ping_pong_system`] | the same, with flags of system scope |
//! | [`ping_pong_link`] | on two devices, each with its own flag in its own memory |
//!
//! A waiting thread reads its own memory: only the answer crosses the link.

use cuda_std::atomic::{self, Acquire, Device, Global, Release};
use cuda_std::prelude::*;

use super::flags::{set, wait_for};

/// Words between two flags, which are not to share a line.
pub const APART: usize = 64;
/// Grid of the first two kernels.
pub const GRID: [u32; 3] = [2, 1, 1];
/// Block of all, in threads.
pub const BLOCK: [u32; 3] = [1, 1, 1];

/// One side of `n_rounds` questions and answers, whose flags are above `base`.
#[inline(always)]
fn play(asks: bool, base: u32, n_rounds: u32, tell: impl Fn(u32), hear: impl Fn(u32)) {
    let mut round = 1;
    while round <= n_rounds {
        if asks {
            tell(base + round);
            hear(base + round);
        } else {
            hear(base + round);
            tell(base + round);
        }
        round += 1;
    }
}

/// # Safety
///
/// `flags` has two flags, [`APART`] words apart, that are `base` at most. Launch with [`GRID`] and
/// [`BLOCK`].
#[kernel]
pub unsafe fn ping_pong_device(flags: *mut u32, base: u32, n_rounds: u32) {
    let block = thread::block_idx_x();
    let (own, other) = (
        flags.add(block as usize * APART),
        flags.add((1 - block) as usize * APART),
    );
    let tell = |value| atomic::store(other, value, Global, Device, Release);
    let hear = |value| while atomic::load(own, Global, Device, Acquire) < value {};
    play(block == 0, base, n_rounds, tell, hear);
}

/// # Safety
///
/// As [`ping_pong_device`].
#[kernel]
pub unsafe fn ping_pong_system(flags: *mut u32, base: u32, n_rounds: u32) {
    let block = thread::block_idx_x();
    let (own, other) = (
        flags.add(block as usize * APART),
        flags.add((1 - block) as usize * APART),
    );
    play(
        block == 0,
        base,
        n_rounds,
        |value| set(other, value),
        |value| wait_for(own, value),
    );
}

/// # Safety
///
/// `own` and `other` are flags that are `base` at most, the latter on another device, where `asks` is the
/// opposite. Launch one thread on each, at the same time.
#[kernel]
pub unsafe fn ping_pong_link(own: *mut u32, other: *mut u32, asks: u32, base: u32, n_rounds: u32) {
    play(
        asks != 0,
        base,
        n_rounds,
        |value| set(other, value),
        |value| wait_for(own, value),
    );
}
