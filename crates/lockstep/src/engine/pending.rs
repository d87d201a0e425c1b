//! Work in simulators' streams that nobody has waited for.
//!
//! A simulator does everything at once, so what a program forgets to wait for is done all the same. A
//! checked one keeps a list of what its streams were given, until somebody waits: uses of the same memory
//! that do not come after it are reported.

use super::EngineError;
use ptx_sim::{Pending, Touches};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream, or a machine of simulators.
pub(crate) type Id = u64;

/// The memory that may be kept to tell what launches have used.
const MOST_FOOTPRINT_BYTES: usize = 256 << 20;

/// A new one.
pub(crate) fn new_id() -> Id {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Something that a stream was given.
struct Work {
    id: Id,
    machine: Id,
    pending: Pending,
    /// The streams whose later work comes after it.
    known_to: Vec<Id>,
}

thread_local! {
    // Devices and streams belong to their threads.
    static WORKS: RefCell<Vec<Work>> = const { RefCell::new(Vec::new()) };
    static UNMET: RefCell<Vec<Unmet>> = const { RefCell::new(Vec::new()) };
}

/// Refuses a use by a stream, or by the host, that does not come after everything that works on the
/// same memory.
pub(crate) fn check(machine: Id, stream: Option<Id>, of: &Pending) -> Result<(), EngineError> {
    let found = WORKS.with_borrow(|works| {
        let mut unknown = works
            .iter()
            .filter(|work| is_unknown(work, machine, stream));
        unknown.find_map(|Work { pending, .. }| {
            let usage = pending.conflict_with(&of.touches)?;
            Some((pending.what.clone(), usage))
        })
    });
    match found {
        None => Ok(()),
        Some((what, usage)) => Err(EngineError::Stream(format!(
            "{} does not wait for {what}, which may still be {} the same memory: wait for its stream{}",
            of.what,
            if usage.writes { "writing" } else { "reading" },
            match stream {
                Some(_) => ", or let this one wait for an event that is recorded after it",
                None => "",
            }
        ))),
    }
}

fn is_unknown(work: &Work, machine: Id, stream: Option<Id>) -> bool {
    work.machine == machine && !stream.is_some_and(|stream| work.known_to.contains(&stream))
}

/// A stream was given this.
pub(crate) fn begin(machine: Id, stream: Id, uses: Vec<Pending>) {
    let work = |pending| Work {
        id: new_id(),
        machine,
        pending,
        known_to: vec![stream],
    };
    WORKS.with_borrow_mut(|works| {
        works.extend(uses.into_iter().map(work));
        forget_oldest(works);
    });
}

/// Forgets the oldest launches if all of them take too much memory.
fn forget_oldest(works: &mut Vec<Work>) {
    let size_bytes = |work: &Work| match &work.pending.touches {
        Touches::Parts(footprint) => footprint.size_bytes(),
        Touches::All(..) => 0,
    };
    let mut left = works.iter().map(size_bytes).sum::<usize>();
    works.retain(|work| {
        let is_forgotten = left > MOST_FOOTPRINT_BYTES && size_bytes(work) > 0;
        if is_forgotten {
            left -= size_bytes(work);
        }
        !is_forgotten
    });
}

/// What launches in a stream do not come after.
pub(crate) fn unknown_to(machine: Id, stream: Option<Id>) -> Vec<Pending> {
    WORKS.with_borrow(|works| {
        let unknown = works
            .iter()
            .filter(|work| is_unknown(work, machine, stream));
        unknown.map(|work| work.pending.clone()).collect()
    })
}

/// What comes before an event that is recorded in a stream now.
pub(crate) fn known_to(stream: Id) -> Vec<Id> {
    WORKS.with_borrow(|works| {
        let known = works.iter().filter(|work| work.known_to.contains(&stream));
        known.map(|work| work.id).collect()
    })
}

/// A stream waits for an event.
pub(crate) fn learn(stream: Id, known: &[Id]) {
    WORKS.with_borrow_mut(|works| {
        for work in works.iter_mut().filter(|work| known.contains(&work.id)) {
            if !work.known_to.contains(&stream) {
                work.known_to.push(stream);
            }
        }
    });
}

/// The host has waited for a stream.
pub(crate) fn waited(stream: Id) {
    WORKS.with_borrow_mut(|works| works.retain(|work| !work.known_to.contains(&stream)));
}

/// The host knows that this has ended.
pub(crate) fn passed(known: &[Id]) {
    WORKS.with_borrow_mut(|works| works.retain(|work| !known.contains(&work.id)));
}

/// Memory has been freed: what comes to lie there is something else.
pub(crate) fn freed(machine: Id, addresses: &Range<u64>) {
    WORKS.with_borrow_mut(|works| {
        works.retain_mut(|work| match &mut work.pending.touches {
            _ if work.machine != machine => true,
            Touches::All(used, _) => !addresses.contains(&used.start),
            Touches::Parts(footprint) => {
                Arc::make_mut(footprint).forget(addresses);
                true
            }
        });
    });
}

/// A collective call that other ranks have not made yet: its stream cannot go on.
struct Unmet {
    call: Id,
    stream: Id,
    what: String,
}

/// A stream waits for other ranks; gives the call's number.
pub(crate) fn waits_for_ranks(stream: Id, what: String) -> Id {
    let call = new_id();
    UNMET.with_borrow_mut(|unmet| unmet.push(Unmet { call, stream, what }));
    call
}

/// All ranks have made a call, or it is given up.
pub(crate) fn met(call: Id) {
    UNMET.with_borrow_mut(|unmet| unmet.retain(|one| one.call != call));
}

/// Refuses to go on in a stream that waits for other ranks: a simulator does everything at once.
pub(crate) fn check_met(stream: Id) -> Result<(), EngineError> {
    UNMET.with_borrow(|unmet| match unmet.iter().find(|one| one.stream == stream) {
        None => Ok(()),
        Some(one) => Err(EngineError::Stream(format!(
            "the stream waits for its {}, which other ranks have not made: simulators do everything at once, so make \
             the call for all ranks before anything else is put into their streams",
            one.what
        ))),
    })
}

/// A machine's devices are gone.
pub(crate) fn ended(machine: Id) {
    // A thread that ends may have dropped the list first.
    let _ = WORKS.try_with(|works| works.borrow_mut().retain(|work| work.machine != machine));
}
