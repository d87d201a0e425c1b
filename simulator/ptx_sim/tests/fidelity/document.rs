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

const BEGINNING: &str = "# The simulator's fidelity

- **Results** of instructions marked *exact* below have the same bits as an NVIDIA H200's, in
  everything that was compared. Approximate functions are as close to it as their table says.
- **Counts** of requests, sectors, wavefronts and bank conflicts are the hardware's, access by
  access, with the exceptions named below. Caches and time are not modelled.
- **Unsupported** instructions end the launch with an error that says what to do instead. None is
  ever skipped.
- **One run is one order** of blocks and warps, and every access is visible at once. Defects that only
  another order, or weaker memory, shows are not seen unless they are looked for.

Made by `tests/fidelity/` from the data that the tests check the simulator against; no figure is typed
by hand. `SUPPORTED.md` lists the forms of the instructions.
";

fn how_sure() -> String {
    format!(
        "
## Instructions

- *exact*: the bits of an H200, in everything that the third column names: results of forms measured
  alone, random programs with the instruction (of the first {} of each set, all forms of it
  together), a lesson of this repository that compares bit for bit.
- *modelled*: by the rule in the last column.
- *by the manual*: as PTX documents it. Tests check it against the manual; no measurement covers it.
",
        evidence::N_SEARCHED
    )
}

const COUNTERS: &str = "
## Counters

The rules are those of `src/checks/count.rs`; an access is one instruction of one warp, alone on the
GPU, with its counters read by Nsight Compute. Whole kernels are the lessons of this repository
(`bench/results/h200/counters.json`). Where a column is empty, nothing was compared. Instructions are those
of PTX, which the GPU's assembler translates into others. The other fields of `InstructionCounts` (`ideal_…`,
`max_way`) follow from these by definition.

";

const NOT_COUNTED: &str = "
Whole kernels differ where warps compete for the banks (the hardware counts that among the bank
conflicts), where loops spin or retry, since their trip counts vary from run to run (`cas` in a loop, flags
between blocks), and in some of the SGEMM kernels' `cp.async` that fill with zeros
(`tests/data/README.md`). Not counted at all: hits and misses of L1 and L2, and memory beyond them; sectors
and wavefronts of bulk and tensor copies (TMA), of which only the bytes are counted, line by line; the load
that accesses to other blocks' shared memory (`cluster_…`) put on the network between SMs and on the banks
there; registers that the GPU's assembler spills; arbitration between warps; and the assembler's
optimisation of an atomic when it knows that all lanes have one address.
";

const NO_RUN: &str = "
## Limits

- **Time.** Work is counted, not timed: there are no latencies and caches. Clocks count warp
  instructions, so that code that waits for a clock ends.
- **Weak memory.** Accesses are executed one after the other and are visible to all at once. A kernel
  that lacks a fence may work here and fail on a GPU; `check` finds it where two accesses are unordered
  (a race), not where ordered or atomic accesses become visible in another order than they were made.
- **Other orders.** A launch runs blocks, warps and diverged lanes in one order, the same every time when
  it runs on one host thread. `LaunchOptions::schedule` and `schedule::search` try others: as many as
  requested, not all.
- **Layouts that PTX leaves open**, such as those of `wmma` fragments and `mbarrier` words: a kernel that
  relies on the layouts seen here is wrong.
- **ptxas.** PTX is executed as written. The GPU runs what the assembler makes of it; the assembler may fuse,
  fold and reorder as far as PTX allows, and has bugs of its own.
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
    for kind in &*KINDS {
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
    "others, from three more random seeds",
    "atomics in global memory from which their rule was found",
];

/// What was compared, a row each.
fn compared(singles: &[Single], lessons: &[Value]) -> String {
    let mut text =
        "\n## Comparisons\n\n| on an H200 | how many | agree |\n|---|---|---|\n".to_owned();
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
            "random programs: arithmetic, loops, collective operations (`tests/random`)",
            0,
        ),
        (
            &WIDE,
            "random programs of all instructions, in divergent code too (`tests/random/wide`)",
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
    let unlike: String = UNLIKE
        .iter()
        .map(|(programs, why)| format!("- {}: {why}.\n", counted(programs.len(), "program")))
        .collect();
    if !unlike.is_empty() {
        text += "\nRandom programs that leave other bits, for reasons outside the simulator:\n\n";
        text += &unlike;
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
