//! A fat binary: a header and entries.

use std::borrow::Cow;

use crate::bytes::{slice, u16_at, u32_at, u64_at};
use crate::{Entry, Error, Kind};

/// The first word of a fat binary. Its header:
///
/// | offset | type | |
/// |--|--|--|
/// | 0 | `u32` | this |
/// | 4 | `u16` | version, 1 |
/// | 6 | `u16` | bytes of the header, 16 |
/// | 8 | `u64` | bytes of the entries that follow |
pub const FAT_BINARY_MAGIC: u32 = 0xba55_ed50;

/// Bytes of a fat binary's header.
pub(crate) const HEADER_BYTES: usize = 16;

/// Code for several architectures.
#[derive(Clone, Debug)]
pub struct FatBinary<'a> {
    /// Its pieces, in order.
    pub entries: Vec<Entry<'a>>,
}

/// Bytes of a header, if it is one.
pub(crate) fn header_bytes(bytes: &[u8]) -> Result<u64, Error> {
    let version = u16_at(bytes, 4)?;
    if version != 1 {
        return Err(Error::UnknownVersion(version));
    }
    let n_bytes = u16_at(bytes, 6)?;
    if usize::from(n_bytes) < HEADER_BYTES {
        return Err(Error::Malformed {
            what: "size of the fat binary's header",
            value: u64::from(n_bytes),
        });
    }
    Ok(u64::from(n_bytes))
}

impl<'a> FatBinary<'a> {
    /// The fat binary at the start of these bytes, and the rest.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let start = header_bytes(bytes)?;
        let payload = slice(bytes, start, u64_at(bytes, 8)?)?;
        let mut left = payload;
        let mut entries = Vec::new();
        while !left.is_empty() {
            let (entry, n_bytes) = Entry::read(left)?;
            entries.push(entry);
            left = &left[n_bytes as usize..];
        }
        let behind = &bytes[start as usize + payload.len()..];
        Ok((Self { entries }, behind))
    }

    /// Consecutive fat binaries, with nothing but zeros between them.
    pub(crate) fn read_all(bytes: &'a [u8]) -> Result<Vec<Self>, Error> {
        let mut found = Vec::new();
        let mut left = bytes;
        while !left.is_empty() {
            if u32_at(left, 0)? != FAT_BINARY_MAGIC {
                let start = left[..left.len().min(4)].to_vec();
                return Err(Error::Unknown { start });
            }
            let (binary, behind) = Self::read(left)?;
            found.push(binary);
            let n_zeros = behind.iter().take_while(|&&byte| byte == 0).count();
            left = &behind[n_zeros..];
        }
        Ok(found)
    }

    /// The PTX that a device of that architecture would compile: of those that it can run, the one
    /// for the highest architecture, and among these the most specific.
    ///
    /// # Errors
    /// There is none, or it cannot be restored.
    pub fn ptx_for(&self, device: u32) -> Result<Cow<'a, str>, Error> {
        let of_kind = |kind| self.entries.iter().filter(move |entry| entry.kind == kind);
        let architectures = |kind| of_kind(kind).map(|entry| entry.architecture).collect();
        let fitting = of_kind(Kind::Ptx).filter(|entry| entry.architecture.ptx_runs_on(device));
        if let Some(entry) = fitting.max_by_key(|entry| entry.architecture) {
            return entry.ptx();
        }
        let ptx: Vec<_> = architectures(Kind::Ptx);
        if !ptx.is_empty() {
            return Err(Error::PtxForOthers { ptx, device });
        }
        Err(Error::NoPtx {
            machine_code: architectures(Kind::Elf),
            has_intermediate: of_kind(Kind::Intermediate).next().is_some(),
        })
    }
}
