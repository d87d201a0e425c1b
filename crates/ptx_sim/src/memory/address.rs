//! Generic addresses.
//!
//! A generic address names a byte of any space. Global addresses are generic
//! addresses as they are; shared, local and parameter memory each appear in a
//! window whose number is in bits 44 and up.

use crate::ir::{FuncId, Space};

/// Where the window number starts.
const WINDOW_SHIFT: u32 = 44;
/// Generic address of shared memory's first byte.
pub const SHARED_WINDOW: u64 = 1 << WINDOW_SHIFT;
/// Generic address of local memory's first byte.
pub const LOCAL_WINDOW: u64 = 2 << WINDOW_SHIFT;
/// Generic address of the kernel parameters' first byte.
pub const PARAM_WINDOW: u64 = 3 << WINDOW_SHIFT;
/// The first address that an allocation can have.
pub const GLOBAL_BASE: u64 = 7 << WINDOW_SHIFT;
/// Generic addresses below this are taken for null pointers with an offset.
pub const NULL_PAGE: u64 = 1 << 16;
/// Addresses of functions: this plus 16 times their number.
pub const FUNCTION_BASE: u64 = 0xF << WINDOW_SHIFT;

/// A function's address.
pub fn function_address(id: FuncId) -> u64 {
    FUNCTION_BASE + 16 * u64::from(id.0)
}

/// The space that a generic address lies in. Addresses outside every window
/// count as global; the access then finds no allocation there.
pub fn space_of(generic: u64) -> Space {
    match generic >> WINDOW_SHIFT {
        1 => Space::Shared,
        2 => Space::Local,
        3 => Space::Param,
        _ => Space::Global,
    }
}

/// What to subtract from a generic address to get the address in `space`.
pub fn window_base(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Global | Space::Const | Space::Generic => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_its_own_space() {
        for space in [Space::Shared, Space::Local, Space::Param] {
            assert_eq!(space_of(window_base(space)), space);
            assert_eq!(space_of(window_base(space) + 0xFFFF_FFFF), space);
        }
        assert_eq!(space_of(GLOBAL_BASE), Space::Global);
        assert_eq!(space_of(0), Space::Global);
    }
}
