//! Who runs the blocks of a launch: workers, each with an observer of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::block::{BlockRun, Round};
use crate::checks::observer::Observer;
use crate::context::LaunchContext;
use crate::diagnostics::LaunchError;

/// Rounds after which a block is taken to wait for another even if it does
/// not look like it.
const PATIENCE: u32 = 4096;

/// Runs all blocks; gives the workers' observers, and how it ended.
pub(super) fn run<O: Observer>(
    context: &LaunchContext<'_>,
    n_blocks: u64,
    n_workers: usize,
    observer: impl Fn() -> O + Sync,
) -> (Vec<O>, Result<(), LaunchError>) {
    let work = Work {
        context,
        n_blocks,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let seen = Mutex::new(Vec::new());
    // Each worker holds its part of the blocks that the device can hold at once.
    let part = |worker: usize| {
        let all = usize::try_from(context.most_resident).unwrap_or(usize::MAX);
        (all / n_workers + usize::from(worker < all % n_workers)).max(1)
    };
    let worker = |number: usize| {
        let mut observer = observer();
        work.run(&mut observer, part(number));
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(observer);
    };
    if n_workers == 1 {
        worker(0);
    } else {
        rayon::scope(|scope| {
            let worker = &worker;
            for number in 1..n_workers {
                scope.spawn(move |_| worker(number));
            }
            worker(0);
        });
    }
    let failure = work
        .failure
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let observers = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    (observers, failure.map_or(Ok(()), |(_, error)| Err(error)))
}

/// The blocks of a launch, handed out to workers in order.
struct Work<'a> {
    context: &'a LaunchContext<'a>,
    n_blocks: u64,
    next: AtomicU64,
    stop: AtomicBool,
    /// The failure of the lowest block.
    failure: Mutex<Option<(u64, LaunchError)>>,
}

impl Work<'_> {
    /// Takes a block to run.
    fn take(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.n_blocks && !self.stop.load(Ordering::Relaxed)).then_some(number)
    }

    /// Blocks that have not begun.
    fn n_left(&self) -> u64 {
        self.n_blocks
            .saturating_sub(self.next.load(Ordering::Relaxed))
    }

    fn fail(&self, number: u64, error: LaunchError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(n, _)| number < *n) {
            *failure = Some((number, error));
        }
    }

    /// One worker: runs blocks until there are none. Mostly one at a time;
    /// where blocks wait for others, several in turn.
    fn run<O: Observer>(&self, observer: &mut O, most_resident: usize) {
        let mut resident: Vec<(u64, BlockRun)> = Vec::new();
        let mut spare: Vec<BlockRun> = Vec::new();
        let mut rounds = 0;
        loop {
            if resident.is_empty() {
                rounds = 0;
                match self.take() {
                    Some(number) => resident.push(self.begin(number, &mut spare, observer)),
                    None => {
                        if let Some(finding) = observer.take_finding(true) {
                            self.fail(self.n_blocks, self.context.finding(finding));
                        }
                        return;
                    }
                }
            }
            let mut waiting = true;
            let mut i = 0;
            while i < resident.len() {
                let (number, block) = &mut resident[i];
                let outcome = block.round(self.context, observer);
                if matches!(outcome, Ok(Round::Finished)) {
                    observer.block_ended(*number);
                }
                // What fails may have read what nobody wrote.
                if let Some(finding) = observer.take_finding(outcome.is_err()) {
                    self.fail(*number, self.context.finding(finding));
                    return;
                }
                match outcome {
                    Ok(Round::Finished) => {
                        spare.push(resident.remove(i).1);
                        waiting = false;
                        continue;
                    }
                    Ok(Round::Progress { waits }) => waiting &= waits,
                    Err(mut error) => {
                        if let LaunchError::OutOfFuel(kernel) = &mut *error {
                            kernel.n_not_begun = self.n_left();
                        }
                        self.fail(*number, *error);
                        return;
                    }
                }
                i += 1;
            }
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            rounds += 1;
            if !resident.is_empty() && (waiting || rounds % PATIENCE == 0) {
                // If they wait for many, not one by one.
                let more = resident.len().min(most_resident - resident.len());
                for number in (0..more).map_while(|_| self.take()) {
                    resident.push(self.begin(number, &mut spare, observer));
                }
            }
        }
    }

    fn begin<O: Observer>(
        &self,
        number: u64,
        spare: &mut Vec<BlockRun>,
        observer: &mut O,
    ) -> (u64, BlockRun) {
        let mut block = spare.pop().unwrap_or_else(|| BlockRun::new(self.context));
        block.start(self.context, number);
        observer.block_started(number, self.context.shared_bytes);
        (number, block)
    }
}
