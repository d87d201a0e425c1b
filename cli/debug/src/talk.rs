//! The conversation with the debugger, led by someone at a terminal, a script or a pipe, or whoever
//! `LOCKSTEP_DEBUG` names.

use crate::options::{Options, Wrong};
use debugger::{Debugger, front, lines, sources::Sources};
use host::home::home;
use ptx_sim::debug::Session;
use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

/// Who talks.
pub struct Talk {
    options: Options,
    wrong: Option<Wrong>,
    input: RefCell<Box<dyn BufRead>>,
    has_failed: Cell<bool>,
}

impl Talk {
    /// As the options say.
    pub fn new(options: Options, wrong: Option<Wrong>) -> anyhow::Result<Self> {
        Ok(Self {
            wrong,
            input: RefCell::new(options.input()?),
            options,
            has_failed: Cell::new(false),
        })
    }

    /// Whether something could not be carried out.
    pub fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Talks about a launch, until it is to run to its end.
    pub fn about(&self, session: &mut Session<'_, '_>) {
        let root: Vec<PathBuf> = home().iter().map(|home| home.source("")).collect();
        let talked = match std::env::var_os(front::VARIABLE) {
            Some(_) => front::control(session, &root),
            None => {
                let mut debugger = Debugger::new(session, Sources::new(root));
                self.in_text(&mut debugger)
            }
        };
        if let Err(error) = talked {
            eprintln!("error: {error}");
            self.has_failed.set(true);
        }
    }

    fn in_text(&self, debugger: &mut Debugger<'_, '_, '_>) -> io::Result<()> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let is_typed = is_terminal && !self.options.is_scripted();
        let has_view = is_typed && !self.options.lines;
        let mut output = io::stdout();
        let first = self.options.first_commands(self.wrong.as_ref());
        for line in first.lines() {
            let talked = lines::talk(debugger, &mut line.as_bytes(), &mut output, "")?;
            self.note(talked);
            // Without its breakpoint the launch would run to its end.
            if talked.n_refused > 0 {
                break;
            }
        }
        if first.is_empty() && !has_view {
            println!("{}", debugger.where_text());
        }
        if has_view {
            return debugger_view::run(debugger).map(drop);
        }
        let prompt = if is_typed { front::PROMPT } else { "" };
        let mut input = self.input.borrow_mut();
        let talked = lines::talk(debugger, &mut **input, &mut output, prompt)?;
        if !is_typed {
            self.note(talked);
        }
        Ok(())
    }

    fn note(&self, talked: lines::Talked) {
        let has_failed = talked.n_refused > 0;
        self.has_failed.set(self.has_failed.get() | has_failed);
    }
}
