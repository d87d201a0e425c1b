//! A rank's connection to the hub of its communicator.

use std::collections::BTreeSet;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::Call;
use crate::hub;
use crate::result::{self, Code, Failure, Outcome, ensure};
use crate::wire::{self, Farewell, Introduction, Part, Reply, Request};

/// How long the hub may take to say farewell.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Connection {
    hub: String,
    stream: Mutex<UnixStream>,
    /// Held while calls are made: one group of them after the other.
    turn: Mutex<()>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    has_joined: bool,
    has_left: bool,
    failure: Option<Failure>,
    received: Option<Vec<u8>>,
    split: Option<Option<Part>>,
}

impl Connection {
    /// Connects to a hub. Other ranks may not be there yet.
    ///
    /// # Errors
    /// There is no such hub.
    pub fn begin(hub: &str, introduction: Introduction) -> Outcome<Arc<Self>> {
        let is_ours = hub.starts_with("lockstep-nccl-");
        ensure(is_ours, "the id is not one of ncclGetUniqueId's")?;
        let failed = |error: std::io::Error| {
            Code::REMOTE.because(format_args!(
                "NCCL: rank {} does not reach the process that made the communicator's id, which may \
                 have ended, or the id was used before ({hub}: {error})",
                introduction.rank
            ))
        };
        let address = hub::address(hub).map_err(failed)?;
        let mut stream = UnixStream::connect_addr(&address).map_err(failed)?;
        let request = Request::Join(introduction.clone());
        wire::send(&mut stream, &request, &[]).map_err(failed)?;
        let receiver = stream.try_clone().map_err(failed)?;
        let connection = Arc::new(Self {
            hub: hub.to_owned(),
            stream: Mutex::new(stream),
            turn: Mutex::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let listener = Arc::clone(&connection);
        hub::spawn(move || listener.listen(receiver))?;
        Ok(connection)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits for something, or for a failure.
    fn wait<T>(&self, mut take: impl FnMut(&mut State) -> Option<T>) -> Outcome<T> {
        let mut state = self.state();
        loop {
            if let Some(taken) = take(&mut state) {
                return Ok(taken);
            }
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Hears what the hub says, until the end.
    fn listen(&self, mut stream: UnixStream) {
        while let Ok((reply, bytes)) = wire::receive(&mut stream) {
            match reply {
                Reply::Joined => self.change(|state| state.has_joined = true),
                Reply::Done => self.change(|state| state.received = Some(bytes)),
                Reply::Split(part) => self.change(|state| state.split = Some(part)),
                Reply::Failed(failure) => self.fail(failure),
                Reply::Left => {
                    self.state().has_left = true;
                    break;
                }
            }
        }
        let mut state = self.state();
        if !state.has_left && state.failure.is_none() {
            let failure = Code::REMOTE.because(
                "NCCL: the process that made the communicator's id, and serves its calls, was \
                 killed or ended without a word",
            );
            tell_once(&self.hub, &failure.text);
            result::record(&failure.text);
            state.failure = Some(failure);
        }
        state.has_left = true;
        drop(state);
        self.changed.notify_all();
    }

    fn fail(&self, failure: Failure) {
        result::record(&failure.text);
        self.change(|state| {
            state.failure.get_or_insert(failure);
        });
    }

    /// Whether all ranks have joined.
    ///
    /// # Errors
    /// The communicator has failed.
    pub fn has_joined(&self) -> Outcome<bool> {
        let state = self.state();
        state.failure.clone().map_or(Ok(state.has_joined), Err)
    }

    /// Waits until all ranks have joined.
    ///
    /// # Errors
    /// They do not.
    pub fn joined(&self) -> Outcome {
        self.wait(|state| state.has_joined.then_some(()))
    }

    fn send(&self, request: &Request, bytes: &[u8]) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // If it cannot be sent, the connection has ended, and the listener knows why.
        let _ = wire::send(&mut stream, request, &[bytes]);
    }

    /// Tells that a stream will come to calls.
    pub fn announce(&self, calls: &[Call]) {
        self.send(&Request::Submit(calls.to_vec()), &[]);
    }

    /// Makes calls together: sends their bytes, and waits for those that are received.
    ///
    /// # Errors
    /// The communicator has failed.
    pub fn run(&self, calls: &[Call], announced: bool, bytes: &[u8]) -> Outcome<Vec<u8>> {
        let turn = self.turn.lock();
        self.joined()?;
        let calls = calls.to_vec();
        self.send(&Request::Run { calls, announced }, bytes);
        let received = self.wait(|state| state.received.take());
        drop(turn);
        received
    }

    /// Asks for a part in a new communicator.
    ///
    /// # Errors
    /// The communicator has failed.
    pub fn ask_split(&self, color: i32, key: i32) -> Outcome {
        self.joined()?;
        self.send(&Request::Split { color, key }, &[]);
        Ok(())
    }

    /// Waits for that part.
    ///
    /// # Errors
    /// The communicator has failed.
    pub fn split(&self) -> Outcome<Option<Part>> {
        self.wait(|state| state.split.take())
    }

    /// Ends it: calls that wait fail.
    pub fn leave(&self, how: Farewell) {
        if self.state().has_left {
            return;
        }
        if how != Farewell::Destroyed {
            self.change(|state| {
                let failure = match how {
                    Farewell::DeviceFailed => Code::CUDA.because("the device has failed"),
                    _ => Code::INVALID_USAGE.because("the communicator is no longer used"),
                };
                state.failure.get_or_insert(failure);
            });
        }
        self.send(&Request::Leave(how), &[]);
        let waits = |state: &mut State| !state.has_left;
        let _ = self
            .changed
            .wait_timeout_while(self.state(), PATIENCE, waits);
        self.change(|state| state.has_left = true);
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Tells what is wrong, once for each hub: several ranks may be in this process.
fn tell_once(hub: &str, text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.insert(hub.to_owned()) {
        eprintln!("lockstep: {text}");
    }
}
