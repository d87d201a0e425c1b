//! Code in README and docs/tools.md: it is in the repository, and lines have the right numbers.

use crate::repository::{files_below, text};

/// The source of README's first kernel, and of the profile in docs/tools.md.
const SOURCE: &str = "gpu-kernels/src/04_transpose/01_tiles.rs";

/// The texts of a document's blocks in a language.
fn blocks<'t>(document: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("\n```{language}\n");
    document
        .split(&start)
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap_or(rest))
        .collect()
}

/// The paragraphs of `code` that `source` does not have, verbatim and in order.
fn missing<'c>(code: &'c str, source: &str) -> Vec<&'c str> {
    let mut rest = source;
    let mut missing = Vec::new();
    for paragraph in code.split("\n\n") {
        match rest.split_once(paragraph) {
            Some((_, after)) => rest = after,
            None => missing.push(paragraph),
        }
    }
    missing
}

/// A text without the indentation of its lines.
fn unindented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    lines.join("\n")
}

/// The lines of a profile in `document`, `88% ██░░  158     code`, that are not those of
/// `source`; a line that was cut ends in `…`.
fn misnumbered<'d>(document: &'d str, source: &str) -> Vec<&'d str> {
    let lines: Vec<&str> = source.lines().collect();
    let is_wrong = |shown: &&str| {
        let after_bar = shown.trim_start_matches(|c: char| " 0123456789%█░".contains(c));
        let before = &shown[..shown.len() - after_bar.len()];
        let digits = before.trim_end().rsplit(' ').next().unwrap_or_default();
        let Ok(number) = digits.parse::<usize>() else {
            return false;
        };
        // The column with numbers ends at the same place in every line.
        let Some(at) = shown.find(&format!(" {digits} ")) else {
            return false;
        };
        let code = &shown[at + digits.len() + 2..];
        let actual = lines.get(number.wrapping_sub(1)).copied();
        let actual = actual.unwrap_or_default();
        match code.strip_suffix('…') {
            Some(start) => !actual.starts_with(start),
            None => actual != code,
        }
    };
    let listed = document.lines().filter(is_listing);
    listed.filter(is_wrong).collect()
}

/// Whether a line is one of a profile's listing: at least 20 columns, of which all but
/// a share and a bar are blank, before the line's number.
fn is_listing(line: &&str) -> bool {
    let start: String = line.chars().take(20).collect();
    let is_free = start.chars().all(|c| " 0123456789%█░".contains(c));
    is_free && start.chars().count() == 20 && line.trim().len() > 4
}

/// The places in `document`, `01_copy.rs:12 (…)` with the code below, where the source has
/// other code; `read` gives a file's text by its name.
fn misplaced<'d>(document: &'d str, read: &dyn Fn(&str) -> Option<String>) -> Vec<&'d str> {
    let lines: Vec<&str> = document.lines().collect();
    let is_wrong = |pair: &&[&str]| {
        let (place, code) = (pair[0], pair[1]);
        let Some((file, number)) = place.split(' ').next().and_then(|at| at.split_once(".rs:"))
        else {
            return false;
        };
        if file.contains('/') {
            return false;
        }
        let is_code = code
            .strip_prefix("    ")
            .is_some_and(|code| !code.starts_with(' '));
        let Ok(number) = number.parse::<usize>() else {
            return false;
        };
        let actual = read(&format!("{file}.rs"))
            .and_then(|text| Some(text.lines().nth(number.checked_sub(1)?)?.trim().to_owned()));
        is_code && actual.as_deref() != Some(code.trim())
    };
    let pairs = lines.windows(2).filter(is_wrong);
    pairs.map(|pair| pair[0]).collect()
}

/// The lines of `document`, `src/kernels.rs:12  code`, with another code than `source` has there.
fn mistold<'d>(document: &'d str, source: &str) -> Vec<&'d str> {
    let is_wrong = |line: &&str| {
        let Some((number, code)) = line
            .trim()
            .strip_prefix("src/kernels.rs:")
            .and_then(|rest| rest.split_once("  "))
        else {
            return false;
        };
        let number: usize = number.parse().expect("a line's number");
        source.lines().nth(number - 1).map(str::trim) != Some(code)
    };
    document.lines().filter(is_wrong).collect()
}

/// The text of the kernels' file with that name.
fn kernels_file(name: &str) -> Option<String> {
    let files = files_below("gpu-kernels/src");
    let with_name = |file: &&String| file.rsplit('/').next() == Some(name);
    files.iter().find(with_name).map(|file| text(file))
}

#[test]
fn the_kernel_at_the_top_is_one_that_runs() {
    let readme = text("README.md");
    let blocks = blocks(&readme, "rust");
    let [plain, ..] = blocks[..] else {
        panic!("README shows a kernel");
    };
    assert!(plain.contains("#[kernel"), "{plain}");
    assert_eq!(missing(plain, &text(SOURCE)), [""; 0]);
    assert!(plain.lines().count() <= 30, "it is read at a glance");
}

#[test]
fn other_code_is_the_templates() {
    let readme = text("README.md");
    let template = unindented(&text("template/tests/transpose.rs"));
    for code in blocks(&readme, "rust").into_iter().skip(1) {
        assert_eq!(missing(&unindented(code), &template), [""; 0]);
    }
}

#[test]
fn lines_of_the_profile_have_their_numbers() {
    let tools = text("docs/tools.md");
    let n_lines = tools.lines().filter(is_listing).count();
    assert!(n_lines > 10, "only {n_lines} lines");
    assert_eq!(misnumbered(&tools, &text(SOURCE)), [""; 0]);
}

#[test]
fn places_have_the_code_that_is_shown_below() {
    let (readme, tools) = (text("README.md"), text("docs/tools.md"));
    assert!(tools.contains("02_coalescing.rs:"));
    assert_eq!(misplaced(&tools, &kernels_file), [""; 0]);
    assert!(readme.contains("src/kernels.rs:"));
    assert_eq!(mistold(&readme, &text("template/src/kernels.rs")), [""; 0]);
}

#[test]
fn readme_is_read_in_two_minutes() {
    let n_lines = text("README.md").lines().count();
    assert!(n_lines <= 200, "{n_lines} lines");
}

#[test]
fn code_that_differs_is_found() {
    let source = "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n";
    assert!(missing("fn a() {\n    1\n}\n\nfn b() {\n    2\n}", source).is_empty());
    assert_eq!(missing("fn a() {\n    3\n}", source).len(), 1);
    // In another order.
    let swapped = "fn b() {\n    2\n}\n\nfn a() {";
    assert_eq!(missing(swapped, source), ["fn a() {"]);
}

#[test]
fn lines_with_other_numbers_are_found() {
    let source = "fn a() {\n    let x = tile.get(1);\n}\n";
    let free = " ".repeat(23);
    let right = format!("{free}  1 fn a() {{\n 88% ██░░░░░░░░░░░░░░    2     let x = tile.g…\n");
    assert_eq!(misnumbered(&right, source), [""; 0]);
    let wrong = right.replace("  1 fn", "  3 fn");
    assert_eq!(misnumbered(&wrong, source).len(), 1);
    let other_code = right.replace("let x", "let y");
    assert_eq!(misnumbered(&other_code, source).len(), 1);
    let prose = "Text with 12 numbers in it.\n";
    assert_eq!(misnumbered(prose, source), [""; 0]);
}

#[test]
fn a_place_with_other_code_is_found() {
    let read = |name: &str| (name == "01_a.rs").then(|| "fn a() {\n    f(1);\n}\n".to_owned());
    let right = "01_a.rs:2 (b.rs:7)  ld (PTX line 3)\n    f(1);\n";
    assert_eq!(misplaced(right, &read), [""; 0]);
    for wrong in [
        right.replace("a.rs:2", "a.rs:1"),
        right.replace("f(1)", "f(2)"),
        right.replace("01_a", "01_c"),
    ] {
        assert_eq!(misplaced(&wrong, &read).len(), 1, "{wrong}");
    }
    let told = "  src/kernels.rs:2  f(1);\n";
    assert_eq!(mistold(told, "fn a() {\n    f(1);\n}\n"), [""; 0]);
    assert_eq!(mistold(told, "fn a() {\n    f(2);\n}\n"), [told.trim_end()]);
    let table = "01_a.rs:1 (b.rs:7)\n   564  ld.global.b32\n";
    assert_eq!(misplaced(table, &read), [""; 0]);
}
