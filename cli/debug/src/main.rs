//! `cargo xtask debug KERNEL`: a lesson's kernel under the debugger.
//!
//! The lesson runs as always, on the simulator. Launches of the kernel are halted at their
//! beginning; when the debugger lets one go, it runs to its end, and the lesson checks its result.

mod options;

use anyhow::{Context, anyhow, bail};
use clap::Parser;
use debugger::{Debugger, lines, sources::Sources};
use host::home::home;
use host::{kernels, registry};
use lesson::{Registered, Shape};
use lockstep::engine::sim::Sim;
use options::{Options, Way};
use ptx_sim::debug::Session;
use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;
use std::rc::Rc;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Who talks with the debugger.
struct Talk {
    options: Options,
    /// Commands that could not be carried out.
    n_refused: Cell<u32>,
    n_launches: Cell<u64>,
    input: RefCell<Box<dyn BufRead>>,
}

fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let registered = registry::kernel(&options.kernel).map_err(|error| anyhow!("{error}"))?;
    let default = cli::explain::default_shape(registered);
    let shape = cli::shape::among(registered, options.shape.as_deref(), default);
    let shape = shape.map_err(|what| anyhow!(what))?;
    let talk = Rc::new(Talk {
        options: options.clone(),
        n_refused: Cell::new(0),
        n_launches: Cell::new(0),
        input: RefCell::new(options.input()?),
    });
    let sim = simulator(registered, options)?;
    sim.launch_by(Some(launcher(registered, Rc::clone(&talk))));
    eprintln!("{} at {shape} on the simulator", registered.kernel.id);
    let ended = cli::profile::run_case(registered, &shape, &sim);
    if talk.n_launches.get() < options.launch {
        bail!(
            "the lesson launches `{}` {} times at {shape}: there is no launch {}",
            registered.kernel.id,
            talk.n_launches.get(),
            options.launch
        );
    }
    tell(registered, &shape, &ended);
    Ok(match talk.n_refused.get() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// A simulator with the kernel's module.
fn simulator(registered: Registered, options: &Options) -> anyhow::Result<Sim> {
    let module = kernels::module_for_debugging(registered, options.arch.as_deref());
    let module = module.context("the kernels could not be compiled")?;
    Ok(Sim::new(cli::profile::with_helpers(&module)))
}

/// How the lesson ended.
fn tell(registered: Registered, shape: &Shape, ended: &Result<(), lesson::CaseError>) {
    match ended {
        Ok(()) => eprintln!("{} at {shape}: the result is right", registered.kernel.id),
        Err(error) => eprintln!("{} at {shape}: {error}", registered.kernel.id),
    }
}

/// Halts the launches of the kernel that are asked for; all others run as always.
fn launcher(registered: Registered, talk: Rc<Talk>) -> lockstep::engine::sim::Launcher {
    Rc::new(move |sim, launch| {
        let schedule = talk.options.schedule;
        if launch.entry() != registered.kernel.id {
            let options = ptx_sim::LaunchOptions::default();
            return sim.launch_with(launch, options).map(drop);
        }
        talk.n_launches.set(talk.n_launches.get() + 1);
        if talk.n_launches.get() != talk.options.launch {
            let options = ptx_sim::LaunchOptions {
                schedule,
                ..ptx_sim::LaunchOptions::default()
            };
            return sim.launch_with(launch, options).map(drop);
        }
        let talked = sim.debug(launch, schedule, |session| talk.about(session))?;
        if let Err(error) = talked {
            eprintln!("error: {error}");
            talk.n_refused.set(talk.n_refused.get() + 1);
        }
        Ok(())
    })
}

impl Talk {
    fn about(&self, session: &mut Session<'_, '_>) -> io::Result<()> {
        let root = home().ok().map(|home| home.source(""));
        let mut debugger = Debugger::new(session, Sources::new(root));
        let mut first = Vec::new();
        if let Some(place) = &self.options.at {
            first.push(format!("break {place}"));
            first.push("continue".to_owned());
        }
        if self.options.finding {
            first.push("finding".to_owned());
        }
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let prompt = match self.options.way() {
            Way::Terminal if is_terminal => debugger::front::PROMPT,
            _ => "",
        };
        let mut output = io::stdout();
        let mut refused = 0;
        if first.is_empty() {
            println!("{}", debugger.where_text());
        } else {
            let text = first.join("\n") + "\n";
            let talked = lines::talk(&mut debugger, &mut text.as_bytes(), &mut output, "")?;
            refused += talked.n_refused;
        }
        let mut input = self.input.borrow_mut();
        let talked = lines::talk(&mut debugger, &mut **input, &mut output, prompt)?;
        self.n_refused
            .set(self.n_refused.get() + refused + talked.n_refused);
        Ok(())
    }
}
