//! A learner's folder, and the operations on it.

use super::show;
use super::words::{exit_of, stopped, wrong_folder};
use crate::commands::ending::tell;
use crate::commands::exit::{Exit, Stop};
use crate::commands::progress::say;
use cuda_builder::toolchain::Lines;
use learn::{Course, Verdict, Workplace};
use std::path::{Path, PathBuf};

/// Where exercises are.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Places {
    /// A folder of exercises other than this repository's.
    #[arg(long, global = true, value_name = "DIR")]
    exercises: Option<PathBuf>,

    /// The folder of your copies; by default NAME-work next to the exercises.
    #[arg(long, global = true, value_name = "DIR")]
    workplace: Option<PathBuf>,
}

/// The state that a command needs.
pub(super) struct Session {
    pub workplace: Workplace,
}

impl Session {
    pub(super) fn open(places: &Places, root: &Path) -> Result<Self, Stop> {
        let exercises = places
            .exercises
            .clone()
            .unwrap_or_else(|| root.join("exercises"));
        let course = Course::open(&exercises).map_err(wrong_folder)?;
        for why in course.broken.values() {
            say(&format!("left out: {why}"));
        }
        let dir = places
            .workplace
            .clone()
            .unwrap_or_else(|| beside(&course.dir));
        let workplace = Workplace::open(course, &dir, root).map_err(wrong_folder)?;
        Ok(Self { workplace })
    }

    /// The exercise that is named, or the current one.
    fn place(&self, name: Option<&str>) -> Result<usize, Stop> {
        match name {
            None => Ok(self.workplace.current()),
            Some(name) => self.workplace.course.find(name).map_err(stopped),
        }
    }

    pub(super) fn check(&mut self, place: usize) -> Result<Verdict, Stop> {
        let progress = Lines::new(std::io::stderr());
        self.workplace.check(place, &progress).map_err(stopped)
    }

    /// Judges one exercise and prints the whole verdict.
    pub(super) fn judge(&mut self, place: usize) -> Result<Exit, Stop> {
        let verdict = self.check(place)?;
        self.tell_verdict(place, &verdict)?;
        Ok(exit_of(&verdict))
    }

    pub(super) fn tell_verdict(&self, place: usize, verdict: &Verdict) -> Result<(), Stop> {
        tell(|out| {
            show::heading(out, &self.workplace, place)?;
            show::verdict(out, &self.workplace, place, verdict)
        })
    }

    pub(super) fn judge_named(&mut self, names: &[String]) -> Result<Exit, Stop> {
        let mut places = Vec::new();
        for name in names {
            places.push(self.place(Some(name))?);
        }
        if places.is_empty() {
            places.push(self.workplace.current());
        }
        let mut exit = Exit::Passed;
        for place in places {
            if self.judge(place)? != Exit::Passed {
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }

    pub(super) fn judge_all(&mut self) -> Result<Exit, Stop> {
        let n = self.workplace.course.exercises.len();
        let mut n_passed = 0;
        for place in 0..n {
            match self.check(place) {
                Ok(verdict) => {
                    n_passed += usize::from(exit_of(&verdict) == Exit::Passed);
                    tell(|out| show::line(out, &self.workplace, place, &verdict))?;
                }
                Err(stop @ Stop::Because(Exit::NothingRan, _)) => return Err(stop),
                // A faulty exercise stops only itself.
                Err(Stop::Because(_, why)) => say(&why),
            }
        }
        tell(|out| writeln!(out, "\n{n_passed} of {n} pass"))?;
        Ok(match n_passed == n {
            true => Exit::Passed,
            false => Exit::Failed,
        })
    }

    pub(super) fn list(&self) -> Result<Exit, Stop> {
        tell(|out| show::list(out, &self.workplace))?;
        Ok(Exit::Passed)
    }

    /// Goes on to the next open exercise after this one, starting over after the last.
    pub(super) fn next(&mut self) -> Result<Exit, Stop> {
        let current = self.workplace.current();
        let n = self.workplace.course.exercises.len();
        let mut places = (1..n).map(|distance| (current + distance) % n);
        let open = places.find(|&place| !self.workplace.is_solved(place));
        match open {
            Some(place) => {
                if !self.workplace.is_solved(current) {
                    let name = &self.workplace.exercise(current).name;
                    say(&format!("{name} is still open"));
                }
                self.workplace.go_to(place).map_err(stopped)?;
                self.tell_task(place)?;
            }
            None if self.workplace.is_solved(current) => {
                tell(|out| show::all_solved(out, &self.workplace))?;
            }
            None => {
                self.tell_task(current)?;
                say("all others are solved");
            }
        }
        Ok(Exit::Passed)
    }

    fn tell_task(&self, place: usize) -> Result<(), Stop> {
        tell(|out| show::task(out, &self.workplace, place))
    }

    pub(super) fn back(&mut self) -> Result<Exit, Stop> {
        let current = self.workplace.current();
        let before = current
            .checked_sub(1)
            .ok_or_else(|| Stop::usage("this is the first exercise"))?;
        self.workplace.go_to(before).map_err(stopped)?;
        self.tell_task(before)?;
        Ok(Exit::Passed)
    }

    pub(super) fn go(&mut self, name: &str) -> Result<Exit, Stop> {
        let place = self.place(Some(name))?;
        self.workplace.go_to(place).map_err(stopped)?;
        self.tell_task(place)?;
        Ok(Exit::Passed)
    }

    pub(super) fn hint(&mut self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let given = self.workplace.hint(place).map_err(stopped)?;
        tell(|out| show::hints(out, &self.workplace, place, &given))?;
        Ok(Exit::Passed)
    }

    pub(super) fn reset(&mut self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let kept = self.workplace.reset(place).map_err(stopped)?;
        let shown = self.workplace.shown(place);
        say(&match kept {
            Some(kept) => format!(
                "{shown} is back to its original state; the old content is in {}",
                kept.display()
            ),
            None => format!("{shown} is in its original state"),
        });
        Ok(Exit::Passed)
    }

    pub(super) fn solution(&self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let text = self.workplace.solution(place).map_err(stopped)?;
        tell(|out| write!(out, "{text}"))?;
        Ok(Exit::Passed)
    }
}

/// `NAME-work` next to the folder `NAME`.
fn beside(exercises: &Path) -> PathBuf {
    let mut name = exercises.file_name().unwrap_or_default().to_owned();
    name.push("-work");
    exercises.with_file_name(name)
}
