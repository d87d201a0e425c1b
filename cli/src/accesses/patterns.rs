//! Fresh cases: patterns that people write, and patterns that no one would.
//!
//! The same seed gives the same cases. They vary in strides and offsets,
//! random addresses in windows from one line of the banks to all of the memory,
//! permutations, addresses shared by pairs, quads and larger sets of lanes (which
//! decide whether wide loads merge), and masks.

use super::instructions::Instruction;
use super::{Case, Counted, LANES};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// `n_each` cases of each instruction.
pub fn cases<'i>(
    instructions: impl IntoIterator<Item = &'i Instruction>,
    n_each: usize,
    seed: u64,
) -> Vec<Case> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut cases = Vec::new();
    for instruction in instructions {
        for index in 0..n_each {
            let offsets = offsets(&mut rng, instruction, index);
            let mask = if instruction.is_collective() {
                u32::MAX
            } else {
                mask(&mut rng)
            };
            cases.push(Case {
                instruction: instruction.name.to_owned(),
                bytes: instruction.bytes,
                mask,
                offsets,
                counted: Counted::default(),
            });
        }
    }
    cases
}

/// Where the lanes access: every kind of pattern in turn.
fn offsets(rng: &mut StdRng, instruction: &Instruction, index: usize) -> [u32; LANES] {
    let bytes = instruction.bytes;
    let n_units = instruction.reach_bytes() / bytes;
    let lanes: [u32; LANES] = std::array::from_fn(|lane| lane as u32);
    let units: [u32; LANES] = match index % 8 {
        // A stride, from anywhere.
        0 => {
            let stride = rng.random_range(0..=80.min(n_units / 64));
            let first = rng.random_range(0..n_units / 4);
            lanes.map(|lane| first + lane * stride)
        }
        // At random within a window.
        1 | 5 => {
            let window = (128 << rng.random_range(0..8)).min(instruction.reach_bytes()) / bytes;
            lanes.map(|_| rng.random_range(0..window))
        }
        // Sets of lanes with one address each: those whose numbers differ in
        // these bits only.
        2 | 6 => {
            let together = if rng.random_bool(0.6) {
                1 << rng.random_range(0..5)
            } else {
                rng.random_range(1..32)
            };
            let window = (256 << rng.random_range(0..6)).min(instruction.reach_bytes()) / bytes;
            let places = lanes.map(|_| rng.random_range(0..window));
            lanes.map(|lane| places[(lane & !together) as usize])
        }
        // Columns of a matrix, plain, padded or swizzled.
        3 => {
            let n_columns = 1 << rng.random_range(0..=4);
            let pitch = (4 << rng.random_range(0..5)) + rng.random_range(0..2);
            let swizzle = rng.random_range(0..8);
            lanes.map(|lane| {
                let (row, column) = (lane / n_columns, lane % n_columns);
                (row * pitch + (column ^ (row & swizzle))) % n_units
            })
        }
        // A permutation of neighbours.
        4 => {
            let (flip, first) = (rng.random_range(0..32), rng.random_range(0..n_units / 2));
            let by = 2 * rng.random_range(0..16) + 1;
            lanes.map(|lane| first + (((lane * by) % 32) ^ flip))
        }
        // Sets as above, but one lane leaves its set.
        _ => {
            let together = 1 << rng.random_range(0..2);
            let window = (256 << rng.random_range(0..5)).min(instruction.reach_bytes()) / bytes;
            let places = lanes.map(|_| rng.random_range(0..window));
            let mut units = lanes.map(|lane| places[(lane & !together) as usize]);
            units[rng.random_range(0..LANES)] = rng.random_range(0..window);
            units
        }
    };
    units.map(|unit| unit * bytes)
}

/// The lanes that take part: half of the time all of them.
fn mask(rng: &mut StdRng) -> u32 {
    if rng.random_bool(0.5) {
        return u32::MAX;
    }
    match rng.random_range(0..8) {
        0 => 1 << rng.random_range(0..32),
        1 => 0x5555_5555 << rng.random_range(0..2),
        2 => 0x3333_3333 << (2 * rng.random_range(0..2)),
        3 => 0xFFFF << (16 * rng.random_range(0..2)),
        4 => u32::MAX << rng.random_range(1..32),
        5 => rng.random::<u32>() & rng.random::<u32>() & rng.random::<u32>(),
        6 => !(1 << rng.random_range(0..32)),
        _ => rng.random(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::instructions::INSTRUCTIONS;
    use super::cases;

    #[test]
    fn cases_stay_in_memory_and_are_aligned() {
        for seed in 0..20 {
            let cases = cases(INSTRUCTIONS, 32, seed);
            for (case, instruction) in cases.chunks(32).zip(INSTRUCTIONS) {
                for case in case {
                    assert_eq!(case.instruction, instruction.name);
                    for offset in case.offsets {
                        assert_eq!(offset % case.bytes, 0, "{case:?}");
                        assert!(offset + case.bytes <= instruction.reach_bytes(), "{case:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_cases() {
        assert_eq!(cases(INSTRUCTIONS, 4, 7), cases(INSTRUCTIONS, 4, 7));
        assert_ne!(cases(INSTRUCTIONS, 4, 7), cases(INSTRUCTIONS, 4, 8));
    }
}
