//! Bulk copies: what they read and write, and when.
//!
//! A copy may read its source and write its target at any moment from its start until it
//! is known to be done. A copy to shared memory is done when the phase of the barrier that
//! counts its bytes is over: for the threads that have asked that barrier and learned of
//! it, and for those that they notify. A copy to global memory is done when the thread that
//! started it has waited for its group; its source can be overwritten once the thread has
//! waited for it to be read (`.read`).
//!
//! A copy's accesses are remembered as those of a thread of its own, the engine. While the
//! copy is in flight their time is one that no thread knows of, so that whatever touches
//! the copy is found; then it is a time that the barrier's phase publishes. The engine has
//! a lane for each barrier, so that threads can know of one barrier's copies and not of
//! another's.
//!
//! What it misses:
//! - of more than 32 barriers of a block, some share a lane; in blocks of 32 warps the
//!   engine shares one with the last warp;
//! - a copy's access that two later readers of the same bytes have displaced
//!   ([`shadow`](super::shadow));
//! - `st.bulk` counts as ordinary stores.

use std::ops::Range;
use std::sync::Arc;

use super::access::{BulkStart, BulkTouch, Lanes};
use super::finding::{Finding, Side, Spot};
use super::order::{BlockOrder, Known};
use super::proxies::{OperationId, UNIT};
use super::races::This;
use super::shadow::{IN_FLIGHT, LINE_BYTES, Line, Lines, Mark, Pattern, Site, Sites, Whole};
use crate::bulk::CopyId;
use crate::diagnostics::AccessKind;
use ptx::ir::Space;

/// What a copy does to one of its two memories.
pub(crate) struct BulkAccess {
    pub instruction: u32,
    /// Who started it.
    pub thread: Lanes,
    /// Of shared memory, the block that has it.
    pub owner: u64,
    pub touch: BulkTouch,
    pub writes: bool,
    /// Bytes of the elements that it combines with what is there, if it does.
    pub reduces: Option<u32>,
    /// The engine's lane.
    pub channel: u32,
    /// The site by which it is remembered while in flight.
    pub site: u32,
    /// The operation that it is in shared memory.
    pub operation: Option<OperationId>,
}

/// A copy that is not known to be done.
pub(crate) struct BulkCopy {
    pub id: CopyId,
    pub reads: BulkAccess,
    pub writes: BulkAccess,
    /// The barrier that counts it.
    pub barrier: Option<u32>,
    /// Whether that barrier has counted it.
    pub has_arrived: bool,
    /// Whether its source is known to have been read.
    pub has_read: bool,
}

/// Who is known to have done what a copy did.
#[derive(Clone, Copy)]
pub(crate) enum DoneBy {
    /// The engine, at a time of its own.
    Engine { clock: u32 },
    /// The thread that waited for it.
    Thread(Lanes),
}

impl BulkCopy {
    /// A copy that starts; `channel` is the engine's lane for its barrier.
    pub fn new(instruction: u32, thread: Lanes, start: BulkStart, channel: u32) -> Self {
        let is_shared = |touch: &BulkTouch| touch.space == Space::Shared;
        let access = |touch: BulkTouch, writes: bool| BulkAccess {
            instruction,
            thread,
            // A source in shared memory belongs to the block itself.
            owner: if writes && is_shared(&touch) {
                start.owner
            } else {
                thread.block
            },
            reduces: start.reduces.filter(|_| writes),
            touch,
            writes,
            channel,
            site: 0,
            operation: None,
        };
        Self {
            id: start.id,
            reads: access(start.reads, false),
            writes: access(start.writes, true),
            barrier: start.barrier,
            has_arrived: false,
            has_read: false,
        }
    }
}

impl BulkAccess {
    fn flags(&self) -> u8 {
        let mut flags = Site::COPIES;
        if self.writes {
            flags |= Site::WRITES;
        }
        if self.reduces.is_some() {
            flags |= Site::ATOMIC | Site::SYNCHRONISES | Site::WIDE;
        }
        flags
    }

    /// The thread that started it, as reported.
    pub fn side(&self) -> Side {
        Side {
            instruction: self.instruction,
            block: self.thread.block,
            warp: self.thread.warp,
            lane: self.thread.mask.trailing_zeros() % 32,
            kind: AccessKind::AsyncCopy,
        }
    }

    /// Bytes at an address.
    pub fn spot(&self, address: u64, bytes: u64) -> Spot {
        Spot {
            space: self.touch.space,
            address,
            bytes: bytes.min(u64::from(u32::MAX)) as u32,
            owner: self.owner,
        }
    }

    /// The units of shared memory that it touches.
    pub fn units(&self) -> Vec<u32> {
        let unit = u64::from(UNIT);
        let ranges = self.touch.ranges.iter();
        let mut units: Vec<u32> = ranges
            .flat_map(|range| range.start / unit..range.end.div_ceil(unit))
            .map(|unit| unit as u32)
            .collect();
        units.dedup();
        units
    }

    fn site(&self, block: u64, warp: u32, clock: u32) -> Site {
        Site {
            instruction: self.instruction,
            block: block as u32,
            clock,
            warp: warp as u8,
            size: self.reduces.unwrap_or(0) as u8,
            flags: self.flags(),
            device: 0,
        }
    }
}

/// The lines of a range, with the part of it that is in each.
fn lines_of(range: &Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
    let Range { start, end } = range.clone();
    (start / LINE_BYTES..end.div_ceil(LINE_BYTES)).map(move |line| {
        let first = line * LINE_BYTES;
        (
            line,
            start.max(first) - first..end.min(first + LINE_BYTES) - first,
        )
    })
}

/// The words of a part of a line, and which of their bytes.
fn words_of(part: &Range<u64>) -> impl Iterator<Item = (usize, u32)> + use<> {
    let Range { start, end } = part.clone();
    (start / 4..end.div_ceil(4)).map(move |word| {
        let from = start.max(word * 4) - word * 4;
        let to = end.min(word * 4 + 4) - word * 4;
        (word as usize, (1 << to) - (1 << from))
    })
}

fn is_whole(part: &Range<u64>) -> bool {
    *part == (0..LINE_BYTES)
}

/// All of a line, by one lane.
fn whole(site: u32, lane: u32) -> Whole {
    Whole {
        site,
        pattern: Pattern {
            first_lane: lane as u8,
            shift: Pattern::ONE_LANE,
            flips: 0,
        },
    }
}

/// A copy starts: compares its accesses with those that are remembered, given what the
/// thread that starts it knows now, and remembers it as in flight.
pub(crate) fn begin(
    lines: &mut impl Lines,
    sites: &mut Sites,
    order: &BlockOrder,
    access: &mut BulkAccess,
) -> Option<Finding> {
    let warp = &order.warps[access.thread.warp as usize];
    let known: &Arc<Known> = warp.known_by(access.thread.mask)?;
    let this = This {
        number: 0,
        site: access.site(access.thread.block, access.thread.warp, warp.clock),
        here: order.place,
        known,
    };
    for range in &access.touch.ranges {
        for (number, part) in lines_of(range) {
            let Some(line) = lines.line(number) else {
                continue;
            };
            if let Some((word, (other, _))) = conflict(&this, line, &part, access, sites) {
                let address = (number * LINE_BYTES + 4 * word as u64).max(range.start);
                let at = access.spot(address, (range.end - address).min(4));
                return Some(this.found(at, access.side(), other, sites));
            }
        }
    }
    let engine = order.engine_warp();
    let site = access.site(access.owner, engine, IN_FLIGHT);
    access.site = sites.number_of_copy(site, access.side());
    if access.site != 0 {
        remember(lines, sites, access, (access.site, &site));
    }
    None
}

/// An access to a part of a line that a copy would race with: the word, and the access.
fn conflict(
    this: &This<'_>,
    line: &Line,
    part: &Range<u64>,
    access: &BulkAccess,
    sites: &Sites,
) -> Option<(usize, (Mark, u32))> {
    if access.reduces.is_none() && this.is_after_line(line, sites) {
        return None;
    }
    words_of(part).find_map(|(word, bytes)| {
        let mark = Mark::new(0, bytes, access.thread.mask);
        Some((word, this.conflict(&line.word(word), mark, sites)?))
    })
}

/// Replaces what a copy's access comes after by that access.
fn remember(
    lines: &mut impl Lines,
    sites: &Sites,
    access: &BulkAccess,
    (number, site): (u32, &Site),
) {
    for range in &access.touch.ranges {
        for (line_number, part) in lines_of(range) {
            if access.reduces.is_none() && is_whole(&part) {
                remember_line(lines, sites, line_number, access, (number, site));
                continue;
            }
            let Some(words) = lines.words(line_number) else {
                continue;
            };
            for (word, bytes) in words_of(&part) {
                let mark = Mark::new(number, bytes, 1 << access.channel);
                words[word].remember(mark, site, sites);
            }
        }
    }
}

fn remember_line(
    lines: &mut impl Lines,
    sites: &Sites,
    line_number: u64,
    access: &BulkAccess,
    (number, site): (u32, &Site),
) {
    let whole = whole(number, access.channel);
    let Some(line) = lines.line(line_number) else {
        return;
    };
    if access.writes {
        (line.write, line.reads) = (whole, Default::default());
        if line.words.take().is_some() {
            lines.joined();
        }
    } else if let Some(words) = &mut line.words {
        for (index, word) in words.iter_mut().enumerate() {
            word.remember(whole.mark(index), site, sites);
        }
    } else {
        let free = line.reads.iter().position(|read| read.site == 0);
        let older = usize::from(line.reads[1].site < line.reads[0].site);
        line.reads[free.unwrap_or(older)] = whole;
    }
}

/// A copy is known to be done: by whom, and at a time that others can know of.
pub(crate) fn end(
    lines: &mut impl Lines,
    sites: &mut Sites,
    order: &BlockOrder,
    access: &BulkAccess,
    by: DoneBy,
) {
    if access.site == 0 {
        return;
    }
    let (site, lane) = match by {
        DoneBy::Engine { clock } => {
            let site = access.site(access.owner, order.engine_warp(), clock);
            (site, access.channel)
        }
        DoneBy::Thread(thread) => {
            let clock = order.warps[thread.warp as usize].clock;
            let site = access.site(thread.block, thread.warp, clock);
            (site, thread.mask.trailing_zeros() % 32)
        }
    };
    let number = sites.number_of_copy(site, access.side());
    let replaced = |mark: &mut Mark| {
        if mark.site() == access.site {
            *mark = Mark::new(number, mark.bytes(), 1 << lane);
        }
    };
    for range in &access.touch.ranges {
        for (line_number, part) in lines_of(range) {
            let Some(line) = lines.line(line_number) else {
                continue;
            };
            let [first, second] = &mut line.reads;
            for known in [&mut line.write, first, second] {
                if known.site == access.site {
                    *known = whole(number, lane);
                }
            }
            let Some(words) = &mut line.words else {
                continue;
            };
            for (word, _) in words_of(&part) {
                let word = &mut words[word];
                word.writes.iter_mut().for_each(replaced);
                word.reads.iter_mut().for_each(replaced);
                replaced(&mut word.synchronised);
            }
        }
    }
}
