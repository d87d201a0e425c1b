//! `lockstep profile KERNEL`: its memory work, line by line, and what is wasted.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::modules::read_module;
use super::ncu;
use super::progress::say;
use crate::explain;
use crate::profile::excerpt::excerpts;
use crate::profile::{self, Profile, Trouble, hardware, html, text};
use crate::report::metrics;
use crate::report::width::{self, Width};
use crate::shape;
use clap::ValueEnum;
use host::registry;
use host::{hints, kernels};
use lesson::footprint;
use lesson::{CaseError, CaseResult, Registered, Shape};
use lockstep::engine::gpu::Gpu;
use lockstep::engine::sim::Sim;
use lockstep::engine::{Engine, EngineKind, PtxModule};
use lockstep_page::Player;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
A kernel whose result is wrong, or whose counts differ from the catalogue's, is profiled \
all the same; the differences are listed below.

Exit status: 0, everything is as the catalogue says; 1, the result or the counts are \
wrong, or the kernel failed; 2, the command was wrong; 3, the kernel could not be run \
or, with --measure, not measured; 4, not all of its launches could be run.";

/// Options of `profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The kernel's name, as `list` shows it, or that of a lesson with one kernel.
    kernel: String,

    /// The problem's size, such as 1024x1024; by default one for which the
    /// catalogue states the kernel's counts.
    #[arg(long, value_name = "SIZE")]
    shape: Option<String>,

    /// The architecture whose PTX is run.
    #[arg(long, value_enum)]
    arch: Option<Arch>,

    /// Run the kernel of this PTX file instead of our own: its entry must have
    /// the same name and parameters.
    #[arg(long, value_name = "FILE", conflicts_with = "arch")]
    ptx: Option<PathBuf>,

    /// Also measure the kernel with Nsight Compute on this machine's GPU.
    #[arg(long)]
    measure: bool,

    /// Also write the profile to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also write the profile to this file, as a page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Only launch the kernel, once, on the GPU; this is what runs under Nsight Compute.
    #[arg(long, hide = true)]
    launch_only: bool,
}

/// The architectures that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Arch {
    /// Everything since Ampere.
    #[value(name = "sm_80")]
    Sm80,
    /// Hopper only.
    #[value(name = "sm_90a")]
    Sm90a,
}

impl Arch {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sm80 => "sm_80",
            Self::Sm90a => "sm_90a",
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let question = Question::of(args)?;
    if args.launch_only {
        return question.launch();
    }
    let outputs = Outputs::open(
        &[
            ("--json", args.json.as_deref()),
            ("--html", args.html.as_deref()),
        ],
        &[],
    )?;
    let (profile, exit) = question.profile()?;
    let mut ending = outputs.end(exit);
    ending.json("--json", &profile);
    ending.file("--html", || {
        Ok(html::page(&profile, question.player()).into_bytes())
    });
    ending.print(|out| text::write(out, &profile, Width::of_stdout()));
    Ok(ending.exit())
}

/// The question: what a module's kernel does on a shape.
struct Question {
    registered: Registered,
    shape: Shape,
    module: PtxModule,
    /// The arguments with which this program launches the case on the GPU.
    launch: Vec<String>,
    /// Whether Nsight Compute measures too.
    measure: bool,
}

impl Question {
    fn of(args: &Args) -> Result<Self, Stop> {
        let registered = registry::kernel(&args.kernel).map_err(Stop::usage)?;
        let shape = shape_of(registered, args.shape.as_deref()).map_err(Stop::usage)?;
        let id = registered.kernel.id;
        let arch = args.arch.map(Arch::name);
        let module = match &args.ptx {
            Some(path) => with_entry(read_module(path)?, id).map_err(Stop::usage)?,
            None => kernels::module_with(id, arch).map_err(super::modules::no_kernels)?,
        };
        let mut launch = ["profile", id, "--launch-only"].map(str::to_owned).to_vec();
        launch.push(format!("--shape={}", shape.name()));
        launch.extend(arch.map(|arch| format!("--arch={arch}")));
        if let Some(path) = &args.ptx {
            launch.extend(["--ptx".to_owned(), path.display().to_string()]);
        }
        Ok(Self {
            registered,
            shape,
            module,
            launch,
            measure: args.measure,
        })
    }

    /// Launches the case on the GPU, once.
    fn launch(self) -> Result<Exit, Stop> {
        let gpu = Gpu::new(vec![self.module]).map_err(Stop::nothing_ran)?;
        profile::run_case(self.registered, &self.shape, &gpu)
            .map_err(|error| stopped(self.registered, &self.shape, &error))?;
        Ok(Exit::Passed)
    }

    /// The simulator's profile, with the hardware's figures, and the verdict.
    fn profile(&self) -> Result<(Profile, Exit), Stop> {
        let Self {
            registered, shape, ..
        } = self;
        let case = format!("{} at {shape}", registered.kernel.id);
        footprint::check((registered.lesson.memory)(shape), EngineKind::Sim, false)
            .map_err(|what| Stop::usage(format!("{case}: {what}")))?;
        say(&format!("{case} on the simulator"));
        let nothing = format!(
            "the lesson launched no `{}` at {shape}",
            registered.kernel.id
        );
        let mut profile = profile::simulate(*registered, shape, &self.module)
            .map_err(|error| stopped(*registered, shape, &error))?
            .ok_or_else(|| Stop::nothing_ran(nothing))?;
        let mut exit = exit_of(&profile);
        let mut launches = None;
        if self.measure {
            match self.measured(&profile) {
                Ok(measured) => launches = Some(measured),
                // The prediction is worth printing all the same.
                Err(Stop::Because(why, what)) => {
                    say(&format!("not measured: {what}"));
                    if exit == Exit::Passed {
                        exit = why;
                    }
                }
            }
        }
        profile.hardware = hardware::figures(&profile, launches.as_deref());
        let shown = profile.hardware.iter().map(|figure| figure.metric);
        profile.command = ncu::command_line(
            Some(&profile.kernel),
            &shown.collect::<Vec<_>>(),
            &hints::shell_words(&self.launch),
        );
        Ok((profile, exit))
    }

    /// The run of a block at a small size, for the page. A failure is in the profile already.
    fn player(&self) -> Option<Player> {
        let shape = explain::default_shape(self.registered)?;
        let sim = Sim::new(profile::with_helpers(&self.module));
        explain::player::on(&sim, self.registered, &shape).ok()?
    }

    /// Nsight Compute's figures of the same launches.
    fn measured(&self, profile: &Profile) -> Result<Vec<BTreeMap<String, u64>>, Stop> {
        // Checked first, so that the report of a missing GPU does not come from ncu.
        let gpu = Gpu::new(Vec::new()).map_err(Stop::nothing_ran)?;
        say(&format!("measuring on {}", gpu.device().name));
        drop(gpu);
        let metrics: Vec<_> = metrics::ALL.iter().map(|metric| metric.ncu).collect();
        let arguments: Vec<OsString> = self.launch.iter().map(OsString::from).collect();
        let mut launches = ncu::run_self(Some(&profile.kernel), &metrics, &arguments)?;
        let launches = launches.remove(&profile.kernel).unwrap_or_default();
        if launches.len() != profile.n_launches {
            let what = format!(
                "{} launches on the simulator, {} on the GPU",
                profile.n_launches,
                launches.len()
            );
            return Err(Stop::Because(Exit::Failed, what));
        }
        Ok(launches)
    }
}

fn exit_of(profile: &Profile) -> Exit {
    match profile.trouble {
        Some(Trouble::NotRun(_)) => Exit::NotAllRan,
        _ if profile.is_right() => Exit::Passed,
        _ => Exit::Failed,
    }
}

/// The command that shows more of a failed case, if a profile does; with
/// the file whose PTX was run, if it was not our own.
pub(super) fn hint(result: &CaseResult, ptx: Option<&Path>, width: Width) -> Option<String> {
    // A profile runs in the usual order.
    if !result.can_be_profiled || result.schedule.is_some() {
        return None;
    }
    let command = command(result.kernel, &result.shape_to_look_at(), ptx);
    Some(width::hint("to look at it", &command, width))
}

/// The command that shows the profile of a kernel.
fn command(kernel: &str, shape: &Shape, ptx: Option<&Path>) -> String {
    let mut words = vec!["profile".to_owned(), kernel.to_owned()];
    let registered = registry::kernel(kernel).ok();
    let default = registered.and_then(profile::default_shape);
    // A sweep has no profile.
    if !shape.is_sweep() && default.as_ref() != Some(shape) {
        words.push(format!("--shape={}", shape.name()));
    }
    if let Some(path) = ptx {
        words.extend(["--ptx".to_owned(), path.display().to_string()]);
    }
    hints::command(&hints::shell_words(&words))
}

/// The requested shape; else one with claims about the counts, or the largest.
fn shape_of(registered: Registered, asked: Option<&str>) -> Result<Shape, String> {
    shape::among(registered, asked, profile::default_shape(registered))
}

/// The module, if it has the kernel.
fn with_entry(module: PtxModule, entry: &str) -> Result<PtxModule, String> {
    module.text().map_err(|error| error.to_string())?;
    if module.names(entry) {
        return Ok(module);
    }
    Err(format!("{} has no entry `{entry}`", module.name))
}

/// The report of a case that has no profile, with the source lines at
/// fault.
pub(super) fn stopped(registered: Registered, shape: &Shape, error: &CaseError) -> Stop {
    let told = format!("{} at {shape}: {error}", registered.kernel.id);
    let lines = excerpts(&told, Width::of_stdout().columns());
    Stop::failed(error.is_not_run(), format!("{told}\n{lines}").trim_end())
}

#[cfg(test)]
mod tests {
    use super::{command, shape_of};
    use host::registry::kernel;
    use lesson::Shape;
    use std::path::Path;

    #[test]
    fn the_command_names_what_is_not_the_default() {
        let transpose = kernel("transpose_shared").expect("it exists");
        let default = shape_of(transpose, None).expect("there is one");
        let typed = |shape: &Shape, ptx: Option<&str>| {
            let command = command("transpose_shared", shape, ptx.map(Path::new));
            let (_, arguments) = command.split_once(" profile ").expect("a profile");
            arguments.to_owned()
        };
        assert_eq!(typed(&default, None), "transpose_shared");
        assert_eq!(typed(&Shape::every(&[3, 3]), None), "transpose_shared");
        assert_eq!(
            typed(&Shape::of(&[3, 5]), Some("a b.ptx")),
            "transpose_shared --shape=3x5 --ptx 'a b.ptx'"
        );
    }

    #[test]
    fn shapes_are_asked_for_or_claimed() {
        let transpose = kernel("transpose_shared").expect("it exists");
        let name = |asked| shape_of(transpose, asked).map(|shape| shape.name());
        let claimed = shape_of(transpose, None).expect("there is one");
        assert!((transpose.lesson.expects_at)(&claimed) && !claimed.is_sweep());
        assert_eq!(name(Some("64x32")), Ok("64x32".to_owned()));
        for wrong in ["64", "64x0", "64x", "a", "1x2x3", "99999999999x1"] {
            assert!(name(Some(wrong)).is_err(), "{wrong}");
        }
        for registered in host::registry::kernels() {
            assert!(shape_of(registered, None).is_ok());
        }
    }
}
