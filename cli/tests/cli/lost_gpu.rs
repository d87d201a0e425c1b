//! A kernel that takes the GPU away costs only that kernel. The GPU is the simulator's
//! driver: like a real one, it answers all later calls of the process with a fault too.

use super::support::{command, json_of, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The simulator's driver. Tests need no shared library, so cargo has not linked it yet; its
/// parts exist if the whole workspace was built.
static DRIVER: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--lib", "--offline"])
        .output()
        .expect("cargo is there");
    assert!(built.status.success(), "{}", stderr(&built));
    Path::new(env!("CARGO_BIN_EXE_lockstep")).with_file_name("libcuda.so")
});

/// The module of `copy` with a trap at that kernel's end.
fn with_a_trap() -> String {
    let module = host::kernels::module_with("copy", Some("sm_80")).expect("it compiles");
    let text = module.text().expect("it compiles");
    let entry = text.find(".entry copy(").expect("it is there");
    let end = entry + text[entry..].find("\tret;").expect("it ends");
    format!("{}\ttrap;\n{}", &text[..end], &text[end..])
}

#[test]
fn the_kernels_after_a_fault_run_in_a_new_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = folder.path().join("copy.ptx");
    std::fs::write(&ptx, with_a_trap()).expect("a file");
    let json = folder.path().join("results.json");
    let files = format!("--ptx {} --json {}", ptx.display(), json.display());
    let output = command(format!(
        "run-all --engine gpu --quick --filter copy {files}"
    ))
    .env("LOCKSTEP_LIBCUDA", &*DRIVER)
    .env("TMPDIR", folder.path())
    .output()
    .expect("it runs");
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    let lines = |kernel: &str, word: &str| {
        let of =
            |line: &&str| line.split_whitespace().next() == Some(kernel) && line.contains(word);
        out.lines().filter(of).count()
    };
    assert!(lines("copy", "FAILED") > 1, "{out}");
    for kernel in ["copy_vectorized", "copy_safe"] {
        assert!(lines(kernel, "passed") > 1, "{out}");
    }
    assert!(out.contains(" 0 not run"), "{out}");
    let handed_over = "`copy` cost this process the GPU; a new process goes on";
    assert!(err.contains(handed_over), "{err}");
    // The table and the file are complete, and no temporary file is left.
    let results = json_of(&json);
    let passed = ["copy_vectorized", "copy_safe"].map(|kernel| lines(kernel, "passed"));
    let in_table = lines("copy", "FAILED") + passed.iter().sum::<usize>();
    assert_eq!(results["results"].as_array().map(Vec::len), Some(in_table));
    let left = std::fs::read_dir(folder.path()).expect("it is there");
    assert_eq!(left.count(), 2, "copy.ptx and results.json");
}

/// A folder with the program and its kernels as a bundle has them: those of `copy`.
fn bundle(folder: &Path) -> PathBuf {
    let program = folder.join("lockstep");
    let built = env!("CARGO_BIN_EXE_lockstep");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).expect("there is room");
    }
    let mark = host::home::BundleMark {
        schema: host::home::BundleMark::SCHEMA,
        lockstep: "as it is".to_owned(),
        commit: "none".to_owned(),
        topics: vec!["copy".to_owned()],
    };
    let mark = serde_json::to_vec(&mark).expect("it is JSON");
    std::fs::write(folder.join(host::home::BUNDLE_MARK), mark).expect("a file");
    let ptx = folder.join("ptx");
    std::fs::create_dir(&ptx).expect("a folder");
    for arch in host::kernels::ARCHES {
        std::fs::write(ptx.join(format!("copy.{arch}.ptx")), with_a_trap()).expect("a file");
    }
    program
}

#[test]
fn bench_goes_on_after_a_fault_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = bundle(folder.path());
    let left_behind = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("bench.json");
    let output = Command::new(program)
        .args(["bench", "copy", "--sizes", "4096,8192", "--samples", "30"])
        .args(["--no-baselines", "--json"])
        .arg(&json)
        .env("LOCKSTEP_LIBCUDA", &*DRIVER)
        // With more, buffers are copied until they exceed the cache: for times that mean nothing here.
        .env("LOCKSTEP_SIM_MEMORY", "64M")
        .env("TMPDIR", left_behind.path())
        .output()
        .expect("it runs");
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    let handed_over = "`copy` cost this process the GPU; a new process goes on";
    // Once for each of its sizes.
    assert_eq!(err.matches(handed_over).count(), 2, "{err}");
    let report = json_of(&json);
    let cases = report["cases"].as_array().expect("a list").iter();
    let in_words = |case: &serde_json::Value| {
        let [kernel, shape, status] =
            ["kernel", "shape", "status"].map(|name| case[name].as_str().expect("text"));
        let times = case["times"]["kernel"]["n_runs"].as_u64().unwrap_or(0);
        format!("{kernel} {shape} {status} {times}")
    };
    let found: Vec<String> = cases.map(in_words).collect();
    let expected = [
        "copy 4096 failed 0",
        "copy 8192 failed 0",
        "copy_vectorized 4096 passed 30",
        "copy_vectorized 8192 passed 30",
        "copy_safe 4096 passed 30",
        "copy_safe 8192 passed 30",
    ];
    assert_eq!(found, expected, "{out}{err}");
    let left = std::fs::read_dir(left_behind.path()).expect("it is there");
    assert_eq!(left.count(), 0);
}
