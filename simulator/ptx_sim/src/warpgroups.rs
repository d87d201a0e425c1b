//! The warpgroups of a block: four warps each, which issue the same products.
//!
//! At a product each warp waits until all four have reached it (as on an H200), and then
//! computes its own rows. At `wgmma.wait_group` it waits until all four have done that: one
//! thread of the four warps may free what all of them read. Whether two warps' products are
//! the same one follows from their order: the n-th of each must be the same instruction,
//! with the same operands.

use std::collections::VecDeque;

use crate::numeric::tile::Register;
use crate::registers_of_block::RegistersOfBlock;
use crate::warp::{PathState, Warp};

/// Warps of a warpgroup.
pub(crate) const N_WARPS: u32 = 4;

/// A product, as far as all warps must agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Issued {
    /// The instruction's number in the launch.
    pub instruction: u32,
    /// The descriptor of A, if it is in memory.
    pub a: Option<u64>,
    /// That of B.
    pub b: u64,
    /// Whether the sums are kept.
    pub keeps: bool,
}

/// One warpgroup.
#[derive(Default, Clone, Hash)]
struct Warpgroup {
    /// By warp, how many products it has reached, and how many it has issued.
    n_come: [u64; N_WARPS as usize],
    n_issued: [u64; N_WARPS as usize],
    /// Those that not all warps have issued, oldest first.
    products: VecDeque<Issued>,
    /// How many all have issued.
    n_common: u64,
}

/// The warpgroups of a block.
#[derive(Default, Clone, Hash)]
pub(crate) struct Warpgroups {
    groups: Vec<Warpgroup>,
    /// The registers that warps can give and take.
    pub registers: RegistersOfBlock,
    /// Whether something has happened that a warp may wait for.
    pub has_changed: bool,
    /// Memory of a right operand, to be reused.
    pub spare: Vec<[Register; 2]>,
}

impl Warpgroups {
    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.groups.clear();
        self.registers.reset();
        self.has_changed = false;
    }

    fn of(&mut self, warp: u32) -> (&mut Warpgroup, usize) {
        let index = (warp / N_WARPS) as usize;
        if self.groups.len() <= index {
            self.groups.resize_with(index + 1, Warpgroup::default);
        }
        (&mut self.groups[index], (warp % N_WARPS) as usize)
    }

    /// A warp reaches its next product, or is still there. Gives whether all warps of its
    /// group are; an error is the different product that another warp reached.
    pub fn come(&mut self, warp: u32, product: Issued) -> Result<bool, Issued> {
        let (group, index) = self.of(warp);
        let number = group.n_issued[index];
        let is_new = group.n_come[index] == number;
        if is_new {
            match group.products.get((number - group.n_common) as usize) {
                Some(other) if *other != product => return Err(*other),
                Some(_) => {}
                None => group.products.push_back(product),
            }
            group.n_come[index] += 1;
        }
        let all_are_here = group.n_come.iter().all(|&come| come > number);
        self.has_changed |= is_new;
        Ok(all_are_here)
    }

    /// A warp issues the product that it has come to.
    pub fn issue(&mut self, warp: u32) {
        self.has_changed = true;
        let (group, index) = self.of(warp);
        group.n_issued[index] += 1;
        let least = group.n_issued.iter().copied().min().unwrap_or(0);
        group.products.drain(..(least - group.n_common) as usize);
        group.n_common = least;
    }

    /// How many products a warp has issued.
    pub fn n_issued(&mut self, warp: u32) -> u64 {
        let (group, index) = self.of(warp);
        group.n_issued[index]
    }

    /// Whether all warps of a warp's group have issued this many.
    pub fn all_have_issued(&mut self, warp: u32, n: u64) -> bool {
        self.of(warp).0.n_common >= n
    }

    /// Lets warps that wait try again, if something has happened since; gives whether any
    /// wait.
    #[inline]
    pub fn wake(&mut self, warps: &mut [Warp]) -> bool {
        std::mem::take(&mut self.has_changed) && wake_all(warps)
    }

    /// Why a warp waits at a product, or for this many.
    #[cold]
    pub fn missing(&self, warp: u32, n: Option<u64>) -> String {
        let first = warp / N_WARPS * N_WARPS;
        let default = Warpgroup::default();
        let group = self.groups.get((warp / N_WARPS) as usize);
        let group = group.unwrap_or(&default);
        let n = n.unwrap_or(group.n_come[(warp % N_WARPS) as usize]);
        let behind = (first..).zip(group.n_come).filter(|&(_, come)| come < n);
        let behind: Vec<String> = behind
            .map(|(warp, come)| format!("warp {warp} has only reached {come}"))
            .collect();
        format!(
            "warp {warp} waits for product {n} of its warpgroup, but {}: all four warps must \
             execute each wgmma",
            behind.join(", ")
        )
    }
}

#[cold]
fn wake_all(warps: &mut [Warp]) -> bool {
    let mut any = false;
    for path in warps.iter_mut().flat_map(|warp| &mut warp.paths) {
        if path.state == PathState::AtWarpgroup {
            path.state = PathState::Ready;
            any = true;
        }
    }
    any
}
