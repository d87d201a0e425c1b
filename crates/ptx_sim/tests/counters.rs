//! The counting rules against an H200's hardware counters, case by case.

use ptx_sim::count::{SharedKind, global_access, shared_access};

/// One row of the data: what was run, and what the counters said.
struct Case<'a> {
    instruction: &'a str,
    bytes: u32,
    mask: u32,
    offsets: [u32; 32],
    /// Wavefronts and bank conflicts.
    shared: Option<(u32, u32)>,
    /// Requests and sectors.
    global: Option<(u32, u32)>,
}

fn case(line: &str) -> Case<'_> {
    let fields: Vec<&str> = line.split(',').collect();
    let pair = |a: &str, b: &str| Some((a.parse().ok()?, b.parse().ok()?));
    let mut offsets = [0; 32];
    for (slot, text) in offsets.iter_mut().zip(fields[3].split(' ')) {
        *slot = text.parse().unwrap();
    }
    Case {
        instruction: fields[0],
        bytes: fields[1].parse().unwrap(),
        mask: u32::from_str_radix(fields[2], 16).unwrap(),
        offsets,
        shared: pair(fields[4], fields[5]),
        global: pair(fields[6], fields[7]),
    }
}

/// How an instruction is counted in shared memory.
fn shared_kind(instruction: &str) -> SharedKind {
    let matrices = |text: &str| match text {
        t if t.contains(".x4") => 4,
        t if t.contains(".x2") => 2,
        _ => 1,
    };
    match instruction.split('.').next().unwrap() {
        "ldmatrix" | "stmatrix" => SharedKind::Matrix {
            matrices: matrices(instruction),
        },
        "atom" | "red" => SharedKind::Atomic,
        "ld" => SharedKind::Load,
        _ => SharedKind::Store,
    }
}

#[test]
fn every_measured_case_is_reproduced() {
    let data = include_str!("data/h200-access-counters.csv");
    let mut agreeing = 0;
    let mut wrong = Vec::new();
    for line in data.lines().skip(1) {
        let case = case(line);
        let mut agrees = true;
        if let Some(expected) = case.shared {
            let kind = shared_kind(case.instruction);
            let cost = shared_access(kind, case.bytes, case.mask, &case.offsets);
            agrees &= (cost.wavefronts, cost.conflicts) == expected;
        }
        if let Some(expected) = case.global {
            let is_reduction = case.instruction.starts_with("red.");
            let addresses = case.offsets.map(u64::from);
            let cost = global_access(is_reduction, case.bytes, case.mask, &addresses);
            agrees &= (cost.requests, cost.sectors) == expected;
        }
        if agrees {
            agreeing += 1;
        } else {
            wrong.push(line);
        }
    }
    assert_eq!((agreeing, wrong), (230, Vec::<&str>::new()));
}
