//! Modifiers that many instructions have: state space, scope, order, vector length,
//! hints.

use crate::program::{Order, Scope};
use ptx::ir::Space;

use super::decoder::Decoded;
use super::opcode::Opcode;

/// Takes a state space.
pub(crate) fn take_space(op: &mut Opcode<'_>) -> Decoded<Space> {
    Ok(op.take_if(space_name).unwrap_or(Space::Generic))
}

fn space_name(part: &str) -> Option<Space> {
    Some(match part {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

/// Takes the shared memory of the whole cluster; gives whether it was named. Its addresses
/// become generic ones (`Decoder::address_in`).
pub(crate) fn take_cluster(op: &mut Opcode<'_>) -> bool {
    op.take("shared::cluster")
}

/// Takes the scope: the whole device where none is given.
pub(crate) fn take_scope(op: &mut Opcode<'_>) -> Scope {
    if op.take("cta") {
        return Scope::Block;
    }
    if op.take("sys") {
        return Scope::System;
    }
    op.ignore(&["cluster", "gpu", "gl"]);
    Scope::Device
}

/// Takes ordering and scope. In the simulator every access is visible to all at once, in
/// program order, so every ordering holds; observers compare what the kernel asked for with
/// what it needs.
pub(crate) fn take_order(op: &mut Opcode<'_>) -> (Order, Scope) {
    let scope = take_scope(op);
    op.ignore(&["weak", "mmio"]);
    if op.take("volatile") {
        // As `.relaxed.sys`.
        return (Order::Relaxed, Scope::System);
    }
    let order = op.choose(&[
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
        ("acq_rel", Order::AcquireRelease),
    ]);
    (order.unwrap_or(Order::Weak), scope)
}

/// Takes a vector length.
pub(crate) fn take_vector(op: &mut Opcode<'_>) -> usize {
    for (name, n) in [("v2", 2), ("v4", 4), ("v8", 8)] {
        if op.take(name) {
            return n;
        }
    }
    1
}

/// Cache, eviction and prefetch hints: they change no value.
pub(crate) fn ignore_hints(op: &mut Opcode<'_>) {
    op.ignore(&[
        "ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "unified", "uni",
    ]);
    while op
        .take_if(|part| {
            (part.starts_with("L1::") || part.starts_with("L2::") || part.starts_with("level"))
                .then_some(())
        })
        .is_some()
    {}
}
