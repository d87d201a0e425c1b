//! `lockstep bench`: speed of the kernels on a GPU, compared with other code.
//!
//! Every kernel is checked at the exact shape it is timed at, then timed in alternation with
//! everything it can be compared with. docs/measuring.md says how and why.

use super::baselines;
use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::{Progress, say};
use super::resume::Walk;
use crate::choose::Chosen;
use crate::report::bench::{Baseline, BenchReport};
use crate::report::bench_table;
use crate::report::compare::{Comparison, Verdict};
use crate::report::width::Width;
use host::hints;
use host::lessons::copy;
use host::lessons::gemm::contest;
use lesson::measure::Times;
use lesson::room;
use lesson::run::{self, Tally};
use lesson::{Case, CaseResult, Clocking, Effort, Registered, Shape, Status};
use lockstep::engine::gpu::Gpu;
use lockstep::engine::{Buffer, Clocked, Contender, Engine, EngineKind, Timed, Timing};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Kernels that take less time than this many empty launches are also timed back to back: in a
/// single launch, much of the time is the launch itself.
const SHORT: f32 = 4.0;

/// Folder of the runs that `--save` keeps, in the current one.
const SAVED: &str = "lockstep-bench";

const AFTER_HELP: &str = "\
A `×` in the table is the kernel's speed as a multiple of something else's, by medians \
of alternating runs. `in L2` marks data so small that it always stays in the \
second-level cache.

Exit status: 0, everything was right (even if a target was missed); 1, a result was \
wrong, or --compare found something slower; 3, there is no GPU, and nothing was \
measured; 4, something was not run.";

/// Options of `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,

    /// Shapes instead of the kernels' own: 8192x8192,4096x4096.
    #[arg(long, value_name = "SHAPES", value_delimiter = ',', value_parser = crate::shape::parse)]
    sizes: Vec<Shape>,

    /// Timed runs of each kernel and baseline; at least 30. Slow ones may get
    /// fewer than asked for.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(30..))]
    samples: u32,

    /// Also time each kernel and library with the device to itself: after a rest, and
    /// without a pause, with the energy of a run. Only so can kernels be compared that reach
    /// the board's power limit. For matrix products without --sizes: the kernels that contend
    /// on cubes, and the steps of the ladder on one.
    #[arg(long)]
    alone: bool,

    /// For GEMM, only the kernel that is chosen for each product from its tiles: those of
    /// --sizes, or products from real models and some that no kernel was tuned for.
    #[arg(long, requires = "alone")]
    fastest: bool,

    /// Folder of the CUDA C++ baselines, for nvcc to compile; by default `baselines` next to
    /// the program, or `bench/baselines` in the current folder.
    #[arg(long, alias = "peers", value_name = "DIR")]
    baselines: Option<PathBuf>,

    /// Compare with copies only: no CUDA C++, no CUB, no cuBLAS, no cuBLASLt.
    #[arg(long, alias = "no-peers", conflicts_with = "baselines")]
    no_baselines: bool,

    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also write the tables to this file, as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Keep the results under this name, for --compare.
    #[arg(long, value_name = "NAME")]
    save: Option<String>,

    /// Report what became faster or slower since the run of this name, or since
    /// this JSON file.
    #[arg(long, value_name = "NAME")]
    compare: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let selected = args.chosen.kernels().map_err(Stop::usage)?;
    let mut cases = cases(&selected, &args.sizes).map_err(Stop::usage)?;
    if args.alone && args.sizes.is_empty() {
        cases = on_cubes(cases);
    }
    room::check_cases(&cases, EngineKind::Gpu, false)
        .map_err(|what| Stop::usage(format!("{what}; --sizes chooses smaller ones")))?;
    let before = match &args.compare {
        Some(name) => Some((name, read_saved(name).map_err(Stop::usage)?)),
        None => None,
    };
    let saved = args.save.as_deref().map(saved_file).transpose();
    let saved = saved.map_err(Stop::usage)?;
    let outputs = Outputs::open(
        &[
            ("--json", args.json.as_deref()),
            ("--save", saved.as_deref()),
            ("--markdown", args.markdown.as_deref()),
        ],
        &[],
    )?;

    let gpu = Gpu::new(super::modules::modules()?).map_err(|error| {
        let checks = hints::command("run-all");
        Stop::nothing_ran(format!(
            "bench needs a GPU: {error}. Nothing was run or measured; `{checks}` checks the kernels without one"
        ))
    })?;
    say(&format!("engine: GPU, {}", gpu.device().name));
    if args.fastest {
        let n_multiprocessors = gpu.device().n_multiprocessors;
        cases = chosen(&selected, &args.sizes, n_multiprocessors);
    }
    room::check_device(&cases, gpu.device().memory_bytes).map_err(Stop::usage)?;
    let baselines = if args.no_baselines {
        Vec::new()
    } else {
        load_baselines(&gpu, args.baselines.as_deref())?
    };
    say_baselines(&baselines);
    let empty = empty_launch(&gpu, args.samples);
    let mut clocking = Clocking::thorough(args.samples, copy::best);
    clocking.is_alone = args.alone;
    if let Some(single) = &empty[0] {
        clocking = clocking.with_rows_below(SHORT * single.median_ms as f32);
    }
    let Found {
        results,
        n_wrong_baselines,
        elapsed,
    } = run_all(&gpu, &selected, &cases, clocking);
    let (wrong_baselines, timed) = results.split_at(n_wrong_baselines);
    let report = BenchReport::new(gpu.device(), baselines, args.samples, empty, timed);

    let comparison = before
        .as_ref()
        .map(|(name, old)| (name.as_str(), Comparison::of(old, &report)));
    let found = comparison.as_ref().map(|(_, found)| found);
    let mut ending = outputs.end(exit_of(&results, found));
    ending.json("--json", &report);
    ending.json("--save", &report);
    ending.file("--markdown", || {
        Ok(bench_table::markdown(&report).into_bytes())
    });
    ending.print(|out| {
        write(out, &report, comparison.as_ref(), wrong_baselines)?;
        let seconds = elapsed.as_secs_f64();
        writeln!(out, "\n{} cases in {seconds:.0} s", cases.len())
    });
    Ok(ending.exit())
}

/// Reports what the kernels are compared with, and why something is missing.
fn say_baselines(baselines: &[Baseline]) {
    for baseline in baselines {
        match (&baseline.version, &baseline.absent) {
            (Some(version), _) => say(&format!("{} {version}", baseline.name)),
            (None, why) => say(&format!(
                "{} is absent: {}",
                baseline.name,
                why.as_deref().unwrap_or("no reason given")
            )),
        }
    }
}

/// The tables, what became faster or slower, and baselines that are wrong.
fn write(
    out: &mut dyn Write,
    report: &BenchReport,
    comparison: Option<&(&str, Comparison<'_>)>,
    wrong_baselines: &[CaseResult],
) -> io::Result<()> {
    let width = Width::of_stdout();
    bench_table::write(out, report, width)?;
    if let Some((name, comparison)) = comparison {
        bench_table::write_comparison(out, name, comparison, width)?;
    }
    for wrong in wrong_baselines {
        writeln!(
            out,
            "\nthe CUDA C++ baseline of {} is wrong at {}: {}",
            wrong.kernel,
            wrong.shape,
            wrong.reason.as_deref().unwrap_or("no reason given")
        )?;
    }
    Ok(())
}

fn exit_of(results: &[CaseResult], comparison: Option<&Comparison<'_>>) -> Exit {
    let n_of = |status| {
        results
            .iter()
            .filter(|result| result.status == status)
            .count()
    };
    let n_slower = comparison.map_or(0, |comparison| comparison.n_of(Verdict::Slower));
    if n_of(Status::Failed) > 0 || n_slower > 0 {
        Exit::Failed
    } else if n_of(Status::Passed) == 0 {
        Exit::NothingRan
    } else if n_of(Status::NotRun) > 0 {
        Exit::NotAllRan
    } else {
        Exit::Passed
    }
}

/// The cases: the kernels' own shapes, or those that were asked for.
fn cases(selected: &[Registered], sizes: &[Shape]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for &registered in selected {
        let own = registered.timed_shapes();
        let n_axes = own.first().map(|shape| shape.dims().len());
        if !sizes.is_empty()
            && let Some(wrong) = sizes
                .iter()
                .find(|size| n_axes.is_some_and(|n| n != size.dims().len()))
        {
            let example = own
                .first()
                .map_or_else(String::new, |shape| format!(" such as {}", shape.name()));
            return Err(format!(
                "{wrong} is not a shape for {}, which takes shapes{example}; name the kernels that --sizes is for",
                registered.kernel.id
            ));
        }
        let shapes = if sizes.is_empty() {
            own
        } else {
            sizes.to_vec()
        };
        cases.extend(shapes.into_iter().map(|shape| Case { registered, shape }));
    }
    Ok(cases)
}

/// The same, except that matrix products are timed where they contend.
fn on_cubes(cases: Vec<Case>) -> Vec<Case> {
    let mut contending: Vec<Case> = Vec::new();
    for case in cases {
        let Registered { lesson, kernel } = case.registered;
        match contest::on_cubes(lesson.id, kernel.id) {
            None => contending.push(case),
            // All its shapes, in place of the first.
            Some(shapes) => {
                let last = contending.last();
                if last.is_none_or(|last| last.registered.kernel.id != kernel.id) {
                    let registered = case.registered;
                    let of_shape = |shape| Case { registered, shape };
                    contending.extend(shapes.into_iter().map(of_shape));
                }
            }
        }
    }
    contending
}

/// For each product, the GEMM kernel that is chosen for it, if that kernel is selected.
fn chosen(selected: &[Registered], sizes: &[Shape], n_multiprocessors: u32) -> Vec<Case> {
    let chosen = contest::chosen(sizes, n_multiprocessors).into_iter();
    let case = |(kernel, shape)| {
        let mut gemm = selected.iter().filter(|one| contest::is_of(one.lesson.id));
        let registered = *gemm.find(|one| one.kernel.id == kernel)?;
        Some(Case { registered, shape })
    };
    chosen.filter_map(case).collect()
}

/// Compiles and loads everything to compare with, and reports what is missing.
fn load_baselines(engine: &dyn Timing, folder: Option<&Path>) -> Result<Vec<Baseline>, Stop> {
    let folder = match folder {
        Some(folder) if !folder.is_dir() => {
            let text = format!("--baselines {} is not a folder", folder.display());
            return Err(Stop::Because(Exit::Usage, text));
        }
        Some(folder) => Ok(folder.to_path_buf()),
        None => baselines_folder().ok_or_else(|| {
            "there is no folder `baselines` next to the program and no `bench/baselines` here; \
             --baselines DIR names one"
                .to_owned()
        }),
    };
    let sm = engine.device().sm;
    let (cuda_cpp, cub) = match &folder {
        Ok(folder) => std::thread::scope(|scope| {
            // CUB takes longest to compile.
            let cub = scope.spawn(move || baselines::compile_cub(folder, sm));
            let cuda_cpp = baselines::compile(folder, sm);
            let cub = cub.join();
            (
                cuda_cpp,
                cub.unwrap_or_else(|_| Err("a thread that ran nvcc panicked".to_owned())),
            )
        }),
        Err(why) => (Err(why.clone()), Err(why.clone())),
    };
    let cuda_cpp = cuda_cpp.and_then(|modules| {
        engine
            .load_baselines(&modules)
            .map_err(|error| error.to_string())?;
        Ok(format!(
            "by nvcc {}, {} files",
            baselines::nvcc_version()?,
            modules.len()
        ))
    });
    let cub = cub.and_then(|library| baselines::load_cub(engine, &library));
    let baseline = |name: &str, loaded: Result<String, String>| {
        let (version, absent) = match loaded {
            Ok(version) => (Some(version), None),
            Err(why) => (None, Some(why)),
        };
        Baseline {
            name: name.to_owned(),
            version,
            absent,
        }
    };
    Ok(vec![
        baseline("CUDA C++", cuda_cpp),
        baseline("CUB", cub),
        baseline("cuBLAS", baselines::load_cublas(engine)),
        baseline("cuBLASLt", baselines::load_cublaslt(engine)),
    ])
}

/// `baselines` next to the program, as in a bundle, or `bench/baselines` in the current folder.
fn baselines_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program
        .as_deref()
        .and_then(Path::parent)
        .map(|folder| folder.join("baselines"));
    let here = PathBuf::from("bench/baselines");
    beside
        .into_iter()
        .chain([here])
        .find(|folder| folder.is_dir())
}

/// The outcome of the cases.
struct Found {
    /// Results of the baselines that are wrong, then of the cases.
    results: Vec<CaseResult>,
    n_wrong_baselines: usize,
    elapsed: Duration,
}

/// Has the lessons check the baselines, at small shapes, including all sizes of a sweep; then
/// runs the cases. If one takes the GPU away, only that kernel has no result.
fn run_all(gpu: &Gpu, selected: &[Registered], cases: &[Case], clocking: Clocking) -> Found {
    let with_baseline: Vec<Registered> = selected
        .iter()
        .filter(|registered| gpu.has_baseline(registered.kernel.id))
        .copied()
        .collect();
    let mut all = run::cases(&with_baseline, EngineKind::Gpu, Effort::Quick);
    let n_checks = all.len();
    all.extend_from_slice(cases);

    let mut walk = Walk::through(&all);
    gpu.run_baselines(true);
    walk.go_through(gpu, &all[..n_checks], |case| run::run_case(gpu, case, None));
    gpu.run_baselines(false);
    if n_checks > 0 {
        say_checked(with_baseline.len(), &walk.results[..n_checks]);
    }
    let progress = Progress::new(cases.len());
    walk.results[n_checks..]
        .iter()
        .for_each(|result| progress.ended(result));
    walk.go_through(gpu, &all, |case| {
        progress.starting(case);
        let result = run::run_case(gpu, case, Some(clocking));
        progress.ended(&result);
        result
    });
    progress.finish();

    let elapsed = walk.elapsed();
    let mut results = walk.results;
    let timed = results.split_off(n_checks);
    results.retain(|result| result.status == Status::Failed);
    let n_wrong_baselines = results.len();
    results.extend(timed);
    Found {
        results,
        n_wrong_baselines,
        elapsed,
    }
}

fn say_checked(n_kernels: usize, results: &[CaseResult]) {
    let n_passed = Tally::of(results).n_passed;
    say(&format!(
        "baselines of {n_kernels} kernels: {n_passed} of {} checks passed",
        results.len()
    ));
}

/// Times an empty launch, alone and back to back. If it cannot be timed, neither can anything
/// else, and that will be reported.
fn empty_launch(gpu: &Gpu, n_runs: u32) -> [Option<Times>; 2] {
    let clocked = clock_empty_launch(gpu, n_runs).unwrap_or_default();
    [&clocked.runs_ms, &clocked.rows_ms].map(|runs_ms| Times::of(runs_ms.first()?))
}

fn clock_empty_launch(gpu: &Gpu, n_runs: u32) -> Option<Clocked> {
    let nothing = Buffer::<f32>::poisoned(gpu, "nothing", 1).ok()?;
    // SAFETY: with no elements, the kernel touches none.
    let launch = unsafe { copy::best(nothing.as_ptr(), nothing.as_mut_ptr(), 0) }.ok()?;
    let contender = Contender {
        before: Vec::new(),
        timed: Timed::Launches(vec![launch].into()),
    };
    let clocking = Clocking::thorough(n_runs, copy::best).with_rows_below(f32::INFINITY);
    gpu.time(&[contender], &clocking.conditions).ok()?
}

// ---------------------------------------------------------------------------
// Saved runs
// ---------------------------------------------------------------------------

/// The file of a run of that name; its folder is made.
fn saved_file(name: &str) -> Result<PathBuf, String> {
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(format!(
            "--save {name}: a name has no slashes and does not begin with a dot"
        ));
    }
    std::fs::create_dir_all(SAVED)
        .map_err(|error| format!("the folder {SAVED} cannot be made: {error}"))?;
    Ok(Path::new(SAVED).join(name).with_extension("json"))
}

/// The run of that name, or of that file.
fn read_saved(name: &str) -> Result<BenchReport, String> {
    let saved = Path::new(SAVED).join(name).with_extension("json");
    let path = if saved.is_file() {
        saved
    } else {
        PathBuf::from(name)
    };
    if !path.exists() && name != "-" {
        return Err(format!(
            "--compare {name}: there is no run of that name in {SAVED} and no such file; `--save {name}` keeps one"
        ));
    }
    BenchReport::read(&path).map_err(|error| format!("--compare: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{cases, exit_of, saved_file};
    use crate::commands::exit::Exit;
    use crate::report::bench::tests::{case, report};
    use crate::report::compare::Comparison;
    use host::registry::matching;
    use lesson::made_up::result;
    use lesson::measure::Side;
    use lesson::{Shape, Status};

    #[test]
    fn sizes_must_suit_the_kernels() {
        let selected = matching(&["transpose_padded".to_owned()]).expect("it is there");
        let own = cases(&selected, &[]).expect("its own");
        assert!(own.iter().all(|case| !case.shape.is_sweep()));
        let asked = cases(&selected, &[Shape::of(&[64, 65])]).expect("a matrix");
        assert_eq!(asked.len(), 1);
        let error = cases(&selected, &[Shape::of(&[64])])
            .err()
            .expect("no matrix");
        assert!(error.contains("transpose_padded"), "{error}");
    }

    #[test]
    fn every_kernel_with_a_size_has_a_timed_one() {
        let selected = matching(&[]).expect("all");
        for case in cases(&selected, &[]).expect("their own") {
            assert!(!case.shape.is_sweep(), "{}", case.registered.kernel.id);
        }
    }

    #[test]
    fn names_of_saved_runs_stay_in_their_folder() {
        for name in ["", "../a", "a/b", ".hidden"] {
            assert!(saved_file(name).is_err(), "{name}");
        }
    }

    #[test]
    fn something_slower_is_a_failure_and_a_missed_target_is_none() {
        let result = |status| result("k", &[8], status);
        let passed = [result(Status::Passed)];
        assert_eq!(exit_of(&passed, None), Exit::Passed);
        assert_eq!(exit_of(&[], None), Exit::NothingRan);
        assert_eq!(
            exit_of(&[result(Status::Passed), result(Status::NotRun)], None),
            Exit::NotAllRan
        );
        assert_eq!(
            exit_of(&[result(Status::Passed), result(Status::Failed)], None),
            Exit::Failed
        );
        let with = |ms| report(vec![case("l", "k", "8", &[(Side::Kernel, ms)])]);
        let (old, new) = (with(1.0), with(1.5));
        assert_eq!(
            exit_of(&passed, Some(&Comparison::of(&old, &new))),
            Exit::Failed
        );
        assert_eq!(
            exit_of(&passed, Some(&Comparison::of(&new, &old))),
            Exit::Passed
        );
    }
}
