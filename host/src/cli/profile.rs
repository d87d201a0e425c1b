//! `lockstep profile KERNEL`: where its memory work is done, and what is wasted.

use super::progress::say;
use super::{Exit, Stop, ncu};
use crate::bench::CaseError;
use crate::engine::gpu::Gpu;
use crate::engine::{Engine, EngineKind, PtxModule};
use crate::kernels;
use crate::profile::{self, Profile, hardware, html, text, verdict};
use crate::registry::{self, Effort, Registered, Shape};
use crate::report::metrics;
use clap::ValueEnum;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Options of `profile`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel's name, as `lockstep list` shows it.
    kernel: String,

    /// The problem's size, such as 1024x1024; by default one for which the
    /// catalogue states the kernel's counts.
    #[arg(long, value_name = "SIZE")]
    shape: Option<String>,

    /// The PTX to run: that for this architecture.
    #[arg(long, value_enum)]
    arch: Option<Arch>,

    /// Also measure the kernel by Nsight Compute on this machine's GPU.
    #[arg(long)]
    measure: bool,

    /// Also write the profile to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also write the profile to this file, as a page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Only launch the kernel, once, on the GPU; what runs under Nsight Compute.
    #[arg(long, hide = true)]
    launch_only: bool,
}

/// The architectures that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Arch {
    /// Everything since Ampere.
    #[value(name = "sm_80")]
    Sm80,
    /// Hopper alone.
    #[value(name = "sm_90a")]
    Sm90a,
}

impl Arch {
    fn name(self) -> &'static str {
        match self {
            Self::Sm80 => "sm_80",
            Self::Sm90a => "sm_90a",
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let usage = |what: String| Stop::Because(Exit::Usage, what);
    let registered = registry::kernel(&args.kernel).map_err(|error| usage(error.to_string()))?;
    let shape = shape_of(registered, args.shape.as_deref()).map_err(usage)?;
    let arch = args.arch.map(Arch::name);
    let module = kernels::module_with(registered.kernel.id, arch).map_err(super::no_kernels)?;
    if args.launch_only {
        return launch(registered, &shape, module);
    }

    let profile = profiled(registered, &shape, &module)?;
    let arguments = launch_arguments(&profile, &shape, args.arch);
    let metrics: Vec<_> = metrics::ALL.iter().map(|metric| metric.ncu).collect();
    let mut exit = Exit::Passed;
    let mut launches = None;
    if args.measure {
        match measured(&profile, &metrics, &arguments) {
            Ok(measured) => launches = Some(measured),
            // What was predicted is worth printing all the same.
            Err(Stop::Because(why, what)) => {
                say(&format!("not measured: {what}"));
                exit = why;
            }
            Err(stop) => return Err(stop),
        }
    }
    let figures = hardware::figures(&profile, launches.as_deref());
    let shown: Vec<_> = figures.iter().map(|figure| figure.metric).collect();
    let command = ncu::command_line(Some(&profile.kernel), &shown, &arguments.join(" "));
    // The files first: a reader of the text may have gone away.
    if let Some(path) = &args.json {
        let file = File {
            profile: &profile,
            verdicts: verdict::verdicts(&profile),
            hardware: &figures,
            command: &command,
        };
        let text = serde_json::to_string_pretty(&file).map_err(std::io::Error::from)?;
        write(path, &(text + "\n"))?;
    }
    if let Some(path) = &args.html {
        write(path, &html::page(&profile, &figures, &command))?;
    }
    let mut out = anstream::stdout().lock();
    text::write(&mut out, &profile, &figures, &command)?;
    out.flush()?;
    Ok(exit)
}

/// What `--json` writes.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    verdicts: Vec<verdict::Verdict>,
    hardware: &'a [hardware::Figure],
    command: &'a str,
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(|error| {
        let what = format!("{} cannot be written: {error}", path.display());
        Stop::Because(Exit::Usage, what)
    })
}

/// The shape asked for; else one with claims about the counts, or the largest.
fn shape_of(registered: Registered, asked: Option<&str>) -> Result<Shape, String> {
    let lesson = registered.lesson;
    let shapes = (lesson.shapes)(EngineKind::Sim, Effort::Default);
    let known: Vec<&Shape> = shapes.iter().filter(|shape| !shape.is_sweep()).collect();
    let Some(asked) = asked else {
        return known
            .iter()
            .rev()
            .find(|shape| (lesson.expects_at)(shape))
            .or(known.last())
            .map(|&shape| shape.clone())
            .ok_or_else(|| {
                format!(
                    "the lesson {} has no single size; name one by --shape",
                    lesson.id
                )
            });
    };
    let dims: Option<Vec<u32>> = asked
        .split(['x', '×'])
        .map(|side| side.parse().ok().filter(|&side| side > 0))
        .collect();
    let dims = dims.ok_or_else(|| {
        format!("--shape {asked}: numbers above 0 are expected, with x between: 1024x1024")
    })?;
    if let Some(example) = known.first()
        && example.dims().len() != dims.len()
    {
        return Err(format!(
            "--shape {asked}: the lesson {} has sizes such as {}",
            lesson.id,
            example.name()
        ));
    }
    Ok(Shape::of(&dims))
}

/// How a case that did not run to its end, or was wrong, is told.
fn stopped(registered: Registered, shape: &Shape, error: &CaseError) -> Stop {
    let exit = if error.is_not_run() {
        Exit::NothingRan
    } else {
        Exit::Failed
    };
    Stop::Because(
        exit,
        format!("{} at {shape}: {error}", registered.kernel.id),
    )
}

/// The profile by the simulator.
fn profiled(registered: Registered, shape: &Shape, module: &PtxModule) -> Result<Profile, Stop> {
    say(&format!(
        "{} at {shape} on the simulator",
        registered.kernel.id
    ));
    profile::simulate(registered, shape, module)
        .map_err(|error| stopped(registered, shape, &error))?
        .ok_or_else(|| {
            let what = format!(
                "the lesson launched no `{}` at {shape}",
                registered.kernel.id
            );
            Stop::Because(Exit::NothingRan, what)
        })
}

/// The case on the GPU, once.
fn launch(registered: Registered, shape: &Shape, module: PtxModule) -> Result<Exit, Stop> {
    let gpu = Gpu::new(vec![module])
        .map_err(|error| Stop::Because(Exit::NothingRan, error.to_string()))?;
    profile::run_case(registered, shape, &gpu)
        .map_err(|error| stopped(registered, shape, &error))?;
    Ok(Exit::Passed)
}

/// The arguments with which this program launches the profiled case on the GPU.
fn launch_arguments(profile: &Profile, shape: &Shape, arch: Option<Arch>) -> Vec<String> {
    let mut arguments = vec![
        "profile".to_owned(),
        profile.kernel.clone(),
        "--launch-only".to_owned(),
        format!("--shape={}", shape.name()),
    ];
    arguments.extend(arch.map(|arch| format!("--arch={}", arch.name())));
    arguments
}

/// What Nsight Compute says of the same launches.
fn measured(
    profile: &Profile,
    metrics: &[&str],
    arguments: &[String],
) -> Result<Vec<BTreeMap<String, u64>>, Stop> {
    // Asked first, so that ncu does not have to say that there is no GPU.
    let gpu =
        Gpu::new(Vec::new()).map_err(|error| Stop::Because(Exit::NothingRan, error.to_string()))?;
    say(&format!("measuring on {}", gpu.device().name));
    drop(gpu);
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let mut launches = ncu::run_self(Some(&profile.kernel), metrics, &arguments)?;
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

#[cfg(test)]
mod tests {
    use super::shape_of;
    use crate::registry::kernel;

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
        for registered in crate::registry::kernels() {
            assert!(shape_of(registered, None).is_ok());
        }
    }
}
