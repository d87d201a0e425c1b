//! What was found out, as a page for a browser: one file, nothing to fetch. It suits a phone and
//! a wide screen, light and dark, keyboards and screen readers.
//!
//! Whatever comes from the program is escaped. Of thousands of findings the browser lays out
//! those in view; long lists of lines are closed at first.

use super::found::{Finding, Found, Kernel, Leak, Line, plural};
use super::sources::{Excerpt, Sources};
use std::collections::BTreeMap;
use std::fmt::{Result, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Lists of more lines are closed at first.
const MOST_OPEN: usize = 40;
/// Findings from which on there is a box to filter them by.
const WORTH_FILTERING: usize = 5;

/// The whole page.
pub fn page(found: &Found) -> String {
    let mut page = String::new();
    // Writing to a string never fails.
    let _ = write(&mut page, found);
    page
}

fn write(page: &mut String, found: &Found) -> Result {
    let mut sources = Sources::default();
    heading(page, found)?;
    writeln!(page, "<main>")?;
    summary(page, found)?;
    findings(page, found, &mut sources)?;
    notes(page, found, &mut sources)?;
    kernels(page, found)?;
    lines(page, found, &mut sources)?;
    leaks(page, found)?;
    writeln!(
        page,
        "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>"
    )
}

fn heading(page: &mut String, found: &Found) -> Result {
    let program = escaped(
        found
            .run
            .command
            .first()
            .map_or("A program", String::as_str),
    );
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{program} on the simulator: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n<header>\n\
         <h1>{program} <span class=\"faint\">on the simulator</span></h1>",
        escaped(&found.in_short())
    )?;
    let class = if found.is_bad() { "bad" } else { "good" };
    writeln!(page, "<div class=\"{class}\">{}</div>", found.in_short())?;
    writeln!(page, "<nav aria-label=\"Sections\"><ul>")?;
    for (id, name, n) in [
        ("summary", "Summary", None),
        ("findings", "Findings", Some(found.n_findings())),
        ("notes", "Notes", Some(found.notes.len() as u64)),
        ("kernels", "Kernels", Some(found.kernels.len() as u64)),
        ("lines", "Lines", Some(n_lines(found) as u64)),
        ("leaks", "Never freed", Some(found.leaks.len() as u64)),
    ] {
        let n = n.map(grouped).unwrap_or_default();
        writeln!(
            page,
            "<li><a href=\"#{id}\">{name}</a> <span class=\"faint\">{n}</span></li>"
        )?;
    }
    writeln!(page, "</ul></nav>\n</header>")
}

fn n_lines(found: &Found) -> usize {
    found
        .kernels
        .values()
        .map(|kernel| kernel.lines.len())
        .sum()
}

fn section(page: &mut String, id: &str, name: &str) -> Result {
    writeln!(
        page,
        "<section id=\"{id}\" class=\"{id}\" aria-labelledby=\"{id}-name\">"
    )?;
    writeln!(page, "<h2 id=\"{id}-name\">{name}</h2>")
}

fn end(page: &mut String) -> Result {
    writeln!(page, "</section>")
}

/// Says that there is nothing of a kind.
fn none(page: &mut String, text: &str) -> Result {
    writeln!(page, "<p class=\"faint\">{text}</p>")
}

fn summary(page: &mut String, found: &Found) -> Result {
    let (run, machine) = (&found.run, &found.machine);
    section(page, "summary", "Summary")?;
    writeln!(page, "<dl>")?;
    let mut row =
        |name: &str, text: &str| writeln!(page, "<dt>{name}</dt><dd>{}</dd>", escaped(text));
    let arguments: Vec<String> = run.command.iter().map(|a| quoted(a)).collect();
    row("command", &arguments.join(" "))?;
    row("exit status", &run.status.to_string())?;
    row("time", &format!("{:.3} s", run.seconds))?;
    let devices = plural(u64::from(machine.n_devices), "device", "devices");
    let gib = machine.memory_bytes as f64 / f64::from(1 << 30);
    let (name, compute) = (&machine.name, &machine.compute);
    let memory = format!("{gib:.1} GiB each");
    row(
        "devices",
        &format!("{devices}: {name}, compute capability {compute}, {memory}"),
    )?;
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
        looked_for.push("what every launch is held to".to_owned());
    }
    row("looked for", &looked_for.join("; "))?;
    writeln!(page, "</dl>")?;
    end(page)
}

fn findings(page: &mut String, found: &Found, sources: &mut Sources) -> Result {
    section(page, "findings", "Findings")?;
    if !found.is_bad() {
        none(page, "Nothing was found.")?;
    }
    for text in &found.not_loaded {
        writeln!(page, "<article><pre>{}</pre></article>", escaped(text))?;
    }
    if found.findings.len() >= WORTH_FILTERING {
        writeln!(
            page,
            "<div class=\"filter\" hidden><label for=\"filter\">Show those with</label>\
             <input id=\"filter\" type=\"search\">\
             <span id=\"shown\" class=\"faint\" role=\"status\"></span></div>"
        )?;
    }
    for (i, finding) in found.findings.iter().enumerate() {
        one_finding(page, &format!("finding-{}", i + 1), finding, sources)?;
    }
    if found.n_more_findings > 0 {
        let n = plural(
            found.n_more_findings,
            "finding that is",
            "findings that are",
        );
        let text = format!("And {n} the same as one above, or beyond what is kept.");
        none(page, &text)?;
    }
    end(page)
}

fn notes(page: &mut String, found: &Found, sources: &mut Sources) -> Result {
    section(page, "notes", "Notes")?;
    if found.notes.is_empty() {
        none(page, "There are none.")?;
    } else {
        none(
            page,
            "Results that depend on the order of threads, as atomics may leave them open.",
        )?;
    }
    for (i, note) in found.notes.iter().enumerate() {
        one_finding(page, &format!("note-{}", i + 1), note, sources)?;
    }
    end(page)
}

fn one_finding(page: &mut String, id: &str, finding: &Finding, sources: &mut Sources) -> Result {
    writeln!(page, "<article id=\"{id}\" aria-labelledby=\"{id}-name\">")?;
    let schedule = finding.schedule.as_ref();
    let order = schedule.map_or_else(String::new, |s| format!(", under schedule {}", escaped(s)));
    writeln!(
        page,
        "<h3 id=\"{id}-name\">Launch {} of <code>{}</code>{order}</h3>\n<pre>{}</pre>",
        finding.launch,
        escaped(&finding.kernel),
        escaped(&finding.text)
    )?;
    if let Some(again) = finding.again() {
        writeln!(
            page,
            "<p>All launches in that order: <code>{}</code></p>",
            escaped(&again)
        )?;
    }
    for excerpt in sources.excerpts(&finding.text) {
        source(page, &excerpt)?;
    }
    writeln!(page, "</article>")
}

fn source(page: &mut String, excerpt: &Excerpt) -> Result {
    let (file, line) = (escaped(&excerpt.file), excerpt.line);
    writeln!(
        page,
        "<figure><figcaption>{file}, line {line}</figcaption><div class=\"source\">"
    )?;
    for (number, code) in &excerpt.lines {
        let class = if *number == line {
            " class=\"meant\""
        } else {
            ""
        };
        writeln!(
            page,
            "<div{class}><span class=\"number\">{number}</span><span class=\"code\">{}</span></div>",
            escaped(code)
        )?;
    }
    writeln!(page, "</div></figure>")
}

fn kernels(page: &mut String, found: &Found) -> Result {
    section(page, "kernels", "Kernels")?;
    if found.kernels.is_empty() {
        none(page, "None was launched.")?;
        return end(page);
    }
    writeln!(
        page,
        "<table class=\"many\"><thead><tr><th class=\"left\" scope=\"col\">kernel</th>\
         <th scope=\"col\">launches</th><th scope=\"col\">ended badly</th>\
         <th scope=\"col\">with findings</th><th scope=\"col\">seconds</th>\
         <th scope=\"col\">tried in other orders</th></tr></thead><tbody>"
    )?;
    for (name, kernel) in &found.kernels {
        writeln!(
            page,
            "<tr><th class=\"left\" scope=\"row\"><code>{}</code></th>{}{}{}{}{}</tr>",
            escaped(name),
            cell("launches", &grouped(kernel.n_launches)),
            cell("ended badly", &marked(kernel.n_failed)),
            cell("with findings", &marked(kernel.n_found)),
            cell("seconds", &format!("{:.3}", kernel.seconds)),
            cell("tried in other orders", &tried(kernel))
        )?;
    }
    writeln!(page, "</tbody></table>")?;
    for (name, kernel) in &found.kernels {
        about_kernel(page, name, kernel)?;
    }
    end(page)
}

fn tried(kernel: &Kernel) -> String {
    match kernel.n_tried {
        0 => "–".to_owned(),
        n => format!("{} in {:.3} s", grouped(n), kernel.seconds_tried),
    }
}

/// Counts of a kernel, and why it was not tried.
fn about_kernel(page: &mut String, name: &str, kernel: &Kernel) -> Result {
    if let Some(why) = &kernel.not_tried {
        let (name, why) = (escaped(name), escaped(why));
        writeln!(
            page,
            "<p><code>{name}</code> was not tried in other orders: {why}</p>"
        )?;
    }
    if kernel.counts.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "<details><summary>Counts of <code>{}</code></summary>\n<table><thead><tr>\
         <th class=\"left\" scope=\"col\">what</th><th scope=\"col\">all launches</th></tr></thead>\
         <tbody>",
        escaped(name)
    )?;
    for (what, n) in &kernel.counts {
        let (what, n) = (escaped(what).replace('_', " "), grouped(*n));
        writeln!(
            page,
            "<tr><th class=\"left\" scope=\"row\">{what}</th><td>{n}</td></tr>"
        )?;
    }
    writeln!(page, "</tbody></table></details>")
}

fn lines(page: &mut String, found: &Found, sources: &mut Sources) -> Result {
    section(
        page,
        "lines",
        "Lines with bank conflicts or more sectors than needed",
    )?;
    if n_lines(found) == 0 {
        none(
            page,
            match found.machine.counters {
                true => "There are none.",
                false => "They were not counted: --counters does.",
            },
        )?;
    }
    for (name, kernel) in &found.kernels {
        if !kernel.lines.is_empty() {
            lines_of(page, name, &kernel.lines, sources)?;
        }
    }
    end(page)
}

fn lines_of(
    page: &mut String,
    kernel: &str,
    lines: &BTreeMap<String, Line>,
    sources: &mut Sources,
) -> Result {
    let open = if lines.len() <= MOST_OPEN {
        " open"
    } else {
        ""
    };
    writeln!(
        page,
        "<details{open}><summary><code>{}</code>: {}</summary>\n<table class=\"many\"><thead><tr>\
         <th class=\"left\" scope=\"col\">line</th><th class=\"left\" scope=\"col\">instruction</th>\
         <th scope=\"col\">bank conflicts</th><th scope=\"col\">sectors</th>\
         <th scope=\"col\">would do</th></tr></thead><tbody>",
        escaped(kernel),
        plural(lines.len() as u64, "line", "lines")
    )?;
    let mut costliest: Vec<(&String, &Line)> = lines.iter().collect();
    let wasted = |line: &Line| line.conflicts + line.sectors.saturating_sub(line.ideal_sectors);
    costliest.sort_by_key(|(_, line)| std::cmp::Reverse(wasted(line)));
    for (place, line) in costliest {
        let code = sources.line(place).map(|code| escaped(code.trim()));
        let code = code.map_or_else(String::new, |code| format!("<br><code>{code}</code>"));
        writeln!(
            page,
            "<tr><th class=\"left\" scope=\"row\">{}{code}</th><td class=\"left\"><code>{}</code></td>\
             {}{}{}</tr>",
            escaped(place),
            escaped(&line.opcode),
            cell("bank conflicts", &marked(line.conflicts)),
            cell("sectors", &grouped(line.sectors)),
            cell("would do", &grouped(line.ideal_sectors))
        )?;
    }
    writeln!(page, "</tbody></table></details>")
}

/// Allocations that the same calls made.
#[derive(Default)]
struct Alike<'a> {
    leaks: Vec<&'a Leak>,
    n_bytes: u64,
}

fn leaks(page: &mut String, found: &Found) -> Result {
    section(page, "leaks", "Never freed")?;
    if found.leaks.is_empty() {
        none(page, "Every allocation was freed.")?;
        return end(page);
    }
    let mut by_frames: BTreeMap<&[String], Alike<'_>> = BTreeMap::new();
    for leak in &found.leaks {
        let alike = by_frames.entry(&leak.frames).or_default();
        alike.leaks.push(leak);
        alike.n_bytes += leak.n_bytes;
    }
    let mut largest: Vec<(&[String], Alike<'_>)> = by_frames.into_iter().collect();
    largest.sort_by_key(|(_, alike)| std::cmp::Reverse(alike.n_bytes));
    writeln!(page, "<ul>")?;
    for (frames, alike) in largest {
        let n = plural(alike.leaks.len() as u64, "allocation", "allocations");
        let first = alike.leaks.first().map_or(0, |leak| leak.address);
        let at = if alike.leaks.len() == 1 {
            "at"
        } else {
            "the first at"
        };
        let n_bytes = grouped(alike.n_bytes);
        write!(
            page,
            "<li>{n}, {n_bytes} bytes, {at} <code>{first:#x}</code>"
        )?;
        if frames.is_empty() {
            write!(
                page,
                " <span class=\"faint\">(made by calls that have no names)</span>"
            )?;
        } else {
            write!(page, ", made by<ol class=\"frames\">")?;
            for frame in frames {
                write!(page, "<li><code>{}</code></li>", escaped(frame))?;
            }
            write!(page, "</ol>")?;
        }
        writeln!(page, "</li>")?;
    }
    writeln!(page, "</ul>")?;
    end(page)
}

/// An argument as a shell takes it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// A figure, with its name for where there are no headings.
fn cell(label: &str, text: &str) -> String {
    format!("<td data-label=\"{label}\">{text}</td>")
}

/// A number that is better 0.
fn marked(n: u64) -> String {
    match n {
        0 => "0".to_owned(),
        n => format!("<span class=\"bad\">{}</span>", grouped(n)),
    }
}

/// `1234567` as `1 234 567`, with spaces that do not break.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{grouped, page};
    use crate::sim_run::found::Found;
    use serde_json::{Value, json};

    fn page_of(found: Value) -> String {
        page(&serde_json::from_value::<Found>(found).unwrap())
    }

    /// A program's words are no markup, wherever they are shown.
    #[test]
    fn text_is_no_markup() {
        let bad = "<script>alert('\"&')</script>";
        let finding = json!({"kernel": bad, "launch": 1, "schedule": bad, "text": bad});
        let lines = json!({bad: {"opcode": bad, "conflicts": 1}});
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
        assert!(!page.contains("alert('"));
        let times = page.matches("&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;");
        assert!(times.count() >= 17);
    }

    #[test]
    fn all_is_told() {
        let page = page_of(json!({
            "run": {"command": ["./a", "-n", "b's c"], "status": 3, "seconds": 1.5},
            "machine": {"n_devices": 2, "memory_bytes": 1_u64 << 30, "check": true, "schedules": 9},
            "kernels": {"k": {"n_launches": 12345, "counts": {"warp_instructions": 77}, "lines": {
                "a.cu:7": {"opcode": "ld.shared.f32", "conflicts": 31},
            }}},
            "findings": [{"kernel": "k", "launch": 2, "schedule": "3/warps", "text": "it differs"}],
            "n_more_findings": 4,
            "not_loaded": ["a module cannot be loaded: only machine code"],
            "leaks": [
                {"address": 4096, "n_bytes": 16, "frames": ["main at a.cu:3"]},
                {"address": 8192, "n_bytes": 16, "frames": ["main at a.cu:3"]},
            ],
        }));
        for part in [
            r"<dd>./a -n &#39;b&#39;\&#39;&#39;s c&#39;</dd>",
            "<dt>exit status</dt><dd>3</dd>",
            "2 devices",
            "9 other orders",
            "5 findings; 1 module not loaded; 2 allocations never freed",
            "<pre>a module cannot be loaded: only machine code</pre>",
            "12\u{202f}345",
            "warp instructions",
            "a.cu:7",
            "under schedule 3/warps",
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
        assert!(page.contains("Nothing was found.") && page.ends_with("</html>\n"));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
