//! Single accesses measured by an H200's counters, and the results of the counting rules.

use ptx_sim::count::{
    GlobalCost, GlobalKind, SharedKind, global_access, local_access, shared_access,
};

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

/// How an instruction is counted in shared memory. The simulator knows this from the
/// instruction itself; here it follows from the name.
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

/// A measured access whose figures are compared with those of the rules.
pub struct Compared<'a> {
    /// Its line in the file, from 1.
    pub line: usize,
    /// Its PTX name.
    pub instruction: &'a str,
    /// Pairs of figures, measured and by rule: wavefronts, bank conflicts, requests,
    /// sectors, where they were measured.
    pub figures: [Option<(u32, u32)>; 4],
}

impl Compared<'_> {
    /// Whether everything that was measured agrees with the rules.
    pub fn agrees(&self) -> bool {
        self.figures
            .iter()
            .flatten()
            .all(|(measured, by_rule)| measured == by_rule)
    }
}

/// All accesses of a data file.
pub fn compared(data: &str) -> impl Iterator<Item = Compared<'_>> {
    data.lines().enumerate().skip(1).map(|(index, line)| {
        let case = case(line);
        let mut figures = [None; 4];
        if let Some((wavefronts, conflicts)) = case.shared {
            let kind = shared_kind(case.instruction);
            let cost = shared_access(kind, case.bytes, case.mask, &case.offsets);
            figures[0] = Some((wavefronts, cost.wavefronts));
            figures[1] = Some((conflicts, cost.conflicts));
        }
        if let Some((requests, sectors)) = case.global {
            let cost = elsewhere(&case);
            figures[2] = Some((requests, cost.requests));
            figures[3] = Some((sectors, cost.sectors));
        }
        Compared {
            line: index + 1,
            instruction: case.instruction,
            figures,
        }
    })
}

/// The result of the rules for an access to global or local memory.
fn elsewhere(case: &Case<'_>) -> GlobalCost {
    let addresses = case.offsets.map(u64::from);
    if case.instruction.contains(".local.") {
        return local_access(case.bytes, case.mask, &addresses);
    }
    let operation = case.instruction.split('.').next().unwrap_or_default();
    let kind = match operation {
        "atom" if case.instruction.contains(".cas.") => GlobalKind::CompareAndSwap,
        "atom" | "red" => GlobalKind::Atomic,
        _ => GlobalKind::Plain,
    };
    global_access(kind, case.bytes, case.mask, &addresses)
}
