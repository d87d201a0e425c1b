//! CUDA C++ twins of the kernels, compiled where `nvcc` is, to be timed in turn
//! with them.

use super::tools::Tool;
use crate::engine::PeerModule;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles every `.cu` file of `folder` for the architecture `sm`.
pub(super) fn compile(folder: &Path, sm: u32) -> Result<Vec<PeerModule>, String> {
    let nvcc = Tool::Nvcc.find()?;
    let sources = sources(folder)?;
    let work = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    std::thread::scope(|scope| {
        let compiling: Vec<_> = sources
            .iter()
            .map(|source| scope.spawn(|| compile_one(&nvcc, source, sm, work.path())))
            .collect();
        compiling
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a thread that ran nvcc panicked".to_owned()))
            })
            .collect()
    })
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("--peers {} cannot be read: {error}", folder.display()))?;
    let mut sources: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    sources.sort();
    if sources.is_empty() {
        return Err(format!("--peers {} holds no .cu files", folder.display()));
    }
    Ok(sources)
}

fn compile_one(nvcc: &Path, source: &Path, sm: u32, work: &Path) -> Result<PeerModule, String> {
    // Hopper's own instructions are part of sm_90a alone.
    let suffix = if sm >= 90 { "a" } else { "" };
    let name = source.file_stem().unwrap_or(source.as_os_str());
    let cubin = work.join(name).with_extension("cubin");
    let output = Command::new(nvcc)
        .args(["-O3", "-std=c++17", "-cubin"])
        .arg(format!("-arch=sm_{sm}{suffix}"))
        .arg("-o")
        .args([&cubin, source])
        .output()
        .map_err(|error| format!("cannot run {}: {error}", nvcc.display()))?;
    if !output.status.success() {
        return Err(format!(
            "nvcc could not compile {}:\n{}",
            source.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let image = std::fs::read(&cubin)
        .map_err(|error| format!("nvcc left no {}: {error}", cubin.display()))?;
    Ok(PeerModule {
        name: source.display().to_string(),
        image,
    })
}

#[cfg(test)]
mod tests {
    use super::sources;

    #[test]
    fn only_cuda_files_count() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(
            sources(folder.path())
                .expect_err("empty")
                .contains("no .cu files")
        );
        for name in ["b.cu", "a.cu", "README.md"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let found = sources(folder.path()).expect("two");
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("a.cu"));
        assert!(sources(&folder.path().join("none")).is_err());
    }
}
