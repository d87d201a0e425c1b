//! A launch under control.

use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::finding::{Found, bytes_of, parts};
use super::here::Position;
use super::kept::Moments;
use super::probe::Probe;
use super::state::{self, BlockState, SharedVariable, State};
use super::values::{Known, Reader, address_of, global_bytes, parameters, shared_bytes};
use super::walk::Walk;
use crate::block::BlockRun;
use crate::bulk::Span;
use crate::checks::counters::Counters;
use crate::checks::exact::Exact;
use crate::checks::finding::Finding;
use crate::checks::watch::{Checks, Watch};
use crate::clock::Started;
use crate::context::{Among, LaunchContext};
use crate::device::{AllocationInfo, Device, LoadedModule};
use crate::diagnostics::{LaunchError, Place};
use crate::launch::Launch;
use crate::launch::grid_workspace::GridWorkspace;
use crate::launch::memory::Heaps;
use crate::launch::prepared::Prepared;
use crate::launch::workers::{Failure, Work, Worker};
use crate::memory::written::Written;
use crate::program::Terminator;
use crate::report::Report;
use ptx::ir::{RegId, Space};

/// Why a launch stands where it does.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// The moment that was asked for is reached.
    Here,
    /// The launch is at its end.
    AtEnd,
    /// Someone wanted it to halt ([`Session::interrupt`]).
    Interrupted,
}

/// How a launch ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct End {
    /// The instructions that it executes.
    pub time: u64,
    /// Why it fails, if it does.
    pub error: Option<LaunchError>,
}

/// A launch under control. It stands at a moment, and can be brought to any other.
pub struct Session<'w, 'o> {
    worker: Worker<'w, 'o, Walk<'w>>,
    moments: Moments,
    launch: &'w LaunchContext<'w>,
    device: &'w Device,
    text: Option<Arc<str>>,
    /// What was known of memory before.
    written: Vec<Written>,
    time: u64,
    end: Option<End>,
    found: Option<Option<Found>>,
    interrupt: Arc<AtomicBool>,
}

/// Why a run ended.
enum Ran {
    Halted,
    Ended(Option<Box<LaunchError>>),
    Interrupted,
}

impl Device {
    /// Runs a launch under the control of `f`, which gets it before its first instruction.
    /// Afterwards it runs to its end, as it would have done: gives what `f` gives, and how the
    /// launch ended. It is alone with the device meanwhile. The report counts nothing.
    ///
    /// [`LaunchOptions::go_on`](crate::LaunchOptions::go_on) and
    /// [`LaunchOptions::trace`](crate::LaunchOptions::trace) mean nothing here. Clocks show the
    /// number of instructions executed.
    ///
    /// # Errors
    /// The launch is not allowed.
    pub fn debug<R>(
        &self,
        loaded: &LoadedModule,
        kernel: &str,
        launch: &Launch<'_>,
        f: impl FnOnce(&mut Session<'_, '_>) -> R,
    ) -> Result<(R, Result<Report, LaunchError>), LaunchError> {
        let started = Started::now();
        let invalid = |message| {
            let kernel = kernel.to_owned();
            LaunchError::InvalidLaunch { kernel, message }
        };
        let id = self.find(loaded, kernel, launch).map_err(invalid)?;
        let workspace = GridWorkspace::new(self, &launch.options);
        let workspace = workspace.map_err(|error| invalid(error.to_string()))?;
        let _turn = self.turn(true);
        let (mut heaps, views) = Heaps::of(&[self]);
        let written = heaps.written();
        heaps.written_by_anyone();
        drop(heaps);
        let prepared = Prepared {
            device: self,
            loaded,
            id,
            options: launch,
            memory: &views.usable[0],
            machine: &views.machine,
            among: Among::alone(launch.grid),
            alone: true,
            started,
            grid_workspace: workspace.address(),
        };
        let mut context = prepared.context(1);
        context.repeats = true;
        let all = std::slice::from_ref(&context);
        let work = Work::new(all, 0, 1);
        let mut walk = Walk::new(&context);
        let choices = context.schedule.map(crate::schedule::Choices::new);
        let worker = Worker::new(&work, &mut walk, work.part(0, 1), choices);
        let mut session = Session {
            moments: Moments::new(worker.keep()),
            worker,
            launch: &context,
            device: self,
            text: loaded.module().text().cloned(),
            written,
            time: 0,
            end: None,
            found: None,
            interrupt: Arc::default(),
        };
        session.go_to(0);
        let result = f(&mut session);
        session.interrupt.store(false, Ordering::Relaxed);
        session.go_to(u64::MAX);
        let error = session.end.take().and_then(|end| end.error);
        drop(session);
        let mut report = Report::default();
        report.elapsed = started.elapsed();
        let ended = prepared.ended(context, error.map_or(Ok(report), Err));
        Ok((result, ended))
    }
}

/// Keeps what copies to global memory will overwrite that have been started.
fn keep_targets(worker: &mut Worker<'_, '_, Walk<'_>>) {
    let mut targets = Vec::new();
    for block in worker.blocks() {
        block.bulk().each_outgoing(|copy| match &copy.target {
            Span::Range { address, bytes } => targets.push((*address, *bytes)),
            Span::Tile(tile) => tile.each_stored_row(|row| {
                targets.push((row.address, row.inside.end - row.inside.start));
            }),
        });
    }
    for (address, n_bytes) in targets.into_iter().filter(|&(_, n)| n > 0) {
        worker.observer.journal.keep(address, n_bytes);
    }
}

impl<'w> Session<'w, '_> {
    /// The time at which it stands.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// How the launch ends, once it has been there.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Whether it stands at the end.
    pub fn is_at_end(&self) -> bool {
        self.worker.observer.here.is_none()
    }

    /// A flag that halts the launch wherever it is when it is set.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// Whether someone wanted the launch to halt since it last did so, or since this was last asked.
    pub fn was_interrupted(&self) -> bool {
        self.interrupt.swap(false, Ordering::Relaxed)
    }

    /// Keeps a moment to go back to about every `n` instructions, instead of choosing a distance
    /// itself. It grows while there are too many.
    pub fn keep_every(&mut self, n: u64) {
        self.moments.keep_every(n);
    }

    /// Goes to a time, or to the end if that comes before.
    pub fn go_to(&mut self, time: u64) -> Stopped {
        self.start_before(time, None);
        let ran = self.run();
        self.stopped(ran)
    }

    /// Goes on to the first moment after this one at which the probe wants to halt, or to the end.
    /// Gives the probe back.
    pub fn forwards<P: Probe>(&mut self, probe: P) -> (Stopped, P) {
        let now = self.time;
        self.start_before(now, Some((Box::new(probe), now + 1)));
        let ran = self.run();
        let hit = self.worker.observer.hit;
        let probe = self.taken::<P>();
        match (ran, hit) {
            // During an instruction: the moment before it.
            (_, Some(time)) => (self.go_to(time), probe),
            (ran, None) => {
                let stopped = self.stopped(ran);
                // Interrupted on the way to where it stood.
                while self.time < now && matches!(self.go_to(now), Stopped::Interrupted) {}
                (stopped, probe)
            }
        }
    }

    /// Looks at the moments before a time, from the last to the first, in stretches: `probe` is
    /// cloned for each, sees all its moments, and `result` says what it has found there. Gives the
    /// first result; none if it is interrupted, which [`was_interrupted`](Self::was_interrupted)
    /// tells. Where the launch stands afterwards is not said.
    pub fn backwards<P: Probe + Clone, R>(
        &mut self,
        before: u64,
        probe: &P,
        mut result: impl FnMut(&P) -> Option<R>,
    ) -> Option<R> {
        let mut before = before;
        while before > 0 {
            let start = self.start_before(before - 1, Some((Box::new(probe.clone()), 0)));
            self.worker.observer.limit = before;
            let ran = self.run();
            let seen = self.taken::<P>();
            // It has not seen the last moments of the stretch.
            if matches!(ran, Ran::Interrupted) {
                return None;
            }
            if let Some(found) = result(&seen) {
                return Some(found);
            }
            before = start;
        }
        None
    }

    fn taken<P: Probe>(&mut self) -> P {
        let probe = self.worker.observer.take_probe();
        let probe: Box<dyn Any> = probe.expect("it was given one");
        *probe.downcast().expect("the same")
    }

    /// Starts again from the last moment kept that is not after a time, which becomes the limit
    /// unless there is a probe. Gives that moment's time.
    fn start_before(&mut self, time: u64, probe: Option<(Box<dyn Probe>, u64)>) -> u64 {
        let index = self.moments.before(time);
        let limit = if probe.is_some() { u64::MAX } else { time };
        let walk = &mut *self.worker.observer;
        let (from, kept) = self
            .moments
            .go_back(index, self.launch.memory, &mut walk.journal);
        walk.begin(from, limit, probe);
        self.worker.put_back(kept);
        from
    }

    /// Runs on until the observer halts the launch, or it ends.
    fn run(&mut self) -> Ran {
        loop {
            let time = self.worker.observer.time;
            let journal = &mut self.worker.observer.journal;
            while self.moments.next().is_some_and(|next| next <= time) {
                self.moments.pass(journal);
            }
            if self.moments.is_due(time) && self.worker.observer.checks.is_none() {
                let kept = self.worker.keep();
                let journal = &mut self.worker.observer.journal;
                self.moments.add(time, kept, journal);
                keep_targets(&mut self.worker);
            }
            if self.interrupt.load(Ordering::Relaxed) {
                return Ran::Interrupted;
            }
            match self.worker.advance() {
                Ok(true) => {}
                Ok(false) => return self.ended(None),
                Err(_) if self.worker.observer.has_halted() => return Ran::Halted,
                Err((_, error)) => return self.ended(Some(error)),
            }
        }
    }

    fn ended(&mut self, error: Option<Box<LaunchError>>) -> Ran {
        let found = match error {
            None if self.worker.observer.checks.is_some() => {
                let last = self.worker.last_finding();
                last.err().map(|(_, error): Failure| error)
            }
            error => error,
        };
        if self.worker.observer.checks.is_none() {
            self.end = Some(End {
                time: self.worker.observer.time,
                error: found.as_deref().cloned(),
            });
        }
        Ran::Ended(found)
    }

    fn stopped(&mut self, ran: Ran) -> Stopped {
        self.time = self.worker.observer.time;
        match ran {
            Ran::Halted => Stopped::Here,
            Ran::Ended(_) => Stopped::AtEnd,
            Ran::Interrupted => {
                self.interrupt.store(false, Ordering::Relaxed);
                match self.go_to(self.time) {
                    Stopped::AtEnd => Stopped::AtEnd,
                    _ => Stopped::Interrupted,
                }
            }
        }
    }

    /// What the checks find first in the launch, and when it happens; nothing if they find nothing,
    /// or if someone wanted the launch to halt before that was [known](Self::knows_finding). The
    /// launch stands where it did afterwards.
    pub fn finding(&mut self) -> Option<Found> {
        if let Some(known) = &self.found {
            return known.clone();
        }
        let time = self.time;
        let found = self.look();
        // Until it is reached: who halted the search needs the launch where it was.
        while let Stopped::Interrupted = self.go_to(time) {}
        self.found = found;
        self.found.clone().flatten()
    }

    /// Whether it is known what the checks find.
    pub fn knows_finding(&self) -> bool {
        self.found.is_some()
    }

    /// What the checks find; none if someone wanted the launch to halt.
    fn look(&mut self) -> Option<Option<Found>> {
        self.start_before(0, None);
        let walk = &mut *self.worker.observer;
        walk.limit = u64::MAX;
        (walk.found_at, walk.finding) = (None, None);
        let judge = Exact::new(self.launch.memory, self.written.clone());
        walk.checks = Some(Box::new(Watch {
            counters: Counters::new(&self.launch.plan.numbering),
            checks: Some(Box::new(Checks::new(self.launch, judge))),
            recorder: None,
        }));
        let ran = self.run();
        let walk = &mut *self.worker.observer;
        walk.checks = None;
        let when = (walk.found_at.unwrap_or(walk.time), walk.time);
        let found = match (ran, walk.finding) {
            (Ran::Ended(Some(error)), Some(finding)) => self.found_by(&finding, when, *error),
            _ => None,
        };
        let is_halted = self.interrupt.load(Ordering::Relaxed);
        (!is_halted).then_some(found)
    }

    /// When the threads of a finding, which was made before a time, do what is reported.
    fn found_by(
        &mut self,
        finding: &Finding,
        (before, end): (u64, u64),
        error: LaunchError,
    ) -> Option<Found> {
        let (at, this, other) = parts(finding);
        let this = self.when(this, at, before)?;
        let is_same = other.is_some_and(|other| {
            (other.block, other.warp, other.lane) == (this.block, this.warp, this.lane)
        });
        let before = match finding {
            // Whoever uses the value does so later.
            Finding::AbsentSource { .. } => end,
            _ => this.time + u64::from(!is_same),
        };
        let other = other.and_then(|other| self.when(other, at, before));
        Some(Found {
            error,
            this,
            other,
            memory: at.map(|at| (at.space, at.owner, bytes_of(&at))),
        })
    }

    /// The block, warp, lanes and instruction that are about to be executed; none at the end.
    pub fn here(&self) -> Option<(u64, u32, u32, Position)> {
        let here = self.worker.observer.here?;
        let position = Position {
            function: here.function,
            instruction: here.ptx,
        };
        Some((here.block, here.warp, here.lanes, position))
    }

    /// The lanes that will carry the instruction out, because its guard holds.
    pub fn active(&self) -> u32 {
        self.worker.observer.here.map_or(0, |here| here.active)
    }

    /// Where all blocks in flight are.
    pub fn state(&self) -> State {
        let blocks = self.worker.blocks().map(|block| self.state_of(block));
        State {
            blocks: blocks.collect(),
        }
    }

    /// Where a block is, if it is in flight.
    pub fn block(&self, number: u64) -> Option<BlockState> {
        Some(self.state_of(self.block_run(number)?))
    }

    fn state_of(&self, block: &BlockRun) -> BlockState {
        let walk = &*self.worker.observer;
        state::of_block(self.launch, block, walk.here, &walk.barriers)
    }

    fn block_run(&self, number: u64) -> Option<&BlockRun> {
        self.worker.blocks().find(|block| block.number == number)
    }

    /// An instruction's place in the PTX text and in the source.
    pub fn place(&self, position: Position) -> Place {
        position.place(self.launch)
    }

    /// A register of a call of a warp that has come to an instruction, in one lane. `frame` is a
    /// [`Frame`](super::Frame)'s.
    pub fn register(
        &self,
        (block, warp): (u64, u32),
        frame: &super::Frame,
        register: RegId,
        lane: u32,
    ) -> Option<Known> {
        let reader = self.reader(block, warp, frame)?;
        Some(reader.register(register, lane))
    }

    fn reader(&self, block: u64, warp: u32, frame: &super::Frame) -> Option<Reader<'_>> {
        let run = self.block_run(block)?;
        let warp = run.warps().get(warp as usize)?;
        let known = warp.frames.get(frame.id as usize)?;
        (known.function == frame.position.function).then_some(Reader {
            launch: self.launch,
            knowledge: &self.worker.observer.knowledge,
            warp,
            frame: frame.id,
            ptx: frame.position.instruction,
        })
    }

    /// Bytes of a thread's local memory; none if some are not there.
    pub fn local(
        &self,
        (block, warp, lane): (u64, u32, u32),
        address: u32,
        n_bytes: u32,
    ) -> Option<Vec<u8>> {
        let run = self.block_run(block)?;
        let warp = run.warps().get(warp as usize)?;
        let at = |i| warp.local.byte(lane as usize % 32, address.checked_add(i)?);
        (0..n_bytes).map(at).collect()
    }

    /// Bytes of a block's shared memory; none if some are not there.
    pub fn shared(&self, block: u64, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
        shared_bytes(self.block_run(block)?.shared(), address, n_bytes)
    }

    /// Variables in shared memory.
    pub fn shared_variables(&self) -> Vec<SharedVariable> {
        state::shared_variables(self.launch)
    }

    /// Bytes of global memory; none if some are not there.
    pub fn global(&self, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
        global_bytes(self.launch, address, n_bytes)
    }

    /// Everything that is allocated.
    pub fn allocations(&self) -> Vec<AllocationInfo> {
        self.device.allocations()
    }

    /// What is allocated at an address.
    pub fn allocation_at(&self, address: u64) -> Option<AllocationInfo> {
        self.device.allocation_at(address)
    }

    /// The kernel's parameters, as they lie in memory.
    pub fn parameters(&self) -> Vec<u8> {
        parameters(self.launch)
    }

    /// The module.
    pub fn module(&self) -> &'w ptx::ir::Module {
        self.launch.module
    }

    /// Its text, unless it was linked from several.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.text.as_ref()
    }

    /// Where memory is that a function knows by a name: of local memory, from the call's first byte
    /// on; of parameters, in [`parameters`](Self::parameters).
    pub fn address_of(&self, function: usize, space: Space, name: &str) -> Option<u64> {
        address_of(self.launch, function, space, name)
    }

    /// The instructions of a function that are executed, and so have a time, by their numbers. Those
    /// that are not are part of others: constants, addresses, jumps.
    pub fn executed(&self, function: usize) -> Vec<u32> {
        let known = self.launch.program.functions.get(function);
        let Some(function) = known.and_then(Option::as_ref) else {
            return Vec::new();
        };
        let code = function.code.iter().map(|instruction| instruction.ptx);
        let ends = function.blocks.iter().filter_map(|block| {
            let is_jump = matches!(block.terminator, Terminator::Jump(_));
            (!is_jump).then(|| block.last())
        });
        let mut all: Vec<u32> = code.chain(ends).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The kernel's number among the module's functions.
    pub fn kernel(&self) -> usize {
        self.launch.kernel
    }

    /// Blocks of the grid and threads of a block, by axis.
    pub fn shape(&self) -> ([u32; 3], [u32; 3]) {
        (self.launch.grid, self.launch.block)
    }

    /// `%ctaid` of a block, and `%tid` of a thread of it.
    pub fn thread(&self, block: u64, warp: u32, lane: u32) -> ([u32; 3], [u32; 3]) {
        let thread = self.launch.thread_at(warp, lane);
        (self.launch.ctaid(block), thread)
    }

    /// The block, warp and lane of a thread: those of `%ctaid` and `%tid`.
    pub fn find_thread(&self, ctaid: [u32; 3], tid: [u32; 3]) -> Option<(u64, u32, u32)> {
        let (grid, block) = self.shape();
        let inside = |at: [u32; 3], all: [u32; 3]| at.iter().zip(all).all(|(&i, n)| i < n);
        if !inside(ctaid, grid) || !inside(tid, block) {
            return None;
        }
        let linear = tid[0] + block[0] * (tid[1] + block[1] * tid[2]);
        Some((self.launch.number_of(ctaid), linear / 32, linear % 32))
    }

    /// What threads have printed up to here, from the `first` line on.
    pub fn printed(&self, first: usize) -> Vec<String> {
        self.launch.printed.from(first)
    }

    /// A number for everything that the launch does from here on depends on: all registers, all
    /// memory, everything in flight.
    pub fn fingerprint(&self) -> u64 {
        let mut state = DefaultHasher::new();
        self.time.hash(&mut state);
        self.worker.observer.here.hash(&mut state);
        self.worker.hash(&mut state);
        self.launch.memory.hash(&mut state);
        state.finish()
    }

    /// About how much memory is taken by what the launch can go back to, in bytes.
    pub fn kept_bytes(&self) -> usize {
        self.moments.n_bytes()
    }
}
