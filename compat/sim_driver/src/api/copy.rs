//! Copies and fills of every kind.

use std::ffi::c_uint;

use super::{api, get, run, submit};
use crate::context::Context;
use crate::copies::{Copy as Transfer, Fill, Side, is_known_to_devices, must_be_known};
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::Stream;

/// `CU_MEMORYTYPE_…`
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const UNIFIED: c_uint = 4;

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy2D {
    from_x: usize,
    from_y: usize,
    from_kind: c_uint,
    from_host: u64,
    from_device: u64,
    from_array: usize,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: c_uint,
    to_host: u64,
    to_device: u64,
    to_array: usize,
    to_pitch: usize,
    width: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, whose reserved fields are contexts.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Memcpy3D {
    from_x: usize,
    from_y: usize,
    from_z: usize,
    from_level: usize,
    from_kind: c_uint,
    from_host: u64,
    from_device: u64,
    from_array: usize,
    from_context: usize,
    from_pitch: usize,
    from_height: usize,
    to_x: usize,
    to_y: usize,
    to_z: usize,
    to_level: usize,
    to_kind: c_uint,
    to_host: u64,
    to_device: u64,
    to_array: usize,
    to_context: usize,
    to_pitch: usize,
    to_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

/// The side of a copy that `CU_MEMORYTYPE_…` names.
fn side(
    kind: u32,
    host: u64,
    device: u64,
    [x, y, z]: [usize; 3],
    pitch: usize,
    rows: usize,
) -> Outcome<Side> {
    let base = match kind {
        HOST => host,
        DEVICE | UNIFIED => device,
        // There are no arrays, whose number would be 3.
        _ => return Err(Status::INVALID_VALUE),
    };
    Status::INVALID_VALUE.when(base == 0)?;
    let before = (z * rows + y).wrapping_mul(pitch).wrapping_add(x);
    Ok(Side {
        address: base.wrapping_add(before as u64),
        pitch: pitch as u64,
        rows: rows as u64,
    })
}

impl Memcpy2D {
    fn transfer(&self) -> Outcome<Transfer> {
        let pitch = |pitch: usize, x: usize| if pitch == 0 { x + self.width } else { pitch };
        let from_pitch = pitch(self.from_pitch, self.from_x);
        let to_pitch = pitch(self.to_pitch, self.to_x);
        Ok(Transfer {
            from: side(
                self.from_kind,
                self.from_host,
                self.from_device,
                [self.from_x, self.from_y, 0],
                from_pitch,
                0,
            )?,
            to: side(
                self.to_kind,
                self.to_host,
                self.to_device,
                [self.to_x, self.to_y, 0],
                to_pitch,
                0,
            )?,
            extent: [self.width as u64, self.height as u64, 1],
        })
    }
}

impl Memcpy3D {
    /// The structure that asks for this copy.
    pub fn of(copy: &Transfer) -> Outcome<Self> {
        let side = |side: &Side| -> Outcome<(c_uint, u64, u64)> {
            Ok(match is_known_to_devices(side.address)? {
                true => (DEVICE, 0, side.address),
                false => (HOST, side.address, 0),
            })
        };
        let (from_kind, from_host, from_device) = side(&copy.from)?;
        let (to_kind, to_host, to_device) = side(&copy.to)?;
        let [width, height, depth] = copy.extent.map(|n| n as usize);
        Ok(Self {
            from_kind,
            from_host,
            from_device,
            from_pitch: copy.from.pitch as usize,
            from_height: copy.from.rows as usize,
            to_kind,
            to_host,
            to_device,
            to_pitch: copy.to.pitch as usize,
            to_height: copy.to.rows as usize,
            width,
            height,
            depth,
            ..Self::default()
        })
    }

    /// As a transfer between two sides.
    pub fn transfer(&self) -> Outcome<Transfer> {
        Status::INVALID_VALUE.when(self.from_level != 0 || self.to_level != 0)?;
        let pitch = |pitch: usize, x: usize| if pitch == 0 { x + self.width } else { pitch };
        let rows = |rows: usize, y: usize| if rows == 0 { y + self.height } else { rows };
        Ok(Transfer {
            from: side(
                self.from_kind,
                self.from_host,
                self.from_device,
                [self.from_x, self.from_y, self.from_z],
                pitch(self.from_pitch, self.from_x),
                rows(self.from_height, self.from_y),
            )?,
            to: side(
                self.to_kind,
                self.to_host,
                self.to_device,
                [self.to_x, self.to_y, self.to_z],
                pitch(self.to_pitch, self.to_x),
                rows(self.to_height, self.to_y),
            )?,
            extent: [self.width as u64, self.height as u64, self.depth as u64],
        })
    }
}

/// Makes a default stream copy, and waits for it.
fn now(copy: Transfer, stream: usize) -> Outcome {
    Context::current()?;
    copy.check()?;
    if copy.is_empty() {
        return Ok(());
    }
    run(stream, Operation::Copy(copy))
}

/// Makes a stream copy. Memory unknown to devices may be the client's stack, so such a copy is
/// complete when the call returns.
fn later(copy: Transfer, stream: usize) -> Outcome {
    let (context, own) = Stream::of(stream)?;
    copy.check()?;
    if copy.is_empty() {
        return Ok(());
    }
    let captured = own.capture().is_some();
    if captured || !copy.is_pageable()? {
        return submit(stream, Operation::Copy(copy));
    }
    own.run(&context, Operation::Copy(copy));
    context.check()
}

fn linear(to: u64, from: u64, n_bytes: usize) -> Transfer {
    Transfer::linear(to, from, n_bytes as u64)
}

/// Makes a stream copy between addresses of which some must be known to devices: `now`, or `later`.
fn between<const N: usize>(
    known: [u64; N],
    copy: Transfer,
    stream: usize,
    done: fn(Transfer, usize) -> Outcome,
) -> Outcome {
    Context::current()?;
    let n_bytes = copy.extent[0];
    known
        .iter()
        .try_for_each(|&address| must_be_known(address, n_bytes))?;
    done(copy, stream)
}

/// An error unless both are contexts.
fn contexts(to: usize, from: usize) -> Outcome {
    Context::of(to)?;
    Context::of(from).map(drop)
}

/// Makes a stream set memory: `run`, which waits for it, or `submit`.
fn set(fill: Fill, stream: usize, done: fn(usize, Operation) -> Outcome) -> Outcome {
    Context::current()?;
    fill.check()?;
    done(stream, Operation::Fill(fill))
}

fn rows(
    address: u64,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
) -> Fill {
    Fill {
        address,
        pitch: pitch as u64,
        value,
        element_bytes,
        extent: [width as u64, height as u64],
    }
}

api! {
    fn cuMemcpy, cuMemcpy_ptds(to: u64, from: u64, n_bytes: usize) with stream {
        now(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyAsync, cuMemcpyAsync_ptsz(to: u64, from: u64, n_bytes: usize, stream: usize) in stream {
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds(to: u64, from: u64, n_bytes: usize) with stream {
        between([to], linear(to, from, n_bytes), stream, now)
    }
    fn cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz(to: u64, from: u64, n_bytes: usize, stream: usize) in stream {
        between([to], linear(to, from, n_bytes), stream, later)
    }
    fn cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds(to: u64, from: u64, n_bytes: usize) with stream {
        between([from], linear(to, from, n_bytes), stream, now)
    }
    fn cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz(to: u64, from: u64, n_bytes: usize, stream: usize) in stream {
        between([from], linear(to, from, n_bytes), stream, later)
    }
    fn cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds(to: u64, from: u64, n_bytes: usize) with stream {
        between([to, from], linear(to, from, n_bytes), stream, now)
    }
    fn cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz(to: u64, from: u64, n_bytes: usize, stream: usize) in stream {
        between([to, from], linear(to, from, n_bytes), stream, later)
    }
    fn cuMemcpyPeer, cuMemcpyPeer_ptds(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize) with stream {
        contexts(to_context, from_context)?;
        between([to, from], linear(to, from, n_bytes), stream, now)
    }
    fn cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize, stream: usize) in stream {
        contexts(to_context, from_context)?;
        between([to, from], linear(to, from, n_bytes), stream, later)
    }
    fn cuMemcpy2D_v2, cuMemcpy2D_v2_ptds(copy: *const Memcpy2D) with stream {
        now(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds(copy: *const Memcpy2D) with stream {
        now(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz(copy: *const Memcpy2D, stream: usize) in stream {
        later(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3D_v2, cuMemcpy3D_v2_ptds(copy: *const Memcpy3D) with stream {
        now(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz(copy: *const Memcpy3D, stream: usize) in stream {
        later(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3DPeer, cuMemcpy3DPeer_ptds(copy: *const Memcpy3D) with stream {
        now(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz(copy: *const Memcpy3D, stream: usize) in stream = cuMemcpy3DAsync_v2;
    fn cuMemsetD8_v2, cuMemsetD8_v2_ptds(to: u64, value: u8, n: usize) with stream {
        set(Fill::linear(to, value.into(), 1, n as u64), stream, run)
    }
    fn cuMemsetD16_v2, cuMemsetD16_v2_ptds(to: u64, value: u16, n: usize) with stream {
        set(Fill::linear(to, value.into(), 2, n as u64), stream, run)
    }
    fn cuMemsetD32_v2, cuMemsetD32_v2_ptds(to: u64, value: u32, n: usize) with stream {
        set(Fill::linear(to, value, 4, n as u64), stream, run)
    }
    fn cuMemsetD8Async, cuMemsetD8Async_ptsz(to: u64, value: u8, n: usize, stream: usize) in stream {
        set(Fill::linear(to, value.into(), 1, n as u64), stream, submit)
    }
    fn cuMemsetD16Async, cuMemsetD16Async_ptsz(to: u64, value: u16, n: usize, stream: usize) in stream {
        set(Fill::linear(to, value.into(), 2, n as u64), stream, submit)
    }
    fn cuMemsetD32Async, cuMemsetD32Async_ptsz(to: u64, value: u32, n: usize, stream: usize) in stream {
        set(Fill::linear(to, value, 4, n as u64), stream, submit)
    }
    fn cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds(to: u64, pitch: usize, value: u8, width: usize, height: usize) with stream {
        set(rows(to, pitch, value.into(), 1, width, height), stream, run)
    }
    fn cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds(to: u64, pitch: usize, value: u16, width: usize, height: usize) with stream {
        set(rows(to, pitch, value.into(), 2, width, height), stream, run)
    }
    fn cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds(to: u64, pitch: usize, value: u32, width: usize, height: usize) with stream {
        set(rows(to, pitch, value, 4, width, height), stream, run)
    }
    fn cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: usize) in stream {
        set(rows(to, pitch, value.into(), 1, width, height), stream, submit)
    }
    fn cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: usize) in stream {
        set(rows(to, pitch, value.into(), 2, width, height), stream, submit)
    }
    fn cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: usize) in stream {
        set(rows(to, pitch, value, 4, width, height), stream, submit)
    }
}
