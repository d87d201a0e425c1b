//! Work in simulators' streams that nobody has waited for.
//!
//! A simulator does everything at once, so what a program forgets to wait for is done all the same. A
//! checked one keeps a list of what its streams were given, until somebody waits: uses of the same memory
//! that do not come after it are reported.

use super::EngineError;
use ptx_sim::{Clock, Pending, Touches, remember};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream, or a machine of simulators.
pub(crate) type Id = u64;

/// A new one.
pub(crate) fn new_id() -> Id {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Something that a stream was given.
struct Work {
    machine: Id,
    stream: Id,
    /// Later ones have higher numbers.
    number: u64,
    pending: Pending,
}

impl Work {
    fn is_in(&self, clock: &Clock) -> bool {
        clock.has(self.stream, self.number)
    }

    /// Whether a clock of a machine does not have it.
    fn is_unknown(&self, machine: Id, clock: &Clock) -> bool {
        self.machine == machine && !self.is_in(clock)
    }
}

thread_local! {
    // Devices and streams belong to their threads.
    static WORKS: RefCell<Vec<Work>> = const { RefCell::new(Vec::new()) };
    /// By stream, what its next work comes after.
    static CLOCKS: RefCell<BTreeMap<Id, Clock>> = const { RefCell::new(BTreeMap::new()) };
    static UNMET: RefCell<Vec<Unmet>> = const { RefCell::new(Vec::new()) };
}

/// Refuses a use by a stream, or by the host, that does not come after everything that works on the
/// same memory.
pub(crate) fn check(machine: Id, stream: Option<Id>, of: &Pending) -> Result<(), EngineError> {
    let found = WORKS.with_borrow(|works| {
        let clock = known_to(stream);
        // The last one is the one to wait for.
        works
            .iter()
            .rev()
            .filter(|work| work.is_unknown(machine, &clock))
            .find_map(|Work { pending, .. }| {
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

/// A stream was given this.
pub(crate) fn begin(machine: Id, stream: Id, uses: Vec<Pending>) {
    if uses.is_empty() {
        return;
    }
    let number = new_id();
    CLOCKS.with_borrow_mut(|clocks| clocks.entry(stream).or_default().add(stream, number));
    WORKS.with_borrow_mut(|works| {
        // Whatever does not come after the same work that was done before does not come after this.
        let is_repeated = |work: &Work| uses.iter().any(|new| new.touches == work.pending.touches);
        works.retain(|work| work.stream != stream || !is_repeated(work));
        let work = |pending| Work {
            machine,
            stream,
            number,
            pending,
        };
        let new = uses.into_iter().map(work);
        remember(works, new, |work| work.pending.touches.size_bytes());
    });
}

/// What launches in a stream, or by the host, do not come after.
pub(crate) fn unknown_to(machine: Id, stream: Option<Id>) -> Vec<Pending> {
    WORKS.with_borrow(|works| {
        let clock = known_to(stream);
        let unknown = works.iter().filter(|work| work.is_unknown(machine, &clock));
        unknown.map(|work| work.pending.clone()).collect()
    })
}

/// What comes before an event that is recorded in a stream now, or before the host's next work:
/// nothing that is still remembered.
pub(crate) fn known_to(stream: Option<Id>) -> Clock {
    let of = |stream| CLOCKS.with_borrow(|clocks| clocks.get(&stream).cloned());
    stream.and_then(of).unwrap_or_default()
}

/// A stream waits for an event.
pub(crate) fn learn(stream: Id, known: &Clock) {
    CLOCKS.with_borrow_mut(|clocks| clocks.entry(stream).or_default().join(known));
}

/// The host has waited for a stream.
pub(crate) fn waited(stream: Id) {
    passed(&known_to(Some(stream)));
}

/// The host knows that this has ended.
pub(crate) fn passed(known: &Clock) {
    WORKS.with_borrow_mut(|works| works.retain(|work| !work.is_in(known)));
}

/// A stream is gone, but not its work.
pub(crate) fn dropped(stream: Id) {
    // A thread that ends may have dropped the list first.
    let _ = CLOCKS.try_with(|clocks| clocks.borrow_mut().remove(&stream));
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
