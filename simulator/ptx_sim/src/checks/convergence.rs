//! Convergence, which some operations require of threads: barriers and warp-wide
//! instructions.
//!
//! The interpreter itself stops where threads wait for each other forever, where a lane's
//! mask leaves it out, and where a part of a warp reaches a barrier that counts whole
//! warps. The defects found here may pass on a machine by luck:
//! - threads that meet at one barrier through different `bar.sync` without a count, as in
//!   the two branches of a condition;
//! - threads that come to one barrier with different counts;
//! - lanes that name each other in masks that are not the same.
//!
//! What it misses: arrivals at a barrier that are never waited for in the end; masks
//! that name lanes which have ended (the hardware does not wait for them either).

use super::access::{BarrierArrival, Lanes};
use super::finding::{Finding, Side};
use super::races::lanes;
use crate::diagnostics::AccessKind;
use crate::lanes::all_name_all;

/// A lane at an instruction.
pub(crate) fn thread_at(instruction: u32, of: Lanes, lane: u32) -> Side {
    Side {
        instruction,
        block: of.block,
        warp: of.warp,
        lane,
        kind: AccessKind::Load,
    }
}

/// By barrier, who came first since it last released its warps.
#[derive(Default)]
pub(crate) struct Meetings([Option<(Side, Option<u32>)>; 16]);

impl Meetings {
    /// Lanes come to a barrier of a block of `n_threads`.
    pub fn arrived(&mut self, arrival: &BarrierArrival, n_threads: u32) -> Option<Finding> {
        let first = arrival.lanes.mask.trailing_zeros();
        let this = thread_at(arrival.instruction, arrival.lanes, first);
        let threads = arrival.threads;
        let Some((other, other_threads)) = self.0[arrival.barrier] else {
            self.0[arrival.barrier] = Some((this, threads));
            return None;
        };
        let barrier = arrival.barrier as u32;
        let all = n_threads.next_multiple_of(32);
        if threads.unwrap_or(all) != other_threads.unwrap_or(all) {
            return Some(Finding::DifferentCounts {
                barrier,
                this,
                threads,
                other,
                other_threads,
            });
        }
        let has_count = threads.is_some() || other_threads.is_some();
        (!has_count && this.instruction != other.instruction).then_some(
            Finding::DifferentBarriers {
                barrier,
                this,
                other,
            },
        )
    }

    /// A barrier releases its warps.
    pub fn released(&mut self, barrier: usize) {
        self.0[barrier] = None;
    }
}

/// Checks a warp-wide instruction that all its lanes have reached.
pub(crate) fn warp_wide(instruction: u32, of: Lanes, members: &[u32; 32]) -> Option<Finding> {
    let present = of.mask;
    if all_name_all(present, members) {
        return None;
    }
    let first = members[present.trailing_zeros() as usize & 31];
    let is_one_group = lanes(present).all(|lane| members[lane] == first);
    if !is_one_group {
        for lane in lanes(present) {
            let others = members[lane] & present;
            if let Some(other) = lanes(others).find(|&other| members[other] != members[lane]) {
                return Some(Finding::DifferentMasks {
                    this: thread_at(instruction, of, lane as u32),
                    members: members[lane],
                    other_lane: other as u32,
                    other_members: members[other],
                });
            }
        }
    }
    None
}
