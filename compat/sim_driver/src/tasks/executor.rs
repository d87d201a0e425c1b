//! The threads that do the work: as many as there is work that can be done now, since each
//! may wait for something that only the client or another kernel brings about.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Threads at most: as many as kernels that a GPU runs at once, and some for copies.
const MOST_THREADS: usize = 160;
/// How long a thread waits for work before it ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something that a thread can do now.
pub(super) trait Ready: Send + Sync {
    /// Does it, unless another thread does; gives what may begin now.
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

/// Has a task run by a thread.
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
            // Without a thread more, those that there are must do.
            let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
            ready.n_threads -= 1;
            if ready.n_threads == 0 {
                drop(ready);
                work_here();
            }
        }
    }
}

/// What a thread does.
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

/// Does what is ready, on the thread that asked for it.
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

/// Runs a task, and then one of those that waited for it only.
fn run(task: &Arc<dyn Ready>) {
    let mut next = Some(Arc::clone(task));
    while let Some(task) = next {
        let mut may_begin = task.run().into_iter();
        next = may_begin.next();
        may_begin.for_each(push);
    }
}
