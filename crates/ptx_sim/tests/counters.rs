//! The counting rules against an H200's hardware counters, case by case.

use ptx_sim::count::{SharedKind, global_access, local_access, shared_access};

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

/// How an instruction is counted in shared memory. The simulator knows this from
/// the instruction itself; here its name tells.
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
        "atom" if instruction.contains(".cas.") => SharedKind::CompareAndSwap,
        "red" if instruction.ends_with("(of 1)") => SharedKind::Increment,
        "atom" | "red" => SharedKind::Atomic,
        "cp" => SharedKind::AsyncCopy,
        "ld" => SharedKind::Load,
        _ => SharedKind::Store,
    }
}

/// The lines of a data file that the rules do not reproduce.
fn disagreeing(data: &str) -> (usize, Vec<usize>) {
    let mut n_cases = 0;
    let mut wrong = Vec::new();
    for (index, line) in data.lines().enumerate().skip(1) {
        let case = case(line);
        n_cases += 1;
        let mut agrees = true;
        if let Some(expected) = case.shared {
            let kind = shared_kind(case.instruction);
            let cost = shared_access(kind, case.bytes, case.mask, &case.offsets);
            agrees &= (cost.wavefronts, cost.conflicts) == expected;
        }
        if let Some(expected) = case.global {
            let addresses = case.offsets.map(u64::from);
            let cost = if case.instruction.contains(".local.") {
                local_access(case.bytes, case.mask, &addresses)
            } else {
                let is_atomic =
                    case.instruction.starts_with("red.") || case.instruction.starts_with("atom.");
                global_access(is_atomic, case.bytes, case.mask, &addresses)
            };
            agrees &= (cost.requests, cost.sectors) == expected;
        }
        if !agrees {
            wrong.push(index + 1);
        }
    }
    (n_cases, wrong)
}

#[test]
fn every_measured_case_is_reproduced() {
    let data = include_str!("data/h200-access-counters.csv");
    assert_eq!(disagreeing(data), (230, vec![]));
}

/// Two of twenty atomics of 8 bytes in global memory count one or two sectors
/// more than any rule we know of. They are named here, so that a better rule
/// shows.
#[test]
fn fresh_cases_are_reproduced_but_for_two_that_are_not_understood() {
    let data = include_str!("data/h200-access-counters-2.csv");
    assert_eq!(disagreeing(data), (690, vec![564, 613]));
}
