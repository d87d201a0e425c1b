//! Copies and fills: of one row, of rows with a pitch, of slices of such rows.

use std::sync::Arc;

use crate::driver::{SimDevice, driver};
use crate::host_memory::HostRange;
use crate::status::{Outcome, Status};

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Address of the first byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Rows from one slice to the next.
    pub rows: u64,
}

impl Side {
    /// Consecutive bytes.
    pub fn linear(address: u64) -> Self {
        Self {
            address,
            pitch: 0,
            rows: 0,
        }
    }

    /// Where it is, in words that are the same in each run.
    pub fn in_words(&self) -> String {
        match home(self.address) {
            Some(_) => format!("a device at {:#x}", self.address),
            None => "the host".to_owned(),
        }
    }

    /// The address of a row's first byte.
    pub fn row(&self, y: u64, z: u64) -> u64 {
        let rows = z.wrapping_mul(self.rows).wrapping_add(y);
        self.address.wrapping_add(rows.wrapping_mul(self.pitch))
    }
}

/// A copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The target.
    pub to: Side,
    /// The source.
    pub from: Side,
    /// Bytes per row, rows, and slices.
    pub extent: [u64; 3],
}

/// Where an address is.
enum Place {
    /// On a device, in an allocation that contains the bytes.
    Device(Arc<SimDevice>),
    /// In host memory, whether known to devices or not.
    Host,
}

/// Where some bytes are; an error if they should be on a device and are not.
fn place(address: u64, n_bytes: u64) -> Outcome<Place> {
    Status::INVALID_VALUE.when(address == 0)?;
    let driver = driver()?;
    if let Some(device) = driver.device_of_address(address) {
        let allocation = device.sim.allocation_at(address);
        let allocation = allocation.ok_or(Status::INVALID_VALUE)?;
        let left = allocation.size_bytes - (address - allocation.address);
        Status::INVALID_VALUE.when(n_bytes > left)?;
        return Ok(Place::Device(Arc::clone(device)));
    }
    if let Some(range) = HostRange::find(address)
        && n_bytes > range.size_bytes - (address - range.base)
    {
        return Err(Status::INVALID_VALUE);
    }
    Ok(Place::Host)
}

/// The number of the device that an address belongs to; `None` for a host address.
fn home(address: u64) -> Option<u32> {
    let device = driver().ok()?.device_of_address(address)?;
    Some(device.ordinal)
}

/// Whether devices can use an address: their own, or a host address known to them.
pub fn is_known_to_devices(address: u64) -> Outcome<bool> {
    let driver = driver()?;
    let on_device = driver.device_of_address(address).is_some();
    Ok(on_device || HostRange::find(address).is_some())
}

/// An error unless devices can use these bytes.
pub fn must_be_known(address: u64, n_bytes: u64) -> Outcome {
    if n_bytes == 0 || is_known_to_devices(address)? {
        return Ok(());
    }
    Err(Status::INVALID_VALUE)
}

impl Copy {
    /// A copy of consecutive bytes.
    pub fn linear(to: u64, from: u64, n_bytes: u64) -> Self {
        Self {
            to: Side::linear(to),
            from: Side::linear(from),
            extent: [n_bytes, 1, 1],
        }
    }

    /// Whether there is nothing to copy.
    pub fn is_empty(&self) -> bool {
        self.extent.contains(&0)
    }

    /// Whether both sides are on devices.
    pub fn is_within_devices(&self) -> bool {
        home(self.to.address).is_some() && home(self.from.address).is_some()
    }

    /// Whether one side is host memory unknown to devices: such a copy is complete before the
    /// client continues.
    pub fn is_pageable(&self) -> Outcome<bool> {
        Ok(!is_known_to_devices(self.to.address)? || !is_known_to_devices(self.from.address)?)
    }

    /// An error if it is invalid: rows that overlap, or that are in no memory.
    pub fn check(&self) -> Outcome {
        let [width, height, depth] = self.extent;
        if self.is_empty() {
            return Ok(());
        }
        for side in [&self.to, &self.from] {
            let overlaps = height > 1 && side.pitch < width || depth > 1 && side.rows < height;
            Status::INVALID_VALUE.when(overlaps)?;
            for (y, z) in [(0, 0), (height - 1, depth - 1)] {
                place(side.row(y, z), width)?;
            }
        }
        Ok(())
    }

    /// Whether a node of an executable graph that does one may do the other: both have one row,
    /// between the same devices.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_row = |copy: &Self| copy.extent[1..] == [1, 1];
        let sides = |copy: &Self| [home(copy.to.address), home(copy.from.address)];
        is_row(self) && is_row(other) && sides(self) == sides(other)
    }

    /// Performs it.
    pub fn run(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        let [width, height, depth] = self.extent;
        for z in 0..depth {
            for y in 0..height {
                copy_row(self.to.row(y, z), self.from.row(y, z), width)?;
            }
        }
        Ok(())
    }
}

/// Copies consecutive bytes.
fn copy_row(to: u64, from: u64, n_bytes: u64) -> Outcome {
    let n = usize::try_from(n_bytes).map_err(|_| Status::INVALID_VALUE)?;
    let (target, source) = (to as *mut u8, from as *const u8);
    let result = match (place(to, n_bytes)?, place(from, n_bytes)?) {
        (Place::Device(device), Place::Host) => {
            // SAFETY: the client says that there are this many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(source, n) };
            device.sim.write(to, bytes)
        }
        (Place::Host, Place::Device(device)) => {
            // SAFETY: the client says that there are this many bytes.
            let bytes = unsafe { std::slice::from_raw_parts_mut(target, n) };
            device.sim.read(from, bytes)
        }
        (Place::Device(a), Place::Device(b)) if Arc::ptr_eq(&a, &b) => {
            a.sim.copy(from, to, n_bytes)
        }
        (Place::Device(a), Place::Device(b)) => {
            let mut bytes = vec![0; n];
            let read = b.sim.read(from, &mut bytes);
            read.and_then(|()| a.sim.write(to, &bytes))
        }
        (Place::Host, Place::Host) => {
            // SAFETY: the client says that there are this many bytes at both.
            unsafe { std::ptr::copy(source, target, n) };
            Ok(())
        }
    };
    // It was freed after the copy was submitted.
    result.map_err(|_| Status::ILLEGAL_ADDRESS)
}

/// Memory that is set to a value, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Address of the first byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// The value.
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub element_bytes: u32,
    /// Elements per row, and rows.
    pub extent: [u64; 2],
}

impl Fill {
    /// A fill of consecutive elements.
    pub fn linear(address: u64, value: u32, element_bytes: u32, n: u64) -> Self {
        Self {
            address,
            pitch: 0,
            value,
            element_bytes,
            extent: [n, 1],
        }
    }

    /// Whether it is of a device's memory.
    pub fn is_on_device(&self) -> bool {
        home(self.address).is_some()
    }

    fn row_bytes(&self) -> Outcome<u64> {
        let bytes = self.extent[0].checked_mul(u64::from(self.element_bytes));
        bytes.ok_or(Status::INVALID_VALUE)
    }

    /// The address of a row's first byte.
    pub fn row(&self, y: u64) -> u64 {
        self.address.wrapping_add(y.wrapping_mul(self.pitch))
    }

    /// An error if it is invalid.
    pub fn check(&self) -> Outcome {
        Status::INVALID_VALUE.when(!matches!(self.element_bytes, 1 | 2 | 4))?;
        let row_bytes = self.row_bytes()?;
        let [width, height] = self.extent;
        if width == 0 || height == 0 {
            return Ok(());
        }
        let element = u64::from(self.element_bytes);
        let aligned = self.address.is_multiple_of(element)
            && (height == 1 || self.pitch.is_multiple_of(element));
        Status::INVALID_VALUE.when(!aligned || height > 1 && self.pitch < row_bytes)?;
        for y in [0, height - 1] {
            must_be_known(self.row(y), row_bytes)?;
            place(self.row(y), row_bytes)?;
        }
        Ok(())
    }

    /// Whether a node of an executable graph that does one may do the other: both have one row, on
    /// the same device.
    pub fn is_like(&self, other: &Self) -> bool {
        self.extent[1] == 1 && other.extent[1] == 1 && home(self.address) == home(other.address)
    }

    /// Performs it.
    pub fn run(&self) -> Outcome {
        const PIECE: u64 = 64 << 10;
        let row_bytes = self.row_bytes()?;
        let element = &self.value.to_le_bytes()[..self.element_bytes as usize];
        let piece = element.repeat((PIECE.min(row_bytes) / u64::from(self.element_bytes)) as usize);
        for y in 0..self.extent[1] {
            let mut done = 0;
            while done < row_bytes {
                let n = (piece.len() as u64).min(row_bytes - done);
                fill_piece(self.row(y) + done, &piece[..n as usize])?;
                done += n;
            }
        }
        Ok(())
    }
}

fn fill_piece(to: u64, bytes: &[u8]) -> Outcome {
    match place(to, bytes.len() as u64)? {
        Place::Device(device) => {
            let written = device.sim.write(to, bytes);
            written.map_err(|_| Status::ILLEGAL_ADDRESS)
        }
        Place::Host => {
            // SAFETY: `check` found it known to devices, which it is until it is freed.
            unsafe { std::ptr::copy(bytes.as_ptr(), to as *mut u8, bytes.len()) };
            Ok(())
        }
    }
}
