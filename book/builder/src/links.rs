//! A check of the pages' links: each leads to a file, and a place in it, that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The links of all pages below `out` that lead nowhere, with their pages.
pub fn broken(out: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    list(out, &mut files)?;
    let is_page = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "html")
    };
    let mut texts = BTreeMap::new();
    for path in files.iter().filter(is_page) {
        texts.insert(path.clone(), fs::read_to_string(path)?);
    }
    let places: BTreeMap<&PathBuf, BTreeSet<&str>> = texts
        .iter()
        .map(|(path, text)| (path, values(text, " id=\"").collect()))
        .collect();
    let mut problems = BTreeSet::new();
    for (path, text) in &texts {
        // The page for addresses that are not there is written for any folder.
        if path.ends_with("404.html") {
            continue;
        }
        for link in values(text, " href=\"").chain(values(text, " src=\"")) {
            if link.contains(':') || link.starts_with("//") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => resolved(path, file),
            };
            let is_there = target.is_file() || target.join("index.html").is_file();
            let has_place = place.is_empty()
                || places
                    .get(&target)
                    .is_none_or(|places| places.contains(place));
            if !is_there || !has_place {
                let page = path.strip_prefix(out).unwrap_or(path);
                problems.insert(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(problems.into_iter().collect())
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// What stands between `before` and the next quote.
fn values<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(before)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}

fn resolved(page: &Path, file: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_path_buf).unwrap_or_default();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::broken;
    use std::fs;

    #[test]
    fn files_and_places_must_be_there() {
        let out = std::env::temp_dir().join(format!("book-links-{}", std::process::id()));
        fs::create_dir_all(out.join("b")).expect("a folder");
        let page = |name: &str, text: &str| fs::write(out.join(name), text).expect("a page");
        page(
            "a.html",
            "<h1 id=\"x\"></h1><a href=\"b/c.html#y\"><a href=\"#x\"><a href=\"#no\">",
        );
        page(
            "b/c.html",
            "<i id=\"y\"><a href=\"../a.html#x\"><a href=\"d.html\"><a href=\"https://e\">",
        );
        let problems = broken(&out).expect("it is read");
        fs::remove_dir_all(&out).expect("it is removed");
        assert_eq!(problems, ["a.html: #no", "b/c.html: d.html"]);
    }
}
