//! Machine code, as far as its kinds must be told apart.

use crate::bytes::{u16_at, u32_at};
use crate::{Architecture, Error, Variant};

/// The first bytes of every ELF file.
pub(crate) const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// Bytes of the header of a 64-bit ELF file.
pub(crate) const ELF_HEADER_BYTES: usize = 64;
/// `e_machine` of NVIDIA's GPUs.
const CUDA_MACHINE: u16 = 190;
/// `EI_ABIVERSION` from which the architecture is in the second byte of `e_flags`, not
/// in the first.
const NEW_ABI: u8 = 8;

/// An ELF file with machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// The architecture that it is for. Its letter is not read.
    pub architecture: Architecture,
}

impl Cubin {
    /// Reads the header.
    ///
    /// # Errors
    /// It is cut short or for another machine.
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

/// An error unless these are the first bytes of a file with NVIDIA's machine code.
pub(crate) fn check_header(bytes: &[u8]) -> Result<(), Error> {
    // Up to the last field, the header is complete.
    u16_at(bytes, ELF_HEADER_BYTES - 2)?;
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
