//! How many bytes there are behind a bare pointer.

use crate::Error;
use crate::bytes::{u32_at, u64_at};
use crate::container::{FAT_BINARY_MAGIC, HEADER_BYTES, header_bytes};
use crate::elf::{self, ELF_MAGIC};
use crate::wrapper::WRAPPER_MAGIC;

/// How many bytes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many.
    Bytes(usize),
    /// So many can be read for certain; with these, ask again.
    AtLeast(usize),
    /// Text: up to a nul.
    ToNul,
}

/// How many bytes an image has that begins with these. Four are enough for an answer,
/// of which the caller asks again with more where it is [`Extent::AtLeast`]; no more than
/// that need be readable. Of fat binaries one after the other, it is the first's.
///
/// # Errors
/// With fewer than four bytes, for a wrapper, and where a header makes no sense.
pub fn extent(start: &[u8]) -> Result<Extent, Error> {
    let magic = u32_at(start, 0)?;
    if magic == WRAPPER_MAGIC {
        return Err(Error::IsWrapper);
    }
    if magic.to_le_bytes() == ELF_MAGIC {
        return elf::extent(start);
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
