//! Filling memory.

use super::{api, wait_for};
use crate::current;
use crate::driver;
use crate::error::{Error, Outcome};
use crate::layouts::{Extent, Pitched};

/// Rows to fill with a byte, which is passed as an `int`.
#[derive(Clone, Copy)]
struct Rows {
    to: u64,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
}

impl Rows {
    /// The rows of some slices: they are consecutive if slices are filled completely.
    fn of(to: &Pitched, value: i32, extent: Extent) -> Outcome<Vec<Self>> {
        if extent.width > to.pitch {
            return Err(Error::INVALID_PITCH);
        }
        let rows = |to_address, height| Self {
            to: to_address,
            pitch: to.pitch,
            value,
            width: extent.width,
            height,
        };
        if extent.height == to.height {
            return Ok(vec![rows(to.address, extent.height * extent.depth)]);
        }
        let slice = (to.pitch * to.height) as u64;
        let slices = (0..extent.depth as u64).map(|i| rows(to.address + i * slice, extent.height));
        Ok(slices.collect())
    }

    /// Fills them, if there are any: in a stream, or as the driver does without one.
    unsafe fn fill(&self, stream: Option<usize>) -> Outcome {
        let Self {
            to,
            pitch,
            value,
            width,
            height,
        } = *self;
        current::ready()?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        let value = value as u8;
        match stream {
            Some(stream) => unsafe {
                driver::cuMemsetD2D8Async(to, pitch, value, width, height, stream)
            },
            None => unsafe { driver::cuMemsetD2D8_v2(to, pitch, value, width, height) },
        }
    }

    /// Makes a stream fill them.
    unsafe fn later(&self, stream: usize) -> Outcome {
        unsafe { self.fill(Some(stream)) }
    }

    /// Fills them, and waits as the runtime does.
    unsafe fn now(&self, stream: Option<usize>) -> Outcome {
        let filled = unsafe { self.fill(stream) };
        stream.map_or(filled, |stream| unsafe { wait_for(stream, filled) })
    }
}

api! {
    fn cudaMemset, cudaMemset_ptds(to: u64, value: i32, n: usize) with stream {
        Rows { to, pitch: n, value, width: n, height: 1 }.now(stream)
    }
    fn cudaMemsetAsync, cudaMemsetAsync_ptsz(to: u64, value: i32, n: usize, stream: usize) in stream {
        Rows { to, pitch: n, value, width: n, height: 1 }.later(stream)
    }
    fn cudaMemset2D, cudaMemset2D_ptds(to: u64, pitch: usize, value: i32, width: usize, height: usize) with stream {
        Rows { to, pitch, value, width, height }.now(stream)
    }
    fn cudaMemset2DAsync, cudaMemset2DAsync_ptsz(to: u64, pitch: usize, value: i32, width: usize, height: usize, stream: usize) in stream {
        Rows { to, pitch, value, width, height }.later(stream)
    }
    fn cudaMemset3D, cudaMemset3D_ptds(to: Pitched, value: i32, extent: Extent) with stream {
        Rows::of(&to, value, extent)?.iter().try_for_each(|rows| rows.now(stream))
    }
    fn cudaMemset3DAsync, cudaMemset3DAsync_ptsz(to: Pitched, value: i32, extent: Extent, stream: usize) in stream {
        Rows::of(&to, value, extent)?.iter().try_for_each(|rows| rows.later(stream))
    }
}
