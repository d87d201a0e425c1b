//! `wgmma` compared with an NVIDIA H200, bit for bit: all types, shapes, layouts in shared
//! memory, and numbers of all kinds.
//!
//! `cases.txt` has the cases, `h200.txt` what the GPU gave: hashes of results whose operands
//! this test recomputes (`cases.rs`). `measure` has the program that measured the GPU;
//! `measure/together.cu` shows that the four warps wait for each other at a product. In
//! addition: `registers.rs`, sums in flight, and `gemm.rs`, a product of matrices.

mod cases;
mod gemm;
mod kernel;
mod registers;

use cases::{Case, cases, mix};
use common::Bench;
use common::numbers::STEP;
use kernel::kernel;

/// Shared memory of a block: more than any descriptor reaches.
const SHARED_BYTES: u32 = 200 << 10;

/// The words that the first tiles of a case give.
fn simulated(index: usize, case: &Case, n_tiles: usize, check: bool) -> Vec<u32> {
    let bench = Bench::new(&kernel(case));
    let operands: Vec<_> = (0..n_tiles)
        .map(|tile| case.operands(index, tile))
        .collect();
    let upload = |part: fn(&cases::Operands) -> &Vec<u8>, name| {
        let bytes: Vec<u8> = operands.iter().flat_map(part).copied().collect();
        bench.upload(&bytes, name)
    };
    let image = upload(|o| &o.image, "image");
    let a = upload(|o| &o.a, "a");
    let c = upload(|o| &o.c, "c");
    let d = bench.zeros::<u32>(c.len() / 4, "d");
    let call = bench.call("k").grid(n_tiles as u32).block(128);
    let call = call.dynamic_shared_bytes(SHARED_BYTES).check(check);
    let run = call.args(&[&image, &a, &c, &d]).run();
    run.unwrap_or_else(|e| panic!("{index}: {case:?}: {e}"));
    bench.download(d)
}

fn hashed(words: &[u32]) -> u64 {
    let words = words.iter().zip(1_u64..);
    words.fold(0, |sum: u64, (&word, place)| {
        sum.wrapping_add(mix(u64::from(word) ^ place.wrapping_mul(STEP)))
    })
}

/// Compares cases with what the GPU gave: their first tiles, or all.
fn compare(first_only: bool, check: bool, is_wanted: impl Fn(usize, &Case) -> bool) {
    let measured = include_str!("h200.txt").lines();
    let measured = measured.filter(|line| !line.starts_with('#'));
    let hash = |word: &str| u64::from_str_radix(word, 16).expect("a hash");
    let all = cases();
    let mut wrong = Vec::new();
    let mut n_compared = 0;
    for ((index, case), line) in all.iter().enumerate().zip(measured) {
        n_compared += 1;
        let mut words = line.split(' ').map(hash);
        let of_first = words.next();
        if !is_wanted(index, case) {
            continue;
        }
        let n_tiles = if first_only { 1 } else { case.n_tiles };
        let found = simulated(index, case, n_tiles, check);
        let tiles = found.chunks(found.len() / n_tiles).map(hashed);
        let together = tiles.zip((1_u64..).step_by(2));
        let together = together.fold(0_u64, |sum, (tile, place)| {
            sum.wrapping_add(tile.wrapping_mul(place))
        });
        let expected = words.next().filter(|_| !first_only).or(of_first);
        if Some(together) != expected {
            wrong.push((index, case.clone()));
        }
    }
    assert_eq!(n_compared, all.len(), "one line per case");
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
}

#[test]
fn first_tiles_agree_with_the_h200() {
    // Of the thousand layouts, some.
    let is_layout = |case: &Case| case.classes.iter().any(|class| class == "places");
    compare(true, false, |index, case| {
        !is_layout(case) || index % 4 == 0
    });
}

/// The checks find nothing in them, and change nothing.
#[test]
fn checked_tiles_agree_with_the_h200() {
    compare(true, true, |index, _| index % 13 == 0);
}

#[test]
#[ignore = "takes some seconds"]
fn all_tiles_agree_with_the_h200() {
    compare(false, false, |_, _| true);
}

/// The measuring program computed its own operands, which must be the same.
#[test]
fn operands_are_those_that_were_measured() {
    let mut sum = 0_u64;
    for (index, case) in cases().iter().enumerate().filter(|(i, _)| i % 11 == 0) {
        let operands = case.operands(index, 0);
        for (place, part) in (1_u64..).zip([operands.image, operands.a, operands.c]) {
            let words: Vec<u32> = part
                .chunks_exact(4)
                .map(bytemuck::pod_read_unaligned)
                .collect();
            sum = sum
                .wrapping_mul(3)
                .wrapping_add(hashed(&words).wrapping_mul(place));
        }
    }
    assert_eq!(sum, 0x2655_7643_75c8_42ad, "{sum:#x}");
}
