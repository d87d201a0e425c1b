//! Rust-CUDA's example programs: built by their own build scripts, then run on the simulated
//! driver. One has passed if it ends without an error; most compare their results themselves.

use super::{
    PATIENCE, by_path, our_cuda_builder, our_cuda_std, sources, work, write, write_package,
};
use crate::catalogue::Client;
use crate::fetch::{Home, cargo, copy};
use crate::process;
use crate::run::Run;
use crate::runner::{self, Files, Ran, Test, Verdict};
use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// The published versions of its host libraries.
const CUST: &str = "=0.3.2";
const CUST_RAW: &str = "=0.11.3";

/// Work of seconds on a GPU and of hours here: an example's folder, its text, and a text for less.
const SHORTENED: [[&str; 3]; 2] = [
    [
        "examples/gemm",
        "const MAT_SIZES: [usize; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];",
        "const MAT_SIZES: [usize; 5] = [32, 64, 128, 256, 512];",
    ],
    [
        "samples/introduction/matmul",
        "const N_ITER: u32 = 300;",
        "const N_ITER: u32 = 1;",
    ],
];

/// Builds and runs the examples.
///
/// # Errors
/// Their sources are missing, or are not what they were.
pub fn run(client: Client, home: &Home, run: &Run) -> anyhow::Result<Ran> {
    let folders = client.tests(run.is_quick);
    let wanted = |folder: &&String| run.files.is_none_or(|files| files.matches(folder));
    let root = prepare(home, folders)?;
    let mut ran = Ran::default();
    for folder in folders.iter().filter(wanted) {
        let files = Files::new(home, client, folder)?;
        let said = one(client, home, run, &root.join(folder), &files, &mut ran)?;
        let verdict = said.map_or(Verdict::Passed, Verdict::Failed);
        let name = folder.clone();
        ran.tests.push(Test { name, verdict });
        ran.add_report(&files.report)?;
    }
    let n_left = folders.len() - ran.tests.len();
    ran.lacking = (n_left > 0).then(|| format!("{n_left} were left out"));
    Ok(ran)
}

/// Copies the examples, with other dependency lines, into a workspace of their own.
fn prepare(home: &Home, folders: &[String]) -> anyhow::Result<std::path::PathBuf> {
    let (from, root) = (sources(home)?, work(home, "examples"));
    let stand_in = root.join("blastoff");
    let source = include_str!("../../rust-cuda/blastoff.rs");
    write_package(
        &stand_in,
        "lib.rs",
        source,
        "blastoff",
        ("cust", CUST.into()),
    )?;
    let mut members = Vec::new();
    for folder in folders {
        let to = root.join(folder);
        // What a newer commit has no longer must not stay.
        let _ = fs::remove_dir_all(&to);
        copy(&from.join(folder), &to)?;
        for part in [folder.clone(), format!("{folder}/kernels")] {
            let path = root.join(&part).join("Cargo.toml");
            let manifest =
                fs::read_to_string(&path).with_context(|| format!("{part} has no manifest"))?;
            let manifest: Table = manifest.parse().with_context(|| part.clone())?;
            write(&path, &with_ours(manifest, &stand_in).to_string())?;
            members.push(Value::from(part));
        }
    }
    for [folder, long, short] in SHORTENED {
        let path = root.join(folder).join("src/main.rs");
        let Ok(program) = fs::read_to_string(&path) else {
            continue;
        };
        ensure!(program.contains(long), "{folder} no longer says `{long}`");
        write(&path, &program.replace(long, short))?;
    }
    let members = Value::Array(members);
    let manifest = format!("[workspace]\nresolver = \"2\"\nmembers = {members}\n");
    write(&root.join("Cargo.toml"), &manifest)?;
    Ok(root)
}

/// A manifest with dependency lines for our libraries.
fn with_ours(mut manifest: Table, stand_in: &Path) -> Table {
    let lines: [(&str, Value); 5] = [
        ("cuda_std", our_cuda_std()),
        ("cuda_builder", our_cuda_builder()),
        ("cust", CUST.into()),
        ("cust_raw", CUST_RAW.into()),
        ("blastoff", by_path("blastoff", stand_in)),
    ];
    for kind in ["dependencies", "build-dependencies"] {
        let Some(table) = manifest.get_mut(kind).and_then(Value::as_table_mut) else {
            continue;
        };
        for (name, line) in &lines {
            if let Some(old) = table.get_mut(*name) {
                *old = line.clone();
            }
        }
    }
    manifest
}

/// Builds and runs an example; returns its complaint if it fails.
fn one(
    client: Client,
    home: &Home,
    run: &Run,
    folder: &Path,
    files: &Files,
    ran: &mut Ran,
) -> anyhow::Result<Option<String>> {
    let target = work(home, "target");
    let mut build = cargo();
    build.args(["build", "--release"]).current_dir(folder);
    build.env("CARGO_TARGET_DIR", &target);
    // A toolkit, as far as `cust`'s build script looks.
    build.env("CUDA_LIBRARY_PATH", run.driver);
    if let Err(error) = process::tool(&mut build, &files.log, PATIENCE) {
        return Ok(Some(format!("it is not built: {error}")));
    }
    let name = folder.file_name().context("a folder has a name")?;
    let mut program = std::process::Command::new(target.join("release").join(name));
    program.current_dir(folder);
    runner::prepare(&mut program, client, home, run, files);
    let limit = Duration::from_secs(client.entry.limit);
    let started = Instant::now();
    let end = process::run(&mut program, &files.log, limit)?;
    ran.seconds += started.elapsed().as_secs_f64();
    Ok(end.complaint(&[0], limit, &files.log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dependency_lines_change() {
        let manifest = "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\
            [dependencies]\ncuda_std = { path = \"../x\" }\nsha2 = \"0.10\"\n\
            [build-dependencies]\ncuda_builder = { workspace = true }\n";
        let old: Table = manifest.parse().unwrap();
        let new = with_ours(old.clone(), Path::new("/stand-in"));
        for part in ["package", "lib"] {
            assert_eq!(new[part], old[part]);
        }
        let needed = &new["dependencies"];
        assert_eq!(needed["sha2"], old["dependencies"]["sha2"]);
        let builder = &new["build-dependencies"]["cuda_builder"];
        let names = [&needed["cuda_std"], builder].map(|line| line["package"].as_str());
        let ours = ["lockstep-rust-cuda-std", "lockstep-cuda-builder"];
        assert_eq!(names, ours.map(Some));
        assert_eq!(needed.as_table().unwrap().len(), 2);
    }
}
