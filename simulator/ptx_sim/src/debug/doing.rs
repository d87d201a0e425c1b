//! The moment at which a thread last did what a finding says.

use super::finding::{Party, bytes_of};
use super::probe::{Probe, Touch};
use super::session::Session;
use super::values::Moment;
use crate::checks::finding::{Side, Spot};

/// Remembers when a thread last carried an instruction out, and when it accessed some memory there.
struct Doing {
    side: Side,
    at: Option<Spot>,
    last: Option<u64>,
    last_there: Option<u64>,
}

impl Probe for Doing {
    fn step(&mut self, at: &Moment<'_>) -> bool {
        let side = &self.side;
        if (at.block(), at.warp()) == (side.block, side.warp)
            && at.active() >> side.lane & 1 != 0
            && at.number() == side.instruction
        {
            self.last = Some(at.time());
        }
        false
    }

    fn wants_accesses(&self) -> bool {
        self.at.is_some()
    }

    fn touch(&mut self, touch: &Touch<'_>) -> bool {
        let side = &self.side;
        if let Some(at) = &self.at
            && (touch.block, touch.warp) == (side.block, side.warp)
            && touch.instruction == side.instruction
            && touch.space == at.space
            && touch.lanes_in(&bytes_of(at)) >> side.lane & 1 != 0
        {
            self.last_there = Some(touch.time);
        }
        false
    }
}

impl Session<'_, '_> {
    /// When a thread last did before a time what a finding says.
    pub(super) fn when(&mut self, side: Side, at: Option<Spot>, before: u64) -> Option<Party> {
        let doing = Doing {
            side,
            at,
            last: None,
            last_there: None,
        };
        let there = self.backwards(before, &doing, |doing: &Doing| doing.last_there);
        let time = match there {
            Some(time) => time,
            None => self.backwards(before, &doing, |doing: &Doing| doing.last)?,
        };
        Some(Party {
            time,
            block: side.block,
            warp: side.warp,
            lane: side.lane,
        })
    }
}

impl Clone for Doing {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}
