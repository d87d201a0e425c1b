//! The cost of one warp's memory access: pure functions of the addresses.
//!
//! The rules reproduce an H200's hardware counters case by case (the data is
//! in this crate's `tests/data`). Shared memory has 32 banks of 4 bytes. Lanes
//! are served in groups, in lane order: all 32 at once up to 4 bytes per lane,
//! two groups at 8 bytes, four at 16. Each group takes as many *wavefronts* as
//! the busiest bank has distinct words; every wavefront but the first is a
//! *bank conflict*. A load of 8 or 16 bytes merges neighbouring groups when
//! the lanes of every pair (by `lane ^ 1`, or by `lane ^ 2`) read the same
//! address. Atomics and asynchronous copies serve lanes of one address one after
//! the other. Atomics in global memory go through the cache's tags in passes
//! ([`GlobalKind::Atomic`]), and a sector counts in every pass that touches it.
//!
//! Left out: what arbitration between warps, and caches, add to a whole kernel's counters;
//! and the assembler's reduction of an atomic addition when it knows that all lanes have
//! one address: it adds them up first.

#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;

/// The kinds of shared-memory access that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedKind {
    /// `ld.shared`
    Load,
    /// `st.shared`
    Store,
    /// `cp.async.ca`: a store that serves lanes of one address one by one.
    AsyncCopy,
    /// `atom.shared`, `red.shared`
    Atomic,
    /// `atom.shared.cas`: reads and writes in separate passes.
    CompareAndSwap,
    /// The addition of a constant 1 to a `u32` without a result, which the
    /// hardware does by counting lanes.
    Increment,
    /// `ldmatrix`, `stmatrix`: eight row addresses per matrix.
    Matrix {
        /// 1, 2 or 4.
        matrices: u32,
    },
}

/// What a shared-memory access costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedCost {
    /// Passes through the banks.
    pub wavefronts: u32,
    /// Passes beyond one for each group of lanes.
    pub conflicts: u32,
    /// The largest group's passes: 1 without conflicts.
    pub ways: u32,
    /// Passes that the same lanes would take without conflicts.
    pub ideal_wavefronts: u32,
}

impl SharedCost {
    fn add(&mut self, group: u32) {
        if group > 0 {
            self.wavefronts += group;
            self.conflicts += group - 1;
            self.ways = self.ways.max(group);
            self.ideal_wavefronts += 1;
        }
    }

    /// Of passes that go through the banks twice.
    fn twice(self) -> Self {
        Self {
            wavefronts: 2 * self.wavefronts,
            ideal_wavefronts: 2 * self.ideal_wavefronts,
            ..self
        }
    }
}

/// The kinds of global-memory access that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobalKind {
    /// Loads, stores, asynchronous copies: each sector once.
    Plain,
    /// `atom`, `red`. Lines of 128 bytes fall into four sets. A pass takes one line of each set:
    /// that of the set's first lane that still waits. Of the waiting lanes, in lane order, the
    /// first at each of a set's 32 banks is ready, and those among them that are in the set's line
    /// are done. So lanes of one address come one after the other, and a lane whose bank was taken
    /// by another line's lane comes later, after the rest of its line.
    Atomic,
    /// `atom.cas`: the same with lines of 64 bytes, since it brings two values per lane.
    CompareAndSwap,
}

/// What a global-memory access costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GlobalCost {
    /// 1 if any lane is active.
    pub requests: u32,
    /// Distinct 32-byte sectors.
    pub sectors: u32,
    /// Distinct bytes that the lanes ask for.
    pub bytes: u32,
    /// The fewest sectors that this many bytes need.
    pub ideal_sectors: u32,
}

const LANES: usize = 32;
const BANKS: usize = 32;
/// Bytes of a sector of global memory.
pub const SECTOR_BYTES: u32 = 32;

/// The cost of a shared-memory access of `bytes_per_lane` by the lanes of
/// `mask` at these byte offsets.
pub fn shared_access(
    kind: SharedKind,
    bytes_per_lane: u32,
    mask: u32,
    offsets: &[u32; LANES],
) -> SharedCost {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { shared_access_wide(kind, bytes_per_lane, mask, offsets) };
    }
    shared_access_plain(kind, bytes_per_lane, mask, offsets)
}

/// [`shared_access_plain`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn shared_access_wide(
    kind: SharedKind,
    bytes_per_lane: u32,
    mask: u32,
    offsets: &[u32; LANES],
) -> SharedCost {
    shared_access_plain(kind, bytes_per_lane, mask, offsets)
}

#[inline(always)]
fn shared_access_plain(
    kind: SharedKind,
    bytes_per_lane: u32,
    mask: u32,
    offsets: &[u32; LANES],
) -> SharedCost {
    let mut cost = SharedCost::default();
    each_phase(kind, bytes_per_lane, mask, offsets, |_, passes| {
        cost.add(passes);
    });
    match kind {
        SharedKind::CompareAndSwap => cost.twice(),
        _ => cost,
    }
}

/// Lanes of an access to shared memory that are served together, and the passes through the
/// banks that they take: one without conflicts. The hardware goes through the phases of
/// [`SharedKind::CompareAndSwap`] twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The lanes that are active.
    pub lanes: u32,
    /// Passes through the banks.
    pub wavefronts: u32,
}

/// The phases of a shared-memory access, in order: those of which [`shared_access`] is the sum.
pub fn phases(
    kind: SharedKind,
    bytes_per_lane: u32,
    mask: u32,
    offsets: &[u32; LANES],
) -> Vec<Phase> {
    let mut phases = Vec::new();
    each_phase(kind, bytes_per_lane, mask, offsets, |lanes, wavefronts| {
        if wavefronts > 0 {
            phases.push(Phase { lanes, wavefronts });
        }
    });
    phases
}

/// Calls `f` with the lanes of each phase, and its passes through the banks.
#[inline(always)]
fn each_phase(
    kind: SharedKind,
    bytes_per_lane: u32,
    mask: u32,
    offsets: &[u32; LANES],
    mut f: impl FnMut(u32, u32),
) {
    match kind {
        SharedKind::Atomic | SharedKind::AsyncCopy | SharedKind::CompareAndSwap => {
            for group in groups(group_lanes(bytes_per_lane)) {
                let lanes = mask & group;
                f(lanes, busiest_bank_lanes(bytes_per_lane, lanes, offsets));
            }
        }
        SharedKind::Increment => f(mask, busiest_bank(bytes_per_lane, mask, offsets)),
        SharedKind::Matrix { matrices } => {
            for matrix in 0..matrices.min(4) {
                let lanes = mask & (0xFF << (8 * matrix));
                f(lanes, busiest_bank(16, lanes, offsets));
            }
        }
        SharedKind::Load | SharedKind::Store => {
            let mut group_lanes = group_lanes(bytes_per_lane);
            if kind == SharedKind::Load
                && group_lanes < 32
                && (all_paired(1, mask, offsets) || all_paired(2, mask, offsets))
            {
                group_lanes *= 2;
            }
            for group in groups(group_lanes) {
                let lanes = mask & group;
                f(lanes, busiest_bank(bytes_per_lane, lanes, offsets));
            }
        }
    }
}

/// Lanes that are served together.
fn group_lanes(bytes_per_lane: u32) -> u32 {
    match bytes_per_lane {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// The masks of groups of this many lanes.
fn groups(n_lanes: u32) -> impl Iterator<Item = u32> {
    (0..32)
        .step_by(n_lanes as usize)
        .map(move |first| u32::MAX >> (32 - n_lanes) << first)
}

/// The largest number of lanes that hit one bank, whether or not in one word.
fn busiest_bank_lanes(bytes_per_lane: u32, mask: u32, offsets: &[u32; LANES]) -> u32 {
    let mut hits = [0u32; BANKS];
    let mut most = 0;
    for lane in active(mask) {
        for word in 0..bytes_per_lane.div_ceil(4) {
            let hits = &mut hits[(offsets[lane] / 4 + word) as usize % BANKS];
            *hits += 1;
            most = most.max(*hits);
        }
    }
    most
}

/// The lanes of a mask, in order.
fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Whether every active lane's partner is inactive or has the same address.
#[inline(always)]
fn all_paired(distance: usize, mask: u32, offsets: &[u32; LANES]) -> bool {
    let mut differ = 0;
    for lane in 0..LANES {
        let partner = lane ^ distance;
        let both = mask >> lane & mask >> partner & 1 != 0;
        differ |= if both {
            offsets[lane] ^ offsets[partner]
        } else {
            0
        };
    }
    differ == 0
}

/// The largest number of distinct words that fall in one bank.
#[inline(always)]
fn busiest_bank(bytes_per_lane: u32, mask: u32, offsets: &[u32; LANES]) -> u32 {
    if mask == 0 {
        return 0;
    }
    if let Some(ways) = by_stride(bytes_per_lane, mask, offsets) {
        return ways;
    }
    let mut bits = 0;
    for (lane, offset) in offsets.iter().enumerate() {
        bits |= if mask >> lane & 1 != 0 { *offset } else { 0 };
    }
    match bytes_per_lane {
        // Two aligned accesses of several words use exactly the same banks or none in
        // common, so that each counts as one wide word.
        8 if bits % 8 == 0 => most_in_one::<3>(mask, offsets),
        16 if bits % 16 == 0 => most_in_one::<4>(mask, offsets),
        1 | 2 | 4 if bits % bytes_per_lane == 0 => most_in_one::<2>(mask, offsets),
        _ => most_words_in_one(bytes_per_lane, mask, offsets),
    }
}

/// The largest number of distinct words of `2^SHIFT` bytes in one of the correspondingly
/// wider and fewer banks.
#[inline(always)]
fn most_in_one<const SHIFT: u32>(mask: u32, offsets: &[u32; LANES]) -> u32 {
    let n_banks = (4 * BANKS) >> SHIFT;
    let mut used = 0u32;
    for (lane, offset) in offsets.iter().enumerate() {
        let bank = (offset >> SHIFT) % n_banks as u32;
        used |= (mask >> lane & 1) << bank;
    }
    if used.count_ones() == mask.count_ones() {
        // A bank each.
        return 1;
    }
    most_of_several::<SHIFT>(mask, offsets)
}

/// [`most_in_one`] where lanes share banks.
fn most_of_several<const SHIFT: u32>(mask: u32, offsets: &[u32; LANES]) -> u32 {
    let n_banks = (4 * BANKS) >> SHIFT;
    // The word seen first in each bank. Mostly it is the only one.
    let mut first = [0u32; BANKS];
    let mut seen = 0u32;
    let mut others = 0u32;
    for lane in active(mask) {
        let word = offsets[lane] >> SHIFT;
        let bank = word as usize % n_banks;
        if seen >> bank & 1 == 0 {
            seen |= 1 << bank;
            first[bank] = word;
        }
        others |= u32::from(first[bank] != word) << lane;
    }
    if others == 0 {
        return 1;
    }
    // The distinct ones among the others, each in a chain from its bank.
    let mut words = [0u32; LANES];
    let mut next = [u8::MAX; LANES];
    let mut head = [u8::MAX; BANKS];
    let mut counts = [1u32; BANKS];
    let mut n_words = 0u8;
    let mut most = 1;
    for lane in active(others) {
        let word = offsets[lane] >> SHIFT;
        let bank = word as usize % n_banks;
        let mut at = head[bank];
        while at != u8::MAX && words[at as usize] != word {
            at = next[at as usize];
        }
        if at == u8::MAX {
            words[n_words as usize] = word;
            next[n_words as usize] = head[bank];
            head[bank] = n_words;
            n_words += 1;
            counts[bank] += 1;
            most = most.max(counts[bank]);
        }
    }
    most
}

/// The same for any size and alignment.
#[cold]
fn most_words_in_one(bytes_per_lane: u32, mask: u32, offsets: &[u32; LANES]) -> u32 {
    let mut words = vec![Vec::new(); BANKS];
    let mut most = 0;
    for lane in active(mask) {
        let first = offsets[lane] / 4;
        let last = (offsets[lane] + bytes_per_lane.max(1) - 1) / 4;
        for word in first..=last {
            let bank = &mut words[word as usize % BANKS];
            if !bank.contains(&word) {
                bank.push(word);
                most = most.max(bank.len());
            }
        }
    }
    most as u32
}

/// The same for word accesses of all 32 lanes at a constant stride, by arithmetic.
#[inline(always)]
fn by_stride(bytes_per_lane: u32, mask: u32, offsets: &[u32; LANES]) -> Option<u32> {
    if bytes_per_lane != 4 || mask != u32::MAX {
        return None;
    }
    let stride = offsets[1].wrapping_sub(offsets[0]);
    let mut difference = 0;
    for (lane, offset) in offsets.iter().enumerate() {
        difference |= offset ^ offsets[0].wrapping_add(stride.wrapping_mul(lane as u32));
    }
    if difference != 0 || !stride.is_multiple_of(4) {
        return None;
    }
    Some(ways_of_stride(stride))
}

/// Distinct words in a bank where 32 lanes access words `stride` bytes apart, a
/// multiple of 4.
#[inline(always)]
pub(crate) fn ways_of_stride(stride: u32) -> u32 {
    if stride == 0 {
        return 1;
    }
    // Lanes come back to the same bank after 32 / gcd(stride, 32) of them.
    let words = stride / 4;
    1 << words.trailing_zeros().min(5)
}

/// The cost of a global-memory access of `bytes_per_lane` by the lanes of
/// `mask`.
pub fn global_access(
    kind: GlobalKind,
    bytes_per_lane: u32,
    mask: u32,
    addresses: &[u64; LANES],
) -> GlobalCost {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { global_access_wide(kind, bytes_per_lane, mask, addresses) };
    }
    global_access_plain(kind, bytes_per_lane, mask, addresses)
}

/// [`global_access_plain`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn global_access_wide(
    kind: GlobalKind,
    bytes_per_lane: u32,
    mask: u32,
    addresses: &[u64; LANES],
) -> GlobalCost {
    global_access_plain(kind, bytes_per_lane, mask, addresses)
}

#[inline(always)]
fn global_access_plain(
    kind: GlobalKind,
    bytes_per_lane: u32,
    mask: u32,
    addresses: &[u64; LANES],
) -> GlobalCost {
    if mask == 0 {
        return GlobalCost::default();
    }
    let distinct = if bytes_per_lane.is_power_of_two() && bytes_per_lane <= SECTOR_BYTES {
        distinct_aligned(bytes_per_lane, mask, addresses)
    } else {
        None
    };
    let distinct = distinct.unwrap_or_else(|| distinct_sorted(bytes_per_lane, mask, addresses));
    let sectors = match kind {
        // Each lane in a sector of its own.
        _ if distinct.sectors == mask.count_ones() => distinct.sectors,
        // One after the other.
        GlobalKind::Atomic | GlobalKind::CompareAndSwap if distinct.addresses == 1 => {
            mask.count_ones()
        }
        GlobalKind::Plain => distinct.sectors,
        GlobalKind::Atomic => sectors_of_passes(128, bytes_per_lane, mask, addresses),
        GlobalKind::CompareAndSwap => sectors_of_passes(64, bytes_per_lane, mask, addresses),
    };
    GlobalCost {
        requests: 1,
        sectors,
        bytes: distinct.bytes,
        ideal_sectors: distinct.bytes.div_ceil(SECTOR_BYTES),
    }
}

/// Sets of lines; a pass of atomics takes one line of each.
const SETS: usize = 4;
/// The bits of an address whose parities number its set. Measured for bits 7 to 33; higher
/// bits, in which no access of one warp has been seen to differ, are ignored.
const SET_BITS: [u64; 2] = [0x3_5D6A_ED00, 0x1_AAD7_B780];

/// Addresses so far apart are in one set.
pub(crate) const SETS_REPEAT_BYTES: u64 = 1 << 34;

/// The set of an address.
fn set_of(address: u64) -> usize {
    let parity = |bits: u64| (address & bits).count_ones() as usize % 2;
    parity(SET_BITS[0]) + 2 * parity(SET_BITS[1])
}

/// Sectors of an atomic, summed over its passes; see [`GlobalKind::Atomic`].
fn sectors_of_passes(
    line_bytes: u64,
    bytes_per_lane: u32,
    mask: u32,
    addresses: &[u64; LANES],
) -> u32 {
    let words = bytes_per_lane.div_ceil(4).clamp(1, 31);
    let mut waiting = mask;
    let mut sectors = 0;
    while waiting != 0 {
        let mut taken_banks = [0u32; SETS];
        let mut lines = [None; SETS];
        let mut touched = [0u32; SETS];
        let mut done = 0;
        for lane in active(waiting) {
            let address = addresses[lane];
            let set = set_of(address);
            let first_bank = (address / 4 % BANKS as u64) as u32;
            let banks = ((1u32 << words) - 1).rotate_left(first_bank);
            let is_ready = taken_banks[set] & banks == 0;
            taken_banks[set] |= banks;
            // The set's first lane is ready in any case.
            let line = *lines[set].get_or_insert(address / line_bytes);
            if is_ready && line == address / line_bytes {
                done |= 1 << lane;
                touched[set] |= 1 << (address / u64::from(SECTOR_BYTES) % 4);
            }
        }
        sectors += touched
            .iter()
            .map(|sectors| sectors.count_ones())
            .sum::<u32>();
        waiting &= !done;
    }
    sectors
}

/// How many different addresses and sectors the lanes access.
struct Distinct {
    addresses: u32,
    sectors: u32,
    bytes: u32,
}

/// For aligned accesses of at most a sector, which lie in one sector each and
/// overlap only if they are the same. `None` if they are not aligned.
#[inline(always)]
fn distinct_aligned(bytes: u32, mask: u32, addresses: &[u64; LANES]) -> Option<Distinct> {
    // Inactive lanes repeat the address of an active one, which adds nothing.
    let mut all = *addresses;
    if mask != u32::MAX {
        let mut last = addresses[mask.trailing_zeros() as usize];
        for (lane, address) in all.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                *address = last;
            }
            last = *address;
        }
    }
    let shift = SECTOR_BYTES.trailing_zeros();
    let (mut bits, mut low, mut high) = (all[0], all[0], all[0]);
    let (mut new_sectors, mut new_addresses, mut descents) = (0u32, 0u32, 0u32);
    for lane in 1..LANES {
        let (before, this) = (all[lane - 1], all[lane]);
        bits |= this;
        low = low.min(this);
        high = high.max(this);
        new_sectors += u32::from(before >> shift != this >> shift);
        new_addresses += u32::from(before != this);
        descents += u32::from(this < before);
    }
    if bits & u64::from(bytes - 1) != 0 {
        return None;
    }
    let (addresses, sectors) = if descents == 0 {
        (1 + new_addresses, 1 + new_sectors)
    } else if high - low < 64 * u64::from(bytes) {
        let size = bytes.trailing_zeros();
        let (mut seen, mut seen_sectors) = (0u64, 0u64);
        for address in all {
            seen |= 1 << ((address - low) >> size);
            seen_sectors |= 1 << ((address >> shift) - (low >> shift));
        }
        (seen.count_ones(), seen_sectors.count_ones())
    } else {
        (
            n_different(&all),
            n_different(&all.map(|address| address >> shift)),
        )
    };
    Some(Distinct {
        addresses,
        sectors,
        bytes: addresses * bytes,
    })
}

/// The number of different values.
fn n_different(values: &[u64; LANES]) -> u32 {
    let mut table = Table::new();
    (0..LANES)
        .map(|lane| u32::from(table.first_with(values, lane) == lane))
        .sum()
}

/// Lanes by their values, scattered over more slots than there are lanes.
struct Table([u8; Self::SLOTS]);

impl Table {
    const SLOTS: usize = 128;
    const FREE: u8 = u8::MAX;

    fn new() -> Self {
        Self([Self::FREE; Self::SLOTS])
    }

    /// The lane with the same value that was put in first; this one if none was.
    fn first_with(&mut self, values: &[u64; LANES], lane: usize) -> usize {
        let value = values[lane];
        let mut slot = (value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize;
        loop {
            match self.0[slot] {
                Self::FREE => {
                    self.0[slot] = lane as u8;
                    return lane;
                }
                other if values[other as usize] == value => return other as usize,
                _ => slot = (slot + 1) % Self::SLOTS,
            }
        }
    }
}

/// For any size and alignment.
#[cold]
fn distinct_sorted(bytes_per_lane: u32, mask: u32, addresses: &[u64; LANES]) -> Distinct {
    let bytes = u64::from(bytes_per_lane.max(1));
    let mut sorted: Vec<u64> = active(mask).map(|lane| addresses[lane]).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let (mut sectors, mut distinct_bytes) = (0, 0);
    // The first sector and byte that have not been counted.
    let (mut next_sector, mut next_byte) = (0, 0);
    for &address in &sorted {
        let end = address + bytes;
        let first = (address / u64::from(SECTOR_BYTES)).max(next_sector);
        let past = (end - 1) / u64::from(SECTOR_BYTES) + 1;
        sectors += past.saturating_sub(first);
        next_sector = next_sector.max(past);
        distinct_bytes += end.saturating_sub(address.max(next_byte));
        next_byte = next_byte.max(end);
    }
    Distinct {
        addresses: sorted.len() as u32,
        sectors: sectors as u32,
        bytes: distinct_bytes as u32,
    }
}

/// The cost of a local-memory access. Offsets are in each thread's own
/// memory, which is interleaved word by word: word `i` of lane `l` lies at
/// word `32 i + l`. Each word of a wider access is a request of its own.
pub fn local_access(bytes_per_lane: u32, mask: u32, offsets: &[u64; LANES]) -> GlobalCost {
    let mut total = GlobalCost::default();
    let first = offsets[mask.trailing_zeros() as usize % LANES];
    if mask == u32::MAX
        && first.is_multiple_of(4)
        && bytes_per_lane.is_multiple_of(4)
        && offsets
            .iter()
            .fold(0, |other, offset| other | offset ^ first)
            == 0
    {
        // The same words of all lanes: whole rows.
        let bytes = 32 * bytes_per_lane;
        return GlobalCost {
            requests: bytes_per_lane / 4,
            sectors: bytes / SECTOR_BYTES,
            bytes,
            ideal_sectors: bytes / SECTOR_BYTES,
        };
    }
    // Each word of the access lies in another row.
    let n_words = bytes_per_lane.div_ceil(4).max(1);
    for word in 0..n_words {
        let mut addresses = [0; LANES];
        for (lane, address) in addresses.iter_mut().enumerate() {
            let row = offsets[lane] / 4 + u64::from(word);
            // Lanes outside the mask may hold anything.
            *address = row
                .wrapping_mul(4 * LANES as u64)
                .wrapping_add(4 * lane as u64);
        }
        let cost = global_access(GlobalKind::Plain, bytes_per_lane.min(4), mask, &addresses);
        total.requests += cost.requests;
        total.sectors += cost.sectors;
        total.bytes += cost.bytes;
        total.ideal_sectors += cost.ideal_sectors;
    }
    total
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn strided(stride: u32) -> [u32; 32] {
        std::array::from_fn(|lane| lane as u32 * stride)
    }

    #[test]
    fn conflicts_follow_the_stride() {
        for stride_words in 1..=33u32 {
            let cost = shared_access(SharedKind::Load, 4, u32::MAX, &strided(4 * stride_words));
            let gcd = 1 << stride_words.trailing_zeros().min(5);
            assert_eq!(cost.ways, gcd, "stride of {stride_words} words");
            assert_eq!(cost.conflicts, gcd - 1);
        }
    }

    #[test]
    fn one_word_for_all_is_no_conflict_but_for_atomics() {
        let conflicts = |kind| shared_access(kind, 4, u32::MAX, &[64; 32]).conflicts;
        assert_eq!(conflicts(SharedKind::Load), 0);
        assert_eq!(conflicts(SharedKind::Store), 0);
        assert_eq!(conflicts(SharedKind::Atomic), 31);
    }

    #[test]
    fn sectors_of_the_usual_patterns() {
        let at = |f: fn(u64) -> u64| -> [u64; 32] { std::array::from_fn(|l| f(l as u64)) };
        let sectors = |a: &[u64; 32]| global_access(GlobalKind::Plain, 4, u32::MAX, a).sectors;
        assert_eq!(sectors(&at(|l| 4 * l)), 4);
        assert_eq!(sectors(&at(|l| 4 * (l ^ 1))), 4);
        assert_eq!(sectors(&at(|l| 4 * l + 4)), 5);
        assert_eq!(sectors(&at(|l| 512 * l)), 32);
        assert_eq!(sectors(&at(|_| 0)), 1);
        let atomic = global_access(GlobalKind::Atomic, 4, u32::MAX, &[0; 32]);
        assert_eq!(atomic.sectors, 32);
    }

    /// For each bit, an H200 was asked which of four lines of known sets shares its set.
    #[test]
    fn lines_fall_into_sets_by_the_bits_of_their_addresses() {
        const OF_BITS: [usize; 27] = [
            2, 3, 2, 3, 1, 2, 3, 1, 3, 2, 3, 2, 1, 2, 1, 3, 2, 1, 2, 1, 3, 1, 2, 1, 2, 3, 1,
        ];
        for (bit, set) in (7..).zip(OF_BITS) {
            assert_eq!(set_of(1 << bit), set, "bit {bit}");
        }
        assert_eq!(set_of(0x7F), 0);
    }

    /// Lanes 0 and 2 have one sector of line 0, lane 1 the bank of lane 2 in another line of the
    /// same set: line 0 comes twice. In another set it delays no lane.
    #[test]
    fn a_bank_taken_by_another_line_parts_the_lanes_of_an_atomic() {
        let other = (1..)
            .find(|line| set_of(line * 128) == 0)
            .expect("one in four");
        let apart = (1..)
            .find(|line| set_of(line * 128) == 1)
            .expect("one in four");
        let sectors = |kind, line: u64| {
            let mut addresses = [0; 32];
            addresses[1] = 128 * line + 4;
            addresses[2] = 4;
            global_access(kind, 4, 0b111, &addresses).sectors
        };
        assert_eq!(sectors(GlobalKind::Atomic, other), 3);
        assert_eq!(sectors(GlobalKind::CompareAndSwap, other), 3);
        assert_eq!(sectors(GlobalKind::Atomic, apart), 2);
        assert_eq!(sectors(GlobalKind::Plain, other), 2);
    }

    #[test]
    fn a_uniform_local_index_is_coalesced() {
        assert_eq!(local_access(4, u32::MAX, &[16; 32]).sectors, 4);
        assert_eq!(local_access(8, u32::MAX, &[16; 32]).sectors, 8);
        let apart = std::array::from_fn(|lane| 4 * lane as u64);
        assert_eq!(local_access(4, u32::MAX, &apart).sectors, 32);
    }

    /// Numbers that look random.
    pub fn scrambled(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ state >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ mixed >> 29
        }
    }

    /// The fast paths against the definitions, on patterns with few and with many different
    /// words.
    #[test]
    fn quick_ways_agree_with_the_definitions() {
        let mut random = scrambled(1);
        for round in 0..4000u64 {
            let bytes = 1u32 << (round % 5);
            let spread = 1 << (2 + random() % 12);
            let offsets: [u32; 32] = std::array::from_fn(|_| (random() % spread) as u32 * bytes);
            let mask = if round % 3 == 0 {
                u32::MAX
            } else {
                (random() as u32).max(1)
            };
            assert_eq!(
                busiest_bank(bytes, mask, &offsets),
                most_words_in_one(bytes, mask, &offsets),
                "{bytes} bytes, mask {mask:#x}, {offsets:?}"
            );
            let addresses = offsets.map(|offset| 0x1000 + u64::from(offset));
            let quick = distinct_aligned(bytes, mask, &addresses).expect("it is aligned");
            let plain = distinct_sorted(bytes, mask, &addresses);
            assert_eq!(
                (quick.addresses, quick.sectors, quick.bytes),
                (plain.addresses, plain.sectors, plain.bytes),
                "{bytes} bytes, mask {mask:#x}, {addresses:?}"
            );
        }
    }

    #[test]
    fn accesses_that_are_not_aligned_are_counted_by_the_definition() {
        let addresses = std::array::from_fn(|lane| 30 + 4 * lane as u64);
        let cost = global_access(GlobalKind::Plain, 4, u32::MAX, &addresses);
        assert_eq!((cost.sectors, cost.bytes), (5, 128));
        assert_eq!(
            shared_access(SharedKind::Load, 4, 1, &[2; 32]).wavefronts,
            1
        );
    }
}
