//! Documents of the repository, or sections of them, as parts of chapters.

use super::directive::Arguments;
use super::facts::Facts;
use std::path::Path;

/// `{{#document PATH ["Heading"]}}`: a document without its title, or one section of it
/// without its heading, up to the heading `until=`; headings a level deeper with `deeper=1`.
/// Links to anything outside it become text.
pub fn document(facts: &Facts, arguments: &Arguments) -> Result<String, String> {
    arguments.keys(&["deeper", "until"])?;
    let (path, heading) = match arguments.words.as_slice() {
        [path] => (path, None),
        [path, heading] => (path, Some(heading.as_str())),
        _ => return Err("name a document, and optionally a heading".to_owned()),
    };
    let text = facts.text(path)?;
    let part = match heading {
        None => without_title(&text),
        Some(heading) => {
            section(&text, heading).ok_or_else(|| format!("{path} has no heading `{heading}`"))?
        }
    };
    let part = match arguments.get("until") {
        None => part,
        Some(end) => before(&part, end).ok_or_else(|| format!("{path} has no heading `{end}`"))?,
    };
    let deeper = match arguments.get("deeper") {
        None => 0,
        Some(n) => n
            .parse()
            .map_err(|_| "`deeper=` must be a number".to_owned())?,
    };
    Ok(without_links(&moved_down(&part, deeper), Path::new(path)))
}

/// The level of a heading, if the line is one.
pub fn level(line: &str) -> Option<usize> {
    let n = line.chars().take_while(|&c| c == '#').count();
    (n > 0 && line[n..].starts_with(' ')).then_some(n)
}

/// Lines, each with a flag: whether it is in a code block.
pub fn with_code(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_code = false;
    text.lines().map(move |line| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return (line, true);
        }
        (line, is_code)
    })
}

fn without_title(text: &str) -> String {
    let mut lines = text.lines().peekable();
    if lines.peek().is_some_and(|line| level(line) == Some(1)) {
        lines.next();
    }
    lines.collect::<Vec<_>>().join("\n")
}

fn section(text: &str, heading: &str) -> Option<String> {
    let mut lines = with_code(text).skip_while(|(line, is_code)| {
        *is_code || level(line).is_none_or(|n| line[n..].trim() != heading)
    });
    let own = level(lines.next()?.0)?;
    let ends = |line: &str, is_code: bool| !is_code && level(line).is_some_and(|n| n <= own);
    let lines = lines.take_while(|(line, is_code)| !ends(line, *is_code));
    Some(lines.map(|(line, _)| line).collect::<Vec<_>>().join("\n"))
}

/// The text before a heading.
fn before(text: &str, heading: &str) -> Option<String> {
    let is_it = |line: &str| level(line).is_some_and(|n| line[n..].trim() == heading);
    let lines: Vec<(&str, bool)> = with_code(text).collect();
    let end = lines
        .iter()
        .position(|(line, is_code)| !is_code && is_it(line))?;
    let lines = lines[..end].iter().map(|(line, _)| *line);
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn moved_down(text: &str, by: usize) -> String {
    let lines = with_code(text).map(|(line, is_code)| match level(line) {
        Some(_) if !is_code => format!("{}{line}", "#".repeat(by)),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `[words](target)` becomes `words (docs/checks.md)`: the target is not in the book.
fn without_links(text: &str, document: &Path) -> String {
    let mut out = String::with_capacity(text.len());
    for (line, is_code) in with_code(text) {
        if is_code {
            out.push_str(line);
        } else {
            out.push_str(&line_without_links(line, document));
        }
        out.push('\n');
    }
    out
}

fn line_without_links(line: &str, document: &Path) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((open, close, end)) = link_in(rest) {
        let (words, target) = (&rest[open + 1..close], &rest[close + 2..end]);
        out.push_str(&rest[..open]);
        if target.starts_with("http") {
            out.push_str(&rest[open..=end]);
        } else {
            out.push_str(words);
            let file = target.split('#').next().unwrap_or_default();
            let plain = words.trim_matches('`');
            if !file.is_empty() && !resolved(document, file).ends_with(plain) {
                out.push_str(&format!(" (`{}`)", resolved(document, file)));
            }
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

/// The positions of the first link's `[`, `](` and `)`.
fn link_in(text: &str) -> Option<(usize, usize, usize)> {
    let close = text.find("](")?;
    let open = text[..close].rfind('[')?;
    let end = close + text[close..].find(')')?;
    Some((open, close, end))
}

/// A link's file, from the repository's root.
fn resolved(document: &Path, file: &str) -> String {
    let mut parts: Vec<&str> = document
        .parent()
        .into_iter()
        .flat_map(Path::iter)
        .filter_map(|part| part.to_str())
        .collect();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::{line_without_links, section};
    use std::path::Path;

    #[test]
    fn a_section_ends_at_the_next_of_its_level() {
        let text = "# T\n## A\none\n### B\ntwo\n```\n## no\n```\n## C\nthree\n";
        assert_eq!(
            section(text, "A").as_deref(),
            Some("one\n### B\ntwo\n```\n## no\n```")
        );
        assert_eq!(section(text, "C").as_deref(), Some("three"));
        assert_eq!(section(text, "no"), None);
    }

    #[test]
    fn links_out_of_the_book_become_text() {
        let line = |text: &str| line_without_links(text, Path::new("docs/a.md"));
        assert_eq!(
            line("see [the list](../crates/x/S.md#a)."),
            "see the list (`crates/x/S.md`)."
        );
        assert_eq!(line("see [`b.md`](b.md)"), "see `b.md`");
        assert_eq!(line("at [site](https://a.b)"), "at [site](https://a.b)");
        assert_eq!(line("[here](#x) and there"), "here and there");
    }
}
