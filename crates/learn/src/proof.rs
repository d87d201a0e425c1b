//! Validation of exercises.
//!
//! For each: the file with the gap fails as its manifest says, every cheat fails as it
//! says, and the solution passes. All kernels of a kind are compiled at once.

use crate::error::Error;
use crate::exercise::{Cheat, Exercise, Expected};
use crate::judge::{Failure, Verdict, judge};
use crate::workplace::{purpose, references};
use crate::workshop::{Built, Compiled, Source, Workshop};
use cuda_builder::toolchain::Progress;
use std::path::{Path, PathBuf};

/// A kernel that was validated.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The exercise's name.
    pub exercise: String,
    /// The file.
    pub path: PathBuf,
    /// Its function there, if its name is not the exercise's.
    pub cheat: Option<String>,
    /// The failure expected of it; none for a solution, which has to pass.
    pub expected: Option<Expected>,
    /// What is wrong, if the verdict was another one.
    pub wrong: Option<String>,
}

/// A kernel to judge.
struct Task<'a> {
    exercise: &'a Exercise,
    place: usize,
    path: PathBuf,
    kernel: String,
    expected: Option<Expected>,
}

/// Tries all kernels of exercises.
///
/// # Errors
///
/// There is no compiler; an exercise is broken; a reference fails.
pub fn prove(
    workshop: &Workshop,
    exercises: &[Exercise],
    progress: &dyn Progress,
) -> Result<Vec<Tried>, Error> {
    let references = references(workshop, exercises, progress)?;
    let mut tried = Vec::new();
    let kernel = |exercise: &Exercise| exercise.manifest.kernel.clone();
    let of_cheat = |cheat: Cheat| (cheat.path, cheat.name, Some(cheat.expected));
    for (what, tasks) in [
        (
            "unsolved",
            tasks(exercises, |one| {
                Ok(vec![(one.source(), kernel(one), Some(one.unsolved()?))])
            })?,
        ),
        (
            "cheats",
            tasks(exercises, |one| {
                Ok(one.cheats()?.into_iter().map(of_cheat).collect())
            })?,
        ),
        (
            "solutions",
            tasks(exercises, |one| {
                Ok(vec![(one.solution(), kernel(one), None)])
            })?,
        ),
    ] {
        let is_compiled_alone =
            |task: &Task<'_>| task.expected.as_ref().is_some_and(|e| e.kind == "compile");
        let (alone, together): (Vec<_>, Vec<_>) = tasks.into_iter().partition(is_compiled_alone);
        let groups = std::iter::once(together).chain(alone.into_iter().map(|task| vec![task]));
        let groups = groups.filter(|group| !group.is_empty());
        for (number, group) in groups.enumerate() {
            let name = format!("{what}_{number}");
            let verdicts = verdicts(workshop, &name, &group, &references, progress)?;
            tried.extend(
                group
                    .into_iter()
                    .zip(verdicts)
                    .map(|(task, v)| task.tried(&v)),
            );
        }
    }
    tried.sort_by(|a, b| a.exercise.cmp(&b.exercise));
    Ok(tried)
}

/// Compiles and judges kernels; one by one if any of them does not compile.
fn verdicts(
    workshop: &Workshop,
    name: &str,
    group: &[Task<'_>],
    references: &[Built],
    progress: &dyn Progress,
) -> Result<Vec<Verdict>, Error> {
    let sources: Vec<Source<'_>> = group.iter().map(Task::source).collect();
    let dir = group.first().map(|task| task.exercise.dir.as_path());
    let purpose = purpose(name, dir.unwrap_or(Path::new("")), group.len());
    match workshop.batch(&purpose, &sources, progress)? {
        Compiled::Built(built) => group
            .iter()
            .zip(&built)
            .map(|(task, built)| judge(task.exercise, built, &references[task.place]))
            .collect(),
        Compiled::Refused(text) => match group {
            [task] => Ok(vec![Failure::compile(text, &task.exercise.manifest).into()]),
            _ => {
                let mut all = Vec::new();
                for one in group.chunks(1) {
                    all.extend(verdicts(workshop, name, one, references, progress)?);
                }
                Ok(all)
            }
        },
    }
}

/// The kernels of all exercises, by file and function, with the failures expected of them.
fn tasks<'a>(
    exercises: &'a [Exercise],
    kernels: impl Fn(&Exercise) -> Result<Vec<(PathBuf, String, Option<Expected>)>, Error>,
) -> Result<Vec<Task<'a>>, Error> {
    let mut tasks = Vec::new();
    for (place, exercise) in exercises.iter().enumerate() {
        for (path, kernel, expected) in kernels(exercise)? {
            tasks.push(Task {
                exercise,
                place,
                path,
                kernel,
                expected,
            });
        }
    }
    Ok(tasks)
}

impl Task<'_> {
    fn source(&self) -> Source<'_> {
        Source {
            exercise: self.exercise,
            path: self.path.clone(),
            kernel: &self.kernel,
        }
    }

    fn tried(self, verdict: &Verdict) -> Tried {
        let wrong = match (verdict, &self.expected) {
            (Verdict::Passed(_), None) => None,
            (Verdict::Passed(_), Some(_)) => Some("it passes, but must not".to_owned()),
            (Verdict::Failed(failure), None) => Some(format!(
                "it must pass, but fails\n{}: {}",
                failure.kind,
                failure.text()
            )),
            (Verdict::Failed(failure), Some(expected)) => {
                let holds = failure.kind == expected.kind
                    && squeezed(&failure.text()).contains(&squeezed(&expected.words));
                (!holds).then(|| {
                    format!(
                        "it must fail with `{}: {}`, but fails with\n{}: {}",
                        expected.kind,
                        expected.words,
                        failure.kind,
                        failure.text()
                    )
                })
            }
        };
        Tried {
            exercise: self.exercise.name.clone(),
            path: self.path,
            cheat: Some(self.kernel).filter(|name| *name != self.exercise.manifest.kernel),
            expected: self.expected,
            wrong,
        }
    }
}

/// A text with single spaces between its words: line breaks do not matter.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
