//! `cargo xtask debug KERNEL`: a lesson's kernel under the debugger.
//!
//! The lesson runs as always, on the simulator. The launch that is asked for is halted at its
//! beginning; when the debugger lets it go, it runs to its end, and the lesson checks its result.
//!
//! [`options`] says what is to be debugged; [`talk`] who talks with the debugger.

mod options;
mod talk;

use anyhow::{Context, anyhow, bail};
use clap::Parser;
use debugger::dap::Server;
use host::{kernels, registry};
use lesson::{Registered, Shape};
use lockstep::engine::sim::{Launcher, Sim};
use options::{Asked, Options};
use ptx_sim::LaunchOptions;
use std::cell::Cell;
use std::process::ExitCode;
use std::rc::Rc;
use talk::Talk;

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> anyhow::Result<ExitCode> {
    let Some(port) = options.dap else {
        let asked = options.asked.clone();
        return debug(&asked, Talk::in_text(options)?);
    };
    let mut server = match port {
        None => Server::standard(),
        Some(port) => Server::listen(port, |port| {
            eprintln!("the debugger waits for an editor at 127.0.0.1:{port}");
        })?,
    };
    // The editor names the kernel, unless the command did.
    let asked = server.start(|arguments| {
        let asked = options.asked.or(arguments)?;
        registered(&asked).map_err(|error| format!("{error:#}"))?;
        Ok(asked)
    });
    match asked {
        Some(asked) => debug(&asked, Talk::with_editor(server)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The kernel, and its problem's size.
fn registered(asked: &Asked) -> anyhow::Result<(Registered, Shape)> {
    let Some(kernel) = &asked.kernel else {
        bail!("name a kernel, as `cargo xtask list` shows it");
    };
    let registered = registry::kernel(kernel).map_err(|error| anyhow!("{error}"))?;
    let default = cli::explain::default_shape(registered);
    let shape = cli::shape::among(registered, asked.shape.as_deref(), default);
    Ok((registered, shape.map_err(|what| anyhow!(what))?))
}

fn debug(asked: &Asked, talk: Talk) -> anyhow::Result<ExitCode> {
    let (registered, shape) = registered(asked)?;
    let module = kernels::module_for_debugging(registered, asked.arch.as_deref());
    let module = module.context("the kernels could not be compiled")?;
    let sim = Sim::new(cli::profile::with_helpers(&module));
    let talk = Rc::new(talk);
    let n_launches = Rc::new(Cell::new(0));
    let launcher = launcher(
        registered,
        asked.clone(),
        (talk.clone(), n_launches.clone()),
    );
    sim.launch_by(Some(launcher));
    let name = format!("{} at {shape}", registered.kernel.id);
    talk.say(&format!("{name} on the simulator"));
    let ended = cli::profile::run_case(registered, &shape, &sim);
    sim.launch_by(None);
    if n_launches.get() < asked.launch {
        bail!(
            "the lesson launches `{}` {} times at {shape}: there is no launch {}",
            registered.kernel.id,
            n_launches.get(),
            asked.launch
        );
    }
    match ended {
        Ok(()) => talk.say(&format!("{name}: the result is right")),
        Err(error) => talk.say(&format!("{name}: {error}")),
    }
    Ok(talk.finish())
}

/// Halts the launch of the kernel that is asked for; all others run as always.
fn launcher(
    registered: Registered,
    asked: Asked,
    (talk, n_launches): (Rc<Talk>, Rc<Cell<u64>>),
) -> Launcher {
    Rc::new(move |sim, launch| {
        let is_it = launch.entry() == registered.kernel.id;
        n_launches.set(n_launches.get() + u64::from(is_it));
        if is_it && n_launches.get() == asked.launch {
            return sim.debug(launch, asked.schedule, |session| talk.about(session));
        }
        let options = LaunchOptions {
            schedule: asked.schedule.filter(|_| is_it),
            ..LaunchOptions::default()
        };
        sim.launch_with(launch, options).map(drop)
    })
}
