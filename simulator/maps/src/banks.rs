//! The lanes of an access that meet in a bank of shared memory.
//!
//! Shared memory has 32 banks of 4 bytes. The lanes of an access are served in phases: all 32 at
//! once up to 4 bytes per lane, fewer for wider accesses. In a phase each bank gives one word per
//! wavefront, to all lanes that ask for it; a second word of the same bank takes a second
//! wavefront, a bank conflict. Atomics and asynchronous copies serve lanes one by one, even for the
//! same word.

use ptx_sim::AccessClass;
use ptx_sim::count::SharedCost;

use crate::{Access, BANKS, WORD_BYTES, lanes};

/// An access to shared memory by bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankMap {
    /// Its cost, as counted.
    pub cost: SharedCost,
    /// Its phases, in order.
    pub phases: Vec<PhaseMap>,
    /// Whether the hardware goes through all phases twice, as for compare-and-swap.
    pub is_twice: bool,
    /// What the instruction does, in words.
    pub what: String,
}

/// Lanes that are served together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseMap {
    /// The lanes.
    pub lanes: u32,
    /// Passes through the banks: 1 without conflicts.
    pub wavefronts: u32,
    /// The words that they ask for, by wavefront and bank.
    pub cells: Vec<Cell>,
}

/// A word of a bank, or neighbouring words of several banks that the same lanes ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The first bank.
    pub bank: u32,
    /// How many banks.
    pub n_banks: u32,
    /// The wavefront that serves it, from 0.
    pub wavefront: u32,
    /// The lanes that ask for it.
    pub lanes: Vec<u8>,
    /// The byte address of the first word.
    pub address: u32,
}

impl BankMap {
    /// The map of an access; without phases if it does not go through the banks.
    pub fn of(access: &Access) -> Self {
        let one_by_one = access.class.is_atomic() && access.class != AccessClass::Increment
            || access.class == AccessClass::AsyncCopy;
        let phases = access.phases().into_iter().map(|phase| PhaseMap {
            lanes: phase.lanes,
            wavefronts: phase.wavefronts,
            cells: cells(access, phase.lanes, one_by_one),
        });
        Self {
            cost: access.shared_cost(),
            phases: phases.collect(),
            is_twice: access.class == AccessClass::CompareAndSwap,
            what: what(access),
        }
    }

    /// Whether a bank must serve more than one word in a phase.
    pub fn has_conflicts(&self) -> bool {
        self.cost.conflicts > 0
    }

    /// What the map shows, in a sentence.
    pub fn summary(&self) -> String {
        format!("{}: {}", self.what, self.cost_in_words())
    }

    /// The cost, in words.
    pub fn cost_in_words(&self) -> String {
        if self.phases.is_empty() {
            return "it does not go through the banks".to_owned();
        }
        let SharedCost {
            wavefronts,
            conflicts,
            ways,
            ideal_wavefronts,
        } = self.cost;
        match conflicts {
            0 => format!(
                "{}, no bank conflicts",
                plural(wavefronts.into(), "wavefront")
            ),
            n => format!(
                "{} where {ideal_wavefronts} would do, {} ({ways}-way)",
                plural(wavefronts.into(), "wavefront"),
                plural(n.into(), "bank conflict"),
            ),
        }
    }
}

/// `1 lane`, `2 lanes`.
pub fn plural(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// What an instruction does, in words.
pub(crate) fn what(access: &Access) -> String {
    let bytes = access.bytes;
    let per_lane = plural(bytes.into(), "byte");
    let n_lanes = access.mask.count_ones();
    let verb = match access.class {
        AccessClass::Load => "load",
        AccessClass::Store => "store",
        AccessClass::LoadMatrix => return format!("ldmatrix of {} matrices", n_lanes.div_ceil(8)),
        AccessClass::StoreMatrix => return format!("stmatrix of {} matrices", n_lanes.div_ceil(8)),
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass => "asynchronous copy",
        AccessClass::CompareAndSwap => "compare-and-swap",
        AccessClass::Atomic | AccessClass::Reduction | AccessClass::Increment => "atomic",
        _ => "access",
    };
    format!("{verb} of {per_lane} by {}", plural(n_lanes.into(), "lane"))
}

/// The words that lanes ask for; those of a bank one below another.
fn cells(access: &Access, mask: u32, one_by_one: bool) -> Vec<Cell> {
    let n_words = access.bytes.div_ceil(WORD_BYTES).max(1);
    let mut cells: Vec<Cell> = Vec::new();
    let mut next = [0u32; BANKS as usize];
    for lane in lanes(mask) {
        let address = access.addresses[lane] as u32;
        let first = address / WORD_BYTES;
        let end = (address + access.bytes.max(1))
            .div_ceil(WORD_BYTES)
            .max(first + n_words);
        let known = cells
            .iter_mut()
            .find(|cell| cell.address == first * WORD_BYTES && cell.n_banks == end - first);
        if let (Some(cell), false) = (known, one_by_one) {
            cell.lanes.push(lane as u8);
            continue;
        }
        let bank = first % BANKS;
        let n_banks = end - first;
        let touched = (0..n_banks).map(|i| ((bank + i) % BANKS) as usize);
        let wavefront = touched.clone().map(|bank| next[bank]).max().unwrap_or(0);
        for bank in touched {
            next[bank] = wavefront + 1;
        }
        cells.push(Cell {
            bank,
            n_banks,
            wavefront,
            lanes: vec![lane as u8],
            address: first * WORD_BYTES,
        });
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::BankMap;
    use crate::Access;
    use ptx_sim::AccessClass;
    use ptx_sim::ir::Space;

    fn map(class: AccessClass, bytes: u32, mask: u32, at: fn(u64) -> u64) -> BankMap {
        let addresses = std::array::from_fn(|lane| at(lane as u64));
        BankMap::of(&Access::new(class, Space::Shared, bytes, mask, addresses))
    }

    #[test]
    fn lanes_that_share_a_word_share_a_cell() {
        let map = map(AccessClass::Load, 4, u32::MAX, |lane| lane / 4 * 4);
        assert_eq!(map.phases.len(), 1);
        assert_eq!(map.phases[0].cells.len(), 8);
        assert_eq!(map.phases[0].cells[1].lanes, [4, 5, 6, 7]);
        assert!(!map.has_conflicts());
    }

    #[test]
    fn words_of_a_bank_are_in_wavefronts_of_their_own() {
        let map = map(AccessClass::Load, 4, u32::MAX, |lane| lane * 128);
        let wavefronts: Vec<_> = map.phases[0]
            .cells
            .iter()
            .map(|cell| cell.wavefront)
            .collect();
        assert_eq!(wavefronts, (0..32).collect::<Vec<_>>());
        assert!(
            map.summary()
                .contains("32 wavefronts where 1 would do, 31 bank conflicts")
        );
    }

    #[test]
    fn wide_accesses_have_phases() {
        let map = map(AccessClass::Store, 16, u32::MAX, |lane| lane * 16);
        assert_eq!(map.phases.len(), 4);
        for phase in &map.phases {
            assert_eq!((phase.cells.len(), phase.cells[7].n_banks), (8, 4));
            assert_eq!(phase.cells[7].bank, 28);
        }
        assert!(
            map.summary().ends_with("no bank conflicts"),
            "{}",
            map.summary()
        );
    }

    #[test]
    fn atomics_serve_lanes_one_by_one() {
        let map = map(AccessClass::Reduction, 4, 0xF, |_| 8);
        assert_eq!(map.phases[0].cells.len(), 4);
        assert_eq!(map.phases[0].wavefronts, 4);
    }

    /// Aligned accesses: the same number of rows of cells as wavefronts.
    #[test]
    fn cells_fill_the_wavefronts_that_are_counted() {
        let mut state = 1u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 33
        };
        for round in 0..2000 {
            let bytes = [1u32, 2, 4, 8, 16][round % 5];
            let spread = 1 << (1 + random() % 9);
            let addresses = std::array::from_fn(|_| random() % spread * u64::from(bytes));
            let mask = random() as u32 | 1;
            for class in [AccessClass::Load, AccessClass::Store] {
                let map = BankMap::of(&Access::new(class, Space::Shared, bytes, mask, addresses));
                for phase in &map.phases {
                    let rows = phase.cells.iter().map(|cell| cell.wavefront + 1).max();
                    assert_eq!(
                        rows,
                        Some(phase.wavefronts),
                        "{class:?} {bytes} {addresses:?}"
                    );
                }
            }
        }
    }
}
