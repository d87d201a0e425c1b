//! Failed launches, as they are reported to a learner.

use super::excerpt;
use super::launch::NoRun;
use super::verdict::Failure;
use crate::workshop::Built;
use ptx_sim::LaunchError;
use ptx_sim::diagnostics::{AccessSide, AsyncFault, FaultKind, Place};

/// The failure to report.
pub(super) fn failure(error: &NoRun, built: &Built) -> Failure {
    let NoRun::Launch { error, printed } = error else {
        return Failure::new("launch", error.to_string());
    };
    let (kind, place, other) = match error {
        LaunchError::Fault(fault) => (kind(&fault.kind), Some(&fault.place), earlier(&fault.kind)),
        LaunchError::OutOfFuel(out) => ("endless", Some(&out.place), None),
        LaunchError::InvalidLaunch { .. } => ("launch", None, None),
        LaunchError::Unsupported { place, .. }
        | LaunchError::HostOutOfMemory { place }
        | LaunchError::Internal { place, .. } => ("fault", Some(&**place), None),
    };
    let message = built.in_own_names(&error.to_string());
    // The verdict already begins with the kind.
    let message = message
        .strip_prefix(&format!("{kind}: "))
        .unwrap_or(&message);
    let mut failure = Failure::new(kind, message);
    failure.excerpt = lines(kind, place, other, built);
    failure.after_printing(printed)
}

/// The learner's lines of one access, or of two.
fn lines(
    kind: &str,
    place: Option<&Place>,
    other: Option<&AccessSide>,
    built: &Built,
) -> Option<String> {
    let here = own_line(built, place?)?;
    let Some(before) = other.and_then(|side| own_line(built, &side.place)) else {
        return Some(excerpt::line(built, here, "here"));
    };
    let names = match kind {
        "in-flight" => ["what is in flight", "the access"],
        _ if before == here => return Some(excerpt::line(built, here, "both accesses")),
        _ => ["the earlier access", "the later access"],
    };
    let lines = [(before, names[0]), (here, names[1])];
    Some(
        lines
            .map(|(line, name)| excerpt::line(built, line, name))
            .join("\n"),
    )
}

/// The learner's line of a place.
fn own_line(built: &Built, place: &Place) -> Option<u32> {
    let places = place.source.iter().chain(&place.inlined_at);
    let mut places = places.chain(&place.inside);
    let own = places.find(|source| source.file == built.file)?;
    Some(own.line)
}

/// The other of two accesses.
fn earlier(kind: &FaultKind) -> Option<&AccessSide> {
    match kind {
        FaultKind::Race { other, .. } | FaultKind::NotConstant { other, .. } => Some(other),
        FaultKind::CopyInFlight { copy, .. } => Some(copy),
        FaultKind::Asynchronous(fault) => match &**fault {
            AsyncFault::InFlight { operation, .. } => Some(operation),
            AsyncFault::MissingProxyFence { store, .. } => Some(store),
            _ => None,
        },
        _ => None,
    }
}

/// The kind by which exercises know it.
fn kind(kind: &FaultKind) -> &'static str {
    match kind {
        FaultKind::OutOfBounds { .. }
        | FaultKind::NullPointer { .. }
        | FaultKind::NotAPeer { .. }
        | FaultKind::UseAfterFree { .. } => "out-of-bounds",
        FaultKind::Misaligned { .. } => "misaligned",
        FaultKind::Race { .. } | FaultKind::NotConstant { .. } => "race",
        FaultKind::Unwritten { .. } => "unwritten",
        FaultKind::DivergentBarrier { .. }
        | FaultKind::DifferentBarriers { .. }
        | FaultKind::DifferentCounts { .. }
        | FaultKind::BadBarrier { .. } => "barrier",
        FaultKind::BarrierDeadlock { .. } => "deadlock",
        FaultKind::MissingLanes { .. }
        | FaultKind::PartialWarp { .. }
        | FaultKind::NotAMember { .. }
        | FaultKind::AbsentSource { .. }
        | FaultKind::DifferentMasks { .. } => "warp",
        FaultKind::CopyInFlight { .. }
        | FaultKind::Pending { .. }
        | FaultKind::CopyOutlivesBlock { .. } => "in-flight",
        FaultKind::Asynchronous(fault) => match **fault {
            AsyncFault::InFlight { .. }
            | AsyncFault::MissingProxyFence { .. }
            | AsyncFault::UnpublishedBarrier { .. } => "in-flight",
            _ => "fault",
        },
        FaultKind::Trap { .. } => "panic",
        _ => "fault",
    }
}
