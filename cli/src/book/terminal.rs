//! The output of commands, as they print it.

use super::directive::Arguments;
use super::facts::Facts;
use host::hints;
use std::process::Command;

/// Columns of a terminal in the book.
const COLUMNS: &str = "88";

/// Whether `{{#terminal ARGUMENTS}}` is an existing command.
pub fn check(facts: &Facts, arguments: &Arguments) -> Result<(), String> {
    arguments.keys(&["lines", "status"])?;
    facts.understands(&arguments.words)
}

/// `{{#terminal ARGUMENTS [lines=20] [status=1]}}`: the first lines of our program's output,
/// run now, on the simulator.
pub fn terminal(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(&arguments.words)
        .env(hints::COMMAND_VARIABLE, "cargo xtask")
        .env("COLUMNS", COLUMNS)
        .env("NO_COLOR", "1")
        .env("CUDA_VISIBLE_DEVICES", "")
        .current_dir(facts.root())
        .output()
        .map_err(|error| error.to_string())?;
    let expected: i32 = match arguments.get("status") {
        None => 0,
        Some(status) => status
            .parse()
            .map_err(|_| "`status=` must be a number".to_owned())?,
    };
    let typed = format!("cargo xtask {}", hints::shell_words(&arguments.words));
    if output.status.code() != Some(expected) {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{typed}` ended with {}: {told}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<&str> = text.trim_end().lines().collect();
    if let Some(most) = arguments.get("lines") {
        let most: usize = most
            .parse()
            .map_err(|_| "`lines=` must be a number".to_owned())?;
        if lines.len() > most {
            lines.truncate(most);
            lines.push("…");
        }
    }
    Ok(format!(
        "```console\n$ {typed}\n{}\n```\n",
        lines.join("\n")
    ))
}
