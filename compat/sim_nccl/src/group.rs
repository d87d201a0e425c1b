//! Groups: what a thread asks for between `ncclGroupStart` and `ncclGroupEnd` is done together.

use std::cell::RefCell;
use std::sync::Arc;

use crate::comm::Comm;
use crate::exchange::Submitted;
use crate::result::{Code, Failure, Outcome};
use crate::submit::submit;
use crate::wire::Farewell;

/// A place for a communicator's handle.
pub type Place = *mut usize;

/// A communicator that begins, and where its handle is written if it fails.
struct Beginning {
    handle: usize,
    place: Place,
}

/// A split whose answer is not there yet.
struct Splitting {
    parent: Arc<Comm>,
    is_blocking: bool,
    place: Place,
}

/// What a thread has asked for.
#[derive(Default)]
struct Group {
    depth: usize,
    failure: Option<Failure>,
    calls: Vec<(Arc<Comm>, Submitted)>,
    beginning: Vec<Beginning>,
    splitting: Vec<Splitting>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Begins a group, or another level of one.
pub fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// Ends a level, and does everything if it is the first one.
///
/// # Errors
/// Something in the group failed: nothing is done then. Or there is no group.
pub fn end() -> Outcome {
    let group = GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.checked_sub(1)?;
        Some((group.depth == 0).then(|| std::mem::take(group)))
    });
    match group {
        None => Err(Code::INVALID_USAGE.because("there is no ncclGroupStart before it")),
        Some(None) => Ok(()),
        Some(Some(group)) => group.act(),
    }
}

/// Keeps a failure for the end of the group, if there is a group.
pub fn note(failure: &Failure) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            group.failure.get_or_insert_with(|| failure.clone());
        }
    });
}

/// Does something now or at the end of the group.
fn ask(add: impl FnOnce(&mut Group)) -> Outcome {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            add(group);
            return None;
        }
        let mut now = Group::default();
        add(&mut now);
        Some(now)
    });
    now.map_or(Ok(()), Group::act)
}

/// Makes a call.
///
/// # Errors
/// Those of the driver.
pub fn call(comm: Arc<Comm>, submitted: Submitted) -> Outcome {
    ask(|group| group.calls.push((comm, submitted)))
}

/// Waits for the other ranks of a communicator that begins.
///
/// # Errors
/// They do not come: then the place gets a null.
pub fn begin(handle: usize, place: Place) -> Outcome {
    ask(|group| group.beginning.push(Beginning { handle, place }))
}

/// Waits for the answer to a split.
///
/// # Errors
/// Other ranks do not come.
pub fn split(parent: Arc<Comm>, is_blocking: bool, place: Place) -> Outcome {
    let splitting = Splitting {
        parent,
        is_blocking,
        place,
    };
    ask(|group| group.splitting.push(splitting))
}

impl Group {
    /// Does everything.
    fn act(mut self) -> Outcome {
        if let Some(failure) = self.failure.take() {
            self.beginning.iter().for_each(Beginning::abandon);
            return Err(failure);
        }
        for splitting in std::mem::take(&mut self.splitting) {
            self.beginning.extend(splitting.answer()?);
        }
        let joined: Vec<Outcome> = self.beginning.iter().map(Beginning::wait).collect();
        joined.into_iter().collect::<Outcome>()?;
        while let Some((comm, _)) = self.calls.first() {
            let comm = Arc::clone(comm);
            let is_its = |(other, _): &mut (Arc<Comm>, Submitted)| Arc::ptr_eq(&comm, other);
            let own = self.calls.extract_if(.., is_its);
            let own: Vec<Submitted> = own.map(|(_, submitted)| submitted).collect();
            submit(&comm, &own)?;
        }
        Ok(())
    }
}

impl Beginning {
    /// Waits until all ranks have joined, if the client wants to wait.
    fn wait(&self) -> Outcome {
        let comm = Comm::of(self.handle)?;
        if !comm.is_blocking {
            return Ok(());
        }
        let joined = comm.connection.joined();
        if joined.is_err() {
            self.abandon();
        }
        joined
    }

    /// Ends it, and says so to the client.
    fn abandon(&self) {
        if let Ok(comm) = Comm::remove(self.handle) {
            comm.connection.leave(Farewell::Aborted);
        }
        // SAFETY: the client keeps the place until the group ends.
        unsafe { self.place.write_unaligned(0) };
    }
}

impl Splitting {
    /// Waits for the answer, and begins with the new part.
    fn answer(self) -> Outcome<Option<Beginning>> {
        let part = self.parent.connection.split()?;
        let begin = |part| self.parent.within(|| Comm::begin(&part, self.is_blocking));
        let handle = part.map(begin).transpose()?;
        // SAFETY: the client keeps the place until the group ends.
        unsafe { self.place.write_unaligned(handle.unwrap_or(0)) };
        let place = self.place;
        Ok(handle.map(|handle| Beginning { handle, place }))
    }
}
