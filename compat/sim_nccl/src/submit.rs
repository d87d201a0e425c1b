//! Calls as work of a stream: buffers are copied to staging memory, a function of the host has the
//! hub exchange what is there, and the result is copied to the receive buffers.

use std::collections::BTreeSet;

use crate::comm::Comm;
use crate::driver::{
    cuEventDestroy_v2, cuEventRecord, cuLaunchHostFunc, cuMemcpyAsync, cuStreamIsCapturing,
    cuStreamWaitEvent,
};
use crate::exchange::{Exchange, Submitted, WORD, run};
use crate::job::{Job, Jobs, new_event};
use crate::operators::Factor;
use crate::result::Outcome;

/// Jobs of a communicator that may be in flight. A driver makes a thread that submits too much wait
/// for its stream; here it waits for a job that surely ends.
const MOST_IN_FLIGHT: usize = 64;

/// Makes streams wait for what others have been given until now.
fn order(before: usize, after: &[usize]) -> Outcome {
    let event = new_event()?;
    // SAFETY: none of these takes pointers.
    unsafe {
        let ordered = cuEventRecord(event, before);
        let wait = |&stream: &usize| cuStreamWaitEvent(stream, event, 0);
        let ordered = ordered.and_then(|()| after.iter().try_for_each(wait));
        cuEventDestroy_v2(event)?;
        Ok(ordered?)
    }
}

fn is_captured(stream: usize) -> Outcome<bool> {
    let mut status = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { cuStreamIsCapturing(stream, &mut status)? };
    Ok(status != 0)
}

/// Submits calls that a rank makes together: all begin once all their streams have come to them.
///
/// Calls of a communicator run one after the other, in whatever streams. Those that are captured
/// keep the order of the capture; their staging memory is kept, because a graph can be launched at
/// any time.
///
/// # Errors
/// Those of the driver.
pub fn submit(comm: &Comm, all: &[Submitted]) -> Outcome {
    let streams: BTreeSet<usize> = all.iter().map(|one| one.stream).collect();
    let Some(&first) = streams.first() else {
        return Ok(());
    };
    let others: Vec<usize> = streams.into_iter().skip(1).collect();
    let submitted = comm.within(|| {
        let mut jobs = comm.jobs();
        make_room(&mut jobs);
        let captured = is_captured(first)?;
        if let Some(last) = jobs.back().filter(|_| !captured) {
            // SAFETY: it takes no pointers.
            unsafe { cuStreamWaitEvent(first, last.event, 0)? };
        }
        for &other in &others {
            order(other, &[first])?;
        }
        let mut exchange = Box::new(Exchange::new(
            &comm.connection,
            comm.context,
            (comm.rank, comm.n_ranks),
            all,
        )?);
        if !captured {
            exchange.announce();
        }
        let event = if captured { None } else { Some(new_event()?) };
        let exchange = Box::into_raw(exchange);
        // SAFETY: it lives until the job is released, or for ever.
        let submitted = unsafe { submit_copies(comm, &*exchange, all, first) };
        if let Some(event) = event {
            // SAFETY: it takes no pointers.
            unsafe { cuEventRecord(event, first)? };
            jobs.push_back(Job { exchange, event });
        }
        submitted?;
        match others.is_empty() {
            true => Ok(()),
            false => order(first, &others),
        }
    });
    comm.unless_broken(submitted)
}

/// Releases jobs that are done, and waits for the first if there are too many.
fn make_room(jobs: &mut Jobs) {
    if jobs.len() >= MOST_IN_FLIGHT
        && let Some(first) = jobs.front()
    {
        first.wait();
    }
    while jobs.front().is_some_and(Job::is_done) {
        if let Some(done) = jobs.pop_front() {
            done.release();
        }
    }
}

/// Submits the copies, and the exchange between them.
unsafe fn submit_copies(
    comm: &Comm,
    exchange: &Exchange,
    all: &[Submitted],
    stream: usize,
) -> Outcome {
    let (rank, n_ranks) = (comm.rank, comm.n_ranks);
    let copy = |to: u64, from: u64, n_bytes: usize| match n_bytes {
        0 => Ok(()),
        // SAFETY: both sides were checked when the call was made.
        _ => unsafe { cuMemcpyAsync(to, from, n_bytes, stream) },
    };
    let mut at = exchange.sent();
    for (i, (one, scaled)) in all.iter().zip(&exchange.scaled).enumerate() {
        copy(at, one.send, scaled.n_bytes)?;
        at += scaled.n_bytes as u64;
        if let Some(Factor::InMemory(address)) = scaled.factor {
            let to = exchange.factors() + (WORD * i) as u64;
            copy(to, address, one.call.data_type.bytes())?;
        }
    }
    let marker = exchange.staging.address;
    copy(marker, marker + WORD as u64, WORD)?;
    let data = std::ptr::from_ref(exchange).cast_mut().cast();
    // SAFETY: the exchange outlives the work.
    unsafe { cuLaunchHostFunc(stream, Some(run), data)? };
    let mut at = exchange.received();
    for one in all {
        let n_bytes = one.call.received(rank, n_ranks);
        copy(one.receive, at, n_bytes)?;
        at += n_bytes as u64;
    }
    Ok(())
}
