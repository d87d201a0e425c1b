//! Operations, of which streams and graphs consist.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use ptx_sim::Pending;

use crate::context::Context;
use crate::copies::{Copy, Fill};
use crate::driver::driver;
use crate::happens_before::{self, Moment};
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
    /// notified of its launches. It is at this moment, if that is kept.
    pub fn into_work(
        self,
        context: Arc<Context>,
        moment: Option<Arc<Moment>>,
    ) -> impl FnOnce() + Send + 'static {
        let watched = self.watched();
        move || {
            if let (Self::Call(_), Some(moment)) = (&self, &moment) {
                // What comes before it is done, and it may tell the host's threads.
                happens_before::known_to_host(moment);
            }
            let moment = moment.filter(|_| self.uses_memory());
            if let (Self::Launch(_), Some(moment)) = (&self, &moment) {
                happens_before::let_earlier_end(moment);
            }
            self.run(&context, watched.as_ref(), moment.as_ref());
            if let Some(moment) = moment {
                happens_before::ended(&moment, self.uses());
            }
        }
    }

    /// Performs it now.
    pub fn run_here(&self, context: &Arc<Context>) {
        self.run(context, self.watched().as_ref(), None);
    }

    /// Whether it is one that uses memory.
    pub fn uses_memory(&self) -> bool {
        matches!(self, Self::Launch(_) | Self::Copy(_) | Self::Fill(_))
    }

    /// Whether a GPU may go on with it after a call that only seems to wait for it: memory is set, or
    /// copied within devices, without the host.
    pub fn outlasts_its_call(&self) -> bool {
        match self {
            Self::Fill(fill) => fill.is_on_device(),
            Self::Copy(copy) => copy.is_within_devices(),
            _ => false,
        }
    }

    /// The memory that it uses; launches tell of it themselves.
    fn uses(&self) -> Vec<Pending> {
        match self {
            Self::Copy(copy) => copy.uses(),
            Self::Fill(fill) => fill.uses(),
            _ => Vec::new(),
        }
    }

    /// For the observer of this thread's launches, if it is a launch.
    fn watched(&self) -> Option<InFlight> {
        match self {
            Self::Launch(_) => InFlight::new(),
            _ => None,
        }
    }

    /// Performs it, unless the device has already failed. An error fails the device.
    fn run(
        &self,
        context: &Arc<Context>,
        watched: Option<&InFlight>,
        moment: Option<&Arc<Moment>>,
    ) {
        if let Self::Note(time) = self {
            let _ = time.set(Instant::now());
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
        if let Err(status) = self.attempt(context, watched, moment) {
            device.fail(status);
        }
    }

    fn attempt(
        &self,
        context: &Arc<Context>,
        watched: Option<&InFlight>,
        moment: Option<&Arc<Moment>>,
    ) -> Outcome {
        match self {
            Self::Launch(launch) => launch.run(watched, moment),
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
