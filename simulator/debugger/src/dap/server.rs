//! The connection to an editor, for all launches of a program: what it wants, and whether it is
//! still there.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::capabilities::{self, Editor};
use super::framing::{self, NoMessage};
use super::incoming::{Incoming, Received};
use super::request::{Request, event};
use super::wanted::Wanted;
use crate::expression::NoValue;

/// How long [`Server::finish`] waits for the editor to take its leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// What comes after a launch was under control. It runs to its end in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The program goes on, and its next launch comes under control.
    Next,
    /// The editor is gone. The program goes on alone.
    Alone,
    /// The editor wants the program to end.
    Terminate,
}

/// The connection to an editor, for as long as the program lives.
pub struct Server {
    pub(super) incoming: Incoming,
    output: Box<dyn Write + Send>,
    n_sent: i64,
    pub(super) editor: Editor,
    pub(super) wanted: Wanted,
    /// Whether each launch is to halt at its beginning.
    pub(super) stops_on_entry: bool,
    /// Whether each launch is to halt at its end.
    pub(super) stops_at_end: bool,
    is_launched: bool,
    is_configured: bool,
    /// Set once the editor is gone or wants the program to end.
    left: Option<Then>,
}

impl Server {
    /// With an editor at the other end of these streams.
    pub fn new(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        Self {
            incoming: Incoming::new(reader),
            output: Box::new(writer),
            n_sent: 0,
            editor: Editor::default(),
            wanted: Wanted::default(),
            stops_on_entry: false,
            stops_at_end: false,
            is_launched: false,
            is_configured: false,
            left: None,
        }
    }

    /// Over standard input and output, to which nothing else may write then.
    pub fn standard() -> Self {
        Self::new(io::stdin(), io::stdout())
    }

    /// Waits for an editor at a port of this machine, which others cannot reach; 0 is any free one.
    /// `ready` gets the port.
    ///
    /// # Errors
    /// The port cannot be had.
    pub fn listen(port: u16, ready: impl FnOnce(u16)) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        ready(listener.local_addr()?.port());
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(Self::new(stream.try_clone()?, stream))
    }

    /// With an adapter that waits at a port of this machine.
    ///
    /// # Errors
    /// Nobody waits there.
    pub fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self::new(stream.try_clone()?, stream))
    }

    /// Waits until the editor has asked for the program and has said all that it wants. `accept`
    /// looks at the arguments of its `launch` or `attach`, and may refuse them with a sentence; the
    /// editor can ask again then. Gives what `accept` gives; none if the editor leaves.
    pub fn start<T>(&mut self, mut accept: impl FnMut(&Value) -> Result<T, String>) -> Option<T> {
        let mut accepted = None;
        while self.left.is_none() {
            let request = self.next_request()?;
            match request.command.as_str() {
                "launch" | "attach" => match accept(request.arguments()) {
                    Ok(value) => {
                        accepted = Some(value);
                        self.launched(&request);
                    }
                    Err(why) => self.respond(&request, Err(NoValue(why))),
                },
                _ => self.answer_outside(&request),
            }
            if self.is_configured && accepted.is_some() {
                return accepted;
            }
        }
        None
    }

    /// Shows a text that the program has written, to `stdout`, `stderr` or the `console`.
    pub fn output(&mut self, category: &str, text: &str) {
        self.event("output", json!({"category": category, "output": text}));
    }

    /// Tells the editor that the program has ended, and takes leave.
    pub fn finish(&mut self, exit_code: i32) {
        if self.left == Some(Then::Alone) {
            return;
        }
        self.event("exited", json!({"exitCode": exit_code}));
        self.event("terminated", json!({}));
        let end = Instant::now() + FAREWELL;
        while self.left != Some(Then::Alone) {
            let rest = end.saturating_duration_since(Instant::now());
            let Some(received) = self.incoming.next_within(rest) else {
                return;
            };
            if let Some(request) = self.request_of(received) {
                self.answer_outside(&request);
                if request.command == "disconnect" {
                    return;
                }
            }
        }
    }

    /// Waits for the next request; none if no more will come.
    pub(super) fn next_request(&mut self) -> Option<Request> {
        while self.left != Some(Then::Alone) {
            let received = self.incoming.next();
            if let Some(request) = self.request_of(received) {
                return Some(request);
            }
        }
        None
    }

    /// The next request, if it is there.
    pub(super) fn next_request_now(&mut self) -> Option<Request> {
        loop {
            let received = self.incoming.next_now()?;
            if let Some(request) = self.request_of(received) {
                return Some(request);
            }
            if self.left.is_some() {
                return None;
            }
        }
    }

    /// A request; none if something else has arrived.
    fn request_of(&mut self, received: Received) -> Option<Request> {
        match received {
            Ok(message) => {
                let is_response = message.get("type").is_some_and(|ty| ty == "response");
                let request = Request::of(message);
                if request.is_none() && !is_response {
                    self.output("important", "a message that is not a request was ignored\n");
                }
                return request;
            }
            Err(why @ NoMessage::NotJson(_)) => {
                self.output("important", &format!("{why}: it was ignored\n"));
            }
            Err(why) => {
                if let NoMessage::Lost(why) = why {
                    self.output("important", &format!("the conversation ends: {why}\n"));
                }
                self.left = Some(Then::Alone);
            }
        }
        None
    }

    /// Whether the editor has asked for the program and has said all that it wants.
    pub(super) fn is_ready(&self) -> bool {
        self.is_launched && self.is_configured
    }

    /// Lets the program go on alone.
    pub(super) fn detach(&mut self) {
        self.left = Some(Then::Alone);
    }

    /// What has ended the conversation, if something has.
    pub(super) fn left(&self) -> Option<Then> {
        self.left
    }

    fn launched(&mut self, request: &Request) {
        self.is_launched = true;
        self.stops_on_entry = request.is_set("stopOnEntry");
        self.stops_at_end = request.is_set("stopAtEnd");
        self.respond(request, Ok(Value::Null));
    }

    /// Answers a request that needs no launch, or says that there is none.
    fn answer_outside(&mut self, request: &Request) {
        let result = match self.answer(request) {
            Some(result) => result,
            None => match request.command.as_str() {
                "threads" => Ok(json!({"threads": []})),
                "pause" => Ok(Value::Null),
                "dataBreakpointInfo" => Ok(json!({
                    "dataId": null,
                    "description": "memory has names only while a launch is under control",
                })),
                command => match self.wanted.set(request, self.editor, None) {
                    Some(answers) => Ok(json!({"breakpoints": answers})),
                    None => Err(NoValue(format!("`{command}`: no launch is under control"))),
                },
            },
        };
        self.respond(request, result);
        self.after(request);
    }

    /// The answer to a request that is the same with a launch and without.
    pub(super) fn answer(&mut self, request: &Request) -> Option<Result<Value, NoValue>> {
        match request.command.as_str() {
            "initialize" => {
                self.editor = Editor::of(request);
                Some(Ok(capabilities::ours()))
            }
            "configurationDone" => {
                self.is_configured = true;
                Some(Ok(Value::Null))
            }
            "launch" | "attach" => Some(Err(NoValue("the program runs already".to_owned()))),
            "disconnect" => {
                self.left = Some(match request.is_set("terminateDebuggee") {
                    true => Then::Terminate,
                    false => Then::Alone,
                });
                Some(Ok(Value::Null))
            }
            "terminate" => {
                self.left = Some(Then::Terminate);
                Some(Ok(Value::Null))
            }
            _ => None,
        }
    }

    /// What follows a response.
    pub(super) fn after(&mut self, request: &Request) {
        if request.command == "initialize" {
            self.event("initialized", json!({}));
        }
    }

    /// Answers a request.
    pub(super) fn respond(&mut self, request: &Request, result: Result<Value, NoValue>) {
        self.send(request.response(result.map_err(|NoValue(why)| why)));
    }

    /// Tells the editor something that it has not asked for.
    pub(super) fn event(&mut self, name: &str, body: Value) {
        self.send(event(name, body));
    }

    fn send(&mut self, mut message: Value) {
        self.n_sent += 1;
        message["seq"] = json!(self.n_sent);
        if framing::write(&mut *self.output, &message).is_err() {
            self.left.get_or_insert(Then::Alone);
        }
    }
}
