//! A launch with checks: first under the prefilter, and again under the exact judge if the
//! prefilter does not pass everything.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::memory::Heaps;
use super::options::LaunchOptions;
use super::prepared::Prepared;
use super::workers;
use crate::checks::counters::Counters;
use crate::checks::exact::Exact;
use crate::checks::judge::Judge;
use crate::checks::links::Links;
use crate::checks::prefilter::{Prefilter, Undo, WrittenBy, discard, restore};
use crate::checks::recorder::Recorder;
use crate::checks::stores::Stores;
use crate::checks::watch::{Checks, Watch};
use crate::context::LaunchContext;
use crate::diagnostics::LaunchError;
use crate::gaps::StoredBy;
use crate::memory::global::GlobalMemory;
use crate::memory::journal::Bytes;
use crate::memory::snapshot::Snapshot;
use crate::memory::written::Written;
use crate::pending::{Footprint, Touches};
use crate::report::Report;

/// A launch with checks that ended badly.
pub(super) struct Failed {
    /// Why.
    pub error: LaunchError,
    /// The memory before it, if the launch is to go on.
    pub before: Option<Box<Before>>,
}

/// The memory before a launch.
pub(super) struct Before {
    snapshot: Snapshot,
    /// What the launch has written of the host's memory.
    of_the_host: Vec<Bytes>,
}

impl Before {
    /// Puts it back.
    pub fn restore(&self, memory: &GlobalMemory) {
        self.snapshot.restore(memory, &self.of_the_host);
    }
}

/// Runs a launch with checks.
pub(super) fn run(heaps: &mut Heaps<'_>, launch: &Prepared<'_>) -> Result<Report, Failed> {
    let device = launch.device;
    let mut written = heaps.lend_written();
    let plan = launch.loaded.module().plan(launch.id);
    let is_for_the_prefilter = launch.options.options.schedule.is_none()
        && !plan.is_not_for_the_prefilter.load(Ordering::Relaxed)
        // What it allocates or frees is not put back.
        && !plan.takes_memory
        // What the host writes while a kernel waits for it would be put back as well.
        && (plan.is_order_independent || !plan.may_meet_host || !heaps.have_memory_of_the_host())
        && !device.machine.has_peers();
    if is_for_the_prefilter {
        let had_waiting_blocks = plan.has_waiting_blocks.load(Ordering::Relaxed);
        let mut passed = prefiltered(launch, &written);
        if plan.has_waiting_blocks.load(Ordering::Relaxed) != had_waiting_blocks {
            passed = passed.or_else(|| prefiltered(launch, &written));
        }
        if let Some((report, written_by, stores)) = passed {
            written_by.mark(&mut written);
            heaps.give_written(written);
            note_stores(heaps, launch, stores);
            return Ok(report);
        }
    }
    let goes_on = launch.options.options.go_on;
    let snapshot = goes_on.then(|| Snapshot::of(launch.memory));
    let keeps = goes_on && heaps.have_memory_of_the_host();
    let (report, watched, of_the_host) = exact(launch, written, keeps);
    match watched {
        Some((written, stores)) => {
            heaps.give_written(written);
            note_stores(heaps, launch, stores);
        }
        None => heaps.written_by_anyone(),
    }
    let pending = &launch.options.options.pending;
    if is_for_the_prefilter && pending.is_empty() && report.is_ok() {
        plan.is_not_for_the_prefilter.store(true, Ordering::Relaxed);
    }
    report.map_err(|error| {
        let before = |snapshot| Before {
            snapshot,
            of_the_host,
        };
        let before = snapshot.map(before).map(Box::new);
        Failed { error, before }
    })
}

/// Runs a launch under the prefilter; if there may be something to find, memory is as before.
fn prefiltered(launch: &Prepared<'_>, written: &[Written]) -> Option<(Report, WrittenBy, Stores)> {
    let pool = launch.device.pool();
    let undo = Undo::new(pool);
    let passed = passed(launch, written, &undo);
    let kept = undo.into_kept();
    if passed.is_none() {
        restore(launch.memory, &kept);
    }
    discard(pool, kept);
    passed
}

/// What the prefilter says of a launch; none if there may be something to find.
fn passed(
    launch: &Prepared<'_>,
    written: &[Written],
    undo: &Undo<'_>,
) -> Option<(Report, WrittenBy, Stores)> {
    let device = launch.device;
    let plan = launch.loaded.module().plan(launch.id);
    // Blocks burn the launch's fuel in the order in which they run.
    let may_spread = plan.is_order_independent && launch.options.options.fuel.is_none();
    let n_workers = if may_spread { launch.n_workers() } else { 1 };
    // The prefilter knows all that has been used.
    let context = LaunchContext {
        keeps_footprint: false,
        pending: &[],
        ..launch.context(n_workers)
    };
    let prefilter = || Prefilter::new(&context, written, undo, device.pool(), n_workers);
    let (seen, result) = watched(&context, n_workers, prefilter, false);
    let prefilters = seen.judges;
    // The lines show which block prints first.
    let tells_order = n_workers > 1 && !context.printed.is_empty();
    if prefilters.iter().any(Prefilter::needs_time_for_all) {
        plan.has_waiting_blocks.store(true, Ordering::Relaxed);
    }
    if result.is_err() || tells_order || prefilters.iter().any(Judge::gives_up) {
        return None;
    }
    let LaunchOptions {
        pending, footprint, ..
    } = &launch.options.options;
    let (written_by, used) = Prefilter::merged(prefilters, *footprint || !pending.is_empty())?;
    let used = used.map(Arc::new);
    let meets = |used: &Arc<Footprint>| {
        let touches = Touches::Parts(used.clone());
        pending
            .iter()
            .any(|work| work.conflict_with(&touches).is_some())
    };
    if used.as_ref().is_some_and(meets) {
        return None;
    }
    let mut report = launch.report(seen.counters);
    report.footprint = used.filter(|_| *footprint);
    report.printed = context.printed.into_lines();
    Some((report, written_by, seen.stores))
}

/// What a launch has written of each allocation, and by which stores.
type LeftBehind = (Vec<Written>, Stores);

/// Runs a launch under the exact judge; also gives what has been written of each allocation, and
/// by which stores, and keeps what it writes of the host's memory, if it is to.
fn exact(
    launch: &Prepared<'_>,
    written: Vec<Written>,
    keeps: bool,
) -> (Result<Report, LaunchError>, Option<LeftBehind>, Vec<Bytes>) {
    let context = launch.context(1);
    let written = Mutex::new(written);
    let judge = || {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        Exact::new(context.memory, std::mem::take(&mut written))
    };
    let (seen, result) = watched(&context, 1, judge, keeps);
    let Seen {
        counters,
        mut judges,
        stores,
        footprint,
        kept,
    } = seen;
    let written = judges.pop().map(Exact::into_written);
    let watched = written.map(|written| (written, stores));
    let report = result.map(|()| {
        let mut report = launch.report(counters);
        report.footprint = footprint.map(|mut footprint| {
            // Another launch may be given what this one has freed.
            let heap = launch.loaded.kernel_heap();
            heap.into_iter()
                .for_each(|heap| footprint.forget(&heap.addresses()));
            Arc::new(footprint)
        });
        report
    });
    (launch.ended(context, report), watched, kept)
}

/// What the workers of a launch have seen.
struct Seen<J> {
    counters: Vec<Counters>,
    /// Who judged.
    judges: Vec<J>,
    /// Where the launch has stored.
    stores: Stores,
    /// The global memory that it has used, if one worker has kept that.
    footprint: Option<Footprint>,
    /// What it has overwritten of the host's memory.
    kept: Vec<Bytes>,
}

/// Runs a launch with counters and checks; it may keep what it overwrites of the host's memory.
fn watched<'a, J: Judge>(
    context: &'a LaunchContext<'a>,
    n_workers: usize,
    judge: impl Fn() -> J + Sync,
    keeps: bool,
) -> (Seen<J>, Result<(), LaunchError>) {
    let numbering = &context.plan.numbering;
    let (watches, result) = workers::run(context, n_workers, || Watch {
        counters: Counters::new(numbering).with_links(Links::of(context)),
        checks: Some(Box::new(Checks::new(context, judge()))),
        recorder: keeps.then(|| Recorder::of_the_host(context.memory)),
    });
    let mut seen = Seen {
        counters: Vec::new(),
        judges: Vec::new(),
        stores: Stores::default(),
        footprint: None,
        kept: Vec::new(),
    };
    for watch in watches {
        seen.counters.push(watch.counters);
        seen.kept
            .extend(watch.recorder.and_then(|r| r.into_bytes()));
        if let Some(checks) = watch.checks {
            let (judge, stores, footprint) = checks.into_parts();
            seen.judges.push(judge);
            seen.stores.join(stores);
            seen.footprint = footprint;
        }
    }
    (seen, result)
}

/// Keeps where a launch has stored in allocations that are still not wholly written.
pub(super) fn note_stores(heaps: &mut Heaps<'_>, launch: &Prepared<'_>, stores: Stores) {
    let mut context = None;
    for (instruction, pattern) in stores.into_patterns() {
        let Some(allocation) = launch.memory.find(pattern.address()) else {
            continue;
        };
        let (base, size_bytes) = (allocation.base, allocation.size_bytes);
        if heaps.is_all_written(base, size_bytes) {
            continue;
        }
        let context = context.get_or_insert_with(|| launch.context(1));
        launch.device.gaps().add(
            base,
            StoredBy {
                place: context.numbered_place(instruction),
                grid: launch.options.grid,
                block: launch.options.block,
                pattern,
            },
        );
    }
}
