//! The threads that do the work: as many as there are tasks that can run now, since each may wait
//! for something that only the client or another kernel does.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of threads: as many as the kernels that a GPU runs at once, and some for copies.
const MOST_THREADS: usize = 160;
/// How long a thread waits for work before it ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something that a thread can run now.
pub(super) trait Ready: Send + Sync {
    /// Runs it, unless another thread does; returns what may begin now.
    fn run(&self) -> Vec<Arc<dyn Ready>>;
}

struct Queue {
    tasks: VecDeque<Arc<dyn Ready>>,
    n_threads: usize,
    n_idle: usize,
}

static READY: Mutex<Queue> = Mutex::new(Queue {
    tasks: VecDeque::new(),
    n_threads: 0,
    n_idle: 0,
});
static MORE: Condvar = Condvar::new();

/// Makes a thread run a task.
pub(super) fn push(task: Arc<dyn Ready>) {
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    ready.tasks.push_back(task);
    if ready.n_idle >= ready.tasks.len() {
        drop(ready);
        MORE.notify_one();
    } else if ready.n_threads < MOST_THREADS {
        ready.n_threads += 1;
        drop(ready);
        let named = std::thread::Builder::new().name("sim_driver".to_owned());
        if named.spawn(work).is_err() {
            // Without another thread, the existing ones have to do.
            let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
            ready.n_threads -= 1;
            if ready.n_threads == 0 {
                drop(ready);
                work_here();
            }
        }
    }
}

/// The work of a thread.
fn work() {
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(task) = ready.tasks.pop_front() {
            drop(ready);
            run(&task);
            ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        ready.n_idle += 1;
        let waited = MORE.wait_timeout(ready, PATIENCE);
        let (after, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        ready = after;
        ready.n_idle -= 1;
        if timeout.timed_out() && ready.tasks.is_empty() {
            ready.n_threads -= 1;
            return;
        }
    }
}

/// Runs what is ready, on the calling thread.
fn work_here() {
    loop {
        let next = {
            let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
            ready.tasks.pop_front()
        };
        let Some(task) = next else { return };
        run(&task);
    }
}

/// Runs a task, and then one of those that waited only for it.
fn run(task: &Arc<dyn Ready>) {
    let mut next = Some(Arc::clone(task));
    while let Some(task) = next {
        let mut may_begin = task.run().into_iter();
        next = may_begin.next();
        may_begin.for_each(push);
    }
}
