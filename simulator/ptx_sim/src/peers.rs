//! Devices of one machine, and access to each other's memory.
//!
//! No two have addresses in common, so a pointer says which device it belongs to. A kernel may use
//! the memory of its own device, and that of others once [`Device::enable_peer`] has been called for
//! them.

use std::sync::{Arc, Mutex};

use crate::device::{Device, DeviceConfig};
use crate::machine::Machine;
use crate::memory::heap::{Heap, N_SPANS, Seat};

/// The most devices that a machine can have.
pub const MAX_DEVICES: usize = N_SPANS as usize;

/// Why a device cannot use another one's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// They are one and the same.
    #[error("device {0} needs no access to its own memory as a peer")]
    Itself(u32),
    /// They were not made together.
    #[error(
        "device {0} and device {1} are not of one machine: make them together, by \
         `Device::several`"
    )]
    Apart(u32, u32),
    /// It can already.
    #[error("device {0} already has access to the memory of device {1}")]
    AlreadyEnabled(u32, u32),
    /// It could not before.
    #[error("device {0} has no access to the memory of device {1} that could be taken away")]
    NotEnabled(u32, u32),
}

impl Device {
    /// The devices of a machine: alike, numbered from 0. [`DeviceConfig::ordinal`] is the first
    /// one's number.
    ///
    /// ```
    /// use ptx_sim::{Device, DeviceConfig};
    ///
    /// let devices = Device::several(2, &DeviceConfig::default());
    /// devices[0].enable_peer(&devices[1])?;
    /// # Ok::<(), ptx_sim::PeerError>(())
    /// ```
    ///
    /// # Panics
    /// If there are to be more than [`MAX_DEVICES`].
    pub fn several(n: usize, config: &DeviceConfig) -> Vec<Self> {
        assert!(
            n <= MAX_DEVICES,
            "a machine has at most {MAX_DEVICES} devices, not {n}"
        );
        if n == 1 {
            return vec![Self::with_config(config.clone())];
        }
        let seat = |index| Seat {
            ordinal: config.ordinal + index as u32,
            index,
            n_devices: n,
        };
        let heaps = (0..n).map(|index| Arc::new(Mutex::new(Heap::new(seat(index)))));
        let heaps: Arc<[_]> = heaps.collect();
        let (contents, progress) = (Arc::default(), Arc::default());
        let device = |index| {
            let seat = seat(index);
            let machine = Machine::of_several(seat, &heaps, &contents, &progress);
            let config = DeviceConfig {
                ordinal: seat.ordinal,
                ..config.clone()
            };
            Self::with_heap(config, Arc::clone(&heaps[index]), machine)
        };
        (0..n).map(device).collect()
    }

    /// Whether both are devices of one machine, or one and the same.
    pub fn is_beside(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.machine.is_same(&other.machine)
    }

    /// Lets its kernels use the memory of another device of the machine, in one direction only.
    ///
    /// # Errors
    /// They already may, or the two are not two devices of one machine.
    pub fn enable_peer(&self, peer: &Self) -> Result<(), PeerError> {
        let (index, [own, other]) = self.seat_of(peer)?;
        match self.machine.set_peer(index, true) {
            false => Ok(()),
            true => Err(PeerError::AlreadyEnabled(own, other)),
        }
    }

    /// The opposite of [`Device::enable_peer`]: launches from now on cannot.
    ///
    /// # Errors
    /// They could not before, or the two are not two devices of one machine.
    pub fn disable_peer(&self, peer: &Self) -> Result<(), PeerError> {
        let (index, [own, other]) = self.seat_of(peer)?;
        match self.machine.set_peer(index, false) {
            true => Ok(()),
            false => Err(PeerError::NotEnabled(own, other)),
        }
    }

    /// Whether its kernels may use the memory of another device.
    pub fn is_peer_enabled(&self, peer: &Self) -> bool {
        let found = self.seat_of(peer);
        found.is_ok_and(|(index, _)| self.machine.is_peer(index))
    }

    /// The place of another device among those of the machine, and the numbers of both.
    fn seat_of(&self, peer: &Self) -> Result<(usize, [u32; 2]), PeerError> {
        let seats = [self, peer].map(|device| device.machine.seat());
        let numbers = seats.map(|seat| seat.ordinal);
        if std::ptr::eq(self, peer) {
            return Err(PeerError::Itself(numbers[0]));
        }
        if !self.machine.is_same(&peer.machine) {
            return Err(PeerError::Apart(numbers[0], numbers[1]));
        }
        Ok((seats[1].index, numbers))
    }
}
