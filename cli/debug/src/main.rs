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
            Sim::new(modules.clone()).with_fuel(asked.fuel),
        )?),
        false => None,
    };
    if let Some(wrong) = &wrong {
        asked.launch = wrong.launch;
    }
    let sim = Sim::new(modules).with_fuel(asked.fuel);
    let talk = Rc::new(Talk::new(options, wrong)?);
    let n_launches = Rc::new(Cell::new(0));
    let debugged = Some((asked.launch, talk.clone()));
    sim.launch_by(Some(launcher(
        registered,
        &asked,
        n_launches.clone(),
        debugged,
    )));
    let name = format!("{} at {shape}", registered.kernel.id);
    eprintln!("{name} on the simulator");
    let ended = cli::profile::run_case(registered, &shape, &sim);
    sim.launch_by(None);
    if n_launches.get() < asked.launch {
        bail!(
            "at {shape} the lesson has {} of `{}`: there is no launch {}",
            match n_launches.get() {
                1 => "1 launch".to_owned(),
                n => format!("{n} launches"),
            },
            registered.kernel.id,
            asked.launch
        );
    }
    match &ended {
        Ok(()) => eprintln!("{name}: the result is right"),
        Err(error) => eprintln!("{name}: {error}"),
    }
    Ok(match ended.is_ok() && !talk.has_failed() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
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
    sim.launch_by(Some(launcher(registered, asked, counted, None)));
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

/// Counts the kernel's launches, which run as is asked, and halts the one that is `debugged`, if
/// one is; all others run as always.
fn launcher(
    registered: Registered,
    &Asked { schedule, fuel, .. }: &Asked,
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
            fuel,
            ..LaunchOptions::default()
        };
        sim.launch_with(launch, options).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use debugger::sources::Sources;
    use debugger::{Debugger, lines};
    use lockstep::engine::PtxModule;
    use std::cell::RefCell;

    /// The lesson of `add`, for 300 elements, whose kernel stores 0 from element 40 on.
    fn mistaken() -> (Registered, Shape, Asked, PtxModule) {
        let options = Options::parse_from(["debug", "add", "--wrong", "--shape=300"]);
        let (registered, shape) = registered(&options.asked).expect("it exists");
        let module = kernels::module_for_debugging(registered, None).expect("it compiles");
        let text = module.text().expect("it compiles");
        let (before, kernel) = text.split_once(".entry add(").expect("the kernel");
        let (kernel, after) = kernel.split_once("\n}\n").expect("its end");
        let store = "st.global.b32 \t[%rd1], %r8;";
        assert_eq!(kernel.matches(store).count(), 1, "{kernel}");
        let wrong = "setp.ge.u32 \t%p1, %r5, 40;\n\t@%p1 mov.b32 \t%r8, 0;\n\t";
        let kernel = kernel.replace(store, &format!("{wrong}{store}"));
        let text = format!("{before}.entry add({kernel}\n}}\n{after}");
        let module = PtxModule::of_text("mistaken.ptx", text);
        (registered, shape, options.asked, module)
    }

    #[test]
    fn a_wrong_element_leads_to_who_wrote_it() {
        let (registered, shape, asked, module) = mistaken();
        let sim = Sim::new(vec![module.clone()]);
        let wrong = first_wrong(registered, &shape, &asked, sim).expect("it is wrong");
        assert_eq!(wrong.launch, 1);
        let options = Options::parse_from(["debug", "add", "--wrong"]);
        let commands = options.first_commands(Some(&wrong));

        let said = Rc::new(RefCell::new(Vec::new()));
        let output = Rc::clone(&said);
        let sim = Sim::new(vec![module]);
        sim.launch_by(Some(Rc::new(move |sim, launch| {
            sim.debug(launch, None, |session| {
                let mut debugger = Debugger::new(session, Sources::default());
                let mut output = output.borrow_mut();
                let talked = lines::talk(&mut debugger, &mut commands.as_bytes(), &mut *output, "");
                assert_eq!(talked.expect("memory takes everything").n_refused, 0);
            })
        })));
        let ended = cli::profile::run_case(registered, &shape, &sim);
        ended.expect_err("it is still wrong");
        let said = String::from_utf8(said.take()).expect("text");
        for part in [
            "block 0, thread 40 ",
            "02_coalescing.rs:112",
            "st.global.b32",
        ] {
            assert!(said.contains(part), "no `{part}` in:\n{said}");
        }
    }

    #[test]
    fn a_right_result_has_no_wrong_element() {
        let (registered, shape, asked, _) = mistaken();
        let module = kernels::module_for_debugging(registered, None).expect("it compiles");
        let refused = first_wrong(registered, &shape, &asked, Sim::new(vec![module]));
        let why = refused.err().expect("it is right").to_string();
        assert_eq!(
            why,
            "the result of add at 300 is right: there is no wrong element"
        );
    }
}
