//! Operations, of which streams and graphs consist.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::context::Context;
use crate::copies::{Copy, Fill};
use crate::driver::driver;
use crate::launch::KernelLaunch;
use crate::observe::InFlight;
use crate::status::{Outcome, Status};

/// A function of the client.
#[derive(Clone, Copy)]
pub struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// SAFETY: the client passes both to be used by another thread, as `cuLaunchHostFunc` says.
unsafe impl Send for HostCall {}
// SAFETY: as above; calls are the only use.
unsafe impl Sync for HostCall {}

impl HostCall {
    /// A function to be called with some data.
    ///
    /// # Safety
    /// It can be called with the data from any thread, at any time that the operation runs.
    pub unsafe fn new(function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> Self {
        Self { function, data }
    }

    /// The function and its data.
    pub fn parts(&self) -> (unsafe extern "C" fn(*mut c_void), *mut c_void) {
        (self.function, self.data)
    }

    /// Calls it.
    pub fn call(&self) {
        // SAFETY: promised when it was made.
        unsafe { (self.function)(self.data) }
    }
}

/// Work of a stream, or of a graph's node.
#[derive(Clone)]
pub enum Operation {
    /// Nothing: only orders what comes after it.
    Nothing,
    /// A kernel's launch.
    Launch(Arc<KernelLaunch>),
    /// A copy.
    Copy(Copy),
    /// Memory that is set to a value.
    Fill(Fill),
    /// A call of the client's function.
    Call(HostCall),
    /// A point in time to record.
    Note(Arc<OnceLock<Instant>>),
    /// An allocation to free.
    Free(u64),
}

impl Operation {
    /// The operation as work for later, as this thread submits it: an observer of the thread is
    /// notified of its launches.
    pub fn into_work(self, context: Arc<Context>) -> impl FnOnce() + Send + 'static {
        let watched = self.watched();
        move || self.run(&context, watched.as_ref())
    }

    /// Performs it now.
    pub fn run_here(&self, context: &Arc<Context>) {
        self.run(context, self.watched().as_ref());
    }

    /// For the observer of this thread's launches, if it is a launch.
    fn watched(&self) -> Option<InFlight> {
        match self {
            Self::Launch(_) => InFlight::new(),
            _ => None,
        }
    }

    /// Performs it, unless the device has already failed. An error fails the device.
    fn run(&self, context: &Arc<Context>, watched: Option<&InFlight>) {
        if let Self::Note(moment) = self {
            let _ = moment.set(Instant::now());
            return;
        }
        // Calls may free what the client holds, so they are made in any case.
        if let Self::Call(call) = self {
            call.call();
            return;
        }
        // A graph launched in one context may have kernels of others.
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
                let device = driver()?.device_of_address(*address);
                let device = device.ok_or(Status::ILLEGAL_ADDRESS)?;
                device
                    .sim
                    .free(*address)
                    .map_err(|_| Status::ILLEGAL_ADDRESS)
            }
            Self::Nothing | Self::Call(_) | Self::Note(_) => Ok(()),
        }
    }
}
