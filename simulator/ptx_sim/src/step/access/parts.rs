//! Vector loads of which only some bytes matter: one request, in which the other bytes may
//! lie out of bounds, be written concurrently or not at all.

use super::super::context::Step;
use super::addresses::{Addresses, lane_addresses};
use super::by_block::{InCluster, by_block};
use super::elements::from_memory;
use super::local;
use super::locate::{Located, Request, locate};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::lanes;
use crate::program::{Access, Order, PartialLoad};
use crate::stop::Stop;
use ptx::ir::Space;

/// `ld` after `.pragma "used_bytes_mask"`. Kept out of its caller, which every instruction
/// passes through.
#[inline(never)]
pub(in crate::step) fn load_parts<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &PartialLoad,
    mask: u32,
) -> Result<(), Stop> {
    if op.whole.order != Order::Weak {
        step.poll(1);
    }
    // All addresses are computed before any register is written, which may hold them.
    let mut addresses = lane_addresses(&step.view, &op.whole.address, mask);
    let mut left = mask;
    while left != 0 {
        let (space, same) = addresses.resolve(op.whole.space, left);
        if space == Space::Shared && step.launch.has_ranks {
            let access = InCluster {
                addresses: &addresses,
                mask: same,
                kind: AccessKind::Load,
                bytes: op.whole.element_bytes * op.whole.registers.len() as u32,
            };
            by_block(step, access, |step, addresses, mask| {
                load_in(step, op, Space::Shared, addresses, mask)
            })?;
        } else {
            load_in(step, op, space, &addresses, same)?;
        }
        left &= !same;
    }
    Ok(())
}

/// The load in one space: aligned as a whole, found part by part.
fn load_in<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &PartialLoad,
    space: Space,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let addresses = &addresses.filled(mask);
    let whole = Request {
        space,
        bytes: op.whole.element_bytes * op.whole.registers.len() as u32,
        mask,
        kind: AccessKind::Load,
        addresses,
        stride: None,
    };
    let is_misaligned = |lane: &usize| !addresses[*lane].is_multiple_of(u64::from(whole.bytes));
    if let Some(lane) = lanes(mask).find(is_misaligned) {
        let mask = 1 << lane;
        locate(step, Request { mask, ..whole })?;
    }
    if O::ON {
        let request = observed(step, &whole, &op.whole);
        step.env.observer.request(step.number, &request);
    }
    for (offset, part) in &op.parts {
        let addresses = addresses.map(|address| address.wrapping_add(u64::from(*offset)));
        let request = Request {
            bytes: part.element_bytes,
            addresses: &addresses,
            ..whole
        };
        let located = locate(step, request)?;
        if O::ON {
            let access = observed(step, &request, part);
            step.env.observer.part(step.number, &access);
        }
        match located {
            Located::Local => local::load(step.warp, &step.view, part, &addresses, mask),
            _ => from_memory(&step.view, part, (&located, false), &addresses, mask),
        }
    }
    Ok(())
}

fn observed<'a, O: Observer>(
    step: &Step<'_, '_, O>,
    request: &Request<'a>,
    op: &Access,
) -> WarpAccess<'a> {
    WarpAccess {
        is_constant: op.is_constant,
        order: op.order,
        scope: op.scope,
        ..request.observed(step, AccessClass::Load)
    }
}
