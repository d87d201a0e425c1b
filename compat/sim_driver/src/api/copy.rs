//! Copies and fills of every kind.

use std::ffi::c_uint;

use super::{api, get, run, submit, usable};
use crate::context::Context;
use crate::copies::{Copy as Transfer, Fill, Side, is_known_to_devices, must_be_known};
use crate::operation::Operation;
use crate::status::{Outcome, Status};

/// `CU_MEMORYTYPE_…`
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const UNIFIED: c_uint = 4;

/// A side of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Place2D {
    x: usize,
    y: usize,
    kind: c_uint,
    host: u64,
    device: u64,
    array: usize,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy2D {
    from: Place2D,
    to: Place2D,
    width: usize,
    height: usize,
}

/// A side of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Place3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: c_uint,
    host: u64,
    device: u64,
    array: usize,
    context: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, whose reserved fields are contexts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy3D {
    from: Place3D,
    to: Place3D,
    width: usize,
    height: usize,
    depth: usize,
}

impl Place2D {
    /// The side of a copy of rows of this many bytes, in one slice.
    fn side(&self, width: usize) -> Outcome<Side> {
        let place = Place3D {
            x: self.x,
            y: self.y,
            kind: self.kind,
            host: self.host,
            device: self.device,
            pitch: self.pitch,
            ..Place3D::default()
        };
        let side = place.side(width, 0)?;
        Ok(Side { rows: 0, ..side })
    }
}

impl Place3D {
    /// The side of a copy of rows of this many bytes, and slices of this many rows.
    fn side(&self, width: usize, height: usize) -> Outcome<Side> {
        let base = match self.kind {
            HOST => self.host,
            DEVICE | UNIFIED => self.device,
            // There are no arrays, whose number would be 3.
            _ => return Err(Status::INVALID_VALUE),
        };
        Status::INVALID_VALUE.when(base == 0 || self.level != 0)?;
        let or = |given: usize, usual: usize| if given == 0 { usual } else { given };
        let pitch = or(self.pitch, self.x + width);
        let rows = or(self.height, self.y + height);
        let before = (self.z * rows + self.y).wrapping_mul(pitch);
        Ok(Side {
            address: base.wrapping_add(before.wrapping_add(self.x) as u64),
            pitch: pitch as u64,
            rows: rows as u64,
        })
    }

    fn of(side: &Side) -> Outcome<Self> {
        let (kind, host, device) = match is_known_to_devices(side.address)? {
            true => (DEVICE, 0, side.address),
            false => (HOST, side.address, 0),
        };
        Ok(Self {
            kind,
            host,
            device,
            pitch: side.pitch as usize,
            height: side.rows as usize,
            ..Self::default()
        })
    }
}

impl Memcpy2D {
    fn transfer(&self) -> Outcome<Transfer> {
        Ok(Transfer {
            from: self.from.side(self.width)?,
            to: self.to.side(self.width)?,
            extent: [self.width as u64, self.height as u64, 1],
        })
    }
}

impl Memcpy3D {
    /// The structure that asks for this copy.
    pub fn of(copy: &Transfer) -> Outcome<Self> {
        let [width, height, depth] = copy.extent.map(|n| n as usize);
        Ok(Self {
            from: Place3D::of(&copy.from)?,
            to: Place3D::of(&copy.to)?,
            width,
            height,
            depth,
        })
    }

    /// As a transfer between two sides.
    pub fn transfer(&self) -> Outcome<Transfer> {
        Ok(Transfer {
            from: self.from.side(self.width, self.height)?,
            to: self.to.side(self.width, self.height)?,
            extent: [self.width as u64, self.height as u64, self.depth as u64],
        })
    }
}

/// Makes a default stream copy, and waits for it.
fn now(copy: Transfer, stream: usize) -> Outcome {
    Context::current()?;
    copy.check()?;
    if copy.is_empty() {
        return usable(stream).map(drop);
    }
    run(stream, Operation::Copy(copy))
}

/// Makes a stream copy. Memory unknown to devices may be the client's stack, so such a copy is
/// complete when the call returns.
fn later(copy: Transfer, stream: usize) -> Outcome {
    let (context, own) = usable(stream)?;
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
