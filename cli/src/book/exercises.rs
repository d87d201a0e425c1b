//! The exercises of `cargo xtask learn` that belong to a chapter.

use super::directive::Arguments;
use super::facts::Facts;
use std::fmt::Write;

const FOLDER: &str = "exercises";

/// An exercise's folder, and what the book says about it.
struct Exercise {
    /// `09_padding`
    name: String,
    title: String,
    goal: String,
}

/// `{{#exercises NAME…}}`: a sentence and a list of exercises, by their names without numbers; empty where
/// there are no exercises at all.
pub fn exercises(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&[])?;
    if !facts.root().join(FOLDER).is_dir() {
        return Ok(String::new());
    }
    let all = all(facts)?;
    let mut text = String::from("Exercises that are judged as you save:\n\n");
    for word in &arguments.words {
        let is_it = |exercise: &&Exercise| {
            let number = |c: char| c.is_ascii_digit() || c == '_';
            exercise.name.trim_start_matches(number) == word
        };
        let exercise = all.iter().find(is_it);
        let exercise = exercise.ok_or_else(|| format!("there is no exercise `{word}`"))?;
        let _ = writeln!(
            text,
            "- **{}** (`cargo xtask learn go {}`): {}",
            exercise.title, exercise.name, exercise.goal
        );
    }
    Ok(text)
}

fn all(facts: &Facts) -> Result<Vec<Exercise>, String> {
    let folder = facts.root().join(FOLDER);
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("exercise.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let read = |name: String| {
        let path = format!("{FOLDER}/{name}/exercise.toml");
        let text = facts.text(&path)?;
        // Only the first lines are read; the exercises themselves have a full TOML reader.
        let value = |key: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{key} = \"")));
            let value = line.and_then(|rest| rest.strip_suffix('"'));
            value
                .map(|text| text.replace("\\\"", "\""))
                .ok_or_else(|| format!("{path} has no {key}"))
        };
        let (title, goal) = (value("title")?, value("goal")?);
        Ok(Exercise { name, title, goal })
    };
    names.into_iter().map(read).collect()
}
