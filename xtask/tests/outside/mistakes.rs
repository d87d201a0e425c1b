//! `docs/mistakes.md`: its code is compiled and run in a project outside, and its messages are
//! those that people get.
//!
//! After a change, `BLESS=1 cargo test -p xtask --test outside mistakes` writes messages and table.

use super::{cargo_apart, new_project, outside, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const DOCUMENT: &str = "docs/mistakes.md";
const TABLE: [&str; 2] = ["<!-- mistakes -->\n", "<!-- /mistakes -->\n"];

/// A section of the document.
struct Mistake {
    /// The chapter that it is in.
    found: String,
    title: String,
    kernel: String,
    /// The launch, if the mistake is not in the kernel alone.
    launch: Option<String>,
    message: String,
}

impl Mistake {
    fn of(found: &str, section: &str) -> Self {
        let (title, _) = section.split_once('\n').expect("a title");
        let mut code = blocks(section, "rust").into_iter();
        Self {
            found: found.to_owned(),
            title: title.to_owned(),
            kernel: code.next().expect("a kernel"),
            launch: code.next(),
            message: blocks(section, "text").pop().unwrap_or_default(),
        }
    }

    /// The name of its files: `vec_in_a_kernel`.
    fn name(&self) -> String {
        let letters = self.title.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '_',
        });
        letters
            .filter(|&c| c != '`')
            .collect::<String>()
            .trim_matches('_')
            .replace("__", "_")
    }

    /// Its message in files named as in a new project, without what changes with every line of
    /// the libraries or of the compiler.
    fn shown(&self, message: &str) -> String {
        let name = self.name();
        let crates = format!("{}/crates/", root().display());
        let message = message
            .replace(&format!("src/launches/{name}.rs"), "src/main.rs")
            .replace(&format!("src/mistakes/{name}.rs"), "src/kernels.rs")
            .replace(&format!("mistakes::{name}::"), "")
            .replace(&format!("{name}::"), "");
        let mut lines: Vec<&str> = Vec::new();
        let mut is_in_note = false;
        for line in message.lines() {
            // A note with an excerpt of a library ends with the next part of the message.
            let is_library = line.contains(&crates) || line.contains("/rustc/");
            if is_library && line.trim_start().starts_with("-->") {
                if !is_in_note {
                    lines.pop();
                }
                is_in_note = true;
            }
            is_in_note &= !["error", "note", "help"]
                .iter()
                .any(|of| line.starts_with(of));
            if !is_in_note && !is_library {
                lines.push(line);
            }
        }
        without_numbers(&lines.join("\n"), "PTX line ")
            .trim_end()
            .to_owned()
    }

    fn section(&self, message: &str) -> String {
        let mut text = format!("### {}\n\n```rust\n{}\n```\n", self.title, self.kernel);
        if let Some(launch) = &self.launch {
            let _ = write!(text, "\n```rust\n{launch}\n```\n");
        }
        let _ = write!(text, "\n```text\n{message}\n```\n");
        text
    }
}

/// A text with `…` for every number that follows `before`.
fn without_numbers(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{text}{before}…{rest}")
    })
}

/// The texts of the blocks in a language.
fn blocks(section: &str, language: &str) -> Vec<String> {
    let start = format!("\n```{language}\n");
    let parts = section.split(&start).skip(1);
    parts
        .map(|part| part.split("\n```").next().unwrap_or(part).to_owned())
        .collect()
}

/// The document's head, without the table, and its mistakes.
fn read() -> (String, Vec<Mistake>) {
    let text = fs::read_to_string(root().join(DOCUMENT)).expect("it is there");
    let mut chapters = text.split("\n## ");
    let head = chapters.next().expect("a head").to_owned();
    let mut mistakes = Vec::new();
    for chapter in chapters {
        let mut sections = chapter.split("\n### ");
        let found = sections.next().expect("a title").trim();
        mistakes.extend(sections.map(|section| Mistake::of(found, section)));
    }
    (head, mistakes)
}

/// The document with these messages.
fn written(head: &str, mistakes: &[Mistake], messages: &BTreeMap<String, String>) -> String {
    let mut table = "| mistake | first line of the message |\n|---|---|\n".to_owned();
    let mut chapters = String::new();
    let mut found = "";
    for mistake in mistakes {
        let message = mistake.shown(messages.get(&mistake.name()).map_or("", String::as_str));
        if mistake.found != found {
            found = &mistake.found;
            let _ = writeln!(table, "| **{found}** | |");
            let _ = write!(chapters, "\n## {found}\n");
        }
        let first = message
            .lines()
            .next()
            .unwrap_or_default()
            .replace('|', "\\|");
        let _ = writeln!(table, "| {} | {first} |", mistake.title);
        let _ = write!(chapters, "\n{}", mistake.section(&message));
    }
    let (before, rest) = head.split_once(TABLE[0]).expect("a place for the table");
    let (_, after) = rest
        .split_once(TABLE[1].trim_end())
        .expect("the table's end");
    let [begin, end] = TABLE;
    format!(
        "{before}{begin}\n{table}\n{}{after}\n{chapters}",
        end.trim_end()
    )
    .replace("\n\n\n", "\n\n")
}

fn write_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
    fs::write(path, text).expect("it is written");
}

/// Makes a project's kernels of these mistakes, and of their launches modules of its program.
fn fill(project: &Path, mistakes: &[&Mistake]) {
    let mut kernels = "//! Mistakes.\npub mod mistakes {\n".to_owned();
    let (mut modules, mut calls) = (String::new(), String::new());
    for mistake in mistakes {
        let name = mistake.name();
        let _ = writeln!(kernels, "    pub mod {name};");
        let path = project.join(format!("src/mistakes/{name}.rs"));
        write_file(
            &path,
            &format!("use cuda_std::prelude::*;\n\n{}\n", mistake.kernel),
        );
        let Some(launch) = &mistake.launch else {
            continue;
        };
        let _ = writeln!(modules, "#[path = \"launches/{name}.rs\"]\nmod {name};");
        let _ = writeln!(
            calls,
            "    println!(\"== {name}\\n{{}}\", {name}::run().unwrap_err());"
        );
        let launch = launch.replace('\n', "\n    ");
        let text = format!(
            "use lockstep::{{Device, Error, LaunchConfig, Simulator}};\n\
             use with_mistakes::mistakes::{name}::*;\n\n\
             pub fn run() -> Result<(), Error> {{\n    \
             let device = Device::simulator_with(Simulator {{ check: true, ..Simulator::default() }});\n    \
             let kernels = device.load(lockstep::kernels!())?;\n    {launch}\n    Ok(())\n}}\n"
        );
        write_file(&project.join(format!("src/launches/{name}.rs")), &text);
    }
    write_file(&project.join("src/kernels.rs"), &format!("{kernels}}}\n"));
    let main = format!("//! Mistakes.\n{modules}\nfn main() {{\n{calls}}}\n");
    write_file(&project.join("src/main.rs"), &main);
    let _ = fs::remove_dir_all(project.join("tests"));
}

/// The errors of the project's compilation, by the mistake in whose file they are.
fn errors(project: &Path) -> BTreeMap<String, String> {
    let (passed, out, err) = cargo_apart(project, &["check", "--message-format=json"]);
    assert!(!passed, "{err}");
    let mut found = BTreeMap::<String, String>::new();
    for line in out.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let message = &message["message"];
        let of = |part: &str| message[part].as_str().unwrap_or_default();
        let rendered = of("rendered");
        let place = rendered.split("--> src/").nth(1).unwrap_or_default();
        let file = place.split(".rs:").next().unwrap_or_default();
        let is_of_all = of("message").starts_with("the kernels do not compile for the device");
        if let (Some((_, name)), "error", false) = (file.split_once('/'), of("level"), is_of_all) {
            *found.entry(name.to_owned()).or_default() += rendered;
        }
    }
    found
}

/// What the project's program prints about each mistake.
fn failures(project: &Path) -> BTreeMap<String, String> {
    let (passed, out, err) = cargo_apart(project, &["run"]);
    assert!(passed, "{out}{err}");
    let parts = out.split("== ").skip(1);
    let parts = parts.filter_map(|part| part.split_once('\n'));
    parts
        .map(|(name, text)| (name.into(), text.into()))
        .collect()
}

#[test]
fn mistakes_get_the_messages_of_the_document() {
    let (head, all) = read();
    assert!(all.len() >= 24, "{} mistakes", all.len());
    let outside = outside();
    let project = new_project(&outside, "with-mistakes");
    let of = |chapter: &str| -> Vec<&Mistake> {
        all.iter()
            .filter(|mistake| mistake.found == chapter)
            .collect()
    };
    let mut messages = BTreeMap::new();
    for chapter in ["The kernel does not compile", "The launch does not compile"] {
        let mut rest = of(chapter);
        // Compilers do not come to their last errors before the others are gone.
        while !rest.is_empty() {
            fill(&project, &rest);
            let found = errors(&project);
            let n_before = rest.len();
            rest.retain(|mistake| !found.contains_key(&mistake.name()));
            messages.extend(found);
            if rest.len() == n_before {
                break;
            }
        }
    }
    let run = [of("The launch is refused"), of("The kernel does wrong")].concat();
    fill(&project, &run);
    messages.extend(failures(&project));
    let wrong = |mistake: &&Mistake| {
        let message = messages
            .get(&mistake.name())
            .map(|said| mistake.shown(said));
        message.as_deref() != Some(&mistake.message)
    };
    let silent = |mistake: &&&Mistake| !messages.contains_key(&mistake.name());
    let all: Vec<&Mistake> = all.iter().collect();
    let unsaid: Vec<&str> = all
        .iter()
        .filter(silent)
        .map(|of| of.title.as_str())
        .collect();
    assert_eq!(unsaid, [""; 0], "nothing is said about these");
    let owned = read().1;
    let text = written(&head, &owned, &messages);
    let path = root().join(DOCUMENT);
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, text).expect("it is written");
        return;
    }
    let changed: Vec<&str> = owned
        .iter()
        .filter(wrong)
        .map(|of| of.title.as_str())
        .collect();
    assert_eq!(changed, [""; 0], "other messages; BLESS=1 writes them");
    let is_current = fs::read_to_string(path).expect("it is there") == text;
    assert!(
        is_current,
        "the table of {DOCUMENT} is not current; BLESS=1 writes it"
    );
}
