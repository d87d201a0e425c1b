//! Uses of the same memory by operations of streams that nothing orders.
//!
//! Operations run in one of the orders that a GPU may choose, so what a program forgets to wait for
//! is mostly done all the same. With checks on, each has a clock: the operations that it comes after,
//! by stream. One that uses memory is held against those that it does not come after and that do not
//! come after it.
//!
//! The host has one clock for all its threads: they may tell each other what they have waited for. A
//! graph's nodes count as operations of its stream, in order. Left out: the host's own accesses to
//! memory that devices use, too, and kernels that run together since they wait for each other.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ptx_sim::{Clock, Footprint, Pending, Touches, Usage, remember};

use crate::copies::{Copy, Fill};
use crate::driver::driver;
use crate::recorder::recorder;

/// How long one waits for those that were submitted earlier.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where an operation is in the order of all.
#[derive(Debug)]
pub struct Moment {
    stream: u64,
    /// Later ones have higher numbers.
    number: u64,
    /// What it comes after, and itself.
    clock: Clock,
}

impl Moment {
    /// Whether it comes after another one.
    pub fn comes_after(&self, other: &Self) -> bool {
        self.clock.has(other.stream, other.number)
    }

    fn is_ordered(&self, other: &Self) -> bool {
        self.comes_after(other) || other.comes_after(self)
    }
}

/// An operation that has been done.
struct Done {
    moment: Arc<Moment>,
    uses: Vec<Pending>,
}

impl Done {
    fn size_bytes(&self) -> usize {
        self.uses.iter().map(|work| work.touches.size_bytes()).sum()
    }
}

#[derive(Default)]
struct State {
    /// What the host knows to be done.
    host: Clock,
    /// What has been done and may still meet others.
    done: Vec<Done>,
    /// The operations that use memory and are not done: their streams, by number.
    in_flight: HashMap<u64, u64>,
    /// Numbers of those that one has waited for in vain.
    blocked: HashSet<u64>,
}

impl State {
    /// Leaves streams out of a clock, if it is long, in which nothing is left that anything could
    /// meet: a program may make thousands.
    fn drop_idle(&self, clock: &mut Clock) {
        const LONG: usize = 64;
        if clock.len() > LONG {
            let done = self.done.iter().map(|done| done.moment.stream);
            let live: HashSet<u64> = done.chain(self.in_flight.values().copied()).collect();
            clock.retain(|stream| live.contains(&stream));
        }
    }

    /// Forgets what nothing can meet any more.
    fn forget(&mut self) {
        if self.in_flight.is_empty() {
            let host = &self.host;
            let is_known = |at: &Moment| host.has(at.stream, at.number);
            self.done.retain(|done| !is_known(&done.moment));
            let mut host = std::mem::take(&mut self.host);
            self.drop_idle(&mut host);
            self.host = host;
        }
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
static ENDED: Condvar = Condvar::new();
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
/// Whether there is more than a legacy stream.
static HAS_STREAMS: AtomicBool = AtomicBool::new(false);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream other than the legacy one has been made.
pub fn streams_exist() {
    HAS_STREAMS.store(true, Ordering::Relaxed);
}

/// Whether operations have clocks.
pub fn is_on() -> bool {
    HAS_STREAMS.load(Ordering::Relaxed) && driver().is_ok_and(|driver| driver.settings.check)
}

/// The moment of an operation that is submitted to a stream now, after some others.
pub fn moment<'m>(
    stream: u64,
    after: impl Iterator<Item = &'m Arc<Moment>>,
    uses_memory: bool,
) -> Option<Arc<Moment>> {
    if !is_on() {
        return None;
    }
    let mut state = state();
    let state = state.get_or_insert_default();
    let mut clock = state.host.clone();
    after.for_each(|moment| clock.join(&moment.clock));
    state.drop_idle(&mut clock);
    let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
    clock.add(stream, number);
    if uses_memory {
        state.in_flight.insert(number, stream);
    }
    Some(Arc::new(Moment {
        stream,
        number,
        clock,
    }))
}

/// Lets what was submitted before a launch and uses memory end first, unless that takes long: then the
/// launch finds it, and tells the line.
pub fn let_earlier_end(moment: &Moment) {
    let is_behind =
        |state: &State, number: u64| number < moment.number && !state.blocked.contains(&number);
    let is_anything_behind = |state: &mut Option<State>| {
        let state = state.get_or_insert_default();
        state
            .in_flight
            .keys()
            .any(|&number| is_behind(state, number))
    };
    let waited = ENDED.wait_timeout_while(state(), PATIENCE, is_anything_behind);
    let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
    if timeout.timed_out() {
        let state = state.get_or_insert_default();
        let behind = state.in_flight.keys().copied();
        let behind: Vec<u64> = behind.filter(|&number| is_behind(state, number)).collect();
        state.blocked.extend(behind);
    }
}

/// Whether nothing need know that it comes after an operation that is done: the host knows it, or
/// nothing is left of its stream that anything could meet.
pub fn is_over(moment: &Moment) -> bool {
    let state = state();
    state.as_ref().is_some_and(|state| {
        let mut left = state.done.iter().map(|done| done.moment.stream);
        let is_left = left.any(|stream| stream == moment.stream)
            || state
                .in_flight
                .values()
                .any(|&stream| stream == moment.stream);
        !is_left || state.host.has(moment.stream, moment.number)
    })
}

/// The host has waited for an operation, or has been told that it is done.
pub fn known_to_host(moment: &Moment) {
    let mut state = state();
    let state = state.get_or_insert_default();
    state.host.join(&moment.clock);
    state.forget();
}

/// What has been done of what was submitted before an operation that does not come after it. (Of what
/// was submitted later, the operation is the one to be waited for.)
pub fn unordered(moment: &Moment) -> Vec<Pending> {
    let state = state();
    let done = state.iter().flat_map(|state| &state.done);
    let done =
        done.filter(|done| done.moment.number < moment.number && !moment.comes_after(&done.moment));
    let in_another = |work: &Pending| Pending {
        what: format!("{} in another stream", work.what),
        ..work.clone()
    };
    done.flat_map(|done| done.uses.iter().map(in_another))
        .collect()
}

/// An operation has been done, and this is the memory that it has used, as far as that is known.
pub fn ended(moment: &Arc<Moment>, uses: Vec<Pending>) {
    let found = note(moment, uses);
    if let (false, Ok(recorder)) = (found.is_empty(), recorder()) {
        found.into_iter().for_each(|text| recorder.unordered(text));
    }
}

/// Remembers what an operation has used; gives what it meets.
fn note(moment: &Arc<Moment>, uses: Vec<Pending>) -> Vec<String> {
    let mut found = Vec::new();
    let mut state = state();
    let state = state.get_or_insert_default();
    state.in_flight.remove(&moment.number);
    state.blocked.remove(&moment.number);
    ENDED.notify_all();
    let others = state.done.iter();
    for other in others.filter(|done| !done.moment.is_ordered(moment)) {
        // Told in the order in which they were submitted.
        let is_later = moment.number > other.moment.number;
        let (earlier, later) = match is_later {
            true => (&other.uses, &uses),
            false => (&uses, &other.uses),
        };
        let met = earlier.iter().find_map(|work| {
            later.iter().find_map(|later| {
                let usage = work.conflict_with(&later.touches)?;
                Some(told(work, usage, later))
            })
        });
        found.extend(met);
    }
    // Whatever does not come after the same that was done before does not come after this.
    let is_like = |a: &[Pending], b: &[Pending]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.touches == b.touches)
    };
    let is_repeated =
        |done: &Done| done.moment.stream == moment.stream && is_like(&done.uses, &uses);
    state.done.retain(|done| !is_repeated(done));
    let new = (!uses.is_empty()).then(|| Done {
        moment: Arc::clone(moment),
        uses,
    });
    state.forget();
    remember(&mut state.done, new.into_iter(), Done::size_bytes);
    found
}

/// Two uses that nothing orders.
fn told(earlier: &Pending, usage: Usage, later: &Pending) -> String {
    format!(
        "not waited for: {} uses memory that {}, in a stream that it does not wait for, may still be \
         {}\n  what to do: put both in the same stream, let the later one's stream wait for an event \
         that is recorded after the earlier one, or wait for the earlier one's stream on the host",
        later.what,
        earlier.what,
        if usage.writes { "writing" } else { "reading" }
    )
}

/// Memory has been allocated: what was there before was something else.
pub fn allocated(addresses: &Range<u64>) {
    if let Some(state) = state().as_mut() {
        for work in state.done.iter_mut().flat_map(|done| &mut done.uses) {
            match &mut work.touches {
                // What lies behind it is forgotten as well.
                Touches::All(used, _)
                    if addresses.start < used.end && used.start < addresses.end =>
                {
                    used.end = addresses.start.max(used.start);
                }
                Touches::All(..) => {}
                Touches::Parts(footprint) => Arc::make_mut(footprint).forget(addresses),
            }
        }
    }
}

impl Copy {
    /// The memory that it uses.
    pub fn uses(&self) -> Vec<Pending> {
        let [width, height, depth] = self.extent;
        let what = format!(
            "a copy of {} bytes from {} to {}",
            width * height * depth,
            self.from.in_words(),
            self.to.in_words()
        );
        let of = |rows: &dyn Fn(u64, u64) -> u64, usage| Pending {
            touches: of_rows(
                (0..depth).flat_map(|z| (0..height).map(move |y| (y, z))),
                rows,
                width,
                usage,
            ),
            what: what.clone(),
        };
        vec![
            of(&|y, z| self.from.row(y, z), Usage::READ),
            of(&|y, z| self.to.row(y, z), Usage::WRITE),
        ]
    }
}

impl Fill {
    /// The memory that it uses.
    pub fn uses(&self) -> Vec<Pending> {
        let [width, height] = self.extent;
        let row_bytes = width * u64::from(self.element_bytes);
        vec![Pending {
            touches: of_rows(
                (0..height).map(|y| (y, 0)),
                &|y, _| self.row(y),
                row_bytes,
                Usage::WRITE,
            ),
            what: format!(
                "a memset of {} bytes at {:#x}",
                row_bytes * height,
                self.address
            ),
        }]
    }
}

/// The use of rows of bytes.
fn of_rows(
    mut rows: impl Iterator<Item = (u64, u64)>,
    row: &dyn Fn(u64, u64) -> u64,
    n_bytes: u64,
    usage: Usage,
) -> Touches {
    let range = |(y, z)| row(y, z)..row(y, z) + n_bytes;
    match (rows.next(), rows.next()) {
        (first, None) => Touches::All(first.map_or(0..0, range), usage),
        (first, second) => {
            let mut all = Footprint::default();
            let rows = first.into_iter().chain(second).chain(rows);
            rows.for_each(|at| all.add(range(at), usage));
            Touches::Parts(Arc::new(all))
        }
    }
}
