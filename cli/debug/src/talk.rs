//! Who talks with the debugger: someone at a terminal, a script or a pipe, or an editor.

use crate::options::Options;
use debugger::dap::Server;
use debugger::{Debugger, front, lines, sources::Sources};
use host::home::home;
use ptx_sim::debug::Session;
use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

/// Who talks.
pub struct Talk {
    way: Way,
    /// Whether something could not be carried out.
    has_failed: Cell<bool>,
}

enum Way {
    Text {
        options: Box<Options>,
        input: RefCell<Box<dyn BufRead>>,
    },
    Editor(RefCell<Box<Server>>),
}

impl Talk {
    /// By a full-screen view or lines of text.
    pub fn in_text(options: Options) -> anyhow::Result<Self> {
        let input = RefCell::new(options.input()?);
        let options = Box::new(options);
        Ok(Self::new(Way::Text { options, input }))
    }

    /// With an editor.
    pub fn with_editor(server: Server) -> Self {
        Self::new(Way::Editor(RefCell::new(Box::new(server))))
    }

    fn new(way: Way) -> Self {
        let has_failed = Cell::new(false);
        Self { way, has_failed }
    }

    /// Says how the lesson goes.
    pub fn say(&self, text: &str) {
        match &self.way {
            Way::Text { .. } => eprintln!("{text}"),
            Way::Editor(server) => server.borrow_mut().output("console", &format!("{text}\n")),
        }
    }

    /// Takes leave.
    pub fn finish(&self) -> ExitCode {
        if let Way::Editor(server) = &self.way {
            server.borrow_mut().finish(0);
        }
        match self.has_failed.get() {
            false => ExitCode::SUCCESS,
            true => ExitCode::FAILURE,
        }
    }

    /// Talks about a launch, until it is to run to its end.
    pub fn about(&self, session: &mut Session<'_, '_>) {
        let root = home().ok().map(|home| home.source(""));
        let mut debugger = Debugger::new(session, Sources::new(root));
        match &self.way {
            Way::Editor(server) => {
                server.borrow_mut().control(&mut debugger);
            }
            Way::Text { options, input } => {
                if let Err(error) = self.in_lines(&mut debugger, options, &mut *input.borrow_mut())
                {
                    eprintln!("error: {error}");
                    self.has_failed.set(true);
                }
            }
        }
    }

    fn in_lines(
        &self,
        debugger: &mut Debugger<'_, '_, '_>,
        options: &Options,
        input: &mut dyn BufRead,
    ) -> io::Result<()> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let is_typed = is_terminal && !options.is_scripted();
        let mut output = io::stdout();
        let first = options.first_commands();
        match first.is_empty() {
            true if is_typed && !options.lines => {}
            true => println!("{}", debugger.where_text()),
            false => {
                let talked = lines::talk(debugger, &mut first.as_bytes(), &mut output, "")?;
                self.note(talked);
            }
        }
        if is_typed && !options.lines {
            return debugger_view::run(debugger).map(drop);
        }
        let prompt = if is_typed { front::PROMPT } else { "" };
        let talked = lines::talk(debugger, input, &mut output, prompt)?;
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
