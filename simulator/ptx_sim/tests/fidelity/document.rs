//! The document as a whole.

use std::fmt::Write as _;

use super::counts::{self, agreeing};
use super::evidence;
use super::instructions::{Sources, grouped, section, table_of_approximations};
use super::modelled;
use super::single::{Single, singles};
use crate::measured::cases as measured;
use crate::random::set::{FIRST, WIDE};
use crate::supported::lists::KINDS;
use serde_json::Value;

pub fn document() -> String {
    let singles = singles();
    let evidence = evidence::by_key(&singles);
    let rules = modelled::rules();
    let lessons = counts::rows("run-all.json", "results");
    let probed = probed(&lessons);
    let sources = Sources {
        evidence: &evidence,
        singles: &singles,
        rules: &rules,
        probed: &probed,
    };

    let sections = KINDS.iter().map(|kind| section(kind, &sources));
    let mut text = include_str!("template.md").to_owned();
    for (name, part) in [
        ("{comparisons}", compared(&singles, &lessons)),
        ("{searched}", evidence::N_SEARCHED.to_string()),
        ("{instructions}", sections.collect()),
        ("{approximations}", table_of_approximations(&singles)),
        ("{counters}", counts::table()),
        ("{not_reproduced}", counts::not_reproduced()),
    ] {
        text = text.replacen(name, &part, 1);
    }
    text
}

/// What the files of single accesses hold.
const ACCESSES: [&str; 4] = [
    "memory accesses that the counting rules were made from (`tests/data`)",
    "fresh random memory accesses",
    "others, from three more random seeds",
    "atomics in global memory from which their rule was found",
];

/// What was compared, a row each.
fn compared(singles: &[Single], lessons: &[Value]) -> String {
    let exact = || singles.iter().filter(|single| single.must_be_same);
    let operands: usize = exact().map(|single| single.n_operands).sum();
    let same: usize = exact().map(|single| single.n_same).sum();
    let singly = format!("{} forms, {} results", exact().count(), grouped(operands));
    let together = evidence::together();
    let n_documented = together
        .iter()
        .filter(|(case, _)| !measured::is_unlike(case));
    let n_documented = n_documented.count();
    let lanes: usize = together.iter().map(|(_, n)| n).sum();
    let jointly = format!("{} forms, {} lanes", together.len(), grouped(lanes));
    let [first, wide] = [&FIRST, &WIDE].map(|set| set.n_measured() as usize);
    let whole = counts::whole_kernels();
    let whole = whole
        .iter()
        .map(|figure| figure.simulator == figure.hardware);
    let (sums, n_same) = sums(lessons);

    let mut rows = vec![
        format!(
            "single instructions, bit for bit (`tests/hardware`) | {singly} | {} results",
            grouped(same)
        ),
        format!(
            "tensor and video instructions, conversions, comparisons of halves (`tests/measured`) | \
             {jointly} | {n_documented} forms; in the others ptxas deviates from the manual"
        ),
        format!(
            "random programs: arithmetic, loops, collective operations (`tests/random`) | \
             {} programs | {}",
            grouped(first),
            grouped(first)
        ),
        format!(
            "random programs of all instructions, in divergent code too (`tests/random/wide`) | \
             {} programs | {}",
            grouped(wide),
            grouped(wide)
        ),
    ];
    let accesses = ACCESSES.into_iter().zip(counts::single_accesses());
    rows.extend(accesses.map(|(what, agree)| format!("{what} |  | {agree}")));
    rows.extend([
        format!(
            "counters of whole kernels (`bench/results/h200/counters.json`) |  | {}",
            agreeing(whole)
        ),
        format!(
            "lessons against a reference on the host (`bench/results/h200/run-all.json`) |  | {}",
            agreeing(lessons.iter().map(|case| case["status"] == "passed"))
        ),
        format!(
            "sums of `mma` of `f16` and `bf16` against the model, by the lesson | {} sums | \
             {}; the others are tiny (`src/numeric/mma.rs`)",
            grouped(sums),
            grouped(n_same)
        ),
    ]);
    let mut text =
        "\n## Comparisons\n\n| on an H200 | how many | agree |\n|---|---|---|\n".to_owned();
    for row in rows {
        writeln!(text, "| {row} |").unwrap();
    }
    text
}

/// What the notes of the tensor lesson tell: sums, and those that are the model's.
fn sums(lessons: &[Value]) -> (usize, usize) {
    let (mut n, mut n_same) = (0, 0);
    let notes = lessons.iter().filter_map(|case| case["notes"].as_array());
    for note in notes.flatten().filter_map(Value::as_str) {
        let words: Vec<&str> = note.split(' ').collect();
        let numbers = |i: usize| words.get(i).and_then(|word| word.parse::<usize>().ok());
        match words[..] {
            [_, "sums,", "each", "equal", ..] => {
                n += numbers(0).unwrap_or(0);
                n_same += numbers(0).unwrap_or(0);
            }
            [_, _, "of", _, "sums", "equal", ..] => {
                n_same += numbers(1).unwrap_or(0);
                n += numbers(3).unwrap_or(0);
            }
            _ => {}
        }
    }
    (n, n_same)
}

/// Mnemonics that `probe_…` kernels carry out and compare bit for bit.
fn probed(lessons: &[Value]) -> Vec<String> {
    let kernels = lessons.iter().filter_map(|case| case["kernel"].as_str());
    let mut all: Vec<String> = kernels
        .filter_map(|name| name.strip_prefix("probe_"))
        .map(|name| name.split('_').next().unwrap_or_default().to_owned())
        .collect();
    all.dedup();
    all
}
