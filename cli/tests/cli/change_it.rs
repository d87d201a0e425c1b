//! README's "Change it yourself", carried out: in a copy of the repository one line
//! is changed, the command run, and its output compared with what README shows.

use super::support::{fails, passes, stderr, stdout, xtask_command};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The steps that README describes.
struct Lesson {
    /// The file to change.
    file: String,
    /// The line before and after.
    line: (String, String),
    /// The command's words after `cargo xtask`.
    command: String,
    /// Lines that it prints, among others.
    shown: Vec<String>,
}

impl Lesson {
    /// Reads the part of README between its heading and the next.
    fn read(readme: &str) -> Self {
        let (_, part) = readme
            .split_once("\n## Change it yourself\n")
            .expect("README has the part");
        let part = part.split("\n## ").next().expect("it begins");
        let diff = block(part, "diff");
        let line_with = |mark: &str| {
            let mut lines = diff.lines().filter(|line| !line.starts_with("---"));
            let line = lines.find_map(|line| line.strip_prefix(mark));
            line.unwrap_or_else(|| panic!("no line `{mark}`"))
                .to_owned()
        };
        let file = diff.lines().find_map(|line| line.strip_prefix("--- "));
        let console = block(part, "console");
        let (command, shown) = console.split_once('\n').expect("a command and its output");
        let words = command.strip_prefix("$ cargo xtask ").expect("a command");
        Self {
            file: file.expect("the diff names a file").to_owned(),
            line: (line_with("-"), line_with("+")),
            command: words.to_owned(),
            shown: shown
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && *line != "…")
                .map(str::to_owned)
                .collect(),
        }
    }
}

/// The text of the first block in that language.
fn block<'t>(text: &'t str, language: &str) -> &'t str {
    let (_, after) = text
        .split_once(&format!("\n```{language}\n"))
        .unwrap_or_else(|| panic!("no block of {language}"));
    after.split("\n```").next().expect("it begins")
}

/// A copy of the repository, with the kernels' build outputs.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn of(original: &Path, root: PathBuf) -> Self {
        let entries = std::fs::read_dir(original).expect("the repository");
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name != "target" && name != ".git" {
                copy(&entry.path(), &root);
            }
        }
        // With the build outputs for the architecture that the command uses: most of
        // them are `core`, the same for every copy, and would take a minute to compile.
        let compiled = cuda_builder::target_dir_of(original);
        let to = root.join("target/lockstep-kernels");
        for folder in ["", "nvptx64-nvidia-cuda"] {
            let (from, to) = (compiled.join(folder), to.join(folder));
            for entry in std::fs::read_dir(from).expect("it is there").flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name == "ptx" || name.starts_with("sm_80") {
                    copy(&entry.path(), &to);
                }
            }
        }
        Self { root }
    }

    /// The program, run for the copy as `cargo xtask` would.
    fn run(&self, words: &str) -> Output {
        xtask_command(words)
            .env("LOCKSTEP_ROOT", &self.root)
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .expect("the program runs")
    }

    /// Changes one line; returns the text from before.
    fn edit(&self, file: &str, from: &str, to: &str) -> String {
        let path = self.root.join(file);
        let text = std::fs::read_to_string(&path).expect("README names a file");
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
        std::fs::write(&path, text.replace(from, to)).expect("it can be written");
        text
    }
}

/// Keeps the files' times, by which cargo sees what is up to date.
fn copy(from: &Path, into: &Path) {
    std::fs::create_dir_all(into).expect("a folder");
    let mut cp = Command::new("cp");
    let status = cp.arg("-a").arg(from).arg(into).status();
    assert!(status.expect("cp runs").success(), "{}", from.display());
}

#[test]
fn the_changed_line_shows_what_the_readme_shows() {
    let original = std::path::absolute("..").expect("the repository");
    let original = original.canonicalize().expect("the repository");
    // The program's own kernels are compiled first, so that there is something to copy.
    let readme = std::fs::read_to_string(original.join("README.md")).expect("README");
    let lesson = Lesson::read(&readme);
    let kernel = lesson.command.split_whitespace().last().expect("a kernel");
    host::kernels::module_with(kernel, None).expect("the kernels compile");

    let folder = tempfile::tempdir().expect("a folder");
    // Characters of the path must not matter.
    let copy = Copy::of(&original, folder.path().join("a copy, größer"));
    let (line, changed) = &lesson.line;

    let before = copy.edit(&lesson.file, line, changed);
    let broken = copy.run(&lesson.command);
    fails(&broken, 1, &[]);
    let text = format!("{}{}", stdout(&broken), stderr(&broken));
    let seen: Vec<&str> = text.lines().map(str::trim).collect();
    for line in &lesson.shown {
        let is_seen = seen.contains(&line.as_str());
        assert!(is_seen, "`{line}` is missing in:\n{text}");
    }

    // Undone, all is well; and the original is untouched.
    std::fs::write(copy.root.join(&lesson.file), before).expect("it can be written");
    passes(&copy.run(&lesson.command));
}
