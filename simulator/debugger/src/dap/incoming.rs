//! The thread that reads messages, and halts the launch for them while it runs.

use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::framing::{self, NoMessage};
use super::request::text;

/// What has arrived: a message, or why there is none.
pub type Received = Result<Value, NoMessage>;

/// What halts a launch that runs.
#[derive(Clone)]
pub enum Halt {
    /// Nothing: it does not run.
    Never,
    /// Whatever arrives.
    ForAll(Arc<AtomicBool>),
    /// What means it to halt.
    IfMeant(Arc<AtomicBool>),
}

/// What arrives, in order.
pub struct Incoming {
    queue: Receiver<Received>,
    /// The next, if it was looked for.
    next: Option<Received>,
    halt: Arc<Mutex<Halt>>,
}

impl Incoming {
    /// Reads on a thread of its own, so that a launch that runs can be halted.
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        let (to, queue) = mpsc::channel();
        let halt = Arc::new(Mutex::new(Halt::Never));
        let shared = Arc::clone(&halt);
        std::thread::spawn(move || follow(reader, &to, &shared));
        Self {
            queue,
            next: None,
            halt,
        }
    }

    /// Says what sets the launch's flag from now on.
    pub fn halt(&self, halt: Halt) {
        let mut shared = self.halt.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *shared, halt);
        if let Halt::ForAll(flag) | Halt::IfMeant(flag) = old {
            // It may have been set for something that has been seen to.
            flag.store(false, Ordering::Relaxed);
        }
    }

    /// Whether something has arrived.
    pub fn is_waiting(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.queue.try_recv().ok();
        }
        self.next.is_some()
    }

    /// Waits for the next.
    pub fn next(&mut self) -> Received {
        let next = self.next.take();
        next.unwrap_or_else(|| self.queue.recv().unwrap_or(Err(NoMessage::End)))
    }

    /// Waits for the next, but not longer than this.
    pub fn next_within(&mut self, time: Duration) -> Option<Received> {
        if self.next.is_some() {
            return self.next.take();
        }
        match self.queue.recv_timeout(time) {
            Ok(received) => Some(received),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(NoMessage::End)),
        }
    }

    pub fn next_now(&mut self) -> Option<Received> {
        self.next_within(Duration::ZERO)
    }
}

fn follow(reader: impl Read, to: &Sender<Received>, halt: &Mutex<Halt>) {
    let mut reader = BufReader::new(reader);
    loop {
        let received = framing::read(&mut reader);
        let is_last = matches!(received, Err(NoMessage::End | NoMessage::Lost(_)));
        let is_meant = is_last || means_to_halt(&received);
        if to.send(received).is_err() {
            return;
        }
        // After it is in the queue: who is halted looks there.
        let halt = halt.lock().unwrap_or_else(PoisonError::into_inner);
        match &*halt {
            Halt::ForAll(flag) => flag.store(true, Ordering::Relaxed),
            Halt::IfMeant(flag) if is_meant => flag.store(true, Ordering::Relaxed),
            Halt::IfMeant(_) | Halt::Never => {}
        }
        if is_last {
            return;
        }
    }
}

fn means_to_halt(received: &Received) -> bool {
    let Ok(message) = received else {
        return false;
    };
    let command = text(message, "command");
    matches!(command, Some("pause" | "disconnect" | "terminate"))
}
