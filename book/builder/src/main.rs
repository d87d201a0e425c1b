//! Makes pages of the book's chapters, which `lockstep book` has written out:
//!
//! ```text
//! book-builder BOOK CHAPTERS STYLE PLAYER OUT [LIBRARY]
//! ```
//!
//! `BOOK` is the folder with `book.toml` and `theme`, `CHAPTERS` that with the written-out
//! chapters, `STYLE` the style sheet of the maps, `PLAYER` the folder with the player's style and
//! script, `OUT` where the pages go, and `LIBRARY` the
//! simulator as WebAssembly, without which live parts show what was computed before.
//!
//! mdBook does most of it. Reading order: [`pages`], [`simulator`], [`links`].

mod links;
mod pages;
mod simulator;

use anyhow::{bail, ensure};
use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (folders, library) = match arguments.as_slice() {
        [book, chapters, style, player, out] => ([book, chapters, style, player, out], None),
        [book, chapters, style, player, out, library] => {
            ([book, chapters, style, player, out], Some(library))
        }
        _ => bail!("usage: book-builder BOOK CHAPTERS STYLE PLAYER OUT [LIBRARY]"),
    };
    let [book, chapters, style, player, out] = folders;
    let parts = [
        (style.clone(), "maps.css"),
        (player.join("player.css"), "player.css"),
        (player.join("player.js"), "player.js"),
    ];
    pages::make(book, chapters, &parts, out)?;
    if let Some(library) = library {
        simulator::put(library, &chapters.join("playground.ptx"), out)?;
    }
    let problems = links::broken(out)?;
    ensure!(
        problems.is_empty(),
        "links that lead nowhere:\n{}",
        problems.join("\n")
    );
    Ok(())
}
