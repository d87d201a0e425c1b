//! Helpers shared by several answers.

use ptx_sim::trace::{Trace, TraceEvent, TraceKind, TracedAccess};

/// An error in the simulator's words.
pub(crate) fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The accesses in a trace, in order, with their events.
pub(crate) fn accesses(trace: &Trace) -> impl Iterator<Item = (&TraceEvent, &TracedAccess)> {
    trace.events.iter().filter_map(|event| match &event.kind {
        TraceKind::Access(access) => Some((event, &**access)),
        _ => None,
    })
}

/// Elements that all differ, as far as their size allows: element `i` starts with the bytes
/// of `i`.
pub(crate) fn elements(n: u32, bytes: u32) -> Vec<u8> {
    let of = |i: u32| {
        let mixed = u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rest = (0..bytes).map(move |at| (mixed >> (8 * (at % 8))) as u8);
        rest.enumerate().map(move |(at, byte)| match at {
            0 | 1 => i.to_le_bytes()[at],
            _ => byte,
        })
    };
    (0..n).flat_map(of).collect()
}
