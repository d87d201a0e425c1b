//! The evidence for each instruction, by mnemonic.

use std::collections::{BTreeMap, HashSet};

use super::single::Single;
use crate::measured::cases as measured;
use crate::random::set::{FIRST, Set, WIDE};

/// Lanes that have a hash together in `tests/measured`.
const LANES_A_BLOCK: usize = 64 * 32;

/// Programs of each set that are searched for instructions: all would take some seconds.
pub const N_SEARCHED: u64 = 1000;

/// What was compared of the instructions with one mnemonic.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Forms measured alone whose bits must be the hardware's, and their operands.
    pub n_forms: usize,
    pub n_operands: usize,
    /// Forms that ptxas is known to execute differently from the documentation.
    pub n_unlike: usize,
    /// Random programs that have one of them, of those searched.
    pub n_programs: u64,
}

impl Evidence {
    pub fn is_none(&self) -> bool {
        self.n_forms == 0 && self.n_programs == 0
    }
}

/// A mnemonic, and whether it works on floating-point numbers: `add.f32` is not `add.u32`.
pub type Key = (String, bool);

/// Mnemonics that integers and floating-point numbers share.
const SHARED: &[&str] = &[
    "add", "sub", "mul", "mad", "div", "min", "max", "abs", "neg",
];

/// The key of an opcode.
pub fn key(opcode: &str) -> Key {
    let mut parts = opcode.split('.');
    let mnemonic = parts.next().unwrap_or_default();
    // These have little in common with the other forms.
    for (of, form) in [
        ("st", "async"),
        ("st", "bulk"),
        ("red", "async"),
        ("barrier", "cluster"),
        ("cp", "bulk"),
    ] {
        if of == mnemonic && parts.clone().any(|part| part == form) {
            return (format!("{of}.{form}"), false);
        }
    }
    let is_float = |part: &str| {
        part.starts_with('f') && part[1..].starts_with(char::is_numeric) || part.starts_with("bf16")
    };
    let is_float = SHARED.contains(&mnemonic) && parts.any(is_float);
    (mnemonic.to_owned(), is_float)
}

/// The forms of `tests/measured`: the instruction, and lanes whose results were compared.
pub fn together() -> Vec<(String, usize)> {
    let cases = measured::cases();
    let lines = include_str!("../measured/h200.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let case = |line: &str| {
        let mut words = line.split_whitespace();
        let index: usize = words.next().expect("a number").parse().expect("a number");
        (cases[index].clone(), words.count() * LANES_A_BLOCK)
    };
    lines.map(case).collect()
}

/// All evidence.
pub fn by_key(singles: &[Single]) -> BTreeMap<Key, Evidence> {
    let mut all: BTreeMap<Key, Evidence> = BTreeMap::new();
    for single in singles.iter().filter(|single| single.must_be_same) {
        let evidence = all.entry(key(&single.opcode)).or_default();
        evidence.n_forms += 1;
        evidence.n_operands += single.n_operands;
    }
    for (case, n_lanes) in together() {
        let (_, text) = measured::parts(&case);
        for key in keys(text) {
            let evidence = all.entry(key).or_default();
            if measured::is_unlike(&case) {
                evidence.n_unlike += 1;
            } else {
                evidence.n_forms += 1;
                evidence.n_operands += n_lanes;
            }
        }
    }
    all.insert(key("wgmma"), of_warpgroups());
    for set in [&FIRST, &WIDE] {
        for (key, n) in programs(set) {
            all.entry(key).or_default().n_programs += n;
        }
    }
    all
}

/// Of `tests/wgmma`: forms of the instruction, and sums.
fn of_warpgroups() -> Evidence {
    let lines = include_str!("../wgmma/cases.txt").lines();
    let cases: Vec<Vec<&str>> = lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect())
        .collect();
    let forms: HashSet<&str> = cases.iter().map(|case| case[0]).collect();
    let n_sums = |case: &Vec<&str>| {
        let columns = case[0].split('.').nth(3).expect("a number of columns");
        let [columns, tiles] = [&columns[1..], case[12]].map(|n| n.parse::<usize>());
        64 * columns.expect("a number") * tiles.expect("a number")
    };
    Evidence {
        n_forms: forms.len(),
        n_operands: cases.iter().map(n_sums).sum(),
        ..Evidence::default()
    }
}

/// By mnemonic, how many of a set's first programs have it.
fn programs(set: &Set) -> BTreeMap<Key, u64> {
    let mut n_programs: BTreeMap<Key, u64> = BTreeMap::new();
    for number in 0..N_SEARCHED {
        for key in keys(&(set.program)(number)) {
            *n_programs.entry(key).or_default() += 1;
        }
    }
    n_programs
}

/// The keys of all instructions in a text.
fn keys(text: &str) -> HashSet<Key> {
    let mut opcodes: HashSet<&str> = HashSet::new();
    for statement in text.split([';', '\n', '{', '}']) {
        let statement = statement.trim();
        let statement = match statement.strip_prefix('@') {
            Some(guarded) => guarded.split_once(' ').map_or("", |(_, rest)| rest),
            None => statement,
        };
        let opcode = statement.split_whitespace().next().unwrap_or_default();
        if opcode.starts_with(|c: char| c.is_ascii_lowercase()) && !opcode.ends_with([':', ',']) {
            opcodes.insert(opcode);
        }
    }
    opcodes.into_iter().map(key).collect()
}
