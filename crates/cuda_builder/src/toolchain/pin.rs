//! The release that the kernel crate asks for.

use super::ToolchainError;
use std::path::Path;

/// The release named in a `rust-toolchain.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// `1.97.1`
    pub channel: String,
}

impl Pin {
    /// Reads `rust-toolchain.toml` in `kernel_crate`.
    ///
    /// # Errors
    ///
    /// The file is missing, or names no channel.
    pub fn read(kernel_crate: &Path) -> Result<Self, ToolchainError> {
        let path = kernel_crate.join("rust-toolchain.toml");
        let failed = |reason: String| ToolchainError::Pin {
            path: path.clone(),
            reason,
        };
        let text = std::fs::read_to_string(&path).map_err(|e| failed(e.to_string()))?;
        Self::parse(&text).ok_or_else(|| failed("there is no `channel = \"…\"` in it".into()))
    }

    /// One key of one table is all that is wanted of the file: no reason for a
    /// TOML parser in every build.
    fn parse(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            let channel = value.trim().strip_prefix('"')?.split('"').next()?;
            (key.trim() == "channel").then(|| Self {
                channel: channel.into(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_is_read() {
        let text = "# channel = \"no\"\n[toolchain]\nchannel = \"1.97.1\" # why\ncomponents = []\n";
        assert_eq!(Pin::parse(text).unwrap().channel, "1.97.1");
        assert_eq!(Pin::parse("[toolchain]\n"), None);
    }

    #[test]
    fn the_kernels_of_this_repository_name_one_that_serves() {
        let pin = Pin::read(Path::new("../../gpu-kernels")).unwrap();
        assert!(super::super::Release::parse(&pin.channel).unwrap() >= super::super::MINIMUM);
    }
}
