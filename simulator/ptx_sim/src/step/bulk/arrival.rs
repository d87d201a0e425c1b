//! The arrival of bulk copies' bytes: those to shared memory when a thread tests the barrier that
//! counts them, those to global memory when their thread waits for them, and the rest when the
//! block ends.

use super::super::access::{read64, write64};
use super::super::context::Step;
use super::moving;
use crate::bulk::{BulkCopies, Incoming, Source};
use crate::checks::access::Lanes;
use crate::checks::observer::Observer;
use crate::context::LaunchContext;
use crate::diagnostics::{BytesAwaited, FaultKind};
use crate::memory::shared::SharedMemory;
use crate::program::{BarrierWord, MOST_BYTES};
use crate::stop::Stop;

/// A lane asks whether a barrier has completed a phase: the copies that it counts arrive,
/// one after the other, until it has.
#[cold]
#[inline(never)]
pub(in crate::step) fn arrive_for<O: Observer>(
    step: &mut Step<'_, '_, O>,
    barrier: u32,
    phase: u64,
    lane: usize,
) -> Result<(), Stop> {
    let host = step.env.shared.host().wrapping_add(barrier as usize);
    loop {
        // SAFETY: The tested address was found to be that of eight aligned bytes.
        let word = BarrierWord::unpack(unsafe { read64(host) });
        if word.of_phase == 0 || word.phase != phase {
            return Ok(());
        }
        if !step.env.bulk.has_for(barrier) {
            return Ok(());
        }
        if let Some(choices) = &mut step.env.choices
            && choices.copy_tarries()
        {
            return Ok(());
        }
        let Some(copy) = step.env.bulk.take_for(barrier) else {
            return Ok(());
        };
        step.warp.has_effect();
        bring(step.launch, step.env.shared, &copy);
        if O::ON {
            step.env.observer.bulk_arrived(copy.id);
        }
        step.env.bulk.count(barrier, 0, i64::from(copy.bytes));
        let mut next = word;
        next.tx -= i64::from(copy.bytes);
        if next.tx < -MOST_BYTES {
            let message = too_many_bytes(next.tx);
            return Err(Stop::fault(1 << lane, FaultKind::BadBarrier { message }));
        }
        next = next.advance();
        // SAFETY: As above.
        unsafe { write64(host, next.pack()) };
        if next.phase != word.phase {
            phase_over(step, barrier);
        }
    }
}

/// What is wrong with a count of bytes.
#[cold]
fn too_many_bytes(tx: i64) -> String {
    format!(
        "{} bytes more than the mbarrier expects have arrived in one phase, but it can only \
         count {MOST_BYTES}",
        -tx
    )
}

/// A barrier's phase is over.
#[cold]
#[inline(never)]
pub(in crate::step) fn phase_over<O: Observer>(step: &mut Step<'_, '_, O>, barrier: u32) {
    step.env.bulk.phase_over(barrier);
    if O::ON {
        step.env.observer.phase_over(step.env.owner, barrier);
    }
}

/// Moves the bytes of a copy to shared memory.
fn bring(launch: &LaunchContext<'_>, shared: &SharedMemory, copy: &Incoming) {
    match (&copy.source, copy.reduction) {
        (Source::Bytes(bytes), None) => moving::write_shared(shared, copy.to, bytes),
        (Source::Bytes(bytes), Some(op)) => moving::reduce_shared(shared, copy.to, bytes, op),
        (Source::Global(span), _) => moving::bring(launch.memory, shared, span, copy.to),
    }
}

/// A lane waits for its groups but the youngest `n_left`.
pub(super) fn await_groups<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    n_left: u32,
    reads_only: bool,
) {
    let thread = (step.warp.index, lane as u32);
    let by = step.lanes(1 << lane);
    let (bulk, launch, shared) = (step.env.bulk, step.launch, step.env.shared);
    let observer = &mut *step.env.observer;
    bulk.awaited(thread, n_left, |copy| {
        if !copy.has_moved {
            copy.has_moved = true;
            moving::take(
                launch.memory,
                shared,
                copy.from,
                &copy.target,
                copy.reduction,
            );
            if O::ON {
                observer.bulk_has_read(by, copy.id);
            }
        }
        if O::ON && !reads_only {
            observer.bulk_done(by, copy.id);
        }
        reads_only
    });
}

/// The block has ended: copies that it has not waited for arrive.
#[cold]
pub(crate) fn finish_block<O: Observer>(
    launch: &LaunchContext<'_>,
    (bulk, shared): (&BulkCopies, &SharedMemory),
    block: u64,
    observer: &mut O,
) {
    let (incoming, outgoing) = bulk.take_all();
    for copy in incoming {
        if O::ON {
            observer.bulk_abandoned(copy.id);
        }
        bring(launch, shared, &copy);
    }
    for copy in outgoing {
        if O::ON && !copy.has_moved {
            observer.bulk_abandoned(copy.id);
        }
        if !copy.has_moved {
            moving::take(
                launch.memory,
                shared,
                copy.from,
                &copy.target,
                copy.reduction,
            );
        }
        if O::ON {
            let (warp, lane) = copy.thread();
            let mask = 1 << lane;
            observer.bulk_done(Lanes { block, warp, mask }, copy.id);
        }
    }
}

/// The barriers of a block that wait for bytes, or have received too many.
#[cold]
pub(crate) fn bytes_awaited(
    launch: &LaunchContext<'_>,
    (bulk, shared): (&BulkCopies, &SharedMemory),
) -> Vec<BytesAwaited> {
    let awaited = bulk.unbalanced().into_iter().map(|tally| {
        let host = shared.host().wrapping_add(tally.barrier as usize);
        // SAFETY: The instruction that named the barrier found eight aligned bytes of it in
        // this memory.
        let word = BarrierWord::unpack(unsafe { read64(host) });
        let address = u64::from(tally.barrier);
        BytesAwaited {
            address,
            relation: launch.shared_relation(address),
            expected: tally.expected,
            arrived: tally.arrived,
            arrivals: word.to_come,
        }
    });
    awaited.collect()
}
