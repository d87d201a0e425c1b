//! `cargo xtask bundle`: a folder that runs on a machine with a GPU and no Rust.

use crate::ending::{print, usage};
use crate::{build, folder, sim_driver, workspace};
use anyhow::{Context, bail};
use indicatif::HumanBytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The file that marks a folder as one of our bundles.
const MARK: &str = "lockstep-bundle.json";

/// The folder of a bundle with simulated GPUs.
const SIM: &str = "sim";

/// Make a folder that runs on a GPU machine without Rust.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder to make, or an existing bundle to update
    #[arg(default_value = "bundle")]
    dir: PathBuf,

    /// Also put a simulated driver and NCCL into its folder `sim`, for several processes without a GPU
    #[arg(long)]
    sim: bool,
}

/// Builds and gathers.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let dir = &options.dir;
    refuse_to_overwrite(dir)?;
    folder::check(dir)?;
    let program = build::release()?;
    gather(&program, &workspace::root().join("bench/baselines"), dir)
        .with_context(|| format!("cannot write the bundle {}", dir.display()))?;
    if options.sim {
        sim_driver::install(&dir.join(SIM))?;
    }
    // The program itself writes what it will read there, its mark last.
    let status = Command::new(&program)
        .arg("gather")
        .arg(dir)
        .env("LOCKSTEP_ROOT", workspace::root())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !status.success() {
        bail!("the kernels could not be gathered (see above)");
    }
    let size = size_of(dir);
    print(|out| {
        writeln!(
            out,
            "{} ({}) is complete. Copy it to a machine with an NVIDIA driver, and there run:\n\n    ./{}/lockstep run-all --json results.json\n",
            dir.display(),
            HumanBytes(size),
            dir.file_name().unwrap_or(dir.as_os_str()).display(),
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Only a folder that is empty, or a bundle, is written to.
fn refuse_to_overwrite(dir: &Path) -> anyhow::Result<()> {
    if dir.join(MARK).exists() {
        return Ok(());
    }
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(usage(format!(
            "{} holds other files and is not a bundle; name another folder: cargo xtask bundle DIR",
            dir.display()
        ))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(usage(format!(
            "cannot read the folder {}: {e}",
            dir.display()
        ))),
    }
}

fn gather(program: &Path, baselines: &Path, dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    // First, so that a half-written bundle can be written again.
    fs::write(dir.join(MARK), "{}\n")?;
    // A binary that is running can be removed but not written to.
    let binary = dir.join("lockstep");
    if binary.exists() {
        fs::remove_file(&binary)?;
    }
    fs::copy(program, binary)?;
    copy_files(baselines, &dir.join("baselines"))?;
    fs::write(dir.join("README.txt"), README)
}

/// Copies all files of `from` and of its folders.
pub fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn size_of(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size_of(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

const README: &str = "\
Lockstep, bundled
=================

CUDA kernels written in Rust, with the program that runs, checks and times them.
This folder needs no Rust and no CUDA toolkit: an NVIDIA driver is enough, and
without one the program runs the kernels on its own simulator.

    ./lockstep run-all                        every lesson: results, times, counts
    ./lockstep run-all --json results.json    the same, and the figures in a file
    ./lockstep bench --json bench.json        on a GPU: times next to copies, CUDA C++, CUB, cuBLAS
    ./lockstep run-all --engine sim           on the simulator, even with a GPU
    ./lockstep list                           all lessons and kernels
    ./lockstep --help                         the rest

The exit status says whether everything passed.

Several processes, each with a device, which add numbers up by NCCL; without GPUs by the
libraries in the folder sim, if the bundle was made with --sim:

    mpirun -n 2 ./lockstep devices --processes
    LOCKSTEP_SIM_DEVICES=2 LD_LIBRARY_PATH=sim mpirun -n 2 ./lockstep devices --processes

lockstep     the program
ptx/         the kernels' PTX, one file for each topic and architecture
sources/     the kernels' sources, which reports show
baselines/   CUDA C++ baselines of the kernels, compiled by nvcc if it is there
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_folders_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        refuse_to_overwrite(dir.path()).unwrap();
        refuse_to_overwrite(&dir.path().join("new")).unwrap();
        fs::write(dir.path().join("thesis.tex"), "").unwrap();
        assert!(refuse_to_overwrite(dir.path()).is_err());
        fs::write(dir.path().join(MARK), "{}").unwrap();
        refuse_to_overwrite(dir.path()).unwrap();
    }

    #[test]
    fn a_bundle_holds_the_binary_and_the_baselines_and_can_be_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("built");
        fs::write(&program, "program").unwrap();
        let baselines = dir.path().join("given");
        fs::create_dir_all(baselines.join("libraries")).unwrap();
        fs::write(baselines.join("add.cu"), "").unwrap();
        fs::write(baselines.join("libraries/cub.cu"), "").unwrap();
        let bundle = dir.path().join("bundle");
        for _ in 0..2 {
            refuse_to_overwrite(&bundle).unwrap();
            gather(&program, &baselines, &bundle).unwrap();
        }
        let names = |dir: &Path| {
            let mut names: Vec<_> = fs::read_dir(dir)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(
            names(&bundle),
            ["README.txt", "baselines", "lockstep", MARK]
        );
        assert_eq!(names(&bundle.join("baselines")), ["add.cu", "libraries"]);
        assert_eq!(names(&bundle.join("baselines/libraries")), ["cub.cu"]);
        assert!(size_of(&bundle) > 0);
    }
}
