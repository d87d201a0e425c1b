//! Instructions that the lanes of a warp execute together: shuffles, votes, matches,
//! reductions.
//!
//! Each names its members by a mask and waits until every member that has not ended is
//! there. Mostly all are there, in one path. Where the members come along different paths,
//! each path waits (`gather`) until together they are complete.
//!
//! A shuffle from an absent lane gives 0; on hardware the value is undefined.

use super::context::Step;
#[cfg(target_arch = "x86_64")]
use super::vectors::permuted;
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::lanes::{WARP_SIZE, lanes};
use crate::program::{Collective, CollectiveKind, Reduction, Shuffle, ShuffleMode, Slot};
use crate::registers::FramePtr;
use crate::stop::Stop;
use crate::warp::Warp;

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
        return Err(Stop::fault(strangers, FaultKind::NotAMember { members }));
    }
    if needed & warp.live & !mask == 0 {
        Ok(())
    } else {
        Err(Stop::NeedsLanes { members: needed })
    }
}

/// `shfl.sync`
pub(super) fn shuffle<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if O::QUICK {
        // SAFETY: Such an observer is run only where there are wide vectors (`BlockRun::round`).
        return unsafe { shuffle_wide(step, op, mask) };
    }
    shuffle_plain(step, op, mask)
}

/// [`shuffle_plain`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn shuffle_wide<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    shuffle_plain(step, op, mask)
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
    step: &mut Step<'_, '_, O>,
    op: &Shuffle,
    mask: u32,
) -> Result<(), Stop> {
    // SAFETY: The decoder made these slots for 32-bit lanes; they are copied
    // out before the destination is written.
    let (a, b, c, members) = unsafe {
        (
            *step.view.regs.lanes::<u32>(op.a),
            step.view.regs.lanes::<u32>(op.b),
            step.view.regs.lanes::<u32>(op.c),
            step.view.regs.lanes::<u32>(op.members),
        )
    };
    require(step.warp, members, mask)?;
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
    let result = by_source(&a, &sources, mask);
    if O::ON {
        let lanes = step.lanes(mask);
        let sources = sources.map(|source| source as u8);
        step.env
            .observer
            .warp_wide(step.number, lanes, members, Some(&sources));
    }
    // SAFETY: As above.
    unsafe {
        if let Some(slot) = op.d {
            let d = step.view.regs.lanes_mut::<u32>(slot);
            for lane in 0..WARP_SIZE {
                d[lane] = if mask >> lane & 1 != 0 {
                    result[lane]
                } else {
                    d[lane]
                };
            }
        }
        if let Some(slot) = op.in_range {
            step.view.regs.set_predicate(slot, mask, in_range);
        }
    }
    Ok(())
}

/// By lane, what its source has; 0 if that is not a lane of `mask`.
#[inline(always)]
fn by_source(values: &[u32; WARP_SIZE], sources: &[u32; WARP_SIZE], mask: u32) -> [u32; WARP_SIZE] {
    let present: [u32; WARP_SIZE] = std::array::from_fn(|lane| {
        if mask >> lane & 1 != 0 {
            values[lane]
        } else {
            0
        }
    });
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { permuted(&present, sources) };
    }
    sources.map(|source| present[source as usize % WARP_SIZE])
}

/// Votes, matches, reductions and the rest.
pub(super) fn collective<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Collective,
    mask: u32,
) -> Result<(), Stop> {
    let regs = step.view.regs;
    let members = match op.members {
        // SAFETY: The decoder made this slot for 32-bit lanes.
        Some(slot) => unsafe { *regs.lanes::<u32>(slot) },
        None => [mask; WARP_SIZE],
    };
    require(step.warp, &members, mask)?;
    if O::ON {
        let lanes = step.lanes(mask);
        if op.members.is_some() {
            step.env
                .observer
                .warp_wide(step.number, lanes, &members, None);
        }
        if op.kind == CollectiveKind::Converge {
            step.env.observer.converged(lanes, &members);
        }
    }
    if op.kind == CollectiveKind::Converge {
        return Ok(());
    }
    Group {
        regs,
        op,
        members: &members,
        mask,
    }
    .carry_out()
}

/// Lanes that are together, each with the members that it names.
struct Group<'a> {
    regs: FramePtr,
    op: &'a Collective,
    members: &'a [u32; WARP_SIZE],
    mask: u32,
}

impl Group<'_> {
    /// Each reads its sources before destinations are written, which may be the same
    /// registers.
    fn carry_out(&self) -> Result<(), Stop> {
        match self.op.kind {
            CollectiveKind::Converge => {}
            CollectiveKind::ActiveMask => self.each(|_, _| self.mask),
            CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform => self.vote()?,
            CollectiveKind::Ballot => {
                let votes = self.votes()?;
                self.each(|_, members| votes & members);
            }
            CollectiveKind::MatchAny { bytes } => {
                let values = self.values(bytes)?;
                self.each(|lane, members| same(&values, lane, members));
            }
            CollectiveKind::MatchAll { bytes } => {
                let values = self.values(bytes)?;
                for lane in lanes(self.mask) {
                    let members = self.members[lane] & self.mask;
                    let is_all = same(&values, lane, members) == members;
                    self.set_word(lane, if is_all { members } else { 0 });
                    self.set_bit(self.op.p, lane, is_all);
                }
            }
            CollectiveKind::Reduce(reduction) => {
                // SAFETY: The decoder made this slot for 32-bit lanes.
                let values = unsafe { *self.regs.lanes::<u32>(self.source()?) };
                self.each(|_, members| {
                    let values = lanes(members).map(|l| values[l]);
                    values.reduce(|x, y| reduce(reduction, x, y)).unwrap_or(0)
                });
            }
            CollectiveKind::Elect => {
                for lane in lanes(self.mask) {
                    let leader = (self.members[lane] & self.mask).trailing_zeros();
                    self.set_word(lane, leader);
                    self.set_bit(self.op.p, lane, lane as u32 == leader);
                }
            }
        }
        Ok(())
    }

    /// `vote.all`, `vote.any`, `vote.uni`
    fn vote(&self) -> Result<(), Stop> {
        let votes = self.votes()?;
        for lane in lanes(self.mask) {
            let voters = self.members[lane] & self.mask;
            let value = match self.op.kind {
                CollectiveKind::All => votes & voters == voters,
                CollectiveKind::Any => votes & voters != 0,
                _ => votes & voters == voters || votes & voters == 0,
            };
            self.set_bit(self.op.d, lane, value);
        }
        Ok(())
    }

    fn source(&self) -> Result<Slot, Stop> {
        let missing = || Stop::internal("a collective instruction without source");
        self.op.a.ok_or_else(missing)
    }

    /// The lanes whose predicate holds.
    fn votes(&self) -> Result<u32, Stop> {
        // SAFETY: The decoder made a vote's source slot for a predicate.
        Ok(unsafe { self.regs.predicate(self.source()?) } ^ self.op.flip)
    }

    /// The lanes' values, of `bytes` each.
    fn values(&self, bytes: u32) -> Result<[u64; WARP_SIZE], Stop> {
        let slot = self.source()?;
        let mut values = [0; WARP_SIZE];
        for lane in lanes(self.mask) {
            // SAFETY: The decoder made this slot for `bytes` a lane.
            values[lane] = unsafe { self.regs.get(slot, bytes, lane) };
        }
        Ok(values)
    }

    /// Gives each lane a word, by its number and its members that are here.
    #[inline(always)]
    fn each(&self, word: impl Fn(usize, u32) -> u32) {
        for lane in lanes(self.mask) {
            self.set_word(lane, word(lane, self.members[lane] & self.mask));
        }
    }

    #[inline(always)]
    fn set_word(&self, lane: usize, value: u32) {
        if let Some(slot) = self.op.d {
            // SAFETY: The decoder made this slot for 32-bit lanes.
            unsafe { self.regs.lanes_mut::<u32>(slot)[lane] = value };
        }
    }

    #[inline(always)]
    fn set_bit(&self, slot: Option<Slot>, lane: usize, value: bool) {
        if let Some(slot) = slot {
            // SAFETY: The decoder made this slot for a predicate.
            unsafe {
                self.regs
                    .set_predicate(slot, 1 << lane, u32::from(value) << lane);
            }
        }
    }
}

/// The members whose value is a lane's.
fn same(values: &[u64; WARP_SIZE], lane: usize, members: u32) -> u32 {
    let same = lanes(members).filter(|&l| values[l] == values[lane]);
    same.map(|l| 1 << l).sum()
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
