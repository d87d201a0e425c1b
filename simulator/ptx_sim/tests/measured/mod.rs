//! Instructions compared with an NVIDIA H200, bit for bit: `mma` and `wmma` of all types and
//! shapes, conversions to and from 8-bit floats, comparisons of halves, video instructions.
//!
//! `cases.txt` has the instructions, `h200.txt` what the GPU gave: for each, a hash of the
//! results of every 64 of its 512 warps, whose operands this test recomputes (`inputs`). To
//! measure again, on a machine with a GPU and ptxas: `python3 measure.py FOLDER`. (When the
//! file was made, 2,048 warps of each were compared, and agreed.)

pub mod cases;
mod inputs;
mod shifts;

use std::fmt::Write as _;

use cases::{cases, is_unlike, kernel, parts};
use common::Bench;
use common::numbers::{STEP, number as mix};
use inputs::inputs;

/// Warps that have a hash together.
const BLOCK: u64 = 64;

/// Hashes of the results of a case's first warps, a block each.
fn simulated(index: usize, case: &str, n_blocks: u64) -> Result<Vec<u64>, String> {
    let (text, in_bytes, out_bytes) = kernel(index, case);
    let text = format!(".version 8.7\n.target sm_90a\n.address_size 64\n{text}");
    let bench = Bench::new(&text);
    let warps = n_blocks * BLOCK;
    let (operands, _) = parts(case);
    let sources = &operands[..operands.len() - 1];
    let data: Vec<u8> = (0..warps)
        .flat_map(|warp| inputs(index, sources, warp))
        .collect();
    assert_eq!(data.len(), warps as usize * in_bytes);
    let from = bench.upload(&data, "from");
    let to = bench.zeros::<u8>(warps as usize * out_bytes, "to");
    let name = format!("case_{index}");
    let call = bench.call(&name).grid(warps as u32).block(32);
    let run = call.arg(from).arg(to).run();
    run.map_err(|e| e.to_string())?;
    let found = bench.download(to);
    if let Ok(folder) = std::env::var("MEASURED_RAW") {
        std::fs::write(format!("{folder}/{index}.bin"), &found).unwrap();
    }
    Ok(found
        .chunks(BLOCK as usize * out_bytes)
        .map(hashed)
        .collect())
}

fn hashed(bytes: &[u8]) -> u64 {
    let words = bytes
        .chunks_exact(4)
        .map(bytemuck::pod_read_unaligned::<u32>);
    words.zip(1_u64..).fold(0, |sum: u64, (word, place)| {
        sum.wrapping_add(mix(u64::from(word) ^ place.wrapping_mul(STEP)))
    })
}

/// Compares the first blocks of every case with what the GPU gave.
fn compare(n_blocks: usize) {
    let cases = cases();
    let mut report = String::new();
    let mut n_compared = 0;
    for line in include_str!("h200.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut words = line.split_whitespace();
        let index: usize = words.next().expect("a number").parse().expect("a number");
        let hash = |word| u64::from_str_radix(word, 16).expect("a hash");
        let measured: Vec<u64> = words.map(hash).take(n_blocks).collect();
        n_compared += 1;
        let is_other = is_unlike(&cases[index]);
        match simulated(index, &cases[index], measured.len() as u64) {
            Err(error) => writeln!(report, "{index}: {}: {error}", cases[index]).unwrap(),
            Ok(found) if is_other => {
                if found == measured {
                    writeln!(report, "{index}: as documented after all: {}", cases[index]).unwrap();
                }
            }
            Ok(found) if found != measured => {
                let same = found.iter().zip(&measured).filter(|(a, b)| a == b).count();
                let n = measured.len();
                writeln!(report, "{index}: {same} of {n} agree: {}", cases[index]).unwrap();
            }
            Ok(_) => {}
        }
    }
    assert!(report.is_empty(), "{report}");
    assert_eq!(
        n_compared,
        cases.len(),
        "measure again: the list has changed"
    );
}

#[test]
fn the_first_warps_agree_with_the_h200() {
    compare(1);
}

#[test]
#[ignore = "takes some seconds"]
fn all_warps_agree_with_the_h200() {
    compare(usize::MAX);
}

/// `measure.py` computes its own operands, which must be the same.
#[test]
fn operands_are_those_that_were_measured() {
    let mut sum = 0_u64;
    for (index, case) in cases().iter().enumerate() {
        let (operands, _) = parts(case);
        let sources = &operands[..operands.len() - 1];
        for warp in 0..5 {
            let mut bytes = inputs(index, sources, warp);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            sum = sum.wrapping_add(hashed(&bytes));
        }
    }
    assert_eq!(sum, 0xf342_083c_9d6c_b7fe);
}
