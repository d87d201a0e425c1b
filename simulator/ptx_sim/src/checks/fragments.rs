//! The registers that products of warpgroups work on.
//!
//! From its issue until the warp has waited for its group, a product may write the registers
//! of its sums and read those of A at any moment. Until then no instruction may read or
//! write the former, or write the latter; but products of the same shape may add to the same
//! sums, one after the other. What is written to either before a product must be ordered by
//! a `wgmma.fence`.
//!
//! Copying a sum in flight by `mov` is not a read: compilers emit such copies, and the
//! assembler merges both registers. So a register that a sum is copied to is in flight as
//! well, and a sum that has been copied may be overwritten.
//!
//! What it misses: registers that pass through memory or through other instructions than
//! `mov` of one register to another; calls of functions with sums for arguments.

use std::collections::VecDeque;

use super::access::Lanes;
use super::by_register::{ByRegister, Place};
use super::convergence::thread_at;
use super::finding::{Finding, Side};
use super::observer::ProductSeen;
use crate::diagnostics::AccessKind;
use crate::program::Slot;
use crate::warp::FrameId;

/// A sum in flight, in a register.
#[derive(Clone, Copy)]
struct Sum {
    product: Side,
    group: u32,
    shape: (u32, usize),
    /// Which sum: copies have the same.
    number: u64,
    /// Whether it has been copied to another register.
    is_copied: bool,
}

/// What is known of a warp's registers.
#[derive(Default)]
pub(crate) struct Fragments {
    sums: ByRegister<Sum>,
    /// Registers of A, with the product and its group.
    parts_of_a: ByRegister<(Side, u32)>,
    /// Registers that have been written since the last fence.
    written: ByRegister<Side>,
    /// Whether there has been a fence.
    has_fenced: bool,
    n_groups: u32,
    n_sums: u64,
    /// Products issued so far, and how many there were when each group that has not been
    /// waited for was closed.
    n_issued: u32,
    closed: VecDeque<u32>,
}

impl Fragments {
    /// As new, for a block.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The warp issues a product.
    pub fn issued(&mut self, this: Side, product: &ProductSeen<'_>) -> Option<Finding> {
        self.n_issued += 1;
        let found = self.wrong_with(this, product);
        for &slot in product.sums {
            self.n_sums += 1;
            let sum = Sum {
                product: this,
                group: self.n_groups,
                shape: product.shape,
                number: self.n_sums,
                is_copied: false,
            };
            self.sums.insert((product.frame, slot), sum);
        }
        for &slot in product.a {
            let part = (this, self.n_groups);
            self.parts_of_a.insert((product.frame, slot), part);
        }
        found
    }

    fn wrong_with(&self, this: Side, product: &ProductSeen<'_>) -> Option<Finding> {
        if !self.has_fenced {
            return Some(Finding::MissingProductFence { this, write: None });
        }
        let registers = product.sums.iter().chain(product.a);
        let mut places = registers.map(|&slot| (product.frame, slot));
        let written = places.find_map(|place| self.written.get(place));
        if let Some(&write) = written {
            let write = Some(write);
            return Some(Finding::MissingProductFence { this, write });
        }
        let mut sums = product.sums.iter();
        sums.find_map(|&slot| {
            let sum = self.sums.get((product.frame, slot))?;
            (sum.shape != product.shape).then_some(Finding::OtherShape {
                this,
                product: sum.product,
            })
        })
    }

    /// How many products the warp has issued.
    pub fn n_issued(&self) -> u32 {
        self.n_issued
    }

    /// `wgmma.fence`
    pub fn fenced(&mut self) {
        self.has_fenced = true;
        self.written.clear();
    }

    /// `wgmma.commit_group`
    pub fn committed(&mut self) {
        self.n_groups += 1;
        self.closed.push_back(self.n_issued);
    }

    /// `wgmma.wait_group`; gives the product up to which all are done, if any group was
    /// waited for.
    pub fn awaited(&mut self, n_left: u32) -> Option<u32> {
        let n_groups = self.n_groups;
        let is_left = |group: u32| group.saturating_add(n_left) >= n_groups;
        self.sums.retain(|sum| is_left(sum.group));
        self.parts_of_a.retain(|(_, group)| is_left(*group));
        let n_done = self.closed.len().saturating_sub(n_left as usize);
        self.closed.drain(..n_done).next_back()
    }

    /// An instruction reads and writes registers of a frame.
    pub fn touched(
        &mut self,
        instruction: u32,
        of: Lanes,
        frame: FrameId,
        (reads, writes): (&[Slot], &[Slot]),
    ) -> Option<Finding> {
        let lane = of.mask.trailing_zeros().min(31);
        let this = |kind| Side {
            kind,
            ..thread_at(instruction, of, lane)
        };
        let read = reads.iter().find_map(|&slot| {
            let sum = self.sums.get((frame, slot))?;
            Some(Finding::RegisterInFlight {
                this: this(AccessKind::Load),
                writes: false,
                product: sum.product,
            })
        });
        let written = writes
            .iter()
            .find_map(|&slot| self.overwritten((frame, slot)));
        let written = written.map(|product| Finding::RegisterInFlight {
            this: this(AccessKind::Store),
            writes: true,
            product,
        });
        for &slot in writes {
            self.sums.remove((frame, slot));
            self.written.insert((frame, slot), this(AccessKind::Store));
        }
        read.or(written)
    }

    /// The product that is in flight in a register that is written, unless its sum has been
    /// copied elsewhere.
    fn overwritten(&self, place: Place) -> Option<Side> {
        if let Some((product, _)) = self.parts_of_a.get(place) {
            return Some(*product);
        }
        let sum = self.sums.get(place)?;
        let mut same = self.sums.iter().filter(|(_, s)| s.number == sum.number);
        let is_elsewhere = sum.is_copied || same.any(|(other, _)| other != place);
        (!is_elsewhere).then_some(sum.product)
    }

    /// A register of a frame becomes a copy of another one.
    pub fn carried(
        &mut self,
        instruction: u32,
        of: Lanes,
        frame: FrameId,
        (d, a): (Slot, Slot),
    ) -> Option<Finding> {
        if d == a {
            return None;
        }
        let sum = self.sums.get((frame, a)).copied();
        let write = self.written.get((frame, a)).copied();
        let is_copy = |own: &Sum| sum.is_some_and(|sum| sum.number == own.number);
        let found = match self.sums.get((frame, d)) {
            Some(own) if is_copy(own) => None,
            _ => self.touched(instruction, of, frame, (&[], &[d])),
        };
        self.written.remove((frame, d));
        match sum {
            Some(sum) => {
                self.sums.insert((frame, d), sum);
                if let Some(from) = self.sums.get_mut((frame, a)) {
                    from.is_copied = true;
                }
            }
            None => {
                self.sums.remove((frame, d));
            }
        }
        if let Some(write) = write {
            self.written.insert((frame, d), write);
        }
        found
    }
}
