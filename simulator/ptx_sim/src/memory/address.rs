//! Generic addresses.
//!
//! A generic address names a byte of any space. Global addresses are generic addresses
//! unchanged; shared, local and parameter memory each appear in a window whose number is in
//! bits 44 and up.
//!
//! Within shared memory's window, and in 32-bit addresses of shared memory, bits 24 to 31
//! say whose memory it is: 0 the block's own, else one more than the rank in the cluster of
//! the block that owns it. So an address of the block's own memory is also one of the
//! cluster's.

use ptx::ir::{FuncId, Space};

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
/// Generic addresses below this count as null pointers with an offset.
pub const NULL_PAGE: u64 = 1 << 16;
/// Addresses of functions: this plus 16 times their number.
pub const FUNCTION_BASE: u64 = 0xF << WINDOW_SHIFT;

/// Bits of an address of shared memory that say where in a block's memory it is.
const RANK_SHIFT: u32 = 24;
/// In the place of a rank, plus one: no block has this memory.
const NOBODY: u32 = 0xFF;

/// Whose shared memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// That of the block that uses the address.
    Own,
    /// That of the block of this rank in its cluster, if there is one.
    Rank(u32),
    /// `mapa` was given something that is not an address of shared memory, or an invalid
    /// rank.
    Nobody,
}

/// Splits an address of shared memory: whose it is, and that block's own address for it.
#[inline]
pub fn owner_of(shared: u64) -> (Owner, u64) {
    let owner = match shared >> RANK_SHIFT {
        0 => Owner::Own,
        tag if tag < u64::from(NOBODY) => Owner::Rank(tag as u32 - 1),
        _ => Owner::Nobody,
    };
    (owner, shared & ((1 << RANK_SHIFT) - 1))
}

/// `mapa`: the address in the memory of the block of a rank that corresponds to this one.
#[inline]
pub fn map_rank(shared: u32, rank: u32) -> u32 {
    let tag = rank.saturating_add(1).min(NOBODY);
    shared & ((1 << RANK_SHIFT) - 1) | tag << RANK_SHIFT
}

/// [`map_rank`] of a generic address; if that is not one of shared memory, an address that
/// no block has.
#[inline]
pub fn map_generic_rank(generic: u64, rank: u32) -> u64 {
    let is_shared = space_of(generic) == Space::Shared && generic >> 32 == SHARED_WINDOW >> 32;
    let rank = if is_shared { rank } else { NOBODY };
    SHARED_WINDOW | u64::from(map_rank(generic as u32, rank))
}

/// `getctarank`: the rank of the block that has the memory, where `own` is that of the
/// block that asks.
#[inline]
pub fn rank_of(shared: u64, own: u32) -> u32 {
    match owner_of(shared).0 {
        Owner::Own => own,
        Owner::Rank(rank) => rank,
        Owner::Nobody => NOBODY - 1,
    }
}

/// A 32-bit or 64-bit address of the cluster's shared memory as a generic one.
#[inline]
pub fn generic_of_cluster(shared: u64) -> u64 {
    let address = shared.min(u64::from(u32::MAX));
    SHARED_WINDOW | address
}

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

    #[test]
    fn ranks_are_put_in_and_taken_out() {
        for (rank, owner) in [
            (0, Owner::Rank(0)),
            (15, Owner::Rank(15)),
            (254, Owner::Nobody),
            (u32::MAX, Owner::Nobody),
        ] {
            let mapped = map_rank(0x1234, rank);
            assert_eq!(owner_of(u64::from(mapped)), (owner, 0x1234));
            let generic = map_generic_rank(SHARED_WINDOW + 0x1234, rank);
            assert_eq!(generic, SHARED_WINDOW + u64::from(mapped));
        }
        assert_eq!(owner_of(0x1234), (Owner::Own, 0x1234));
        // An address that was mapped before is that of another block then.
        assert_eq!(map_rank(map_rank(8, 3), 5), map_rank(8, 5));
        assert_eq!(rank_of(u64::from(map_rank(8, 3)), 7), 3);
        assert_eq!(rank_of(8, 7), 7);
        for strange in [GLOBAL_BASE + 8, 8, SHARED_WINDOW + (1 << 32)] {
            let mapped = map_generic_rank(strange, 1) - SHARED_WINDOW;
            assert_eq!(owner_of(mapped).0, Owner::Nobody);
        }
        assert_eq!(
            owner_of(generic_of_cluster(SHARED_WINDOW) - SHARED_WINDOW).0,
            Owner::Nobody
        );
    }
}
