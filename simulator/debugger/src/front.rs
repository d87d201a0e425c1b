//! The place where a debugger talks with its user, for programs that do not know of it: their launches halt
//! one after the other.
//!
//! The variable `LOCKSTEP_DEBUG` says where: `terminal`, or `script:FILE`, whose lines are commands
//! for every launch, or `dap:PORT`, where it waits for an editor. In a terminal it is the one that
//! the process belongs to, whatever its input and output are. `dap-to:PORT` is for the
//! [`adapter`](crate::dap::adapter): it waits for the program.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use ptx_sim::debug::Session;

use crate::dap::{Server, Then};
use crate::debugger::{Debugger, Direction, Reason};
use crate::lines;
use crate::sources::Sources;

/// The variable that says where to talk.
pub const VARIABLE: &str = "LOCKSTEP_DEBUG";
/// What a terminal shows when it waits for a command.
pub const PROMPT: &str = "(lockstep) ";

/// Where a debugger talks.
enum Way {
    Terminal,
    Script(Vec<u8>),
    /// An editor, once it is there.
    Editor(Connect, Option<Box<Server>>),
}

/// Where commands come from, where answers go, and the prompt.
type Streams = (Box<dyn BufRead>, Box<dyn Write>, &'static str);

/// Who waits for whom at a port of this machine.
#[derive(Clone, Copy)]
enum Connect {
    Listen(u16),
    To(u16),
}

/// A debugger's user, for all launches of a process.
pub struct Front {
    way: Way,
    folders: Vec<PathBuf>,
    /// Breakpoints of earlier launches, as they are written.
    breakpoints: Vec<String>,
    n_launches: u64,
    is_detached: bool,
}

impl Front {
    /// As the variable says; none if it is not set.
    ///
    /// # Errors
    /// It says something else, or the script cannot be read.
    pub fn from_environment() -> Result<Option<Self>, String> {
        let Some(value) = std::env::var_os(VARIABLE) else {
            return Ok(None);
        };
        let value = value.to_string_lossy();
        let way = match value.split_once(':') {
            None if matches!(&*value, "terminal" | "1") => Way::Terminal,
            None if matches!(&*value, "" | "0") => return Ok(None),
            Some(("script", file)) => {
                let text = std::fs::read(file)
                    .map_err(|error| format!("{VARIABLE}: the script {file}: {error}"))?;
                Way::Script(text)
            }
            other => match other.and_then(|(word, port)| editor(word, port)) {
                Some(connect) => Way::Editor(connect, None),
                None => {
                    return Err(format!(
                        "{VARIABLE}={value}: it is `terminal`, `script:FILE` or `dap:PORT`"
                    ));
                }
            },
        };
        Ok(Some(Self::new(way)))
    }

    /// In the terminal.
    pub fn terminal() -> Self {
        Self::new(Way::Terminal)
    }

    fn new(way: Way) -> Self {
        Self {
            way,
            folders: Vec::new(),
            breakpoints: Vec::new(),
            n_launches: 0,
            is_detached: false,
        }
    }

    /// Looks for source files in a folder, too.
    pub fn add_folder(&mut self, folder: PathBuf) {
        if !self.folders.contains(&folder) {
            self.folders.push(folder);
        }
    }

    /// Talks about a launch, until it is to run to its end. If there are breakpoints from an
    /// earlier one, it begins where this one first comes to one of them.
    ///
    /// # Errors
    /// Reading or writing fails.
    pub fn control(&mut self, session: &mut Session<'_, '_>) -> io::Result<()> {
        self.n_launches += 1;
        if self.is_detached {
            return Ok(());
        }
        if let Way::Editor(connect, server) = &mut self.way {
            let sources = Sources::new(self.folders.clone());
            return edited(*connect, server, session, sources);
        }
        let (mut input, mut output, prompt) = self.streams()?;
        let kernel = session.module().functions[session.kernel()].name.clone();
        let mut debugger = Debugger::new(session, Sources::new(self.folders.clone()));
        let is_script = matches!(self.way, Way::Script(_));
        if let Some(stop) = self.first_stop(&mut debugger, is_script) {
            let kernel = ptx_sim::readable(&kernel);
            writeln!(output, "launch {}: {kernel}\n{stop}", self.n_launches)?;
            let talked = lines::talk(&mut debugger, &mut input, &mut output, prompt)?;
            self.is_detached = talked.has_detached;
        }
        let known = debugger.breakpoints().iter();
        self.breakpoints = known.map(|breakpoint| breakpoint.text.clone()).collect();
        Ok(())
    }

    /// Where a launch is halted first; none if it passes all breakpoints.
    fn first_stop(&self, debugger: &mut Debugger<'_, '_, '_>, is_script: bool) -> Option<String> {
        let mut n_known = 0;
        for text in self.breakpoints.iter().filter(|_| !is_script) {
            // A breakpoint may be in a kernel that this module does not have.
            n_known += u32::from(debugger.add_breakpoint(text).is_ok());
        }
        if self.breakpoints.is_empty() || is_script {
            return Some(debugger.where_text());
        }
        if n_known == 0 {
            return None;
        }
        let stop = debugger.go_on(Direction::Forwards);
        match stop.reason {
            Reason::End(None) => None,
            _ => Some(debugger.stop_text(&stop)),
        }
    }

    fn streams(&self) -> io::Result<Streams> {
        match &self.way {
            Way::Script(text) => {
                let input = Box::new(io::Cursor::new(text.clone()));
                Ok((input, Box::new(io::stderr()), ""))
            }
            Way::Terminal | Way::Editor(..) => {
                let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
                let Ok(terminal) = terminal else {
                    // Commands come from a pipe.
                    let input = Box::new(BufReader::new(io::stdin()));
                    return Ok((input, Box::new(io::stderr()), ""));
                };
                let output: Box<dyn Write> = match terminal.try_clone() {
                    Ok(output) => Box::new(output),
                    Err(_) => Box::new(io::stderr()),
                };
                Ok((Box::new(BufReader::new(terminal)), output, PROMPT))
            }
        }
    }
}

/// How an editor is reached.
fn editor(word: &str, port: &str) -> Option<Connect> {
    let port = port.parse().ok()?;
    match word {
        "dap" => Some(Connect::Listen(port)),
        "dap-to" => Some(Connect::To(port)),
        _ => None,
    }
}

/// Puts a launch under an editor's control, which is waited for if it is the first.
fn edited(
    connect: Connect,
    server: &mut Option<Box<Server>>,
    session: &mut Session<'_, '_>,
    sources: Sources,
) -> io::Result<()> {
    let server = match server {
        Some(server) => server,
        None => {
            let ready = |port| eprintln!("waiting for an editor at 127.0.0.1:{port}");
            server.insert(Box::new(match connect {
                Connect::Listen(port) => Server::listen(port, ready)?,
                Connect::To(port) => Server::connect(port)?,
            }))
        }
    };
    match server.control(&mut Debugger::new(session, sources)) {
        Then::Next | Then::Alone => Ok(()),
        // The user has ended it; nothing went wrong that it could tell.
        Then::Terminate => std::process::exit(1),
    }
}

/// The variable by which a program is told to connect to an adapter that waits at a port, and its
/// value.
pub fn to_adapter(port: u16) -> (String, String) {
    (VARIABLE.to_owned(), format!("dap-to:{port}"))
}

/// Talks about a launch as `LOCKSTEP_DEBUG` says, in the terminal if it says nothing.
///
/// # Errors
/// The variable says what is not there; or reading or writing fails.
pub fn control(session: &mut Session<'_, '_>, folders: &[PathBuf]) -> io::Result<()> {
    static FRONT: OnceLock<Mutex<Result<Front, String>>> = OnceLock::new();
    let new = || {
        let known = Front::from_environment();
        Mutex::new(known.map(|front| front.unwrap_or_else(Front::terminal)))
    };
    let mut front = FRONT
        .get_or_init(new)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match &mut *front {
        Ok(front) => {
            folders.iter().for_each(|f| front.add_folder(f.clone()));
            front.control(session)
        }
        Err(error) => Err(io::Error::other(error.clone())),
    }
}
