//! `cp.async`: copies whose bytes arrive at the wait, and not before.
//!
//! A copy is checked, and its source read, when it is started; shared memory
//! changes when the thread that started it waits for its group, or has its copies
//! arrive at an `mbarrier`. So a kernel that reads too early always reads the old contents.
//! Copies that are never waited for never arrive.
//!
//! Left out: sources that change between start and wait (the hardware may read
//! them at any time in between); cache hints, which have no effect.

use super::super::access::{Request, lane_addresses, locate, read8, read32, read64};
use super::super::context::Step;
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::copies::Copying;
use crate::diagnostics::AccessKind;
use crate::lanes::{WARP_SIZE, lanes};
use crate::program::AsyncCopy;
use crate::stop::Stop;
use ptx::ir::Space;

/// Starts a copy by the lanes of `mask`.
#[inline(always)]
pub(super) fn start<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &AsyncCopy,
    mask: u32,
) -> Result<(), Stop> {
    let (to, from) = (
        lane_addresses(&step.view, &op.to, mask).lanes,
        lane_addresses(&step.view, &op.from, mask).lanes,
    );
    let target = Request {
        space: Space::Shared,
        bytes: op.bytes,
        mask,
        kind: AccessKind::Store,
        addresses: &to,
        stride: None,
    };
    locate(step, target)?;
    let data = read_sources(step, op, &from, mask)?;
    if O::ON {
        let class = if op.bypasses {
            AccessClass::AsyncCopyBypass
        } else {
            AccessClass::AsyncCopy
        };
        // SAFETY: The decoder made the slot for 32-bit lanes.
        let sizes = op
            .source_bytes
            .map(|slot| unsafe { step.view.regs.lanes::<u32>(slot) });
        let sizes = sizes.filter(|sizes| lanes(mask).any(|lane| sizes[lane] < op.bytes));
        let to_shared = target.observed(step, class);
        // The source counts as a global load, as in an H200's counters.
        let from_global = WarpAccess {
            lane_bytes: sizes,
            space: Space::Global,
            addresses: &from,
            ..to_shared
        };
        step.env.observer.access(step.number, &from_global);
        step.env.observer.access(step.number, &to_shared);
    }
    let copying = Copying {
        mask,
        n_bytes: op.bytes,
        to: to.map(|address| address as u32),
        data,
    };
    // SAFETY: `locate` found the targets' bytes in this memory.
    unsafe { step.warp.copies.start(copying) };
    Ok(())
}

/// What the lanes copy, with zeros for the rest.
#[inline(always)]
fn read_sources<O: Observer>(
    step: &Step<'_, '_, O>,
    op: &AsyncCopy,
    from: &[u64; WARP_SIZE],
    mask: u32,
) -> Result<[[u8; 16]; WARP_SIZE], Stop> {
    let mut data = [[0; 16]; WARP_SIZE];
    // SAFETY: The decoder made the slot for 32-bit lanes.
    let sizes = op
        .source_bytes
        .map(|slot| unsafe { step.view.regs.lanes::<u32>(slot) });
    let is_part = |&lane: &usize| sizes.is_some_and(|sizes| sizes[lane] < op.bytes);
    let whole = match sizes {
        None => mask,
        Some(_) => {
            mask & !lanes(mask)
                .filter(is_part)
                .fold(0, |all, lane| all | 1 << lane)
        }
    };
    if whole != 0 {
        let located = locate(step, source(from, op.bytes, whole))?;
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
            let located = locate(step, source(&address, 1, 1 << lane))?;
            // SAFETY: `locate` found the byte.
            *byte = unsafe { read8(located.host(&address, lane)) };
        }
    }
    Ok(data)
}

/// A load of `bytes` by the lanes of `mask`.
fn source(addresses: &[u64; WARP_SIZE], bytes: u32, mask: u32) -> Request<'_> {
    Request {
        space: Space::Global,
        bytes,
        mask,
        kind: AccessKind::Load,
        addresses,
        stride: None,
    }
}
