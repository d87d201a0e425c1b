//! Launches that run at the same time, on several devices of a machine.
//!
//! They may wait for each other: for a flag that a kernel on another device sets. One host thread
//! gives the devices their turns, in an order that is always the same, or that of a schedule. Checks
//! follow accesses across devices: two kernels that use one word, without anything that orders them
//! at the scope of the system, are a race.

use super::checked::note_stores;
use super::grid_workspace::GridWorkspace;
use super::memory::Heaps;
use super::options::Launch;
use super::prepared::Prepared;
use super::workers::{Work, Worker};
use crate::block::Turn;
use crate::checks::counters::Counters;
use crate::checks::exact::Exact;
use crate::checks::links::Links;
use crate::checks::order::GridOrder;
use crate::checks::recorder::Recorder;
use crate::checks::watch::{Checks, Watch};
use crate::clock::Started;
use crate::context::{Among, LaunchContext};
use crate::device::{Device, LoadedModule};
use crate::diagnostics::LaunchError;
use crate::memory::global::GlobalMemory;
use crate::memory::journal::Bytes;
use crate::memory::snapshot::Snapshot;
use crate::memory::written::Written;
use crate::report::Report;
use crate::schedule::{Choices, Schedule};
use ptx::ir::FuncId;

/// One of several launches that run at the same time.
#[derive(Clone)]
pub struct Member<'a> {
    /// Where it runs.
    pub device: &'a Device,
    /// The module, loaded there.
    pub module: &'a LoadedModule,
    /// The kernel's name.
    pub kernel: &'a str,
    /// The launch. All have the same [`check`](crate::LaunchOptions::check) and
    /// [`schedule`](crate::LaunchOptions::schedule): those of the first. None is
    /// [traced](crate::LaunchOptions::trace), and none [goes on](crate::LaunchOptions::go_on) after a
    /// finding: but if the first is to, the memory is put back.
    pub launch: Launch<'a>,
}

/// Why launches that ran at the same time did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct MemberError {
    /// Which of them it is about.
    pub member: usize,
    /// What is wrong.
    pub error: LaunchError,
}

/// Runs launches at the same time, and waits for the end of all. Counts as if each ran alone; their
/// devices are of one machine ([`Device::several`]), or one and the same.
///
/// # Errors
/// The first that fails, or is not allowed. Memory holds whatever the kernels had written by then,
/// unless it was put back.
pub fn launch_together(members: &[Member<'_>]) -> Result<Vec<Report>, MemberError> {
    let Some(first) = members.first() else {
        return Ok(Vec::new());
    };
    let started = Started::now();
    let (ids, workspaces) = allowed(members)?;
    let _turn = first.device.turn(true);
    let devices: Vec<&Device> = members.iter().map(|member| member.device).collect();
    let (mut heaps, views) = Heaps::of(&devices);
    let places = places(members);
    let prepared: Vec<Prepared<'_>> = (0..members.len())
        .map(|index| Prepared {
            device: devices[index],
            loaded: members[index].module,
            id: ids[index],
            options: &members[index].launch,
            memory: &views.usable[index],
            machine: &views.machine,
            among: places[index],
            alone: true,
            started,
            grid_workspace: workspaces[index].address(),
        })
        .collect();
    let contexts: Vec<LaunchContext<'_>> =
        prepared.iter().map(|launch| launch.context(1)).collect();
    let checks = first.launch.options.check;
    let written = match checks {
        true => heaps.lend_written(),
        false => {
            heaps.written_by_anyone();
            Vec::new()
        }
    };
    let before = first.launch.options.go_on;
    let before = before.then(|| Snapshot::of(&views.machine));
    let together = Together {
        contexts: &contexts,
        checks,
        schedule: first.launch.options.schedule,
        puts_back: before.is_some(),
    };
    let (mut watches, written, result) = together.run(&views.machine, written);
    if checks {
        heaps.give_written(written);
    }
    if let (Err(_), Some(before)) = (&result, before) {
        let recorders = watches.iter_mut().filter_map(|watch| watch.recorder.take());
        let written: Vec<Bytes> = recorders.filter_map(|r| r.into_bytes()).collect();
        before.restore(&views.machine, &written);
        heaps.written_by_anyone();
    }
    let mut reports = Vec::new();
    for (launch, watch) in prepared.iter().zip(watches) {
        if let Some(checks) = watch.checks {
            note_stores(&mut heaps, launch, checks.into_parts().1);
        }
        reports.push(launch.report(vec![watch.counters]));
    }
    if let Err(error) = result {
        for (launch, context) in prepared.iter().zip(contexts) {
            launch.device.keep_printed(context.printed.into_lines());
        }
        return Err(error);
    }
    for (report, context) in reports.iter_mut().zip(contexts) {
        report.printed = context.printed.into_lines();
        report.elapsed = started.elapsed();
    }
    Ok(reports)
}

/// The kernels of launches that are all allowed, and what cooperative ones need.
fn allowed<'a>(
    members: &[Member<'a>],
) -> Result<(Vec<FuncId>, Vec<GridWorkspace<'a>>), MemberError> {
    let mut ids = Vec::new();
    let mut workspaces = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let refused = |message: String| MemberError {
            member: index,
            error: LaunchError::InvalidLaunch {
                kernel: member.kernel.to_owned(),
                message,
            },
        };
        if !members[0].device.is_beside(member.device) {
            let message = "it is to run together with one on a device of another machine: make the \
                           devices together, by `Device::several`";
            return Err(refused(message.to_owned()));
        }
        let id = member
            .device
            .find(member.module, member.kernel, &member.launch);
        ids.push(id.map_err(refused)?);
        let workspace = GridWorkspace::new(member.device, &member.launch.options);
        workspaces.push(workspace.map_err(|error| refused(error.to_string()))?);
    }
    Ok((ids, workspaces))
}

/// The launches' places: their blocks are numbered through.
fn places(members: &[Member<'_>]) -> Vec<Among> {
    let n_blocks =
        |member: &Member<'_>| -> u64 { member.launch.grid.iter().map(|&n| u64::from(n)).product() };
    let all = members.iter().map(n_blocks).sum();
    let mut first_block = 0;
    let mut places = Vec::new();
    for member in members {
        let first_there = members
            .iter()
            .position(|m| std::ptr::eq(m.device, member.device));
        places.push(Among {
            index: first_there.unwrap_or(0) as u8,
            first_block,
            n_blocks: all,
        });
        first_block += n_blocks(member);
    }
    places
}

/// Launches that are allowed.
struct Together<'a> {
    contexts: &'a [LaunchContext<'a>],
    checks: bool,
    schedule: Option<Schedule>,
    /// Whether memory is put back after an error.
    puts_back: bool,
}

type Watching<'a> = Watch<'a, Exact<'a>>;

impl<'a> Together<'a> {
    /// Runs them; gives what has watched each, and what has been written of each allocation.
    fn run(
        &self,
        machine: &'a GlobalMemory,
        written: Vec<Written>,
    ) -> (Vec<Watching<'a>>, Vec<Written>, Result<(), MemberError>) {
        let mut watches: Vec<Watching<'a>> = self.contexts.iter().map(|c| self.watch(c)).collect();
        // One judge and one order of accesses for all, with the device whose turn it is.
        let has_clusters = self.contexts.iter().any(|c| c.cluster.n_blocks() > 1);
        let order = GridOrder::new(has_clusters, self.contexts.len());
        let mut shared = (Exact::new(machine, written), order);
        let n = self.contexts.len();
        let works: Vec<Work<'_>> = (0..n)
            .map(|index| Work::new(self.contexts, index, 1))
            .collect();
        let workers = works.iter().zip(&mut watches).enumerate();
        let workers = workers.map(|(index, (work, watch))| {
            let choices = self.choices(index as u64 + 1);
            Worker::new(work, watch, work.part(0, 1), choices)
        });
        let turns = Turns {
            together: self,
            workers: workers.map(Some).collect(),
            choices: self.choices(0),
            waited: 0,
            repeated: 0,
        };
        let result = turns.run(&mut shared);
        (watches, shared.0.into_written(), result)
    }

    /// What counts and, if asked to, checks a launch.
    fn watch(&self, context: &'a LaunchContext<'a>) -> Watching<'a> {
        let checks = || {
            // The judge comes with the launch's turn.
            let none = Exact::new(context.machine, Vec::new());
            Box::new(Checks::new(context, none))
        };
        Watch {
            counters: Counters::new(&context.plan.numbering).with_links(Links::of(context)),
            checks: self.checks.then(checks),
            recorder: (self.puts_back).then(|| Recorder::of_the_host(context.memory)),
        }
    }

    /// The choices of a device, or, for number 0, of who has a turn.
    fn choices(&self, number: u64) -> Option<Choices> {
        let schedule = self.schedule?;
        let seed = schedule.seed.wrapping_add(number << 32);
        Some(Choices::new(Schedule { seed, ..schedule }))
    }
}

/// The launches' workers, whose turn it is one after the other.
struct Turns<'t, 'w, 'o, 'a> {
    together: &'t Together<'a>,
    /// Of those that have not ended.
    workers: Vec<Option<Worker<'w, 'o, Watching<'a>>>>,
    choices: Option<Choices>,
    /// What has been executed since anything but waiting was done.
    waited: i64,
    /// What has been executed since all began to repeat themselves.
    repeated: i64,
}

/// What launches share.
type Shared<'a> = (Exact<'a>, GridOrder);

impl<'a> Turns<'_, '_, '_, 'a> {
    fn run(mut self, shared: &mut Shared<'a>) -> Result<(), MemberError> {
        while self.workers.iter().any(Option::is_some) {
            let mut all = Turn::NONE;
            for member in 0..self.workers.len() {
                all.join(self.turn(member, shared)?);
            }
            self.account(&all)?;
        }
        Ok(())
    }

    /// Gives a launch its turn.
    fn turn(&mut self, member: usize, shared: &mut Shared<'a>) -> Result<Turn, MemberError> {
        let n = self.workers.iter().flatten().count();
        let Some(worker) = &mut self.workers[member] else {
            return Ok(Turn::NONE);
        };
        if (self.choices.as_mut()).is_some_and(|choices| choices.block_sits_out(n)) {
            return Ok(Turn::OVER);
        }
        let exchange = |worker: &mut Worker<'_, '_, Watching<'a>>, shared: &mut Shared<'a>| {
            if let Some(checks) = &mut worker.observer.checks {
                checks.exchange(shared);
            }
        };
        exchange(worker, shared);
        let turn = worker.go_on();
        // What another device does may still explain a read of unwritten memory.
        let end = match &turn {
            Ok(None) if n == 1 => worker.last_finding(),
            _ => Ok(()),
        };
        exchange(worker, shared);
        let failed = |(_, error): (u64, Box<LaunchError>)| MemberError {
            member,
            error: *error,
        };
        end.map_err(failed)?;
        match turn.map_err(failed)? {
            Some(turn) => Ok(turn),
            None => {
                self.workers[member] = None;
                Ok(Turn::OVER)
            }
        }
    }

    /// Whether all have waited for too long.
    fn account(&mut self, turn: &Turn) -> Result<(), MemberError> {
        let since = |began: i64, goes_on: bool| if goes_on { began + turn.used } else { 0 };
        self.waited = since(self.waited, turn.waits);
        self.repeated = since(self.repeated, turn.repeats);
        let fuels = self.together.contexts.iter().map(|context| &context.fuel);
        let limits = fuels.flat_map(|fuel| [fuel.repeat(self.repeated), fuel.wait(self.waited)]);
        let Some(limit) = limits.flatten().next() else {
            return Ok(());
        };
        let waiting = self
            .workers
            .iter()
            .enumerate()
            .filter_map(|(member, worker)| {
                let (_, error) = worker.as_ref()?.waiting(limit)?;
                Some((member, *error))
            });
        let mut waiting = waiting.collect::<Vec<_>>().into_iter();
        let Some((member, mut error)) = waiting.next() else {
            return Ok(());
        };
        if let LaunchError::OutOfFuel(one) = &mut error {
            one.elsewhere = waiting
                .filter_map(|(_, other)| match other {
                    LaunchError::OutOfFuel(other) => Some((other.place, other.thread)),
                    _ => None,
                })
                .collect();
        }
        Err(MemberError { member, error })
    }
}
