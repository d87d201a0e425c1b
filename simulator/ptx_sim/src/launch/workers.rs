//! The workers that run the blocks of a launch, each with an observer of its own. The blocks of
//! a cluster are one worker's.

mod kept;

pub(crate) use kept::Kept;

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::findings;
use crate::block::{BlockRun, Round, Turn};
use crate::checks::observer::Observer;
use crate::clock::Started;
use crate::cluster::Cluster;
use crate::context::LaunchContext;
use crate::diagnostics::{FuelLimit, LaunchError};
use crate::schedule::{Choices, WINDOW};

/// Rounds after which a block is assumed to wait for another even if it does not look like
/// it.
const PATIENCE: u32 = 4096;

/// Runs all blocks; gives the workers' observers, and how it ended.
pub(super) fn run<O: Observer>(
    context: &LaunchContext<'_>,
    n_workers: usize,
    observer: impl Fn() -> O + Sync,
) -> (Vec<O>, Result<(), LaunchError>) {
    let work = Work::new(std::slice::from_ref(context), 0, n_workers);
    let seen = Mutex::new(Vec::new());
    let worker = |number: usize| {
        let mut observer = observer();
        work.run(&mut observer, work.part(number, n_workers));
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(observer);
    };
    if n_workers == 1 {
        worker(0);
    } else if context.beside.is_some() && context.device.is_some() {
        // Threads of its own: a launch that waits for another device's must not keep it from running.
        std::thread::scope(|scope| {
            let worker = &worker;
            for number in 1..n_workers {
                scope.spawn(move || worker(number));
            }
            worker(0);
        });
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

/// How many clusters each of several workers takes at once, if it remembers what they
/// access: neighbours mostly access nearby memory.
fn at_once(n_clusters: u64, n_workers: usize) -> u64 {
    const MOST: u64 = 16;
    const TURNS: u64 = 8;
    (n_clusters / (n_workers as u64 * TURNS)).clamp(1, MOST)
}

/// The clusters of a launch, mostly of one block each, handed out to workers in order.
pub(crate) struct Work<'a> {
    /// Of this launch, and of those that run together with it.
    context: &'a LaunchContext<'a>,
    all: &'a [LaunchContext<'a>],
    n_clusters: u64,
    /// Clusters that a worker takes at once.
    at_once: u64,
    next: AtomicU64,
    stop: AtomicBool,
    /// Counts whatever is not waiting.
    progress: AtomicU64,
    /// Counts turns in which some of the blocks did not repeat themselves.
    varied: AtomicU64,
    /// The failure of the lowest block.
    failure: Mutex<Option<(u64, LaunchError)>>,
}

impl<'a> Work<'a> {
    /// Of one of some launches that run together, by this many workers.
    pub fn new(all: &'a [LaunchContext<'a>], index: usize, n_workers: usize) -> Self {
        let context = &all[index];
        Self {
            context,
            all,
            n_clusters: context.n_clusters(),
            at_once: if context.checks && n_workers > 1 {
                at_once(context.n_clusters(), n_workers)
            } else {
                1
            },
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            varied: AtomicU64::new(0),
            failure: Mutex::new(None),
        }
    }

    /// A worker's part of the clusters that the device can hold at once.
    pub fn part(&self, worker: usize, n_workers: usize) -> usize {
        let all = self.context.most_resident / u64::from(self.context.cluster.n_blocks());
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        (all / n_workers + usize::from(worker < all % n_workers)).max(1)
    }

    /// Takes clusters to run.
    fn take(&self) -> Range<u64> {
        let first = self.next.fetch_add(self.at_once, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) {
            return 0..0;
        }
        first.min(self.n_clusters)..(first + self.at_once).min(self.n_clusters)
    }

    /// Clusters that have not begun.
    fn n_left(&self) -> u64 {
        self.n_clusters
            .saturating_sub(self.next.load(Ordering::Relaxed))
    }

    fn fail(&self, number: u64, error: LaunchError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(n, _)| number < *n) {
            *failure = Some((number, error));
        }
    }

    /// One worker: runs blocks until none are left.
    fn run<O: Observer>(&self, observer: &mut O, most_resident: usize) {
        let choices = self.context.schedule.map(Choices::new);
        let mut worker = Worker::new(self, observer, most_resident, choices);
        if let Err((number, error)) = worker.run() {
            self.fail(number, *error);
        }
    }
}

/// A worker. Mostly it runs one cluster at a time, its blocks in turn; where blocks wait for
/// those of others, several.
pub(crate) struct Worker<'w, 'o, O: Observer> {
    work: &'w Work<'w>,
    pub observer: &'o mut O,
    /// Clusters that it may have in flight.
    most_resident: usize,
    /// Their blocks that it has, by number.
    resident: Vec<(u64, BlockRun)>,
    /// State of blocks that have ended, to be used again.
    spare: Vec<BlockRun>,
    /// Clusters taken that have not begun.
    taken: Range<u64>,
    /// The same, where they may begin in another order.
    ahead: Vec<u64>,
    choices: Option<Choices>,
    /// Turns since it last had no block.
    rounds: u32,
    waited: Waited,
}

/// For how long all blocks of all workers have waited.
#[derive(Clone, Copy, Default)]
struct Waited {
    /// What this worker has executed since anything but waiting was done.
    used: i64,
    /// The progress of all workers, when that began.
    progress: u64,
    /// What it has executed since all blocks began to repeat themselves.
    repeated: i64,
    /// How often some had not, when that began.
    varied: u64,
    /// When it began to wait, once it does so while others run at the same time.
    since: Option<Started>,
}

/// A block that ends the launch, and why.
pub(crate) type Failure = (u64, Box<LaunchError>);

impl<'w, 'o, O: Observer> Worker<'w, 'o, O> {
    pub fn new(
        work: &'w Work<'w>,
        observer: &'o mut O,
        most_resident: usize,
        choices: Option<Choices>,
    ) -> Self {
        Self {
            work,
            observer,
            most_resident,
            resident: Vec::new(),
            spare: Vec::new(),
            taken: 0..0,
            ahead: Vec::new(),
            choices,
            rounds: 0,
            waited: Waited::default(),
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        while self.advance()? {}
        if self.work.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.last_finding()
    }

    /// Gives its blocks a turn; gives whether there may be more to do.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        let Some(turn) = self.go_on()? else {
            return Ok(false);
        };
        self.account(&turn)?;
        Ok(true)
    }

    /// The blocks in flight.
    pub fn blocks(&self) -> impl Iterator<Item = &BlockRun> {
        self.resident.iter().map(|(_, block)| block)
    }

    /// What something worse could still have explained, if it has not.
    pub fn last_finding(&mut self) -> Result<(), Failure> {
        match self.observer.take_finding(true) {
            Some(finding) => {
                let error = findings::error(self.work.all, finding);
                Err((self.work.context.n_blocks(), Box::new(error)))
            }
            None => Ok(()),
        }
    }

    /// Gives its blocks a turn, and lets others begin; none if there are no more, or the launch is
    /// to end.
    pub fn go_on(&mut self) -> Result<Option<Turn>, Failure> {
        if self.resident.is_empty() {
            self.rounds = 0;
            if !self.begin_next()? {
                return Ok(None);
            }
        }
        let mut turn = self.turn()?;
        if self.observer.gives_up() {
            self.work.stop.store(true, Ordering::Relaxed);
        }
        if self.work.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.rounds += 1;
        let mut begun = false;
        for _ in 0..self.more(&turn, self.rounds) {
            begun |= self.begin_next()?;
        }
        if begun {
            turn.join(Turn::OVER);
        }
        Ok(Some(turn))
    }

    /// How many clusters are to begin in addition to those in flight, after this many
    /// rounds.
    fn more(&mut self, turn: &Turn, rounds: u32) -> usize {
        let of_cluster = self.work.context.cluster.n_blocks() as usize;
        let n = self.resident.len().div_ceil(of_cluster);
        // Of several clusters some blocks may have ended.
        let room = self.most_resident.saturating_sub(n);
        if n == 0 {
            return 0;
        }
        if turn.waits {
            // If they wait for many, not one by one.
            return n.min(room);
        }
        let by_choice = |choices: &mut Choices| choices.begins_another(n);
        let choices = self.choices.as_mut().filter(|_| room > 0);
        let another = rounds.is_multiple_of(PATIENCE) || choices.is_some_and(by_choice);
        usize::from(another).min(room)
    }

    /// Gives every block in flight its turn.
    fn turn(&mut self) -> Result<Turn, Failure> {
        let mut turn = Turn::NONE;
        let mut i = 0;
        while i < self.resident.len() {
            let n = self.resident.len();
            if self.choices.as_mut().is_some_and(|d| d.block_sits_out(n)) {
                turn.join(Turn::OVER);
                i += 1;
                continue;
            }
            let (number, block) = &mut self.resident[i];
            let number = *number;
            let outcome = block.round(self.work.context, self.observer, self.choices.as_mut());
            if matches!(outcome, Ok(Round::Finished)) {
                self.observer.block_ended(number);
            }
            // What fails may have read unwritten memory.
            if let Some(finding) = self.observer.take_finding(outcome.is_err()) {
                let error = findings::error(self.work.all, finding);
                return Err((number, Box::new(error)));
            }
            match outcome {
                Ok(Round::Finished) => {
                    let mut ended = self.resident.remove(i).1;
                    ended.leave();
                    if !self.work.context.repeats {
                        self.spare.push(ended);
                    }
                    turn.join(Turn::OVER);
                    continue;
                }
                Ok(Round::Progress(one)) => turn.join(one),
                Err(error) => return Err((number, self.with_rest(error))),
            }
            i += 1;
        }
        Ok(turn)
    }

    /// Whether blocks have waited for too long: all of them, of all workers.
    fn account(&mut self, turn: &Turn) -> Result<(), Failure> {
        let context = self.work.context;
        let counter = context.beside.unwrap_or(&self.work.progress);
        if !turn.waits {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        if !turn.repeats {
            self.work.varied.fetch_add(1, Ordering::Relaxed);
        }
        let progress = counter.load(Ordering::Relaxed);
        let varied = self.work.varied.load(Ordering::Relaxed);
        let waited = &mut self.waited;
        if progress != waited.progress {
            *waited = Waited {
                progress,
                varied,
                ..Waited::default()
            };
            return Ok(());
        }
        waited.used += turn.used;
        waited.repeated += turn.used;
        if varied != waited.varied {
            (waited.varied, waited.repeated) = (varied, 0);
        }
        let limit = match context.beside {
            None => {
                (context.fuel.repeat(waited.repeated)).or_else(|| context.fuel.wait(waited.used))
            }
            Some(_) => {
                let since = *waited.since.get_or_insert_with(Started::now);
                context.fuel.wait_for_others(waited.used, since)
            }
        };
        let Some(limit) = limit else {
            return Ok(());
        };
        match self.waiting(limit) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// The failure of a block that has waited for too long.
    pub fn waiting(&self, limit: FuelLimit) -> Option<Failure> {
        let mut resident = self.resident.iter();
        let has_clusters = self.work.context.cluster.n_blocks() > 1;
        // The other blocks of a cluster may wait at its barrier for this one.
        let found = match has_clusters {
            true => resident.clone().find(|(_, block)| block.is_ready()),
            false => None,
        };
        let (number, block) = found.or_else(|| resident.next())?;
        let error = block.out_of_fuel(self.work.context, limit);
        Some((*number, self.with_rest(error)))
    }

    /// An error that knows how many blocks have not begun.
    fn with_rest(&self, mut error: Box<LaunchError>) -> Box<LaunchError> {
        let context = self.work.context;
        // If all have room, the others only have not come to their turn on the host.
        let has_room = context.n_blocks() <= context.most_resident;
        if let LaunchError::OutOfFuel(kernel) = &mut *error
            && !has_room
        {
            let n_clusters = self.work.n_left() + self.ahead.len() as u64;
            kernel.n_not_begun = n_clusters * u64::from(context.cluster.n_blocks());
        }
        error
    }

    /// Takes a cluster.
    fn take(&mut self) -> Option<u64> {
        if self.taken.is_empty() {
            self.taken = self.work.take();
        }
        self.taken.next()
    }

    /// The number of the cluster to begin next.
    fn next(&mut self) -> Option<u64> {
        if self.choices.is_none() {
            return self.take();
        }
        while self.ahead.len() < WINDOW {
            let Some(number) = self.take() else {
                break;
            };
            self.ahead.push(number);
        }
        let choices = self.choices.as_mut()?;
        if self.ahead.is_empty() {
            return None;
        }
        Some(self.ahead.remove(choices.block(self.ahead.len())))
    }

    /// Begins the blocks of a cluster; gives whether there was one.
    fn begin_next(&mut self) -> Result<bool, Failure> {
        let Some(number) = self.next() else {
            return Ok(false);
        };
        let context = self.work.context;
        if context.cluster.n_blocks() > 1 || context.plan.meets_in_cluster {
            self.begin_cluster(number)?;
        } else {
            self.begin(context.among.first_block + number)?;
        }
        Ok(true)
    }

    /// Begins a block, by its number.
    fn begin(&mut self, number: u64) -> Result<(), Failure> {
        let context = self.work.context;
        let mut block = match self.spare.pop() {
            Some(block) => block,
            None => BlockRun::new(context).map_err(|error| (number, error))?,
        };
        block.start(context, number);
        self.observer.block_started(number, context.shared_bytes);
        self.resident.push((number, block));
        Ok(())
    }

    /// Begins all blocks of a cluster.
    #[cold]
    fn begin_cluster(&mut self, number: u64) -> Result<(), Failure> {
        let context = self.work.context;
        let first = self.resident.len();
        for rank in 0..context.cluster.n_blocks() {
            let ctaid = context.cluster.ctaid(context.grid, number, rank);
            self.begin(context.number_of(ctaid))?;
        }
        let blocks = &mut self.resident[first..];
        let members = blocks.iter().map(|(_, block)| block.member()).collect();
        let cluster = Rc::new(Cluster::new(members, context.n_threads()));
        for (rank, (_, block)) in (0..).zip(blocks) {
            block.join(cluster.clone(), rank);
        }
        Ok(())
    }
}
