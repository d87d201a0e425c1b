//! `lockstep readme`: writes the generated parts of docs/tools.md, docs/results.md, docs/devices.md and
//! the tuning logs, and the pictures, or says that they are out of date.

use super::exit::{Exit, Stop};
use super::report as page;
use crate::explain::pictures;
use crate::input;
use crate::output::{OutputError, OutputFile};
use crate::report::bench::BenchReport;
use crate::report::{devices, ladder, markdown, tuning};
use host::hints;
use host::registry::LESSONS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A part of a document: its name, which is in the lines before and after it; the results file that
/// it is made from, in the folder of `--results`, or without one, that file; and what makes it.
type Part = (
    &'static str,
    Option<&'static str>,
    fn(Option<&BenchReport>) -> String,
);

/// The output of `bench gemm`: GEMM in alternation with everything else.
const GEMM_RESULTS: &str = "gemm.json";
/// The output of `bench gemm --alone`: the ladder and cubes.
const CUBES: Option<&str> = Some("gemm-cubes.json");
/// The output of `bench gemm --alone --fastest`: the chosen kernels on other products.
const PRODUCTS: Option<&str> = Some("gemm-products.json");

/// The generated parts of docs/tools.md.
const TOOLS: [Part; 1] = [("report", None, |_| page::example())];

/// The generated parts of docs/results.md.
const RESULTS: [Part; 6] = [
    ("speed", None, markdown::speed),
    ("ladder", CUBES, ladder::table),
    ("cubes", CUBES, ladder::cubes),
    ("people", PRODUCTS, ladder::people),
    ("untuned", PRODUCTS, ladder::untuned),
    ("lessons", None, |report| markdown::lessons(LESSONS, report)),
];

/// Options of `readme`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The repository's folder, with `docs` in it.
    #[arg(long, default_value = ".")]
    root: PathBuf,

    /// The output of `bench --json` on a GPU.
    #[arg(long, default_value = "bench/results/h200/bench.json")]
    results: PathBuf,

    /// Write nothing; fail if something is out of date.
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let because = |text: String| Stop::Because(Exit::Usage, text);
    let read = |path: &Path| match path.exists() {
        true => BenchReport::read(path).map(Some).map_err(because),
        false => Ok(None),
    };
    let report = read(&args.results)?;
    let beside = |name: &str| read(&args.results.with_file_name(name));
    let of_gemm = beside(GEMM_RESULTS)?;
    // Several parts are made from one file.
    let mut kept: BTreeMap<&str, Option<BenchReport>> = BTreeMap::new();
    let docs = args.root.join("docs");
    for (name, parts) in [("tools.md", &TOOLS[..]), ("results.md", &RESULTS)] {
        let path = &docs.join(name);
        let old = input::text(path).map_err(Stop::usage)?;
        let mut new = old.clone();
        for (part, results, generate) in parts {
            let made_from = match *results {
                Some(name) => {
                    if !kept.contains_key(name) {
                        kept.insert(name, beside(name)?);
                    }
                    kept[name].as_ref()
                }
                None => report.as_ref(),
            };
            new = replace(&new, part, &generate(made_from))
                .map_err(|error| because(format!("{}: {error}", path.display())))?;
        }
        renew(args, path, Some(&old), &new)?;
    }
    several_devices(args)?;
    let pictures = pictures::all().map_err(|error| because(error.to_string()))?;
    for (path, svg) in &pictures {
        let path = args.root.join(path);
        let old = std::fs::read_to_string(&path).ok();
        renew(args, &path, old.as_deref(), svg)?;
    }
    let reports: Vec<BenchReport> = report.into_iter().chain(of_gemm).collect();
    tuning_logs(args, &reports)?;
    Ok(Exit::Passed)
}

/// Updates the table of docs/devices.md.
fn several_devices(args: &Args) -> Result<(), Stop> {
    let path = args.root.join("docs/devices.md");
    let old = input::text(&path).map_err(Stop::usage)?;
    let results = args.root.join("bench/results/h100x2/devices.json");
    let table = devices::document(&results).map_err(Stop::usage)?;
    let new = replace(&old, "devices", &table)
        .map_err(|error| Stop::usage(format!("docs/devices.md: {error}")))?;
    renew(args, &path, Some(&old), &new)
}

/// Updates the tuning logs in `docs/tuning`, if there are any.
fn tuning_logs(args: &Args, reports: &[BenchReport]) -> Result<(), Stop> {
    let folder = args.root.join("docs/tuning");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(());
    };
    let mut logs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    logs.sort();
    for log in logs {
        let old = input::text(&log).map_err(Stop::usage)?;
        let new = tuning::with_times(&old, reports)
            .map_err(|error| Stop::Because(Exit::Usage, format!("{}: {error}", log.display())))?;
        renew(args, &log, Some(&old), &new)?;
    }
    Ok(())
}

/// Writes a file that is out of date, or reports it.
fn renew(args: &Args, path: &Path, old: Option<&str>, new: &str) -> Result<(), Stop> {
    if old == Some(new) {
        return Ok(());
    }
    if args.check {
        let command = hints::command("readme");
        let what = format!("{} is out of date; `{command}` updates it", path.display());
        return Err(Stop::Because(Exit::Failed, what));
    }
    let failed = |error: OutputError| Stop::Because(Exit::Failed, error.to_string());
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(|error| {
            Stop::Because(Exit::Failed, format!("{}: {error}", folder.display()))
        })?;
    }
    let file = OutputFile::open(path).map_err(Stop::usage)?;
    file.write(new.as_bytes()).map_err(failed)
}

/// `text` with `generated` between the lines that name the part.
fn replace(text: &str, part: &str, generated: &str) -> Result<String, String> {
    let begin = format!("<!-- {part}: written by `cargo xtask readme` -->\n");
    replace_between(text, &begin, &format!("<!-- end of {part} -->"), generated)
}

/// `text` with `generated` between these lines.
pub(super) fn replace_between(
    text: &str,
    begin: &str,
    end: &str,
    generated: &str,
) -> Result<String, String> {
    let (before, rest) = text.split_once(begin).unwrap_or((text, ""));
    match rest.split_once(end) {
        Some((_, after)) => Ok(format!("{before}{begin}\n{generated}{end}{after}")),
        None => Err(format!(
            "it lacks the lines `{}` and `{end}`",
            begin.trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let begin = "<!-- speed: written by `cargo xtask readme` -->\n";
        let end = "<!-- end of speed -->";
        let text = format!("before\n{begin}old\n{end}\nafter\n");
        let once = replace(&text, "speed", "new\n").expect("it has markers");
        assert_eq!(once, format!("before\n{begin}\nnew\n{end}\nafter\n"));
        assert_eq!(replace(&once, "speed", "new\n").as_ref(), Ok(&once));
        let error = replace("no markers", "speed", "new").expect_err("there are none");
        assert!(error.contains(end), "{error}");
    }
}
