//! Tables fit the width of the output, and no width loses anything that matters.

use super::support::{edited, has, stderr, stdout, with_bad_load, without_xor, xtask_command};
use std::os::unix::process::CommandExt;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// The contents of stdout at a width, or in a pipe of unknown width, which is 100. No line is
/// longer.
fn printed(words: &str, columns: Option<usize>) -> String {
    printed_in(Path::new("."), words, columns)
}

fn printed_in(folder: &Path, words: &str, columns: Option<usize>) -> String {
    let mut command = xtask_command(words);
    // Suggested commands must not depend on where this checkout is.
    command.arg0("lockstep").current_dir(folder);
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    let output = command.output().expect("the program runs");
    let out = stdout(&output);
    assert!(!out.is_empty(), "{words}: {}", stderr(&output));
    let columns = columns.unwrap_or(100);
    for line in out.lines() {
        assert!(line.width() <= columns, "{columns}: {line}\nin:\n{out}");
    }
    out
}

/// The texts at several widths.
fn fitting(words: &str) -> [(usize, String); 4] {
    [Some(60), Some(80), Some(120), None]
        .map(|columns| (columns.unwrap_or(100), printed(words, columns)))
}

/// Without its line breaks, including those of a shell's command: words to be found may
/// have been broken anywhere.
fn joined(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| *word != "\\");
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn results_of_runs() {
    for (columns, out) in fitting("run-all --engine=sim --quick --filter=transpose") {
        let words = ["transpose_coalesced_write_ldg", "256×256", "passed"];
        has(&out, &words);
        let table = joined(&out);
        // Headings, and a row: result, conflicts, those per load, sectors of loads and stores.
        let (headings, row) = match columns {
            60 => (
                "sectors/store 4 local bytes 0",
                "shape 256×256 result passed bank conflicts 63,488 per load 31",
            ),
            80 => (
                "bank per sectors sectors local",
                "256×256 passed 63,488 31 4 4 0 ",
            ),
            _ => (
                "bank per sectors sectors local",
                "transpose_shared 256×256 passed 63,488 31 4 4 0 ",
            ),
        };
        has(&table, &[headings, row]);
    }
}

#[test]
fn reasons_of_failures() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |kernel: &str, edit: &dyn Fn(&str) -> String, words: &[&str]| {
        edited(folder.path(), kernel, edit);
        // Short, since a path may be longer than a line.
        let run = format!("run-all --engine=sim --quick --filter {kernel} --ptx {kernel}.ptx");
        for columns in [60, 80] {
            let out = printed_in(folder.path(), &run, Some(columns));
            has(&joined(&out), words);
        }
    };
    let counts = "expected 0, counted 31, at 01_tiles.rs:";
    let words = [counts, "FAILED: transpose_swizzled"];
    run("transpose_swizzled", &|text| without_xor(text, 2), &words);
    let words = ["past the end of"];
    run("transpose_coalesced_read", &with_bad_load, &words);
}

#[test]
fn lists() {
    for (_, out) in fitting("list") {
        let text = joined(&out);
        for registered in host::registry::kernels() {
            has(&out, &[registered.kernel.id, registered.lesson.source]);
            let technique = joined(registered.kernel.technique);
            has(&text, &[&technique]);
        }
    }
}

/// The line of the column's load, as a profile names it.
fn place_of_the_load() -> String {
    let source = include_str!("../../../gpu-kernels/src/04_transpose/01_tiles.rs");
    let line = source
        .lines()
        .position(|line| line.contains("let value = *tile.add(plain(x, y));"))
        .expect("the load is there");
    format!("01_tiles.rs:{}", line + 1)
}

#[test]
fn profiles() {
    let metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
    for (columns, out) in fitting("profile transpose_shared --shape=1024x1024") {
        has(&out, &[&place_of_the_load(), "ld.shared.b32", "1,048,576"]);
        has(&out, &[metric, "░"]);
        let text = joined(&out);
        let advice = [
            "32-way bank conflict (load from shared memory), 31 of 32 wavefronts wasted",
            "pad the rows by one element, or swizzle the columns",
        ];
        has(&text, &advice);
        assert_eq!(columns < 80, text.contains(" executed 32,768 "), "{out}");
        // The lines with work are whole.
        let dense = out.replace(char::is_whitespace, "");
        has(&dense, &["letvalue=*tile.add(plain(x,y));"]);
        // As the shell reads it.
        let command = out.replace("\\\n", "");
        let (_, command) = command.split_once("\nncu ").expect("it is there");
        let words = [
            "lockstep profile transpose_shared --launch-only --shape=1024x1024",
            "--kernel-name transpose_shared --metrics l1tex",
            metric,
        ];
        has(&joined(command), &words);
    }
}

/// Inlined functions make long places, and there are many instructions.
#[test]
fn profiles_of_kernels_with_inlined_code() {
    for kernel in ["sgemm_fast", "mma_simple_plain", "reduce_fast"] {
        for (_, out) in fitting(&format!("profile {kernel}")) {
            has(&joined(&out), &[kernel, "wavefronts", "n-way", "ideal"]);
        }
    }
}

#[test]
fn banks_of_a_tile() {
    for (columns, out) in fitting("explain --rows=32 --cols=32 --type=f32 --access=column") {
        let words = ["32×32 elements of 4 bytes", "31 bank conflicts"];
        has(&joined(&out), &words);
        // The last bank of each row, and the heads and the only lane of two bank maps.
        let is_last = |word: &&str| word.trim_end_matches('*') == "31";
        let n_last = out.split_whitespace().filter(is_last).count();
        assert!(n_last >= 32, "{columns}: {n_last} in {out}");
        assert_eq!(columns >= 100, out.contains("14 15 16 17"), "{out}");
        assert_eq!(columns < 100, out.contains("columns 16 to 31:"), "{out}");
        let is_whole = !out.contains('…') || out.contains("more wavefronts");
        assert!(is_whole, "{out}");
    }
}

#[test]
fn findings_of_the_checks() {
    for (_, out) in fitting("sanitize --with=sim transpose") {
        let words = ["transpose_coalesced_write_ldg", "simulator", "clean"];
        has(&out, &words);
    }
    // Prose of pipes stays in whole lines.
    for columns in [60, 80, 120] {
        let out = printed("sanitize transpose_padded", Some(columns));
        has(&out, &["transpose_padded", "racecheck", "absent"]);
    }
}

#[test]
fn speeds_of_the_simulator() {
    for (_, out) in fitting("sim-bench --filter=transpose_padded --patience=1") {
        has(&out, &["transpose_padded", "1024×1024", "geometric mean"]);
    }
}

#[test]
fn cases_and_counters_that_differ() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let data = "../simulator/ptx_sim/tests/data/h200-access-counters.csv";
    let data = std::fs::read_to_string(data).expect("the data");
    let lines: Vec<&str> = data.lines().collect();
    let wrong = lines[4].replace(",2,1,,", ",3,1,,");
    let cases = write("cases.csv", &[lines[0], &wrong].join("\n"));
    let csv = "\"ID\",\"Kernel Name\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\"\n\
               \"0\",\"transpose_coalesced_write_ldg\",\"5\"\n";
    let ncu = write("ncu.csv", csv);
    let sim = write(
        "sim.json",
        r#"{"results": [{"kernel": "transpose_coalesced_write_ldg", "shape": "8x8",
            "launches": [{"entry": "transpose_coalesced_write_ldg", "n": 1}],
            "counted_launch": 0, "counts": {"global_load_sectors": 6}}]}"#,
    );
    let fits = |command: &str, words: [&str; 2]| {
        // Prose of pipes stays in whole lines.
        for columns in [60, 80, 120] {
            has(&joined(&printed(command, Some(columns))), &words);
        }
    };
    let differs = "line 2: shared_wavefronts: expected 3, got 2";
    fits(&format!("check-counters {cases}"), [differs, "offsets 0 "]);
    let kernel = "transpose_coalesced_write_ldg 8x8";
    let differs = [kernel, "6 by rule, 5 on the hardware"];
    fits(&format!("counters --ncu {ncu} --sim {sim}"), differs);
    fits("counters --command", ["ncu --csv", "> ncu.csv"]);
}
