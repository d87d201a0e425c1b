//! `lockstep book`: writes the book's chapters out, from which `cargo xtask book` makes pages.

use super::exit::{Exit, Stop};
use super::progress;
use crate::book::Book;
use crate::book::facts::Understands;
use host::home::{Home, home};
use std::path::PathBuf;

/// Options of `book`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write to.
    out: PathBuf,

    /// The pages will have the simulator: no cases are computed for pages without it.
    #[arg(long)]
    simulator: bool,
}

pub(super) fn run(args: &Args, understands: Understands) -> Result<Exit, Stop> {
    let failed = |what: String| Stop::Because(Exit::Failed, what);
    let root = match home().map_err(|error| failed(error.to_string()))? {
        Home::Checkout { root } => root,
        Home::Bundle { .. } => {
            let what = "the book is made in a checkout of the repository, not in a bundle";
            return Err(Stop::Because(Exit::Usage, what.to_owned()));
        }
    };
    let book = Book::open(root, args.simulator, understands).map_err(failed)?;
    let written = book.write(&args.out, |chapter| {
        progress::say(&format!("chapter {chapter}"))
    });
    written.map_err(|problems| failed(problems.join("\n")))?;
    let ptx = book.playground().map_err(failed)?;
    let path = args.out.join("playground.ptx");
    std::fs::write(&path, ptx).map_err(|error| failed(format!("{}: {error}", path.display())))?;
    Ok(Exit::Passed)
}
