//! Architectures, and the PTX version that each is compiled for.

use std::fmt;

/// A GPU architecture by its PTX name, with the PTX version to write for it.
///
/// The version is the *oldest* that has the instructions the architecture is
/// chosen for, so that old drivers load the result: a driver refuses PTX that
/// is newer than itself, whatever the PTX contains.
///
/// | architecture | PTX | because | driver from |
/// |---|---|---|---|
/// | `sm_70` … `sm_89` | 7.8 | 8-bit floats, `mbarrier.try_wait` and cluster registers are in the text format | CUDA 11.8 |
/// | `sm_90`, `sm_90a` | 8.0 | `wgmma`, `setmaxnreg`, bulk copies (TMA) | CUDA 12.0 |
/// | `sm_100` and later | 8.6, 8.7 | the first version that knows the name | CUDA 12.7, 12.8 |
///
/// [`crate::CudaBuilder::ptx_version`] chooses another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arch {
    name: String,
    ptx_version: u32,
}

impl Arch {
    /// The architecture of that name (`"sm_80"`, `"sm_90a"`; Rust-CUDA's
    /// `"compute_80"` means the same).
    pub fn new(name: &str) -> Self {
        let name = name.replace("compute_", "sm_");
        let capability: u32 = name
            .trim_start_matches("sm_")
            .trim_end_matches(char::is_alphabetic)
            .parse()
            .unwrap_or(0);
        let ptx_version = match capability {
            0..90 => 78,
            90..100 => 80,
            100 | 101 => 86,
            _ => 87,
        };
        Self { name, ptx_version }
    }

    /// `sm_80`, `sm_90a`, …
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ten times the PTX version: 78 is 7.8.
    pub fn ptx_version(&self) -> u32 {
        self.ptx_version
    }

    pub(crate) fn set_ptx_version(&mut self, version: u32) {
        self.ptx_version = version;
    }
}

impl From<&str> for Arch {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_has_the_oldest_ptx_version_that_serves_it() {
        for (name, version) in [
            ("sm_70", 78),
            ("sm_80", 78),
            ("sm_89", 78),
            ("sm_90", 80),
            ("sm_90a", 80),
            ("sm_100a", 86),
            ("sm_120", 87),
        ] {
            assert_eq!(Arch::new(name).ptx_version(), version, "{name}");
        }
    }

    #[test]
    fn rust_cuda_spelling_is_understood() {
        assert_eq!(Arch::new("compute_80"), Arch::new("sm_80"));
    }
}
