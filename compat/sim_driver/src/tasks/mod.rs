//! Work that some thread does later, once everything before it is done.
//!
//! Streams, events and graphs consist of nothing else: dependencies are known when work is
//! submitted, so no thread blocks waiting for an event.

mod executor;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::happens_before::{self, Moment};
use executor::Ready;

type Work = Box<dyn FnOnce() + Send>;

/// A piece of work.
pub struct Task {
    state: Mutex<State>,
    finished: Condvar,
    /// Where it is in the order of all, if that is kept.
    moment: OnceLock<Arc<Moment>>,
    /// Tasks that must be done first, plus one while it is being submitted.
    n_before: AtomicUsize,
}

struct State {
    /// The work, until it begins.
    work: Option<Work>,
    is_done: bool,
    /// The tasks that wait for it.
    followers: Vec<Arc<Task>>,
}

impl Task {
    /// Submits work that comes after some tasks.
    pub fn submit(work: impl FnOnce() + Send + 'static, after: &[Arc<Self>]) -> Arc<Self> {
        let task = Arc::new(Self {
            state: Mutex::new(State {
                work: Some(Box::new(work)),
                is_done: false,
                followers: Vec::new(),
            }),
            finished: Condvar::new(),
            moment: OnceLock::new(),
            n_before: AtomicUsize::new(after.len() + 1),
        });
        for before in after {
            let mut state = before.state();
            if state.is_done {
                task.n_before.fetch_sub(1, Ordering::AcqRel);
            } else {
                state.followers.push(Arc::clone(&task));
            }
        }
        if task.is_next() {
            executor::push(task.clone());
        }
        task
    }

    /// The same, which is at this moment.
    pub fn submit_at(
        moment: Option<Arc<Moment>>,
        work: impl FnOnce() + Send + 'static,
        after: &[Arc<Self>],
    ) -> Arc<Self> {
        let task = Self::submit(work, after);
        if let Some(moment) = moment {
            let _ = task.moment.set(moment);
        }
        task
    }

    /// Where it is in the order of all, if that is kept.
    pub fn moment(&self) -> Option<&Arc<Moment>> {
        self.moment.get()
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.state().is_done
    }

    /// Waits until it is done, and lets it be known that the host knows.
    pub fn wait(&self) {
        self.wait_quietly();
        self.moment()
            .into_iter()
            .for_each(|moment| happens_before::known_to_host(moment));
    }

    /// Waits until it is done; does the work here if it has not begun, which is quicker than waking
    /// another thread.
    pub fn wait_quietly(&self) {
        if self.n_before.load(Ordering::Acquire) == 0 {
            self.run().into_iter().for_each(executor::push);
        }
        let mut state = self.state();
        while !state.is_done {
            let waited = self.finished.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One dependency fewer; returns whether it was the last.
    fn is_next(&self) -> bool {
        self.n_before.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl Ready for Task {
    /// Does the work, unless another thread does; returns the tasks that may begin now.
    fn run(&self) -> Vec<Arc<dyn Ready>> {
        let work = self.state().work.take();
        let Some(work) = work else {
            return Vec::new();
        };
        // A bug in one task must not keep others from ending.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let mut state = self.state();
        state.is_done = true;
        let followers = std::mem::take(&mut state.followers);
        drop(state);
        self.finished.notify_all();
        followers
            .into_iter()
            .filter(|task| task.is_next())
            .map(|task| task as Arc<dyn Ready>)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn work_is_done_after_what_it_comes_after() {
        let (sender, receiver) = mpsc::channel();
        let send = |n: u32| {
            let sender = sender.clone();
            move || sender.send(n).expect("received")
        };
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().expect("not poisoned");
        let first = {
            let (gate, send) = (Arc::clone(&gate), send(1));
            Task::submit(
                move || {
                    drop(gate.lock());
                    send();
                },
                &[],
            )
        };
        let second = Task::submit(send(2), std::slice::from_ref(&first));
        let apart = Task::submit(send(3), &[]);
        apart.wait();
        assert!(!first.is_done() && !second.is_done());
        drop(held);
        let third = Task::submit(send(4), &[first, second, apart]);
        third.wait();
        let order: Vec<u32> = (0..4).map(|_| receiver.recv().expect("sent")).collect();
        assert_eq!(order, [3, 1, 2, 4]);
    }

    #[test]
    fn a_long_chain_is_no_recursion() {
        let mut last = Task::submit(|| std::thread::sleep(Duration::from_millis(20)), &[]);
        for _ in 0..100_000 {
            last = Task::submit(|| {}, &[last]);
        }
        last.wait();
    }

    #[test]
    fn many_that_block_do_not_keep_others_from_running() {
        let (sender, receiver) = mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        let blocked: Vec<_> = (0..40)
            .map(|_| {
                let receiver = Arc::clone(&receiver);
                let receive = move || drop(receiver.lock().map(|r| r.recv()));
                Task::submit(receive, &[])
            })
            .collect();
        let free = Task::submit(
            move || (0..40).for_each(|_| sender.send(()).expect("received")),
            &[],
        );
        free.wait();
        blocked.iter().for_each(|task| task.wait());
    }

    #[test]
    fn a_panic_ends_a_task_only() {
        let bad = Task::submit(|| std::panic::resume_unwind(Box::new("planned")), &[]);
        Task::submit(|| {}, &[bad]).wait();
    }
}
