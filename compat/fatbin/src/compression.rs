//! The compression of entries.

use std::fmt;

/// How an entry's bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// LZ4, one block without a frame (`-compress-mode=speed`, and before CUDA 13 the default).
    Lz4,
    /// Zstandard, one frame.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lz4 => "LZ4",
            Self::Zstd => "zstd",
        })
    }
}
