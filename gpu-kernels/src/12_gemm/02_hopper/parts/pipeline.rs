//! The pipeline: a ring of stages in shared memory, filled and read in turn, with two barriers
//! each.
//!
//! ```text
//!              ┌─ full ──▶
//!   producer   │  stage 0  stage 1  stage 2  stage 3 │  consumers
//!                                         ◀── free ──┘
//! ```
//!
//! A stage is *full* when its bytes have arrived: the barrier counts them. It is *free* when all
//! its readers have arrived at the other barrier.

use cuda_std::mbarrier;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};
use cuda_std::wgmma::TILE_ALIGN_BYTES;

const BARRIER_BYTES: u32 = 8;
/// Room for all barriers of a block: of up to nine stages, and two more.
const BARRIERS_BYTES: u32 = 160;

/// Dynamic shared memory for this many stages and whatever follows them, in bytes: the
/// first begins at a multiple of [`TILE_ALIGN_BYTES`].
pub const fn shared_bytes(n_stages: u32, stage_bytes: u32, more_bytes: u32) -> u32 {
    TILE_ALIGN_BYTES + n_stages * stage_bytes + more_bytes + BARRIERS_BYTES
}

/// `STAGES` stages.
#[derive(Clone, Copy)]
pub struct Ring<const STAGES: u32> {
    /// Address of the first stage.
    pub base: u32,
    /// Bytes of a stage.
    pub stage_bytes: u32,
    barriers: u32,
}

impl<const STAGES: u32> Ring<STAGES> {
    /// The ring at the start of the dynamic shared memory, with `more_bytes` behind it.
    #[inline(always)]
    pub fn new(stage_bytes: u32, more_bytes: u32) -> Self {
        const { assert!((2 * STAGES + 2) * BARRIER_BYTES <= BARRIERS_BYTES) };
        let shared = address_in_space(dynamic_shared_mem::<u128>());
        let base = (shared + (TILE_ALIGN_BYTES - 1)) & !(TILE_ALIGN_BYTES - 1);
        Self {
            base,
            stage_bytes,
            barriers: base + STAGES * stage_bytes + more_bytes,
        }
    }

    /// What follows the stages.
    #[inline(always)]
    pub const fn behind(self) -> u32 {
        self.base + STAGES * self.stage_bytes
    }

    /// The barrier at which a stage's bytes arrive.
    #[inline(always)]
    pub const fn full(self, stage: u32) -> u32 {
        self.barriers + stage * BARRIER_BYTES
    }

    /// The barrier at which a stage's readers arrive.
    #[inline(always)]
    pub const fn free(self, stage: u32) -> u32 {
        self.barriers + (STAGES + stage) * BARRIER_BYTES
    }

    /// One of two further barriers.
    #[inline(always)]
    pub const fn other(self, number: u32) -> u32 {
        self.barriers + (2 * STAGES + number) * BARRIER_BYTES
    }

    /// Initialises the barriers: a stage is free when `n_readers` have arrived.
    ///
    /// # Safety
    ///
    /// One thread calls it, in a launch with as much shared memory as
    /// [`shared_bytes`] returns; others use the barriers after a barrier of the block.
    #[inline(always)]
    pub unsafe fn make(self, n_readers: u32) {
        let mut stage = 0;
        while stage < STAGES {
            mbarrier::init(self.full(stage), 1);
            mbarrier::init(self.free(stage), n_readers);
            stage += 1;
        }
        mbarrier::init(self.other(0), 1);
        mbarrier::init(self.other(1), 1);
        mbarrier::publish();
    }
}

/// A stage, and the parity of the phase to wait for there.
#[derive(Clone, Copy)]
pub struct Turn {
    /// Which stage.
    pub stage: u32,
    /// 0 or 1.
    pub parity: u32,
}

impl Turn {
    /// The first turn of threads that fill stages: all are free at the start.
    pub const FILL: Self = Self {
        stage: 0,
        parity: 1,
    };
    /// The first turn of threads that read stages.
    pub const READ: Self = Self {
        stage: 0,
        parity: 0,
    };

    /// Goes on to the next stage.
    #[inline(always)]
    pub const fn advance<const STAGES: u32>(&mut self) {
        self.stage += 1;
        if self.stage == STAGES {
            self.stage = 0;
            self.parity ^= 1;
        }
    }

    /// The turn for reading the stage that is filled after this many others.
    #[inline(always)]
    pub const fn after<const STAGES: u32>(n: u32) -> Self {
        let rounds = n / STAGES;
        Self {
            stage: n - rounds * STAGES,
            parity: rounds & 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn turns_are_those_that_one_gets_to_step_by_step() {
        let mut turn = Turn::READ;
        for n in 0..50 {
            let after = Turn::after::<6>(n);
            assert_eq!((turn.stage, turn.parity), (after.stage, after.parity));
            turn.advance::<6>();
        }
    }
}
