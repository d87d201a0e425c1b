//! The cost of a warp's access to shared memory, by rule.
//!
//! Shared memory has 32 banks of 4 bytes; byte `b` lies in bank `b / 4 mod 32`.
//! In one *wavefront* every bank delivers one word. So an access needs as many
//! wavefronts as the busiest bank has distinct words to deliver, and all but
//! the first are *bank conflicts*.
//!
//! Wide accesses go in groups of lanes that move 128 bytes together: all 32
//! lanes with 4 bytes each, 16 with 8, 8 with 16.
//!
//! It serves to test this crate's index functions. It is for whole warps,
//! and leaves out that loads of 8 and 16 bytes merge groups whose neighbouring
//! lanes have the same address; the simulator counts that too.

use crate::warp::WARP_LANES;

/// Banks of shared memory.
pub const N_BANKS: u32 = 32;
/// Bytes that a bank delivers at a time.
pub const BANK_BYTES: u32 = 4;

/// The bank that a byte of shared memory lies in.
pub const fn bank(offset_bytes: u32) -> u32 {
    offset_bytes / BANK_BYTES % N_BANKS
}

/// What one warp's access costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Wavefronts over all groups of lanes.
    pub wavefronts: u32,
    /// Wavefronts beyond the first of each group.
    pub conflicts: u32,
    /// Wavefronts of the most expensive group: an *n-way* conflict.
    pub ways: u32,
}

impl Cost {
    /// One wavefront: nothing collides.
    pub const FREE: Self = Self {
        wavefronts: 1,
        conflicts: 0,
        ways: 1,
    };
}

/// The cost of a warp's access of `lane_bytes` (4, 8 or 16) per lane, where lane
/// `l` accesses the bytes from `offset_bytes(l)` on, a multiple of `lane_bytes`.
pub fn cost(lane_bytes: u32, offset_bytes: impl Fn(u32) -> u32) -> Cost {
    assert!(
        matches!(lane_bytes, 4 | 8 | 16),
        "an access moves 4, 8 or 16 bytes per lane"
    );
    let group_lanes = N_BANKS * BANK_BYTES / lane_bytes;
    let lane_words = lane_bytes / BANK_BYTES;
    let mut cost = Cost::default();
    for group in 0..WARP_LANES / group_lanes {
        // The distinct words of the group, at most one for every bank and lane.
        let mut words = [0; N_BANKS as usize];
        let mut n_words = 0;
        let mut in_bank = [0; N_BANKS as usize];
        for lane in group * group_lanes..(group + 1) * group_lanes {
            let offset = offset_bytes(lane);
            assert!(
                offset.is_multiple_of(lane_bytes),
                "lane {lane}'s offset {offset} is not aligned"
            );
            for word in offset / BANK_BYTES..offset / BANK_BYTES + lane_words {
                if !words[..n_words].contains(&word) {
                    words[n_words] = word;
                    n_words += 1;
                    in_bank[(word % N_BANKS) as usize] += 1;
                }
            }
        }
        let ways = in_bank.into_iter().max().unwrap_or_default();
        cost.wavefronts += ways;
        cost.conflicts += ways - 1;
        cost.ways = cost.ways.max(ways);
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stride_of_n_words_conflicts_by_its_common_divisor_with_32() {
        for stride in 1..=64u32 {
            let ways = 1 << stride.trailing_zeros().min(5);
            let expected = Cost {
                wavefronts: ways,
                conflicts: ways - 1,
                ways,
            };
            assert_eq!(
                cost(4, |lane| lane * stride * 4),
                expected,
                "stride {stride}"
            );
        }
    }

    #[test]
    fn wide_accesses_go_in_groups() {
        // Bytes of a lane, the distance between lanes, and the cost.
        for (lane_bytes, distance, wavefronts, conflicts, ways) in [
            (4, 0, 1, 0, 1),
            (8, 8, 2, 0, 1),
            (8, 128, 32, 30, 16),
            (16, 16, 4, 0, 1),
            (16, 32, 8, 4, 2),
            (16, 128, 32, 28, 8),
        ] {
            let expected = Cost {
                wavefronts,
                conflicts,
                ways,
            };
            let found = cost(lane_bytes, |lane| lane * distance);
            assert_eq!(found, expected, "{lane_bytes} bytes, {distance} apart");
        }
    }
}
