//! Predictions of the counting rules for a case.

use super::{Case, Counted};
use ptx_sim::count::{GlobalKind, SharedKind, global_access, local_access, shared_access};

/// An instruction that the rules do not cover.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an instruction that is counted; these are: ld, st, atom and red with `.shared` or \
     `.global`, ld and st with `.local`, ldmatrix and stmatrix with `.x1`, `.x2` or `.x4`, \
     cp.async.ca and cp.async.cg"
)]
pub struct NotCounted(pub String);

/// The counts of a case that the rules give, from its addresses alone.
///
/// # Errors
///
/// The instruction is not known.
pub fn predict(case: &Case) -> Result<Counted, NotCounted> {
    let unknown = || NotCounted(case.instruction.clone());
    let mut parts = case.instruction.split(['.', ' ']);
    let operation = parts.next().unwrap_or_default();
    let has = |part: &str| case.instruction.split(['.', ' ']).any(|p| p == part);
    let addresses = case.offsets.map(u64::from);
    let shared = |kind| {
        let cost = shared_access(kind, case.bytes, case.mask, &case.offsets);
        Counted::shared(cost.wavefronts.into(), cost.conflicts.into())
    };
    let global = |kind| {
        let cost = global_access(kind, case.bytes, case.mask, &addresses);
        Counted::global(cost.requests.into(), cost.sectors.into())
    };
    Ok(match operation {
        "ld" if has("shared") => shared(SharedKind::Load),
        "st" if has("shared") => shared(SharedKind::Store),
        "atom" if has("shared") && has("cas") => shared(SharedKind::CompareAndSwap),
        "red" if has("shared") && case.instruction.ends_with("(of 1)") => {
            shared(SharedKind::Increment)
        }
        "atom" | "red" if has("shared") => shared(SharedKind::Atomic),
        "ldmatrix" | "stmatrix" => {
            let matrices = [("x1", 1), ("x2", 2), ("x4", 4)]
                .into_iter()
                .find(|&(part, _)| has(part))
                .ok_or_else(unknown)?
                .1;
            shared(SharedKind::Matrix { matrices })
        }
        "cp" if has("async") && has("cg") => global(GlobalKind::Plain),
        "cp" if has("async") && has("ca") => {
            let [wavefronts, conflicts, ..] = shared(SharedKind::AsyncCopy).0;
            let [.., requests, sectors] = global(GlobalKind::Plain).0;
            Counted([wavefronts, conflicts, requests, sectors])
        }
        "ld" | "st" if has("global") => global(GlobalKind::Plain),
        "atom" if has("global") && has("cas") => global(GlobalKind::CompareAndSwap),
        "atom" | "red" if has("global") => global(GlobalKind::Atomic),
        "ld" | "st" if has("local") => {
            let cost = local_access(case.bytes, case.mask, &addresses);
            Counted::global(cost.requests.into(), cost.sectors.into())
        }
        _ => return Err(unknown()),
    })
}
