//! The program as tests run it, and faulty kernels for it to find.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program with these words as its arguments.
pub fn lockstep(words: impl AsRef<str>) -> Output {
    command(words).output().expect("the program runs")
}

/// Without the environment's settings for colours, widths, engines and tools.
pub fn command(words: impl AsRef<str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command
        .args(words.as_ref().split_whitespace())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .env_remove("LOCKSTEP_COMMAND");
    command
}

/// Runs the program from a shell that first sets this limit.
pub fn limited(limit: &str, words: &str) -> Output {
    Command::new("sh")
        .args(["-c", &format!(r#"{limit}; exec "$@""#), "sh"])
        .arg(env!("CARGO_BIN_EXE_lockstep"))
        .args(words.split_whitespace())
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .expect("sh")
}

/// Its standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Its standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// The first line on stderr, apart from messages about compiling the kernels.
pub fn first_line(output: &Output) -> String {
    let told = stderr(output);
    let mut lines = told.lines().filter(|line| !line.starts_with("lockstep: "));
    lines.next().expect("a line").to_owned()
}

/// Errors are never panics of ours.
pub fn no_panic_trace(output: &Output) {
    for text in [stdout(output), stderr(output)] {
        assert!(
            !text.contains("RUST_BACKTRACE") && !text.contains("thread 'main'"),
            "{text}"
        );
    }
}

/// Ends with this status, and says why in these words, on stdout or stderr.
pub fn fails(output: &Output, status: i32, words: &[&str]) {
    let told = format!("{}{}", stdout(output), stderr(output));
    assert_eq!(output.status.code(), Some(status), "{told}");
    has(&told, words);
    no_panic_trace(output);
}

/// Its standard output, when it succeeds.
pub fn passes(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        stdout(output),
        stderr(output)
    );
    stdout(output)
}

/// Each line of the table is a command without its beginning, `=>`, and a part of the usage error
/// that it ends with.
pub fn usage_errors(beginning: &str, table: &str) {
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (command, words) = line.split_once("=>").expect("a command and its error");
        // Seen only if the test fails.
        println!("{command}");
        let output = lockstep(format!("{beginning} {command}"));
        fails(&output, 2, &[words.trim()]);
        assert!(output.stdout.is_empty(), "{}", stdout(&output));
    }
}

/// The text contains all of these words.
pub fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

/// The JSON file that a command wrote.
pub fn json_of(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The PTX of a kernel's topic.
pub fn module_of(kernel: &str) -> String {
    let module = host::kernels::module_with(kernel, None).expect("the kernels compile");
    module.text().expect("the kernels compile").to_owned()
}

/// Runs one kernel of an edited module on the simulator.
pub fn run_edited(kernel: &str, edit: impl Fn(&str) -> String) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = edited(folder.path(), kernel, edit);
    let path = path.display();
    let run = format!("run-all --engine sim --quick --filter {kernel} --ptx {path}");
    lockstep(run + " --fuel 1000000")
}

/// Without the instruction that begins like this.
pub fn without(text: &str, instruction: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with(instruction))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The program without a driver, whatever the machine has, started as `cargo xtask` does.
pub fn xtask_command(words: impl AsRef<str>) -> Command {
    let mut command = command(words);
    command
        .env("LOCKSTEP_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("LOCKSTEP_COMMAND", "cargo xtask");
    command
}

/// Runs the program where there is no driver, and none of NVIDIA's tools on the path.
pub fn without_tools(words: &str) -> Output {
    let mut command = command(words);
    command
        .env("PATH", "/nowhere")
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1")
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .env_remove("CUDA_ROOT");
    command.output().expect("the program runs")
}

/// Runs the same.
pub fn xtask(words: impl AsRef<str>) -> Output {
    xtask_command(words).output().expect("the program runs")
}

/// Status, stdout and stderr.
pub fn told(output: &Output) -> (Option<i32>, String, String) {
    (output.status.code(), stdout(output), stderr(output))
}

/// The PTX of one kernel with `edit` applied to it, as a file.
pub fn edited(folder: &Path, kernel: &str, edit: impl Fn(&str) -> String) -> PathBuf {
    let output = xtask(format!("ptx {kernel}"));
    let (_, text, _) = told(&output);
    let changed = edit(&text);
    assert_ne!(text, changed, "the edit must change something");
    let path = folder.join(format!("{kernel}.ptx"));
    std::fs::write(&path, changed).expect("a file");
    path
}

/// With the first `n` of the instructions `xor a, b, c` replaced by `mov a, b`: with both
/// in `transpose_swizzled` the column stays unchanged, with one the result is wrong.
pub fn without_xor(text: &str, n: usize) -> String {
    let mut left = n;
    let lines = text.lines().map(|line| {
        let is_xor = line.trim_start().starts_with("xor.b32");
        if !is_xor || left == 0 {
            return line.to_owned();
        }
        left -= 1;
        let (kept, _) = line.rsplit_once(',').expect("three operands");
        format!("{};", kept.replace("xor.b32", "mov.b32"))
    });
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(left, 0, "so many are there");
    text
}

/// With the first load from global memory far past its place.
pub fn with_bad_load(text: &str) -> String {
    let load = text
        .lines()
        .find(|line| line.trim_start().starts_with("ld.global"))
        .expect("it loads from global memory");
    text.replace(load, &load.replace(']', "+67108864]"))
}
