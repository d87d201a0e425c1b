//! A block's barriers.
//!
//! A barrier without a thread count waits for every thread of the block that
//! has not ended, as the hardware does from sm_70 on: threads that have ended
//! are not waited for. With a count it waits for that many threads, where
//! ended ones do not count. `bar.sync` and `barrier….aligned` count whole
//! warps and must be reached by all lanes of a warp that still run.

use crate::checks::observer::Observer;
use crate::lanes::lanes;
use crate::program::{BarrierKind, Slot};
use crate::warp::{FrameId, MAX_WARPS, PathState, Warp};

/// Barrier numbers.
pub(crate) const N_BARRIERS: usize = 16;

/// Some lanes coming to a barrier.
pub(crate) struct Arrival {
    pub id: usize,
    /// Threads to count.
    pub n_arrived: u32,
    pub warp: u32,
    pub mask: u32,
    /// The count to reach, if one is given.
    pub threads: Option<u32>,
    /// The lanes whose predicate holds, for a reduction.
    pub votes: Option<u32>,
}

/// Lanes that wait at a barrier.
#[derive(Clone, Copy, Hash)]
pub(crate) struct Waiter {
    pub id: usize,
    pub warp: u32,
    pub mask: u32,
    pub frame: FrameId,
    /// Where the result of a reduction goes.
    pub destination: Option<(Slot, BarrierKind)>,
}

/// One barrier.
#[derive(Clone, Default, Hash)]
struct State {
    /// Threads that have arrived, whole warps counted as 32.
    n_arrived: u32,
    /// Lanes that have arrived, by warp.
    arrived: [u32; MAX_WARPS as usize],
    /// The count to reach, if one was given.
    threads: Option<u32>,
    /// Lanes that voted, and those that voted yes.
    n_votes: u32,
    n_yes: u32,
}

/// A block's barriers.
#[derive(Clone, Hash)]
pub(crate) struct BlockBarriers {
    /// By number, up to the highest that any thread has reached.
    states: Vec<State>,
    /// Barriers that some thread has arrived at.
    in_use: u32,
    /// Lanes that wait.
    waiters: Vec<Waiter>,
}

impl BlockBarriers {
    /// Barriers that no thread has reached.
    pub fn new() -> Self {
        Self {
            states: Vec::new(),
            in_use: 0,
            waiters: Vec::new(),
        }
    }

    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.in_use = 0;
        self.states.clear();
        self.waiters.clear();
    }

    /// Counts an arrival.
    pub fn arrive(&mut self, arrival: Arrival) {
        self.in_use |= 1 << arrival.id;
        if self.states.len() <= arrival.id {
            self.states.resize(arrival.id + 1, State::default());
        }
        let state = &mut self.states[arrival.id];
        state.n_arrived += arrival.n_arrived;
        state.arrived[arrival.warp as usize] |= arrival.mask;
        if arrival.threads.is_some() {
            state.threads = arrival.threads;
        }
        if let Some(votes) = arrival.votes {
            state.n_votes += arrival.mask.count_ones();
            state.n_yes += votes.count_ones();
        }
    }

    /// Lets lanes that have arrived wait.
    pub fn wait(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
    }

    /// Opens the barriers that every thread of block number `block` has reached; gives
    /// whether there were any.
    #[inline(always)]
    pub fn open<O: Observer>(&mut self, warps: &mut [Warp], block: u64, observer: &mut O) -> bool {
        let mut freed = false;
        for id in 0..self.states.len() {
            if self.in_use >> id & 1 == 0 || !self.states[id].is_complete(warps) {
                continue;
            }
            freed = true;
            observer.released(block, id);
            self.in_use &= !(1 << id);
            let state = std::mem::take(&mut self.states[id]);
            self.waiters.retain(|waiter| {
                if waiter.id != id {
                    return true;
                }
                let warp = &mut warps[waiter.warp as usize];
                if let Some((slot, kind)) = waiter.destination {
                    deliver(warp, waiter, slot, kind, &state);
                }
                for path in &mut warp.paths {
                    if path.state == PathState::AtBarrier && path.mask & waiter.mask != 0 {
                        path.state = PathState::Ready;
                    }
                }
                false
            });
        }
        freed
    }

    /// A sentence for each barrier that some thread waits at.
    pub fn waiting(&self, warps: &[Warp]) -> Vec<String> {
        let mut waiting = Vec::new();
        for (id, state) in self.states.iter().enumerate() {
            if self.in_use >> id & 1 == 0 {
                continue;
            }
            let has_come = |warp: &usize| state.arrived[*warp] != 0;
            let come: Vec<usize> = (0..MAX_WARPS as usize).filter(has_come).collect();
            let n_live: u32 = warps.iter().map(|w| w.live.count_ones()).sum();
            waiting.push(format!(
                "barrier {id}: {} of {} threads have arrived (warps {come:?})",
                state.n_arrived,
                state.threads.unwrap_or(n_live)
            ));
        }
        waiting
    }
}

impl State {
    /// Whether every thread has come.
    #[inline(always)]
    fn is_complete(&self, warps: &[Warp]) -> bool {
        let Some(n) = self.threads else {
            let n_live = |w: &Warp| w.live.count_ones();
            // The quick test: fewer have come than there are.
            return self.n_arrived >= warps.iter().map(n_live).sum()
                && warps
                    .iter()
                    .zip(&self.arrived)
                    .all(|(w, a)| w.live & !a == 0);
        };
        self.n_arrived >= n
    }
}

/// Gives a reduction's result to the lanes that wait.
fn deliver(warp: &Warp, waiter: &Waiter, slot: Slot, kind: BarrierKind, state: &State) {
    let regs = warp.frames[waiter.frame as usize].registers.frame();
    let all = if state.n_yes == state.n_votes {
        u32::MAX
    } else {
        0
    };
    let any = if state.n_yes > 0 { u32::MAX } else { 0 };
    // SAFETY: The frame is alive while lanes of it wait; the decoder made the
    // slot for a predicate, or for 32-bit lanes with `popc`.
    unsafe {
        match kind {
            BarrierKind::And => regs.set_predicate(slot, waiter.mask, all),
            BarrierKind::Or => regs.set_predicate(slot, waiter.mask, any),
            BarrierKind::PopCount => {
                for lane in lanes(waiter.mask) {
                    regs.set(slot, 4, lane, u64::from(state.n_yes));
                }
            }
            BarrierKind::Sync | BarrierKind::Arrive => {}
        }
    }
}
