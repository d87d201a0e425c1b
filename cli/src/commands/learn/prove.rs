//! Exercises of one's own: made, and proved to be exercises.

use super::words::{command, stopped};
use crate::commands::exit::{Exit, Stop};
use crate::report::style::{BAD, FAINT, GOOD};
use anstream::println;
use cuda_builder::toolchain::Lines;
use learn::{Course, Exercise, Workshop, proof, scaffold};
use std::path::Path;

/// Makes an exercise to begin with.
pub(super) fn new(dir: &Path, root: &Path) -> Result<Exit, Stop> {
    let dir = std::path::absolute(dir).map_err(Stop::usage)?;
    if is_inside(&dir, root) {
        return Err(Stop::usage(format!(
            "{} is inside this repository; an exercise of your own is outside, such as {}",
            dir.display(),
            root.with_file_name("my-course/01_mine").display()
        )));
    }
    scaffold::make(&dir).map_err(stopped)?;
    let shown = dir.display();
    println!("{shown} is an exercise:");
    println!();
    for (file, what) in scaffold::FILES {
        println!("    {file:<24} {what}");
    }
    println!();
    println!(
        "    {}    proves that it is one",
        command(&format!("check {shown}"))
    );
    if let Some(parent) = dir.parent() {
        let go = command(&format!("--exercises {}", parent.display()));
        println!("    {go}    learns from all that are in that folder");
    }
    println!();
    println!(
        "What can be written in exercise.toml: {}",
        root.join("exercises/README.md").display()
    );
    Ok(Exit::Passed)
}

/// Whether a folder, which need not be there yet, is in the repository.
fn is_inside(dir: &Path, root: &Path) -> bool {
    let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok());
    let root = root.canonicalize();
    there.is_some_and(|there| root.is_ok_and(|root| there.starts_with(root)))
}

/// Proves that folders are exercises, or hold some.
pub(super) fn folders(names: &[String], root: &Path) -> Result<Exit, Stop> {
    let workshop = Workshop::of_repository(root);
    let mut exit = Exit::Passed;
    for name in names {
        let dir = Path::new(name);
        let exercises = match dir.join("exercise.toml").is_file() {
            true => vec![Exercise::open(dir).map_err(stopped)?],
            false => {
                let course = Course::open(dir).map_err(stopped)?;
                for why in course.broken.values() {
                    println!("{BAD}wrong{BAD:#}  {why}");
                    exit = Exit::Failed;
                }
                course.exercises
            }
        };
        let progress = Lines::new(std::io::stderr());
        let tried = proof::prove(&workshop, &exercises, &progress).map_err(stopped)?;
        for tried in &tried {
            let file = tried
                .path
                .strip_prefix(dir.canonicalize().unwrap_or_default());
            let file = file.unwrap_or(&tried.path).display();
            match (&tried.wrong, &tried.expected) {
                (Some(wrong), _) => {
                    println!("{BAD}wrong{BAD:#}  {file}: {wrong}");
                    exit = Exit::Failed;
                }
                (None, None) => println!("{GOOD}ok{GOOD:#}     {file} passes"),
                (None, Some(expected)) => println!(
                    "{GOOD}ok{GOOD:#}     {file} fails by {}{FAINT}{}{FAINT:#}",
                    expected.kind,
                    match expected.words.as_str() {
                        "" => String::new(),
                        words => format!(": {words}"),
                    }
                ),
            }
        }
    }
    Ok(exit)
}
