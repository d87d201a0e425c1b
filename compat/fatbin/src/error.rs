//! The crate's errors.

use crate::{Architecture, Compression};

/// Bytes as text, if they are that, else in hexadecimal.
fn shown(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match bytes.iter().all(is_text) {
        true => format!("{:?}", String::from_utf8_lossy(bytes)),
        false => format!("the bytes {bytes:02x?}"),
    }
}

/// Why bytes could not be read, or contain nothing to run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end too early.
    #[error("cut short: {needed} bytes are needed, but there are {given}")]
    Truncated {
        /// Minimum number of bytes needed from the start.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
    /// None of the things that a program can pass to the driver.
    #[error(
        "neither PTX, nor a cubin, nor a fat binary: it starts with {}",
        shown(start)
    )]
    Unknown {
        /// The first bytes.
        start: Vec<u8>,
    },
    /// A wrapper that points to a fat binary, instead of the fat binary.
    #[error("a wrapper of a fat binary: pass the fat binary itself, which it points to")]
    IsWrapper,
    /// A wrapper of an unknown version.
    #[error("a wrapper of version {0}; 1 and 2 are known")]
    UnknownWrapper(u32),
    /// A fat binary of an unknown version.
    #[error("a fat binary of version {0}; 1 is known")]
    UnknownVersion(u16),
    /// An impossible number in a header.
    #[error("the {what} is {value}, which is impossible")]
    Malformed {
        /// The number's meaning.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// An ELF file that is not a cubin.
    #[error("an ELF file for machine {0}, not for NVIDIA's GPUs (190)")]
    OtherMachine(u16),
    /// A compression that is neither LZ4 nor zstd.
    #[error(
        "the entry is compressed in an unknown way (flags {flags:#x}): compile it with --no-compress"
    )]
    UnknownCompression {
        /// The entry's flags.
        flags: u64,
    },
    /// Compressed bytes that cannot be restored.
    #[error("the {compression} data cannot be restored: {reason}")]
    Corrupt {
        /// How they are compressed.
        compression: Compression,
        /// The library's error.
        reason: String,
    },
    /// Compressed bytes that give more or less than their header says, or a header that says more
    /// than that few bytes can give.
    #[error("{compressed} bytes of {compression} data do not give the stated {stated} bytes")]
    WrongSize {
        /// How they are compressed.
        compression: Compression,
        /// Number of bytes given.
        compressed: u64,
        /// Number of bytes that the header states.
        stated: u64,
    },
    /// PTX that is not text.
    #[error("the PTX is not text: byte {at} is not UTF-8")]
    NotText {
        /// The first such byte.
        at: usize,
    },
    /// Machine code without PTX.
    #[error("{} (no PTX)", only(.machine_code, *.has_intermediate))]
    NoPtx {
        /// The architectures of the machine code.
        machine_code: Vec<Architecture>,
        /// Whether there is code for the link-time optimiser.
        has_intermediate: bool,
    },
    /// PTX for other devices.
    #[error("the PTX is for {}, which an sm_{device} does not run", names("compute_", .ptx))]
    PtxForOthers {
        /// The architectures of the PTX.
        ptx: Vec<Architecture>,
        /// The device.
        device: u32,
    },
}

/// `only machine code for sm_90, sm_100`
fn only(machine_code: &[Architecture], has_intermediate: bool) -> String {
    match (machine_code, has_intermediate) {
        ([], false) => "the fat binary is empty".to_owned(),
        ([], true) => "only code for the link-time optimiser".to_owned(),
        (some, _) => format!("only machine code for {}", names("sm_", some)),
    }
}

/// Architectures, each once, in order.
fn names(prefix: &str, architectures: &[Architecture]) -> String {
    let mut sorted = architectures.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let names: Vec<String> = sorted.iter().map(|a| format!("{prefix}{a}")).collect();
    names.join(", ")
}
