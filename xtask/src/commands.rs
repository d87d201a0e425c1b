//! The commands of the binary `lockstep`, for `cargo xtask --help`.
//!
//! The binary may not be built yet, so the list is read from the source that declares its commands;
//! `tests/tests/all/commands.rs` checks it against the binary's own.

const DECLARED: &str = include_str!("../../cli/src/commands/mod.rs");

/// Name and description, in the binary's order.
pub fn commands() -> Vec<(&'static str, &'static str)> {
    let mut commands = Vec::new();
    let mut about = "";
    let variants = DECLARED
        .lines()
        .skip_while(|line| *line != "enum Command {");
    for line in variants.take_while(|line| *line != "}").map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            about = text.trim_end_matches('.');
        } else if line == "#[command(hide = true)]" {
            about = "";
        } else if let Some((name, _)) = line.split_once('(')
            && !about.is_empty()
        {
            commands.push((kebab_case(name).leak() as &str, about));
        }
    }
    commands
}

/// `run-all` of `RunAll`.
fn kebab_case(name: &str) -> String {
    let dash = |c: char| c.is_uppercase().then_some('-');
    let dashed = name.chars().flat_map(|c| dash(c).into_iter().chain([c]));
    dashed.skip(1).collect::<String>().to_lowercase()
}
