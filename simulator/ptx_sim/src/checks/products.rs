//! Reads of shared memory by products of warpgroups, and the threads ordered after them.
//!
//! The n-th product of each warp of a warpgroup is one and the same. It is done as soon as
//! one of them has waited for it; so a write to what it read must come after the wait of one of
//! the four warps, any lane of which may have signalled it. Kernels rely on that: one thread of
//! the four warps frees a tile for all of them.

use std::collections::VecDeque;

use super::access::Lanes;
use super::finding::Side;
use super::order::Part;
use super::proxies::OperationId;
use crate::lanes::FULL_MASK;
use crate::warpgroups::N_WARPS;

/// Waits of a warp, and products of a warpgroup, that are remembered: more than any
/// pipeline has stages. Older ones are assumed to be in order.
const MANY: usize = 1 << 12;

/// Beyond this, numbers begin anew.
const HIGHEST_BASE: u32 = 1 << 31;

/// A warpgroup's.
#[derive(Default)]
struct OfGroup {
    /// Those that have not been waited for: their numbers, and what each warp reads.
    at_work: Vec<(u32, OperationId)>,
    /// By warp, up to which product it has waited, and its clock then.
    waits: [VecDeque<(u32, u32)>; N_WARPS as usize],
    /// The threads that issued them.
    sides: VecDeque<(u32, Side)>,
}

/// A block's.
#[derive(Default)]
pub(crate) struct Products {
    groups: Vec<OfGroup>,
    /// By unit of shared memory and warpgroup, `base` and the number of the last product that read
    /// there; `base` or less if there is none or it has been written since.
    last: Vec<u32>,
    base: u32,
    /// The highest number of a product.
    highest: u32,
}

impl Products {
    /// Resets them, for a block of this many warps with this many units of shared memory.
    pub fn reset(&mut self, n_warps: u32, n_units: u32) {
        let n_groups = n_warps.div_ceil(N_WARPS) as usize;
        self.groups.clear();
        self.groups.resize_with(n_groups, OfGroup::default);
        let n = n_groups * n_units as usize;
        self.base += std::mem::take(&mut self.highest);
        if self.last.len() != n || self.base >= HIGHEST_BASE {
            self.last.clear();
            self.last.resize(n, 0);
            self.base = 0;
        }
    }

    /// A warp issues its product of this number, from 1, which reads these units.
    pub fn issued(&mut self, side: Side, number: u32, units: &[u32], operation: OperationId) {
        let n_groups = self.groups.len();
        let index = (side.warp / N_WARPS) as usize;
        let group = &mut self.groups[index];
        group.at_work.push((number, operation));
        if group.sides.back().is_none_or(|(last, _)| *last < number) {
            group.sides.push_back((number, side));
            if group.sides.len() > MANY {
                group.sides.pop_front();
            }
        }
        self.highest = self.highest.max(number);
        for &unit in units {
            if let Some(last) = self.last.get_mut(unit as usize * n_groups + index) {
                *last = (self.base + number).max(*last);
            }
        }
    }

    /// A warp has waited for its products up to this number, at this clock. Gives what is
    /// done now.
    pub fn awaited(&mut self, of: Lanes, number: u32, clock: u32) -> Vec<OperationId> {
        let group = &mut self.groups[(of.warp / N_WARPS) as usize];
        let waits = &mut group.waits[(of.warp % N_WARPS) as usize];
        if waits.back().is_none_or(|(last, _)| *last < number) {
            waits.push_back((number, clock));
            if waits.len() > MANY {
                waits.pop_front();
            }
        }
        let mut done = Vec::new();
        group.at_work.retain(|&(own, operation)| {
            if own <= number {
                done.push(operation);
            }
            own > number
        });
        done
    }

    /// Something writes to units; `comes_after` says whether it comes after what some of these
    /// lanes did up to a clock. Gives a product that read there and that it does not come after,
    /// with the unit.
    pub fn written(
        &mut self,
        units: impl IntoIterator<Item = u32>,
        comes_after: impl Fn(Part) -> bool,
    ) -> Option<(u32, Side)> {
        let n_groups = self.groups.len();
        // Which product of which group was found to come before last: mostly the next unit's.
        let mut before = (0, 0);
        for unit in units {
            let first = unit as usize * n_groups;
            let Some(last) = self.last.get_mut(first..first + n_groups) else {
                continue;
            };
            for (index, (group, number)) in (0..).zip(self.groups.iter().zip(last)) {
                let number = std::mem::take(number).saturating_sub(self.base);
                if number == 0 || before == (index, number) {
                    continue;
                }
                if !group.is_before(index, number, &comes_after) {
                    let side = group.sides.iter().find(|(own, _)| *own >= number);
                    return side.map(|(_, side)| (unit, *side));
                }
                before = (index, number);
            }
        }
        None
    }
}

impl OfGroup {
    /// Whether a product comes before something.
    fn is_before(&self, index: u32, number: u32, comes_after: impl Fn(Part) -> bool) -> bool {
        (0..N_WARPS).zip(&self.waits).any(|(warp, waits)| {
            let first = waits.partition_point(|&(up_to, _)| up_to < number);
            // One so old that its wait has been forgotten has a later one in its place.
            let is_forgotten = first == 0 && waits.len() >= MANY;
            is_forgotten
                || waits.get(first).is_some_and(|&(_, clock)| {
                    comes_after(Part {
                        warp: index * N_WARPS + warp,
                        lanes: FULL_MASK,
                        clock,
                    })
                })
        })
    }
}
