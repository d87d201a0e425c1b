//! Operations, of which streams and graphs are made.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::context::Context;
use crate::copies::{Copy, Fill};
use crate::launch::KernelLaunch;
use crate::observe::InFlight;
use crate::status::{Outcome, Status};

/// A function of the client's.
#[derive(Clone, Copy)]
pub struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// SAFETY: The client hands both over to be used by another thread: that is what
// `cuLaunchHostFunc` says.
unsafe impl Send for HostCall {}
// SAFETY: As above; calls are the only use.
unsafe impl Sync for HostCall {}

impl HostCall {
    /// A function that is called with some data.
    ///
    /// # Safety
    /// It can be called with the data from any thread, whenever the operation is done.
    pub unsafe fn new(function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> Self {
        Self { function, data }
    }

    /// What is called, and with what.
    pub fn parts(&self) -> (unsafe extern "C" fn(*mut c_void), *mut c_void) {
        (self.function, self.data)
    }

    /// Calls it.
    pub fn call(&self) {
        // SAFETY: Promised when it was made.
        unsafe { (self.function)(self.data) }
    }
}

/// Work of a stream, or a node of a graph.
#[derive(Clone)]
pub enum Operation {
    /// Nothing: for what comes after it.
    Nothing,
    /// A kernel's launch.
    Launch(Arc<KernelLaunch>),
    /// A copy.
    Copy(Copy),
    /// Memory that is set to a value.
    Fill(Fill),
    /// A call of the client's.
    Call(HostCall),
    /// A moment to note.
    Note(Arc<OnceLock<Instant>>),
    /// An allocation that is freed.
    Free(u64),
}

impl Operation {
    /// The operation as work for later, as this thread submits it: who watches the thread is
    /// notified of its launches.
    pub fn into_work(self, context: Arc<Context>) -> impl FnOnce() + Send + 'static {
        let watched = self.watched();
        move || self.run(&context, watched.as_ref())
    }

    /// Does it now.
    pub fn run_here(&self, context: &Arc<Context>) {
        self.run(context, self.watched().as_ref());
    }

    /// For who watches this thread's launches, if it is one.
    fn watched(&self) -> Option<InFlight> {
        match self {
            Self::Launch(_) => InFlight::new(),
            _ => None,
        }
    }

    /// Does it, unless the device has failed before. What goes wrong fails the device.
    fn run(&self, context: &Arc<Context>, watched: Option<&InFlight>) {
        if let Self::Note(moment) = self {
            let _ = moment.set(Instant::now());
            return;
        }
        // Calls may free what the client holds: they are made in any case.
        if let Self::Call(call) = self {
            call.call();
            return;
        }
        // A graph that is launched in one context may have kernels of others.
        let device = match self {
            Self::Launch(launch) => &launch.module().device,
            _ => &context.device,
        };
        if device.check().is_err() {
            return;
        }
        if let Err(status) = self.attempt(context, watched) {
            device.fail(status);
        }
    }

    fn attempt(&self, context: &Arc<Context>, watched: Option<&InFlight>) -> Outcome {
        match self {
            Self::Launch(launch) => launch.run(watched),
            Self::Copy(copy) => copy.run(),
            Self::Fill(fill) => fill.run(),
            Self::Free(address) => {
                let owner = Context::owner_of(*address);
                let owner = owner.unwrap_or_else(|| Arc::clone(context));
                owner.allocations().remove(address);
                let freed = owner.device.sim.free(*address);
                freed.map_err(|_| Status::ILLEGAL_ADDRESS)
            }
            Self::Nothing | Self::Call(_) | Self::Note(_) => Ok(()),
        }
    }
}
