//! The meaning of the figures, in a sentence each, the costliest first.

use crate::numbers::{grouped, short};
use crate::work::{Row, Space};
use lockstep::source::Place;
use serde::Serialize;

/// What is wrong with one instruction's accesses, or with several of one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `01_tiles.rs:178`, or the PTX line if no source is known.
    pub place: String,
    /// What is wrong.
    pub finding: String,
    /// The usual cause, and the remedy.
    pub advice: &'static str,
    /// Wavefronts and sectors wasted.
    pub wasted: u64,
}

/// One for every line and kind of waste, the costliest first.
pub fn verdicts(rows: &[Row]) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = Vec::new();
    let mut alike: Vec<(String, &'static str, Row)> = Vec::new();
    for row in rows.iter().filter(|row| row.wasted() > 0) {
        let place = place(row);
        let kind = operation(row);
        match alike
            .iter_mut()
            .find(|(other, other_kind, _)| *other == place && *other_kind == kind)
        {
            Some((_, _, sum)) => {
                sum.requests += row.requests;
                sum.wavefronts += row.wavefronts;
                sum.ideal_wavefronts += row.ideal_wavefronts;
                sum.ways = sum.ways.max(row.ways);
                sum.sectors += row.sectors;
                sum.ideal_sectors += row.ideal_sectors;
            }
            None => alike.push((place, kind, row.clone())),
        }
    }
    for (place, kind, row) in alike {
        if row.wavefronts > row.ideal_wavefronts {
            verdicts.push(banks(&place, &row));
        }
        if row.sectors > row.ideal_sectors {
            verdicts.push(sectors(&place, kind, &row));
        }
    }
    verdicts.extend(in_local_memory(rows));
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.wasted));
    verdicts
}

/// Reports local memory, if there is any.
fn in_local_memory(rows: &[Row]) -> Option<Verdict> {
    let rows = || rows.iter().filter(|row| row.space == Space::Local);
    let first = rows().next()?;
    let sectors: u64 = rows().map(|row| row.sectors).sum();
    Some(Verdict {
        place: place(first),
        finding: format!(
            "an array of each thread lies in local memory, {} sectors of loads and stores",
            grouped(sectors)
        ),
        advice: "indices that are constants once loops are unrolled keep it in registers",
        wasted: 0,
    })
}

fn place(row: &Row) -> String {
    row.line
        .as_ref()
        .map_or_else(|| format!("PTX line {}", row.ptx_line), Place::short)
}

/// `ld.global`, `red.shared`, `ldmatrix`.
fn operation(row: &Row) -> &'static str {
    let operation = row.opcode.split('.').next().unwrap_or_default();
    match (row.space, operation) {
        (Space::GlobalToShared, _) => "cp.async",
        (_, "ldmatrix") => "ldmatrix",
        (_, "stmatrix") => "stmatrix",
        (_, "wmma") => "wmma",
        (Space::Shared, "ld") => "load from shared memory",
        (Space::Shared, "st") => "store to shared memory",
        (Space::Shared, _) => "atomic in shared memory",
        (Space::Local, "st") => "store to local memory",
        (Space::Local, _) => "load from local memory",
        (Space::Global, "st") => "store",
        (Space::Global, "atom" | "red") => "atomic",
        (Space::Global, _) => "load",
    }
}

/// `31 of 32`: the smallest numbers with that ratio, if they are small.
fn share(part: u64, whole: u64) -> String {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let divisor = gcd(part, whole).max(1);
    let (a, b) = (part / divisor, whole / divisor);
    if b <= 64 {
        format!("{a} of {b}")
    } else {
        format!("{} of {}", grouped(part), grouped(whole))
    }
}

fn banks(place: &str, row: &Row) -> Verdict {
    let wasted = row.wavefronts - row.ideal_wavefronts;
    let kind = operation(row);
    let advice = match kind {
        "ldmatrix" | "stmatrix" => {
            "the eight rows of a matrix begin in the same banks: swizzle the tile's 16-byte \
             chunks, or pad its rows by 16 bytes"
        }
        "atomic in shared memory" => {
            "lanes meet in one bank or on one address: combine them by shuffles first, or give \
             each warp its own counters"
        }
        _ => {
            "lanes of a warp meet in one bank with different words, as they do down a column: \
             pad the rows by one element, or swizzle the columns"
        }
    };
    // If all groups of lanes are alike, it is an n-way conflict, else "up to" n-way.
    let even = row.wavefronts == row.ideal_wavefronts * u64::from(row.ways);
    let up_to = if even { "" } else { "up to " };
    Verdict {
        place: place.to_owned(),
        finding: format!(
            "{up_to}{}-way bank conflict ({kind}), {} wavefronts wasted",
            row.ways,
            share(wasted, row.wavefronts)
        ),
        advice,
        wasted,
    }
}

fn sectors(place: &str, kind: &'static str, row: &Row) -> Verdict {
    let wasted = row.sectors - row.ideal_sectors;
    let requests = row.requests.max(1) as f64;
    let advice = match (row.space, kind) {
        (Space::Local, _) => {
            "lanes index their own arrays differently: constant indices keep the array in \
             registers, equal ones keep it coalesced"
        }
        (_, "atomic") => {
            "lanes of a warp meet on one address, or are far apart: combine them by shuffles \
             first, then one lane adds"
        }
        // At most one extra sector per request: the access begins within a sector.
        _ if wasted <= row.requests => {
            "the warp's first byte lies within a sector: start at a multiple of 32 bytes"
        }
        _ => {
            "neighbouring lanes are far apart: let lanes run along the row, and turn the data \
             through a tile in shared memory if they cannot"
        }
    };
    Verdict {
        place: place.to_owned(),
        finding: format!(
            "{kind} of {} sectors per request where {} would do, {} wasted",
            short(row.sectors as f64 / requests, 2),
            short(row.ideal_sectors as f64 / requests, 2),
            share(wasted, row.sectors)
        ),
        advice,
        wasted,
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_small_numbers_where_they_can_be() {
        assert_eq!(share(31 * 1024, 32 * 1024), "31 of 32");
        assert_eq!(share(1, 3), "1 of 3");
        assert_eq!(share(1009, 2003), "1,009 of 2,003");
    }
}
