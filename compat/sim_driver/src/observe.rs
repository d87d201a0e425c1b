//! Launches that a program in the same process watches: what they find out goes to who asked
//! for it, and what goes wrong in them fails no device.
//!
//! For tests of programs that use the driver, through `cust` or any other binding: their
//! launches are made as always, and afterwards there is a report of each.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ptx_sim::{LaunchError, LaunchOptions, Report};

/// A launch that was watched.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The kernel.
    pub kernel: String,
    /// What it did to memory, line by line; or what went wrong.
    pub result: Result<Report, LaunchError>,
}

/// Does some work; gives what it gave, and all launches that this thread submitted meanwhile,
/// in the order in which they ended. They run with these options, and are waited for.
///
/// A launch that goes wrong is reported here only: later calls do not answer its error, as they
/// would on a GPU and as they do where nobody watches. Launches of graphs count, other threads'
/// do not.
///
/// Without [`LaunchOptions::fuel`] they have what the process's settings give.
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
    /// Who watches this thread's launches.
    static CURRENT: RefCell<Option<Arc<Observer>>> = const { RefCell::new(None) };
}

/// Who watched before watches again, however the work ends.
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

/// A launch that is watched and has not ended.
pub(crate) struct InFlight(Arc<Observer>);

impl InFlight {
    /// For a launch that this thread submits, if somebody watches.
    pub fn new() -> Option<Self> {
        // A thread that ends has nobody who waits for its reports.
        let observer = CURRENT.try_with(|current| current.borrow().clone());
        let observer = observer.ok().flatten()?;
        observer.state().n_in_flight += 1;
        Some(Self(observer))
    }

    /// How it is to be run.
    pub fn options(&self) -> LaunchOptions {
        self.0.options.clone()
    }

    /// It has ended.
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
