//! The hub of a communicator: a thread of the process that made the communicator's id. All ranks
//! connect to its socket, whether they are in the same process or in another one of this machine.
//!
//! `members` is what it knows of the ranks, `results` computes, `complaint` words what is wrong,
//! [`meeting`] decides; here is what talks to the ranks.

mod complaint;
pub mod meeting;
mod members;
mod results;

use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use crate::result::{Code, Failure, Outcome};
use crate::settings;
use crate::wire::{self, Introduction, Part, Reply, Request};
use meeting::{Answer, Meeting};
use members::Gone;

/// How long a rank may take to accept what it is sent.
const SLOWEST: Duration = Duration::from_secs(60);

/// Number of hubs that ranks have joined and not all left.
static SERVING: Mutex<usize> = Mutex::new(0);
static SERVED: Condvar = Condvar::new();

/// The address of a hub: in Linux's abstract namespace, so that no file is left behind.
pub fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

/// Starts a hub; returns its name.
pub fn start() -> Outcome<String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |now| now.as_nanos());
    let name = format!(
        "lockstep-nccl-{}-{number}-{nanoseconds:x}",
        std::process::id()
    );
    let failed = |error: io::Error| Code::SYSTEM.because(format_args!("a socket: {error}"));
    let address = address(&name).map_err(failed)?;
    let listener = UnixListener::bind_addr(&address).map_err(failed)?;
    let mut hub = Hub::new(address);
    let (sender, receiver) = channel();
    let is_closed = Arc::clone(&hub.is_closed);
    hub.acceptor = Some(spawn(move || accept(&listener, &sender, &is_closed))?);
    spawn(move || hub.serve(&receiver))?;
    Ok(name)
}

/// Waits until the ranks of other processes have left the hubs of this process, which ends.
pub fn finish() {
    let serving = SERVING.lock().unwrap_or_else(PoisonError::into_inner);
    let most = settings::patience().unwrap_or(Duration::MAX);
    let _ = SERVED.wait_timeout_while(serving, most, |n| *n > 0);
}

fn count(change: impl FnOnce(&mut usize)) {
    change(&mut SERVING.lock().unwrap_or_else(PoisonError::into_inner));
    SERVED.notify_all();
}

/// Starts a thread.
///
/// # Errors
/// There can be no more.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> Outcome<JoinHandle<()>> {
    let named = std::thread::Builder::new().name("sim_nccl".to_owned());
    named
        .spawn(work)
        .map_err(|error| Code::SYSTEM.because(format_args!("a thread: {error}")))
}

/// What a hub hears.
struct Event {
    /// The number of the connection.
    connection: u64,
    what: What,
}

enum What {
    Joined(Introduction, UnixStream),
    Said(Request, Vec<u8>),
    Ended,
}

/// Accepts connections until the hub needs no more.
fn accept(listener: &UnixListener, events: &Sender<Event>, is_closed: &AtomicBool) {
    for (connection, stream) in (0..).zip(listener.incoming()) {
        if is_closed.load(Ordering::Acquire) {
            return;
        }
        let events = events.clone();
        if let Ok(stream) = stream {
            let _ = spawn(move || listen(connection, stream, &events));
        }
    }
}

/// Passes on what a rank says.
fn listen(connection: u64, mut stream: UnixStream, events: &Sender<Event>) {
    let say = |what| events.send(Event { connection, what });
    while let Ok((request, bytes)) = wire::receive(&mut stream) {
        let what = match request {
            Request::Join(introduction) => match stream.try_clone() {
                Ok(stream) => What::Joined(introduction, stream),
                Err(_) => break,
            },
            other => What::Said(other, bytes),
        };
        if say(what).is_err() {
            return;
        }
    }
    let _ = say(What::Ended);
}

struct Hub {
    address: SocketAddr,
    /// The thread that accepts connections, until all ranks have joined.
    acceptor: Option<JoinHandle<()>>,
    is_closed: Arc<AtomicBool>,
    meeting: Meeting,
    /// The ranks, by connection.
    ranks: HashMap<u64, usize>,
    /// The connections, by rank.
    streams: HashMap<usize, UnixStream>,
    is_failure_told: bool,
}

impl Hub {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            acceptor: None,
            is_closed: Arc::default(),
            meeting: Meeting::new(settings::patience()),
            ranks: HashMap::new(),
            streams: HashMap::new(),
            is_failure_told: false,
        }
    }

    /// Serves until all ranks have left.
    fn serve(mut self, events: &Receiver<Event>) {
        while !self.meeting.is_over() {
            let event = match self.meeting.deadline() {
                Some(deadline) => {
                    events.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(event) => self.hear(event),
                Err(RecvTimeoutError::Timeout) => self.meeting.expire(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.settle();
        }
        self.close();
        if !self.meeting.members.is_empty() {
            count(|n| *n -= 1);
        }
    }

    /// Accepts no more connections: who tries to connect from here on is refused.
    fn close(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            self.is_closed.store(true, Ordering::Release);
            // Wakes it.
            let _ = UnixStream::connect_addr(&self.address);
            let _ = acceptor.join();
        }
    }

    fn hear(&mut self, event: Event) {
        let rank = self.ranks.get(&event.connection).copied();
        match (event.what, rank) {
            (What::Joined(introduction, stream), None) => {
                self.join(event.connection, introduction, stream);
            }
            (What::Said(Request::Submit(calls), _), Some(rank)) => {
                self.meeting.announce(rank, calls);
            }
            (What::Said(Request::Run { calls, announced }, bytes), Some(rank)) => {
                if announced {
                    self.meeting.begin_announced(rank, calls.len());
                }
                self.meeting.call(rank, calls, bytes);
            }
            (What::Said(Request::Split { color, key }, _), Some(rank)) => {
                self.meeting.split(rank, color, key);
            }
            (What::Said(Request::Leave(how), _), Some(rank)) => {
                self.meeting.leave(rank, Gone::Said(how));
                self.tell(rank, &Reply::Left, &[]);
            }
            (What::Ended, Some(rank)) => self.meeting.leave(rank, Gone::Lost),
            // Not a rank's.
            _ => {}
        }
    }

    fn join(&mut self, connection: u64, introduction: Introduction, mut stream: UnixStream) {
        if self.meeting.members.is_empty() {
            count(|n| *n += 1);
        }
        let _ = stream.set_write_timeout(Some(SLOWEST));
        let rank = introduction.rank;
        if let Err(failure) = self.meeting.join(introduction) {
            let _ = wire::send(&mut stream, &Reply::Failed(failure), &[]);
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
        self.ranks.insert(connection, rank);
        self.streams.insert(rank, stream);
        if self.meeting.is_complete() {
            self.close();
            self.tell_all(&Reply::Joined);
        }
    }

    /// Tells ranks what has come about.
    fn settle(&mut self) {
        for Answer { rank, outputs } in self.meeting.proceed() {
            let bytes: Vec<&[u8]> = outputs.iter().map(|output| output.bytes()).collect();
            self.tell(rank, &Reply::Done, &bytes);
        }
        if let Some(wishes) = self.meeting.take_split() {
            self.split(&wishes);
        }
        if let Some(failure) = self.meeting.failure.clone()
            && !self.is_failure_told
        {
            self.is_failure_told = true;
            eprintln!("lockstep: {}", failure.text);
            self.tell_all(&Reply::Failed(failure));
        }
    }

    /// Starts a hub for each color.
    fn split(&mut self, wishes: &[(i32, i32)]) {
        match parts(wishes) {
            Ok(parts) => {
                for (rank, part) in parts.into_iter().enumerate() {
                    self.tell(rank, &Reply::Split(part), &[]);
                }
            }
            Err(failure) => {
                self.meeting.failure.get_or_insert(failure);
            }
        }
    }

    fn tell(&mut self, rank: usize, reply: &Reply, bytes: &[&[u8]]) {
        let Some(stream) = self.streams.get_mut(&rank) else {
            return;
        };
        if wire::send(stream, reply, bytes).is_err() {
            // That it has ended is then heard as well.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn tell_all(&mut self, reply: &Reply) {
        for rank in 0..self.meeting.members.len() {
            self.tell(rank, reply, &[]);
        }
    }
}

/// The part of each rank in the communicators that a split makes.
fn parts(wishes: &[(i32, i32)]) -> Result<Vec<Option<Part>>, Failure> {
    let mut parts = vec![None; wishes.len()];
    let mut colors: Vec<i32> = wishes.iter().map(|&(color, _)| color).collect();
    colors.sort_unstable();
    colors.dedup();
    for color in colors.into_iter().filter(|&color| color >= 0) {
        let mut ranks: Vec<usize> = (0..wishes.len())
            .filter(|&r| wishes[r].0 == color)
            .collect();
        ranks.sort_by_key(|&rank| (wishes[rank].1, rank));
        let hub = start()?;
        for (i, &rank) in ranks.iter().enumerate() {
            parts[rank] = Some(Part {
                hub: hub.clone(),
                rank: i,
                n_ranks: ranks.len(),
            });
        }
    }
    Ok(parts)
}
