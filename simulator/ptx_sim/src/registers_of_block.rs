//! The registers of a block's warps, which `setmaxnreg` gives back and takes.
//!
//! A block has the registers that its kernel was compiled for. Others can take what some
//! warps give back; a warp that takes more than is free waits. Nothing else in the simulator
//! depends on this: a thread has all the registers that its kernel names.

/// Registers, in this many per thread of one warp.
#[derive(Default, Clone, Hash)]
pub(crate) struct RegistersOfBlock {
    /// By warp, what it has, once it has changed.
    of_warps: Vec<Option<u32>>,
    /// What has been given back and not taken.
    n_free: u32,
}

/// Why a warp does not get what it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It has this many now, which is more (or fewer, if it gives back) than it asks for.
    WrongWay { has: u32 },
    /// There are too few free ones: it waits.
    Waits,
}

impl RegistersOfBlock {
    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.of_warps.clear();
        self.n_free = 0;
    }

    /// What a warp of a kernel whose threads begin with `first` registers has.
    pub fn of(&self, warp: u32, first: u32) -> u32 {
        let changed = self.of_warps.get(warp as usize).copied().flatten();
        changed.unwrap_or(first)
    }

    /// Why a warp that asks for `n` waits.
    #[cold]
    pub fn missing(&self, warp: u32, first: u32, n: u32) -> String {
        format!(
            "warp {warp} waits for {} more registers per thread, but the block's warps have \
             given back {} and no others become free: setmaxnreg.dec of some warps must cover \
             the .inc of others",
            n - self.of(warp, first),
            self.n_free
        )
    }

    /// A warp takes or gives back, so that it has `n`.
    pub fn set(&mut self, warp: u32, first: u32, n: u32, takes: bool) -> Result<(), Refused> {
        let has = self.of(warp, first);
        if takes && n < has || !takes && n > has {
            return Err(Refused::WrongWay { has });
        }
        if takes && n - has > self.n_free {
            return Err(Refused::Waits);
        }
        self.n_free = self.n_free + has - n;
        let index = warp as usize;
        if self.of_warps.len() <= index {
            self.of_warps.resize(index + 1, None);
        }
        self.of_warps[index] = Some(n);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_give_back_others_take() {
        let mut registers = RegistersOfBlock::default();
        assert_eq!(registers.set(0, 168, 232, true), Err(Refused::Waits));
        assert_eq!(registers.set(4, 168, 40, false), Ok(()));
        assert_eq!(registers.n_free, 128);
        assert_eq!(registers.set(0, 168, 232, true), Ok(()));
        assert_eq!(registers.set(1, 168, 240, true), Err(Refused::Waits));
        assert_eq!(registers.set(1, 168, 232, true), Ok(()));
        assert_eq!(registers.n_free, 0);
        let has = 232;
        let wrong = Err(Refused::WrongWay { has });
        assert_eq!(registers.set(0, 168, 64, true), wrong);
        assert_eq!(registers.set(0, 168, 240, false), wrong);
    }
}
