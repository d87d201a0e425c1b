//! Timing one contender with the device to itself: shortly after a rest, and without pauses.
//!
//! Under a power limit, contenders that alternate share watts: the hungrier one runs faster next to
//! a thriftier one than it does alone, and the other one slower. So whatever reaches the limit is
//! also timed alone, in two states. After a rest the chip is cool and its clock high; without
//! pauses the clock settles where the limit allows, and the board's energy counter gives the power.
//!
//! A library that can do a call in several ways is timed with the most promising ones, and its
//! figure for each state is that of the best. It is timed once for each kind of call, so that all
//! kernels on a shape are compared with the same figures.
//!
//! Left out: temperature, which drifts over minutes and is read but not waited for.

use super::super::timing::{Alone, Conditions, Contender, Timed};
use super::super::{EngineError, LibraryCall};
use super::device::Gpu;
use super::memory;
use super::session::RunError;
use super::timing::{Clock, spans_ms, with_clock};
use crate::driver::Event;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Length of a rest.
const REST: Duration = Duration::from_millis(400);
/// Number of rests, and of timed runs after each.
const RESTS: usize = 2;
const RESTED_RUNS: usize = 12;
/// Time until power and clock have settled.
const SETTLING: Duration = Duration::from_millis(300);
/// Time of the timed runs after that.
const STEADY: Duration = Duration::from_millis(500);
/// How long the runs that are timed together take.
const GROUP_MS: f32 = 5.0;
/// Maximum number of runs in a group.
const MOST_RUNS: usize = 500;
/// Groups that are queued at any time.
const GROUPS_QUEUED: usize = 3;
/// Groups between readings of the clock.
const GROUPS_A_LOOK: usize = 8;
/// Number of a library's ways that are timed.
const MOST_WAYS: usize = 2;

/// See [`Timing::time_alone`](super::super::timing::Timing::time_alone).
pub(super) fn time(
    gpu: &Gpu,
    contender: &Contender<'_>,
    conditions: &Conditions,
) -> Result<Alone, EngineError> {
    match contender.timed {
        Timed::Library(call) => of_library(gpu, contender, &call, conditions),
        _ => clock(gpu, contender, conditions),
    }
}

fn of_library(
    gpu: &Gpu,
    contender: &Contender<'_>,
    call: &LibraryCall,
    conditions: &Conditions,
) -> Result<Alone, EngineError> {
    let known = gpu.with_session(|session| Ok(session.libraries().alone(call)))?;
    if let Some(known) = known {
        return Ok(known);
    }
    let n_ways = gpu.with_session(|session| {
        session.prepare_call(call)?;
        Ok(session.libraries().n_ways(call))
    })?;
    let mut best: Option<(usize, Alone)> = None;
    for way in 0..n_ways.min(MOST_WAYS) {
        let take = |way| {
            gpu.with_session(|session| {
                session.libraries().take_way(call, way);
                Ok(())
            })
        };
        take(way)?;
        let this = clock(gpu, contender, conditions)?;
        best = Some(match best {
            None => (way, this),
            Some((before, best)) => {
                let is_steadier = this.median_steady() < best.median_steady();
                (if is_steadier { way } else { before }, best.better(this))
            }
        });
        if let Some((way, _)) = best {
            take(way)?;
        }
    }
    let alone = best.map(|(_, alone)| alone).unwrap_or_default();
    gpu.with_session(|session| {
        session.libraries().note_alone(call, alone.clone());
        Ok(())
    })?;
    Ok(alone)
}

fn clock(
    gpu: &Gpu,
    contender: &Contender<'_>,
    conditions: &Conditions,
) -> Result<Alone, EngineError> {
    let contenders = std::slice::from_ref(contender);
    let (alone, _) = with_clock(gpu, contenders, conditions, |clock| {
        let mut n_turns = 0;
        let (rested_ms, run_ms) = rested(clock, &mut n_turns)?;
        let steady = steady(gpu, clock, run_ms, &mut n_turns)?;
        Ok(Alone {
            rested_ms,
            ..steady
        })
    })?;
    Ok(alone)
}

/// The times of the runs after rests, and the shortest of them.
fn rested(clock: &Clock<'_>, n_turns: &mut usize) -> Result<(Vec<f32>, f32), RunError> {
    let mut all_ms = Vec::new();
    // The first pass loads what is needed and does not count.
    for rest in 0..=RESTS {
        clock.session.wait()?;
        if rest > 0 {
            std::thread::sleep(REST);
        }
        memory::enqueue_fill(clock.session.stream(), &clock.head_start)?;
        clock.untimed_rounds(1, n_turns)?;
        let mut spans = Vec::new();
        for _ in 0..RESTED_RUNS {
            clock.timed_round(n_turns, &mut spans)?;
        }
        clock.session.wait()?;
        if rest > 0 {
            all_ms.extend(spans_ms(&spans)?.into_iter().map(|(_, ms)| ms));
        }
    }
    let least = all_ms.iter().copied().fold(f32::INFINITY, f32::min);
    Ok((all_ms, least))
}

/// The times of runs without pauses, and the board's readings meanwhile.
fn steady(
    gpu: &Gpu,
    clock: &Clock<'_>,
    run_ms: f32,
    n_turns: &mut usize,
) -> Result<Alone, RunError> {
    let n_runs = ((GROUP_MS / run_ms.max(1e-4)) as usize).clamp(1, MOST_RUNS);
    let mark = || -> Result<Event, RunError> {
        let event = Event::timed()?;
        clock.session.stream().mark(&event)?;
        Ok(event)
    };
    let mut alone = Alone::default();
    let mut meter = Meter::default();
    let mut clocks = Vec::new();
    let begin = Instant::now();
    let mut last = mark()?;
    let mut queued = VecDeque::new();
    // A library call occupies the host for as long as a short product occupies the device; a graph
    // does not.
    let (row, n_runs) = clock.row(n_runs)?;
    for group in 0.. {
        match &row {
            Some(row) => clock.session.stream().run(row)?,
            None => clock.untimed_rounds(n_runs, n_turns)?,
        }
        queued.push_back(mark()?);
        if queued.len() < GROUPS_QUEUED {
            continue;
        }
        let Some(end) = queued.pop_front() else { break };
        while !end.is_passed()? {
            std::thread::sleep(Duration::from_micros(50));
        }
        let elapsed = begin.elapsed();
        if elapsed > SETTLING {
            alone.steady_ms.push(end.ms_since(&last)? / n_runs as f32);
            if let Some(board) = &gpu.board {
                meter.note(begin.elapsed(), board.joules());
                if group % GROUPS_A_LOOK == 0 {
                    clocks.extend(board.read().sm_clock_mhz);
                }
            }
        }
        last = end;
        if elapsed > SETTLING + STEADY {
            break;
        }
    }
    clock.session.wait()?;
    clocks.sort_unstable();
    alone.sm_clock_mhz = clocks.get(clocks.len() / 2).copied();
    alone.power_w = meter.watts();
    Ok(alone)
}

/// Power from an energy counter that advances in steps, between the first and the last step seen.
#[derive(Debug, Default)]
struct Meter {
    joules: Option<f64>,
    first: Option<(Duration, f64)>,
    last: Option<(Duration, f64)>,
}

impl Meter {
    fn note(&mut self, at: Duration, joules: Option<f64>) {
        let Some(joules) = joules else { return };
        if self.joules.is_some_and(|before| before != joules) {
            self.first.get_or_insert((at, joules));
            self.last = Some((at, joules));
        }
        self.joules = Some(joules);
    }

    /// `None` unless two steps were seen.
    fn watts(&self) -> Option<f64> {
        let ((begin, first), (end, last)) = (self.first?, self.last?);
        let seconds = end.checked_sub(begin)?.as_secs_f64();
        (seconds > 0.0).then(|| (last - first) / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;
    use std::time::Duration;

    #[test]
    fn power_is_taken_from_step_to_step() {
        let mut meter = Meter::default();
        let mut note = |ms, joules| meter.note(Duration::from_millis(ms), Some(joules));
        // The counter last advanced at an unknown time before; its first reading is not a step.
        note(0, 100.0);
        note(7, 100.0);
        note(20, 160.0);
        note(40, 160.0);
        note(120, 230.0);
        note(125, 230.0);
        assert_eq!(meter.watts(), Some(700.0));
    }

    #[test]
    fn without_two_steps_there_is_no_power() {
        let mut meter = Meter::default();
        meter.note(Duration::from_millis(1), None);
        meter.note(Duration::from_millis(2), Some(5.0));
        meter.note(Duration::from_millis(9), Some(6.0));
        assert_eq!(meter.watts(), None);
    }
}
