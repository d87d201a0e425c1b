//! `mbarrier`: the instruction, and the word in memory that it works on.
//!
//! PTX leaves the word's layout open. Here, from the lowest bit: arrivals to come
//! (20 bits), arrivals of a phase (20), bytes to come (22, signed), a bit that is
//! unused, and the number of the phase modulo 2.

use super::order::{Order, Scope};
use super::slot::{AddressOperand, Slot};
use ptx::ir::Space;

/// An instruction on a barrier in memory.
pub(crate) struct Mbarrier {
    pub kind: MbarrierKind,
    pub space: Space,
    pub address: AddressOperand,
    /// A state, or the predicate of a test.
    pub d: Option<Slot>,
    /// A count; or what is waited for: a state of 64 bits, or a parity.
    pub operand: Option<Slot>,
    pub order: Order,
    pub scope: Scope,
    /// Whether it is a part of an instruction that is counted by its other parts.
    pub is_part: bool,
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierKind {
    Init,
    Invalidate,
    /// `arrive`, perhaps with bytes to expect instead of a count.
    Arrive {
        drops: bool,
        expects: bool,
    },
    /// `cp.async.mbarrier.arrive`
    ArriveAfterCopies {
        /// `.noinc`: the phase counts on this arrival. If not, it adds its own arrival to
        /// those that the phase expects.
        is_expected: bool,
    },
    /// `expect_tx`, `complete_tx`
    Expect {
        completes: bool,
    },
    /// `test_wait`, `try_wait`
    Wait {
        by_parity: bool,
        may_sleep: bool,
    },
}

impl MbarrierKind {
    /// Whether threads of other blocks of the cluster may do it.
    pub fn may_be_remote(self) -> bool {
        matches!(self, Self::Arrive { .. } | Self::Expect { .. })
    }
}

/// The parts of a barrier's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BarrierWord {
    pub to_come: u64,
    pub of_phase: u64,
    pub tx: i64,
    pub phase: u64,
}

/// The most arrivals that a barrier can count.
pub(crate) const MOST_ARRIVALS: u64 = (1 << 20) - 1;

/// The most bytes that a barrier can wait for, or be ahead.
pub(crate) const MOST_BYTES: i64 = (1 << 20) - 1;

impl BarrierWord {
    /// Splits a word.
    pub fn unpack(word: u64) -> Self {
        Self {
            to_come: word & MOST_ARRIVALS,
            of_phase: word >> 20 & MOST_ARRIVALS,
            tx: (word << 2) as i64 >> 42,
            phase: word >> 63,
        }
    }

    /// Whether it may be the word of an initialised barrier. The fill of unwritten shared
    /// memory is not.
    pub fn may_be(word: u64) -> bool {
        word >> 20 & MOST_ARRIVALS != 0 && word >> 62 & 1 == 0
    }

    /// The word as it is in memory.
    pub fn pack(self) -> u64 {
        let tx = self.tx as u64 & 0x3F_FFFF;
        self.to_come | self.of_phase << 20 | tx << 40 | self.phase << 63
    }

    /// Begins the next phase if this one is over.
    pub fn advance(mut self) -> Self {
        if self.to_come == 0 && self.tx == 0 {
            self.to_come = self.of_phase;
            self.phase ^= 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_as_they_are_put_together() {
        for (to_come, of_phase, tx, phase) in [
            (0, 1, 0, 0),
            (MOST_ARRIVALS, MOST_ARRIVALS, -1, 1),
            (3, 9, 65_536, 1),
        ] {
            let word = BarrierWord {
                to_come,
                of_phase,
                tx,
                phase,
            };
            assert_eq!(BarrierWord::unpack(word.pack()), word);
        }
    }
}
