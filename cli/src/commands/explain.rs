//! `lockstep explain`: maps of what memory accesses touch.

use super::ending;
use super::exit::{Exit, Stop};
use super::profile::{Arch, stopped};
use super::progress::say;
use crate::explain::tile::{self, Question};
use crate::explain::{self, Explained, text};
use crate::profile::with_helpers;
use crate::report::width::Width;
use crate::shape;
use host::{kernels, registry};
use lesson::footprint;
use lockstep::engine::EngineKind;
use maps::banks::plural;
use maps::tile::element_bytes;
use maps::{Fragment, FragmentMap, Invalid, Layout, Pattern, Tile, svg};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
For a kernel:
  explain transpose_shared            its instructions, and the maps of those that waste most
  explain transpose_shared:LINE       the maps of one line of its source

For a tile in shared memory, without a kernel:
  explain --rows 32 --cols 16 --type f32 --access column --layout swizzle:1,3,3
  explain --rows 32 --cols 32 --type f32 --access store:row --access column --search

  accesses  row, column, diagonal, stride:N, broadcast, ldmatrix.x4 (.x2, .x1), stmatrix;
            store: or atomic: in front, x4 after the name for four elements per lane,
            :N after that for the N-th row or column (for matrices :ROW,COLUMN)
  layouts   plain, pad:N, swizzle:B,M,S (several with +), xor, shift (xor:CHUNK,LINE in bytes)

For a matrix in the registers of a warp:
  explain --fragment m16n8k16.a";

const NOTHING_NAMED: &str = "\
name what to explain, in one of three ways:
  a kernel                        explain transpose_shared
  a tile in shared memory         explain --rows 32 --cols 32 --access column
  a matrix in a warp's registers  explain --fragment m16n8k16.a";

/// Options of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A kernel's name, as `list` shows it; optionally with a colon and a line of its source.
    #[arg(value_name = "KERNEL[:LINE]")]
    kernel: Option<String>,

    /// The problem's size, such as 256x256; by default a small one.
    #[arg(long, value_name = "SIZE", requires = "kernel")]
    shape: Option<String>,

    /// The block to look at, by its number in the grid.
    #[arg(long, value_name = "N", default_value_t = 0)]
    block: u64,

    /// The architecture whose PTX is run.
    #[arg(long, value_enum, requires = "kernel")]
    arch: Option<Arch>,

    /// Rows of a tile.
    #[arg(long, value_name = "N", conflicts_with = "kernel", requires = "cols")]
    rows: Option<u32>,

    /// Columns of the tile.
    #[arg(long, value_name = "N", requires = "rows")]
    cols: Option<u32>,

    /// The type of its elements.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    element: String,

    /// What a warp does to the tile; may be given several times.
    #[arg(long, value_name = "ACCESS", requires = "rows")]
    access: Vec<String>,

    /// Where its elements lie.
    #[arg(long, value_name = "LAYOUT", default_value = "plain")]
    layout: String,

    /// Look for the layouts that make all these accesses free of bank conflicts.
    #[arg(long, requires = "rows", conflicts_with = "layout")]
    search: bool,

    /// Which lane holds which element of a matrix: ldmatrix, ldmatrix.trans, m16n8k8.a,
    /// m16n8k8.b, m16n8k16.a, m16n8k16.b, m16n8.c.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kernel", "rows"])]
    fragment: Option<String>,

    /// Also write the maps into this folder, as SVG.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    match (&args.kernel, &args.fragment) {
        (Some(kernel), _) => of_kernel(args, kernel),
        (None, Some(name)) => of_fragment(args, name),
        (None, None) if args.rows.is_none() => Err(usage(NOTHING_NAMED)),
        (None, None) if args.search => search(args),
        (None, None) => of_tile(args),
    }
}

fn usage(what: impl std::fmt::Display) -> Stop {
    Stop::Because(Exit::Usage, what.to_string())
}

/// The kernel's name, and the line of its source.
fn named(kernel: &str) -> Result<(&str, Option<u32>), Stop> {
    let Some((name, line)) = kernel.split_once(':') else {
        return Ok((kernel, None));
    };
    match line.parse() {
        Ok(number) if number > 0 => Ok((name, Some(number))),
        _ => Err(usage(format!(
            "`{line}` is not a line: a number is expected, as in {name}:120"
        ))),
    }
}

fn of_kernel(args: &Args, kernel: &str) -> Result<Exit, Stop> {
    let (name, line) = named(kernel)?;
    let registered = registry::kernel(name).map_err(usage)?;
    let default = explain::default_shape(registered);
    let shape = shape::among(registered, args.shape.as_deref(), default).map_err(usage)?;
    footprint::check((registered.lesson.memory)(&shape), EngineKind::Sim, false)
        .map_err(|what| usage(format!("{name} at {shape}: {what}")))?;
    let arch = args.arch.map(Arch::name);
    let module = kernels::module_with(registered.kernel.id, arch);
    let module = module.map_err(super::modules::no_kernels)?;
    say(&format!(
        "{} at {shape} on the simulator",
        registered.kernel.id
    ));
    let explained = explain::of(registered, &shape, with_helpers(&module), args.block);
    let explained = explained.map_err(|error| stopped(registered, &shape, &error))?;
    let explained = explained.ok_or_else(|| {
        let what = format!(
            "the lesson launched no `{}` at {shape}",
            registered.kernel.id
        );
        Stop::Because(Exit::NothingRan, what)
    })?;
    check_line(&explained, line)?;
    let exit = match explained.trouble {
        Some(_) => Exit::Failed,
        None => Exit::Passed,
    };
    let mut pictures = Pictures::default();
    for one in &explained.lines {
        if line.is_none_or(|line| one.is_at(line)) {
            let place = one.place().replace([':', '/', ' '], "-");
            pictures.add(&format!("{place}-ptx{}", one.ptx_line), one.map().svg());
        }
    }
    if line.is_none() && explained.has_timeline() {
        pictures.add("timeline", explained.timeline.svg());
    }
    pictures.write(args)?;
    ending::print(exit, |out| {
        text::write(out, &explained, line, Width::of_stdout())
    })
}

/// Checks that the requested line accesses memory.
fn check_line(explained: &Explained, line: Option<u32>) -> Result<(), Stop> {
    let Some(line) = line else { return Ok(()) };
    if explained.lines.iter().any(|one| one.is_at(line)) {
        return Ok(());
    }
    let own = explained.lines.iter().filter_map(|one| one.line.as_ref());
    let mut known: Vec<String> = own.map(|place| place.short()).collect();
    known.dedup();
    Err(usage(format!(
        "no memory access of {} comes from line {line}; they come from {}",
        explained.kernel,
        known.join(", ")
    )))
}

/// The requested tile and accesses.
fn question(args: &Args) -> Result<Question, Stop> {
    let (Some(rows), Some(columns)) = (args.rows, args.cols) else {
        return Err(usage("a tile has --rows and --cols"));
    };
    if args.access.is_empty() {
        return Err(usage(
            "name what a warp does to the tile, as in --access column; --help lists accesses",
        ));
    }
    let patterns = args.access.iter().map(|access| access.parse::<Pattern>());
    let question = || {
        Ok(Question {
            tile: Tile::new(rows, columns, element_bytes(&args.element)?)?,
            layout: args.layout.parse::<Layout>()?,
            patterns: patterns.collect::<Result<_, _>>()?,
        })
    };
    question().map_err(|error: Invalid| usage(error))
}

fn of_tile(args: &Args) -> Result<Exit, Stop> {
    let question = question(args)?;
    let answers = question.answers().map_err(usage)?;
    let mut pictures = Pictures::default();
    for answer in &answers {
        let name = answer.pattern.to_string().replace([':', ','], "-");
        pictures.add(&format!("{name}-banks"), answer.worst.svg());
        pictures.add(&format!("{name}-tile"), answer.tile.svg());
        pictures.add(&format!("{name}-memory"), answer.tile.svg_of_memory());
    }
    pictures.write(args)?;
    ending::print(Exit::Passed, |out| {
        tile::write(out, &answers, Width::of_stdout())
    })
}

fn search(args: &Args) -> Result<Exit, Stop> {
    let question = question(args)?;
    let found = maps::search(&question.tile, &question.patterns).map_err(usage)?;
    ending::print(Exit::Passed, |out| {
        tile::write_found(out, &question, &found, Width::of_stdout())
    })
}

fn of_fragment(args: &Args, name: &str) -> Result<Exit, Stop> {
    let map = FragmentMap::of(Fragment::named(name).map_err(usage)?);
    let mut pictures = Pictures::default();
    pictures.add(name, map.svg());
    pictures.write(args)?;
    ending::print(Exit::Passed, |out| write!(out, "{}", map.text()))
}

/// Pictures, by file name.
#[derive(Default)]
struct Pictures(Vec<(String, String)>);

impl Pictures {
    /// Adds one, if it is not there yet: unrolled loops make the same access in many
    /// places.
    fn add(&mut self, name: &str, svg: String) {
        let svg = svg::standalone(&svg);
        if self.0.iter().all(|(_, known)| *known != svg) {
            self.0.push((format!("{name}.svg"), svg));
        }
    }

    /// Writes them into the requested folder, if there is one.
    fn write(self, args: &Args) -> Result<(), Stop> {
        let Some(dir) = &args.svg else { return Ok(()) };
        let failed = |what: &std::path::Path, error: std::io::Error| {
            usage(format!(
                "--svg: {} cannot be written: {error}",
                what.display()
            ))
        };
        std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
        for (name, svg) in &self.0 {
            let path = dir.join(name);
            std::fs::write(&path, svg).map_err(|error| failed(&path, error))?;
        }
        let pictures = plural(self.0.len() as u64, "picture");
        say(&format!("{pictures} in {}", dir.display()));
        Ok(())
    }
}
