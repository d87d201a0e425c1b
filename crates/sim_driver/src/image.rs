//! What a client gives as a module: PTX text, or a file that has some inside.

use std::ffi::CStr;

use crate::status::{Outcome, Status};

/// An ELF file begins so.
const ELF: [u8; 4] = *b"\x7fELF";

/// What a client gives as a module.
pub enum Image {
    /// PTX text.
    Ptx(String),
    /// Machine code.
    MachineCode,
}

impl Image {
    /// Reads what begins at an address.
    ///
    /// # Safety
    /// A whole image begins there, or a text that ends in a nul.
    pub unsafe fn at(start: *const u8) -> Outcome<Self> {
        if start.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let begins_with = |mark: [u8; 4]| {
            let mut bytes = mark.iter().enumerate();
            // SAFETY: The caller says that there is a text, which has at least its nul.
            bytes.all(|(i, &byte)| unsafe { *start.add(i) } == byte)
        };
        if begins_with(ELF) {
            return Ok(Self::MachineCode);
        }
        // SAFETY: As the caller says.
        let text = unsafe { CStr::from_ptr(start.cast()) };
        Self::from_bytes(text.to_bytes())
    }

    /// Reads bytes that are all there is.
    pub fn from_bytes(bytes: &[u8]) -> Outcome<Self> {
        if bytes.starts_with(&ELF) {
            return Ok(Self::MachineCode);
        }
        let end = bytes.iter().position(|&byte| byte == 0);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        Ok(Self::Ptx(String::from_utf8_lossy(text).into_owned()))
    }

    /// Its PTX for a device; else why there is none.
    pub fn ptx(&self, _compute: (u32, u32)) -> Result<String, String> {
        match self {
            Self::Ptx(text) => Ok(text.clone()),
            Self::MachineCode => Err(
                "it is machine code without PTX, which the simulator cannot run; \
                 compile with PTX inside (nvcc: -gencode arch=compute_90,code=compute_90)"
                    .to_owned(),
            ),
        }
    }
}
