//! Addresses of one space that are used in another.

use super::address::{space_of, window_base};
use super::global::GlobalMemory;
use ptx::ir::Space;

/// More than any block has of shared memory.
const SMALL: u64 = 1 << 20;

/// The space to which an address belongs that was used in `space` and is out of range
/// there: it may be generic, have been converted to the wrong space (`cvta.to`), or be the
/// lower half of a global address.
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
    // Small ones are more likely past the end of an array of this space.
    let is_half = (SMALL..1 << 32).contains(&address) && memory.has_lower_half(address as u32);
    is_half.then_some(Space::Global)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::address::{LOCAL_WINDOW, SHARED_WINDOW};
    use crate::memory::allocation::Purpose;
    use crate::memory::heap::Heap;

    #[test]
    fn addresses_in_the_wrong_space_are_known() {
        let mut heap = Heap::new(crate::memory::heap::Seat::alone(0));
        heap.allocate(2 << 20, "first", Purpose::Buffer);
        let buffer = heap.allocate(64, "x", Purpose::Buffer).expect("room");
        let other = |address, space| other_space(heap.memory(), address, space);
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
}
