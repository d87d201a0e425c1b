//! `lockstep gather DIR`: the contents of a bundle, except for the program. For `cargo xtask
//! bundle`, so that the same program writes and reads it.

use super::exit::{Exit, Stop};
use crate::report::json;
use host::home::{BUNDLE_MARK, BundleMark, Home, home};
use host::registry;
use lockstep::engine::PtxModule;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Options of `gather`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bundle's folder.
    dir: PathBuf,
}

/// The folders of the sources that line tables name.
const SOURCES: [&str; 2] = ["gpu-kernels/src", "crates/cuda_std/src"];

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let home = home().map_err(|error| Stop::Because(Exit::NothingRan, error.to_string()))?;
    let Home::Checkout { root } = home else {
        let what = "a bundle is made in a checkout of the repository: cargo xtask bundle";
        return Err(Stop::Because(Exit::Usage, what.to_owned()));
    };
    let modules = super::modules::modules_for(&registry::kernels().collect::<Vec<_>>())?;
    let topics =
        write(&args.dir, root, &modules).map_err(|error| cannot_write(&args.dir, &error))?;
    let mark = BundleMark {
        schema: BundleMark::SCHEMA,
        lockstep: env!("CARGO_PKG_VERSION").to_owned(),
        commit: home.commit(),
        topics,
    };
    // Last, so that an incomplete bundle can be recognized.
    json::text(&mark)
        .and_then(|text| fs::write(args.dir.join(BUNDLE_MARK), text))
        .map_err(|error| cannot_write(&args.dir, &error))?;
    Ok(Exit::Passed)
}

fn cannot_write(dir: &Path, error: &io::Error) -> Stop {
    let what = format!("the bundle {} cannot be written: {error}", dir.display());
    Stop::Because(Exit::Failed, what)
}

/// Writes PTX and sources; returns the topics, in their order.
fn write(dir: &Path, root: &Path, modules: &[PtxModule]) -> io::Result<Vec<String>> {
    for folder in ["ptx", "sources"] {
        renew(&dir.join(folder))?;
    }
    let mut topics = Vec::new();
    for module in modules {
        let text = module.text().map_err(io::Error::other)?;
        fs::write(dir.join("ptx").join(&module.name), text)?;
        topics.extend(module.topic().map(str::to_owned));
    }
    let mut seen = BTreeSet::new();
    topics.retain(|topic| seen.insert(topic.clone()));
    for folder in SOURCES {
        copy_sources(root, Path::new(folder), &dir.join("sources"))?;
    }
    Ok(topics)
}

fn renew(dir: &Path) -> io::Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)
}

fn copy_sources(root: &Path, folder: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join(folder))?;
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_sources(root, &path, to)?;
        } else {
            fs::copy(entry.path(), to.join(path))?;
        }
    }
    Ok(())
}
