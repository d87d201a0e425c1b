//! Copies.

use std::ffi::c_uint;

use super::{api, get, wait_for};
use crate::current;
use crate::driver;
use crate::error::Outcome;
use crate::layouts::{Copy3D, DriverCopy, PeerCopy3D, check_kind};

/// A copy in a stream, or as the driver does it without one.
unsafe fn bytes(to: u64, from: u64, n: usize, kind: c_uint, stream: Option<usize>) -> Outcome {
    check_kind(kind)?;
    current::ready()?;
    if n == 0 {
        return Ok(());
    }
    unsafe {
        match (kind, stream) {
            (1, Some(stream)) => driver::cuMemcpyHtoDAsync_v2(to, from, n, stream),
            (2, Some(stream)) => driver::cuMemcpyDtoHAsync_v2(to, from, n, stream),
            (3, Some(stream)) => driver::cuMemcpyDtoDAsync_v2(to, from, n, stream),
            (_, Some(stream)) => driver::cuMemcpyAsync(to, from, n, stream),
            (1, None) => driver::cuMemcpyHtoD_v2(to, from, n),
            (2, None) => driver::cuMemcpyDtoH_v2(to, from, n),
            (3, None) => driver::cuMemcpyDtoD_v2(to, from, n),
            (_, None) => driver::cuMemcpy(to, from, n),
        }
    }
}

/// A copy in a stream.
pub(super) unsafe fn later(
    to: u64,
    from: u64,
    n_bytes: usize,
    kind: c_uint,
    stream: usize,
) -> Outcome {
    unsafe { bytes(to, from, n_bytes, kind, Some(stream)) }
}

/// A copy that is waited for, in the legacy stream or in another one.
pub(super) unsafe fn now(
    to: u64,
    from: u64,
    n_bytes: usize,
    kind: c_uint,
    stream: Option<usize>,
) -> Outcome {
    let copied = unsafe { bytes(to, from, n_bytes, kind, stream) };
    stream.map_or(copied, |stream| unsafe { wait_for(stream, copied) })
}

/// A copy of rows that is waited for.
unsafe fn rows_now(copy: &DriverCopy, stream: Option<usize>) -> Outcome {
    current::ready()?;
    match stream {
        None => unsafe { driver::cuMemcpy3D_v2(copy) },
        Some(stream) => unsafe { wait_for(stream, driver::cuMemcpy3DAsync_v2(copy, stream)) },
    }
}

/// A copy of rows in a stream.
unsafe fn rows_later(copy: &DriverCopy, stream: usize) -> Outcome {
    current::ready()?;
    unsafe { driver::cuMemcpy3DAsync_v2(copy, stream) }
}

/// The primary contexts of two devices.
fn primaries(to: i32, from: i32) -> Outcome<(usize, usize)> {
    current::ready()?;
    Ok((current::primary(to)?, current::primary(from)?))
}

/// Whether there is nothing to copy.
fn is_nothing(width: usize, height: usize) -> bool {
    width == 0 || height == 0
}

/// A copy between devices, in the driver's form.
fn between_devices(copy: &PeerCopy3D) -> Outcome<DriverCopy> {
    current::check_device(copy.from_device)?;
    current::check_device(copy.to_device)?;
    copy.for_driver()
}

api! {
    fn cudaMemcpy, cudaMemcpy_ptds(to: u64, from: u64, n_bytes: usize, kind: c_uint) with stream {
        now(to, from, n_bytes, kind, stream)
    }
    fn cudaMemcpyAsync, cudaMemcpyAsync_ptsz(to: u64, from: u64, n_bytes: usize, kind: c_uint, stream: usize) in stream {
        later(to, from, n_bytes, kind, stream)
    }
    fn cudaMemcpy2D, cudaMemcpy2D_ptds(to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: c_uint) with stream {
        check_kind(kind)?;
        let copy = DriverCopy::rows((to, to_pitch), (from, from_pitch), width, height)?;
        if is_nothing(width, height) { Ok(()) } else { rows_now(&copy, stream) }
    }
    fn cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz(to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: c_uint, stream: usize) in stream {
        check_kind(kind)?;
        let copy = DriverCopy::rows((to, to_pitch), (from, from_pitch), width, height)?;
        if is_nothing(width, height) { Ok(()) } else { rows_later(&copy, stream) }
    }
    fn cudaMemcpy3D, cudaMemcpy3D_ptds(copy: *const Copy3D) with stream {
        rows_now(&get(copy)?.for_driver()?, stream)
    }
    fn cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz(copy: *const Copy3D, stream: usize) in stream {
        rows_later(&get(copy)?.for_driver()?, stream)
    }
    fn cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds(copy: *const PeerCopy3D) with stream {
        rows_now(&between_devices(&get(copy)?)?, stream)
    }
    fn cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz(copy: *const PeerCopy3D, stream: usize) in stream {
        rows_later(&between_devices(&get(copy)?)?, stream)
    }
    fn cudaMemcpyPeer(to: u64, to_device: i32, from: u64, from_device: i32, n_bytes: usize) {
        let (to_context, from_context) = primaries(to_device, from_device)?;
        driver::cuMemcpyPeer(to, to_context, from, from_context, n_bytes)
    }
    fn cudaMemcpyPeerAsync(to: u64, to_device: i32, from: u64, from_device: i32, n_bytes: usize, stream: usize) {
        let (to_context, from_context) = primaries(to_device, from_device)?;
        driver::cuMemcpyPeerAsync(to, to_context, from, from_context, n_bytes, stream)
    }
}
