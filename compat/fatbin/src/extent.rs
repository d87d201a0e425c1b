//! The number of bytes behind a bare pointer.

use crate::Error;
use crate::bytes::{u16_at, u32_at, u64_at};
use crate::container::{FAT_BINARY_MAGIC, HEADER_BYTES, header_bytes};
use crate::elf::{ELF_HEADER_BYTES, ELF_MAGIC, check_header};
use crate::wrapper::WRAPPER_MAGIC;

/// `sh_type` of a section without bytes in the file.
const NO_BITS: u32 = 8;

/// How many bytes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This number.
    Bytes(usize),
    /// At least this many can be read; ask again with these.
    AtLeast(usize),
    /// Text: up to a nul.
    ToNul,
}

/// The size in bytes of an image that begins with these bytes. Four are enough for an answer; for
/// [`Extent::AtLeast`], the caller asks again with that many, and no more than that need be
/// readable. For consecutive fat binaries, it is the size of the first.
///
/// # Errors
/// There are fewer than four bytes, it is a wrapper, or a header makes no sense.
pub fn extent(start: &[u8]) -> Result<Extent, Error> {
    let magic = u32_at(start, 0)?;
    if magic == WRAPPER_MAGIC {
        return Err(Error::IsWrapper);
    }
    if magic.to_le_bytes() == ELF_MAGIC {
        return elf_extent(start);
    }
    if magic != FAT_BINARY_MAGIC {
        return Ok(Extent::ToNul);
    }
    if start.len() < HEADER_BYTES {
        return Ok(Extent::AtLeast(HEADER_BYTES));
    }
    let payload = u64_at(start, 8)?;
    header_bytes(start)?
        .checked_add(payload)
        .and_then(|n_bytes| usize::try_from(n_bytes).ok())
        .filter(|&n_bytes| isize::try_from(n_bytes).is_ok())
        .map(Extent::Bytes)
        .ok_or(Error::Malformed {
            what: "size of the fat binary",
            value: payload,
        })
}

/// A table of headers: where it starts, and their number and size.
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

/// The size of an ELF file that begins with these bytes.
fn elf_extent(bytes: &[u8]) -> Result<Extent, Error> {
    if bytes.len() < ELF_HEADER_BYTES {
        return Ok(Extent::AtLeast(ELF_HEADER_BYTES));
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
    if sections.offset != 0 && sections.entry_bytes < ELF_HEADER_BYTES as u64 {
        return Err(Error::Malformed {
            what: "size of a section's header",
            value: sections.entry_bytes,
        });
    }
    if sections.offset != 0 && sections.n_entries == 0 {
        // There are more than the header can count: the first one gives the number.
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
    let mut end = tables_end.max(ELF_HEADER_BYTES) as u64;
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
