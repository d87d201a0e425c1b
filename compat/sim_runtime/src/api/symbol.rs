//! Variables of the program: their addresses, and copies to and from them.

use std::ffi::c_uint;

use super::{api, needed, put};
use crate::error::{Error, Outcome};
use crate::registry::variable;

/// `cudaMemcpyKind`
const TO_DEVICE: c_uint = 1;
const TO_HOST: c_uint = 2;

/// The address in a variable where a copy begins that goes in the given direction or between
/// devices.
fn place(symbol: usize, n_bytes: usize, offset: usize, kind: c_uint, way: c_uint) -> Outcome<u64> {
    if !matches!(kind, 3 | 4) && kind != way {
        return Err(Error::INVALID_DIRECTION);
    }
    let (address, size) = variable(symbol)?;
    let end = offset.checked_add(n_bytes);
    if end.is_none_or(|end| end > size) {
        return Err(Error::INVALID_VALUE);
    }
    Ok(address + offset as u64)
}

api! {
    fn cudaGetSymbolAddress(out: *mut u64, symbol: usize) {
        needed(out)?;
        put(out, variable(symbol)?.0)
    }
    fn cudaGetSymbolSize(out: *mut usize, symbol: usize) {
        needed(out)?;
        put(out, variable(symbol)?.1)
    }
    fn cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds(symbol: usize, from: u64, n_bytes: usize, offset: usize, kind: c_uint) with stream {
        let to = place(symbol, n_bytes, offset, kind, TO_DEVICE)?;
        super::copy::now(to, from, n_bytes, kind, stream)
    }
    fn cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds(to: u64, symbol: usize, n_bytes: usize, offset: usize, kind: c_uint) with stream {
        let from = place(symbol, n_bytes, offset, kind, TO_HOST)?;
        super::copy::now(to, from, n_bytes, kind, stream)
    }
    fn cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz(symbol: usize, from: u64, n_bytes: usize, offset: usize, kind: c_uint, stream: usize) in stream {
        let to = place(symbol, n_bytes, offset, kind, TO_DEVICE)?;
        super::copy::later(to, from, n_bytes, kind, stream)
    }
    fn cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz(to: u64, symbol: usize, n_bytes: usize, offset: usize, kind: c_uint, stream: usize) in stream {
        let from = place(symbol, n_bytes, offset, kind, TO_HOST)?;
        super::copy::later(to, from, n_bytes, kind, stream)
    }
}
