//! One warp's local memory.
//!
//! Word `i` of lane `l` lies at word `32 i + l`, as the hardware interleaves
//! it: lanes that use the same index touch neighbouring words. Each lane sees
//! a private stack that starts at [`LOCAL_START`], or at the next address with the
//! alignment of the kernel's variables, and grows upwards with calls.

use std::collections::TryReserveError;

use crate::lanes::WARP_SIZE;

/// The first local address. Not 0, which compilers treat as a null pointer.
pub const LOCAL_START: u32 = 16;
/// Bytes of local memory that a thread can have, as on the hardware.
pub const LOCAL_LIMIT: u32 = 512 << 10;
/// What unwritten local memory holds.
const FILL: u32 = u32::MAX;

/// A warp's local memory.
#[derive(Default, Clone, Hash)]
pub struct LocalMemory {
    words: Vec<u32>,
}

impl LocalMemory {
    /// Makes room for local addresses below `end`. An error if the host does not have that
    /// much.
    #[inline]
    pub fn reserve(&mut self, end: u32) -> Result<(), TryReserveError> {
        let n_words = end.div_ceil(4) as usize * WARP_SIZE;
        if self.words.len() < n_words {
            self.words.try_reserve(n_words - self.words.len())?;
            self.words.resize(n_words, FILL);
        }
        Ok(())
    }

    /// Resets it, for the next block.
    pub fn reset(&mut self) {
        self.words.fill(FILL);
    }

    /// The 32 lanes' words at local address `offset` (a multiple of 4).
    pub fn row_mut(&mut self, offset: u32) -> &mut [u32; WARP_SIZE] {
        let start = offset as usize / 4 * WARP_SIZE;
        (&mut self.words[start..start + WARP_SIZE])
            .try_into()
            .expect("a whole row")
    }

    /// A lane's word at local address `offset` (a multiple of 4).
    #[inline(always)]
    pub fn word(&self, lane: usize, offset: u32) -> u32 {
        self.words[offset as usize / 4 * WARP_SIZE + lane]
    }

    /// Sets a lane's word at local address `offset` (a multiple of 4).
    #[inline(always)]
    pub fn set_word(&mut self, lane: usize, offset: u32, value: u32) {
        self.words[offset as usize / 4 * WARP_SIZE + lane] = value;
    }

    /// Bytes of a lane's memory, appended to `out` until `end` returns true.
    pub fn byte(&self, lane: usize, offset: u32) -> Option<u8> {
        let word = self.words.get(offset as usize / 4 * WARP_SIZE + lane)?;
        Some(word.to_le_bytes()[offset as usize % 4])
    }

    /// Reads `bytes` (at most 16) of a lane, lowest first.
    pub fn read(&self, lane: usize, offset: u32, bytes: u32) -> u128 {
        let mut value = 0;
        let mut done = 0;
        while done < bytes {
            let at = offset + done;
            let word = self.words[at as usize / 4 * WARP_SIZE + lane] >> (8 * (at % 4));
            value |= u128::from(word) << (8 * done);
            done += 4 - at % 4;
        }
        if bytes < 16 {
            value & ((1 << (8 * bytes)) - 1)
        } else {
            value
        }
    }

    /// Writes `bytes` (at most 16) of a lane, lowest first.
    pub fn write(&mut self, lane: usize, offset: u32, bytes: u32, value: u128) {
        if offset.is_multiple_of(4) && bytes.is_multiple_of(4) {
            for i in 0..bytes / 4 {
                self.set_word(lane, offset + 4 * i, (value >> (32 * i)) as u32);
            }
            return;
        }
        for i in 0..bytes {
            let at = offset + i;
            let word = &mut self.words[at as usize / 4 * WARP_SIZE + lane];
            let shift = 8 * (at % 4);
            *word = *word & !(0xFF << shift) | u32::from((value >> (8 * i)) as u8) << shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_do_not_touch_each_other() {
        let mut memory = LocalMemory::default();
        memory.reserve(64).unwrap();
        for lane in 0..WARP_SIZE {
            memory.write(lane, 16, 8, lane as u128 * 0x1_0000_0001);
            memory.write(lane, 26, 2, 0xAB00 + lane as u128);
        }
        for lane in 0..WARP_SIZE {
            assert_eq!(memory.read(lane, 16, 8), lane as u128 * 0x1_0000_0001);
            assert_eq!(memory.read(lane, 20, 4), lane as u128);
            assert_eq!(memory.read(lane, 26, 2), 0xAB00 + lane as u128);
            assert_eq!(memory.read(lane, 24, 2), 0xFFFF);
        }
        assert_eq!(memory.row_mut(16)[5], 5);
    }
}
