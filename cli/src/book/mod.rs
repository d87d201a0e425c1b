//! The book's chapters: their directives, and writing them out.
//!
//! The chapters in `book/src` hold prose and [`directive`]s; every number, table, excerpt and
//! picture is made from the code ([`excerpts`], by [`items`]), the simulator and the results
//! ([`figures`]), the maps ([`pictures`]), our own commands ([`terminal`]), other documents
//! ([`documents`]) and the exercises ([`exercises`]), from what [`facts`] knows. Parts that a
//! reader changes are [`mod@live`].
//!
//! [`Book::check`] is cheap: it checks that everything that is named exists and that
//! [`mod@links`] lead somewhere. [`Book::write`] compiles, runs and writes.
//!
//! Left out: making pages from Markdown, which mdBook does (`book/builder`).

pub mod directive;
pub mod documents;
pub mod excerpts;
pub mod exercises;
pub mod facts;
pub mod figures;
pub mod items;
pub mod links;
pub mod live;
pub mod pictures;
pub mod terminal;

use directive::{Arguments, Directive, directives};
use facts::{Facts, Understands};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The folder with the chapters.
const CHAPTERS: &str = "book/src";
/// The list of chapters.
const SUMMARY: &str = "SUMMARY.md";

type Expand = fn(&Facts, &Arguments) -> Result<String, String>;
type Check = fn(&Facts, &Arguments) -> Result<(), String>;

/// A kind of directive.
struct Kind {
    name: &'static str,
    expand: Expand,
    /// A cheaper way to find out whether everything named exists. Without one, the directive is
    /// expanded.
    check: Option<Check>,
}

const fn cheap(name: &'static str, expand: Expand) -> Kind {
    Kind {
        name,
        expand,
        check: None,
    }
}

const fn costly(name: &'static str, expand: Expand, check: Check) -> Kind {
    Kind {
        name,
        expand,
        check: Some(check),
    }
}

static KINDS: [Kind; 23] = [
    cheap("kernel", excerpts::kernel),
    cheap("item", excerpts::item),
    cheap("file", excerpts::file),
    cheap("document", documents::document),
    cheap("exercises", exercises::exercises),
    costly("counts", figures::counts, figures::check_kernels),
    costly("count", figures::count, figures::check_count),
    costly("times", figures::times, figures::check_times),
    cheap("time", figures::time),
    cheap("gain", figures::gain),
    cheap("share", figures::share),
    cheap("machine", figures::machine_of),
    cheap("banks", pictures::banks),
    cheap("places", pictures::places),
    cheap("memory", pictures::memory),
    cheap("sectors", pictures::sectors),
    cheap("fragment", pictures::fragment),
    cheap("lessons", lessons),
    costly("explain", pictures::explain_access, pictures::check_kernel),
    costly("timeline", pictures::timeline, pictures::check_kernel),
    costly("player", pictures::player, pictures::check_player),
    costly("terminal", terminal::terminal, terminal::check),
    costly("live", live::live, live::check),
];

/// `{{#lessons}}`: the lessons in reading order, with their ideas, and links to their chapters:
/// those of the same name, or of another one, by a word such as `bank_widths:bank-conflicts`.
fn lessons(_: &Facts, arguments: &Arguments) -> Result<String, String> {
    let chapter = |id: &str| {
        let mut others = arguments
            .words
            .iter()
            .filter_map(|word| word.split_once(':'));
        let other = others.find(|(lesson, _)| *lesson == id);
        other.map_or_else(|| id.replace('_', "-"), |(_, chapter)| chapter.to_owned())
    };
    let line = |lesson: &&lesson::Lesson| {
        let (title, chapter, idea) = (lesson.title, chapter(lesson.id), lesson.idea);
        format!("- [{title}]({chapter}.md): {idea}\n")
    };
    Ok(host::registry::LESSONS.iter().map(line).collect())
}

/// The chapters, and the data that they are made from.
pub struct Book {
    facts: Facts,
    /// By path in the folder of chapters.
    chapters: BTreeMap<String, String>,
}

impl Book {
    /// The book of the repository with this root; whether its pages will have the simulator; and
    /// the check for our commands.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn open(
        root: &Path,
        has_simulator: bool,
        understands: Understands,
    ) -> Result<Self, String> {
        let mut chapters = BTreeMap::new();
        read(&root.join(CHAPTERS), "", &mut chapters)?;
        Ok(Self {
            facts: Facts::open(root, has_simulator, understands)?,
            chapters,
        })
    }

    /// Problems of the chapters: names of things that do not exist, links that lead nowhere,
    /// chapters that the list does not name.
    pub fn check(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut written = BTreeMap::new();
        for (path, text) in &self.chapters {
            let expanded = self.each(path, text, |kind, arguments| match kind.check {
                // The text is only searched for headings; costly directives make none.
                Some(check) => check(&self.facts, arguments).map(|()| String::new()),
                None => (kind.expand)(&self.facts, arguments),
            });
            match expanded {
                Ok(text) => drop(written.insert(path.clone(), text)),
                Err(found) => {
                    problems.extend(found);
                    written.insert(path.clone(), text.clone());
                }
            }
        }
        for (path, text) in &written {
            let broken = links::broken(path, text, &written).into_iter();
            problems.extend(broken.map(|problem| format!("{CHAPTERS}/{problem}")));
        }
        problems.extend(self.unlisted());
        problems
    }

    /// Writes the chapters out to a folder; `progress` is called for each.
    ///
    /// # Errors
    ///
    /// All problems, or a file that cannot be written.
    pub fn write(&self, out: &Path, progress: impl Fn(&str)) -> Result<(), Vec<String>> {
        let problems = self.check();
        if !problems.is_empty() {
            return Err(problems);
        }
        let failed =
            |path: &Path, error: std::io::Error| vec![format!("{}: {error}", path.display())];
        for (path, text) in &self.chapters {
            progress(path);
            let expanded = self.each(path, text, |kind, arguments| {
                (kind.expand)(&self.facts, arguments)
            })?;
            let target = out.join(path);
            let dir = target.parent().unwrap_or(out);
            fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
            fs::write(&target, expanded).map_err(|error| failed(&target, error))?;
        }
        Ok(())
    }

    /// What live pages load alongside their text: the playground's PTX.
    ///
    /// # Errors
    ///
    /// It does not compile.
    pub fn playground(&self) -> Result<&str, String> {
        self.facts.playground()
    }

    /// A chapter with each directive replaced, or all its problems.
    fn each(
        &self,
        path: &str,
        text: &str,
        insert: impl Fn(&Kind, &Arguments) -> Result<String, String>,
    ) -> Result<String, Vec<String>> {
        let (mut out, mut problems, mut at) = (String::new(), Vec::new(), 0);
        for directive in directives(text) {
            out.push_str(&text[at..directive.span.start]);
            at = directive.span.end;
            let inserted = kind(&directive).and_then(|kind| insert(kind, &directive.arguments));
            match inserted {
                Ok(inserted) => out.push_str(&inserted),
                Err(problem) => problems.push(format!(
                    "{CHAPTERS}/{path}:{}: {{{{#{}}}}}: {problem}",
                    directive.line, directive.name
                )),
            }
        }
        out.push_str(&text[at..]);
        match problems.is_empty() {
            true => Ok(out.replace("\\{{#", "{{#")),
            false => Err(problems),
        }
    }

    /// Chapters that the list does not name.
    fn unlisted(&self) -> Vec<String> {
        let summary = self.chapters.get(SUMMARY).map_or("", String::as_str);
        let links = links::links(summary);
        let listed: BTreeSet<&str> = links
            .iter()
            .map(|(_, target)| target.trim_start_matches("./"))
            .collect();
        let paths = self.chapters.keys().map(String::as_str);
        let paths = paths.filter(|path| *path != SUMMARY && !listed.contains(path));
        paths
            .map(|path| format!("{CHAPTERS}/{path}: {SUMMARY} does not name it"))
            .collect()
    }
}

fn kind(directive: &Directive<'_>) -> Result<&'static Kind, String> {
    let mut kinds = KINDS.iter();
    kinds
        .find(|kind| kind.name == directive.name)
        .ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            format!("there is no such directive; there are {}", names.join(", "))
        })
}

/// The Markdown files below a folder.
fn read(dir: &Path, before: &str, found: &mut BTreeMap<String, String>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", dir.display());
    for entry in fs::read_dir(dir).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let relative = format!("{before}{name}");
        if path.is_dir() {
            read(&path, &format!("{relative}/"), found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(relative, fs::read_to_string(&path).map_err(told)?);
        }
    }
    Ok(())
}
