//! Streams: operations one after the other, concurrently with other streams.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capture::Capture;
use crate::context::Context;
use crate::each::Each;
use crate::handles::{Kind, Table};
use crate::happens_before::{self, Moment};
use crate::operation::Operation;
use crate::session::{self, Session};
use crate::status::{Outcome, Status};
use crate::tasks::Task;

/// Operations of one stream that may be in flight; beyond that, submitting waits, as on a GPU.
const MOST_IN_FLIGHT: usize = 1024;

/// `CU_STREAM_LEGACY`
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`
pub const PER_THREAD: usize = 2;
/// `CU_STREAM_NON_BLOCKING`
pub const NON_BLOCKING: u32 = 1;

/// How a stream and the legacy default stream wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// It is the legacy stream: it waits for all blocking ones, and they wait for it.
    Legacy,
    /// Each waits for the other.
    Blocking,
    /// Neither waits for the other.
    NonBlocking,
}

/// A stream.
pub struct Stream {
    /// Its number in the process.
    pub id: u64,
    /// The handle of its context; 0 for a legacy stream, which every context has.
    pub context: usize,
    /// How it and the legacy stream wait for each other.
    pub kind: StreamKind,
    /// From -5, the most urgent, to 0; it can be queried, but has no effect.
    pub priority: i32,
    queue: Mutex<Queue>,
    n_in_flight: Arc<AtomicUsize>,
    /// What is captured instead of being done.
    capture: Mutex<Option<Capture>>,
}

#[derive(Default)]
struct Queue {
    /// What was submitted last.
    tail: Option<Arc<Task>>,
    /// What else the next operation waits for.
    waits: Vec<Arc<Task>>,
}

/// The streams of a context.
struct Streams {
    /// The legacy default stream.
    legacy: Arc<Stream>,
    /// All others, including destroyed ones that have work left.
    others: Mutex<Vec<Arc<Stream>>>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            legacy: Arc::new(Stream::new(0, StreamKind::Legacy, 0)),
            others: Mutex::default(),
        }
    }
}

impl Streams {
    fn others(&self) -> MutexGuard<'_, Vec<Arc<Stream>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream; drops those that are destroyed and have no work left, captured or not.
    fn add(&self, stream: &Arc<Stream>) {
        happens_before::streams_exist();
        let mut others = self.others();
        if others.len() == others.capacity() {
            let legacy = self.legacy.queue().tail.clone();
            let legacy = legacy.as_ref().and_then(|task| task.moment());
            others.retain(|stream| {
                let is_done = stream.is_over(legacy) && stream.capture().is_none();
                Arc::strong_count(stream) > 1 || !is_done
            });
        }
        others.push(Arc::clone(stream));
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);
/// `CUstream`, without the default streams.
static STREAMS: Table<Stream> = Table::new(Kind::Stream);
/// By context.
static OF_CONTEXTS: Each<Streams> = Each::new();

thread_local! {
    /// The thread's own default streams, by context.
    static PER_THREAD_STREAMS: RefCell<HashMap<usize, Arc<Stream>>> = RefCell::default();
}

impl Context {
    fn streams(&self) -> Arc<Streams> {
        OF_CONTEXTS.of(self.handle)
    }

    /// The legacy default stream.
    pub fn legacy(&self) -> Arc<Stream> {
        Arc::clone(&self.streams().legacy)
    }

    /// All streams except the legacy one.
    pub fn all_streams(&self) -> Vec<Arc<Stream>> {
        self.streams().others().clone()
    }

    /// The captures that the legacy stream would have to wait for.
    pub fn blocking_captures(&self) -> Vec<Arc<Session>> {
        if !session::is_any() {
            return Vec::new();
        }
        let mut streams = self.all_streams();
        streams.retain(|stream| stream.kind == StreamKind::Blocking);
        let of = |stream: &Arc<Stream>| Some(Arc::clone(&stream.capture().as_ref()?.session));
        streams.iter().filter_map(of).collect()
    }

    /// Ends the parts of its streams in a capture.
    pub fn take_captures(&self, session: u64) -> Vec<Capture> {
        let streams = self.all_streams().into_iter();
        let part = |stream: Arc<Stream>| stream.capture().take_if(|c| c.session.id == session);
        streams.filter_map(part).collect()
    }

    /// Adds a new stream, and returns its handle.
    pub fn add_stream(&self, kind: StreamKind, priority: i32) -> Outcome<usize> {
        let stream = Arc::new(Stream::new(self.handle, kind, priority));
        self.streams().add(&stream);
        STREAMS.add(stream)
    }

    /// This thread's default stream; for a thread that has ended, the one of all threads.
    pub fn per_thread(&self) -> Arc<Stream> {
        let own = PER_THREAD_STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            let stream = streams.entry(self.handle).or_insert_with(|| {
                let stream = Arc::new(Stream::new(self.handle, StreamKind::Blocking, 0));
                self.streams().add(&stream);
                stream
            });
            Arc::clone(stream)
        });
        own.unwrap_or_else(|_| self.legacy())
    }

    /// A task that is done once everything is that the legacy stream would wait for now.
    pub fn fence(self: &Arc<Self>) -> Arc<Task> {
        self.legacy().submit(self, Operation::Nothing)
    }

    /// Makes the legacy stream, and thus all blocking ones, wait for a task.
    pub fn wait_for(self: &Arc<Self>, task: &Arc<Task>) {
        self.legacy().wait_for(Arc::clone(task));
        self.fence();
    }

    /// Waits for everything that has been submitted.
    pub(crate) fn wait(&self) {
        for stream in self.all_streams() {
            stream.wait();
        }
        self.legacy().wait();
    }

    /// Waits for everything that has been submitted, and returns whether it went well.
    pub fn synchronize(&self) -> Outcome {
        self.wait();
        self.check()
    }

    /// Invalidates its streams' handles, since it has ended.
    pub(crate) fn forget_streams(&self) {
        STREAMS.retain(|stream| stream.context != self.handle);
        // Threads keep their own streams.
        for stream in self.all_streams() {
            drop(stream.capture().take());
        }
        drop(OF_CONTEXTS.remove(self.handle));
    }
}

impl Stream {
    /// A stream of a context.
    fn new(context: usize, kind: StreamKind, priority: i32) -> Self {
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

    /// The stream with this handle, in the current context, and that context.
    pub fn of(handle: usize) -> Outcome<(Arc<Context>, Arc<Self>)> {
        let context = Context::current()?;
        let stream = match handle {
            0 | LEGACY => context.legacy(),
            PER_THREAD => context.per_thread(),
            _ => {
                let stream = STREAMS.get(handle)?;
                let own = Context::of(stream.context)?;
                own.check()?;
                return Ok((own, stream));
            }
        };
        Ok((context, stream))
    }

    /// Invalidates the handle: its work continues, but nothing can be added to it.
    /// A capture that began in it is given up.
    pub fn destroy(handle: usize) -> Outcome {
        let stream = STREAMS.remove(handle)?;
        let began = stream.capture().take_if(|capture| capture.is_origin);
        if let Some(capture) = began {
            let context = Context::of(stream.context)?;
            drop(context.take_captures(capture.session.id));
            capture.graph.forget()?;
        }
        Ok(())
    }

    /// Its part in a capture, if it is captured.
    pub fn capture(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless the capture was invalidated.
    pub fn open_capture(&self) -> Outcome<MutexGuard<'_, Option<Capture>>> {
        let capture = self.capture();
        let is_invalid = |capture: &Capture| capture.session.is_invalid();
        Status::STREAM_CAPTURE_INVALIDATED.when(capture.as_ref().is_some_and(is_invalid))?;
        Ok(capture)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was submitted last, if it still matters.
    fn tail(&self) -> Option<Arc<Task>> {
        let mut queue = self.queue();
        queue.tail.take_if(|tail| is_over(tail));
        queue.tail.clone()
    }

    /// What an operation submitted now comes after, in addition to its own stream's work.
    fn others(&self, context: &Context) -> Vec<Arc<Task>> {
        match self.kind {
            StreamKind::NonBlocking => Vec::new(),
            StreamKind::Blocking => context.legacy().tail().into_iter().collect(),
            StreamKind::Legacy => {
                let streams = context.all_streams();
                let blocking = streams.iter().filter(|s| s.kind == StreamKind::Blocking);
                blocking.filter_map(|stream| stream.tail()).collect()
            }
        }
    }

    /// Submits an operation after everything that was submitted before it.
    pub fn submit(&self, context: &Arc<Context>, operation: Operation) -> Arc<Task> {
        if self.n_in_flight.load(Ordering::Relaxed) >= MOST_IN_FLIGHT {
            let tail = self.queue().tail.clone();
            tail.iter().for_each(|task| task.wait_quietly());
        }
        let mut after = self.others(context);
        let mut queue = self.queue();
        after.extend(queue.tail.take().filter(|tail| !is_over(tail)));
        after.append(&mut queue.waits);
        let in_flight = Arc::clone(&self.n_in_flight);
        in_flight.fetch_add(1, Ordering::Relaxed);
        let moments = after.iter().filter_map(|task| task.moment());
        let moment = happens_before::moment(self.id, moments, operation.uses_memory());
        let operation = operation.into_work(Arc::clone(context), moment.clone());
        let work = move || {
            operation();
            in_flight.fetch_sub(1, Ordering::Relaxed);
        };
        let task = Task::submit_at(moment, work, &after);
        queue.tail = Some(Arc::clone(&task));
        task
    }

    /// Performs an operation and waits for it: on this thread, if nothing comes before it.
    pub fn run(&self, context: &Arc<Context>, operation: Operation) {
        let is_idle = {
            let queue = self.queue();
            queue.waits.is_empty() && queue.tail.as_ref().is_none_or(|tail| tail.is_done())
        };
        if is_idle && self.others(context).is_empty() && !happens_before::is_on() {
            operation.run_here(context);
        } else {
            let outlasts = operation.outlasts_its_call();
            let task = self.submit(context, operation);
            match outlasts {
                true => task.wait_quietly(),
                false => task.wait(),
            }
        }
    }

    /// Makes what is submitted from now on wait for a task.
    pub fn wait_for(&self, task: Arc<Task>) {
        let mut queue = self.queue();
        let is_covered = |old: &Arc<Task>| match (task.moment(), old.moment()) {
            (Some(new), Some(old)) => new.comes_after(old),
            _ => false,
        };
        queue
            .waits
            .retain(|old| !(is_over(old) || old.is_done() && is_covered(old)));
        queue.waits.push(task);
    }

    /// Whether everything that was submitted is done, as the client asks: then it knows.
    pub fn is_known_idle(&self) -> bool {
        let is_idle = self.is_idle();
        if is_idle && happens_before::is_on() {
            self.wait();
        }
        is_idle
    }

    /// Whether everything that was submitted is done.
    pub fn is_idle(&self) -> bool {
        let queue = self.queue();
        let is_done = |task: &Arc<Task>| task.is_done();
        queue.tail.as_ref().is_none_or(is_done) && queue.waits.iter().all(is_done)
    }

    /// The same, and nothing need know that it comes after any of it: at most what knows that it
    /// comes after this moment.
    fn is_over(&self, moment: Option<&Arc<Moment>>) -> bool {
        let queue = self.queue();
        let is_before = |task: &Arc<Task>| {
            let both = moment.zip(task.moment());
            task.is_done() && both.is_some_and(|(later, own)| later.comes_after(own))
        };
        let mut tasks = queue.tail.iter().chain(&queue.waits);
        tasks.all(|task| is_over(task) || is_before(task))
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

/// Whether nothing need wait for a task any more, nor know that it comes after it.
fn is_over(task: &Arc<Task>) -> bool {
    let is_over = |moment: &Arc<Moment>| happens_before::is_over(moment);
    task.is_done() && task.moment().is_none_or(is_over)
}
