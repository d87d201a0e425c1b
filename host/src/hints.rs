//! Hints of what to type: messages name commands in the words that the user typed.
//!
//! `cargo xtask` starts this program and says so in `LOCKSTEP_COMMAND`; in a bundle
//! people type `./lockstep`.

use std::path::Path;

/// The environment variable in which the words come before a subcommand.
pub const COMMAND_VARIABLE: &str = "LOCKSTEP_COMMAND";

/// The name of this program if nothing better is known.
const NAME: &str = "lockstep";

/// What was typed before the subcommand: `cargo xtask`, `./lockstep`.
pub fn command_words() -> String {
    launcher().unwrap_or_else(program_words)
}

/// A command as the user types it.
pub fn command(arguments: &str) -> String {
    format!("{} {arguments}", command_words())
}

/// Words as the user types them, in quotes where the shell would otherwise interpret
/// them.
pub fn shell_words(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The command with which another program starts this one: `target/debug/lockstep`.
pub fn program_words() -> String {
    let typed = std::env::args_os().next().unwrap_or_default();
    let typed = Path::new(&typed);
    // Tests and other programs that only link the library have another name.
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

/// The command that says why no GPU is used.
pub fn why_no_gpu() -> String {
    match launcher() {
        Some(words) => format!("{words} doctor says why"),
        None => "--engine gpu says why".to_owned(),
    }
}

/// The program that started this one, if it gave its name.
fn launcher() -> Option<String> {
    std::env::var(COMMAND_VARIABLE)
        .ok()
        .filter(|words| !words.trim().is_empty())
}
