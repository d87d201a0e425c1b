//! Little-endian numbers at offsets in bytes that may be too few.

use crate::Error;

/// The `N` bytes at an offset.
fn array<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], Error> {
    offset
        .checked_add(N)
        .and_then(|end| bytes.get(offset..end)?.try_into().ok())
        .ok_or(Error::Truncated {
            needed: (offset as u64).saturating_add(N as u64),
            given: bytes.len() as u64,
        })
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Result<u16, Error> {
    Ok(u16::from_le_bytes(array(bytes, offset)?))
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Result<u32, Error> {
    Ok(u32::from_le_bytes(array(bytes, offset)?))
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Result<u64, Error> {
    Ok(u64::from_le_bytes(array(bytes, offset)?))
}

/// `length` bytes at an offset.
pub(crate) fn slice(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], Error> {
    let end = offset.saturating_add(length);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    range
        .and_then(|(start, end)| bytes.get(start..end))
        .ok_or(Error::Truncated {
            needed: end,
            given: bytes.len() as u64,
        })
}

/// Text up to its nul.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Error> {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| Error::NotText {
        at: error.valid_up_to(),
    })
}
