//! NVIDIA's command-line tools, where they are installed. Only static
//! reports need them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A tool of the CUDA toolkit.
#[derive(Clone, Copy, Debug)]
pub enum Tool {
    /// The assembler.
    Ptxas,
    /// The disassembler.
    Nvdisasm,
    /// The CUDA C++ compiler.
    Nvcc,
    /// The checker for bad accesses and races on a GPU.
    ComputeSanitizer,
    /// Nsight Compute's command line.
    Ncu,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::Nvdisasm => "nvdisasm",
            Self::Nvcc => "nvcc",
            Self::ComputeSanitizer => "compute-sanitizer",
            Self::Ncu => "ncu",
        }
    }

    /// Where to get it, other than from the CUDA toolkit.
    fn source(self) -> &'static str {
        match self {
            Self::Ptxas | Self::Nvcc => "install it with `pip install nvidia-cuda-nvcc`",
            Self::Nvdisasm => "install it with `pip install nvidia-cuda-nvdisasm`",
            Self::ComputeSanitizer => "install it with `pip install nvidia-cuda-sanitizer-api`",
            Self::Ncu => "install it with Nsight Compute",
        }
    }

    /// Its path: in `CUDA_HOME`, on the `PATH`, in the toolkit's usual folder
    /// or among Python's packages. An error says how to get it.
    pub fn find(self) -> Result<PathBuf, String> {
        let mut not_executable = None;
        for folder in folders() {
            let path = folder.join(self.name());
            if !path.is_file() {
                continue;
            }
            if is_executable(&path) {
                return Ok(path);
            }
            not_executable.get_or_insert(path);
        }
        Err(match not_executable {
            Some(path) => format!(
                "{} is not executable; try `chmod +x {}`",
                path.display(),
                path.display()
            ),
            None => format!(
                "`{}` was not found on the PATH, in CUDA_HOME/bin or among Python's packages; {} or with the CUDA toolkit",
                self.name(),
                self.source()
            ),
        })
    }
}

/// The CUDA toolkit's folders according to environment variables.
fn named_toolkits() -> impl Iterator<Item = PathBuf> {
    ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let toolkits = named_toolkits().map(|home| home.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<_> = std::env::split_paths(&path).collect();
    let usual = ["/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"].map(PathBuf::from);
    // Python is asked last, because that takes a moment.
    toolkits
        .chain(on_path)
        .chain(usual)
        .chain(std::iter::once_with(|| python_folders("bin")).flatten())
        .chain(std::iter::once_with(|| python_folders("compute-sanitizer")).flatten())
}

/// Folders in which the CUDA toolkit or Python's packages keep libraries.
pub fn library_folders() -> impl Iterator<Item = PathBuf> {
    let toolkits = named_toolkits()
        .chain(std::iter::once(PathBuf::from("/usr/local/cuda")))
        .map(|home| home.join("lib64"));
    toolkits.chain(std::iter::once_with(|| python_folders("lib")).flatten())
}

/// `site-packages/nvidia/*/<within>` of the Python on the path.
fn python_folders(within: &str) -> Vec<PathBuf> {
    let script = "import sys; print('\\n'.join(p for p in sys.path if p))";
    let Ok(output) = Command::new("python3").args(["-c", script]).output() else {
        return Vec::new();
    };
    let packages = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|path| Path::new(path).join("nvidia"))
        .collect::<Vec<_>>();
    packages
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path().join(within))
        .collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
