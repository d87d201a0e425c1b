//! The document as a whole.

use std::fmt::Write as _;

use super::counts::{self, agreeing};
use super::evidence;
use super::instructions::{Sources, counted, grouped, section, table_of_approximations};
use super::modelled;
use super::single::{Single, singles};
use crate::measured::cases as measured;
use crate::random::set::{FIRST, WIDE};
use crate::random::unlike::UNLIKE;
use crate::supported::lists::KINDS;
use serde_json::Value;

const BEGINNING: &str = "# How far the simulator can be trusted

- **Results** of instructions marked *exact* below have the bits that an NVIDIA H200 gave, in all
  that was compared. Approximate functions are as near to it as their table says.
- **Counts** of requests, sectors, wavefronts and bank conflicts are the hardware's, access by
  access, with the exceptions named below. Caches and time are not modelled.
- **Unsupported** instructions end the launch with an error that says what to do instead. None is
  ever skipped.
- **One run is one order** of blocks and warps, and every access is visible at once. What only another
  order, or weaker memory, shows is not seen unless it is looked for.

Made by `tests/fidelity/` from the data that the tests hold the simulator to; no figure is typed by
hand. `SUPPORTED.md` lists the forms of the instructions.
";

fn how_sure() -> String {
    format!(
        "
## Instructions

- *exact*: the bits of an H200, in all that the third column names: results of forms measured by
  themselves, random programs with the instruction (of the first {} of each set, all forms of it
  together), a lesson of this repository that compares bit for bit.
- *modelled*: by the rule in the last column.
- *by the manual*: as PTX documents it. Tests hold it to the manual; no measurement names it.
",
        evidence::N_SEARCHED
    )
}

const COUNTERS: &str = "
## Counters

The rules are those of `src/checks/count.rs`; an access is one instruction of one warp, alone on the
GPU, and its counters read by Nsight Compute. Whole kernels are the lessons of this repository
(`bench/results/h200/counters.json`). Where a column is empty, nothing was compared. Instructions are those
of PTX, of which the GPU's assembler makes others. What `InstructionCounts` has beside these (`ideal_…`,
`max_way`) follows from them by definition.

";

const NOT_COUNTED: &str = "
Whole kernels differ where warps compete for the banks (the hardware counts that among the bank
conflicts), and where loops spin or retry, whose trips vary from run to run (`cas` in a loop, flags
between blocks), and in some of the SGEMM kernels' `cp.async` that fill with zeros
(`tests/data/README.md`). Not counted at all: hits and misses of L1 and L2, memory beyond them, bulk and tensor
copies (TMA), of which only the bytes are counted, line by line, and no sectors or wavefronts, what accesses to other blocks' shared memory (`cluster_…`) take of
the network between SMs and of the banks there, registers that the GPU's assembler spills, arbitration
between warps, and what that assembler makes of an atomic of which it knows that all lanes have one address.
";

const NO_RUN: &str = "
## What the simulator cannot show

- **Time.** Work is counted, not timed: there are no clocks, latencies and caches. Clocks count warp
  instructions, so that code which waits by the clock ends.
- **Weak memory.** Accesses are carried out one after the other and are visible to all at once. A kernel
  that lacks a fence may work here and fail on a GPU; `check` finds it where two accesses are in no order
  (a race), not where ordered or atomic accesses become visible in another order than they were made.
- **Other orders.** A launch runs blocks, warps and diverged lanes in one order, the same every time when
  it runs on one thread of the host. `LaunchOptions::schedule` and `schedule::search` try others: as many as are
  asked for, not all.
- **Layouts that PTX leaves open**, such as those of `wmma` fragments and `mbarrier` words: a kernel that relies on
  what it sees here is wrong.
- **ptxas.** PTX is carried out as it stands. The GPU runs what the assembler makes of it, which may fuse, fold
  and reorder as far as PTX allows, and has bugs of its own.
";

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

    let mut text = BEGINNING.to_owned() + &compared(&singles, &lessons) + &how_sure();
    for kind in KINDS {
        text += &section(kind, &sources);
    }
    text += &table_of_approximations(&singles);
    text += COUNTERS;
    text += &counts::table();
    text += &counts::not_reproduced();
    text + NOT_COUNTED + NO_RUN
}

/// What the files of single accesses hold.
const ACCESSES: [&str; 4] = [
    "memory accesses that the counting rules were made from (`tests/data`)",
    "fresh random memory accesses",
    "others, of three more random seeds",
    "atomics in global memory from which their rule was found",
];

/// What was compared, a row each.
fn compared(singles: &[Single], lessons: &[Value]) -> String {
    let mut text =
        "\n## What was compared\n\n| on an H200 | how many | agree |\n|---|---|---|\n".to_owned();
    let mut row = |what: &str, many: String, agree: String| {
        writeln!(text, "| {what} | {many} | {agree} |").unwrap()
    };

    let exact = || singles.iter().filter(|single| single.must_be_same);
    let operands: usize = exact().map(|single| single.n_operands).sum();
    let same: usize = exact().map(|single| single.n_same).sum();
    row(
        "single instructions, bit for bit (`tests/hardware`)",
        format!(
            "{} forms, {} results",
            grouped(exact().count()),
            grouped(operands)
        ),
        format!("{} results", grouped(same)),
    );
    let together = evidence::together();
    let documented = together
        .iter()
        .filter(|(case, _)| !measured::is_unlike(case));
    let results: usize = together.iter().map(|(_, n)| n).sum();
    row(
        "tensor and video instructions, conversions, comparisons of halves (`tests/measured`)",
        format!(
            "{} forms, {} lanes",
            grouped(together.len()),
            grouped(results)
        ),
        format!(
            "{} forms; in the others ptxas deviates from the manual",
            grouped(documented.count())
        ),
    );
    let unlike: usize = UNLIKE.iter().map(|(numbers, _)| numbers.len()).sum();
    for (set, what, unlike) in [
        (
            &FIRST,
            "random programs: arithmetic, loops, what all threads do together (`tests/random`)",
            0,
        ),
        (
            &WIDE,
            "random programs of everything, in divergent code too (`tests/random/wide`)",
            unlike,
        ),
    ] {
        let n = set.n_measured() as usize;
        row(
            what,
            format!("{} programs", grouped(n)),
            grouped(n - unlike),
        );
    }
    for (what, agree) in ACCESSES.into_iter().zip(counts::single_accesses()) {
        row(what, String::new(), agree);
    }
    let whole = counts::whole_kernels();
    row(
        "counters of whole kernels (`bench/results/h200/counters.json`)",
        String::new(),
        agreeing(
            whole
                .iter()
                .map(|figure| figure.simulator == figure.hardware),
        ),
    );
    row(
        "lessons against a reference on the host (`bench/results/h200/run-all.json`)",
        String::new(),
        agreeing(lessons.iter().map(|case| case["status"] == "passed")),
    );
    let (n, n_same) = sums(lessons);
    row(
        "sums of `mma` of `f16` and `bf16` against the model, by the lesson",
        format!("{} sums", grouped(n)),
        format!(
            "{}; the others are tiny (`src/numeric/mma.rs`)",
            grouped(n_same)
        ),
    );
    text +=
        "\nRandom programs that leave other bits, for reasons that are not the simulator's:\n\n";
    for (programs, why) in UNLIKE {
        writeln!(text, "- {}: {why}.", counted(programs.len(), "program")).unwrap();
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
