//! Everything that documents name exists: paths in ARCHITECTURE.md and in the book's page of
//! the articles, and the targets of links everywhere.

use crate::repository::{documents, root, text};

/// The paths that a document names in backticks or in a block of text: with a `/`, and
/// nothing in them that no path of ours has.
fn named(document: &str) -> Vec<&str> {
    let is_path = |word: &&str| {
        let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        let is_plain = word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let is_address = word.starts_with("../") || word.ends_with('.');
        word.contains('/') && starts && is_plain && !is_address
    };
    let mut paths = Vec::new();
    let mut is_block = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            paths.extend(line.split_whitespace().filter(is_path));
        } else {
            // Every second piece is between backticks.
            paths.extend(line.split('`').skip(1).step_by(2).filter(is_path));
        }
    }
    paths
}

/// The targets of a document's links, `…](target)`, without those on other machines.
fn links(document: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut is_block = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        }
        let pieces = line.split("](").skip(1).filter(|_| !is_block);
        links.extend(pieces.filter_map(|rest| Some(rest.split_once(')')?.0)));
    }
    links.retain(|link| !link.contains("://") && !link.starts_with("mailto:"));
    links
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> Vec<String> {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || "-_".contains(c) => Some(c),
                _ => None,
            });
            kept.collect()
        })
        .collect()
}

/// The links of a document in `folder` that lead nowhere; `read` gives the text of an existing
/// path, which is empty for a folder.
fn broken<'d>(
    document: &'d str,
    folder: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Vec<&'d str> {
    let leads = |link: &&str| {
        let (path, anchor) = link.split_once('#').unwrap_or((*link, ""));
        let target = match path {
            "" => Some(document.to_owned()),
            path => read(&format!("{folder}{path}")),
        };
        let has_anchor = |text: String| {
            let is_code = !path.is_empty() && !path.ends_with(".md");
            anchor.is_empty() || is_code || anchors(&text).iter().any(|one| one == anchor)
        };
        target.is_some_and(has_anchor)
    };
    links(document)
        .into_iter()
        .filter(|link| !leads(link))
        .collect()
}

fn read(path: &str) -> Option<String> {
    let path = root().join(path);
    match path.is_dir() {
        true => Some(String::new()),
        // Pictures are linked to as well.
        false => std::fs::read(path)
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[test]
fn paths_that_guides_name_are_there() {
    for (guide, n_least) in [("ARCHITECTURE.md", 70), ("book/src/articles.md", 40)] {
        let document = text(guide);
        let named = named(&document);
        assert!(named.len() > n_least, "{guide}: only {named:?}");
        let missing: Vec<&str> = named
            .into_iter()
            .filter(|path| !root().join(path).exists())
            .collect();
        assert!(missing.is_empty(), "{guide} names {missing:#?}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut n_links = 0;
    let mut nowhere = Vec::new();
    for file in documents() {
        let document = text(&file);
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        n_links += links(&document).len();
        let broken = broken(&document, &folder, &read);
        nowhere.extend(broken.iter().map(|link| format!("{file}: {link}")));
    }
    assert!(n_links > 100, "only {n_links} links");
    assert!(nowhere.is_empty(), "{nowhere:#?}");
}

#[test]
fn paths_and_links_are_found() {
    let document = "\
`a/b.rs` and `cargo test`, [c](docs/c.md#the-two-numbers), [d](https://d.org/x), `../up/x`
```text
gpu-kernels/src/lib.rs   kernels
[no link](in/a/block)
```
## The two: numbers!
[e](#the-two-numbers) [f](#gone) `e/f/`
";
    assert_eq!(
        named(document),
        ["a/b.rs", "gpu-kernels/src/lib.rs", "e/f/"]
    );
    let all = ["docs/c.md#the-two-numbers", "#the-two-numbers", "#gone"];
    assert_eq!(links(document), all);
    let there = |path: &str| (path == "docs/c.md").then(|| "# The two numbers".to_owned());
    assert_eq!(broken(document, "", &there), ["#gone"]);
    assert_eq!(broken(document, "docs/", &there), [all[0], "#gone"]);
    let without_heading = |_: &str| Some("# Another".to_owned());
    assert_eq!(broken(document, "", &without_heading), [all[0], "#gone"]);
}
