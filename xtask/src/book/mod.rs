//! `cargo xtask book`: the book as pages, and their tests in a browser.
//!
//! Three programs work on it: cargo compiles the simulator for WebAssembly ([`wasm`]), `lockstep
//! book` writes the chapters out, and `book/builder`, a workspace of its own, has mdBook make
//! pages. Without the simulator the book is made all the same. On the first run it is made that way
//! before the simulator is compiled, so that there is something to read meanwhile.

mod browser;
mod wasm;

use crate::ending::print;
use crate::{build, folder, hand_over, workspace};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Make the book's pages.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder for the pages [default: target/book]
    dir: Option<PathBuf>,

    /// Open it in a browser; the first time, before its live parts are compiled
    #[arg(long)]
    open: bool,

    /// Also test the pages in a headless browser: whether live parts respond, whether anything is
    /// cut off, and whether they are accessible
    #[arg(long)]
    test: bool,

    /// Leave out the simulator: live parts show cases that were computed before
    #[arg(long)]
    no_simulator: bool,
}

/// The exit status if the browser tests were not run: that is not a success.
const NOT_ALL_RAN: u8 = 4;

/// Makes the pages, and opens or tests them if asked.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let out = match &options.dir {
        Some(dir) => std::path::absolute(dir).context("the folder has no path")?,
        None => workspace::own_folder("book"),
    };
    folder::check(&out)?;
    let is_first = !options.no_simulator && !wasm::file().is_file();
    if is_first {
        say("the first time this takes minutes; --no-simulator skips most of it");
    }
    let is_read_meanwhile = is_first && options.open;
    if is_read_meanwhile {
        make_pages(&out, None)?;
        open(&out)?;
    }
    let library = match options.no_simulator {
        true => None,
        false => library(),
    };
    if !is_read_meanwhile || library.is_some() {
        make_pages(&out, library.as_deref())?;
    }
    print(|to| writeln!(to, "{}", index(&out).display()))?;
    match options.open {
        true if !is_read_meanwhile => open(&out)?,
        true if library.is_some() => say("the live parts are ready: reload the page"),
        _ => {}
    }
    if !options.test {
        return Ok(ExitCode::SUCCESS);
    }
    match browser::test(&out, library.is_some())? {
        browser::Outcome::Passed => Ok(ExitCode::SUCCESS),
        browser::Outcome::Failed => Ok(ExitCode::FAILURE),
        browser::Outcome::NotRun(reason) => {
            print(|to| writeln!(to, "not run: {reason}"))?;
            Ok(ExitCode::from(NOT_ALL_RAN))
        }
    }
}

/// The book's first page.
fn index(out: &Path) -> PathBuf {
    out.join("index.html")
}

fn say(text: &str) {
    let style = anstyle::Style::new().dimmed();
    anstream::eprintln!("{style}{text}{style:#}");
}

/// The simulator for the pages; if it cannot be built, prints why.
fn library() -> Option<PathBuf> {
    match wasm::build() {
        Ok(library) => Some(library),
        Err(error) => {
            eprintln!("the pages will show cases that were computed before: {error:#}");
            None
        }
    }
}

/// Has the chapters written and made into pages, with the simulator in them if there is one.
fn make_pages(out: &Path, library: Option<&Path>) -> anyhow::Result<()> {
    let chapters = workspace::own_folder("book-chapters");
    write_chapters(&chapters, library.is_some())?;
    run_builder(&chapters, out, library)
}

fn write_chapters(chapters: &Path, has_simulator: bool) -> anyhow::Result<()> {
    if chapters.exists() {
        std::fs::remove_dir_all(chapters)?;
    }
    let program = build::lockstep(&[])?;
    let mut command = hand_over::command(&program);
    command.arg("book").arg(chapters);
    if has_simulator {
        command.arg("--simulator");
    }
    run_to_end(command, "the chapters could not be written")
}

fn run_builder(chapters: &Path, out: &Path, library: Option<&Path>) -> anyhow::Result<()> {
    let root = workspace::root();
    let book = root.join("book");
    let target = workspace::own_folder("book-builder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg("run");
    // The first time it compiles for minutes, and cargo's progress is worth showing.
    let program = format!("debug/book-builder{}", std::env::consts::EXE_SUFFIX);
    if target.join(program).is_file() {
        command.arg("--quiet");
    } else {
        say("building mdBook, once");
    }
    command
        .args(["--locked", "--manifest-path"])
        .arg(book.join("builder/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .arg("--")
        .arg(&book)
        .arg(chapters)
        .arg(root.join("simulator/maps/src/svg/style.css"))
        .arg(root.join("crates/page/src/player"))
        .arg(out)
        .args(library)
        .current_dir(&book);
    run_to_end(command, "the pages could not be made")
}

fn run_to_end(mut command: Command, failed: &str) -> anyhow::Result<()> {
    let program = command.get_program().to_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !status.success() {
        bail!("{failed} (see above)");
    }
    Ok(())
}

/// Has the system open the book.
fn open(out: &Path) -> anyhow::Result<()> {
    let file = index(out);
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let opened = Command::new(program).arg(&file).spawn();
    opened
        .map(drop)
        .with_context(|| format!("cannot run {program}; the book is at {}", file.display()))
}
