//! Launches that ended badly, as a learner is told of them.

use super::excerpt;
use super::launch::NoRun;
use super::verdict::Failure;
use crate::workshop::Built;
use ptx_sim::LaunchError;
use ptx_sim::diagnostics::{AccessSide, AsyncFault, FaultKind, Place};

/// What is told of it.
pub(super) fn failure(error: &NoRun, built: &Built) -> Failure {
    let NoRun::Launch(error) = error else {
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
    let mut failure = Failure::new(kind, built.in_own_names(&error.to_string()));
    let names = match kind {
        _ if other.is_none() => ["", "here"],
        "in-flight" => ["what is in flight", "the access"],
        _ => ["the earlier access", "the later access"],
    };
    let earlier = other.and_then(|side| shown(built, &side.place, names[0]));
    let remark = names[1];
    let here = place.and_then(|place| shown(built, place, remark));
    let lines: Vec<String> = [earlier, here].into_iter().flatten().collect();
    failure.excerpt = (!lines.is_empty()).then(|| lines.join("\n"));
    failure
}

/// The learner's line of a place.
fn shown(built: &Built, place: &Place, remark: &str) -> Option<String> {
    let mut places = place
        .source
        .iter()
        .chain(&place.inlined_at)
        .chain(&place.inside);
    let own = places.find(|source| source.file == built.file)?;
    Some(excerpt::line(built, own.line, remark))
}

/// The other one of two accesses.
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
        FaultKind::CopyInFlight { .. } | FaultKind::CopyOutlivesBlock { .. } => "in-flight",
        FaultKind::Asynchronous(fault) => match **fault {
            AsyncFault::InFlight { .. } | AsyncFault::MissingProxyFence { .. } => "in-flight",
            _ => "fault",
        },
        FaultKind::Trap { .. } => "panic",
        _ => "fault",
    }
}
