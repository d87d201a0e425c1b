//! Code excerpts, exactly as in the sources.

use super::directive::Arguments;
use super::facts::{self, Facts};
use super::items::{self, Item};
use lesson::Registered;
use std::fmt::Write;
use std::path::Path;

/// `{{#kernel NAME…}}`: kernels with their documentation.
pub fn kernel(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let mut found = Vec::new();
    for word in &arguments.words {
        let registered = facts::kernel(word)?;
        let item = of_kernel(facts, registered)?;
        // One macro call may make several of them.
        if !found
            .iter()
            .any(|other: &Item| other.lines == item.lines && other.path == item.path)
        {
            found.push(item);
        }
    }
    code(facts, &found)
}

/// The function of a kernel, or the macro call that makes it, in its topic.
fn of_kernel(facts: &Facts, registered: Registered) -> Result<Item, String> {
    let (id, topic) = (
        registered.kernel.id,
        registered.kernel.topic.unwrap_or_default(),
    );
    let is_in_topic = |item: &&Item| item.module.split("::").next() == Some(topic);
    let items = facts.kernel_items().iter().filter(is_in_topic).cloned();
    items::find(&items.collect::<Vec<_>>(), id).cloned()
}

/// `{{#item NAME…}}`: other items of the kernels' crate.
pub fn item(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let found = arguments.words.iter();
    let found = found.map(|word| items::find(facts.kernel_items(), word).cloned());
    code(facts, &found.collect::<Result<Vec<_>, _>>()?)
}

/// `{{#file PATH ITEM…}}`: items of a file, or all of it.
pub fn file(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    let Some((path, names)) = arguments.words.split_first() else {
        return Err("name a file".to_owned());
    };
    if names.is_empty() {
        let language = Path::new(path).extension().unwrap_or_default();
        let text = facts.text(path)?;
        return Ok(block(
            &language.to_string_lossy(),
            &text,
            std::slice::from_ref(path),
        ));
    }
    let all = items::of_file(&facts.root().join(path), Path::new(path), "")?;
    let found = names.iter().map(|name| items::find(&all, name).cloned());
    code(facts, &found.collect::<Result<Vec<_>, _>>()?)
}

/// The text of the items; those of one file are separated by a blank line.
fn code(facts: &Facts, found: &[Item]) -> Result<String, String> {
    if found.is_empty() {
        return Err("name the items to show".to_owned());
    }
    let (mut text, mut places) = (String::new(), Vec::new());
    for item in found {
        let path = item.path.display().to_string();
        let file = facts.text(&path)?;
        let (first, last) = item.lines;
        let lines: Vec<&str> = file
            .lines()
            .skip(first - 1)
            .take(last + 1 - first)
            .collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&lines.join("\n"));
        text.push('\n');
        if !places.contains(&path) {
            places.push(path);
        }
    }
    Ok(block("rust", &text, &places))
}

/// A code block with the names of its files below it.
fn block(language: &str, text: &str, places: &[String]) -> String {
    // `noplayground`: no button that runs it on the Rust playground.
    let language = if language == "rust" || language == "rs" {
        "rust,noplayground"
    } else {
        language
    };
    let mut out = format!("```{language}\n{}\n```\n\n", text.trim_end());
    let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
    let _ = writeln!(
        out,
        "<p class=\"place\">{}</p>",
        html_code(&places.join(", "))
    );
    out
}

/// `` `a` `` as `<code>a</code>`.
fn html_code(text: &str) -> String {
    let mut html = String::new();
    for (number, part) in text.split('`').enumerate() {
        match number % 2 {
            1 => {
                let _ = write!(html, "<code>{part}</code>");
            }
            _ => html.push_str(part),
        }
    }
    html
}
