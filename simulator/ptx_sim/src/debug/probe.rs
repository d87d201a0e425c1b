//! Probes, which look for a moment of a launch.

use std::any::Any;
use std::ops::Range;

use super::here::Position;
use super::values::Moment;
use crate::checks::access::{BulkStart, BulkTouch, Lanes, WarpAccess};
use crate::lanes::lanes;
use ptx::ir::Space;

/// Looks for a moment of a launch, instruction by instruction.
pub trait Probe: Any + Send {
    /// An instruction is about to be executed; whether this is a moment to halt at.
    fn step(&mut self, at: &Moment<'_>) -> bool;
    /// Whether it is to be asked about accesses to memory.
    fn wants_accesses(&self) -> bool {
        false
    }
    /// An instruction accesses memory; whether the moment before it is one to halt at.
    fn touch(&mut self, _touch: &Touch<'_>) -> bool {
        false
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// It reads.
    Read,
    /// It writes.
    Written,
    /// It reads and writes.
    Both,
}

impl Touched {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// An access to memory by an instruction of a warp. A bulk copy is one when it is started.
pub struct Touch<'a> {
    /// The instruction's time.
    pub time: u64,
    /// The block's number in the grid, and the warp's in the block.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lanes that take part.
    pub lanes: u32,
    /// Global, shared or local memory.
    pub space: Space,
    /// The number of the block whose shared memory it is.
    pub owner: u64,
    /// What it does.
    pub how: Touched,
    /// The instruction.
    pub position: Position,
    pub(crate) instruction: u32,
    places: Places<'a>,
}

enum Places<'a> {
    /// By lane.
    Lanes {
        addresses: &'a [u64; 32],
        bytes: u32,
    },
    Ranges(&'a [Range<u64>]),
}

impl<'a> Touch<'a> {
    pub(crate) fn of_lanes(
        (time, instruction, position): (u64, u32, Position),
        access: &WarpAccess<'a>,
        how: Touched,
    ) -> Self {
        Self {
            time,
            block: access.block,
            warp: access.warp,
            lanes: access.mask,
            space: access.space,
            owner: access.owner,
            how,
            position,
            instruction,
            places: Places::Lanes {
                addresses: access.addresses,
                bytes: access.bytes,
            },
        }
    }

    pub(crate) fn of_copy(
        (time, instruction, position): (u64, u32, Position),
        thread: Lanes,
        start: &BulkStart,
        of: &'a BulkTouch,
        how: Touched,
    ) -> Self {
        Self {
            time,
            block: thread.block,
            warp: thread.warp,
            lanes: thread.mask,
            space: of.space,
            owner: start.owner,
            how,
            position,
            instruction,
            places: Places::Ranges(&of.ranges),
        }
    }

    /// The lanes that access a byte of a range.
    pub fn lanes_in(&self, range: &Range<u64>) -> u32 {
        let meets = |other: Range<u64>| other.start < range.end && range.start < other.end;
        match &self.places {
            Places::Lanes { addresses, bytes } => {
                let at = |lane: usize| addresses[lane]..addresses[lane] + u64::from(*bytes);
                let meeting = lanes(self.lanes).filter(|&lane| meets(at(lane)));
                meeting.fold(0, |mask, lane| mask | 1 << lane)
            }
            Places::Ranges(ranges) => match ranges.iter().any(|other| meets(other.clone())) {
                true => self.lanes,
                false => 0,
            },
        }
    }

    /// Where each lane accesses memory and how many bytes; none of a bulk copy.
    pub fn addresses(&self) -> Option<(&[u64; 32], u32)> {
        match &self.places {
            Places::Lanes { addresses, bytes } => Some((addresses, *bytes)),
            Places::Ranges(_) => None,
        }
    }
}
