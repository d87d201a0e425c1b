//! The thread that reads messages, and halts the launch for them while it runs.

use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::framing::{self, NoMessage};

/// What has arrived.
pub enum Received {
    /// A message.
    Message(Value),
    /// Something that is no message.
    Nonsense(String),
    /// No more will come, and why if that is wrong.
    Closed(Option<String>),
}

/// The flag that halts the launch under control, if there is one.
type Interrupt = Arc<Mutex<Option<Arc<AtomicBool>>>>;

/// What arrives, in order.
pub struct Incoming {
    queue: Receiver<Received>,
    interrupt: Interrupt,
}

impl Incoming {
    /// Reads on a thread of its own, so that a launch that runs can be halted.
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        let (to, queue) = mpsc::channel();
        let interrupt = Interrupt::default();
        let flag = Arc::clone(&interrupt);
        std::thread::spawn(move || follow(reader, &to, &flag));
        Self { queue, interrupt }
    }

    /// Sets the flag whenever something arrives. It says no more than that, and that it is set
    /// without anything in the queue means nothing.
    pub fn interrupts(&self, flag: Option<Arc<AtomicBool>>) {
        *self
            .interrupt
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = flag;
    }

    /// Waits for the next.
    pub fn next(&self) -> Received {
        self.queue.recv().unwrap_or(Received::Closed(None))
    }

    /// Waits for the next, but not longer than this.
    pub fn next_within(&self, time: Duration) -> Option<Received> {
        match self.queue.recv_timeout(time) {
            Ok(received) => Some(received),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Received::Closed(None)),
        }
    }

    /// The next, if it is there.
    pub fn next_now(&self) -> Option<Received> {
        self.next_within(Duration::ZERO)
    }
}

fn follow(reader: impl Read, to: &Sender<Received>, interrupt: &Interrupt) {
    let mut reader = BufReader::new(reader);
    loop {
        let received = match framing::read(&mut reader) {
            Ok(message) => Received::Message(message),
            Err(NoMessage::End) => Received::Closed(None),
            Err(error @ NoMessage::NotJson(_)) => Received::Nonsense(error.to_string()),
            Err(error @ NoMessage::Lost(_)) => Received::Closed(Some(error.to_string())),
        };
        let is_last = matches!(received, Received::Closed(_));
        if to.send(received).is_err() {
            return;
        }
        // After it is in the queue: who is halted looks there.
        let flag = interrupt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = &*flag {
            flag.store(true, Ordering::Relaxed);
        }
        if is_last {
            return;
        }
    }
}
