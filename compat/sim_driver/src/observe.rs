//! Launches that a program in the same process observes: the observer gets their findings, and
//! errors in them fail no device.
//!
//! This is for tests of programs that use the driver, through `cust` or any other binding: their
//! launches are made as always, and afterwards there is a report of each.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ptx_sim::{LaunchError, LaunchOptions, Report};

/// A launch that was observed.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The kernel.
    pub kernel: String,
    /// What it did to memory, line by line, or what went wrong.
    pub result: Result<Report, LaunchError>,
}

/// Does some work; returns its result, and all launches that this thread submitted meanwhile, in
/// the order in which they ended. They run with these options, and are waited for.
///
/// A launch that goes wrong is reported only here: later calls do not return its error, as they
/// would on a GPU and without an observer. Launches of graphs count; those of other threads do not.
///
/// Without [`LaunchOptions::fuel`], they get the fuel of the process's settings.
pub fn observe<T>(options: LaunchOptions, work: impl FnOnce() -> T) -> (T, Vec<Observed>) {
    let observer = Arc::new(Observer {
        options,
        state: Mutex::default(),
        ended: Condvar::new(),
    });
    let before = CURRENT.replace(Some(Arc::clone(&observer)));
    let restore = Restore(before);
    let value = work();
    drop(restore);
    (value, observer.all())
}

thread_local! {
    /// The observer of this thread's launches.
    static CURRENT: RefCell<Option<Arc<Observer>>> = const { RefCell::new(None) };
}

/// Restores the previous observer, however the work ends.
struct Restore(Option<Arc<Observer>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.replace(self.0.take());
    }
}

struct Observer {
    options: LaunchOptions,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    n_in_flight: usize,
    seen: Vec<Observed>,
}

impl Observer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All launches, once they have ended.
    fn all(&self) -> Vec<Observed> {
        let ended = self
            .ended
            .wait_while(self.state(), |state| state.n_in_flight > 0);
        let mut state = ended.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.seen)
    }
}

/// An observed launch that has not ended.
pub(crate) struct InFlight(Arc<Observer>);

impl InFlight {
    /// For a launch that this thread submits, if there is an observer.
    pub fn new() -> Option<Self> {
        // A thread that is ending has no observer that waits for its reports.
        let observer = CURRENT.try_with(|current| current.borrow().clone());
        let observer = observer.ok().flatten()?;
        observer.state().n_in_flight += 1;
        Some(Self(observer))
    }

    /// The options to run it with.
    pub fn options(&self) -> LaunchOptions {
        self.0.options.clone()
    }

    /// Records its end.
    pub fn ended(&self, kernel: &str, result: Result<Report, LaunchError>) {
        self.0.state().seen.push(Observed {
            kernel: kernel.to_owned(),
            result,
        });
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.state().n_in_flight -= 1;
        self.0.ended.notify_all();
    }
}
