//! Accesses that are judged at a glance: where all lanes access the same, neighbouring cells, or
//! each its own, and none of the cells has met atomic accesses. The cells of scattered lanes are
//! put side by side first, so that all are judged by the same few vector instructions.

use super::super::access::WarpAccess;
use super::super::races::lanes;
use super::cells::{Act, Everything, Located, PAGE_BYTES, Place, Run, Target};
use super::runs::Shape;
use super::stamp::Who;
use crate::lanes::WARP_SIZE;

/// Cells of the lanes of an access, at most.
const MOST: usize = 4 * WARP_SIZE;

/// Whether an access is surely in order at a glance; it is remembered if so, and if asked to.
#[inline(always)]
pub(super) fn passes<T: Target>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
    (shape, remembers): (Shape, bool),
) -> bool {
    // Cells of a lane.
    let n = access.bytes as usize >> target.cell_shift();
    if act.synchronises {
        return meet::<T, false>(target, who, act, access, (shape, n))
            && (!remembers || meet::<T, true>(target, who, act, access, (shape, n)));
    }
    match shape {
        Shape::One => run_passes(target, who, act, one(who, access, n), remembers),
        Shape::Row if n.is_power_of_two() => {
            let (first, past) = row(who, access, n, T::GLOBAL);
            match past {
                None => run_passes(target, who, act, first, remembers),
                Some(second) => {
                    run_passes(target, who, act, first, false)
                        && run_passes(target, who, act, second, remembers)
                        && (!remembers || run_passes(target, who, act, first, true))
                }
            }
        }
        Shape::Row | Shape::Lanes => match n {
            1 => lanes_pass::<T, 1>(target, who, act, access, remembers),
            2 => lanes_pass::<T, 2>(target, who, act, access, remembers),
            4 => lanes_pass::<T, 4>(target, who, act, access, remembers),
            _ => false,
        },
        Shape::Parts => false,
    }
}

/// All lanes access the same.
#[inline(always)]
fn one(who: &Who<'_>, access: &WarpAccess<'_>, n: usize) -> (Run, u64) {
    let mask = access.mask;
    let lane = mask.trailing_zeros() & 31;
    let run = Run {
        first: 0,
        n,
        stamp: who.stamp(lane, !mask.is_power_of_two()),
        shift: 31,
    };
    (run, access.addresses[lane as usize])
}

/// Whether accesses that may meet others surely are in order; or, if `REMEMBER`, remembers
/// them, which gives `true`.
#[inline(always)]
fn meet<T: Target, const REMEMBER: bool>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
    (shape, n): (Shape, usize),
) -> bool {
    let mut run = |run| run_meets::<T, REMEMBER>(target, who, act, run);
    match shape {
        Shape::One => run(one(who, access, n)),
        Shape::Row if n.is_power_of_two() => {
            let (first, second) = row(who, access, n, T::GLOBAL);
            run(first) && second.is_none_or(run)
        }
        Shape::Row | Shape::Lanes => lanes(access.mask).all(|lane| {
            let stamp = who.stamp(lane as u32, false);
            let (first, shift) = (0, 31);
            let cells = Run {
                first,
                n,
                stamp,
                shift,
            };
            run((cells, access.addresses[lane]))
        }),
        Shape::Parts => false,
    }
}

/// [`meet`], of one run of cells, which begins at an address.
#[inline(never)]
fn run_meets<T: Target, const REMEMBER: bool>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    (run, address): (Run, u64),
) -> bool {
    let Run {
        n, stamp, shift, ..
    } = run;
    let Some(Everything {
        write,
        read,
        mut met,
    }) = target.all(act, address, n)
    else {
        return false;
    };
    if REMEMBER {
        let cells = if act.writes {
            &mut *met.write
        } else {
            &mut *met.read
        };
        who.read(cells, stamp, shift, T::GLOBAL);
        met.add(act.instruction, act.size, act.is_wide);
        return true;
    }
    let counts_others = who.counts_others(T::GLOBAL);
    let has_others = || who.has_others(met.write) || who.has_others(met.read);
    let is_written = |(&write, &met): (&u32, &u32)| who.is_written(write) || who.is_written(met);
    !act.is_constant
        && may_follow_reads::<T>(who, write, (stamp, shift))
        && (!act.writes || may_follow_reads::<T>(who, read, (stamp, shift)))
        && !met.has_other_size(act.size)
        && (!counts_others || act.is_wide && !met.has_narrow() || !has_others())
        && (T::GLOBAL || !act.needs_written || write.iter().zip(&*met.write).all(is_written))
        && !(T::GLOBAL && act.is_parallel && met.has_other_instruction(act.instruction))
}

/// Lanes that each begin where the one before ends: in one run, or in two, on two pages of
/// global memory.
#[inline(always)]
fn row(
    who: &Who<'_>,
    access: &WarpAccess<'_>,
    n: usize,
    is_global: bool,
) -> ((Run, u64), Option<(Run, u64)>) {
    let run = |lane: usize, n_lanes: usize| {
        let run = Run {
            first: 0,
            n: n * n_lanes,
            stamp: who.stamp(lane as u32, false),
            shift: n.trailing_zeros(),
        };
        (run, access.addresses[lane])
    };
    let bytes = u64::from(access.bytes);
    let left = PAGE_BYTES - access.addresses[0] % PAGE_BYTES;
    if is_global && left < 32 * bytes {
        let split = (left / bytes) as usize;
        return (run(0, split), Some(run(split, WARP_SIZE - split)));
    }
    (run(0, WARP_SIZE), None)
}

/// [`passes`], of one run of cells, which begins at an address.
#[inline(always)]
pub(super) fn run_passes<T: Target>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    (run, address): (Run, u64),
    remembers: bool,
) -> bool {
    let Some((write, read)) = target.plain(act, address, run.n) else {
        return false;
    };
    let Run { stamp, shift, .. } = run;
    if !may_follow_writes::<T>(who, act, write, (stamp, shift))
        || act.writes && !may_follow_reads::<T>(who, read, (stamp, shift))
    {
        return false;
    }
    if remembers && act.writes {
        read.fill(0);
        who.write(write, stamp, shift, act.starts_copy);
    } else if remembers {
        who.read(read, stamp, shift, T::GLOBAL);
    }
    true
}

/// Whether an access may follow the writes that cells tell of.
#[inline(always)]
fn may_follow_writes<T: Target>(
    who: &Who<'_>,
    act: &Act,
    write: &[u32],
    (stamp, shift): (u32, u32),
) -> bool {
    if act.is_constant {
        return write.iter().fold(0, |all, &cell| all | cell) == 0;
    }
    let is_after = if T::GLOBAL {
        who.are_before::<true, false>(write, stamp, shift)
    } else if act.writes {
        who.are_before::<true, true>(write, stamp, shift)
    } else {
        who.are_before::<false, false>(write, stamp, shift)
    };
    is_after || who.are_known(write)
}

/// Whether a write may follow the reads, or an access that may meet others the writes, that cells
/// tell of.
#[inline(always)]
fn may_follow_reads<T: Target>(who: &Who<'_>, read: &[u32], (stamp, shift): (u32, u32)) -> bool {
    let is_after = if T::GLOBAL {
        who.are_before::<true, false>(read, stamp, shift)
    } else {
        who.are_before::<true, true>(read, stamp, shift)
    };
    is_after || who.are_known(read)
}

/// Each lane accesses `N` cells somewhere.
#[inline(always)]
fn lanes_pass<T: Target, const N: usize>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
    remembers: bool,
) -> bool {
    let mut at = [Place::default(); WARP_SIZE];
    let Some(located) = target.locate(act, access, N, &mut at) else {
        return false;
    };
    let (mut write, mut read) = ([0; MOST], [0; MOST]);
    let n = N * WARP_SIZE;
    let first = who.stamp(0, false);
    let by = (first, N.trailing_zeros());
    // What no access minds stands for lanes that are not there.
    let absent = |lane: usize| {
        [if act.is_constant {
            0
        } else {
            first + lane as u32
        }; N]
    };
    for (lane, &at) in at.iter().enumerate() {
        let is_there = access.mask >> lane & 1 != 0;
        let cells = located.cells(at, N).filter(|_| is_there);
        let to = lane * N..(lane + 1) * N;
        match cells {
            Some((its_write, its_read)) => {
                write[to.clone()].copy_from_slice(&its_write[..N]);
                read[to].copy_from_slice(&its_read[..N]);
            }
            None if is_there => return false,
            None => {
                write[to.clone()].copy_from_slice(&absent(lane));
                read[to].copy_from_slice(&absent(lane));
            }
        }
    }
    if !may_follow_writes::<T>(who, act, &write[..n], by)
        || act.writes && !may_follow_reads::<T>(who, &read[..n], by)
    {
        return false;
    }
    if remembers && act.writes {
        for lane in lanes(access.mask) {
            if let Some((write, read)) = located.cells(at[lane], N) {
                read.fill(0);
                who.write(write, first + lane as u32, 31, act.starts_copy);
            }
        }
    } else if remembers {
        let before = read;
        who.read(&mut read[..n], by.0, by.1, T::GLOBAL);
        if read[..n] == before[..n] {
            return true;
        }
        for lane in lanes(access.mask) {
            let from = lane * N..(lane + 1) * N;
            if let Some((_, its_read)) = located.cells(at[lane], N) {
                let several = who.several(first + lane as u32);
                for (cell, i) in its_read.iter_mut().zip(from) {
                    // Another lane may have read it just now.
                    *cell = if *cell == before[i] { read[i] } else { several };
                }
            }
        }
    }
    true
}
