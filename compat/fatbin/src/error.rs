//! The crate's errors.

use crate::{Architecture, Compression};

/// Why bytes could not be read, or hold nothing to run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end too early.
    #[error("cut short: {needed} bytes are needed, {given} are there")]
    Truncated {
        /// Bytes from the start that are needed at least.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
    /// Neither of what a program can hand over.
    #[error("neither PTX, nor a cubin, nor a fat binary: it starts with {start:02x?}")]
    Unknown {
        /// The first bytes.
        start: Vec<u8>,
    },
    /// The wrapper that points to a fat binary, in its place.
    #[error("a wrapper of a fat binary: the fat binary itself is where its pointer goes")]
    IsWrapper,
    /// A wrapper of an unknown version.
    #[error("a wrapper of version {0}; 1 and 2 are known")]
    UnknownWrapper(u32),
    /// A fat binary of an unknown version.
    #[error("a fat binary of version {0}; 1 is known")]
    UnknownVersion(u16),
    /// A number in a header that cannot be.
    #[error("the {what} is {value}, which cannot be")]
    Malformed {
        /// Which.
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
        /// What the library says.
        reason: String,
    },
    /// Compressed bytes that give more or less than their header says, or a header that
    /// says more than so few bytes can give.
    #[error(
        "{compressed} bytes of {compression} data do not give the {stated} bytes of the header"
    )]
    WrongSize {
        /// How they are compressed.
        compression: Compression,
        /// Bytes that there are.
        compressed: u64,
        /// Bytes that the header tells of.
        stated: u64,
    },
    /// PTX that is not text.
    #[error("the PTX is not text: byte {at} is not UTF-8")]
    NotText {
        /// The first such byte.
        at: usize,
    },
    /// Machine code and no PTX.
    #[error("{} (no PTX)", only(.machine_code, *.has_intermediate))]
    NoPtx {
        /// What the machine code is for.
        machine_code: Vec<Architecture>,
        /// Whether there is code for the link-time optimiser.
        has_intermediate: bool,
    },
    /// PTX for other devices.
    #[error("the PTX is for {}, which an sm_{device} does not run", names("compute_", .ptx))]
    PtxForOthers {
        /// What the PTX is for.
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
