//! The page of all lessons, and the page of a run: their contents, and that they load nothing
//! from elsewhere.

use super::support::{edited, fails, has, passes, with_bad_load, without_xor, xtask};
use host::registry::{LESSONS, kernels};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const MOST_BYTES: usize = 3_000_000;
const FAILED: &str = "<span class=\"badge bad\">failed</span>";

/// The page in a folder.
fn page(folder: &Path) -> String {
    fs::read_to_string(folder.join("index.html")).expect("it was written")
}

/// The text between each `before` and the next quotation mark.
fn attributes<'p>(page: &'p str, before: &str) -> Vec<&'p str> {
    let values = page.split(before).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

/// Nothing is loaded, links lead to places of the page, and names of places are unique.
fn holds_together(page: &str) {
    for loading in [
        " src=",
        "url(",
        "@import",
        "http-equiv=\"refresh",
        "<link",
        "<iframe",
        "<object",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
    ] {
        assert!(!page.contains(loading), "the page has `{loading}`");
    }
    assert!(page.contains("default-src 'none'"));
    for address in ["http://", "https://", "//cdn"] {
        assert!(!page.contains(address), "the page names {address}");
    }
    let ids = attributes(page, " id=\"");
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len(), "an id is there twice");
    assert!(ids.iter().all(|id| !id.contains(char::is_whitespace)));
    for link in attributes(page, " href=\"") {
        let target = link.strip_prefix('#');
        let is_known = target.is_some_and(|id| id.is_empty() || unique.contains(&id));
        assert!(is_known, "{link} leads nowhere");
    }
}

#[test]
fn the_page_of_all_lessons_is_small_and_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(&xtask(format!(
        "report --quick {}",
        folder.path().display()
    )));
    let page = page(folder.path());
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
    holds_together(&page);
    for lesson in LESSONS {
        assert!(page.contains(&format!("<section class=\"group\" id=\"{}\"", lesson.id)));
    }
    for registered in kernels() {
        let anchor = format!("{}/{}", registered.lesson.id, registered.kernel.id);
        let article = format!("<article class=\"kernel\" id=\"{anchor}\"");
        let row = format!("<tr data-kernel=\"{anchor}\"");
        assert!(page.contains(&article) && page.contains(&row), "{anchor}");
    }
    // From Rust's generics and references.
    assert!(page.contains("::&lt;") && page.contains("&amp;mut"));
    // Times come with engine and device; where there are none, the page says so.
    assert!(page.contains("Times: GPU, NVIDIA H200, driver for CUDA"));
    assert!(page.contains("not measured"));
    for wrong in ["NaN", "inf ms", "undefined", "null ms"] {
        assert!(!shown(&page).contains(wrong), "{wrong}");
    }
    assert!(page.contains("32-way bank conflict") && page.contains("Graphene, "));
}

/// The page without its style, its script and its packed parts.
fn shown(page: &str) -> String {
    let mut text = page.to_owned();
    for tag in ["script", "style"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..].find(&close).expect("it ends") + start + close.len();
            text.replace_range(start..end, "");
        }
    }
    text
}

/// Runs a kernel of an edited module, and returns the page.
fn page_of_edited(kernel: &str, edit: impl Fn(&str) -> String) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = edited(folder.path(), kernel, edit);
    let dir = folder.path().join("report/of");
    let run = format!("run-all --quick --filter {kernel} --ptx {}", ptx.display());
    fails(&xtask(format!("{run} --report {}", dir.display())), 1, &[]);
    page(&dir)
}

#[test]
fn a_run_that_failed_is_shown_as_failed() {
    let page = page_of_edited("transpose_swizzled", |text| without_xor(text, 1));
    holds_together(&page);
    let shown = shown(&page);
    let words = [
        "<span class=\"bad\">1 failed</span>",
        FAILED,
        "elements are wrong; first at row 0, column 1",
        "Times: not measured",
    ];
    has(&shown, &words);
    // Other kernels did not run, and the saved measurements are not of this module.
    assert_eq!(page.matches("<article class=\"kernel\"").count(), 1);
    assert!(!shown.contains("H200"));
}

#[test]
fn a_kernel_with_bad_counts_is_shown_as_failed_with_its_line() {
    let page = page_of_edited("transpose_swizzled", |text| without_xor(text, 2));
    let counts = "bank conflicts per shared load request: expected 0, counted 31";
    has(&shown(&page), &[FAILED, counts, "32-way bank conflict"]);
}

/// Nothing was counted then, and the page says so.
#[test]
fn a_fault_is_shown_with_its_reason() {
    let page = page_of_edited("transpose_coalesced_read", with_bad_load);
    let words = [FAILED, "past the end of", "Not counted: a run failed."];
    has(&shown(&page), &words);
}

#[test]
fn a_folder_that_cannot_be_made_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    for words in [
        "report --filter=copy",
        "run-all --filter=copy --quick --report",
    ] {
        let output = xtask(format!("{words} {}/report", file.display()));
        fails(&output, 2, &["cannot be made"]);
    }
}
