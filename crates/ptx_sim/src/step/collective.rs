//! Instructions that the lanes of a warp carry out together: shuffles, votes,
//! matches, reductions.
//!
//! Each names its members by a mask and waits until every member that has not
//! ended is there. Mostly all are, in one path. Where the members come along
//! different paths, each path waits ([`gather`]) until together they are
//! complete.
//!
//! A shuffle from a lane that is not there gives 0; on the hardware the value
//! is undefined.

use super::{Env, Insn, PathView, Stop, Trouble, fault, step};
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::lanes::{WARP_SIZE, lanes};
use crate::program::{Collective, CollectiveKind, Reduction, Shuffle, ShuffleMode};
use crate::warp::{Path, PathState, Warp};

/// Makes sure that every member of the lanes in `mask` is there.
#[inline(always)]
fn require(warp: &Warp, members: &[u32; WARP_SIZE], mask: u32) -> Result<(), Stop> {
    let (mut needed, mut strangers) = (0, 0);
    for (lane, &members) in members.iter().enumerate() {
        let is_here = mask >> lane & 1 != 0;
        needed |= if is_here { members } else { 0 };
        strangers |= mask & !members & 1 << lane;
    }
    if strangers != 0 {
        let members = members[strangers.trailing_zeros() as usize];
        return Err(fault(strangers, FaultKind::NotAMember { members }).into());
    }
    if needed & warp.live & !mask == 0 {
        Ok(())
    } else {
        Err(Stop::NeedsLanes { members: needed })
    }
}

/// A path waits at a collective instruction. If that completes its members,
/// the instruction is carried out for all of them and they may go on.
#[cold]
pub(crate) fn gather<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    insn: &Insn,
    mut path: Path,
    mask: u32,
) -> Result<Path, Box<Trouble>> {
    let together = |other: &Path| {
        matches!(other.state, PathState::AtCollective { .. })
            && (other.frame, other.block, other.at) == (path.frame, path.block, path.at)
    };
    let mut union = mask;
    let mut needed = 0;
    if let PathState::AtCollective { members } = path.state {
        needed |= members;
    }
    for other in warp.paths.iter().filter(|p| together(p)) {
        let mut theirs = other.mask;
        if let Some(guard) = insn.guard {
            // SAFETY: The frame is alive and the guard is a predicate.
            theirs &= unsafe { view.regs.predicate(guard.slot) } ^ guard.flip;
        }
        union |= theirs;
        if let PathState::AtCollective { members } = other.state {
            needed |= members;
        }
    }
    if needed & warp.live & !union != 0 {
        return Ok(path);
    }
    match step(env, warp, view, insn, union) {
        Ok(()) => {}
        Err(Stop::Trouble(trouble)) => return Err(trouble),
        Err(Stop::NeedsLanes { .. }) => {
            let message = "a complete group of lanes is told to wait".to_owned();
            return Err(Box::new(Trouble::Internal(message)));
        }
    }
    let place = (path.frame, path.block, path.at);
    for other in &mut warp.paths {
        if matches!(other.state, PathState::AtCollective { .. })
            && (other.frame, other.block, other.at) == place
        {
            other.state = PathState::Ready;
            other.at += 1;
        }
    }
    path.state = PathState::Ready;
    path.at += 1;
    Ok(path)
}

/// Wakes paths whose missing members have ended in the meantime. Gives whether
/// there were any.
pub(crate) fn wake_complete(warp: &mut Warp) -> bool {
    let snapshot = warp.paths.clone();
    let mut woken = false;
    for path in &mut warp.paths {
        let PathState::AtCollective { members } = path.state else {
            continue;
        };
        let here: u32 = snapshot
            .iter()
            .filter(|p| {
                matches!(p.state, PathState::AtCollective { .. })
                    && (p.frame, p.block, p.at) == (path.frame, path.block, path.at)
            })
            .fold(0, |mask, p| mask | p.mask);
        if members & warp.live & !here == 0 {
            path.state = PathState::Ready;
            woken = true;
            break;
        }
    }
    woken
}

/// `shfl.sync`
pub(crate) fn shuffle<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { shuffle_wide(env, warp, view, ptx, op, mask) };
    }
    shuffle_plain(env, warp, view, ptx, op, mask)
}

/// [`shuffle_plain`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn shuffle_wide<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    shuffle_plain(env, warp, view, ptx, op, mask)
}

/// Where the lanes of a shuffle find their values.
struct Sources {
    lanes: [u32; WARP_SIZE],
    /// The lanes whose source is in range; the others keep their own.
    in_range: u32,
}

impl Sources {
    /// By distance and range of each lane: `find` takes lane, distance, last lane
    /// in range and segment mask.
    #[inline(always)]
    fn new(
        distances: &[u32; WARP_SIZE],
        ranges: &[u32; WARP_SIZE],
        find: impl Fn(u32, u32, u32, u32) -> (u32, bool),
    ) -> Self {
        let mut lanes = [0; WARP_SIZE];
        let mut in_range = 0;
        for lane in 0..WARP_SIZE as u32 {
            let i = lane as usize;
            let (distance, clamp, segment) =
                (distances[i] & 31, ranges[i] & 31, ranges[i] >> 8 & 31);
            let max_lane = (lane & segment) | (clamp & !segment);
            let (source, inside) = find(lane, distance, max_lane, segment);
            lanes[i] = if inside { source } else { lane };
            in_range |= u32::from(inside) << lane;
        }
        Self { lanes, in_range }
    }
}

#[inline(always)]
fn shuffle_plain<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    // SAFETY: The decoder made these slots for 32-bit lanes; they are copied
    // out before the destination is written.
    let (a, b, c, members) = unsafe {
        (
            *view.regs.lanes::<u32>(op.a),
            view.regs.lanes::<u32>(op.b),
            view.regs.lanes::<u32>(op.c),
            view.regs.lanes::<u32>(op.members),
        )
    };
    require(warp, members, mask)?;
    let Sources {
        lanes: sources,
        in_range,
    } = match op.mode {
        ShuffleMode::Up => Sources::new(b, c, |lane, distance, max_lane, _| {
            let j = lane as i32 - distance as i32;
            (j as u32, j >= max_lane as i32)
        }),
        ShuffleMode::Down => Sources::new(b, c, |lane, distance, max_lane, _| {
            (lane + distance, lane + distance <= max_lane)
        }),
        ShuffleMode::Butterfly => Sources::new(b, c, |lane, distance, max_lane, _| {
            (lane ^ distance, lane ^ distance <= max_lane)
        }),
        ShuffleMode::Index => Sources::new(b, c, |lane, distance, max_lane, segment| {
            let j = (lane & segment) | (distance & !segment);
            (j, j <= max_lane)
        }),
    };
    let mut result = [0; WARP_SIZE];
    for (value, &source) in result.iter_mut().zip(&sources) {
        let source = source as usize % WARP_SIZE;
        *value = if mask >> source & 1 != 0 {
            a[source]
        } else {
            0
        };
    }
    if O::ON {
        let number = view.first_instruction + ptx;
        let lanes = env.lanes(warp, mask);
        let sources = sources.map(|source| source as u8);
        env.observer
            .together(number, lanes, members, Some(&sources));
    }
    // SAFETY: As above.
    unsafe {
        if let Some(slot) = op.d {
            let d = view.regs.lanes_mut::<u32>(slot);
            for lane in 0..WARP_SIZE {
                d[lane] = if mask >> lane & 1 != 0 {
                    result[lane]
                } else {
                    d[lane]
                };
            }
        }
        if let Some(slot) = op.in_range {
            view.regs.set_predicate(slot, mask, in_range);
        }
    }
    Ok(())
}

/// Votes, matches, reductions and the rest.
pub(crate) fn collective<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Collective,
    mask: u32,
) -> Result<(), Stop> {
    let regs = view.regs;
    let members = match op.members {
        // SAFETY: The decoder made this slot for 32-bit lanes.
        Some(slot) => unsafe { *regs.lanes::<u32>(slot) },
        None => [mask; WARP_SIZE],
    };
    require(warp, &members, mask)?;
    if O::ON {
        let lanes = env.lanes(warp, mask);
        if op.members.is_some() {
            let number = view.first_instruction + ptx;
            env.observer.together(number, lanes, &members, None);
        }
        if op.kind == CollectiveKind::Converge {
            env.observer.converged(lanes);
        }
    }
    let source = || {
        op.a.ok_or_else(|| Trouble::Internal("a collective instruction without source".to_owned()))
    };
    let vote = || -> Result<u32, Trouble> {
        // SAFETY: The decoder made a vote's source slot for a predicate.
        Ok(unsafe { regs.predicate(source()?) } ^ op.flip)
    };
    let set_word = |lane: usize, value: u32| {
        if let Some(slot) = op.d {
            // SAFETY: The decoder made this slot for 32-bit lanes.
            unsafe { regs.lanes_mut::<u32>(slot)[lane] = value };
        }
    };
    let set_bit = |slot: Option<u32>, lane: usize, value: bool| {
        if let Some(slot) = slot {
            // SAFETY: The decoder made this slot for a predicate.
            unsafe { regs.set_predicate(slot, 1 << lane, u32::from(value) << lane) };
        }
    };
    // Sources are read before destinations, which may be the same registers.
    match op.kind {
        CollectiveKind::Converge => {}
        CollectiveKind::ActiveMask => {
            for lane in lanes(mask) {
                set_word(lane, mask);
            }
        }
        CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform => {
            let votes = vote()?;
            for lane in lanes(mask) {
                let voters = members[lane] & mask;
                let value = match op.kind {
                    CollectiveKind::All => votes & voters == voters,
                    CollectiveKind::Any => votes & voters != 0,
                    _ => votes & voters == voters || votes & voters == 0,
                };
                set_bit(op.d, lane, value);
            }
        }
        CollectiveKind::Ballot => {
            let votes = vote()?;
            for lane in lanes(mask) {
                set_word(lane, votes & members[lane] & mask);
            }
        }
        CollectiveKind::MatchAny { bytes } | CollectiveKind::MatchAll { bytes } => {
            let slot = source()?;
            let mut values = [0u64; WARP_SIZE];
            for lane in lanes(mask) {
                // SAFETY: The decoder made this slot for `bytes` a lane.
                values[lane] = unsafe { regs.get(slot, bytes, lane) };
            }
            for lane in lanes(mask) {
                let voters = members[lane] & mask;
                let same: u32 = lanes(voters)
                    .filter(|&l| values[l] == values[lane])
                    .map(|l| 1 << l)
                    .sum();
                if matches!(op.kind, CollectiveKind::MatchAny { .. }) {
                    set_word(lane, same);
                } else {
                    set_word(lane, if same == voters { voters } else { 0 });
                    set_bit(op.p, lane, same == voters);
                }
            }
        }
        CollectiveKind::Reduce(reduction) => {
            // SAFETY: The decoder made this slot for 32-bit lanes.
            let values = unsafe { *regs.lanes::<u32>(source()?) };
            for lane in lanes(mask) {
                let result = lanes(members[lane] & mask)
                    .map(|l| values[l])
                    .reduce(|x, y| reduce(reduction, x, y));
                set_word(lane, result.unwrap_or(0));
            }
        }
        CollectiveKind::Elect => {
            for lane in lanes(mask) {
                let leader = (members[lane] & mask).trailing_zeros();
                set_word(lane, leader);
                set_bit(op.p, lane, lane as u32 == leader);
            }
        }
    }
    Ok(())
}

fn reduce(reduction: Reduction, x: u32, y: u32) -> u32 {
    match reduction {
        Reduction::Add => x.wrapping_add(y),
        Reduction::MinU => x.min(y),
        Reduction::MaxU => x.max(y),
        Reduction::MinS => (x as i32).min(y as i32) as u32,
        Reduction::MaxS => (x as i32).max(y as i32) as u32,
        Reduction::And => x & y,
        Reduction::Or => x | y,
        Reduction::Xor => x ^ y,
    }
}
