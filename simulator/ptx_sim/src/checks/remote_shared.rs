//! Accesses by other blocks of a cluster to a block's shared memory, and whether the block may have
//! ended before.
//!
//! A block has ended when all its threads have. So an access by another block is in time if
//! it comes before the end of any thread of this block: if, when the block has ended, one
//! of its threads knows of the access.
//!
//! What it misses: of one warp's accesses by the same lanes, all but the last, which come
//! before it.

use super::access::WarpAccess;
use super::exact::{Kind, site_of};
use super::finding::{Finding, Side, Spot};
use super::order::{BlockOrder, Part, missing};
use super::races;
use super::races::lanes;

/// The last accesses by other blocks to a block's shared memory.
#[derive(Default)]
pub(crate) struct RemoteAccesses(Vec<RemoteAccess>);

/// An access of some lanes of a warp.
struct RemoteAccess {
    side: Side,
    at: Spot,
    addresses: [u64; 32],
    lanes: u32,
    /// The warp's clock then.
    clock: u32,
}

impl RemoteAccesses {
    /// For the next block.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Lanes of a block of this order access it.
    pub fn add(&mut self, instruction: u32, access: &WarpAccess<'_>, order: &BlockOrder) {
        for earlier in &mut self.0 {
            if (earlier.side.block, earlier.side.warp) == (access.block, access.warp) {
                earlier.lanes &= !access.mask;
            }
        }
        self.0.retain(|earlier| earlier.lanes != 0);
        let clock = order.warps[access.warp as usize].clock;
        let lane = access.mask.trailing_zeros() % 32;
        let site = site_of(instruction, access, Kind::of(access).flags, clock);
        self.0.push(RemoteAccess {
            side: races::side(&site, lane),
            at: Spot::of(access, lane as usize),
            addresses: *access.addresses,
            lanes: access.mask,
            clock,
        });
    }

    /// An access that no thread of the block knows of, now that it has ended.
    pub fn too_late(&self, order: &BlockOrder) -> Option<Finding> {
        self.0.iter().find_map(|access| {
            let mut unknown = access.lanes;
            for warp in &order.warps {
                for (_, known) in warp.groups() {
                    let part = Part {
                        warp: access.side.warp,
                        lanes: unknown,
                        clock: access.clock,
                    };
                    unknown &= missing(known, order.place, access.side.block, part);
                }
            }
            let lane = lanes(unknown).next()?;
            let at = Spot {
                address: access.addresses[lane],
                ..access.at
            };
            let this = Side {
                lane: lane as u32,
                ..access.side
            };
            Some(Finding::MayHaveEnded { at, this })
        })
    }
}
