//! The findings as a page for a browser: one file, nothing to fetch. It suits phones and wide
//! screens, light and dark themes, keyboards and screen readers.
//!
//! Of thousands of findings the browser lays out only those in view; long lists of lines are
//! collapsed at first.

use crate::found::{Finding, Found, Kernel, Leak, Line, plural};
use crate::sources::{Excerpt, Sources};
use lockstep_page::numbers::{NONE, grouped};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Lists of more lines are collapsed at first.
const MOST_OPEN: usize = 40;
/// From this many findings on, there is a filter box.
const WORTH_FILTERING: usize = 5;

/// The whole page.
pub fn page(found: &Found) -> String {
    let sources = &mut Sources::default();
    let program = found.run.command.first();
    let program = program.map_or("A program", String::as_str);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (program) " on the simulator: " (found.in_short()) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#findings" { "Skip to the findings" }
                header {
                    h1 { (program) " " span class="faint" { "on the simulator" } }
                    div class=(if found.is_bad() { "bad" } else { "good" }) { (found.in_short()) }
                    (navigation(found))
                }
                main {
                    (summary(found))
                    (findings(found, sources))
                    (notes(found, sources))
                    (kernels(found))
                    (lines(found, sources))
                    (leaks(found))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn navigation(found: &Found) -> Markup {
    let sections = [
        ("summary", "Summary", None),
        ("findings", "Findings", Some(found.n_findings())),
        ("notes", "Notes", Some(found.notes.len() as u64)),
        ("kernels", "Kernels", Some(found.kernels.len() as u64)),
        ("lines", "Lines", Some(n_lines(found) as u64)),
        ("leaks", "Never freed", Some(found.leaks.len() as u64)),
    ];
    html! {
        nav aria-label="Sections" {
            ul {
                @for (id, name, n) in sections {
                    li {
                        a href=(format!("#{id}")) { (name) } " "
                        span class="faint" { @if let Some(n) = n { (grouped(n)) } }
                    }
                }
            }
        }
    }
}

fn n_lines(found: &Found) -> usize {
    let kernels = found.kernels.values();
    kernels.map(|kernel| kernel.lines.len()).sum()
}

fn section(id: &str, name: &str, content: Markup) -> Markup {
    html! {
        section id=(id) class=(id) aria-labelledby=(format!("{id}-name")) {
            h2 id=(format!("{id}-name")) { (name) }
            (content)
        }
    }
}

/// A remark on a whole section.
fn faint(text: &str) -> Markup {
    html! { p class="faint" { (text) } }
}

fn summary(found: &Found) -> Markup {
    let (run, machine) = (&found.run, &found.machine);
    let devices = plural(u64::from(machine.n_devices), "device", "devices");
    let gib = machine.memory_bytes as f64 / f64::from(1 << 30);
    let (name, compute) = (&machine.name, &machine.compute);
    let mut looked_for = Vec::new();
    if machine.check {
        looked_for.push("checks (--check)".to_owned());
    }
    if machine.counters {
        looked_for.push("bank conflicts and sectors (--counters)".to_owned());
    }
    if machine.schedules > 0 {
        looked_for.push(format!("{} other orders (--schedules)", machine.schedules));
    }
    if let Some(schedule) = &machine.schedule {
        looked_for.push(format!("all launches under schedule {schedule}"));
    }
    if looked_for.is_empty() {
        looked_for.push("what is checked in every launch".to_owned());
    }
    let rows = [
        ("command", run.in_words()),
        ("exit status", run.status.to_string()),
        ("time", format!("{:.3} s", run.seconds)),
        (
            "devices",
            format!("{devices}: {name}, compute capability {compute}, {gib:.1} GiB each"),
        ),
        ("looked for", looked_for.join("; ")),
    ];
    let rows = html! { dl { @for (name, text) in rows { dt { (name) } dd { (text) } } } };
    section("summary", "Summary", rows)
}

fn findings(found: &Found, sources: &mut Sources) -> Markup {
    let content = html! {
        @if !found.is_bad() { (faint("Nothing was found.")) }
        @for text in &found.not_loaded { article { pre { (text) } } }
        @if found.findings.len() >= WORTH_FILTERING {
            div class="filter" hidden {
                label for="filter" { "Show those containing" }
                input id="filter" type="search";
                span id="shown" class="faint" role="status" {}
            }
        }
        (articles("finding", &found.findings, found, sources))
        @if found.n_more_findings > 0 {
            @let n = plural(found.n_more_findings, "finding that is", "findings that are");
            (faint(&format!("And {n} the same as one above, or beyond what is kept.")))
        }
    };
    section("findings", "Findings", content)
}

fn notes(found: &Found, sources: &mut Sources) -> Markup {
    let about = match found.notes.is_empty() {
        true => "There are none.",
        false => "Results that depend on the order of threads, as atomics may allow.",
    };
    let content = html! { (faint(about)) (articles("note", &found.notes, found, sources)) };
    section("notes", "Notes", content)
}

fn articles(what: &str, findings: &[Finding], found: &Found, sources: &mut Sources) -> Markup {
    html! {
        @for (number, finding) in (1..).zip(findings) {
            @let id = format!("{what}-{number}");
            article id=(id) aria-labelledby=(format!("{id}-name")) {
                h3 id=(format!("{id}-name")) {
                    @if finding.kernel.is_empty() {
                        "Between streams"
                    } @else {
                        "Launch " (finding.launch) " of " code { (finding.kernel) }
                    }
                    (finding.where_and_how())
                }
                pre { (finding.text) }
                @if let Some(again) = finding.again(found) {
                    p { "All launches in that order: " code { (again) } }
                }
                @for excerpt in sources.excerpts(&finding.text) { (source(&excerpt)) }
            }
        }
    }
}

fn source(excerpt: &Excerpt) -> Markup {
    html! {
        figure {
            figcaption { (excerpt.file) ", line " (excerpt.line) }
            div class="source" {
                @for (number, code) in &excerpt.lines {
                    div class=[(*number == excerpt.line).then_some("meant")] {
                        span class="number" { (number) }
                        span class="code" { (code) }
                    }
                }
            }
        }
    }
}

/// The head of a table: the first columns have text, the others figures.
fn headings(n_of_text: usize, names: &[&str]) -> Markup {
    html! {
        thead {
            tr {
                @for (at, name) in names.iter().enumerate() {
                    th class=[(at < n_of_text).then_some("left")] scope="col" { (name) }
                }
            }
        }
    }
}

/// A figure, with its name for where there are no headings.
fn cell(label: &str, text: &str) -> Markup {
    html! { td data-label=(label) { (text) } }
}

/// A number that should be 0.
fn marked(label: &str, n: u64) -> Markup {
    html! { td data-label=(label) { span class=[(n > 0).then_some("bad")] { (grouped(n)) } } }
}

fn kernels(found: &Found) -> Markup {
    if found.kernels.is_empty() {
        return section("kernels", "Kernels", faint("No kernel was launched."));
    }
    let names = [
        "kernel",
        "launches",
        "ended badly",
        "with findings",
        "seconds",
        "tried in other orders",
    ];
    let content = html! {
        table class="many" {
            (headings(1, &names))
            tbody {
                @for (name, kernel) in &found.kernels {
                    tr {
                        th class="left" scope="row" { code { (name) } }
                        (cell("launches", &grouped(kernel.n_launches)))
                        (marked("ended badly", kernel.n_failed))
                        (marked("with findings", kernel.n_found))
                        (cell("seconds", &format!("{:.3}", kernel.seconds)))
                        (cell("tried in other orders", &tried(kernel)))
                    }
                }
            }
        }
        @for (name, kernel) in &found.kernels { (about_kernel(name, kernel)) }
    };
    section("kernels", "Kernels", content)
}

fn tried(kernel: &Kernel) -> String {
    match kernel.n_tried {
        0 => NONE.to_owned(),
        n => format!("{} in {:.3} s", grouped(n), kernel.seconds_tried),
    }
}

/// Counts of a kernel, and why it was not tried.
fn about_kernel(name: &str, kernel: &Kernel) -> Markup {
    html! {
        @if kernel.n_unchecked > 0 {
            p { code { (name) } ": " (kernel.unchecked()) }
        }
        @if let Some(why) = &kernel.not_tried {
            p { code { (name) } " was not tried in other orders: " (why) }
        }
        @if !kernel.counts.is_empty() {
            details {
                summary { "Counts of " code { (name) } }
                table {
                    (headings(1, &["count", "all launches"]))
                    tbody {
                        @for (what, n) in &kernel.counts {
                            tr {
                                th class="left" scope="row" { (what.replace('_', " ")) }
                                td { (grouped(*n)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn lines(found: &Found, sources: &mut Sources) -> Markup {
    let content = html! {
        @if n_lines(found) == 0 {
            @if found.machine.counters {
                (faint("There are none."))
            } @else {
                (faint("They were not counted: use --counters."))
            }
        }
        @for (name, kernel) in &found.kernels {
            @if !kernel.lines.is_empty() { (lines_of(name, &kernel.lines, sources)) }
        }
    };
    let name = "Lines with bank conflicts or more sectors than needed";
    section("lines", name, content)
}

fn lines_of(kernel: &str, lines: &[Line], sources: &mut Sources) -> Markup {
    let names = ["line", "instruction", "bank conflicts", "sectors", "needed"];
    html! {
        details open[lines.len() <= MOST_OPEN] {
            summary { code { (kernel) } ": " (plural(lines.len() as u64, "line", "lines")) }
            table class="many" {
                (headings(2, &names))
                tbody {
                    @for line in lines {
                        tr {
                            th class="left" scope="row" {
                                (line.place)
                                @if let Some(code) = sources.line(&line.place) { br; code { (code.trim()) } }
                            }
                            td class="left" { code { (line.opcode) } }
                            (marked("bank conflicts", line.conflicts))
                            (cell("sectors", &grouped(line.sectors)))
                            (cell("needed", &grouped(line.ideal_sectors)))
                        }
                    }
                }
            }
        }
    }
}

/// Allocations that the same calls made.
#[derive(Default)]
struct Alike<'a> {
    leaks: Vec<&'a Leak>,
    n_bytes: u64,
}

fn leaks(found: &Found) -> Markup {
    let mut by_frames: BTreeMap<&[String], Alike<'_>> = BTreeMap::new();
    for leak in &found.leaks {
        let alike = by_frames.entry(&leak.frames).or_default();
        alike.leaks.push(leak);
        alike.n_bytes += leak.n_bytes;
    }
    let mut largest: Vec<(&[String], Alike<'_>)> = by_frames.into_iter().collect();
    largest.sort_by_key(|(_, alike)| std::cmp::Reverse(alike.n_bytes));
    let content = html! {
        @if largest.is_empty() { (faint("Every allocation was freed.")) }
        @else { ul { @for (frames, alike) in &largest { (leaks_of(frames, alike)) } } }
    };
    section("leaks", "Never freed", content)
}

fn leaks_of(frames: &[String], alike: &Alike<'_>) -> Markup {
    let n = plural(alike.leaks.len() as u64, "allocation", "allocations");
    let first = alike.leaks.first().map_or(0, |leak| leak.address);
    let at = match alike.leaks.len() {
        1 => "at",
        _ => "the first at",
    };
    html! {
        li {
            (n) ", " (grouped(alike.n_bytes)) " bytes, " (at) " " code { (format!("{first:#x}")) }
            @if frames.is_empty() {
                " " span class="faint" { "(made by calls that have no names)" }
            } @else {
                ", made by"
                ol class="frames" { @for frame in frames { li { code { (frame) } } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::found::Found;
    use serde_json::{Value, json};

    fn page_of(found: Value) -> String {
        page(&serde_json::from_value::<Found>(found).unwrap())
    }

    /// A program's words are not markup, wherever they are shown.
    #[test]
    fn text_is_no_markup() {
        let bad = "<script>alert('\"&')</script>";
        let finding = json!({"kernel": bad, "launch": 1, "schedule": bad, "text": bad});
        let lines = json!([{"place": bad, "opcode": bad, "conflicts": 1}]);
        let page = page_of(json!({
            "run": {"command": [bad, bad], "status": 1, "seconds": 0.5},
            "machine": {"name": bad, "compute": bad, "schedule": bad},
            "kernels": {bad: {"not_tried": bad, "counts": {bad: 1}, "lines": lines}},
            "findings": [finding],
            "not_loaded": [bad],
            "notes": [finding],
            "leaks": [{"address": 16, "n_bytes": 1, "frames": [bad]}],
        }));
        let own_script = 1;
        assert_eq!(page.matches("<script").count(), own_script);
        assert!(!page.contains("<script>alert"));
        let times = page.matches("&lt;script&gt;alert('&quot;&amp;')&lt;/script&gt;");
        assert!(times.count() >= 17);
    }

    #[test]
    fn all_is_told() {
        let page = page_of(json!({
            "run": {"command": ["./a", "-n", "b's c"], "status": 3, "seconds": 1.5},
            "machine": {"n_devices": 2, "memory_bytes": 1_u64 << 30, "check": true, "schedules": 9},
            "kernels": {"k": {"n_launches": 12345, "n_unchecked": 3, "counts": {"warp_instructions": 77}, "lines": [
                {"place": "a.cu:7", "opcode": "ld.shared.f32", "conflicts": 31},
            ]}},
            "findings": [{"kernel": "k", "launch": 2, "device": 7, "schedule": "3/warps", "text": "it differs"}],
            "n_more_findings": 4,
            "not_loaded": ["a module cannot be loaded: only machine code"],
            "leaks": [
                {"address": 4096, "n_bytes": 16, "frames": ["main at a.cu:3"]},
                {"address": 8192, "n_bytes": 16, "frames": ["main at a.cu:3"]},
            ],
        }));
        for part in [
            r"<dd>./a -n 'b'\''s c'</dd>",
            "<dt>exit status</dt><dd>3</dd>",
            "2 devices",
            "9 other orders",
            "5 findings; 1 module not loaded; 2 allocations never freed",
            "<pre>a module cannot be loaded: only machine code</pre>",
            "12,345",
            "warp instructions",
            "a.cu:7",
            "3 launches ran without checks",
            " on device 7, under schedule 3/warps",
            "sim-run --schedule 3/warps",
            "it differs",
            "2 allocations, 32 bytes, the first at <code>0x1000</code>",
            "main at a.cu:3",
        ] {
            assert!(page.contains(part), "{part} is not in:\n{page}");
        }
        // Nothing is fetched.
        assert!(!page.contains("http") && !page.contains("src=") && !page.contains("@import"));
    }

    #[test]
    fn an_empty_report_is_a_page() {
        let page = page_of(json!({}));
        assert!(page.contains("Nothing was found.") && page.ends_with("</html>"));
    }
}
