//! The structure that nvcc's programs register, and that points to a fat binary.

use crate::Error;
use crate::bytes::{u32_at, u64_at};

/// The first word of a wrapper, `__fatBinC_Wrapper_t`, which is passed to `__cudaRegisterFatBinary`
/// and sometimes to `cuModuleLoadData`:
///
/// | offset | type | |
/// |--|--|--|
/// | 0 | `u32` | this |
/// | 4 | `u32` | version, 1 or 2 |
/// | 8 | pointer | the fat binary |
/// | 16 | pointer | version 1: a file name or null; version 2 (relocatable code): an array of fat binaries to link, that ends with null |
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// The contents of a wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// 1 or 2.
    pub version: u32,
    /// Address of the fat binary.
    pub data: u64,
    /// Address of a file name (version 1) or of an array of fat binaries (version 2).
    pub other: u64,
}

impl Wrapper {
    /// Size of a wrapper in bytes.
    pub const BYTES: usize = 24;

    /// Reads a wrapper; `None` if these bytes start with something else.
    ///
    /// # Errors
    /// It is cut short or of an unknown version.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Error> {
        if u32_at(bytes, 0)? != WRAPPER_MAGIC {
            return Ok(None);
        }
        let version = u32_at(bytes, 4)?;
        if !matches!(version, 1 | 2) {
            return Err(Error::UnknownWrapper(version));
        }
        Ok(Some(Self {
            version,
            data: u64_at(bytes, 8)?,
            other: u64_at(bytes, 16)?,
        }))
    }
}
