//! Images: everything that a program may pass to the driver as code.

use std::borrow::Cow;

use crate::bytes::{text, u32_at};
use crate::elf::ELF_MAGIC;
use crate::{Cubin, Error, FAT_BINARY_MAGIC, FatBinary, WRAPPER_MAGIC};

/// What a program passes to the driver.
#[derive(Clone, Debug)]
pub enum Image<'a> {
    /// PTX text.
    Ptx(&'a str),
    /// Machine code.
    Cubin(Cubin),
    /// Fat binaries: one, or several consecutive ones.
    Fat(Vec<FatBinary<'a>>),
}

impl<'a> Image<'a> {
    /// Determines what bytes are. Text may end with a nul, after which nothing counts.
    ///
    /// # Errors
    /// They are none of these, or cut short.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        match u32_at(bytes, 0) {
            Ok(WRAPPER_MAGIC) => Err(Error::IsWrapper),
            Ok(FAT_BINARY_MAGIC) => FatBinary::read_all(bytes).map(Self::Fat),
            Ok(magic) if magic.to_le_bytes() == ELF_MAGIC => Cubin::read(bytes).map(Self::Cubin),
            _ if is_text(bytes) => text(bytes).map(Self::Ptx),
            _ => Err(Error::Unknown {
                start: bytes[..bytes.len().min(4)].to_vec(),
            }),
        }
    }

    /// The PTX that a device of that architecture (90 for `sm_90`) would compile; of several fat
    /// binaries, that of the first.
    ///
    /// # Errors
    /// There is none, or it cannot be restored.
    pub fn ptx_for(&self, device: u32) -> Result<Cow<'a, str>, Error> {
        let no_ptx = |machine_code| Error::NoPtx {
            machine_code,
            has_intermediate: false,
        };
        match self {
            Self::Ptx(text) => Ok(Cow::Borrowed(text)),
            Self::Cubin(cubin) => Err(no_ptx(vec![cubin.architecture])),
            Self::Fat(binaries) => match binaries.first() {
                Some(binary) => binary.ptx_for(device),
                None => Err(no_ptx(Vec::new())),
            },
        }
    }
}

/// Whether the first character can begin PTX: a space, the dot of `.version`, the slash of a
/// comment.
fn is_text(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.first() {
        Some(first) => first.is_ascii_whitespace() || matches!(first, b'.' | b'/'),
        None => false,
    }
}
