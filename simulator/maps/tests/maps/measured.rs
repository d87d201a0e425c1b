//! The maps, checked against an H200's hardware counters: a map shows exactly the measured
//! wavefronts, conflicts and sectors, for every measured access.

use maps::{Access, BankMap, SectorMap};
use ptx_sim::AccessClass;
use ptx_sim::ir::Space;

const DATA: [&str; 4] = [
    include_str!("../../../ptx_sim/tests/data/h200-access-counters.csv"),
    include_str!("../../../ptx_sim/tests/data/h200-access-counters-2.csv"),
    include_str!("../../../ptx_sim/tests/data/h200-access-counters-3.csv"),
    include_str!("../../../ptx_sim/tests/data/h200-access-counters-4.csv"),
];

/// The class and space of an instruction of the data, by its name.
fn class_and_space(instruction: &str) -> (AccessClass, Space) {
    let space = match instruction {
        name if name.contains(".local.") => Space::Local,
        name if name.contains(".global.") && !name.starts_with("cp.") => Space::Global,
        _ => Space::Shared,
    };
    let class = match instruction.split('.').next().unwrap() {
        "ldmatrix" => AccessClass::LoadMatrix,
        "stmatrix" => AccessClass::StoreMatrix,
        "atom" if instruction.contains(".cas.") => AccessClass::CompareAndSwap,
        "red" if instruction.ends_with("(of 1)") => AccessClass::Increment,
        "atom" => AccessClass::Atomic,
        "red" => AccessClass::Reduction,
        "cp" => AccessClass::AsyncCopy,
        "ld" => AccessClass::Load,
        _ => AccessClass::Store,
    };
    (class, space)
}

/// A row of the data: the access, and the four figures, where they were measured.
fn case(line: &str) -> (Access, [Option<u32>; 4]) {
    let fields: Vec<&str> = line.split(',').collect();
    let (class, space) = class_and_space(fields[0]);
    let mut addresses = [0; 32];
    for (slot, text) in addresses.iter_mut().zip(fields[3].split(' ')) {
        *slot = text.parse().unwrap();
    }
    // Only some lanes of matrix instructions give addresses.
    let rows = match fields[0] {
        name if name.contains(".x1.") => 0xFF,
        name if name.contains(".x2.") => 0xFFFF,
        _ => u32::MAX,
    };
    let mask = rows & u32::from_str_radix(fields[2], 16).unwrap();
    let access = Access::new(class, space, fields[1].parse().unwrap(), mask, addresses);
    (access, [4, 5, 6, 7].map(|at| fields[at].parse().ok()))
}

/// Whether a map agrees with the measurements.
fn agrees(line: &str) -> bool {
    let (access, [wavefronts, conflicts, _, sectors]) = case(line);
    let banks = BankMap::of(&access);
    let passes = 1 + u32::from(banks.is_twice);
    let shown: u32 = banks
        .phases
        .iter()
        .map(|phase| passes * phase.wavefronts)
        .sum();
    let in_cells = banks.phases.iter().map(|phase| {
        let last = phase.cells.iter().map(|cell| cell.wavefront).max();
        passes * last.map_or(0, |last| last + 1)
    });
    let in_cells: u32 = in_cells.sum();
    // A copy reads global memory at the same addresses.
    let is_copy = access.class == AccessClass::AsyncCopy;
    let (class, space) = match is_copy {
        true => (AccessClass::Load, Space::Global),
        false => (access.class, access.space),
    };
    let read = Access::new(class, space, access.bytes, access.mask, access.addresses);
    let sector_map = SectorMap::of(&read);
    wavefronts.is_none_or(|n| (n, n) == (shown, in_cells))
        && conflicts.is_none_or(|n| n == banks.cost.conflicts)
        && sectors.is_none_or(|n| n == sector_map.cost.sectors)
}

#[test]
fn maps_show_what_was_measured() {
    let mut n = 0;
    let mut wrong = Vec::new();
    for (file, data) in DATA.iter().enumerate() {
        for (at, line) in data.lines().enumerate().skip(1) {
            n += 1;
            if !agrees(line) {
                wrong.push((file, at + 1, line.split(',').next().unwrap()));
            }
        }
    }
    assert_eq!(n, 230 + 690 + 2070 + 1370);
    let n_wrong = wrong.len();
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{n_wrong} disagree, {wrong:?} first");
}
