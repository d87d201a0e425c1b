//! Kernels with one defect each, and the report that it must give.
//!
//! `fail/<kind>.ptx` has those of a kind, each after a line `//=== <defect>`. One says in its first
//! comments what is wrong with it and how it is launched, and in its last ones what must be
//! reported; `fail/README.md` lists them all. After a change of the wording,
//! `BLESS=1 cargo test -p ptx_sim-tests --test checked fail` rewrites the reports and the
//! list: read the diff before committing it.

use std::fs;
use std::path::Path;

use common::defect::{settings, with_launch};
use common::expected::{self, Case};

/// Launches the kernel `k` of a file and gives the report.
fn report(text: &str) -> String {
    let launched = with_launch(text, |device, loaded, launch| {
        match device.launch(loaded, "k", launch) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        }
    });
    launched.unwrap_or_else(|refused| refused)
}

/// What the files hold, in the list's order.
const KINDS: &[(&str, &str)] = &[
    ("memory", "Accesses to unallocated memory"),
    ("race", "Races"),
    ("unwritten", "Reads of unwritten memory"),
    ("copy", "Asynchronous copies"),
    ("sync", "Barriers and warp-wide instructions"),
    ("bulk", "Bulk copies and tensor maps"),
    ("cluster", "Clusters of blocks"),
    ("wgmma", "Products of warpgroups"),
    ("control", "Control flow"),
    ("launch", "Launches"),
    ("unsupported", "Unsupported instructions"),
];

/// The beginning of the list of all defects.
const LIST: &str = "# Seeded defects\n\nKernels with one defect each, and how the report on it begins. The \
    whole report is below each kernel, which is named as here: the instruction's PTX line, its \
    source line, the thread, for races both sides, and what to do; lines are counted from the one below the name. The test `fail.rs` \
    compares the reports and this list with what the simulator says, and writes both \
    (`BLESS=1 cargo test -p ptx_sim-tests --test checked fail`).\n\nDefects marked ✓ are \
    only looked for with `LaunchOptions::check`: a GPU, and the simulator without it, may \
    let them pass. What the checks can miss is in \
    [`docs/checks.md`](../../../../docs/checks.md).\n";

/// A row of the list: what the defect is, whether only checks find it, and how the report begins.
fn row(case: &Case, report: &str) -> String {
    let first = report.lines().next().unwrap_or_default();
    let opcode = |line: &str| {
        let (_, place) = line.split_once("(PTX line ")?;
        Some(format!("line {}", place.split_once(')')?.0))
    };
    // The last place is that of the access which is reported; calls that
    // led there follow it.
    let mut places = report.lines().filter(|line| line.contains("in kernel"));
    let title = case.text.lines().next().unwrap_or_default();
    format!(
        "| `{}` | {} | {} | {} | {} |\n",
        case.name,
        title[2..].trim().trim_end_matches('.'),
        if settings(&case.text).contains_key("check") {
            "✓"
        } else {
            ""
        },
        places.next_back().and_then(opcode).unwrap_or_default(),
        first.replace('|', "\\|")
    )
}

#[test]
fn every_defect_is_reported() {
    let mut wrong = String::new();
    let mut list = LIST.to_owned();
    for (kind, title) in KINDS {
        list += &format!(
            "\n## {title}\n\nIn [`{kind}.ptx`]({kind}.ptx).\n\n\
             | name | defect | check | found where | report |\n|---|---|---|---|---|\n"
        );
        let file = Path::new("fail").join(kind).with_extension("ptx");
        wrong += &expected::differences(&file, |case| {
            let report = report(&case.text) + "\n";
            assert_ne!(report, "no error\n", "{kind}, {} must fail", case.name);
            list += &row(case, &report);
            report
        });
    }
    let n_files = fs::read_dir("fail").expect("a folder").count();
    assert_eq!(n_files, KINDS.len() + 1, "every file has a title");
    let path = "fail/README.md";
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, &list).expect("a writable folder");
    }
    if fs::read_to_string(path).unwrap_or_default() != list {
        wrong += "README.md is not the list of these";
    }
    assert!(wrong.is_empty(), "{wrong}");
}
