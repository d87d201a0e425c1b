//! One piece of code in a fat binary.

use std::borrow::Cow;

use crate::bytes::{slice, text, u16_at, u32_at, u64_at};
use crate::{Architecture, Compression, Error, Variant};

/// What kind of code an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Elf,
    /// Input of the link-time optimiser (`code=lto_80`). It is scrambled, so it cannot be restored.
    Intermediate,
    /// Something else, by its number.
    Other(u16),
}

/// An entry's header:
///
/// | offset | type | |
/// |--|--|--|
/// | 0 | `u16` | kind: 1 PTX, 2 ELF, 8 intermediate |
/// | 2 | `u16` | version, 0x101 |
/// | 4 | `u32` | bytes of the header |
/// | 8 | `u64` | bytes of the code, filled up to a multiple of 8 |
/// | 16 | `u32` | bytes of the code if it is compressed, else 0 |
/// | 20 | `u32` | where in the header the compiler's options are |
/// | 24 | `u16`, `u16` | minor and major version of the code: of PTX, its `.version` |
/// | 28 | `u32` | architecture |
/// | 32 | `u32`, `u32` | where in the header the source file's name is, and its length; 0 if there is none |
/// | 40 | `u64` | flags |
/// | 48 | `u64` | a hash or 0 |
/// | 56 | `u64` | bytes of the code once restored, else 0 |
pub(crate) const ENTRY_HEADER_BYTES: u32 = 64;

/// Flag: LZ4.
const LZ4_FLAG: u64 = 0x2000;
/// Flag: zstd.
const ZSTD_FLAG: u64 = 0x8000;
/// Flag: for one architecture only.
const SPECIFIC_FLAG: u64 = 0x10_0000;
/// Flag: for one generation only.
const FAMILY_FLAG: u64 = 0x20_0000;

/// One piece of code in a fat binary.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// What kind of code it is.
    pub kind: Kind,
    /// The architecture that it is for.
    pub architecture: Architecture,
    /// Version of the code, major and minor: of PTX, its `.version`.
    pub version: (u16, u16),
    /// How it is compressed; an error if that is unknown.
    pub compression: Result<Option<Compression>, Error>,
    /// The file that it was compiled from, if that was kept.
    pub name: Option<&'a str>,
    stored: &'a [u8],
    /// Number of bytes once restored, if it is compressed.
    restored_bytes: u64,
}

impl<'a> Entry<'a> {
    /// The entry at the start of these bytes, and how many it takes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, u64), Error> {
        let header_bytes = u32_at(bytes, 4)?;
        if header_bytes < ENTRY_HEADER_BYTES {
            return Err(Error::Malformed {
                what: "size of an entry's header",
                value: u64::from(header_bytes),
            });
        }
        let header = slice(bytes, 0, u64::from(header_bytes))?;
        let code_bytes = u64_at(header, 8)?;
        let code = slice(bytes, u64::from(header_bytes), code_bytes)?;
        let flags = u64_at(header, 40)?;
        let compression = compression(flags);
        let stored = if compression == Ok(None) {
            code
        } else {
            slice(code, 0, u64::from(u32_at(header, 16)?))?
        };
        let entry = Self {
            kind: match u16_at(header, 0)? {
                1 => Kind::Ptx,
                2 => Kind::Elf,
                8 => Kind::Intermediate,
                other => Kind::Other(other),
            },
            architecture: Architecture {
                number: u32_at(header, 28)?,
                variant: variant(flags),
            },
            version: (u16_at(header, 26)?, u16_at(header, 24)?),
            compression,
            name: name(header)?,
            stored,
            restored_bytes: u64_at(header, 56)?,
        };
        Ok((entry, u64::from(header_bytes) + code_bytes))
    }

    /// The code, restored if it is compressed. If it is not, it may end with up to seven nul bytes.
    ///
    /// # Errors
    /// It is compressed in an unknown way, or not as its header says.
    pub fn code(&self) -> Result<Cow<'a, [u8]>, Error> {
        Ok(match self.compression.clone()? {
            None => Cow::Borrowed(self.stored),
            Some(compression) => Cow::Owned(compression.restore(self.stored, self.restored_bytes)?),
        })
    }

    /// The text of PTX, without the nul at its end.
    ///
    /// # Errors
    /// As for [`Entry::code`], or it is not text.
    pub fn ptx(&self) -> Result<Cow<'a, str>, Error> {
        Ok(match self.code()? {
            Cow::Borrowed(bytes) => Cow::Borrowed(text(bytes)?),
            Cow::Owned(bytes) => Cow::Owned(text(&bytes)?.to_owned()),
        })
    }
}

/// The compression that the flags state: one bit of four, of which two are known.
fn compression(flags: u64) -> Result<Option<Compression>, Error> {
    match flags & 0xf000 {
        0 => Ok(None),
        LZ4_FLAG => Ok(Some(Compression::Lz4)),
        ZSTD_FLAG => Ok(Some(Compression::Zstd)),
        _ => Err(Error::UnknownCompression { flags }),
    }
}

fn variant(flags: u64) -> Variant {
    if flags & SPECIFIC_FLAG != 0 {
        Variant::Specific
    } else if flags & FAMILY_FLAG != 0 {
        Variant::Family
    } else {
        Variant::Portable
    }
}

/// The name in an entry's header. One that is not text is ignored: nothing depends on it.
fn name(header: &[u8]) -> Result<Option<&str>, Error> {
    let (offset, length) = (u32_at(header, 32)?, u32_at(header, 36)?);
    if length == 0 {
        return Ok(None);
    }
    let bytes = slice(header, u64::from(offset), u64::from(length))?;
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(std::str::from_utf8(bytes)
        .ok()
        .filter(|name| !name.is_empty()))
}
