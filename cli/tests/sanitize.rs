//! `lockstep sanitize` with a compute-sanitizer of our own: its reports,
//! and its exit status.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const KERNEL: &str = "transpose_padded";

/// A folder with a program `compute-sanitizer` that copies prepared logs.
struct Fake {
    dir: tempfile::TempDir,
    kernel: &'static str,
}

impl Fake {
    /// Its tools find nothing; the kernel under them passes.
    fn new(kernel: &'static str) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let fake = Self { dir, kernel };
        fake.script(
            "while [ $# -gt 0 ]; do\n\
             case \"$1\" in\n\
             --tool) tool=$2 ;;\n\
             --log-file) log=$2 ;;\n\
             --json) json=$2 ;;\n\
             esac\n\
             shift\n\
             done\n\
             cp \"$here/$tool\" \"$log\" || exit 9\n\
             [ ! -f \"$here/json\" ] || cp \"$here/json\" \"$json\" || exit 9\n\
             exit $(cat \"$here/status\")\n",
        );
        let result = format!(r#"{{"kernel": "{kernel}", "shape": "1", "status": "passed"}}"#);
        fake.write("json", &format!(r#"{{"results": [{result}]}}"#));
        fake.write("status", "0");
        for tool in ["memcheck", "initcheck", "synccheck"] {
            fake.log(tool, "========= ERROR SUMMARY: 0 errors\n");
        }
        fake.log(
            "racecheck",
            "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
        );
        fake
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).expect("a writable folder");
        path
    }

    fn script(&self, text: &str) {
        let text = format!("#!/bin/sh\nhere='{}'\n{text}", self.dir.path().display());
        let path = self.write("compute-sanitizer", &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own file");
    }

    fn log(&self, tool: &str, text: &str) {
        self.write(tool, &format!("========= COMPUTE-SANITIZER\n{text}"));
    }

    /// Runs `sanitize` for its kernel, with it first on the path.
    fn run(&self, options: &str) -> Output {
        self.command(options).output().expect("the program runs")
    }

    fn command(&self, options: &str) -> Command {
        let path = format!("{}:/usr/bin:/bin", self.dir.path().display());
        command(&path, &format!("{} --with gpu {options}", self.kernel))
    }
}

fn command(path: &str, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command
        .arg("sanitize")
        .args(words.split_whitespace())
        .env("PATH", path)
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1")
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .env_remove("CUDA_ROOT");
    command
}

/// It ended with this status, and its table and remarks contain these words.
fn ends(output: &Output, status: i32, words: &[&str]) -> String {
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{told}{errors}");
    for word in words {
        assert!(told.contains(word), "`{word}` is missing in: {told}");
    }
    told
}

/// The kernel's row of the table.
fn row(told: &str, kernel: &str) -> Vec<String> {
    let line = told
        .lines()
        .find(|line| line.trim_start().starts_with(kernel))
        .unwrap_or_else(|| panic!("no row in: {told}"));
    let cells = line.trim().split("  ").map(str::trim);
    cells
        .filter(|cell| !cell.is_empty())
        .skip(1)
        .map(str::to_owned)
        .collect()
}

#[test]
fn clean_tools_are_told_as_clean() {
    let output = Fake::new(KERNEL).run("");
    let told = ends(&output, 0, &["memcheck", "racecheck", "0 not run"]);
    assert_eq!(row(&told, KERNEL), ["clean"; 4]);
}

#[test]
fn a_bad_access_fails() {
    let fake = Fake::new(KERNEL);
    fake.log(
        "memcheck",
        "========= Invalid __global__ read of size 4 bytes\n\
         =========     at transpose_padded+0x90\n\
         =========     by thread (3,0,0) in block (0,0,0)\n\
         ========= \n\
         ========= ERROR SUMMARY: 1 error\n",
    );
    let output = fake.run("");
    let words = ["memcheck: transpose_padded", "by thread (3,0,0)", "1 with"];
    let told = ends(&output, 1, &words);
    assert_eq!(row(&told, KERNEL), ["1 found", "clean", "clean", "clean"]);
}

#[test]
fn a_finding_that_nobody_reads_fails_too() {
    let fake = Fake::new(KERNEL);
    fake.log(
        "memcheck",
        "========= Something new\n=========     at transpose_padded+0x90\n========= \n\
         ========= ERROR SUMMARY: 1 error\n",
    );
    let mut child = fake
        .command("--tool memcheck")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

#[test]
fn an_error_that_names_no_kernel_fails() {
    let fake = Fake::new(KERNEL);
    fake.log(
        "initcheck",
        "========= Something new\n=========     elsewhere\n========= \n\
         ========= ERROR SUMMARY: 1 error\n",
    );
    let output = fake.run("--tool initcheck");
    ends(&output, 1, &["1 reports elsewhere", "Something new"]);
}

#[test]
fn a_known_alarm_is_told_with_its_reason() {
    let fake = Fake::new("pass_between_warps");
    fake.log(
        "racecheck",
        "========= Error: Race reported between Write access at pass_between_warps+0x2d0\n\
         =========     and Read access at pass_between_warps+0x310 [8 hazards]\n\
         ========= \n\
         ========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
    );
    let words = ["known: its warps are ordered by flags", "8 hazards"];
    let told = ends(&fake.run("--tool racecheck"), 0, &words);
    assert_eq!(row(&told, "pass_between_warps"), ["1 known"]);
    // The same from another tool is a finding.
    let race = fs::read_to_string(fake.dir.path().join("racecheck")).expect("written");
    fake.write("synccheck", &race);
    ends(&fake.run("--tool synccheck"), 1, &["1 found"]);
}

#[test]
fn a_kernel_that_fails_under_a_tool_fails() {
    let fake = Fake::new(KERNEL);
    let results = fs::read_to_string(fake.dir.path().join("json")).expect("written");
    fake.write("json", &results.replace("passed", "failed"));
    fake.write("status", "1");
    let output = fake.run("--tool memcheck");
    let told = ends(&output, 1, &[]);
    assert_eq!(row(&told, KERNEL), ["FAILED"]);
}

#[test]
fn a_missing_tool_is_absent_and_not_clean() {
    let is_installed = ["bin", "compute-sanitizer"].iter().any(|folder| {
        let folder = Path::new("/usr/local/cuda").join(folder);
        folder.join("compute-sanitizer").exists()
    });
    if is_installed {
        return;
    }
    let words = [
        "memcheck, racecheck, initcheck, synccheck: absent",
        "pip install nvidia-cuda-sanitizer-api",
    ];
    let ended = |options: &str, status: i32| {
        let output = command("/nowhere", &format!("{KERNEL} {options}")).output();
        ends(&output.expect("the program runs"), status, &words)
    };
    assert_eq!(row(&ended("--with gpu", 3), KERNEL), ["absent"; 4]);
    // The simulator is always available.
    let cells = row(&ended("", 0), KERNEL);
    assert_eq!(cells, ["clean", "absent", "absent", "absent", "absent"]);
}

#[test]
fn a_missing_gpu_is_absent_and_not_clean() {
    let fake = Fake::new(KERNEL);
    // compute-sanitizer ends with 255 where there is no driver.
    fs::remove_file(fake.dir.path().join("json")).expect("written");
    fake.write("status", "255");
    let told = ends(&fake.run(""), 3, &["absent: no CUDA driver"]);
    assert_eq!(row(&told, KERNEL), ["absent"; 4]);
}

#[test]
fn a_log_without_an_end_is_not_success() {
    let fake = Fake::new(KERNEL);
    fake.log("memcheck", "");
    let output = fake.run("--tool memcheck");
    ends(&output, 4, &["it gave no summary"]);

    fake.log("memcheck", "========= ERROR SUMMARY: 2 errors\n");
    let output = fake.run("--tool memcheck");
    let words = ["it counts 2 errors, of which 0 could be read"];
    ends(&output, 4, &words);
}

#[test]
fn a_tool_that_does_not_end_is_stopped() {
    let fake = Fake::new(KERNEL);
    fake.script("sleep 60\n");
    let started = Instant::now();
    let output = fake.run("--tool memcheck --time-limit 1");
    let told = ends(&output, 3, &["stopped after 1 s"]);
    assert_eq!(row(&told, KERNEL), ["not run"]);
    assert!(started.elapsed() < Duration::from_secs(30));
}
