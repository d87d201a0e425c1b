//! NVIDIA's tools: all are optional, each adds something.

use super::check::Check;
use std::path::{Path, PathBuf};

/// Name, what it adds, where it comes from.
const TOOLS: &[(&str, &str, &str)] = &[
    (
        "ptxas",
        "registers, spills and SASS (`ptx --sass`)",
        "pip install nvidia-cuda-nvcc",
    ),
    (
        "nvdisasm",
        "SASS (`ptx --sass`)",
        "pip install nvidia-cuda-nvdisasm",
    ),
    (
        "ncu",
        "hardware counters to compare ours with",
        "install Nsight Compute",
    ),
    (
        "compute-sanitizer",
        "a second opinion on faults",
        "install the CUDA toolkit",
    ),
];

pub(super) fn checks() -> Vec<Check> {
    let folders = folders();
    TOOLS
        .iter()
        .map(|&(name, adds, source)| {
            match folders
                .iter()
                .map(|folder| folder.join(name))
                .find(|path| path.is_file())
            {
                Some(path) => Check::ok(name, path.display().to_string()),
                None => Check::absent(name, format!("not found; would add {adds}"), source),
            }
        })
        .collect()
}

/// `PATH`, CUDA toolkits, Python wheels.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .collect();
    folders.extend(
        ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(variable)
            .map(|d| d.join("bin")),
    );
    folders.push("/usr/local/cuda/bin".into());
    for python in [
        variable("VIRTUAL_ENV"),
        std::env::home_dir().map(|home| home.join(".local")),
    ] {
        for version in python
            .iter()
            .flat_map(|dir| children(&dir.join("lib"), "python"))
        {
            let wheels = version.join("site-packages/nvidia");
            folders.extend(
                children(&wheels, "cu")
                    .into_iter()
                    .map(|dir| dir.join("bin")),
            );
        }
    }
    folders
}

fn children(dir: &Path, start: &str) -> Vec<PathBuf> {
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect()
}
