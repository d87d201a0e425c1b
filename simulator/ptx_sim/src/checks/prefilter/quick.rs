//! Accesses that are judged at a glance: where all lanes access the same, neighbouring cells, or
//! each its own, and none of the cells has met atomic accesses. The cells of scattered lanes are
//! put side by side first, so that all are judged by the same few vector instructions.

use super::super::access::WarpAccess;
use super::super::races::lanes;
use super::cells::{Act, Cells, Everything, Located, PAGE_BYTES, Place, Run, Target};
use super::met;
use super::runs::Shape;
use super::shared::SharedCells;
use super::stamp::Who;
use crate::lanes::{FULL_MASK, WARP_SIZE};

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
    match (act.synchronises, shape, n) {
        (true, Shape::Lanes, 1) => {
            return lanes_meet::<T, 1>(target, who, act, access, remembers);
        }
        (true, Shape::Lanes, 2) => {
            return lanes_meet::<T, 2>(target, who, act, access, remembers);
        }
        _ => {}
    }
    if act.synchronises {
        let runs = || runs::<T>(who, places_of(access), (shape, n));
        return runs().all(|run| run_meets::<T, false>(target, who, act, run))
            && (!remembers || runs().all(|run| run_meets::<T, true>(target, who, act, run)));
    }
    match shape {
        Shape::One | Shape::Row => {
            runs_pass(target, who, act, (places_of(access), shape, n), remembers)
        }
        Shape::Lanes => match (n, few_places(access).filter(|_| !act.writes)) {
            (1, Some(few)) => few_pass::<T, 1>(target, who, act, (access, &few), remembers),
            (2, Some(few)) => few_pass::<T, 2>(target, who, act, (access, &few), remembers),
            (4, Some(few)) => few_pass::<T, 4>(target, who, act, (access, &few), remembers),
            (1, _) => lanes_pass::<T, 1, WARP_SIZE>(target, (who, false), act, access, remembers),
            (2, _) => lanes_pass::<T, 2, WARP_SIZE>(target, (who, false), act, access, remembers),
            (4, _) => lanes_pass::<T, 4, WARP_SIZE>(target, (who, false), act, access, remembers),
            (8, _) => lanes_pass::<T, 8, WARP_SIZE>(target, (who, false), act, access, remembers),
            _ => false,
        },
        Shape::Parts => false,
    }
}

/// Where lanes access memory: which lanes, the bytes of each, and its address.
pub(super) type Places<F> = (u32, u32, F);

#[inline(always)]
fn places_of(access: &WarpAccess<'_>) -> Places<impl Fn(u32) -> u64> {
    let address = |lane: u32| access.addresses[lane as usize];
    (access.mask, access.bytes, address)
}

/// [`passes`], where all lanes access one place or a row, `n` cells each.
#[inline(always)]
pub(super) fn runs_pass<T: Target>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    (places, shape, n): (Places<impl Fn(u32) -> u64>, Shape, usize),
    remembers: bool,
) -> bool {
    let mut runs = runs::<T>(who, places, (shape, n));
    let Some(run) = runs.next() else {
        return false;
    };
    match runs.next() {
        _ if !n.is_power_of_two() => false,
        None => one_passes(target, who, act, run, remembers),
        // First both are asked, then both are remembered.
        Some(second) => {
            each_passes(target, who, act, [run, second], false)
                && (!remembers || each_passes(target, who, act, [run, second], true))
        }
    }
}

/// The runs of cells that an access is to, each with its address: one, or of a row that lies on
/// two pages of global memory two, or one for each lane.
#[inline(always)]
fn runs<T: Target>(
    who: &Who<'_>,
    (mask, bytes, address): Places<impl Fn(u32) -> u64>,
    (shape, n): (Shape, usize),
) -> impl Iterator<Item = (Run, u64)> {
    let is_row = matches!(shape, Shape::Row) && n.is_power_of_two();
    // The lanes with which runs begin.
    let mut first = match shape {
        Shape::One => mask & mask.wrapping_neg(),
        Shape::Row if is_row => {
            let left = (PAGE_BYTES - address(0) % PAGE_BYTES) / u64::from(bytes);
            match T::GLOBAL && left < 32 {
                true => 1 | 1 << left,
                false => 1,
            }
        }
        Shape::Row | Shape::Lanes => mask,
        Shape::Parts => 0,
    };
    let is_several = matches!(shape, Shape::One) && !mask.is_power_of_two();
    std::iter::from_fn(move || {
        let lane = first.trailing_zeros();
        if lane == 32 {
            return None;
        }
        first &= first - 1;
        let n_lanes = if is_row {
            first.trailing_zeros() - lane
        } else {
            1
        };
        let run = Run {
            first: 0,
            n: n * n_lanes as usize,
            stamp: who.stamp(lane, is_several),
            shift: if is_row { n.trailing_zeros() } else { 31 },
        };
        Some((run, address(lane)))
    })
}

/// [`run_passes`], for each usual number of cells in a version of its own.
#[inline(always)]
fn one_passes<T: Target>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    (run, address): (Run, u64),
    remembers: bool,
) -> bool {
    let with = |n: usize, shift: u32| (Run { n, shift, ..run }, address);
    match (run.n, run.shift) {
        (1, _) => run_passes(target, who, act, with(1, 31), remembers),
        (32, 0) => run_passes(target, who, act, with(32, 0), remembers),
        (64, 1) => run_passes(target, who, act, with(64, 1), remembers),
        (128, 2) => run_passes(target, who, act, with(128, 2), remembers),
        _ => each_passes(target, who, act, [(run, address)], remembers),
    }
}

/// [`run_passes`] of one run after the other.
#[inline(never)]
fn each_passes<T: Target, const N: usize>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    runs: [(Run, u64); N],
    remembers: bool,
) -> bool {
    runs.into_iter()
        .all(|run| run_passes(target, who, act, run, remembers))
}

/// Whether one run of cells lets an access that may meet others pass; or, if `REMEMBER`,
/// remembers it, which gives `true`.
#[inline(always)]
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
    if T::GLOBAL && act.is_parallel && met.has_other_instruction(act.instruction) {
        return false;
    }
    let met = [&*met.write, &*met.read, &*met.how];
    may_meet::<T>(who, act, [write, read], met, (stamp, shift))
}

/// Whether cells let an access that may meet others pass: given who wrote and read them plainly,
/// and who did otherwise, and how.
#[inline(always)]
fn may_meet<T: Target>(
    who: &Who<'_>,
    act: &Act,
    [write, read]: [&[u32]; 2],
    [met_write, met_read, how]: [&[u32]; 3],
    by: (u32, u32),
) -> bool {
    let counts_others = who.counts_others(T::GLOBAL);
    let has_others = || who.has_others(met_write) || who.has_others(met_read);
    let mut is_written = true;
    for (&write, &met) in write.iter().zip(met_write) {
        is_written &= who.is_written(write) | who.is_written(met);
    }
    !act.is_constant
        && may_follow_reads::<T>(who, write, by)
        && (!act.writes || may_follow_reads::<T>(who, read, by))
        && !met::have_other_size(how, act.size)
        && (!counts_others || act.is_wide && !met::have_narrow(how) || !has_others())
        && (T::GLOBAL || !act.needs_written || is_written)
}

/// Each lane accesses `N` cells somewhere, where it may meet others.
#[inline(always)]
fn lanes_meet<T: Target, const N: usize>(
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
    let n = N * WARP_SIZE;
    let first = who.stamp(0, false);
    let by = (first, N.trailing_zeros());
    let [mut write, mut read, mut met_write, mut met_read, mut how] = [[0; 2 * WARP_SIZE]; 5];
    let is_one_instruction = T::GLOBAL && act.is_parallel;
    for (lane, &at) in at.iter().enumerate() {
        let to = lane * N..(lane + 1) * N;
        if access.mask >> lane & 1 == 0 {
            let own = [who.harmless(lane as u32); N];
            write[to.clone()].copy_from_slice(&own);
            read[to.clone()].copy_from_slice(&own);
            met_write[to].copy_from_slice(&own);
            continue;
        }
        let Some(all) = located.everything(at, N) else {
            return false;
        };
        if is_one_instruction && all.met.has_other_instruction(act.instruction) {
            return false;
        }
        write[to.clone()].copy_from_slice(&all.write[..N]);
        read[to.clone()].copy_from_slice(&all.read[..N]);
        met_write[to.clone()].copy_from_slice(&all.met.write[..N]);
        met_read[to.clone()].copy_from_slice(&all.met.read[..N]);
        how[to].copy_from_slice(&all.met.how[..N]);
    }
    let met = [&met_write[..n], &met_read[..n], &how[..n]];
    if !may_meet::<T>(who, act, [&write[..n], &read[..n]], met, by) {
        return false;
    }
    if !remembers {
        return true;
    }
    let before = if act.writes { met_write } else { met_read };
    let mut after = before;
    who.read(&mut after[..n], by.0, by.1, T::GLOBAL);
    for lane in lanes(access.mask) {
        let from = lane * N..(lane + 1) * N;
        if let Some(mut all) = located.everything(at[lane], N) {
            let stamp = first + lane as u32;
            let cells = if act.writes {
                &mut *all.met.write
            } else {
                &mut *all.met.read
            };
            who.replace(
                cells,
                (&before[from.clone()], &after[from]),
                stamp,
                T::GLOBAL,
            );
            all.met.add(act.instruction, act.size, act.is_wide);
        }
    }
    true
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
pub(super) fn may_follow_writes<T: Target>(
    who: &Who<'_>,
    act: &Act,
    write: &[u32],
    (stamp, shift): (u32, u32),
) -> bool {
    if act.is_constant {
        return write.iter().fold(0, |all, &cell| all | cell) == 0;
    }
    let is_after = if write.first().is_some_and(|&cell| who.is_engines(cell)) {
        false
    } else if T::GLOBAL {
        who.are_before::<true, false>(write, stamp, shift)
    } else if act.writes {
        who.are_before::<true, true>(write, stamp, shift)
    } else {
        who.are_before::<false, false>(write, stamp, shift)
    };
    is_after || who.are_known(write, (stamp, shift))
}

/// Whether a write may follow the reads, or an access that may meet others the writes, that cells
/// tell of.
#[inline(always)]
pub(super) fn may_follow_reads<T: Target>(
    who: &Who<'_>,
    read: &[u32],
    (stamp, shift): (u32, u32),
) -> bool {
    let is_after = if T::GLOBAL {
        who.are_before::<true, false>(read, stamp, shift)
    } else {
        who.are_before::<true, true>(read, stamp, shift)
    };
    is_after || who.are_known(read, (stamp, shift))
}

/// Places that all lanes access, each of them by several.
const FEW: usize = 8;

/// The places, if each lane of a warp accesses the same as so many lanes after it, or as so many
/// side by side; perhaps some more than once.
#[inline(always)]
fn few_places(access: &WarpAccess<'_>) -> Option<[u64; WARP_SIZE]> {
    let all = access.addresses;
    let same_as = |of: fn(usize) -> usize| {
        let differ = all.iter().enumerate();
        let differ = differ.fold(0, |any, (lane, &address)| any | (address ^ all[of(lane)]));
        differ == 0
    };
    let spread = |of: fn(usize) -> usize| {
        let mut few = [0; WARP_SIZE];
        for (lane, to) in few.iter_mut().enumerate().take(FEW) {
            *to = all[of(lane)];
        }
        few
    };
    if access.mask != FULL_MASK {
        return None;
    }
    if all[0] == all[1] {
        return same_as(|lane| lane & !3).then(|| spread(|lane| 4 * lane));
    }
    (all[0] == all[FEW] && same_as(|lane| lane % FEW)).then(|| spread(|lane| lane))
}

/// [`lanes_pass`], where several lanes access each of a [few places](few_places).
#[inline(always)]
fn few_pass<T: Target, const N: usize>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    (access, few): (&WarpAccess<'_>, &[u64; WARP_SIZE]),
    remembers: bool,
) -> bool {
    let access = WarpAccess {
        addresses: few,
        mask: (1 << FEW) - 1,
        ..*access
    };
    lanes_pass::<T, N, FEW>(target, (who, true), act, &access, remembers)
}

/// Each of the first `LANES` lanes accesses `N` cells somewhere; or several lanes do.
#[inline(always)]
fn lanes_pass<T: Target, const N: usize, const LANES: usize>(
    target: &mut T,
    (who, is_several): (&Who<'_>, bool),
    act: &Act,
    access: &WarpAccess<'_>,
    remembers: bool,
) -> bool {
    let mut at = [Place::default(); WARP_SIZE];
    let Some(located) = target.locate(act, access, N, &mut at) else {
        return false;
    };
    let first = who.stamp(0, is_several);
    let by = (first, N.trailing_zeros());
    // What no access minds stands for lanes that are not there.
    let absent = |lane: usize| match act.is_constant {
        true => [0; N],
        false => [who.harmless(lane as u32); N],
    };
    let [mut write, mut read]: [[[u32; N]; LANES]; 2] = [std::array::from_fn(absent); 2];
    for lane in lanes(access.mask) {
        let Some((its_write, its_read)) = located.cells(at[lane], N) else {
            return false;
        };
        write[lane].copy_from_slice(&its_write[..N]);
        read[lane].copy_from_slice(&its_read[..N]);
    }
    if !may_follow_writes::<T>(who, act, write.as_flattened(), by)
        || act.writes && !may_follow_reads::<T>(who, read.as_flattened(), by)
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
        who.read(read.as_flattened_mut(), by.0, by.1, T::GLOBAL);
        if read == before {
            return true;
        }
        for lane in lanes(access.mask) {
            if let Some((_, its_read)) = located.cells(at[lane], N) {
                let stamp = first + lane as u32;
                who.replace(its_read, (&before[lane], &read[lane]), stamp, T::GLOBAL);
            }
        }
    }
    true
}

/// Remembers what lanes have copied to words of shared memory, if it is no more than that; gives
/// whether it is.
#[inline(always)]
pub(super) fn arrived(shared: &mut SharedCells, who: &Who<'_>, store: &WarpAccess<'_>) -> bool {
    let n = store.bytes as usize >> shared.cell_shift();
    let Cells { write, read, met } = &mut shared.cells;
    if !met.is_empty() || store.lane_bytes.is_some() {
        return false;
    }
    for lane in lanes(store.mask) {
        let first = store.addresses[lane] as usize >> shared.cell_shift;
        let cells = first..first + n;
        let (Some(write), Some(read)) = (write.get_mut(cells.clone()), read.get_mut(cells)) else {
            return false;
        };
        read.fill(0);
        who.write(write, who.stamp(lane as u32, false), 31, false);
    }
    true
}
