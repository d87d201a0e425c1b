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
use lesson::{CaseError, Registered, Shape};
use lockstep::engine::sim::{Launcher, Sim};
use options::{Asked, Options, Wrong};
use ptx_sim::{LaunchOptions, Schedule};
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
    let mut asked = options.asked.clone();
    let (registered, shape) = registered(&asked)?;
    let module = kernels::module_for_debugging(registered, asked.arch.as_deref());
    let module = module.context("the kernels could not be compiled")?;
    let modules = cli::profile::with_helpers(&module);
    let wrong = match options.wrong {
        true => Some(first_wrong(
            registered,
            &shape,
            &asked,
            Sim::new(modules.clone()),
        )?),
        false => None,
    };
    if let Some(wrong) = &wrong {
        asked.launch = wrong.launch;
    }
    let sim = Sim::new(modules);
    let talk = Rc::new(Talk::new(options, wrong)?);
    let n_launches = Rc::new(Cell::new(0));
    let debugged = Some((asked.launch, talk.clone()));
    sim.launch_by(Some(launcher(
        registered,
        asked.schedule,
        n_launches.clone(),
        debugged,
    )));
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

/// The first element of the lesson's result that is wrong, by a run without the debugger.
fn first_wrong(
    registered: Registered,
    shape: &Shape,
    asked: &Asked,
    sim: Sim,
) -> anyhow::Result<Wrong> {
    let n_launches = Rc::new(Cell::new(0));
    let id = registered.kernel.id;
    let counted = n_launches.clone();
    sim.launch_by(Some(launcher(registered, asked.schedule, counted, None)));
    let index = match cli::profile::run_case(registered, shape, &sim) {
        Err(CaseError::Wrong { what, index }) => {
            eprintln!("{id} at {shape}: {what}");
            index
        }
        Err(error) => bail!("{id} at {shape}: {error}"),
        Ok(()) => bail!("the result of {id} at {shape} is right: there is no wrong element"),
    };
    let (Some(index), Some((address, n_bytes))) = (index, sim.last_read()) else {
        bail!("the lesson does not say which element is wrong: begin with --at-end");
    };
    let at = address + (index * n_bytes) as u64;
    Ok(Wrong {
        element: format!("u{}@{at:#x}", 8 * n_bytes.clamp(1, 8)),
        launch: n_launches.get().max(1),
    })
}

/// Counts the kernel's launches, which have the schedule, and halts the one that is `debugged`, if
/// one is; all others run as always.
fn launcher(
    registered: Registered,
    schedule: Option<Schedule>,
    n_launches: Rc<Cell<u64>>,
    debugged: Option<(u64, Rc<Talk>)>,
) -> Launcher {
    Rc::new(move |sim, launch| {
        let is_it = launch.entry() == registered.kernel.id;
        n_launches.set(n_launches.get() + u64::from(is_it));
        if let Some((number, talk)) = &debugged
            && is_it
            && n_launches.get() == *number
        {
            return sim.debug(launch, schedule, |session| talk.about(session));
        }
        let options = LaunchOptions {
            schedule: schedule.filter(|_| is_it),
            ..LaunchOptions::default()
        };
        sim.launch_with(launch, options).map(drop)
    })
}
