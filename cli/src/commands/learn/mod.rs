//! `lockstep learn`: exercises that judge themselves.
//!
//! In reading order: the commands, here; `words` and `show`, their output; `session`,
//! the learner's folder; `keys` and `watch`, judging the current exercise after every save;
//! `prove`, the user's own exercises. What an exercise is, and how it is judged: crate `learn`.

mod keys;
mod prove;
mod session;
mod show;
mod watch;
mod words;

use super::exit::{Exit, Stop};
use host::home::{Home, home};
use session::{Places, Session};
use std::path::{Path, PathBuf};

/// Options of `learn`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,

    /// Judge the current exercise once, and do not wait for changes.
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    places: Places,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List all exercises, and which are solved.
    List,
    /// Go to the next exercise that is not solved.
    Next,
    /// Go back to the previous exercise.
    Back,
    /// Go to an exercise.
    Go {
        /// Its name, its number, or a part of its name.
        name: String,
    },
    /// Judge exercises, or prove that a folder is one.
    Check {
        /// Names or numbers of exercises, or the folder of your own exercises; by default the
        /// current exercise.
        #[arg(value_name = "NAME|DIR")]
        names: Vec<String>,
        /// All exercises, one line each.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Give a hint; one more each time.
    Hint {
        /// The exercise, if not the current one.
        name: Option<String>,
    },
    /// Start an exercise over; the old file is kept next to the new one.
    Reset {
        /// The exercise, if not the current one.
        name: Option<String>,
    },
    /// Show a solution, once the exercise is solved.
    Solution {
        /// The exercise, if not the current one.
        name: Option<String>,
    },
    /// Create a starting point for your own exercise, in a new folder.
    New {
        /// The folder.
        dir: PathBuf,
    },
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if args.once && args.what.is_some() {
        return Err(Stop::usage(
            "--once judges the current exercise, and cannot be combined with a command",
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

/// Whether an argument of `check` means a folder rather than an exercise's name.
fn is_folder(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).is_dir()
}
