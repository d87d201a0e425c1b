//! The adapter that an editor starts: it starts the program, and passes messages between the two.
//!
//! The program halts its launches in a debugger of its own ([`front`](crate::front)), which connects
//! to this process. Until then the adapter answers `initialize`, keeps what the editor has sent, and
//! shows what the program writes. It ends the program when the editor wants that or is gone.
//!
//! Left out: programs that read from standard input, terminals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::capabilities;
use super::framing::{self, NoMessage};
use super::request::{Request, event, text};

/// How often it is looked whether the program has connected or ended.
const PAUSE: Duration = Duration::from_millis(20);
/// How long an editor has to take its leave from a program that has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the adapter and the program tell the editor.
#[derive(Clone)]
struct Editor(Arc<Mutex<(Box<dyn Write + Send>, i64)>>);

impl Editor {
    fn send(&self, mut message: Value) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.1 += 1;
        message["seq"] = json!(inner.1);
        // An editor that is gone is noticed where its messages are read.
        let _ = framing::write(&mut *inner.0, &message);
    }

    fn event(&self, name: &str, body: Value) {
        self.send(event(name, body));
    }

    fn respond(&self, request: &Request, result: Result<Value, String>) {
        self.send(request.response(result));
    }
}

/// Serves an editor that wants to debug a program. `variable` is the environment's by which a
/// program is told to connect, with its value for a port.
///
/// The arguments of `launch` are `program` and `args`, or `command`, a list; `cwd` and `env`.
///
/// # Errors
/// No port can be had.
pub fn serve(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    variable: impl Fn(u16) -> (String, String),
) -> std::io::Result<()> {
    let editor = Editor(Arc::new(Mutex::new((Box::new(writer), 0))));
    let mut from = BufReader::new(reader);
    let Some((first, launch)) = beginning(&mut from, &editor) else {
        return Ok(());
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (name, value) = variable(listener.local_addr()?.port());
    let command = command(launch.arguments(), &name, &value);
    let mut child = match command.and_then(|mut command| {
        let text = format!("{command:?}");
        command.spawn().map_err(|error| format!("{text}: {error}"))
    }) {
        Ok(child) => child,
        Err(why) => {
            editor.respond(&launch, Err(why));
            editor.event("terminated", json!({}));
            return Ok(());
        }
    };
    for (stream, category) in [
        (child.stdout.take().map(boxed), "stdout"),
        (child.stderr.take().map(boxed), "stderr"),
    ] {
        let editor = editor.clone();
        thread::spawn(move || show(stream, category, &editor));
    }
    let program = Arc::new(Mutex::new(Program::default()));
    let (own, shown) = (Arc::clone(&program), editor.clone());
    thread::spawn(move || follow(&mut from, &shown, &own));
    let first = [first, launch.clone()];
    attend(&mut child, &listener, &program, &editor, &first);
    let end = Instant::now() + FAREWELL;
    while !is_to_end(&program) && Instant::now() < end {
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// What is known of the program while the editor is listened to.
#[derive(Default)]
struct Program {
    /// The connection, once there is one.
    connection: Option<TcpStream>,
    /// What the editor has sent before.
    waiting: Vec<Value>,
    /// Whether the editor wants the program to end, or is gone.
    is_to_end: bool,
}

/// The editor's requests up to the one that starts the program; none if it leaves before.
fn beginning(from: &mut impl BufRead, editor: &Editor) -> Option<(Request, Request)> {
    let mut first = None;
    loop {
        let message = match framing::read(from) {
            Ok(message) => message,
            Err(NoMessage::NotJson(_)) => continue,
            Err(_) => return None,
        };
        let Some(request) = Request::of(message) else {
            continue;
        };
        match (request.command.as_str(), first.take()) {
            ("initialize", _) => {
                editor.respond(&request, Ok(capabilities::ours()));
                first = Some(request);
            }
            ("launch", Some(known)) => return Some((known, request)),
            ("disconnect", _) => {
                editor.respond(&request, Ok(Value::Null));
                return None;
            }
            (command, known) => {
                let why = format!("`{command}`: no program was launched; to attach, name its port");
                editor.respond(&request, Err(why));
                first = known;
            }
        }
    }
}

/// The command that arguments name.
fn command(arguments: &Value, name: &str, value: &str) -> Result<Command, String> {
    let texts = |name: &str| -> Vec<String> {
        let list = arguments.get(name).and_then(Value::as_array);
        let all = list.into_iter().flatten().filter_map(Value::as_str);
        all.map(str::to_owned).collect()
    };
    let mut words = texts("command");
    if let Some(program) = text(arguments, "program") {
        words = vec![program.to_owned()];
        words.extend(texts("args"));
    }
    let mut words = words.into_iter();
    let program = words
        .next()
        .ok_or("give a `program`, or a `command` as a list")?;
    let mut command = Command::new(program);
    command.args(words);
    if let Some(folder) = text(arguments, "cwd") {
        command.current_dir(folder);
    }
    let environment = arguments.get("env").and_then(Value::as_object);
    for (name, value) in environment.into_iter().flatten() {
        match value.as_str() {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(name, value).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

fn boxed(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(stream)
}

/// Shows what the program writes, line by line.
fn show(stream: Option<Box<dyn Read + Send>>, category: &str, editor: &Editor) {
    let Some(stream) = stream else {
        return;
    };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = stream.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        editor.event("output", json!({"category": category, "output": text}));
        line.clear();
    }
}

/// Passes the editor's messages on, until it wants the program to end or is gone.
fn follow(from: &mut impl BufRead, editor: &Editor, program: &Mutex<Program>) {
    loop {
        let message = framing::read(from);
        let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
        let message = match message {
            Ok(message) => message,
            Err(NoMessage::NotJson(_)) => continue,
            Err(_) => {
                program.is_to_end = true;
                return;
            }
        };
        if let Some("disconnect" | "terminate") = text(&message, "command") {
            if let Some(request) = Request::of(message) {
                editor.respond(&request, Ok(Value::Null));
            }
            program.is_to_end = true;
            return;
        }
        match &mut program.connection {
            // A program that has ended is noticed elsewhere.
            Some(connection) => drop(framing::write(connection, &message)),
            None => program.waiting.push(message),
        }
    }
}

fn is_to_end(program: &Mutex<Program>) -> bool {
    let program = program.lock().unwrap_or_else(PoisonError::into_inner);
    program.is_to_end
}

/// Waits for the program to connect, and then to end.
fn attend(
    child: &mut Child,
    listener: &TcpListener,
    program: &Mutex<Program>,
    editor: &Editor,
    first: &[Request; 2],
) {
    let _ = listener.set_nonblocking(true);
    let mut relay = None;
    let mut n_accepted = 0;
    let status = loop {
        if let Ok((stream, _)) = listener.accept()
            && n_accepted == 0
        {
            n_accepted += 1;
            relay = connect(&stream, program, editor, first);
        }
        if let Ok(Some(status)) = child.try_wait() {
            break status.code();
        }
        if is_to_end(program) {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        thread::sleep(PAUSE);
    };
    if let Some(relay) = relay {
        // What the program said last.
        let _ = relay.join();
    } else {
        let why = "the program has ended, and launched no kernel on the simulator in a debugger";
        editor.respond(&first[1], Err(why.to_owned()));
    }
    editor.event("exited", json!({"exitCode": status.unwrap_or(1)}));
    editor.event("terminated", json!({}));
}

/// Sends the program what the editor has said, and passes on what it answers.
fn connect(
    stream: &TcpStream,
    program: &Mutex<Program>,
    editor: &Editor,
    first: &[Request; 2],
) -> Option<thread::JoinHandle<()>> {
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_nodelay(true);
    let mut to = stream.try_clone().ok()?;
    let mut from = BufReader::new(stream.try_clone().ok()?);
    let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
    let first = first.iter().map(Request::message);
    for message in first.chain(program.waiting.drain(..)) {
        framing::write(&mut to, &message).ok()?;
    }
    program.connection = Some(to);
    let editor = editor.clone();
    Some(thread::spawn(move || {
        while let Ok(message) = framing::read(&mut from) {
            // The editor has had this answer.
            if text(&message, "command") != Some("initialize") {
                editor.send(message);
            }
        }
    }))
}
