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
    match debug(Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The kernel, and its problem's size.
fn registered(asked: &Asked) -> anyhow::Result<(Registered, Shape)> {
    let registered = registry::kernel(&asked.kernel).map_err(|error| anyhow!("{error}"))?;
    let default = cli::explain::default_shape(registered);
    let shape = cli::shape::among(registered, asked.shape.as_deref(), default);
    Ok((registered, shape.map_err(|what| anyhow!(what))?))
}

fn debug(options: Options) -> anyhow::Result<ExitCode> {
    let asked = options.asked.clone();
    let (registered, shape) = registered(&asked)?;
    let module = kernels::module_for_debugging(registered, asked.arch.as_deref());
    let module = module.context("the kernels could not be compiled")?;
    let sim = Sim::new(cli::profile::with_helpers(&module));
    let talk = Rc::new(Talk::new(options)?);
    let n_launches = Rc::new(Cell::new(0));
    let launcher = launcher(
        registered,
        asked.clone(),
        (talk.clone(), n_launches.clone()),
    );
    sim.launch_by(Some(launcher));
    let name = format!("{} at {shape}", registered.kernel.id);
    eprintln!("{name} on the simulator");
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
        Ok(()) => eprintln!("{name}: the result is right"),
        Err(error) => eprintln!("{name}: {error}"),
    }
    Ok(match talk.has_failed() {
        false => ExitCode::SUCCESS,
        true => ExitCode::FAILURE,
    })
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
