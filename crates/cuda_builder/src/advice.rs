//! Advice for errors of kernels that code of the host never has, because there the standard library
//! exists.
//!
//! rustc's own advice is for crates on a host, such as to add a crate named `std`.

use serde_json::{Value, json};

/// What the prelude of `std` and the methods of its types need memory for.
const ON_THE_HEAP: &[&str] = &[
    "Box",
    "String",
    "ToOwned",
    "ToString",
    "Vec",
    "alloc",
    "concat",
    "format",
    "into_vec",
    "join",
    "repeat",
    "replace",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "to_vec",
    "vec",
];

/// Sorts that take memory, each of which has one by `_unstable` that does not.
const SORTS: &[&str] = &["sort", "sort_by", "sort_by_cached_key", "sort_by_key"];

/// Macros that print.
const PRINTING: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];

/// rustc's codes for names that it cannot find.
const UNKNOWN_NAME: &[&str] = &["E0405", "E0412", "E0425", "E0432", "E0433", "E0599"];

/// rustc's code for "can't find crate".
const NO_CRATE: &str = "E0463";

/// rustc's code for a constant that cannot be computed, which is found only where code is made.
const CONSTANT: &str = "E0080";

/// rustc's words about a crate that uses nothing of `cuda_std`, which has one.
pub(crate) const NO_PANIC_HANDLER: &str = "`#[panic_handler]` function required, but not found";

/// Where an error was found.
#[derive(Default)]
pub(crate) struct Origin<'a> {
    pub package: Option<&'a str>,
    /// Whether that was written for hosts, and is compiled without the standard library.
    pub is_helper: bool,
    /// The crates that only the host has.
    pub host_only: &'a [String],
}

/// Whether an error is the device's alone: the host's compiler does not find it in the same source.
pub(crate) fn is_of_device(diagnostic: &Value, origin: &Origin<'_>) -> bool {
    let message = diagnostic["message"].as_str().unwrap_or_default();
    match diagnostic["code"]["code"].as_str() {
        Some(NO_CRATE | CONSTANT) => true,
        Some(code) if UNKNOWN_NAME.contains(&code) => {
            is_gated(diagnostic)
                || is_of_shared_array(diagnostic)
                || of_std(message).is_some()
                || of_the_host(message, origin).is_some()
                || (code == "E0599" && is_of_float(message))
        }
        Some(_) => false,
        None if message.starts_with("cannot find macro") => of_std(message).is_some(),
        // About assembly of the device, entries of one name, or nothing in the sources.
        None => {
            let places = diagnostic["spans"].as_array();
            let is_late = message.contains("asm") || message.ends_with("is already defined");
            is_late || places.is_none_or(Vec::is_empty)
        }
    }
}

/// Adds help to an error about something that the device does not have.
pub(crate) fn add(diagnostic: &mut Value, origin: &Origin<'_>) {
    let is_helper = origin.is_helper;
    let message = diagnostic["message"].as_str().unwrap_or_default();
    let code = diagnostic["code"]["code"].as_str();
    let wants_std = code == Some(NO_CRATE) && message.contains("`std`");
    let is_unknown_name = match code {
        Some(code) => UNKNOWN_NAME.contains(&code),
        None => message.starts_with("cannot find macro"),
    };
    let help = match origin.package {
        Some(package) if wants_std || (is_helper && is_of_device(diagnostic, origin)) => {
            Some(format!(
                "`{package}` is compiled for the GPU, which has no standard library. If only\n\
             host code uses this package, list it in Cargo.toml under\n\
             [target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]"
            ))
        }
        _ if is_unknown_name && is_gated(diagnostic) => Some(
            "that is not for every architecture: if it is for newer ones than the kernels are\n\
             compiled for, name one in build.rs, as in `CudaBuilder::new(…).arch(\"sm_90\")`"
                .to_owned(),
        ),
        _ if is_unknown_name && is_of_shared_array(diagnostic) => Some(
            "the type and length of a `shared_array!` are those of the module: what a kernel\n\
             declares in its own body is not known there; move it above the kernel. A length that\n\
             only the launch knows is for `cuda_std::shared::dynamic_shared_mem`"
                .to_owned(),
        ),
        _ if is_unknown_name => of_the_host(message, origin).or_else(|| of_std(message)),
        _ if message == NO_PANIC_HANDLER => Some(
            "nothing of `cuda_std`, which has it, is used: there is no kernel here, or it is not\n\
             marked with `#[kernel]` (`use cuda_std::prelude::*;`)"
                .to_owned(),
        ),
        _ => None,
    };
    let Some(help) = help else { return };
    forget_own_help(diagnostic);
    give(diagnostic, &help);
}

/// Where an error is.
pub(crate) fn primary(diagnostic: &Value) -> Option<&Value> {
    let spans = diagnostic["spans"].as_array()?;
    let is_primary = |span: &&Value| span["is_primary"] == true;
    spans.iter().find(is_primary).or(spans.first())
}

/// Whether it is in a line with a `shared_array!`, which sees less on the device than on the host.
fn is_of_shared_array(diagnostic: &Value) -> bool {
    // Methods are not names that it could see.
    if diagnostic["code"]["code"] == "E0599" {
        return false;
    }
    let line = primary(diagnostic).map(|span| &span["text"][0]["text"]);
    let line = line.and_then(Value::as_str);
    line.is_some_and(|line| line.contains("shared_array!"))
}

/// Whether a name is known, but left out of what is compiled, as what needs another architecture is.
fn is_gated(diagnostic: &Value) -> bool {
    let mut children = diagnostic["children"].as_array().into_iter().flatten();
    children.any(|child| {
        let message = child["message"].as_str().unwrap_or_default();
        message.contains("configured out")
    })
}

/// What to do about a crate that only the host has.
fn of_the_host(message: &str, origin: &Origin<'_>) -> Option<String> {
    let name = message.split('`').nth(1)?.split("::").next()?;
    let is_one = origin.host_only.iter().any(|crate_name| crate_name == name);
    is_one.then(|| {
        format!(
            "Cargo.toml has `{name}` for the host alone: put what uses it into a module of its own,\n\
             #[cfg(not(target_arch = \"nvptx64\"))] mod host;"
        )
    })
}

/// What to do about an unknown name, if it is one of `std`.
fn of_std(message: &str) -> Option<String> {
    let quoted = message.split('`').nth(1)?;
    let name = quoted.split("::").next()?;
    if ON_THE_HEAP.contains(&name) {
        let help = "there is no heap on the device: use an array (`[T; N]`), `shared_array!`,\n\
                    or a buffer that the launch passes";
        return Some(help.to_owned());
    }
    if SORTS.contains(&name) {
        let in_place = name.replace("sort", "sort_unstable").replace("cached_", "");
        return Some(format!(
            "there is no heap on the device, and `{name}` needs one: `{in_place}` does not"
        ));
    }
    if PRINTING.contains(&name) {
        let help = "a kernel prints with `cuda_std::println!`";
        return Some(help.to_owned());
    }
    if name == "thread_local" {
        let help = "what is declared in a kernel by `let` is each thread's own";
        return Some(help.to_owned());
    }
    (name == "std").then(|| {
        "the device has no standard library (kernels are `no_std`): what needs neither heap\n\
         nor operating system is in `core` by the same path, mathematics in `cuda_std::float`"
            .to_owned()
    })
}

/// Whether an unknown method is one of a float: those that compute more than a product are in `std`.
fn is_of_float(message: &str) -> bool {
    ["f32`", "f64`", "{float}`"]
        .iter()
        .any(|of| message.contains(of))
}

/// Removes rustc's advice to add a crate named `std`.
fn forget_own_help(diagnostic: &mut Value) {
    const OWN: &str = "cargo add ";
    if let Some(children) = diagnostic["children"].as_array_mut() {
        let is_own = |child: &Value| child["message"].as_str().is_some_and(|of| of.contains(OWN));
        children.retain(|child| !is_own(child));
    }
    if let Some(rendered) = diagnostic["rendered"].as_str() {
        let lines = rendered.split_inclusive('\n');
        diagnostic["rendered"] = lines
            .filter(|line| !line.contains(OWN))
            .collect::<String>()
            .into();
    }
}

/// Adds `help` to a diagnostic: for editors, and to its text, before rustc's suggestions.
fn give(diagnostic: &mut Value, help: &str) {
    if let Some(children) = diagnostic["children"].as_array_mut() {
        children.push(json!({
            "message": help.replace('\n', " "), "level": "help",
            "code": null, "spans": [], "children": [], "rendered": null,
        }));
    }
    let Some(rendered) = diagnostic["rendered"].as_str() else {
        return;
    };
    let plain = plain(rendered);
    let arrow = plain.lines().find_map(|line| line.find("--> "));
    let margin = " ".repeat(arrow.map_or(0, |arrow| arrow + 1));
    let bar = arrow.map_or_else(String::new, |_| format!("{margin}|\n"));
    let help = help.replace('\n', &format!("\n{margin}        "));
    let is_suggestion = |line: &str| line.starts_with("help: ");
    let is_last = |line: &str| line.trim().is_empty();
    let lines: Vec<&str> = rendered.split_inclusive('\n').collect();
    let place = plain
        .lines()
        .position(|line| is_suggestion(line) || is_last(line))
        .unwrap_or(lines.len());
    let has_bar = place
        .checked_sub(1)
        .and_then(|above| plain.lines().nth(above))
        .is_some_and(|above| above.trim() == "|" || above.trim_start().starts_with('='));
    let bar = if has_bar { "" } else { &bar };
    let (before, after) = lines.split_at(place);
    let text = format!(
        "{}{bar}{margin}= help: {help}\n{}",
        before.concat(),
        after.concat()
    );
    diagnostic["rendered"] = text.into();
}

/// A text without its colours.
pub(crate) fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}
