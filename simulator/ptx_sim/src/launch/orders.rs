//! A launch in other orders than the usual one, on memory that is put back each time.
//!
//! For programs that are unaware of it: what their launch leaves is compared with what the
//! usual order leaves, since there is no other reference. See
//! [`difference`](super::difference) for how that is interpreted.

use std::ops::Range;
use std::time::Duration;

use super::difference::Difference;
use super::grid_workspace::GridWorkspace;
use super::memory::Heaps;
use super::options::{Launch, LaunchOptions};
use super::prepared::Prepared;
use super::workers;
use crate::checks::counters::Counters;
use crate::checks::exact::Exact;
use crate::checks::recorder::Recorder;
use crate::checks::watch::{Checks, Watch};
use crate::clock::Started;
use crate::context::Among;
use crate::decode::freedom::Freedom;
use crate::decode::layout::reachable;
use crate::device::{Device, LoadedModule};
use crate::diagnostics::LaunchError;
use crate::memory::global::GlobalMemory;
use crate::memory::journal::{Bytes, Journal};
use crate::memory::kernel_heap::{KernelHeap, State};
use crate::memory::written::Written;
use crate::schedule::{Found, Schedule, search};
use ptx::ir::FuncId;

/// How long a search waits to be alone with the device: running launches may wait for what
/// the host does after this one.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// Turns of a warp, each of the greatest length, for which others may wait for it.
const PATIENCE: u64 = 64 * 4096;
/// How many times more than in the usual order a launch may execute.
const SLOWER: u64 = 1000;
/// Beyond that, the simulator's own limits hold.
const MOST_FUEL: u64 = 1 << 28;

/// What a launch did in other orders.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Orders {
    /// The first schedule that fails, made as simple as it can be.
    pub found: Option<Found<OrderError>>,
    /// The first schedule whose result differs in a way that can be explained without a
    /// defect.
    pub explained: Option<(Schedule, Difference)>,
}

/// What is wrong with a launch in another order.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OrderError {
    /// It ends badly there.
    #[error("{0}")]
    Ended(LaunchError),
    /// It leaves other contents in memory.
    #[error("{0}")]
    Differs(Box<Difference>),
}

/// Why a launch was not tried in other orders.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotSearched {
    /// It ends badly in the usual order, alone on the device, or checks find something.
    #[error("in the usual order: {0}")]
    Failed(LaunchError),
    /// It may wait for the host, which does its part only once.
    #[error(
        "the kernel loads what others may write meanwhile, and kernels use memory of the host: \
         it may wait for the host, which writes only once"
    )]
    MayWaitForTheHost,
    /// Other launches kept it from being alone with the device for a tenth of a second.
    #[error("it has to be alone with the device, but other launches went on")]
    Busy,
}

/// How the launch ends in some order, and what it has overwritten.
struct Run {
    result: Result<(), LaunchError>,
    before: Bytes,
    warp_instructions: u64,
}

/// What is the same in all orders.
struct Trial<'a> {
    device: &'a Device,
    loaded: &'a LoadedModule,
    id: FuncId,
    launch: &'a Launch<'a>,
    grid_workspace: u64,
    memory: &'a GlobalMemory,
    /// What is allocated on the kernels' heap.
    taken: Option<State>,
    /// What has been written of each allocation, for checks.
    written: Vec<Written>,
}

impl Device {
    /// Runs a launch in the orders of some seeds, each time on memory as it is now, until
    /// one fails: the launch ends badly, checks find something if the launch asks for them,
    /// or what it leaves in memory differs from what it leaves in the usual order and
    /// nothing [explains](crate::Explanation) that. Leaves memory as it is, prints nothing and
    /// counts nothing.
    ///
    /// It is alone with the device meanwhile; if others prevent that, it does not wait for
    /// long. [`LaunchOptions::schedule`], [`LaunchOptions::threads`] and
    /// [`LaunchOptions::go_on`] mean nothing here. For kernels that read a clock,
    /// differences are not reported.
    ///
    /// # Errors
    /// Why there is nothing to compare with; memory is as it was.
    pub fn search_orders(
        &self,
        loaded: &LoadedModule,
        kernel: &str,
        launch: &Launch<'_>,
        seeds: Range<u64>,
    ) -> Result<Orders, NotSearched> {
        let invalid = |message| {
            let kernel = kernel.to_owned();
            NotSearched::Failed(LaunchError::InvalidLaunch { kernel, message })
        };
        let id = self.find(loaded, kernel, launch).map_err(invalid)?;
        let workspace = GridWorkspace::new(self, &launch.options);
        let workspace = workspace.map_err(|error| invalid(error.to_string()))?;
        let module = loaded.module();
        let (ir, program) = (module.ir(), module.program());
        let mut freedom = Freedom::of(program, &reachable(ir, program, id));
        // Which thread gets which address.
        freedom.takes_values |= module.plan(id).takes_memory;
        let turn = self.turn_alone_within(LONGEST_WAIT);
        let _turn = turn.ok_or(NotSearched::Busy)?;
        let (mut heaps, views) = Heaps::of(&[self]);
        if freedom.polls && heaps.have_memory_of_the_host() {
            return Err(NotSearched::MayWaitForTheHost);
        }
        let written = heaps.written();
        drop(heaps);
        let trial = Trial {
            device: self,
            loaded,
            id,
            launch,
            grid_workspace: workspace.address(),
            memory: &views.usable[0],
            taken: loaded.kernel_heap().map(KernelHeap::save),
            written,
        };
        let orders = trial.search(seeds, &freedom);
        trial.put_back_taken();
        orders
    }
}

impl Trial<'_> {
    fn search(&self, seeds: Range<u64>, freedom: &Freedom) -> Result<Orders, NotSearched> {
        let mut options = self.options();
        let reference = self.run(&options);
        let usual = reference.before.now(self.memory);
        reference.before.restore(self.memory);
        reference.result.map_err(NotSearched::Failed)?;
        options.fuel = options.fuel.or(self.fuel(reference.warp_instructions));
        let mut explained = None;
        let mut found = search(seeds, |schedule| {
            options.schedule = Some(schedule);
            let run = self.run(&options);
            let difference = match freedom.reads_clock || run.result.is_err() {
                true => None,
                false => Difference::find(self.memory, &usual, &run.before, freedom),
            };
            run.before.restore(self.memory);
            run.result.map_err(OrderError::Ended)?;
            match difference {
                None => Ok(()),
                Some(difference) if difference.explanation.is_some() => {
                    explained.get_or_insert((schedule, difference));
                    Ok(())
                }
                Some(difference) => Err(OrderError::Differs(Box::new(difference))),
            }
        });
        if let Some(found) = &mut found
            && let OrderError::Differs(difference) = &mut found.error
        {
            difference.finding = self.checked(found.schedule, &options);
        }
        Ok(Orders { found, explained })
    }

    /// How the launch is run in each order.
    fn options(&self) -> LaunchOptions {
        LaunchOptions {
            schedule: None,
            go_on: false,
            threads: Some(1),
            ..self.launch.options.clone()
        }
    }

    /// What a launch that executes this much in the usual order may execute in another. None
    /// where the simulator's own limits suffice.
    fn fuel(&self, usual: u64) -> Option<u64> {
        let n_blocks: u64 = self.launch.grid.iter().map(|&n| u64::from(n)).product();
        let n_threads: u32 = self.launch.block.iter().product();
        let n_warps = n_blocks.saturating_mul(u64::from(n_threads.div_ceil(32)));
        let waiting = n_warps.saturating_mul(PATIENCE);
        let fuel = usual.saturating_mul(SLOWER).saturating_add(waiting);
        Some(fuel).filter(|&fuel| fuel <= MOST_FUEL)
    }

    /// What checks find in an order, if they have not looked yet.
    fn checked(&self, schedule: Schedule, options: &LaunchOptions) -> Option<Box<LaunchError>> {
        let options = LaunchOptions {
            check: !options.check,
            schedule: Some(schedule),
            ..options.clone()
        };
        if !options.check {
            return None;
        }
        let run = self.run(&options);
        run.before.restore(self.memory);
        run.result.err().map(Box::new)
    }

    /// Restores what was allocated on the kernels' heap before.
    fn put_back_taken(&self) {
        if let (Some(heap), Some(taken)) = (self.loaded.kernel_heap(), &self.taken) {
            heap.restore(taken);
        }
    }

    /// Runs it once. What it has overwritten is not put back.
    fn run(&self, options: &LaunchOptions) -> Run {
        self.put_back_taken();
        let launch = Launch {
            options: options.clone(),
            ..*self.launch
        };
        let prepared = Prepared {
            device: self.device,
            loaded: self.loaded,
            id: self.id,
            options: &launch,
            memory: self.memory,
            machine: self.memory,
            among: Among::alone(launch.grid),
            alone: true,
            started: Started::now(),
            grid_workspace: self.grid_workspace,
        };
        let context = prepared.context(1);
        let judge = || Exact::new(self.memory, self.written.clone());
        let (mut watches, result) = workers::run(&context, 1, || Watch {
            counters: Counters::new(&context.plan.numbering),
            checks: (options.check).then(|| Box::new(Checks::new(&context, judge()))),
            recorder: Some(Box::new(Recorder::Journal(Journal::new(self.memory)))),
        });
        let watch = watches.pop();
        let (counters, recorder) = watch.map(|watch| (watch.counters, watch.recorder)).unzip();
        let report = prepared.report(counters.into_iter().collect());
        Run {
            result,
            before: recorder
                .flatten()
                .and_then(|recorder| recorder.into_journal())
                .map_or_else(Bytes::default, Journal::into_bytes),
            warp_instructions: report.counts.warp_instructions,
        }
    }
}
