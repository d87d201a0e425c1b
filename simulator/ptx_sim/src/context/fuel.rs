//! Fuel: the number of instructions that a launch may execute.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::Started;
use crate::diagnostics::FuelLimit;

/// What a block may execute where the launch names no limit: a fixed amount, and one for
/// each of its warps. A kernel that never ends mostly makes no progress, and is found by
/// that; this is for loops that count, or store, endlessly.
const OF_A_BLOCK: (i64, i64) = (1 << 30, 32 << 20);
/// How long all blocks in flight may wait or repeat themselves, if no others can begin:
/// nothing that they wait for changes any more, unless one of them counts its turns.
const OF_WAITING: i64 = 16 << 20;
/// The same for a launch that can then run again beside others.
const OF_WAITING_AT_FIRST: i64 = 1 << 20;
/// How long all may repeat themselves to the last bit.
const OF_REPEATING: i64 = 1 << 20;
/// The same where others run at the same time: how long nothing has happened on the machine. It
/// may be the host's turn, or a launch that the host is about to make.
const WITH_OTHERS: Duration = Duration::from_secs(5);
/// After waiting for so long, a launch lets others have the host's cores.
const LETS_OTHERS: i64 = 64 << 10;

/// What a launch may execute, in warp instructions.
pub(crate) enum Fuel {
    /// A limit for all blocks together.
    Launch { limit: i64, left: AtomicI64 },
    /// A limit for each block, and one for waiting.
    Block { limit: i64, waiting: i64 },
}

impl Fuel {
    /// As a launch of blocks of this many warps asks for.
    pub fn new(asked: Option<u64>, n_warps: u32) -> Self {
        match asked {
            Some(limit) => {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                Self::Launch {
                    limit,
                    left: AtomicI64::new(limit),
                }
            }
            None => Self::Block {
                limit: OF_A_BLOCK.0 + OF_A_BLOCK.1 * i64::from(n_warps),
                waiting: OF_WAITING,
            },
        }
    }

    /// The same for a launch that can run again beside others, if it waits.
    pub fn at_first(mut self) -> Self {
        if let Self::Block { waiting, .. } = &mut self {
            *waiting = OF_WAITING_AT_FIRST;
        }
        self
    }

    /// What is left of the launch's limit, to be put back later.
    pub fn left(&self) -> i64 {
        match self {
            Self::Launch { left, .. } => left.load(Ordering::Relaxed),
            Self::Block { .. } => 0,
        }
    }

    /// Puts back what was left of the launch's limit.
    pub fn put_back(&self, n: i64) {
        if let Self::Launch { left, .. } = self {
            left.store(n, Ordering::Relaxed);
        }
    }

    /// Takes what a block has executed; the limit that it breaks, if it does. `used` is
    /// what the block has executed in all.
    #[inline]
    pub fn burn(&self, just_now: i64, used: i64) -> Option<FuelLimit> {
        match self {
            Self::Launch { limit, left } => {
                let before = left.fetch_sub(just_now, Ordering::Relaxed);
                (before < just_now).then_some(FuelLimit::Launch(*limit as u64))
            }
            Self::Block { limit, .. } => (used > *limit).then_some(FuelLimit::Block(*limit as u64)),
        }
    }

    /// The limit that is broken by waiting for so long, if it is.
    pub fn wait(&self, waited: i64) -> Option<FuelLimit> {
        match self {
            Self::Block { waiting, .. } if waited > *waiting => {
                Some(FuelLimit::Waiting(*waiting as u64))
            }
            _ => None,
        }
    }

    /// The limit that is broken by repeating for so long, if it is.
    pub fn repeat(&self, repeated: i64) -> Option<FuelLimit> {
        match self {
            Self::Block { .. } if repeated > OF_REPEATING => {
                Some(FuelLimit::Waiting(OF_REPEATING as u64))
            }
            _ => None,
        }
    }

    /// The same where others run at the same time, since some moment; lets them run.
    pub fn wait_for_others(&self, waited: i64, since: Started) -> Option<FuelLimit> {
        if matches!(self, Self::Launch { .. }) || waited < LETS_OTHERS {
            return None;
        }
        std::thread::sleep(Duration::from_micros(100));
        let waits_long = since.elapsed() > WITH_OTHERS;
        waits_long.then_some(FuelLimit::Waiting(waited as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_burns_what_its_blocks_do_together() {
        let fuel = Fuel::new(Some(10), 1);
        assert_eq!(fuel.burn(6, 6), None);
        assert_eq!(fuel.burn(4, 4), None);
        assert_eq!(fuel.burn(1, 1), Some(FuelLimit::Launch(10)));
        assert_eq!(fuel.wait(i64::MAX), None);
        assert_eq!(fuel.repeat(i64::MAX), None);
    }

    #[test]
    fn without_a_limit_each_block_has_its_own() {
        let fuel = Fuel::new(None, 2);
        let limit = OF_A_BLOCK.0 + 2 * OF_A_BLOCK.1;
        assert_eq!(fuel.burn(1, limit), None);
        assert_eq!(fuel.burn(1, limit), None);
        assert_eq!(
            fuel.burn(1, limit + 1),
            Some(FuelLimit::Block(limit as u64))
        );
        assert_eq!(fuel.wait(OF_WAITING), None);
        assert!(fuel.wait(OF_WAITING + 1).is_some());
        assert!(fuel.repeat(OF_REPEATING).is_none() && fuel.repeat(OF_REPEATING + 1).is_some());
        let fuel = fuel.at_first();
        assert!(fuel.wait(OF_WAITING).is_some() && fuel.wait(OF_WAITING_AT_FIRST).is_none());
    }
}
