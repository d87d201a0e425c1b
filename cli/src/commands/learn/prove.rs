//! The user's own exercises: creating them, and proving that they are exercises.

use super::words::{command, stopped, wrong_folder};
use crate::commands::ending::tell;
use crate::commands::exit::{Exit, Stop};
use crate::report::style::{BAD, FAINT, GOOD};
use cuda_builder::toolchain::Lines;
use learn::{Course, Exercise, Workshop, proof, scaffold};
use std::io::{self, Write};
use std::path::Path;

/// Creates the starting point of an exercise.
pub(super) fn new(dir: &Path, root: &Path) -> Result<Exit, Stop> {
    let dir = std::path::absolute(dir).map_err(Stop::usage)?;
    if is_inside(&dir, root) {
        return Err(Stop::usage(format!(
            "{} is inside this repository; an exercise of your own is outside, such as {}",
            dir.display(),
            root.with_file_name("my-course/01_mine").display()
        )));
    }
    scaffold::make(&dir).map_err(wrong_folder)?;
    tell(|out| tell_made(out, &dir, root))?;
    Ok(Exit::Passed)
}

fn tell_made(out: &mut dyn Write, dir: &Path, root: &Path) -> io::Result<()> {
    let shown = dir.display();
    writeln!(out, "{shown} is an exercise:")?;
    writeln!(out)?;
    for (file, what) in scaffold::FILES {
        writeln!(out, "    {file:<24} {what}")?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "    {}    proves that it is one",
        command(&format!("check {shown}"))
    )?;
    if let Some(parent) = dir.parent() {
        let go = command(&format!("--exercises {}", parent.display()));
        writeln!(out, "    {go}    runs the exercises in that folder")?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "The fields of exercise.toml: {}",
        root.join("exercises/README.md").display()
    )
}

/// Whether a folder, which need not exist yet, is in the repository.
fn is_inside(dir: &Path, root: &Path) -> bool {
    let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok());
    let root = root.canonicalize();
    there.is_some_and(|there| root.is_ok_and(|root| there.starts_with(root)))
}

/// Proves that folders are exercises, or contain some.
pub(super) fn folders(names: &[String], root: &Path) -> Result<Exit, Stop> {
    let workshop = Workshop::of_repository(root);
    let mut exit = Exit::Passed;
    for name in names {
        let dir = Path::new(name);
        let exercises = match dir.join("exercise.toml").is_file() {
            true => vec![Exercise::open(dir).map_err(wrong_folder)?],
            false => {
                let course = Course::open(dir).map_err(wrong_folder)?;
                for why in course.broken.values() {
                    tell(|out| writeln!(out, "{BAD}wrong{BAD:#}  {why}"))?;
                    exit = Exit::Failed;
                }
                course.exercises
            }
        };
        let progress = Lines::new(std::io::stderr());
        let tried = proof::prove(&workshop, &exercises, &progress).map_err(stopped)?;
        for tried in &tried {
            if tried.wrong.is_some() {
                exit = Exit::Failed;
            }
            tell(|out| tell_tried(out, tried, dir))?;
        }
    }
    Ok(exit)
}

fn tell_tried(out: &mut dyn Write, tried: &proof::Tried, dir: &Path) -> io::Result<()> {
    let dir = dir.canonicalize().unwrap_or_default();
    let file = tried.path.strip_prefix(dir).unwrap_or(&tried.path);
    let file = match &tried.cheat {
        Some(name) => format!("{}: {name}", file.display()),
        None => file.display().to_string(),
    };
    match (&tried.wrong, &tried.expected) {
        (Some(wrong), _) => writeln!(out, "{BAD}wrong{BAD:#}  {file}: {wrong}"),
        (None, None) => writeln!(out, "{GOOD}ok{GOOD:#}     {file} passes"),
        (None, Some(expected)) => writeln!(
            out,
            "{GOOD}ok{GOOD:#}     {file} fails by {}{FAINT}{}{FAINT:#}",
            expected.kind,
            match expected.words.as_str() {
                "" => String::new(),
                words => format!(": {words}"),
            }
        ),
    }
}
