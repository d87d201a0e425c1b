//! The book's chapters name what exists, and their links lead somewhere.
//!
//! Nothing generated is committed: numbers, excerpts and pictures are inserted when the book is
//! built. So only names can be wrong before that; all of them are looked up here.

use cli::book::Book;
use lockstep_tests::ptx;
use std::fs;
use std::path::Path;

fn problems(root: &Path) -> Vec<String> {
    let book =
        Book::open(root, true, cli::commands::understood).unwrap_or_else(|error| panic!("{error}"));
    book.check()
}

#[test]
fn chapters_name_what_exists() {
    assert_eq!(problems(&ptx::root()), Vec::<String>::new());
}

/// The problems of a copy of the repository, as links, with these chapters in place of its own:
/// `0.md` and so on.
#[cfg(unix)]
fn with_chapters(texts: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(ptx::root()).expect("a repository").flatten() {
        if entry.file_name() != "book" {
            let link = dir.path().join(entry.file_name());
            std::os::unix::fs::symlink(entry.path(), link).expect("it is linked");
        }
    }
    let chapters = dir.path().join("book/src");
    fs::create_dir_all(&chapters).expect("it is made");
    let mut summary = "# Summary\n\n".to_owned();
    for (number, text) in texts.iter().enumerate() {
        summary += &format!("- [{number}]({number}.md)\n");
        fs::write(chapters.join(format!("{number}.md")), text).expect("written");
    }
    fs::write(chapters.join("SUMMARY.md"), summary).expect("written");
    problems(dir.path())
}

#[cfg(unix)]
#[test]
fn what_is_wrong_in_a_chapter_is_told() {
    let wrong = [
        ("{{#kernel transpose_paded}}", "transpose_padded"),
        ("{{#counts no_such_lesson}}", "no lesson or kernel"),
        ("{{#count copy load-conflict}}", "is not one of"),
        ("{{#time copy size=8x8}}", "no such time"),
        ("{{#gain copy transpose_shared}}", "name a size"),
        ("{{#item no_such_item}}", "there is no item"),
        ("{{#file no/such/file.rs}}", "No such file"),
        (
            "{{#banks rows=32 cols=32 access=sideways}}",
            "is not an access",
        ),
        ("{{#banks rows=32 cols=24 layout=xor}}", "power of two"),
        ("{{#live tile rows=32}}", "`columns=` is missing"),
        ("{{#terminal profil copy}}", "unrecognized subcommand"),
        (
            "{{#document docs/checks.md \"No such heading\"}}",
            "has no heading",
        ),
        ("{{#fragment m1n1}}", "is not a fragment"),
        ("{{#numbers copy}}", "there is no such directive"),
        ("[x](two.md)", "there is no chapter `two.md`"),
        ("# One\n\n[x](#two)", "has no heading `#two`"),
    ];
    let right = "# One\n\n{{#kernel copy}} [x](#one)";
    let texts: Vec<&str> = wrong.iter().map(|(text, _)| *text).collect();
    let problems = with_chapters(&[&texts[..], &[right]].concat());
    assert_eq!(problems.len(), wrong.len(), "{problems:?}");
    for (number, (text, expected)) in wrong.iter().enumerate() {
        let place = format!("book/src/{number}.md:");
        let is_told = |problem: &&String| problem.starts_with(&place) && problem.contains(expected);
        let n_told = problems.iter().filter(is_told).count();
        assert_eq!(n_told, 1, "{text}: {problems:?}");
    }
}

fn chapter(name: &str) -> String {
    let path = ptx::root().join("book/src").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The chapters in reading order.
fn chapters() -> Vec<String> {
    let links = chapter("SUMMARY.md");
    let names = links.split("](").skip(1);
    names
        .filter_map(|rest| rest.split_once(')').map(|(name, _)| name.to_owned()))
        .collect()
}

#[test]
fn questions_at_the_end_have_answers_to_unfold() {
    let mut n_answers = 0;
    for name in chapters() {
        let text = chapter(&name);
        let Some((_, exercise)) = text.split_once("\n## Exercise\n") else {
            continue;
        };
        if !exercise.contains('?') {
            continue;
        }
        let (question, answer) = exercise
            .split_once("<details>\n<summary>Answer</summary>\n\n")
            .unwrap_or_else(|| panic!("{name}: the question has no answer"));
        let (answer, _) = answer.split_once("\n</details>").expect("it is closed");
        assert!(question.contains('?') && answer.len() > 100, "{name}");
        n_answers += 1;
    }
    assert!(n_answers >= 19, "only {n_answers} questions were found");
}

#[test]
fn the_words_are_defined_before_the_first_kernel_and_lead_to_their_chapters() {
    let order = chapters();
    let place = |name: &str| order.iter().position(|other| other == name);
    let (words, first) = (place("words.md"), place("first-kernel.md"));
    assert!(words.is_some() && words < first, "{order:?}");
    let text = chapter("words.md");
    for word in [
        "thread",
        "warp",
        "lane",
        "block",
        "grid",
        "sector",
        "bank",
        "wavefront",
    ] {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| **{word}** | ")));
        let row = row.unwrap_or_else(|| panic!("`{word}` is not defined"));
        assert!(row.contains(".md)"), "`{word}` leads nowhere");
    }
}
