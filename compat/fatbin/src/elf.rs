//! Machine code, as far as it has to be told apart.

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::{Architecture, Error, Extent, Variant};

/// The first bytes of every ELF file.
pub(crate) const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// Bytes of the header of a 64-bit ELF file.
const HEADER_BYTES: usize = 64;
/// `e_machine` of NVIDIA's GPUs.
const CUDA_MACHINE: u16 = 190;
/// `sh_type` of a section without bytes in the file.
const NO_BITS: u32 = 8;
/// `EI_ABIVERSION` from which the architecture is in the second byte of `e_flags`, not
/// in the first.
const NEW_ABI: u8 = 8;

/// An ELF file with machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// What it is for. Its letter is not read.
    pub architecture: Architecture,
}

impl Cubin {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is cut short or for another machine.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        check_header(bytes)?;
        let flags = u32_at(bytes, 48)?;
        let number = if bytes[8] >= NEW_ABI {
            flags >> 8 & 0xff
        } else {
            flags & 0xff
        };
        Ok(Self {
            architecture: Architecture {
                number,
                variant: Variant::Portable,
            },
        })
    }
}

fn check_header(bytes: &[u8]) -> Result<(), Error> {
    // The last field of the header is there.
    u16_at(bytes, HEADER_BYTES - 2)?;
    for (what, offset, expected) in [("ELF class", 4, 2), ("ELF byte order", 5, 1)] {
        if bytes[offset] != expected {
            let value = u64::from(bytes[offset]);
            return Err(Error::Malformed { what, value });
        }
    }
    match u16_at(bytes, 18)? {
        CUDA_MACHINE => Ok(()),
        other => Err(Error::OtherMachine(other)),
    }
}

/// A table of headers: where it starts, how many and how large they are.
struct Table {
    offset: u64,
    n_entries: u64,
    entry_bytes: u64,
}

impl Table {
    fn end(&self) -> u64 {
        let n_bytes = self.n_entries.saturating_mul(self.entry_bytes);
        self.offset.saturating_add(n_bytes)
    }
}

/// How many bytes an ELF file has, of which these are the first.
pub(crate) fn extent(bytes: &[u8]) -> Result<Extent, Error> {
    if bytes.len() < HEADER_BYTES {
        return Ok(Extent::AtLeast(HEADER_BYTES));
    }
    check_header(bytes)?;
    let segments = Table {
        offset: u64_at(bytes, 32)?,
        entry_bytes: u64::from(u16_at(bytes, 54)?),
        n_entries: u64::from(u16_at(bytes, 56)?),
    };
    let mut sections = Table {
        offset: u64_at(bytes, 40)?,
        entry_bytes: u64::from(u16_at(bytes, 58)?),
        n_entries: u64::from(u16_at(bytes, 60)?),
    };
    if sections.offset != 0 && sections.entry_bytes < HEADER_BYTES as u64 {
        return Err(Error::Malformed {
            what: "size of a section's header",
            value: sections.entry_bytes,
        });
    }
    if sections.offset != 0 && sections.n_entries == 0 {
        // There are more than the header has digits for: the first says how many.
        sections.n_entries = 1;
        let end = address(sections.end())?;
        if bytes.len() < end {
            return Ok(Extent::AtLeast(end));
        }
        sections.n_entries = u64_at(bytes, address(sections.offset)? + 32)?;
    }
    let tables_end = address(segments.end().max(sections.end()))?;
    if bytes.len() < address(sections.end())? {
        return Ok(Extent::AtLeast(tables_end));
    }
    let mut end = tables_end.max(HEADER_BYTES) as u64;
    for i in 0..sections.n_entries {
        let header = address(sections.offset + i * sections.entry_bytes)?;
        if u32_at(bytes, header + 4)? != NO_BITS {
            let (offset, size) = (u64_at(bytes, header + 24)?, u64_at(bytes, header + 32)?);
            end = end.max(offset.saturating_add(size));
        }
    }
    Ok(Extent::Bytes(address(end)?))
}

/// A place in a file that is in memory.
fn address(place: u64) -> Result<usize, Error> {
    usize::try_from(place)
        .ok()
        .filter(|&place| isize::try_from(place).is_ok())
        .ok_or(Error::Malformed {
            what: "place of an ELF header or section",
            value: place,
        })
}
