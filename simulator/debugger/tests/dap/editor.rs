//! An editor for tests: requests, and the responses and events that follow.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::launches::{self, Ended};

/// An editor with a program at the other end.
pub struct Editor {
    to: PipeWriter,
    from: BufReader<PipeReader>,
    n_sent: i64,
    /// Events that nobody has waited for.
    events: Vec<Value>,
    program: JoinHandle<Ended>,
}

impl Editor {
    /// Of a program with `n` launches.
    pub fn new(ptx: &str, n: usize) -> Self {
        let (input, to) = std::io::pipe().expect("a pipe");
        let (from, output) = std::io::pipe().expect("a pipe");
        Self {
            to,
            from: BufReader::new(from),
            n_sent: 0,
            events: Vec::new(),
            program: launches::launch(ptx, n, input, output),
        }
    }

    /// The same, initialized and launched with these arguments; all else is still to be said.
    pub fn launched(ptx: &str, n: usize, arguments: Value) -> Self {
        let mut editor = Self::new(ptx, n);
        let body = editor.ask("initialize", json!({"adapterID": "lockstep"}));
        assert_eq!(body["supportsStepBack"], true);
        editor.event("initialized");
        editor.ask("launch", arguments);
        editor
    }

    /// The same, halted at the beginning of its launch.
    pub fn at_entry(ptx: &str) -> Self {
        let mut editor = Self::launched(ptx, 1, json!({"stopOnEntry": true}));
        editor.ask("configurationDone", json!({}));
        assert_eq!(editor.stop()["reason"], "entry");
        editor
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        // The program may have hung up.
        let _ = self.to.write_all(bytes);
    }

    /// Sends a message, whatever it is.
    pub fn send_text(&mut self, text: &str) {
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.send_bytes(framed.as_bytes());
    }

    /// Sends a request; gives its number.
    pub fn send(&mut self, command: &str, arguments: Value) -> i64 {
        self.n_sent += 1;
        let seq = self.n_sent;
        let request = json!({
            "seq": seq, "type": "request", "command": command, "arguments": arguments,
        });
        self.send_text(&request.to_string());
        seq
    }

    /// What a request is answered: its body, or why it is refused.
    pub fn try_ask(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        let seq = self.send(command, arguments);
        self.response(seq)
    }

    /// The response to the request of a number.
    pub fn response(&mut self, seq: i64) -> Result<Value, String> {
        loop {
            let message = self.read().expect("a response");
            if message["type"] == "event" {
                self.events.push(message);
                continue;
            }
            assert_eq!(message["request_seq"], seq, "{message}");
            let text = message["message"].as_str().unwrap_or_default();
            return match message["success"] == true {
                true => Ok(message["body"].clone()),
                false => Err(text.to_owned()),
            };
        }
    }

    /// The body of a response.
    pub fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.try_ask(command, arguments.clone());
        answer.unwrap_or_else(|why| panic!("{command} {arguments}: {why}"))
    }

    /// The body of the next event of a name.
    pub fn event(&mut self, name: &str) -> Value {
        loop {
            let mut events = self.events.iter();
            if let Some(index) = events.position(|event| event["event"] == name) {
                return self.events.remove(index)["body"].take();
            }
            let message = self.read().unwrap_or_else(|| panic!("no event {name}"));
            assert_eq!(message["type"], "event", "{message}");
            self.events.push(message);
        }
    }

    /// Why the launch is halted next.
    pub fn stop(&mut self) -> Value {
        self.event("stopped")
    }

    /// Moves the thread of the last stop, and gives why the launch is halted then.
    pub fn go(&mut self, command: &str, thread: &Value) -> Value {
        self.ask(command, json!({"threadId": thread}));
        self.stop()
    }

    pub fn frames(&mut self, thread: &Value) -> Vec<Value> {
        let body = self.ask("stackTrace", json!({"threadId": thread}));
        body["stackFrames"].as_array().expect("a list").clone()
    }

    /// The line of a thread's innermost frame.
    pub fn line(&mut self, thread: &Value) -> i64 {
        let frames = self.frames(thread);
        frames[0]["line"].as_i64().expect("a line")
    }

    pub fn value(&mut self, frame: &Value, expression: &str) -> String {
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        let body = self.ask("evaluate", arguments);
        body["result"].as_str().expect("a text").to_owned()
    }

    /// What a command says in the console.
    pub fn command(&mut self, text: &str) -> String {
        let body = self.ask("evaluate", json!({"expression": text, "context": "repl"}));
        body["result"].as_str().expect("a text").to_owned()
    }

    /// What a reference unfolds to, by its arguments.
    pub fn unfold(&mut self, arguments: Value) -> Vec<Value> {
        let body = self.ask("variables", arguments);
        body["variables"].as_array().expect("a list").clone()
    }

    /// Sets breakpoints in the kernel's source.
    pub fn set_lines(&mut self, breakpoints: Value) -> Value {
        let path = launches::folder().join("rotate.cu");
        let source = json!({"path": path.to_string_lossy()});
        let arguments = json!({"source": source, "breakpoints": breakpoints});
        self.ask("setBreakpoints", arguments)["breakpoints"].take()
    }

    /// Closes the connection and waits for the program.
    pub fn leave(self) -> Ended {
        drop(self.to);
        drop(self.from);
        self.program.join().expect("the program does not panic")
    }

    /// Waits for the program while the connection stays open.
    pub fn wait(mut self) -> Ended {
        let _to = self.to;
        let mut rest = Vec::new();
        let _ = self.from.read_to_end(&mut rest);
        self.program.join().expect("the program does not panic")
    }

    fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(n) => length = n.parse().expect("a length"),
                None if line.trim_end().is_empty() => break,
                None => panic!("`{line}`"),
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).ok()?;
        Some(serde_json::from_slice(&bytes).expect("JSON"))
    }
}
