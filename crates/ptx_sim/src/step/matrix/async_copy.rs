//! `cp.async`: copies whose bytes arrive at the wait, and not before.
//!
//! A copy is checked, and its source read, when it is started; shared memory
//! changes when the thread that started it waits for its group, or has its copies
//! arrive at an `mbarrier`. So a kernel that reads too early reads what was there
//! before, every time. Copies that nobody waits for never arrive.
//!
//! Left out: sources that change between start and wait (the hardware may read
//! them at any time in between); cache hints, which have no effect.

use super::super::access::{self, Request, read8, read32, read64};
use super::super::predicate::lanes;
use super::super::{Env, PathView, Stop};
use crate::checks::{AccessClass, Observer, WarpAccess};
use crate::diagnostics::AccessKind;
use crate::ir::Space;
use crate::lanes::WARP_SIZE;
use crate::memory::shared::SharedMemory;
use crate::program::{AddressOperand, Order, Scope, Slot};
use crate::warp::Warp;

/// `cp.async`
pub(crate) struct AsyncCopy {
    /// Target, in the shared space.
    pub to: AddressOperand,
    /// Source, in the global space.
    pub from: AddressOperand,
    /// 4, 8 or 16.
    pub bytes: u32,
    /// Bytes to copy, by lane; the rest of the target is filled with zeros.
    pub source_bytes: Option<Slot>,
    /// `.cg`: past the first-level cache.
    pub bypasses: bool,
}

/// A copy under way.
struct Pending {
    lane: u32,
    group: u32,
    to: u32,
    n_bytes: u32,
    data: [u8; 16],
}

/// A warp's copies that have not been waited for.
#[derive(Default)]
pub(crate) struct AsyncCopies {
    /// By lane, the group that its next copy belongs to.
    groups: [u32; WARP_SIZE],
    /// In the order of starting.
    pending: Vec<Pending>,
}

impl AsyncCopies {
    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.groups = [0; WARP_SIZE];
        self.pending.clear();
    }

    /// Closes the group of every lane of `mask`.
    pub fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.groups[lane] += 1;
        }
    }

    /// Lets the copies of the lanes of `mask` arrive: all but those of the
    /// `n_left` youngest committed groups and of the open one, or really all.
    pub fn complete(&mut self, shared: &SharedMemory, mask: u32, n_left: Option<u32>) {
        let groups = &self.groups;
        self.pending.retain(|copy| {
            let arrives = mask >> copy.lane & 1 != 0
                && n_left.is_none_or(|n| copy.group.saturating_add(n) < groups[copy.lane as usize]);
            if arrives {
                // SAFETY: `start` checked the target against this memory, which
                // one host thread at a time works on.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        copy.data.as_ptr(),
                        shared.host().add(copy.to as usize),
                        copy.n_bytes as usize,
                    );
                }
            }
            !arrives
        });
    }
}

pub(super) fn start<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &AsyncCopy,
    mask: u32,
) -> Result<(), Stop> {
    let (to, from) = (
        access::lane_addresses(view, &op.to, mask).lanes,
        access::lane_addresses(view, &op.from, mask).lanes,
    );
    let target = Request {
        space: Space::Shared,
        bytes: op.bytes,
        mask,
        kind: AccessKind::Store,
        stride: None,
    };
    access::locate(env, warp, view, &to, target)?;
    let data = read_sources(env, warp, view, op, &from, mask)?;
    if O::ON {
        let class = if op.bypasses {
            AccessClass::AsyncCopyBypass
        } else {
            AccessClass::AsyncCopy
        };
        // SAFETY: The decoder made the slot for 32-bit lanes.
        let sizes = op
            .source_bytes
            .map(|slot| unsafe { view.regs.lanes::<u32>(slot) });
        let to_shared = WarpAccess {
            block: env.block,
            warp: warp.index,
            order: Order::Weak,
            scope: Scope::Device,
            overwrites: false,
            lane_bytes: None,
            class,
            space: Space::Shared,
            bytes: op.bytes,
            mask,
            addresses: &to,
            stride: None,
        };
        // The source counts as a global load: so do the counters of an H200.
        let from_global = WarpAccess {
            lane_bytes: sizes,
            space: Space::Global,
            addresses: &from,
            ..to_shared
        };
        let instruction = view.first_instruction + ptx;
        env.observer.access(instruction, &from_global);
        env.observer.access(instruction, &to_shared);
    }
    for lane in lanes(mask) {
        let copy = Pending {
            lane: lane as u32,
            group: warp.copies.groups[lane],
            to: to[lane] as u32,
            n_bytes: op.bytes,
            data: data[lane],
        };
        warp.copies.pending.push(copy);
    }
    Ok(())
}

/// What the lanes copy, with zeros for what they do not.
fn read_sources<O: Observer>(
    env: &Env<'_, O>,
    warp: &Warp,
    view: &PathView<'_>,
    op: &AsyncCopy,
    from: &[u64; WARP_SIZE],
    mask: u32,
) -> Result<[[u8; 16]; WARP_SIZE], Stop> {
    let mut data = [[0; 16]; WARP_SIZE];
    let request = |bytes, mask| Request {
        space: Space::Global,
        bytes,
        mask,
        kind: AccessKind::Load,
        stride: None,
    };
    // SAFETY: The decoder made the slot for 32-bit lanes.
    let sizes = op
        .source_bytes
        .map(|slot| unsafe { view.regs.lanes::<u32>(slot) });
    let whole = lanes(mask)
        .filter(|&lane| sizes.is_none_or(|sizes| sizes[lane] >= op.bytes))
        .fold(0, |whole, lane| whole | 1 << lane);
    if whole != 0 {
        let located = access::locate(env, warp, view, from, request(op.bytes, whole))?;
        for lane in lanes(whole) {
            let host = located.host(from, lane);
            // SAFETY: `locate` found `op.bytes`, aligned to as many.
            unsafe {
                if op.bytes == 4 {
                    data[lane][..4].copy_from_slice(&read32(host).to_le_bytes());
                } else {
                    data[lane][..8].copy_from_slice(&read64(host).to_le_bytes());
                }
                if op.bytes == 16 {
                    data[lane][8..].copy_from_slice(&read64(host.add(8)).to_le_bytes());
                }
            }
        }
    }
    // Parts, byte by byte: they may end anywhere.
    let Some(sizes) = sizes else { return Ok(data) };
    for lane in lanes(mask & !whole) {
        let n_bytes = sizes[lane] as usize;
        for (i, byte) in data[lane][..n_bytes].iter_mut().enumerate() {
            let mut address = *from;
            address[lane] = from[lane].wrapping_add(i as u64);
            let located = access::locate(env, warp, view, &address, request(1, 1 << lane))?;
            // SAFETY: `locate` found the byte.
            *byte = unsafe { read8(located.host(&address, lane)) };
        }
    }
    Ok(data)
}
