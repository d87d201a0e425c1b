//! A check of the chapters' links.

use super::documents::{level, with_code};
use std::collections::{BTreeMap, BTreeSet};

/// Links of a chapter that lead nowhere. `chapters` has all chapters by path, expanded.
pub fn broken(path: &str, text: &str, chapters: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for (line_number, target) in links(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = if file.is_empty() {
            path.to_owned()
        } else {
            beside(path, file)
        };
        let place = format!("{path}:{line_number}");
        match chapters.get(&file) {
            None => problems.push(format!("{place}: there is no chapter `{file}`")),
            Some(other) if !anchor.is_empty() && !anchors(other).contains(anchor) => {
                problems.push(format!("{place}: `{file}` has no heading `#{anchor}`"));
            }
            Some(_) => {}
        }
    }
    problems
}

/// The targets of a text's links, with their lines.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, (line, is_code)) in (1..).zip(with_code(text)) {
        if is_code {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            let target = &rest[at + 2..];
            let Some(end) = target.find(')') else { break };
            found.push((number, target[..end].to_owned()));
            rest = &target[end..];
        }
    }
    found
}

/// A link's target, resolved against the path of the file that has it.
fn beside(path: &str, target: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of a text's headings, as mdBook makes them.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (line, is_code) in with_code(text) {
        let Some(n) = level(line).filter(|_| !is_code) else {
            continue;
        };
        let base = anchor(line[n..].trim());
        let mut name = base.clone();
        let mut number = 1;
        while !found.insert(name.clone()) {
            name = format!("{base}-{number}");
            number += 1;
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let characters = heading.chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::broken;
    use std::collections::BTreeMap;

    #[test]
    fn broken_links_are_told() {
        let chapters = BTreeMap::from([
            ("a.md".to_owned(), "# A\n## Two words\n".to_owned()),
            ("b/c.md".to_owned(), "# C\n".to_owned()),
        ]);
        let of = |path: &str, text: &str| broken(path, text, &chapters);
        assert!(of("b/c.md", "[x](../a.md#two-words) [y](https://x.y) [z](#c)").is_empty());
        assert!(
            of(
                "a.md",
                "[x](b/c.md) [y](#two-words)\n```\n[z](no.md)\n```\n"
            )
            .is_empty()
        );
        assert_eq!(
            of("a.md", "\n[x](no.md)"),
            ["a.md:2: there is no chapter `no.md`"]
        );
        assert_eq!(
            of("a.md", "[x](b/c.md#d)"),
            ["a.md:1: `b/c.md` has no heading `#d`"]
        );
    }
}
