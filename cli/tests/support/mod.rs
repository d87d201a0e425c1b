//! The program as tests run it, and kernels that it is to find fault with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program without a driver, whatever the machine has, and without the
/// surroundings' wishes about colours and widths.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command
        .args(arguments)
        .env("LOCKSTEP_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("LOCKSTEP_COMMAND", "cargo xtask");
    for variable in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// Status, stdout and stderr.
pub fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// The PTX of one kernel with `edit` applied to it, as a file.
pub fn edited(folder: &Path, kernel: &str, edit: impl Fn(&str) -> String) -> PathBuf {
    let output = command(&["ptx", kernel]).output().expect("it runs");
    let (_, text, _) = told(&output);
    let changed = edit(&text);
    assert_ne!(text, changed, "the edit must change something");
    let path = folder.join(format!("{kernel}.ptx"));
    std::fs::write(&path, changed).expect("a file");
    path
}

/// With the first `n` of the instructions `xor a, b, c` made to `mov a, b`: of both
/// in `transpose_swizzled` the column is left as it is, of one the result is wrong.
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

/// With the first load from global memory far behind its place.
pub fn with_bad_load(text: &str) -> String {
    let load = text
        .lines()
        .find(|line| line.trim_start().starts_with("ld.global"))
        .expect("it loads from global memory");
    text.replace(load, &load.replace(']', "+67108864]"))
}
