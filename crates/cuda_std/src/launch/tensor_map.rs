//! The host's argument for a `&TensorMap`.
//!
//! Left out: making one, which takes a driver or a simulator (`lockstep::TensorMap`).

use super::{Holds, KernelArg, MAP_BYTES, MovedMap, ParamValue};
use core::fmt;

/// The map of an array in device memory, as TMA reads it.
///
/// Like a [`DevicePtr`](super::DevicePtr) it does not keep the memory alive.
#[derive(Clone, Copy)]
pub struct DeviceTensorMap {
    bytes: [u8; MAP_BYTES],
    address: u64,
    moved: MovedMap,
}

impl DeviceTensorMap {
    /// The map in `bytes`, of the array at `address` in the device's global address space.
    pub const fn new(bytes: [u8; MAP_BYTES], address: u64, moved: MovedMap) -> Self {
        Self {
            bytes,
            address,
            moved,
        }
    }

    /// The map, as it lies in device memory.
    pub const fn as_bytes(&self) -> &[u8; MAP_BYTES] {
        &self.bytes
    }

    /// Address of the array.
    pub const fn address(&self) -> u64 {
        self.address
    }
}

impl fmt::Debug for DeviceTensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tensor map of {:#x}", self.address)
    }
}

impl KernelArg for DeviceTensorMap {
    const PARAM_SIZES: &'static [u32] = &[MAP_BYTES as u32];
    fn push_params(&self, push: &mut dyn FnMut(ParamValue)) {
        push(ParamValue {
            holds: Holds::Map {
                address: self.address,
                moved: self.moved,
            },
            ..ParamValue::new(self.bytes)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// A map that begins with its address, if that is even.
    fn moved(map: &[u8; MAP_BYTES], address: u64) -> Result<[u8; MAP_BYTES], String> {
        if address % 2 == 1 {
            return Err("odd".into());
        }
        let mut there = *map;
        there[..8].copy_from_slice(&address.to_le_bytes());
        Ok(there)
    }

    #[test]
    fn a_map_is_one_parameter_that_moves_with_its_array() {
        let bytes = moved(&[7; MAP_BYTES], 0x1000).expect("even");
        let map = DeviceTensorMap::new(bytes, 0x1000, moved);
        let mut params = alloc::vec::Vec::new();
        map.push_params(&mut |param| params.push(param));
        let [param] = &params[..] else {
            panic!("{params:?}")
        };
        assert_eq!(
            (param.as_bytes(), param.address()),
            (&bytes[..], Some(0x1000))
        );
        let there = param.relocated(&|address| address + 256).expect("even");
        let expected = moved(&bytes, 0x1100).expect("even");
        assert_eq!(
            (there.as_bytes(), there.address()),
            (&expected[..], Some(0x1100))
        );
        assert_eq!(param.relocated(&|address| address + 1), Err("odd".into()));
    }
}
