//! Moments that a launch can go back to.

use crate::launch::workers::Kept;
use crate::memory::global::GlobalMemory;
use crate::memory::journal::{Bytes, Journal};

/// Instructions between two of them at first.
const INTERVAL: u64 = 1 << 14;
/// The most memory that they may take, in bytes.
const MOST_BYTES: usize = 256 << 20;
/// The most of them.
const MOST: usize = 512;

/// A moment that can be gone back to.
struct Moment {
    time: u64,
    worker: Kept,
    /// What was overwritten in global memory from then on, up to the next one.
    overwritten: Bytes,
}

/// Moments of a launch, in order; the first is its beginning.
pub(crate) struct Moments {
    all: Vec<Moment>,
    /// The one that the launch has last passed.
    current: usize,
    interval: u64,
}

impl Moments {
    /// The beginning of a launch.
    pub fn new(worker: Kept) -> Self {
        Self {
            all: vec![Moment {
                time: 0,
                worker,
                overwritten: Bytes::default(),
            }],
            current: 0,
            interval: INTERVAL,
        }
    }

    /// Changes how many instructions there are between two of them.
    pub fn keep_every(&mut self, n: u64) {
        self.interval = n.max(1);
    }

    /// Whether the launch, which has come to a time between two turns, is to be kept.
    pub fn is_due(&self, time: u64) -> bool {
        self.current + 1 == self.all.len() && time >= self.all[self.current].time + self.interval
    }

    /// The time from which on the next moment begins, if the launch has been there.
    pub fn next(&self) -> Option<u64> {
        Some(self.all.get(self.current + 1)?.time)
    }

    /// The launch passes the next moment. `journal` has what was overwritten since the last one.
    pub fn pass(&mut self, journal: &mut Journal<'_>) {
        journal.exchange(&mut self.all[self.current].overwritten);
        self.current += 1;
        journal.exchange(&mut self.all[self.current].overwritten);
    }

    /// Keeps a moment. `journal` has what was overwritten since the last one.
    pub fn add(&mut self, time: u64, worker: Kept, journal: &mut Journal<'_>) {
        self.all.push(Moment {
            time,
            worker,
            overwritten: Bytes::default(),
        });
        self.pass(journal);
        let all = self.all.len();
        if all > 8 && (all > MOST || self.n_bytes() > MOST_BYTES) {
            self.thin();
        }
    }

    /// Forgets every other one but the last, with which the launch goes on.
    fn thin(&mut self) {
        let last = self.all.pop();
        let mut kept: Vec<Moment> = Vec::new();
        for (i, moment) in std::mem::take(&mut self.all).into_iter().enumerate() {
            match kept.last_mut() {
                Some(before) if i % 2 == 1 => before.overwritten.absorb(moment.overwritten),
                _ => kept.push(moment),
            }
        }
        kept.extend(last);
        self.all = kept;
        self.current = self.all.len() - 1;
        self.interval *= 2;
    }

    /// Goes back, or on, to the last moment that is not after a time, or before the one with this
    /// number: puts global memory back, and gives the moment's time and what the worker had in hand.
    pub fn go_back(
        &mut self,
        index: usize,
        memory: &GlobalMemory,
        journal: &mut Journal<'_>,
    ) -> (u64, &Kept) {
        journal.exchange(&mut self.all[self.current].overwritten);
        for moment in self.all[index..=self.current].iter().rev() {
            moment.overwritten.restore(memory);
        }
        self.current = index;
        journal.exchange(&mut self.all[index].overwritten);
        let moment = &self.all[index];
        (moment.time, &moment.worker)
    }

    /// The last moment that is not after a time, nor after the one that the launch has passed:
    /// what it overwrote up to later ones is not there.
    pub fn before(&self, time: u64) -> usize {
        let until = &self.all[..=self.current];
        until.partition_point(|moment| moment.time <= time).max(1) - 1
    }

    /// About how much memory they take.
    pub fn n_bytes(&self) -> usize {
        let of_moment = |m: &Moment| m.worker.n_bytes() + m.overwritten.n_bytes();
        self.all.iter().map(of_moment).sum()
    }
}
