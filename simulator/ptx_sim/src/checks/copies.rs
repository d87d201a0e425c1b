//! Asynchronous copies (`cp.async`) that have not been waited for.
//!
//! From its start until the thread that started it has waited for it, a copy may
//! write its target and read its source at any moment. Until then no thread may touch the
//! target, not even that one, and none may write the source. After the wait, the copy
//! counts as a store by that thread: others need a barrier.
//!
//! Groups are counted by thread, as the instructions do: a copy belongs to the
//! group that its thread commits next, and `cp.async.wait_group N` waits for all
//! of the thread's committed groups but the youngest `N`.
//!
//! What it misses: writes to the source by other blocks, unless they race with
//! the start of the copy; copies that are never waited for and never read.

use super::access::{Lanes, WarpAccess};
use super::finding::{Finding, Side, Spot};
use super::races::lanes;
use crate::diagnostics::AccessKind;
use ptx::ir::Space;

/// The copies of one instruction of a warp.
struct Copies32 {
    instruction: u32,
    /// Whose copies are still in flight.
    lanes: Lanes,
    /// By lane, the group that it belongs to.
    groups: [u32; 32],
    to: [u64; 32],
    from: [u64; 32],
    /// Bytes of the target.
    bytes: u32,
    /// By lane, bytes of the source.
    from_bytes: [u32; 32],
}

/// The copies of a block.
#[derive(Default)]
pub(crate) struct Copies {
    /// By warp and lane, the group that the next copy belongs to.
    groups: Vec<[u32; 32]>,
    list: Vec<Copies32>,
    /// The words of shared memory that copies in flight write, one bit each.
    targets: Vec<u64>,
    /// Where their sources lie: first address, and the one past the last.
    sources: Option<(u64, u64)>,
    /// The sources of the instruction that starts.
    starting: Option<([u64; 32], [u32; 32])>,
}

impl Copies {
    /// Resets them, for a block of this many warps with this much shared memory.
    pub fn reset(&mut self, n_warps: u32, shared_bytes: u32) {
        self.groups.clear();
        self.groups.resize(n_warps as usize, [0; 32]);
        self.list.clear();
        self.targets.clear();
        self.targets
            .resize((shared_bytes as usize).div_ceil(256), 0);
        self.sources = None;
        self.starting = None;
    }

    /// Whether none is in flight.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// An instruction starts copies: it reports their sources, then their targets.
    pub fn starts(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if access.space == Space::Shared {
            self.starts_to(instruction, access);
        } else {
            self.starts_from(access);
        }
    }

    /// It reads from here.
    fn starts_from(&mut self, access: &WarpAccess<'_>) {
        let bytes = match access.lane_bytes {
            Some(n) => n.map(|n| n.min(access.bytes)),
            None => [access.bytes; 32],
        };
        self.starting = Some((*access.addresses, bytes));
    }

    /// It writes there.
    fn starts_to(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let Some((from, from_bytes)) = self.starting.take() else {
            return;
        };
        let copies = Copies32 {
            instruction,
            lanes: Lanes {
                block: access.block,
                warp: access.warp,
                mask: access.mask,
            },
            groups: self.groups[access.warp as usize],
            to: *access.addresses,
            from,
            bytes: access.bytes,
            from_bytes,
        };
        for lane in lanes(access.mask) {
            self.set_target(copies.to[lane], access.bytes, true);
            let (start, n_bytes) = (from[lane], u64::from(from_bytes[lane]));
            if n_bytes > 0 {
                let (first, past) = self.sources.unwrap_or((start, start));
                self.sources = Some((first.min(start), past.max(start + n_bytes)));
            }
        }
        self.list.push(copies);
    }

    fn set_target(&mut self, address: u64, bytes: u32, value: bool) {
        for word in address / 4..(address + u64::from(bytes)).div_ceil(4) {
            if let Some(bits) = self.targets.get_mut(word as usize / 64) {
                let bit = 1 << (word % 64);
                *bits = if value { *bits | bit } else { *bits & !bit };
            }
        }
    }

    fn is_target(&self, address: u64, bytes: u32) -> bool {
        (address / 4..(address + u64::from(bytes)).div_ceil(4)).any(|word| {
            let bits = self.targets.get(word as usize / 64).unwrap_or(&0);
            bits >> (word % 64) & 1 != 0
        })
    }

    /// An access to what copies in flight write, or a write to what they read.
    pub fn conflict(&self, this: Side, writes: bool, access: &WarpAccess<'_>) -> Option<Finding> {
        if self.list.is_empty() {
            return None;
        }
        let is_shared = access.space == Space::Shared;
        let may_meet = |start: u64| {
            let end = start + u64::from(access.bytes);
            match self.sources {
                _ if is_shared => self.is_target(start, access.bytes),
                Some((first, past)) => writes && start < past && end > first,
                None => false,
            }
        };
        for lane in lanes(access.mask) {
            let start = access.addresses[lane];
            if !may_meet(start) {
                continue;
            }
            let end = start + u64::from(access.bytes);
            let overlaps = |at: u64, n: u32| at < end && at + u64::from(n) > start;
            for copies in &self.list {
                let by = lanes(copies.lanes.mask).find(|&by| {
                    if is_shared {
                        overlaps(copies.to[by], copies.bytes)
                    } else {
                        overlaps(copies.from[by], copies.from_bytes[by])
                    }
                });
                if let Some(by) = by {
                    let lane = lane as u32;
                    return Some(Finding::InFlight {
                        is_reading: !is_shared,
                        at: Spot::of(access, lane as usize),
                        this: Side { lane, ..this },
                        copy: Side {
                            instruction: copies.instruction,
                            block: copies.lanes.block,
                            warp: copies.lanes.warp,
                            lane: by as u32,
                            kind: AccessKind::AsyncCopy,
                        },
                    });
                }
            }
        }
        None
    }

    /// Lanes close their group.
    pub fn committed(&mut self, of: Lanes) {
        for lane in lanes(of.mask) {
            self.groups[of.warp as usize][lane] += 1;
        }
    }

    /// Lanes have waited. `arrived` is called for the copies that have arrived:
    /// instruction, lanes, targets, bytes.
    pub fn awaited(
        &mut self,
        of: Lanes,
        n_left: Option<u32>,
        mut arrived: impl FnMut(u32, Lanes, &[u64; 32], u32),
    ) {
        let groups = self.groups[of.warp as usize];
        let mut list = std::mem::take(&mut self.list);
        list.retain_mut(|copies| {
            if copies.lanes.warp != of.warp {
                return true;
            }
            let mut mask = 0;
            for lane in lanes(copies.lanes.mask & of.mask) {
                let group = copies.groups[lane];
                if n_left.is_none_or(|n| group.saturating_add(n) < groups[lane]) {
                    mask |= 1 << lane;
                    self.set_target(copies.to[lane], copies.bytes, false);
                }
            }
            if mask != 0 {
                let lanes = Lanes { mask, ..of };
                arrived(copies.instruction, lanes, &copies.to, copies.bytes);
            }
            copies.lanes.mask &= !mask;
            copies.lanes.mask != 0
        });
        self.list = list;
        if self.list.is_empty() {
            self.sources = None;
        }
    }
}
