//! Hints of what to type: messages that name a command use the words that were typed.
//!
//! `cargo xtask` starts this program and says so in `LOCKSTEP_COMMAND`; in a bundle
//! people type `./lockstep`.

use std::path::Path;

/// The environment variable in which the words come before a subcommand.
pub const COMMAND_VARIABLE: &str = "LOCKSTEP_COMMAND";

/// What this program is called where nobody knows better.
const NAME: &str = "lockstep";

/// What was typed before the subcommand: `cargo xtask`, `./lockstep`.
pub fn command_words() -> String {
    launcher().unwrap_or_else(program_words)
}

/// A command as one types it.
pub fn command(arguments: &str) -> String {
    format!("{} {arguments}", command_words())
}

/// Words as one types them, in quotes where the shell would make something else of
/// them.
pub fn shell_words(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The command by which another program starts this one: `target/debug/lockstep`.
pub fn program_words() -> String {
    let typed = std::env::args_os().next().unwrap_or_default();
    let typed = Path::new(&typed);
    // Tests and others that only link the library have another name.
    if typed.file_name().is_none_or(|name| name != NAME) {
        return NAME.to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let shortest = typed.strip_prefix(here).unwrap_or(typed);
    match shortest.display().to_string() {
        // The shell would look for it on the PATH only.
        bare if bare == NAME && typed.is_absolute() => format!("./{NAME}"),
        words => words,
    }
}

/// Where to read why no GPU is used.
pub fn why_no_gpu() -> String {
    match launcher() {
        Some(words) => format!("{words} doctor says why"),
        None => "--engine gpu says why".to_owned(),
    }
}

/// The program that has started this one, if it gave its name.
fn launcher() -> Option<String> {
    std::env::var(COMMAND_VARIABLE)
        .ok()
        .filter(|words| !words.trim().is_empty())
}
