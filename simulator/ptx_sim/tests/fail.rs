//! Kernels with one defect each, and the report that it must give.
//!
//! `fail/<kind>/<defect>.ptx` says in its first comments what is wrong with it
//! and how it is launched, and in its last ones what must be reported;
//! `fail/README.md` lists them all. After a change of the wording,
//! `BLESS=1 cargo test -p ptx_sim-tests --test checked fail` rewrites the reports and the
//! list: read the diff before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use common::defect::{ptx_files, settings, with_launch};
use common::expected;

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

/// What the folders hold, in the list's order.
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

/// The list of all defects: what, by which launch, and how the report begins.
fn list(defects: &[Defect]) -> String {
    let mut text = String::from(
        "# Seeded defects\n\nKernels with one defect each, and how the report on it begins. The \
         whole report is at the end of each kernel's file: the instruction's PTX line, its \
         source line, the thread, for races both sides, and what to do. The test `fail.rs` \
         compares the reports and this list with what the simulator says, and writes both \
         (`BLESS=1 cargo test -p ptx_sim-tests --test checked fail`).\n\nDefects marked ✓ are \
         only looked for with `LaunchOptions::check`: a GPU, and the simulator without it, may \
         let them pass. What the checks can miss is in \
         [`docs/checks.md`](../../../../docs/checks.md).\n",
    );
    let mut n_listed = 0;
    for (kind, title) in KINDS {
        text += &format!(
            "\n## {title}\n\n| defect | check | found where | report |\n|---|---|---|---|\n"
        );
        for defect in defects.iter().filter(|d| d.kind == *kind) {
            n_listed += 1;
            text += &defect.row();
        }
    }
    assert_eq!(n_listed, defects.len(), "every folder has a title");
    text
}

/// One kernel and the report on it.
struct Defect {
    kind: String,
    name: String,
    title: String,
    is_checked: bool,
    report: String,
}

impl Defect {
    fn row(&self) -> String {
        let first = self.report.lines().next().unwrap_or_default();
        let opcode = |line: &str| {
            let (_, place) = line.split_once("(PTX line ")?;
            Some(format!("line {}", place.split_once(')')?.0))
        };
        // The last place is that of the access which is reported; calls that
        // led there follow it.
        let places = || {
            self.report
                .lines()
                .filter(|line| line.contains("in kernel"))
        };
        let place = places().next_back().and_then(opcode).unwrap_or_default();
        format!(
            "| [{}]({}/{}.ptx) | {} | {place} | {} |\n",
            self.title.trim_end_matches('.'),
            self.kind,
            self.name,
            if self.is_checked { "✓" } else { "" },
            first.replace('|', "\\|")
        )
    }
}

#[test]
fn every_defect_is_reported() {
    let folder = Path::new("fail").to_path_buf();
    let bless = std::env::var_os("BLESS").is_some();
    let files = ptx_files(&folder);
    assert!(files.len() >= 20, "the files are there");
    let mut wrong = Vec::new();
    let mut defects = Vec::new();
    for file in files {
        let (text, expected) = expected::read(&file);
        let got = report(&text) + "\n";
        if bless {
            expected::write(&file, &text, &got);
        } else if got != expected {
            let name = file
                .strip_prefix(&folder)
                .expect("below the folder")
                .display()
                .to_string();
            wrong.push(format!(
                "{name}\n--- expected\n{expected}--- reported\n{got}"
            ));
        }
        assert_ne!(got, "no error\n", "{} must fail", file.display());
        let name = |path: &Path| path.file_name().expect("a name").display().to_string();
        defects.push(Defect {
            kind: name(file.parent().expect("a folder")),
            name: file.file_stem().expect("a name").display().to_string(),
            title: text.lines().next().unwrap_or_default()[2..]
                .trim()
                .to_owned(),
            is_checked: settings(&text).contains_key("check"),
            report: got,
        });
    }
    let path = folder.join("README.md");
    let list = list(&defects);
    if bless {
        fs::write(&path, &list).expect("a writable folder");
    }
    if fs::read_to_string(&path).unwrap_or_default() != list {
        wrong.push("README.md is not the list of these".to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
