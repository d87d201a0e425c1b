//! Copies and fills of every kind.

use std::ffi::c_uint;

use super::{api, get, run, submit};
use crate::context::Context;
use crate::copies::{Copy as Transfer, Fill, Side, must_be_known};
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::Stream;

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
#[derive(Clone, Copy)]
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

/// The side of a copy that `CU_MEMORYTYPE_…` says.
fn side(
    kind: u32,
    host: u64,
    device: u64,
    [x, y, z]: [usize; 3],
    pitch: usize,
    rows: usize,
) -> Outcome<Side> {
    let base = match kind {
        1 => host,
        2 | 4 => device,
        // There are no arrays, whose number would be 3.
        _ => return Err(Status::INVALID_VALUE),
    };
    if base == 0 {
        return Err(Status::INVALID_VALUE);
    }
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
    /// As the simulator copies.
    pub fn transfer(&self) -> Outcome<Transfer> {
        if self.from_level != 0 || self.to_level != 0 {
            return Err(Status::INVALID_VALUE);
        }
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

/// Copies, and waits for it.
fn now(copy: Transfer) -> Outcome {
    Context::current()?;
    copy.check()?;
    if copy.is_empty() {
        return Ok(());
    }
    run(Operation::Copy(copy))
}

/// Has a stream copy. Memory that devices do not know may be the client's stack: such a
/// copy is over when the call is.
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

/// An error unless these are addresses that devices use.
fn known<const N: usize>(addresses: [u64; N], n_bytes: usize) -> Outcome {
    Context::current()?;
    addresses
        .iter()
        .try_for_each(|&address| must_be_known(address, n_bytes as u64))
}

/// Sets memory, and waits for it unless it is told a stream.
fn set(fill: Fill, stream: Option<usize>) -> Outcome {
    Context::current()?;
    fill.check()?;
    match stream {
        None => run(Operation::Fill(fill)),
        Some(stream) => submit(stream, Operation::Fill(fill)),
    }
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
    fn cuMemcpy(to: u64, from: u64, n_bytes: usize) {
        now(linear(to, from, n_bytes))
    }
    fn cuMemcpyAsync(to: u64, from: u64, n_bytes: usize, stream: usize) {
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyHtoD_v2(to: u64, from: u64, n_bytes: usize) {
        known([to], n_bytes)?;
        now(linear(to, from, n_bytes))
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize) {
        known([to], n_bytes)?;
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyDtoH_v2(to: u64, from: u64, n_bytes: usize) {
        known([from], n_bytes)?;
        now(linear(to, from, n_bytes))
    }
    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize) {
        known([from], n_bytes)?;
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyDtoD_v2(to: u64, from: u64, n_bytes: usize) {
        known([to, from], n_bytes)?;
        now(linear(to, from, n_bytes))
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize) {
        known([to, from], n_bytes)?;
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpyPeer(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize) {
        Context::of(to_context)?;
        Context::of(from_context)?;
        known([to, from], n_bytes)?;
        now(linear(to, from, n_bytes))
    }
    fn cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize, stream: usize) {
        Context::of(to_context)?;
        Context::of(from_context)?;
        known([to, from], n_bytes)?;
        later(linear(to, from, n_bytes), stream)
    }
    fn cuMemcpy2D_v2(copy: *const Memcpy2D) {
        now(get(copy)?.transfer()?)
    }
    fn cuMemcpy2DUnaligned_v2(copy: *const Memcpy2D) {
        now(get(copy)?.transfer()?)
    }
    fn cuMemcpy2DAsync_v2(copy: *const Memcpy2D, stream: usize) {
        later(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3D_v2(copy: *const Memcpy3D) {
        now(get(copy)?.transfer()?)
    }
    fn cuMemcpy3DAsync_v2(copy: *const Memcpy3D, stream: usize) {
        later(get(copy)?.transfer()?, stream)
    }
    fn cuMemcpy3DPeer(copy: *const Memcpy3D) {
        now(get(copy)?.transfer()?)
    }
    fn cuMemcpy3DPeerAsync(copy: *const Memcpy3D, stream: usize) {
        later(get(copy)?.transfer()?, stream)
    }
    fn cuMemsetD8_v2(to: u64, value: u8, n: usize) {
        set(Fill::linear(to, value.into(), 1, n as u64), None)
    }
    fn cuMemsetD16_v2(to: u64, value: u16, n: usize) {
        set(Fill::linear(to, value.into(), 2, n as u64), None)
    }
    fn cuMemsetD32_v2(to: u64, value: u32, n: usize) {
        set(Fill::linear(to, value, 4, n as u64), None)
    }
    fn cuMemsetD8Async(to: u64, value: u8, n: usize, stream: usize) {
        set(Fill::linear(to, value.into(), 1, n as u64), Some(stream))
    }
    fn cuMemsetD16Async(to: u64, value: u16, n: usize, stream: usize) {
        set(Fill::linear(to, value.into(), 2, n as u64), Some(stream))
    }
    fn cuMemsetD32Async(to: u64, value: u32, n: usize, stream: usize) {
        set(Fill::linear(to, value, 4, n as u64), Some(stream))
    }
    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) {
        set(rows(to, pitch, value.into(), 1, width, height), None)
    }
    fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) {
        set(rows(to, pitch, value.into(), 2, width, height), None)
    }
    fn cuMemsetD2D32_v2(to: u64, pitch: usize, value: u32, width: usize, height: usize) {
        set(rows(to, pitch, value, 4, width, height), None)
    }
    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: usize) {
        set(rows(to, pitch, value.into(), 1, width, height), Some(stream))
    }
    fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: usize) {
        set(rows(to, pitch, value.into(), 2, width, height), Some(stream))
    }
    fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: usize) {
        set(rows(to, pitch, value, 4, width, height), Some(stream))
    }
}
