//! Streams: operations one after the other, beside those of other streams.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capture::Capture;
use crate::context::Context;
use crate::driver::driver;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::tasks::Task;

/// Operations of one stream that may be in flight; then submitting waits, as it does on a
/// GPU.
const MOST_IN_FLIGHT: usize = 1024;

/// `CU_STREAM_LEGACY`
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`
pub const PER_THREAD: usize = 2;
/// `CU_STREAM_NON_BLOCKING`
pub const NON_BLOCKING: u32 = 1;

/// How a stream and the legacy default one wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// It is that one: it waits for all blocking ones, and they for it.
    Legacy,
    /// Waits for it, and it waits for this one.
    Blocking,
    /// Neither waits for the other.
    NonBlocking,
}

/// A stream.
pub struct Stream {
    /// Its number in the process.
    pub id: u64,
    /// The handle of its context; 0 for a legacy stream, which belongs to each context.
    pub context: usize,
    /// How it and the legacy stream wait for each other.
    pub kind: StreamKind,
    /// From -5, the most urgent, to 0; told back, and nothing else.
    pub priority: i32,
    queue: Mutex<Queue>,
    n_in_flight: Arc<AtomicUsize>,
    /// What is captured, in place of being done.
    capture: Mutex<Option<Capture>>,
}

#[derive(Default)]
struct Queue {
    /// What was submitted last.
    tail: Option<Arc<Task>>,
    /// What the next operation waits for as well.
    waits: Vec<Arc<Task>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Stream {
    /// Of a context.
    pub fn new(context: usize, kind: StreamKind, priority: i32) -> Self {
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            context,
            kind,
            priority,
            queue: Mutex::default(),
            n_in_flight: Arc::default(),
            capture: Mutex::default(),
        }
    }

    /// The stream of a handle, in the current context, and that context.
    pub fn of(handle: usize) -> Outcome<(Arc<Context>, Arc<Self>)> {
        let context = Context::current()?;
        let stream = match handle {
            0 | LEGACY => Arc::clone(&context.legacy),
            PER_THREAD => context.per_thread(),
            _ => {
                let stream = driver()?.streams.get(handle);
                let stream = stream.ok_or(Status::INVALID_HANDLE)?;
                let own = Context::of(stream.context)?;
                own.check()?;
                return Ok((own, stream));
            }
        };
        Ok((context, stream))
    }

    /// Its part in a capture, if it is captured.
    pub fn capture(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was submitted last, if it is not done.
    fn tail(&self) -> Option<Arc<Task>> {
        let mut queue = self.queue();
        queue.tail.take_if(|tail| tail.is_done());
        queue.tail.clone()
    }

    /// What an operation submitted now comes after, beside its own stream's.
    fn others(&self, context: &Context) -> Vec<Arc<Task>> {
        match self.kind {
            StreamKind::NonBlocking => Vec::new(),
            StreamKind::Blocking => context.legacy.tail().into_iter().collect(),
            StreamKind::Legacy => {
                let streams = context.all_streams();
                let blocking = streams.iter().filter(|s| s.kind == StreamKind::Blocking);
                blocking.filter_map(|stream| stream.tail()).collect()
            }
        }
    }

    /// Has an operation done after all that was submitted before it.
    pub fn submit(&self, context: &Arc<Context>, operation: Operation) -> Arc<Task> {
        if self.n_in_flight.load(Ordering::Relaxed) >= MOST_IN_FLIGHT {
            self.wait();
        }
        let mut after = self.others(context);
        let mut queue = self.queue();
        after.extend(queue.tail.take().filter(|tail| !tail.is_done()));
        after.append(&mut queue.waits);
        let in_flight = Arc::clone(&self.n_in_flight);
        in_flight.fetch_add(1, Ordering::Relaxed);
        let operation = operation.into_work(Arc::clone(context));
        let work = move || {
            operation();
            in_flight.fetch_sub(1, Ordering::Relaxed);
        };
        let task = Task::submit(work, &after);
        queue.tail = Some(Arc::clone(&task));
        task
    }

    /// Does an operation, and waits for it: on this thread, if nothing comes before it.
    pub fn run(&self, context: &Arc<Context>, operation: Operation) {
        let is_idle = {
            let queue = self.queue();
            queue.waits.is_empty() && queue.tail.as_ref().is_none_or(|tail| tail.is_done())
        };
        if is_idle && self.others(context).is_empty() {
            operation.run_here(context);
        } else {
            self.submit(context, operation).wait();
        }
    }

    /// Lets what is submitted from now on wait for a task.
    pub fn wait_for(&self, task: Arc<Task>) {
        let mut queue = self.queue();
        queue.waits.retain(|task| !task.is_done());
        queue.waits.push(task);
    }

    /// Whether all that was submitted is done.
    pub fn is_idle(&self) -> bool {
        let queue = self.queue();
        let is_done = |task: &Arc<Task>| task.is_done();
        queue.tail.as_ref().is_none_or(is_done) && queue.waits.iter().all(is_done)
    }

    /// Waits until it is.
    pub fn wait(&self) {
        let (tail, waits) = {
            let queue = self.queue();
            (queue.tail.clone(), queue.waits.clone())
        };
        tail.iter().chain(&waits).for_each(|task| task.wait());
    }
}
