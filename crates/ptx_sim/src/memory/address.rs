//! Generic addresses.
//!
//! A generic address names a byte of any space. Global addresses are generic
//! addresses as they are; shared, local and parameter memory each appear in a
//! window whose number is in bits 44 and up.

use super::global::GlobalMemory;
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

/// More than any block has of shared memory.
const SMALL: u64 = 1 << 20;

/// The space that an address belongs to which was used in `space` and is out of
/// range there: it may be generic, have been converted to the wrong space
/// (`cvta.to`), or be the lower half of a global address.
pub fn other_space(memory: &GlobalMemory, address: u64, space: Space) -> Option<Space> {
    if !matches!(space, Space::Shared | Space::Local) {
        return None;
    }
    for generic in [address, address.wrapping_add(window_base(space))] {
        match space_of(generic) {
            Space::Global if memory.find(generic).is_none() => {}
            own if own == space && generic != address => {}
            actual => return Some(actual),
        }
    }
    // Small ones are past the end of an array of this space rather.
    let is_half = (SMALL..1 << 32).contains(&address) && memory.has_lower_half(address as u32);
    is_half.then_some(Space::Global)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::global::Purpose;

    #[test]
    fn addresses_in_the_wrong_space_are_known() {
        let mut memory = GlobalMemory::default();
        memory.allocate(2 << 20, "first", Purpose::Buffer);
        let buffer = memory.allocate(64, "x", Purpose::Buffer).expect("room");
        let other = |address, space| other_space(&memory, address, space);
        for space in [Space::Shared, Space::Local] {
            assert_eq!(other(buffer, space), Some(Space::Global));
            let converted = buffer.wrapping_sub(window_base(space));
            assert_eq!(other(converted, space), Some(Space::Global));
            assert_eq!(other(buffer & 0xFFFF_FFFF, space), Some(Space::Global));
            assert_eq!(other(buffer + (1 << 30), space), None);
            assert_eq!(other(70_000, space), None);
        }
        assert_eq!(other(SHARED_WINDOW + 8, Space::Local), Some(Space::Shared));
        assert_eq!(other(LOCAL_WINDOW + 8, Space::Shared), Some(Space::Local));
        let shared = (SHARED_WINDOW + 8).wrapping_sub(LOCAL_WINDOW);
        assert_eq!(other(shared, Space::Local), Some(Space::Shared));
    }

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
