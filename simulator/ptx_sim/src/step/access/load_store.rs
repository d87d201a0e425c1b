//! `ld` and `st`.

use super::super::context::Step;
use super::addresses::Addresses;
use super::by_block::{InCluster, by_block};
use super::elements::{from_memory, to_memory};
use super::local;
use super::locate::{Located, Request, locate};
use super::rows::access_row;
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::FULL_MASK;
use crate::program::{Access, Order};
use crate::stop::Stop;
use ptx::ir::Space;

/// `ld`
#[inline(always)]
pub(in crate::step) fn load<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    if op.order != Order::Weak {
        step.poll(1);
    }
    access::<O, true>(step, op, mask)
}

/// `st`
#[inline(always)]
pub(in crate::step) fn store<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    step.warp.has_effect();
    access::<O, false>(step, op, mask)
}

/// A load or a store, in the version that suits this machine.
#[inline(always)]
fn access<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if O::QUICK {
        // SAFETY: Such an observer is run only where there are wide vectors (`BlockRun::round`).
        return unsafe { access_wide::<O, LOAD>(step, op, mask) };
    }
    access_plain::<O, LOAD>(step, op, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn access_wide<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    if mask == FULL_MASK && access_row::<O, LOAD>(step, op) {
        return Ok(());
    }
    // SAFETY: This machine has the vectors.
    unsafe { scattered_wide::<O, LOAD>(step, op, mask) }
}

/// Apart, so that a row does not have to make room for the addresses.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn scattered_wide<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    scattered::<O, LOAD>(step, op, mask)
}

#[inline(never)]
fn access_plain<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    if mask == FULL_MASK && access_row::<O, LOAD>(step, op) {
        return Ok(());
    }
    scattered::<O, LOAD>(step, op, mask)
}

/// An access whose lanes have an address each.
#[inline(always)]
fn scattered<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    let mut addresses = Addresses::NONE;
    addresses.find(&step.view, &op.address, mask);
    if op.space != Space::Generic {
        // The usual case, without a loop.
        return access_in::<O, LOAD>(step, op, op.space, &addresses, mask);
    }
    let mut left = mask;
    while left != 0 {
        let (space, part) = addresses.resolve(op.space, left);
        if space == Space::Shared && step.launch.has_ranks {
            in_cluster::<O, LOAD>(step, op, &addresses, part)?;
        } else {
            access_in::<O, LOAD>(step, op, space, &addresses, part)?;
        }
        left &= !part;
    }
    Ok(())
}

/// An access to shared memory, perhaps that of other blocks.
#[cold]
#[inline(never)]
fn in_cluster<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let access = InCluster {
        addresses,
        mask,
        kind: if LOAD {
            AccessKind::Load
        } else {
            AccessKind::Store
        },
        bytes: op.bytes() as u32,
    };
    by_block(step, access, |step, addresses, mask| {
        access_in::<O, LOAD>(step, op, Space::Shared, addresses, mask)
    })
}

/// An access in one space: located, shown to the observer, executed.
#[inline(always)]
fn access_in<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    space: Space,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.bytes() as u32;
    let stride = addresses.stride_for(mask);
    let filled;
    let addresses = if mask == FULL_MASK {
        &addresses.lanes
    } else {
        filled = addresses.filled(mask);
        &filled
    };
    let (class, kind) = if LOAD {
        (AccessClass::Load, AccessKind::Load)
    } else {
        (AccessClass::Store, AccessKind::Store)
    };
    let request = Request {
        space,
        bytes,
        mask,
        kind,
        addresses,
        stride,
    };
    let located = locate(step, request)?;
    if O::ON {
        let access = WarpAccess {
            is_constant: op.is_constant,
            order: op.order,
            scope: op.scope,
            ..request.observed(step, class)
        };
        step.env.observer.access(step.number, &access);
    }
    let view = &step.view;
    // Does nothing else use the memory while this runs?
    let alone = step.launch.exclusive || space == Space::Shared;
    match located {
        Located::Local if LOAD => local::load(step.warp, view, op, addresses, mask),
        Located::Local => local::store(step.warp, view, op, addresses, mask),
        _ if LOAD => from_memory(view, op, (&located, alone), addresses, mask),
        _ => to_memory(view, op, (&located, alone), addresses, mask),
    }
    Ok(())
}
