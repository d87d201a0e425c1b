//! Communicators, and their handles.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use crate::connection::Connection;
use crate::driver::{
    cuCtxGetDevice, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2, cuThreadExchangeStreamCaptureMode,
};
use crate::hub;
use crate::job::Jobs;
use crate::operators::Operators;
use crate::result::{Code, Outcome};
use crate::wire::{Farewell, Introduction, Part};

/// `CU_STREAM_CAPTURE_MODE_RELAXED`
const RELAXED: u32 = 2;

/// A rank's part in a communicator.
pub struct Comm {
    /// Its rank.
    pub rank: usize,
    /// Number of ranks.
    pub n_ranks: usize,
    /// Its device.
    pub device: i32,
    /// The context that it works in.
    pub context: usize,
    /// How it reaches the others.
    pub connection: Arc<Connection>,
    /// The operators that were made for it.
    pub operators: Operators,
    /// Whether functions wait until it can be used.
    pub is_blocking: bool,
    jobs: Mutex<Jobs>,
}

/// `ncclComm_t`: numbers that are never used again.
static COMMS: Mutex<BTreeMap<usize, Arc<Comm>>> = Mutex::new(BTreeMap::new());

fn comms() -> MutexGuard<'static, BTreeMap<usize, Arc<Comm>>> {
    COMMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a communicator, and returns its handle.
fn add(comm: Comm) -> usize {
    static NEXT: Mutex<usize> = Mutex::new(0x6e63_6363_0000);
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // SAFETY: the function can be called at any time.
        unsafe { libc::atexit(at_exit) };
    });
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    *next += 0x10;
    comms().insert(*next, Arc::new(comm));
    *next
}

/// Lets the others know that this process has ended as it should. Ranks of other processes may still
/// need the hubs of this one.
extern "C" fn at_exit() {
    let all = std::mem::take(&mut *comms());
    for comm in all.values() {
        comm.connection.leave(Farewell::Exited);
    }
    hub::finish();
}

impl Comm {
    /// Joins a communicator with the device of the current context; other ranks may not be there
    /// yet. Returns its handle.
    ///
    /// # Errors
    /// Its hub cannot be reached, or there is no device.
    pub fn begin(part: &Part, is_blocking: bool) -> Outcome<usize> {
        Self::begin_in(sim_runtime::current::ready()?, part, is_blocking)
    }

    /// The same, with the device of another context.
    ///
    /// # Errors
    /// As above.
    pub fn begin_in(context: usize, part: &Part, is_blocking: bool) -> Outcome<usize> {
        let mut device = 0;
        // SAFETY: the pointer is valid for the call.
        let asked = within(context, || Ok(unsafe { cuCtxGetDevice(&mut device) }));
        asked??;
        let introduction = Introduction {
            rank: part.rank,
            n_ranks: part.n_ranks,
            process: std::process::id(),
            device,
        };
        Ok(add(Self {
            rank: part.rank,
            n_ranks: part.n_ranks,
            device,
            context,
            connection: Connection::begin(&part.hub, introduction)?,
            operators: Operators::default(),
            is_blocking,
            jobs: Mutex::default(),
        }))
    }

    /// The communicator with this handle.
    ///
    /// # Errors
    /// There is none.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        let found = comms().get(&handle).map(Arc::clone);
        let wrong = Code::INVALID_ARGUMENT.because("the communicator is null, destroyed or none");
        found.ok_or(wrong)
    }

    /// Takes its handle.
    ///
    /// # Errors
    /// There is none.
    pub fn remove(handle: usize) -> Outcome<Arc<Self>> {
        let comm = Self::of(handle)?;
        comms().remove(&handle);
        Ok(comm)
    }

    /// Does something in its context.
    ///
    /// # Errors
    /// Those of the work.
    pub fn within<T>(&self, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        within(self.context, work)
    }

    /// Passes on a result. An error of the driver ends this rank's part: the others would wait for
    /// it in vain.
    ///
    /// # Errors
    /// The result's.
    pub fn unless_broken(&self, result: Outcome) -> Outcome {
        if result
            .as_ref()
            .is_err_and(|failure| failure.code == Code::CUDA)
        {
            self.connection.leave(Farewell::DeviceFailed);
        }
        result
    }

    /// What is in flight.
    pub fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for everything that was submitted.
    pub fn finish(&self) {
        let jobs = std::mem::take(&mut *self.jobs());
        for job in jobs {
            job.wait();
            job.release();
        }
    }
}

/// Does something in a context. What it allocates and waits for is our own, on which nothing
/// depends that the client captures meanwhile.
fn within<T>(context: usize, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let (mut mode, mut popped) = (RELAXED, 0);
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        cuCtxPushCurrent_v2(context)?;
        cuThreadExchangeStreamCaptureMode(&mut mode)?;
        let result = work();
        cuThreadExchangeStreamCaptureMode(&mut mode)?;
        cuCtxPopCurrent_v2(&mut popped)?;
        result
    }
}
