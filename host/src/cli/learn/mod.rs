//! `lockstep learn`: exercises that judge themselves.
//!
//! In reading order: what can be asked for, here; `show`, how it looks; `keys` and `watch`, the
//! exercise at hand again after every save; `prove`, exercises of one's own. What an exercise is,
//! and how it is judged: crate `learn`.

mod keys;
mod prove;
mod show;
mod watch;

use super::exit::{Exit, Stop};
use super::progress::say;
use crate::hints;
use crate::home::{Home, home};
use cuda_builder::toolchain::Lines;
use learn::{Course, Error, Verdict, Workplace};
use std::path::{Path, PathBuf};

/// Options of `learn`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,

    /// Judge the exercise at hand once, and do not wait for changes.
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    places: Places,
}

/// Where exercises are.
#[derive(Clone, Debug, clap::Args)]
struct Places {
    /// A folder of other exercises than this repository's.
    #[arg(long, global = true, value_name = "DIR")]
    exercises: Option<PathBuf>,

    /// Where your copies are; beside the exercises if nothing is said, in NAME-work.
    #[arg(long, global = true, value_name = "DIR")]
    workplace: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List all exercises, and which are solved.
    List,
    /// Go to the next exercise that is not solved.
    Next,
    /// Go to the exercise before.
    Back,
    /// Go to an exercise.
    Go {
        /// Its name, its number, or a part of its name.
        name: String,
    },
    /// Judge exercises, or prove that a folder is one.
    Check {
        /// Names or numbers of exercises, or the folder of exercises of your own; the exercise
        /// at hand if nothing is said.
        #[arg(value_name = "NAME|DIR")]
        names: Vec<String>,
        /// All exercises, one line each.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Give a hint; each time one more.
    Hint {
        /// The exercise, if not the one at hand.
        name: Option<String>,
    },
    /// Begin an exercise again; the file as it was is kept beside the new one.
    Reset {
        /// The exercise, if not the one at hand.
        name: Option<String>,
    },
    /// Show a solution, once the exercise is solved.
    Solution {
        /// The exercise, if not the one at hand.
        name: Option<String>,
    },
    /// Make an exercise of your own to begin with, in a new folder.
    New {
        /// The folder.
        dir: PathBuf,
    },
}

/// What a command needs.
struct Session {
    workplace: Workplace,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if args.once && args.what.is_some() {
        return Err(Stop::usage(
            "--once judges the exercise at hand, and goes with no other command",
        ));
    }
    let root = root()?;
    match &args.what {
        Some(What::New { dir }) => return prove::new(dir, root),
        Some(What::Check { names, .. }) if names.iter().any(|name| is_folder(name)) => {
            return prove::folders(names, root);
        }
        _ => {}
    }
    let mut session = Session::open(&args.places, root)?;
    match &args.what {
        None if args.once => session.judge(session.workplace.current()),
        None => watch::run(&mut session),
        Some(What::List) => session.list(),
        Some(What::Next) => session.next(),
        Some(What::Back) => session.back(),
        Some(What::Go { name }) => session.go(name),
        Some(What::Check { all: true, .. }) => session.judge_all(),
        Some(What::Check { names, .. }) => session.judge_named(names),
        Some(What::Hint { name }) => session.hint(name.as_deref()),
        Some(What::Reset { name }) => session.reset(name.as_deref()),
        Some(What::Solution { name }) => session.solution(name.as_deref()),
        Some(What::New { .. }) => Ok(Exit::Passed),
    }
}

/// The repository.
fn root() -> Result<&'static Path, Stop> {
    match home().map_err(Stop::nothing_ran)? {
        Home::Checkout { root } => Ok(root),
        Home::Bundle { .. } => Err(Stop::usage(
            "exercises are compiled, and a bundle has no compiler: learn in a checkout of the repository",
        )),
    }
}

/// Whether an argument of `check` means a folder, and no exercise's name.
fn is_folder(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).is_dir()
}

/// What the library could not do.
fn stopped(error: Error) -> Stop {
    let exit = match error {
        Error::NotNow(_) | Error::NoExercise(_) | Error::Format { .. } => Exit::Usage,
        Error::Reference { .. } => Exit::Failed,
        Error::Compiler(_) | Error::Io { .. } => Exit::NothingRan,
    };
    Stop::Because(exit, error.to_string())
}

/// `NAME-work` beside the folder `NAME`.
fn beside(exercises: &Path) -> PathBuf {
    let mut name = exercises.file_name().unwrap_or_default().to_owned();
    name.push("-work");
    exercises.with_file_name(name)
}

impl Session {
    fn open(places: &Places, root: &Path) -> Result<Self, Stop> {
        let exercises = places
            .exercises
            .clone()
            .unwrap_or_else(|| root.join("exercises"));
        let course = Course::open(&exercises).map_err(stopped)?;
        let dir = places
            .workplace
            .clone()
            .unwrap_or_else(|| beside(&course.dir));
        let workplace = Workplace::open(course, &dir, root).map_err(stopped)?;
        Ok(Self { workplace })
    }

    /// The exercise that is named, or the one at hand.
    fn place(&self, name: Option<&str>) -> Result<usize, Stop> {
        match name {
            None => Ok(self.workplace.current()),
            Some(name) => self.workplace.course.find(name).map_err(stopped),
        }
    }

    fn check(&mut self, place: usize) -> Result<Verdict, Stop> {
        let progress = Lines::new(std::io::stderr());
        self.workplace.check(place, &progress).map_err(stopped)
    }

    /// Judges one exercise and tells all of it.
    fn judge(&mut self, place: usize) -> Result<Exit, Stop> {
        let verdict = self.check(place)?;
        show::heading(&self.workplace, place);
        show::verdict(&self.workplace, place, &verdict);
        Ok(exit_of(&verdict))
    }

    fn judge_named(&mut self, names: &[String]) -> Result<Exit, Stop> {
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

    fn judge_all(&mut self) -> Result<Exit, Stop> {
        let n = self.workplace.course.exercises.len();
        let mut n_passed = 0;
        for place in 0..n {
            let verdict = self.check(place)?;
            n_passed += usize::from(exit_of(&verdict) == Exit::Passed);
            show::line(&self.workplace, place, &verdict);
        }
        anstream::println!("\n{n_passed} of {n} pass");
        Ok(match n_passed == n {
            true => Exit::Passed,
            false => Exit::Failed,
        })
    }

    fn list(&self) -> Result<Exit, Stop> {
        show::list(&self.workplace);
        Ok(Exit::Passed)
    }

    /// Goes on to the next one that is open, after this one or from the beginning.
    fn next(&mut self) -> Result<Exit, Stop> {
        let current = self.workplace.current();
        let n = self.workplace.course.exercises.len();
        let mut places = (1..n).map(|distance| (current + distance) % n);
        let open = places.find(|&place| !self.workplace.is_solved(place));
        match open {
            Some(place) => {
                if !self.workplace.is_solved(current) {
                    let name = &self.workplace.exercise(current).name;
                    say(&format!("{name} stays open"));
                }
                self.workplace.go_to(place).map_err(stopped)?;
                show::task(&self.workplace, place);
            }
            None if self.workplace.is_solved(current) => show::all_solved(&self.workplace),
            None => {
                show::task(&self.workplace, current);
                say("all others are solved");
            }
        }
        Ok(Exit::Passed)
    }

    fn back(&mut self) -> Result<Exit, Stop> {
        let current = self.workplace.current();
        let before = current
            .checked_sub(1)
            .ok_or_else(|| Stop::usage("this is the first exercise"))?;
        self.workplace.go_to(before).map_err(stopped)?;
        show::task(&self.workplace, before);
        Ok(Exit::Passed)
    }

    fn go(&mut self, name: &str) -> Result<Exit, Stop> {
        let place = self.place(Some(name))?;
        self.workplace.go_to(place).map_err(stopped)?;
        show::task(&self.workplace, place);
        Ok(Exit::Passed)
    }

    fn hint(&mut self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let given = self.workplace.hint(place).map_err(stopped)?;
        show::hints(&self.workplace, place, &given);
        Ok(Exit::Passed)
    }

    fn reset(&mut self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let kept = self.workplace.reset(place).map_err(stopped)?;
        say(&format!(
            "{} is as it was at first; what it held is in {}",
            self.workplace.shown(place),
            kept.display()
        ));
        Ok(Exit::Passed)
    }

    fn solution(&self, name: Option<&str>) -> Result<Exit, Stop> {
        let place = self.place(name)?;
        let text = self.workplace.solution(place).map_err(stopped)?;
        anstream::print!("{text}");
        Ok(Exit::Passed)
    }
}

fn exit_of(verdict: &Verdict) -> Exit {
    match verdict {
        Verdict::Passed(_) => Exit::Passed,
        Verdict::Failed(_) => Exit::Failed,
    }
}

/// `cargo xtask learn next`, as one types it.
fn command(words: &str) -> String {
    hints::command(&format!("learn {words}"))
}
