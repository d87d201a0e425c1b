//! The baselines of the kernels: CUDA C++ programs and CUB, compiled where `nvcc` is, and cuBLAS
//! and cuBLASLt, wherever they are installed.

use super::tools::{Tool, library_folders};
use lockstep::engine::{BaselineModule, EngineError, Library, Timing};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Folder of the baselines with the sources of libraries.
const LIBRARIES: &str = "libraries";
/// Source of the library that calls CUB.
const CUB_SOURCE: &str = "cub.cu";
/// Names of cuBLAS, the newest first.
const CUBLAS: [&str; 3] = ["libcublas.so.13", "libcublas.so.12", "libcublas.so"];
/// Names of cuBLASLt, which comes with it.
const CUBLASLT: [&str; 3] = ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"];

/// Compiles every `.cu` file of `folder` for the architecture `sm`.
pub(super) fn compile(folder: &Path, sm: u32) -> Result<Vec<BaselineModule>, String> {
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

/// A compiled library, in a folder that goes with it.
pub(super) struct Compiled {
    file: PathBuf,
    _folder: TempDir,
}

/// Compiles the library that calls CUB.
pub(super) fn compile_cub(folder: &Path, sm: u32) -> Result<Compiled, String> {
    let nvcc = Tool::Nvcc.find()?;
    let source = folder.join(LIBRARIES).join(CUB_SOURCE);
    if !source.is_file() {
        return Err(format!("there is no {}", source.display()));
    }
    let work = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let file = work.path().join("libcub.so");
    run_nvcc(
        &nvcc,
        &source,
        sm,
        &["-shared", "-Xcompiler", "-fPIC"],
        &file,
    )?;
    Ok(Compiled {
        file,
        _folder: work,
    })
}

/// Loads it and returns CUB's version.
pub(super) fn load_cub(engine: &dyn Timing, library: &Compiled) -> Result<String, String> {
    load(engine, Library::Cub, &library.file)
}

/// Finds cuBLAS, loads it and returns its version.
pub(super) fn load_cublas(engine: &dyn Timing) -> Result<String, String> {
    load_named(engine, Library::Cublas, CUBLAS)
}

/// The same for cuBLASLt.
pub(super) fn load_cublaslt(engine: &dyn Timing) -> Result<String, String> {
    load_named(engine, Library::CublasLt, CUBLASLT)
}

fn load_named(
    engine: &dyn Timing,
    library: Library,
    names: [&'static str; 3],
) -> Result<String, String> {
    // Given only a name, the system's loader searches for it, in LD_LIBRARY_PATH too.
    let named = names.map(PathBuf::from);
    let placed = library_folders()
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .filter(|file| file.is_file());
    let mut why = None;
    for file in named.into_iter().chain(placed) {
        match load(engine, library, &file) {
            Ok(version) => return Ok(version),
            Err(error) => why = Some(error),
        }
    }
    Err(format!(
        "it was not found; install it with `pip install nvidia-cublas` or the CUDA toolkit ({})",
        why.unwrap_or_default()
    ))
}

fn load(engine: &dyn Timing, library: Library, file: &Path) -> Result<String, String> {
    let words = |error: EngineError| error.to_string();
    engine.load_library(library, file).map_err(words)?;
    engine
        .library_version(library)
        .ok_or_else(|| format!("{} was loaded but is not there", library.name()))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("--baselines {} cannot be read: {error}", folder.display()))?;
    let mut sources: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    sources.sort();
    if sources.is_empty() {
        return Err(format!(
            "--baselines {} holds no .cu files",
            folder.display()
        ));
    }
    Ok(sources)
}

fn compile_one(nvcc: &Path, source: &Path, sm: u32, work: &Path) -> Result<BaselineModule, String> {
    let name = source.file_stem().unwrap_or(source.as_os_str());
    let cubin = work.join(name).with_extension("cubin");
    run_nvcc(nvcc, source, sm, &["-cubin"], &cubin)?;
    let image = std::fs::read(&cubin)
        .map_err(|error| format!("nvcc left no {}: {error}", cubin.display()))?;
    Ok(BaselineModule {
        name: source.display().to_string(),
        image,
    })
}

fn run_nvcc(
    nvcc: &Path,
    source: &Path,
    sm: u32,
    how: &[&str],
    output_file: &Path,
) -> Result<(), String> {
    // Hopper's own instructions exist only for sm_90a.
    let suffix = if sm >= 90 { "a" } else { "" };
    let output = Command::new(nvcc)
        .args(["-O3", "-std=c++17"])
        .args(how)
        .arg(format!("-arch=sm_{sm}{suffix}"))
        .arg("-o")
        .args([output_file, source])
        .output()
        .map_err(|error| format!("cannot run {}: {error}", nvcc.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "nvcc could not compile {}:\n{}",
        source.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// The version of the compiler of the baselines, as it reports it.
pub(super) fn nvcc_version() -> Result<String, String> {
    let nvcc = Tool::Nvcc.find()?;
    let output = Command::new(&nvcc)
        .arg("--version")
        .output()
        .map_err(|error| format!("cannot run {}: {error}", nvcc.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(release_of(&text).unwrap_or("of unknown version").to_owned())
}

/// `13.0` of `Cuda compilation tools, release 13.0, V13.0.48`.
fn release_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("release ")?;
    rest.split([',', '\n']).next()
}

#[cfg(test)]
mod tests {
    use super::{release_of, sources};

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

    #[test]
    fn nvcc_tells_its_release() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.48\n";
        assert_eq!(release_of(text), Some("13.0"));
        assert_eq!(release_of("something else"), None);
    }
}
