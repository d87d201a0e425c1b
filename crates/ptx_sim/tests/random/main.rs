//! Programs made up at random, run on the simulator and compared with an H200.
//!
//! `h200.txt` holds a hash of what each program left in all registers of all threads on
//! the hardware. To measure again, on a machine with a GPU: run the ignored test
//! `write_programs`, then `measure.py` on its folder.
//!
//! # What was found
//!
//! Compiled by ptxas without optimisation, all of 6000 programs leave the same bits. With
//! optimisation 159 leave others, so that ptxas disagrees with itself there, and PTX is
//! silent or ptxas wrong. Of 120 of these the beginnings were compared, one instruction
//! more each time, up to the first that differs:
//!
//! - 60 differ in the payload or sign of a NaN, which PTX leaves open;
//! - 38 at `bfe` or `bfi` with a constant position past the register, which a compiler
//!   that knows it takes otherwise than the instructions that compute it;
//! - 22 elsewhere. Those looked into: `abs` or `neg` of the smallest integer, taken not to
//!   overflow; `neg.ftz` folded into the instruction that follows, which does not flush;
//!   two conversions made one (`f32` to `u32` to `s16`, whose bounds then differ).
//!
//! What is left out of the programs for a reason stands in `generate.rs`.

mod generate;

use std::fmt::Write as _;

use generate::{
    INPUT_WORDS, OUTPUT_WORDS, Random, THREADS, WHOLE, header, input, program, register_names,
};
use ptx_sim::{Device, LaunchError, LaunchOptions, Module};

/// Different inputs; program `n` gets number `n % N_INPUTS`.
const N_INPUTS: u64 = 8;

/// What a program writes.
fn simulate(seed: u64) -> Result<Vec<u64>, String> {
    let text = header() + &program(seed);
    let module = Module::parse(&text).map_err(|e| e.to_string())?;
    if let Some(unknown) = module.unsupported().first() {
        return Err(format!("{unknown:?}"));
    }
    let mut device = Device::new();
    let loaded = device.load(&module).map_err(|e| e.to_string())?;
    let data = device
        .upload(&input(seed % N_INPUTS), "in")
        .map_err(|e| e.to_string())?;
    let out = device
        .zeros::<u64>(THREADS as usize * OUTPUT_WORDS, "out")
        .map_err(|e| e.to_string())?;
    let options = LaunchOptions {
        count: false,
        ..LaunchOptions::default()
    };
    let name = format!("program_{seed}");
    let call = device.call(&loaded, &name).block(THREADS).options(options);
    call.arg(data).arg(out).run().map_err(|e| e.to_string())?;
    device.download(out).map_err(|e| e.to_string())
}

/// A hash in which every word counts, with its place.
fn hash(words: &[u64]) -> u64 {
    let mix = |word: u64, place: u64| {
        let z = word ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mixed = words.iter().zip(1..).map(|(&word, place)| mix(word, place));
    mixed.fold(0, u64::wrapping_add)
}

/// Programs that every run of the tests compares; the others take some seconds more.
const N_EVERY_RUN: u64 = 800;

/// Compares programs with the hardware; gives those that differ.
fn compare(programs: std::ops::Range<u64>) -> String {
    let measured: Vec<u64> = include_str!("h200.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| u64::from_str_radix(line, 16).expect("hexadecimal"))
        .collect();
    assert_eq!(measured.len() as u64, N_MEASURED);
    let mut report = String::new();
    for number in programs {
        match simulate(number) {
            Ok(words) if hash(&words) == measured[number as usize] => {}
            Ok(_) => writeln!(report, "program {number} leaves other bits").unwrap(),
            Err(error) => writeln!(report, "program {number}: {error}").unwrap(),
        }
    }
    report
}

/// Programs in `h200.txt`.
const N_MEASURED: u64 = 6000;

#[test]
fn random_programs_leave_what_an_h200_leaves() {
    let report = compare(0..N_EVERY_RUN);
    assert!(report.is_empty(), "{report}");
}

#[test]
#[ignore = "takes some seconds: all that were measured"]
fn all_random_programs_leave_what_an_h200_leaves() {
    let report = compare(N_EVERY_RUN..N_MEASURED);
    assert!(report.is_empty(), "{report}");
}

#[test]
fn a_wrong_bit_changes_the_hash() {
    let words = simulate(0).unwrap();
    let mut others = words.clone();
    others[77] ^= 1 << 40;
    assert_ne!(hash(&words), hash(&others));
    others.clone_from(&words);
    others.swap(0, 1);
    assert_ne!(hash(&words), hash(&others));
}

/// A program with some of its lines mangled: opcodes and operands that stand elsewhere in
/// it, lines doubled, dropped and exchanged.
fn mangled(number: u64) -> String {
    let mut random = Random(number);
    let mut pick = |n: usize| ((random.next() >> 33) % n as u64) as usize;
    let text = program(number);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=pick(5) {
        let (here, there) = (30 + pick(lines.len() - 31), 30 + pick(lines.len() - 31));
        let other = lines[there].clone();
        match pick(6) {
            0 => lines.insert(here, other),
            1 => drop(lines.remove(here)),
            2 => lines.swap(here, there),
            3 => {
                // The other's opcode before these operands.
                if let (Some((_, operands)), Some((opcode, _))) =
                    (lines[here].split_once(' '), other.split_once(' '))
                {
                    lines[here] = format!("{opcode} {operands}");
                }
            }
            4 => lines[here] = lines[here].replace("%r", ["%d", "%f", "%h", "%p"][pick(4)]),
            _ => lines[here] = lines[here].replace(", ", [", 0x7fffffff, ", ", _, ", " "][pick(3)]),
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn mangled_programs_end_in_a_result_or_an_error() {
    let mut n_run = 0;
    for number in 0..1500 {
        let Ok(module) = Module::parse(&(header() + &mangled(number))) else {
            continue;
        };
        let mut device = Device::new();
        let loaded = device.load(&module).unwrap();
        let data = device.upload(&input(0), "in").unwrap();
        let out = device
            .zeros::<u64>(THREADS as usize * OUTPUT_WORDS, "out")
            .unwrap();
        let name = format!("program_{number}");
        let call = device.call(&loaded, &name).block(THREADS).fuel(20_000);
        let outcome = call.check(number % 2 == 0).arg(data).arg(out).run();
        if let Err(error @ LaunchError::Internal { .. }) = outcome {
            panic!("program {number}: {error}");
        }
        n_run += 1;
    }
    assert!(n_run > 300, "{n_run} could be read");
}

/// The numbers that a range or a list names, as `0..4000` or `7,12`.
fn numbers(text: &str) -> Vec<u64> {
    let number = |text: &str| text.trim().parse().expect("a number");
    match text.split_once("..") {
        Some((first, end)) => (number(first)..number(end)).collect(),
        None => text.split(',').map(number).collect(),
    }
}

#[test]
#[ignore = "writes PROGRAMS (0..4000, or 7,12 with all their BEGINNINGS) to the folder PROGRAMS_OUT"]
fn write_programs() {
    let out = std::path::PathBuf::from(std::env::var_os("PROGRAMS_OUT").expect("PROGRAMS_OUT"));
    let mut seeds = numbers(&std::env::var("PROGRAMS").expect("PROGRAMS"));
    if std::env::var_os("BEGINNINGS").is_some() {
        let beginnings = |seed: &u64| (1..70).map(|n| seed + n * WHOLE).collect::<Vec<_>>();
        seeds = seeds.iter().flat_map(beginnings).collect();
    }
    for (i, part) in seeds.chunks(seeds.len().div_ceil(16)).enumerate() {
        let text = part.iter().map(|&seed| program(seed)).collect::<String>();
        std::fs::write(out.join(format!("programs_{i:02}.ptx")), header() + &text).unwrap();
    }
    let inputs: Vec<u64> = (0..N_INPUTS).flat_map(input).collect();
    std::fs::write(out.join("inputs.bin"), bytemuck::cast_slice(&inputs)).unwrap();
    let mut hashes = String::new();
    for seed in seeds {
        let words = simulate(seed).unwrap_or_else(|e| panic!("program {seed}: {e}"));
        writeln!(hashes, "{seed} {:016x}", hash(&words)).unwrap();
    }
    std::fs::write(out.join("simulated.txt"), hashes).unwrap();
    let shape = format!("{THREADS} {INPUT_WORDS} {OUTPUT_WORDS} {N_INPUTS}\n");
    std::fs::write(out.join("shape.txt"), shape).unwrap();
}

#[test]
#[ignore = "shows where programs differ from raw results of a measurement, the file in RAW"]
fn show_differences() {
    let bytes = std::fs::read(std::env::var_os("RAW").expect("RAW")).unwrap();
    let words = bytes
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word));
    let words: Vec<u64> = words.collect();
    for one in words.chunks_exact(1 + THREADS as usize * OUTPUT_WORDS) {
        let seed = one[0];
        let simulated = simulate(seed).unwrap();
        let names = register_names();
        let mut registers = std::collections::BTreeMap::new();
        for (i, (s, h)) in simulated.iter().zip(&one[1..]).enumerate() {
            if s != h {
                let (n, example) = registers
                    .entry(names[i % OUTPUT_WORDS].clone())
                    .or_insert((0, String::new()));
                *n += 1;
                if *n < 3 {
                    let thread = i / OUTPUT_WORDS;
                    *example += &format!(" [{thread}] {s:x}, hardware {h:x};");
                }
            }
        }
        println!("program {seed}: {registers:?}");
    }
}
