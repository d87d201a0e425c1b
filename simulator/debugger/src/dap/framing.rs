//! Messages in a stream of bytes: a header with their length, an empty line, and JSON.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// The longest message that is read, in bytes.
const LONGEST: usize = 1 << 24;
/// The longest line of a header.
const LONGEST_LINE: u64 = 1 << 10;

/// Why there is no message.
#[derive(Debug)]
pub enum NoMessage {
    /// The stream has ended, between two messages.
    End,
    /// What has arrived is not JSON. The next message can be read.
    NotJson(String),
    /// It is not known where the next message begins.
    Lost(String),
}

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the client has closed the connection"),
            Self::NotJson(why) => write!(f, "a message is not JSON: {why}"),
            Self::Lost(why) => f.write_str(why),
        }
    }
}

impl From<io::Error> for NoMessage {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

/// Reads a message.
///
/// # Errors
/// Why there is none.
pub fn read(from: &mut impl BufRead) -> Result<Value, NoMessage> {
    let length = header(from)?;
    if length > LONGEST {
        return Err(NoMessage::Lost(format!(
            "a message of {length} bytes: there may be {LONGEST}"
        )));
    }
    let mut bytes = Vec::new();
    let n = from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    if n < length {
        return Err(NoMessage::Lost(format!(
            "the connection ended {n} bytes into a message of {length}"
        )));
    }
    serde_json::from_slice(&bytes).map_err(|error| NoMessage::NotJson(error.to_string()))
}

/// The length that a header names.
fn header(from: &mut impl BufRead) -> Result<usize, NoMessage> {
    let mut length = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        let n = from
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if n == 0 && is_first {
            return Err(NoMessage::End);
        }
        if !line.ends_with(b"\n") {
            return Err(NoMessage::Lost("a header without an end".to_owned()));
        }
        is_first = false;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            return length
                .ok_or_else(|| NoMessage::Lost("a header without `Content-Length`".to_owned()));
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.trim().eq_ignore_ascii_case("content-length") {
            let known = value.trim().parse();
            let known = known.map_err(|_| NoMessage::Lost(format!("`{line}` names no length")))?;
            length = Some(known);
        }
    }
}

/// Writes a message.
///
/// # Errors
/// It cannot be written.
pub fn write(to: &mut dyn Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let message = serde_json::json!({"seq": 1, "text": "größer"});
        let mut bytes = Vec::new();
        write(&mut bytes, &message).expect("a vector takes all");
        write(&mut bytes, &message).expect("a vector takes all");
        let mut from = bytes.as_slice();
        assert_eq!(read(&mut from).expect("the first"), message);
        assert_eq!(read(&mut from).expect("the second"), message);
        assert!(matches!(read(&mut from), Err(NoMessage::End)));
    }

    #[test]
    fn nonsense_is_named() {
        let long = "x".repeat(1 << 12);
        for (text, is_lost) in [
            ("Content-Length: 2\r\n\r\n{}", None),
            ("content-length:2\n\n{}", None),
            ("Other: 1\r\nContent-Length: 2\r\n\r\n{}", None),
            ("Content-Length: 3\r\n\r\n{]}", Some(false)),
            ("Content-Length: 9\r\n\r\n{}", Some(true)),
            ("Content-Length: -1\r\n\r\n{}", Some(true)),
            ("Content-Length: 99999999999\r\n\r\n{}", Some(true)),
            (
                "Content-Length: 99999999999999999999999\r\n\r\n",
                Some(true),
            ),
            ("Content-Length: 2", Some(true)),
            ("\r\n{}", Some(true)),
            (long.as_str(), Some(true)),
        ] {
            let found = match read(&mut text.as_bytes()) {
                Ok(_) => None,
                Err(NoMessage::NotJson(_)) => Some(false),
                Err(_) => Some(true),
            };
            assert_eq!(found, is_lost, "{text:.40}");
        }
    }
}
