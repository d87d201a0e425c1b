//! Location lists (`.debug_loc`) and lists of ranges (`.debug_ranges`), as DWARF 2 has them. The
//! addresses in them are lines of the text.

use super::sections::Sections;
use std::ops::Range;

/// Operations that hold on some lines.
pub(super) type Located = (Range<u64>, Vec<u8>);

/// The location list at an offset; `base` is the unit's first address. What follows a malformed
/// entry is left out.
pub(super) fn locations(sections: &Sections, offset: usize, base: u64) -> Vec<Located> {
    let mut found = Vec::new();
    read(sections.get(".debug_loc"), offset, base, |lines, rest| {
        let size = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        let operations = rest.get(2..2 + size)?;
        found.push((lines, operations.to_vec()));
        Some(2 + size)
    });
    found
}

/// The ranges at an offset.
pub(super) fn ranges(sections: &Sections, offset: usize, base: u64) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    read(sections.get(".debug_ranges"), offset, base, |lines, _| {
        found.push(lines);
        Some(0)
    });
    found
}

/// Reads pairs of addresses up to the pair of zeros. `take` is given each and what follows it, and
/// returns how many bytes of that belong to it.
fn read(
    section: &[u8],
    offset: usize,
    base: u64,
    mut take: impl FnMut(Range<u64>, &[u8]) -> Option<usize>,
) -> Option<()> {
    let (mut rest, mut base) = (section.get(offset..)?, base);
    loop {
        let (pair, after) = rest.split_at_checked(16)?;
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        let (start, end) = (number(&pair[..8])?, number(&pair[8..])?);
        rest = after;
        if (start, end) == (0, 0) {
            return Some(());
        }
        if start == u64::MAX {
            base = end;
            continue;
        }
        let lines = base.checked_add(start)?..base.checked_add(end)?;
        rest = rest.get(take(lines, rest)?..)?;
    }
}
