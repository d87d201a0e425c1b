//! The sectors of global memory that an access moves, and the bytes of them that it uses.
//!
//! Memory moves in sectors of 32 bytes, four to a line of 128. A request for one byte of a
//! sector costs all 32.

use std::collections::BTreeMap;

use ptx_sim::count::GlobalCost;

use crate::banks::what;
use crate::{Access, LINE_BYTES, SECTOR_BYTES, lanes};

/// An access to global memory by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectorMap {
    /// Its cost, as counted.
    pub cost: GlobalCost,
    /// The lines that it touches, by address.
    pub lines: Vec<Line>,
    /// What the instruction does, in words.
    pub what: String,
}

/// 128 bytes of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its first byte, from the first line that the access touches.
    pub offset: u64,
    /// The bytes that lanes ask for, a bit each.
    pub used: u128,
    /// By word of 4 bytes, the lanes that ask for a byte of it.
    pub words: BTreeMap<u32, Vec<u8>>,
}

impl Line {
    /// Whether a sector moves, from 0 to 3.
    pub fn is_moved(&self, sector: u32) -> bool {
        let bytes = (1u128 << SECTOR_BYTES) - 1;
        self.used >> (sector * SECTOR_BYTES) & bytes != 0
    }

    /// Number of bytes that are asked for in a word of 4.
    pub fn used_of_word(&self, word: u32) -> u32 {
        (self.used >> (4 * word) & 0xF).count_ones()
    }
}

impl SectorMap {
    /// The map of an access; without lines if it is not an access to global memory.
    pub fn of(access: &Access) -> Self {
        let cost = access.global_cost();
        let mut lines: BTreeMap<u64, Line> = BTreeMap::new();
        let asked = if cost.sectors == 0 { 0 } else { access.mask };
        let first = lanes(asked).map(|lane| access.addresses[lane]).min();
        let origin = first.unwrap_or(0) / u64::from(LINE_BYTES);
        for lane in lanes(asked) {
            let start = access.addresses[lane];
            for address in start..start + u64::from(access.bytes) {
                let number = address / u64::from(LINE_BYTES);
                let byte = (address % u64::from(LINE_BYTES)) as u32;
                let line = lines.entry(number).or_insert_with(|| Line {
                    offset: (number - origin) * u64::from(LINE_BYTES),
                    used: 0,
                    words: BTreeMap::new(),
                });
                line.used |= 1 << byte;
                let of_word = line.words.entry(byte / 4).or_default();
                if of_word.last() != Some(&(lane as u8)) {
                    of_word.push(lane as u8);
                }
            }
        }
        Self {
            cost,
            lines: lines.into_values().collect(),
            what: what(access),
        }
    }

    /// Bytes that move and are not used.
    pub fn wasted_bytes(&self) -> u32 {
        let sectors: u32 = self.moved_sectors();
        let used: u32 = self.lines.iter().map(|line| line.used.count_ones()).sum();
        sectors * SECTOR_BYTES - used
    }

    /// Distinct sectors.
    pub fn moved_sectors(&self) -> u32 {
        let fetched = |line: &Line| (0..4).filter(|&sector| line.is_moved(sector)).count();
        self.lines.iter().map(|line| fetched(line) as u32).sum()
    }

    /// What the map shows, in a sentence.
    pub fn summary(&self) -> String {
        format!("{}: {}", self.what, self.cost_in_words())
    }

    /// The cost, in words.
    pub fn cost_in_words(&self) -> String {
        if self.lines.is_empty() {
            return "it moves no sectors".to_owned();
        }
        let GlobalCost {
            sectors,
            ideal_sectors,
            ..
        } = self.cost;
        let plural = |n: u32| if n == 1 { "sector" } else { "sectors" };
        let mut text = format!("{sectors} {}", plural(sectors));
        if sectors > ideal_sectors {
            text.push_str(&format!(" where {ideal_sectors} would do"));
        }
        let again = sectors.saturating_sub(self.moved_sectors());
        if again > 0 {
            text.push_str(&format!(
                ", {again} of them again for lanes that share an address"
            ));
        }
        match self.wasted_bytes() {
            0 => text.push_str(", every byte used"),
            n => text.push_str(&format!(
                ", {n} of {} bytes unused",
                self.moved_sectors() * SECTOR_BYTES
            )),
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::SectorMap;
    use crate::Access;
    use ptx_sim::AccessClass;
    use ptx_sim::ir::Space;

    fn map(class: AccessClass, bytes: u32, at: fn(u64) -> u64) -> SectorMap {
        let addresses = std::array::from_fn(|lane| 0x1000 + at(lane as u64));
        SectorMap::of(&Access::new(
            class,
            Space::Global,
            bytes,
            u32::MAX,
            addresses,
        ))
    }

    #[test]
    fn neighbours_share_a_line() {
        let map = map(AccessClass::Load, 4, |lane| 4 * lane);
        assert_eq!((map.lines.len(), map.wasted_bytes()), (1, 0));
        assert_eq!(map.lines[0].words[&31], [31]);
        assert!(
            map.summary().ends_with("4 sectors, every byte used"),
            "{}",
            map.summary()
        );
    }

    #[test]
    fn one_element_later_takes_a_fifth_sector() {
        let map = map(AccessClass::Load, 4, |lane| 4 * lane + 4);
        assert_eq!((map.lines.len(), map.moved_sectors()), (2, 5));
        assert!(map.lines[1].is_moved(0) && !map.lines[1].is_moved(1));
        let text = map.summary();
        assert!(
            text.ends_with("5 sectors where 4 would do, 32 of 160 bytes unused"),
            "{text}"
        );
    }

    #[test]
    fn lanes_far_apart_use_a_part_of_each_sector() {
        let map = map(AccessClass::Store, 4, |lane| 512 * lane);
        assert_eq!((map.lines.len(), map.wasted_bytes()), (32, 28 * 32));
        assert_eq!(map.lines[1].offset, 512);
    }

    #[test]
    fn atomics_of_one_address_come_again() {
        let map = map(AccessClass::Reduction, 4, |_| 0);
        assert_eq!((map.cost.sectors, map.moved_sectors()), (32, 1));
        assert!(
            map.summary().contains("31 of them again"),
            "{}",
            map.summary()
        );
    }
}
