//! Accesses to the cluster's shared memory, separately for each block that owns some of it.
//!
//! What the lanes do in one block's memory is an access of its own, to that block's own
//! addresses, while `Env::shared` is its memory.

use super::super::context::Step;
use super::addresses::Addresses;
use crate::checks::observer::Observer;
use crate::cluster::Absent;
use crate::diagnostics::{AccessKind, FaultKind, WrongBlock};
use crate::lanes::lanes;
use crate::memory::address::{Owner, owner_of};
use crate::stop::Stop;

/// An access that may be to several blocks' shared memory.
#[derive(Clone, Copy)]
pub(in crate::step) struct InCluster<'a> {
    /// Addresses in shared memory's window, by lane.
    pub addresses: &'a Addresses,
    pub mask: u32,
    pub kind: AccessKind,
    /// Bytes of each lane.
    pub bytes: u32,
}

/// Executes an access separately for each block whose shared memory it accesses.
#[cold]
#[inline(never)]
pub(in crate::step) fn by_block<'e, O: Observer>(
    step: &mut Step<'_, 'e, O>,
    access: InCluster<'_>,
    mut each: impl FnMut(&mut Step<'_, 'e, O>, &Addresses, u32) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let own = step.env.rank;
    let rank = |lane: usize| match owner_of(access.addresses.lanes[lane]).0 {
        Owner::Own => Owner::Rank(own),
        other => other,
    };
    let there = Addresses::of(access.addresses.lanes.map(|address| owner_of(address).1));
    let mut left = access.mask;
    while left != 0 {
        let owner = rank(left.trailing_zeros() as usize % 32);
        let part = lanes(left).filter(|&lane| rank(lane) == owner);
        let part = part.fold(0, |part, lane| part | 1 << lane);
        left &= !part;
        match owner {
            Owner::Rank(rank) if rank == own => each(step, &there, part)?,
            Owner::Rank(rank) => in_block(
                step,
                rank,
                |step| each(step, &there, part),
                |why| wrong_block(&access, part, why),
            )?,
            Owner::Own | Owner::Nobody => {
                return Err(wrong_block(&access, part, WrongBlock::Nobody));
            }
        }
    }
    Ok(())
}

/// Does something in the shared memory of another block of the cluster.
fn in_block<'e, O: Observer>(
    step: &mut Step<'_, 'e, O>,
    rank: u32,
    act: impl FnOnce(&mut Step<'_, 'e, O>) -> Result<(), Stop>,
    wrong: impl FnOnce(WrongBlock) -> Stop,
) -> Result<(), Stop> {
    let (shared, bulk, owner) = step.env.shared_of(rank).map_err(|absent| {
        wrong(match absent {
            Absent::Ended => WrongBlock::Ended { rank },
            Absent::NoSuchRank { n_blocks } => WrongBlock::NoSuchRank { rank, n_blocks },
        })
    })?;
    let own = std::mem::replace(&mut step.env.shared, shared);
    let own_bulk = std::mem::replace(&mut step.env.bulk, bulk);
    step.env.owner = owner;
    let outcome = act(step);
    step.env.shared = own;
    step.env.bulk = own_bulk;
    step.env.owner = step.env.block;
    outcome.map_err(|stop| match stop {
        Stop::Fault { lane, kind } => {
            let kind = Box::new(kind.in_block(step.launch.ctaid(owner)));
            Stop::Fault { lane, kind }
        }
        stop => stop,
    })
}

/// The fault of the first of some lanes.
fn wrong_block(access: &InCluster<'_>, part: u32, why: WrongBlock) -> Stop {
    let lane = part.trailing_zeros() as usize % 32;
    Stop::fault(
        part,
        FaultKind::WrongBlock {
            access: access.kind,
            address: owner_of(access.addresses.lanes[lane]).1,
            bytes: access.bytes,
            why,
        },
    )
}
