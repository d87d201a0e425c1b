//! Messages between ranks and their hub: a header in JSON, followed by the bytes of buffers.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::result::Failure;

/// Memory that is reserved before anything has come.
const MOST_AT_ONCE: u64 = 64 << 20;

/// A rank, as it introduces itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Introduction {
    /// Its number.
    pub rank: usize,
    /// Number of ranks that it expects.
    pub n_ranks: usize,
    /// Its process.
    pub process: u32,
    /// Its device, by the process's numbers.
    pub device: i32,
}

/// How a rank leaves its communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Farewell {
    /// By `ncclCommDestroy`.
    Destroyed,
    /// By `ncclCommAbort`.
    Aborted,
    /// Its process ends.
    Exited,
    /// Its device has failed, so that what it should have sent does not exist.
    DeviceFailed,
}

/// What a rank says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// The first message.
    Join(Introduction),
    /// Calls that the client has submitted to a stream, which has not come to them yet.
    Submit(Vec<Call>),
    /// Calls that are done together; with the bytes to send, in order.
    Run {
        /// The calls.
        calls: Vec<Call>,
        /// Whether they were announced when they were submitted.
        announced: bool,
    },
    /// `ncclCommSplit`
    Split {
        /// The new communicator; none if negative.
        color: i32,
        /// The order in it.
        key: i32,
    },
    /// The last message.
    Leave(Farewell),
}

/// A part in a communicator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The name of its hub.
    pub hub: String,
    /// The rank.
    pub rank: usize,
    /// Number of ranks.
    pub n_ranks: usize,
}

/// What the hub says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// All ranks have joined.
    Joined,
    /// The calls are done; with the received bytes, in order.
    Done,
    /// The part in a new communicator.
    Split(Option<Part>),
    /// The communicator is unusable.
    Failed(Failure),
    /// Farewell.
    Left,
}

/// Sends a message with the bytes that go with it.
pub fn send(to: &mut UnixStream, message: &impl Serialize, bytes: &[&[u8]]) -> io::Result<()> {
    let header = serde_json::to_vec(message)?;
    let n_bytes: usize = bytes.iter().map(|part| part.len()).sum();
    let mut first = Vec::with_capacity(header.len() + 16);
    first.extend_from_slice(&(header.len() as u64).to_le_bytes());
    first.extend_from_slice(&(n_bytes as u64).to_le_bytes());
    first.extend_from_slice(&header);
    to.write_all(&first)?;
    bytes.iter().try_for_each(|part| to.write_all(part))
}

/// Receives a message and the bytes that go with it.
pub fn receive<T: DeserializeOwned>(from: &mut UnixStream) -> io::Result<(T, Vec<u8>)> {
    let mut sizes = [0; 16];
    from.read_exact(&mut sizes)?;
    let size = |at: usize| {
        let mut size = [0; 8];
        size.copy_from_slice(&sizes[at..at + 8]);
        u64::from_le_bytes(size)
    };
    let mut read = |n: u64| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(n.min(MOST_AT_ONCE) as usize);
        let n_read = Read::by_ref(from).take(n).read_to_end(&mut bytes)?;
        match n_read as u64 == n {
            true => Ok(bytes),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    };
    let header = read(size(0))?;
    let bytes = read(size(8))?;
    Ok((serde_json::from_slice(&header)?, bytes))
}
