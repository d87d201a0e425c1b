//! Timing on the device: events around every run, contenders alternating, data out of the cache.
//!
//! A run's time is the difference between two events in the stream, one before its work and one
//! after it. Four things would spoil that, and each is dealt with:
//!
//! - A stream that has run empty. The event before a launch then completes long before the host has
//!   queued the launch, and the host's time is counted as the kernel's. So runs are queued in
//!   groups behind a long fill ([`HEAD_START_BYTES`]), and groups that the device began too early
//!   are reported.
//! - Data that the previous run left in the second-level cache. So the contenders use several sets
//!   of buffers, copies of the ones they were given, which together are four times the cache
//!   ([`sets_out_of_cache`]).
//! - Lines in that cache that another contender wrote and that still have to be written to memory,
//!   at the expense of the next one. So each timed run follows an untimed one of the same
//!   contender, as in a loop.
//! - Clocks that are still rising, and code that is loaded at its first launch. So everything runs
//!   for some time first ([`WARM_UP_MS`]).
//!
//! Left out: fixed clocks. Clocks are read, and contenders are timed in turn.

use super::super::timing::{Clocked, Conditions, Contender, Fill, Timed, sets_out_of_cache};
use super::super::{Buffer, EngineError, LibraryCall, Place};
use super::device::Gpu;
use super::memory;
use super::session::{Resolved, RunError, Session};
use crate::driver::{self, Event, GraphExec};
use std::collections::BTreeMap;

/// Maximum number of sets of buffers.
const MOST_SETS: u32 = 64;

/// Everything runs this long, and at least twice, before timing starts.
const WARM_UP_MS: f32 = 40.0;

/// Bytes that are filled while the host queues a group of runs: about 0.3 ms on
/// the fastest memory there is.
const HEAD_START_BYTES: u64 = 1 << 30;

/// Runs in a group.
const GROUP_RUNS: usize = 20;

/// A round that takes this long needs no head start: its runs are long enough for the host to stay
/// ahead.
const LONG_ROUND_MS: f32 = 5.0;

/// Minimum number of runs in a row.
const FEWEST_IN_ROW: usize = 50;

/// Rows of each contender before timing starts.
const ROWS_BEFORE: usize = 10;

/// Copies of the buffers may take one part in this many of the device's memory.
const COPIES_SHARE: u64 = 3;

/// See [`Timing::perform`](super::super::timing::Timing::perform).
pub(super) fn perform(gpu: &Gpu, work: &Timed<'_>) -> Result<(), EngineError> {
    check_ranges(gpu, std::slice::from_ref(work))?;
    gpu.run(&place_of(&[work]), |session| {
        load(gpu, session, work)?;
        enqueue(session, &resolve(gpu, session, work)?)?;
        session.wait()
    })
}

/// See [`Timing::time`](super::super::timing::Timing::time).
pub(super) fn time(
    gpu: &Gpu,
    contenders: &[Contender<'_>],
    conditions: &Conditions,
) -> Result<Clocked, EngineError> {
    with_clock(gpu, contenders, conditions, |clock| {
        let mut clocked = clock.run(gpu, conditions)?;
        if clock.is_short(&clocked, conditions) {
            (clocked.n_in_row, clocked.rows_ms) = clock.run_rows(conditions)?;
        }
        Ok(clocked)
    })
    .map(|(clocked, sets)| Clocked {
        n_sets: sets.n_sets,
        set_bytes: sets.set_bytes,
        out_of_cache: sets.out_of_cache,
        ..clocked
    })
}

/// Prepares the contenders on several sets of their buffers.
pub(super) fn with_clock<'g, R>(
    gpu: &'g Gpu,
    contenders: &[Contender<'_>],
    conditions: &Conditions,
    work: impl FnOnce(&Clock<'_>) -> Result<R, RunError>,
) -> Result<(R, Sets<'g>), EngineError> {
    let all: Vec<&Timed<'_>> = contenders
        .iter()
        .flat_map(|contender| contender.before.iter().chain([&contender.timed]))
        .collect();
    let sets = Sets::make(gpu, contenders, conditions)?;
    let head_start = Buffer::<u8>::uninitialised(
        gpu,
        "head start",
        HEAD_START_BYTES.min(gpu.properties.memory_bytes / 16) as usize,
    )?;
    let done = gpu.run(&place_of(&all), |session| {
        for work in &all {
            load(gpu, session, work)?;
        }
        let session = &*session;
        let mut rounds = Vec::new();
        for set in 0..sets.n_sets {
            let there = |address| sets.address(set, address);
            let resolved = contenders
                .iter()
                .map(|contender| Turn::resolve(gpu, session, contender, &there))
                .collect::<Result<Vec<_>, _>>()?;
            rounds.push(resolved);
        }
        work(&Clock {
            session,
            sets: rounds,
            n_contenders: contenders.len(),
            head_start: Fill {
                address: head_start.address(),
                size_bytes: head_start.size_bytes(),
                value: 0xA5,
            },
        })
    })?;
    Ok((done, sets))
}

/// The place that an error names.
fn place_of(work: &[&Timed<'_>]) -> Place {
    let last = work.iter().rev().find_map(|work| match work {
        Timed::Launches(launches) | Timed::Baselines(launches) => launches.last(),
        _ => None,
    });
    last.map_or_else(
        || {
            let config = super::super::LaunchConfig::new([1; 3], [1; 3]);
            Place::of("device-to-device copy", config)
        },
        |launch| launch.place(),
    )
}

fn check_ranges(gpu: &Gpu, work: &[Timed<'_>]) -> Result<(), EngineError> {
    let allocations = gpu.allocations.borrow();
    // A launch's own addresses come without sizes, so they cannot be checked.
    let mut ranges = work
        .iter()
        .flat_map(Timed::addresses)
        .filter(|&(_, size_bytes)| size_bytes != 0);
    ranges.try_for_each(|(address, size_bytes)| allocations.check(address, size_bytes))
}

// ---------------------------------------------------------------------------
// Sets of buffers
// ---------------------------------------------------------------------------

/// The contenders' buffers and copies of them.
pub(super) struct Sets<'g> {
    n_sets: u32,
    set_bytes: u64,
    out_of_cache: bool,
    /// Start of each buffer, with its size and its copies for sets 1, 2, ….
    buffers: BTreeMap<u64, (u64, Vec<Buffer<'g, u8>>)>,
}

impl<'g> Sets<'g> {
    fn make(
        gpu: &'g Gpu,
        contenders: &[Contender<'_>],
        conditions: &Conditions,
    ) -> Result<Self, EngineError> {
        let mut buffers = BTreeMap::new();
        let mut least_bytes = u64::MAX;
        for contender in contenders {
            let allocations = gpu.allocations.borrow();
            let mut own = BTreeMap::new();
            let work = contender.before.iter().chain([&contender.timed]);
            for (address, size_bytes) in work.flat_map(Timed::addresses) {
                match allocations.around(address, size_bytes) {
                    Ok((start, size_bytes)) => own.insert(start, size_bytes),
                    // A pointer that the launch does not use.
                    Err(_) if size_bytes == 0 => continue,
                    Err(error) => return Err(error),
                };
            }
            least_bytes = least_bytes.min(own.values().sum());
            buffers.extend(
                own.into_iter()
                    .map(|(start, size)| (start, (size, Vec::new()))),
            );
        }
        let set_bytes = least_bytes.min(conditions.touched_bytes.unwrap_or(u64::MAX));
        let all_bytes: u64 = buffers.values().map(|(size, _)| size).sum();
        let cache_bytes = gpu.properties.l2_cache_bytes.unwrap_or(0).into();
        let most = (gpu.properties.memory_bytes / COPIES_SHARE / all_bytes.max(1))
            .clamp(1, MOST_SETS.into()) as u32;
        let n_sets = sets_out_of_cache(set_bytes, cache_bytes, contenders.len() as u32, most);
        let mut sets = Self {
            n_sets: n_sets.unwrap_or(1),
            set_bytes,
            out_of_cache: n_sets.is_some() && cache_bytes != 0,
            buffers,
        };
        for (&start, (size_bytes, copies)) in &mut sets.buffers {
            for _ in 1..sets.n_sets {
                let copy = Buffer::<u8>::uninitialised(gpu, "copy", *size_bytes as usize)?;
                gpu.with_session(|session| {
                    let stream = session.stream();
                    let (to, size_bytes) = (copy.address(), *size_bytes);
                    Ok(driver::memory::enqueue_copy(stream, to, start, size_bytes)?)
                })?;
                copies.push(copy);
            }
        }
        // Both the copies and all later work are enqueued in the same stream.
        Ok(sets)
    }

    /// The address in set `set` for an address in the given buffers.
    fn address(&self, set: u32, address: u64) -> u64 {
        let around = self.buffers.range(..=address).next_back();
        let copy = around
            .filter(|(start, (size_bytes, _))| address - **start <= *size_bytes)
            .and_then(|(start, (_, copies))| {
                let copy = copies.get(set.checked_sub(1)? as usize)?;
                Some(copy.address() + (address - start))
            });
        copy.unwrap_or(address)
    }
}

// ---------------------------------------------------------------------------
// Work in the stream
// ---------------------------------------------------------------------------

/// Work that is enqueued in one go.
enum Op {
    Launch(Resolved),
    Copy { to: u64, from: u64, size_bytes: u64 },
    Fill(Fill),
    Call(LibraryCall),
}

/// Loads what the work needs.
fn load(gpu: &Gpu, session: &mut Session, work: &Timed<'_>) -> Result<(), EngineError> {
    match work {
        Timed::Launches(launches) => launches
            .iter()
            .try_for_each(|launch| session.load_for(&gpu.modules.borrow(), launch)),
        Timed::Library(call) => session.prepare_call(call),
        Timed::Baselines(_) | Timed::Copy { .. } | Timed::Fills(_) => Ok(()),
    }
}

fn resolve(gpu: &Gpu, session: &Session, work: &Timed<'_>) -> Result<Vec<Op>, RunError> {
    let device = &gpu.properties;
    Ok(match work {
        Timed::Launches(launches) => launches
            .iter()
            .map(|launch| {
                session
                    .resolve(&gpu.modules.borrow(), launch, device)
                    .map(Op::Launch)
            })
            .collect::<Result<_, _>>()?,
        Timed::Baselines(launches) => launches
            .iter()
            .map(|launch| session.resolve_baseline(launch, device).map(Op::Launch))
            .collect::<Result<_, _>>()?,
        &Timed::Copy {
            to,
            from,
            size_bytes,
        } => vec![Op::Copy {
            to,
            from,
            size_bytes,
        }],
        Timed::Fills(fills) => fills.iter().copied().map(Op::Fill).collect(),
        Timed::Library(call) => vec![Op::Call(*call)],
    })
}

fn enqueue(session: &Session, ops: &[Op]) -> Result<(), RunError> {
    for op in ops {
        match op {
            Op::Launch(launch) => session.enqueue(launch)?,
            &Op::Copy {
                to,
                from,
                size_bytes,
            } => driver::memory::enqueue_copy(session.stream(), to, from, size_bytes)?,
            Op::Fill(fill) => memory::enqueue_fill(session.stream(), fill)?,
            Op::Call(call) => session.enqueue_call(call)?,
        }
    }
    Ok(())
}

/// A contender on one set of buffers.
struct Turn {
    before: Vec<Op>,
    timed: Vec<Op>,
}

impl Turn {
    fn resolve(
        gpu: &Gpu,
        session: &Session,
        contender: &Contender<'_>,
        there: &dyn Fn(u64) -> u64,
    ) -> Result<Self, RunError> {
        let resolved = |work: &Timed<'_>| resolve(gpu, session, &work.relocated(there)?);
        let before = contender.before.iter().map(resolved);
        Ok(Self {
            before: before
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect(),
            timed: resolved(&contender.timed)?,
        })
    }
}

// ---------------------------------------------------------------------------
// The clock
// ---------------------------------------------------------------------------

pub(super) struct Clock<'s> {
    pub(super) session: &'s Session,
    /// The contenders, for each set of buffers.
    sets: Vec<Vec<Turn>>,
    n_contenders: usize,
    pub(super) head_start: Fill,
}

/// An event before and an event after the run of a contender.
pub(super) type Span = (usize, Event, Event);

impl Clock<'_> {
    fn run(&self, gpu: &Gpu, conditions: &Conditions) -> Result<Clocked, RunError> {
        // This triggers all loading and allocation of first launches.
        let mut n_turns = 0;
        self.untimed_rounds(1, &mut n_turns)?;
        self.session.wait()?;
        let mut probe = Vec::new();
        self.timed_round(&mut n_turns, &mut probe)?;
        self.session.wait()?;
        let round_ms: f32 = spans_ms(&probe)?.iter().map(|&(_, ms)| ms).sum();
        let n_warm = (WARM_UP_MS / round_ms.max(1e-3)) as usize;
        self.untimed_rounds(n_warm.clamp(1, 2000), &mut n_turns)?;
        self.session.wait()?;

        let n_rounds = conditions.n_runs_of(round_ms) as usize;
        let rounds_a_group = if round_ms > LONG_ROUND_MS {
            n_rounds
        } else {
            (GROUP_RUNS / self.n_contenders.max(1)).max(1)
        };
        let mut spans = Vec::with_capacity(n_rounds * self.n_contenders);
        let mut n_late = 0;
        let mut n_left = n_rounds;
        while n_left > 0 {
            let n_rounds = rounds_a_group.min(n_left);
            n_left -= n_rounds;
            if round_ms <= LONG_ROUND_MS {
                memory::enqueue_fill(self.session.stream(), &self.head_start)?;
                // The fill leaves a cache full of lines to write back.
                self.untimed_rounds(1, &mut n_turns)?;
            }
            let first = spans.len();
            for _ in 0..n_rounds {
                self.timed_round(&mut n_turns, &mut spans)?;
            }
            let (_, start, _) = &spans[first];
            let has_begun = start.is_passed()?;
            n_late += u32::from(has_begun && round_ms <= LONG_ROUND_MS);
        }
        self.session.wait()?;
        let sensors = gpu.board.as_ref().map(super::sensors::Board::read);
        let mut runs_ms = vec![Vec::with_capacity(n_rounds); self.n_contenders];
        for (contender, ms) in spans_ms(&spans)? {
            runs_ms[contender].push(ms);
        }
        Ok(Clocked {
            runs_ms,
            n_late,
            sensors,
            ..Clocked::default()
        })
    }

    /// Whether runs of the first contender are short enough to be timed in a row as well.
    fn is_short(&self, clocked: &Clocked, conditions: &Conditions) -> bool {
        let mut runs = clocked.runs_ms[0].clone();
        runs.sort_by(f32::total_cmp);
        let median = runs.get(runs.len() / 2);
        median.is_some_and(|&ms| ms < conditions.row_below_ms)
    }

    /// Many consecutive runs of each contender, without the host: their number, and for each
    /// contender the time per run of each row. A contender that needs something done before each
    /// run has none.
    ///
    /// A row uses all sets of buffers equally often.
    fn run_rows(&self, conditions: &Conditions) -> Result<(u32, Vec<Vec<f32>>), RunError> {
        let n_sets = self.sets.len();
        let n_in_row = FEWEST_IN_ROW.next_multiple_of(n_sets);
        let mut rows = Vec::new();
        for contender in 0..self.n_contenders {
            if !self.sets[0][contender].before.is_empty() {
                continue;
            }
            let graph = self.session.stream().record(|| {
                (0..n_in_row).try_for_each(|i| {
                    enqueue(self.session, &self.sets[i % n_sets][contender].timed)
                })
            })?;
            rows.push((contender, graph));
        }
        let enqueue_row = |graph: &GraphExec| self.session.stream().run(graph);
        for _ in 0..ROWS_BEFORE {
            rows.iter().try_for_each(|(_, graph)| enqueue_row(graph))?;
        }
        self.session.wait()?;
        let mut spans = Vec::new();
        for _ in 0..conditions.n_runs {
            memory::enqueue_fill(self.session.stream(), &self.head_start)?;
            for (contender, graph) in &rows {
                enqueue_row(graph)?;
                spans.push(self.timed_span(*contender, || Ok(enqueue_row(graph)?))?);
            }
            self.session.wait()?;
        }
        let mut rows_ms = vec![Vec::new(); self.n_contenders];
        for (contender, ms) in spans_ms(&spans)? {
            rows_ms[contender].push(ms / n_in_row as f32);
        }
        Ok((n_in_row as u32, rows_ms))
    }

    /// At least this many consecutive runs of the first contender, using all sets of buffers
    /// equally often, as a graph, and their number; no graph if something is to be done before
    /// each.
    pub(super) fn row(&self, n_runs: usize) -> Result<(Option<GraphExec>, usize), RunError> {
        let n_sets = self.sets.len();
        if !self.sets[0][0].before.is_empty() {
            return Ok((None, n_runs));
        }
        let n_runs = n_runs.next_multiple_of(n_sets);
        let row = self.session.stream().record(|| {
            (0..n_runs).try_for_each(|i| enqueue(self.session, &self.sets[i % n_sets][0].timed))
        })?;
        Ok((Some(row), n_runs))
    }

    /// The set changes from run to run, not from round to round, so that two contenders that share
    /// buffers do not follow each other on the same ones.
    fn turn(&self, contender: usize, n_turns: &mut usize) -> &Turn {
        let set = *n_turns % self.sets.len();
        *n_turns += 1;
        &self.sets[set][contender]
    }

    pub(super) fn untimed_rounds(
        &self,
        n_rounds: usize,
        n_turns: &mut usize,
    ) -> Result<(), RunError> {
        for _ in 0..n_rounds {
            for contender in 0..self.n_contenders {
                let turn = self.turn(contender, n_turns);
                enqueue(self.session, &turn.before)?;
                enqueue(self.session, &turn.timed)?;
            }
        }
        Ok(())
    }

    pub(super) fn timed_round(
        &self,
        n_turns: &mut usize,
        spans: &mut Vec<Span>,
    ) -> Result<(), RunError> {
        for contender in 0..self.n_contenders {
            // What another contender left in the caches must not count: lines still to be written,
            // and its code. So each timed run follows an untimed one of the same contender.
            let turn = self.turn(contender, n_turns);
            enqueue(self.session, &turn.before)?;
            enqueue(self.session, &turn.timed)?;
            let turn = self.turn(contender, n_turns);
            enqueue(self.session, &turn.before)?;
            spans.push(self.timed_span(contender, || enqueue(self.session, &turn.timed))?);
        }
        Ok(())
    }

    /// Enqueues something between two events.
    fn timed_span(
        &self,
        contender: usize,
        enqueue: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<Span, RunError> {
        let stream = self.session.stream();
        let (start, end) = (Event::timed()?, Event::timed()?);
        stream.mark(&start)?;
        enqueue()?;
        stream.mark(&end)?;
        Ok((contender, start, end))
    }
}

/// Contender and time of each span, once all have completed.
pub(super) fn spans_ms(spans: &[Span]) -> Result<Vec<(usize, f32)>, RunError> {
    spans
        .iter()
        .map(|(contender, start, end)| Ok((*contender, end.ms_since(start)?)))
        .collect()
}
