//! Races: two unordered accesses.
//!
//! Two accesses race if they touch a byte in common, at least one writes, they
//! are by different threads, nothing orders one before the other ([`order`]),
//! and they are not both atomic, volatile or ordered accesses of the same size
//! whose scopes include each other.
//!
//! A load that assumes constant memory (`ld.global.nc`) must not read what the kernel has
//! written, in whatever order. Writes after such a load are judged as after any other.
//!
//! What it misses, besides what [`order`] considers ordered and [`shadow`] forgets:
//! - races in an order of the warps' instructions that this run did not have;
//! - stores to one address by several lanes of one instruction: one of them wins, and PTX
//!   does not say which.
//!
//! [`order`]: super::order
//! [`shadow`]: super::shadow

use std::sync::Arc;

use super::access::{AccessClass, WarpAccess};
use super::finding::{Finding, Side, Spot};
use super::order::{BlockOrder, Known, Part, Place, missing};
use super::shadow::IN_FLIGHT;
use super::shadow::{LINE_BYTES, LINE_WORDS, Line, Lines, Mark, Pattern, Site, Sites, Whole, Word};
use crate::diagnostics::AccessKind;
use crate::lanes::FULL_MASK;

/// Compares an access with those that are remembered, and remembers it if asked to.
pub(crate) fn access(
    lines: &mut impl Lines,
    sites: &mut Sites,
    order: &BlockOrder,
    site: Site,
    access: &WarpAccess<'_>,
    remember: bool,
) -> Option<Finding> {
    let site = Site {
        device: order.place.device,
        ..site
    };
    let number = if remember { sites.number(site) } else { 0 };
    let warp = &order.warps[access.warp as usize];
    let by = |known| This {
        number,
        site,
        here: order.place,
        known,
    };
    // First all are compared, then all are remembered: lanes of one instruction
    // do not race with each other.
    if let Some(known) = warp.known_by(access.mask) {
        let this = by(known);
        if !site.has(Site::SYNCHRONISES)
            && let Some(whole_lines) = WholeLines::of(access)
        {
            return whole(lines, sites, &this, access, &whole_lines);
        }
        if let Some(found) = compare(lines, sites, &this, access) {
            return Some(found);
        }
    } else {
        for (lanes, known) in warp.groups() {
            let part = WarpAccess {
                mask: access.mask & lanes,
                stride: None,
                ..*access
            };
            if part.mask != 0
                && let Some(found) = compare(lines, sites, &by(known), &part)
            {
                return Some(found);
            }
        }
    }
    if number != 0 {
        for (_, lanes, word, bytes) in Parts::of(access).iter() {
            if let Some(words) = lines.words(word / LINE_WORDS as u64) {
                let mark = Mark::new(number, bytes, lanes);
                words[word as usize % LINE_WORDS].remember(mark, &site, sites);
            }
        }
    }
    None
}

/// Compares an access, by lanes that know the same, with those that are remembered.
fn compare(
    lines: &mut impl Lines,
    sites: &Sites,
    this: &This<'_>,
    access: &WarpAccess<'_>,
) -> Option<Finding> {
    let parts = Parts::of(access);
    let mut clear = None;
    for (lane, lanes, word, bytes) in parts.iter() {
        let number = word / LINE_WORDS as u64;
        if clear == Some(number) {
            continue;
        }
        let Some(line) = lines.line(number) else {
            continue;
        };
        if this.is_after_line(line, sites) {
            clear = Some(number);
            continue;
        }
        let mark = Mark::new(this.number, bytes, lanes);
        let index = word as usize % LINE_WORDS;
        let found = match &line.words {
            Some(words) => this.conflict(&words[index], mark, sites),
            None => this.conflict(&line.word(index), mark, sites),
        };
        if let Some(other) = found {
            return Some(this.race(access, lane, other, sites));
        }
    }
    None
}

/// A whole warp accesses whole lines.
fn whole(
    lines: &mut impl Lines,
    sites: &Sites,
    this: &This<'_>,
    access: &WarpAccess<'_>,
    whole_lines: &WholeLines,
) -> Option<Finding> {
    let writes = this.site.has(Site::WRITES);
    for &(number, pattern) in whole_lines.list() {
        let whole = Whole {
            site: this.number,
            pattern,
        };
        let Some(line) = lines.line(number) else {
            continue;
        };
        let mut is_clear =
            line.words.is_none() && this.is_after_whole(line.write, Some(pattern), sites);
        if writes {
            is_clear &= line
                .reads
                .iter()
                .all(|&read| this.is_after_whole(read, Some(pattern), sites));
        }
        if !is_clear {
            // Also of an access that is not remembered, and so has no number.
            let compared = Whole {
                site: whole.site.max(1),
                pattern,
            };
            for index in 0..LINE_WORDS {
                let mark = compared.mark(index);
                if let Some(other) = this.conflict(&line.word(index), mark, sites) {
                    let lane = mark.lanes.trailing_zeros() as usize;
                    return Some(this.race(access, lane, other, sites));
                }
            }
        }
        if this.number == 0 {
            continue;
        }
        if writes {
            (line.write, line.reads) = (whole, Default::default());
            if line.words.take().is_some() {
                lines.joined();
            }
            continue;
        }
        if let Some(words) = &mut line.words {
            for (index, word) in words.iter_mut().enumerate() {
                word.remember(whole.mark(index), &this.site, sites);
            }
            continue;
        }
        let by = |site: &Site| (site.block, site.warp);
        let place = line.reads.iter().position(|read| {
            let replaces = || by(sites.get(read.site)) == by(&this.site);
            read.site == 0 || read.pattern == pattern && replaces()
        });
        let older = usize::from(line.reads[1].site < line.reads[0].site);
        line.reads[place.unwrap_or(older)] = whole;
    }
    None
}

/// The access that is compared.
pub(super) struct This<'a> {
    /// Its site's number; 0 if it cannot be remembered.
    pub number: u32,
    pub site: Site,
    pub here: Place,
    /// What its lanes know.
    pub known: &'a Arc<Known>,
}

impl This<'_> {
    /// Which of the lanes of an access do not surely come before this one.
    #[inline]
    fn missing(&self, other: &Site, lanes: u32) -> u32 {
        let part = Part {
            warp: other.warp.into(),
            lanes,
            clock: other.clock,
        };
        missing(self.known, self.here, other.block.into(), part)
    }

    fn is_same_warp(&self, other: &Site) -> bool {
        (other.block, other.warp) == (self.site.block, self.site.warp)
    }

    /// Whether an access to a whole line surely comes before this one, or has the
    /// same lanes for the same words.
    fn is_after_whole(&self, other: Whole, pattern: Option<Pattern>, sites: &Sites) -> bool {
        if other.site == 0 {
            return true;
        }
        let site = sites.get(other.site);
        if self.site.has(Site::CONSTANT) && site.has(Site::WRITES) {
            return false;
        }
        self.is_same_warp(site) && Some(other.pattern) == pattern
            || self.missing(site, other.pattern.lanes()) == 0
    }

    /// Whether all that was done to a line, by whole warps, surely comes before
    /// this access.
    pub fn is_after_line(&self, line: &Line, sites: &Sites) -> bool {
        let is_after = |&other: &Whole| self.is_after_whole(other, None, sites);
        line.words.is_none()
            && is_after(&line.write)
            && (!self.site.has(Site::WRITES) || line.reads.iter().all(is_after))
    }

    /// An access to the word that races with this one: its mark, and the lane
    /// of this one.
    pub fn conflict(&self, word: &Word, this: Mark, sites: &Sites) -> Option<(Mark, u32)> {
        let writes = self.site.has(Site::WRITES);
        let n_reads = if writes { 2 } else { 0 };
        word.writes
            .iter()
            .chain([&word.synchronised])
            .chain(&word.reads[..n_reads])
            .find_map(|&other| self.races_with(other, this, sites))
    }

    /// Whether a mark races with this one: by which of its lanes, and this lane.
    #[inline]
    fn races_with(&self, other: Mark, this: Mark, sites: &Sites) -> Option<(Mark, u32)> {
        if other.bytes() & this.bytes() == 0 {
            return None;
        }
        let site = sites.get(other.site());
        if self.may_meet(site) {
            return None;
        }
        if self.site.has(Site::CONSTANT) {
            // In whatever order.
            return Some((other, this.lanes.trailing_zeros()));
        }
        let missing = self.missing(site, other.lanes);
        if missing == 0 {
            return None;
        }
        let by = |lanes| {
            let mut mark = other;
            mark.lanes = lanes;
            mark
        };
        if !self.is_same_warp(site) {
            return Some((by(missing), this.lanes.trailing_zeros()));
        }
        // Each lane comes after what it did itself.
        (0..32)
            .map(|lane| (lane, missing & !(1 << lane)))
            .find(|&(lane, others)| this.lanes >> lane & 1 != 0 && others != 0)
            .map(|(lane, others)| (by(others), lane))
    }

    /// Whether both are accesses that are meant to meet each other.
    fn may_meet(&self, other: &Site) -> bool {
        let scope = if other.block == self.site.block {
            Site::SYNCHRONISES
        } else if other.device == self.site.device {
            Site::SYNCHRONISES | Site::WIDE
        } else {
            Site::SYNCHRONISES | Site::SYSTEM
        };
        self.site.has(scope) && other.has(scope) && self.site.size == other.size
    }

    fn race(
        &self,
        access: &WarpAccess<'_>,
        lane: usize,
        (mark, by): (Mark, u32),
        sites: &Sites,
    ) -> Finding {
        let other = sites.get(mark.site());
        // Of several lanes of one word, the one that is at fault.
        let lane = if access.addresses[by as usize] == access.addresses[lane] {
            by
        } else {
            lane as u32
        };
        let others = match mark.lanes & !(1 << lane) {
            0 => mark.lanes,
            others if self.is_same_warp(other) => others,
            _ => mark.lanes,
        };
        let mut mark = mark;
        mark.lanes = others;
        let at = Spot::of(access, lane as usize);
        self.found(at, side(&self.site, lane), mark, sites)
    }

    /// What is wrong with an access by `this` thread to what a mark says of another.
    pub fn found(&self, at: Spot, this: Side, mark: Mark, sites: &Sites) -> Finding {
        let site = sites.get(mark.site());
        let by_copy = sites.starter_of(mark.site());
        let other = by_copy.unwrap_or_else(|| side(site, mark.lanes.trailing_zeros() % 32));
        if site.clock == IN_FLIGHT {
            return Finding::InFlight {
                at,
                this,
                copy: other,
                is_reading: !site.has(Site::WRITES),
            };
        }
        match self.site.has(Site::CONSTANT) {
            true => Finding::NotConstant { at, this, other },
            false => Finding::Race { at, this, other },
        }
    }
}

/// A site's access by one lane.
pub(crate) fn side(site: &Site, lane: u32) -> Side {
    let kind = if site.has(Site::PRODUCT) {
        AccessKind::Product
    } else if site.has(Site::COPIES) {
        AccessKind::AsyncCopy
    } else if site.has(Site::ATOMIC) {
        AccessKind::Atomic
    } else if site.has(Site::WRITES) {
        AccessKind::Store
    } else {
        AccessKind::Load
    };
    Side {
        instruction: site.instruction,
        block: u64::from(site.block),
        warp: u32::from(site.warp),
        lane,
        kind,
    }
}

/// What kind of access an instruction's is; of an asynchronous copy, that to its
/// target.
pub(crate) fn flags(class: AccessClass) -> u8 {
    match class {
        AccessClass::Load | AccessClass::LoadMatrix => 0,
        AccessClass::Product => Site::PRODUCT,
        AccessClass::Store | AccessClass::StoreMatrix => Site::WRITES,
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass | AccessClass::BulkCopy => {
            Site::WRITES | Site::COPIES
        }
        AccessClass::Atomic
        | AccessClass::Reduction
        | AccessClass::CompareAndSwap
        | AccessClass::Increment => Site::WRITES | Site::ATOMIC,
    }
}

/// The lines that all lanes access together, whole and each once: which, and how.
struct WholeLines {
    lines: [(u64, Pattern); 4],
    n: usize,
}

impl WholeLines {
    /// Those of an access, if it is such a one.
    fn of(access: &WarpAccess<'_>) -> Option<Self> {
        let shift: u8 = match access.bytes {
            4 => 0,
            8 => 1,
            16 => 2,
            _ => return None,
        };
        if access.mask != FULL_MASK || access.lane_bytes.is_some() {
            return None;
        }
        let mut all = Self {
            lines: [(0, Pattern::default()); 4],
            n: 1 << shift,
        };
        let lanes_of_line = 32 >> shift;
        let bytes = u64::from(access.bytes);
        for i in 0..all.n {
            let first_lane = i * lanes_of_line;
            let first = access.addresses[first_lane];
            let base = first & !(LINE_BYTES - 1);
            let flips = (first - base) / bytes;
            let is_in_place =
                |(lane, &address): (u64, &u64)| address == base + (lane ^ flips) * bytes;
            let lanes = &access.addresses[first_lane..first_lane + lanes_of_line];
            let line = base / LINE_BYTES;
            let is_new = all.lines[..i].iter().all(|&(other, _)| other != line);
            if !is_new || !(0..).zip(lanes).all(is_in_place) {
                return None;
            }
            let pattern = Pattern {
                first_lane: first_lane as u8,
                shift,
                flips: flips as u8,
            };
            all.lines[i] = (line, pattern);
        }
        Some(all)
    }

    fn list(&self) -> &[(u64, Pattern)] {
        &self.lines[..self.n]
    }
}

/// Whether all 32 lanes are active and each begins where the one before it ends.
pub(crate) fn is_contiguous(access: &WarpAccess<'_>) -> bool {
    match access.stride {
        Some(stride) => stride == u64::from(access.bytes),
        None => {
            let first = access.addresses[0];
            access.mask == FULL_MASK
                && (access.addresses.iter().zip(0..))
                    .all(|(&address, lane)| address == first + lane * u64::from(access.bytes))
        }
    }
}

/// The words of a warp's access.
struct Parts<'a> {
    access: &'a WarpAccess<'a>,
    /// For each address: a lane, and all lanes that access the same.
    list: [(u8, u32); 32],
    n: usize,
}

impl<'a> Parts<'a> {
    fn of(access: &'a WarpAccess<'a>) -> Self {
        let mut parts = Self {
            access,
            list: [(0, 0); 32],
            n: 0,
        };
        let mut left = access.mask;
        // Where the first two lanes are alone, the others mostly are.
        let may_share = access.lane_bytes.is_none();
        while left != 0 {
            let lane = left.trailing_zeros();
            let mut same = 1 << lane;
            if may_share && (parts.n < 2 || parts.n * 2 <= lane as usize) {
                let address = access.addresses[lane as usize];
                for (other, &at) in access.addresses.iter().enumerate() {
                    same |= u32::from(at == address) << other;
                }
                same &= left;
            }
            parts.list[parts.n] = (lane as u8, same);
            parts.n += 1;
            left &= !same;
        }
        parts
    }

    /// A lane, all lanes that access the same, the word's number, its bytes.
    #[inline]
    fn iter(&self) -> impl Iterator<Item = (usize, u32, u64, u32)> + '_ {
        self.list[..self.n].iter().flat_map(move |&(lane, all)| {
            let lane = usize::from(lane);
            let start = self.access.addresses[lane];
            let n_bytes = match self.access.lane_bytes {
                Some(n) => n[lane].min(self.access.bytes),
                None => self.access.bytes,
            };
            let end = start + u64::from(n_bytes);
            (start / 4..end.div_ceil(4)).map(move |word| {
                let from = start.max(word * 4) - word * 4;
                let to = end.min(word * 4 + 4) - word * 4;
                let bytes = (1u32 << to) - (1u32 << from);
                (lane, all, word, bytes)
            })
        })
    }
}

/// The lanes of a mask, in order.
#[inline]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
