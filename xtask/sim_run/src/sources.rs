//! The source lines that reports name, where their files can be read.

use std::collections::HashMap;

/// Lines shown before and after one that is named.
const CONTEXT: usize = 2;
/// Larger files are not read.
const MOST_BYTES: u64 = 8 << 20;

/// Files that have been read; none for those that cannot be.
#[derive(Default)]
pub struct Sources(HashMap<String, Option<Vec<String>>>);

/// Lines of a file, of which one is meant.
pub struct Excerpt {
    /// The file.
    pub file: String,
    /// The line that is meant, from 1.
    pub line: usize,
    /// It and those around it, with their numbers.
    pub lines: Vec<(usize, String)>,
}

impl Sources {
    /// A line by its place, such as `a.cu:7`.
    pub fn line(&mut self, place: &str) -> Option<&str> {
        let (file, line) = named(place)?;
        let lines = self.read(file)?;
        lines.get(line - 1).map(String::as_str)
    }

    /// The lines that a report names, each once, with those around them.
    pub fn excerpts(&mut self, report: &str) -> Vec<Excerpt> {
        let mut excerpts: Vec<Excerpt> = Vec::new();
        for (file, line) in report.split_whitespace().filter_map(named) {
            if excerpts.iter().any(|e| e.file == file && e.line == line) {
                continue;
            }
            let Some(all) = self.read(file).filter(|all| line <= all.len()) else {
                continue;
            };
            let shown = line.saturating_sub(CONTEXT).max(1)..=(line + CONTEXT).min(all.len());
            let lines = shown.map(|number| (number, all[number - 1].clone()));
            excerpts.push(Excerpt {
                file: file.to_owned(),
                line,
                lines: lines.collect(),
            });
        }
        excerpts
    }

    fn read(&mut self, file: &str) -> Option<&[String]> {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let data = std::fs::metadata(file).ok()?;
            if !data.is_file() || data.len() > MOST_BYTES {
                return None;
            }
            let text = std::fs::read_to_string(file).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_deref()
    }
}

/// The file and the line of `src/a.cu:12:5`, `(src/a.cu:12)` or `src/a.cu:12,`.
fn named(word: &str) -> Option<(&str, usize)> {
    let word = word.trim_start_matches(['(', '`']);
    let word = word.trim_end_matches([')', '`', ',', ';', ':', '.']);
    let (before, last) = word.rsplit_once(':')?;
    let last = last.parse().ok()?;
    let of_line = before.rsplit_once(':');
    let of_line = of_line.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = of_line.unwrap_or((before, last));
    (line > 0 && !file.is_empty()).then_some((file, line))
}

#[cfg(test)]
mod tests {
    use super::{Sources, named};

    #[test]
    fn places_are_read_from_reports() {
        assert_eq!(named("a/b.cu:12:5"), Some(("a/b.cu", 12)));
        assert_eq!(named("(a/b.cu:12)"), Some(("a/b.cu", 12)));
        assert_eq!(named("b.cu:12:5,"), Some(("b.cu", 12)));
        for text in ["b.cu:", "b.cu", ":12", "b.cu:0", "race:"] {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn a_named_line_is_shown_once_with_its_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.cu");
        std::fs::write(&file, "one\ntwo\nthree\nfour\n").unwrap();
        let place = format!("{}:2", file.display());
        let mut sources = Sources::default();
        let report = format!("at {place}:7 (PTX line 3), inlined at {place}:9 and none.cu:3");
        let excerpts = sources.excerpts(&report);
        assert_eq!(excerpts.len(), 1);
        let numbers: Vec<usize> = excerpts[0].lines.iter().map(|line| line.0).collect();
        assert_eq!((excerpts[0].line, numbers), (2, vec![1, 2, 3, 4]));
        assert_eq!(sources.line(&place), Some("two"));
        assert_eq!(sources.line(&format!("{}:9", file.display())), None);
        assert_eq!(sources.line("line 3 of the PTX"), None);
    }
}
