//! A profile as a page for a browser: one file, nothing to fetch.

use super::hardware::Figure;
use super::verdict::verdicts;
use super::{Profile, Row, Space, sources};
use crate::report::table::grouped;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --needed: #2f81f7; --wasted: #e5534b; --faint: #7d8590; --line: #7d859033; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.faint { color: var(--faint); }
code, pre, .source, td.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
.figures td, .figures th { padding: .2rem .8rem .2rem 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
.figures td.left, .figures th.left { text-align: left; }
.bad { color: var(--wasted); font-weight: 600; }
.verdict { border-left: 4px solid var(--wasted); padding: .1rem 0 .1rem .8rem; margin: .6rem 0; }
.good { border-left-color: #3fb950; }
.source td { padding: 0 .6rem 0 0; vertical-align: middle; white-space: pre; line-height: 1.45; }
.source .bar { width: 14rem; }
.source .bar span { display: inline-block; height: .8rem; vertical-align: middle; }
.needed { background: var(--needed); } .wasted { background: var(--wasted); }
.source .hot { font-weight: 600; } .source tr.cold { color: var(--faint); }
.legend span { display: inline-block; width: .8rem; height: .8rem; vertical-align: middle; margin: 0 .3rem 0 1rem; }
pre { white-space: pre-wrap; word-break: break-all; background: var(--line); padding: .8rem; border-radius: 6px; }
";

/// The whole page.
pub fn page(profile: &Profile, figures: &[Figure], command: &str) -> String {
    let mut page = String::new();
    // Writing to a string never fails.
    let _ = write(&mut page, profile, figures, command);
    page
}

fn write(
    page: &mut String,
    profile: &Profile,
    figures: &[Figure],
    command: &str,
) -> std::fmt::Result {
    let kernel = escaped(&profile.kernel);
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{kernel} at {}</title>\n<style>{STYLE}</style>",
        escaped(&profile.shape)
    )?;
    writeln!(
        page,
        "<h1>{kernel} <span class=\"faint\">at {}</span></h1>\n<div>{}</div>\n\
         <div class=\"faint\">{}{}; {} for {}</div>",
        escaped(&profile.shape),
        escaped(profile.technique),
        if profile.n_launches > 1 {
            format!("{} launches, the first of ", profile.n_launches)
        } else {
            String::new()
        },
        escaped(&profile.geometry),
        escaped(&profile.module),
        escaped(&profile.target),
    )?;
    say_verdicts(page, profile)?;
    listing(page, profile)?;
    table(page, profile)?;
    writeln!(
        page,
        "<h2>The same on a GPU, as Nsight Compute names it</h2>\n\
         <div class=\"wide\"><table class=\"figures\"><tr><th class=\"left\">metric</th><th>predicted</th>{}</tr>",
        if figures.iter().any(|figure| figure.measured.is_some()) {
            "<th>measured</th>"
        } else {
            ""
        }
    )?;
    for figure in figures {
        let measured = figure
            .measured
            .map_or_else(String::new, |n| format!("<td>{}</td>", grouped(n)));
        writeln!(
            page,
            "<tr><td class=\"left\"><code>{}</code></td><td>{}</td>{measured}</tr>",
            figure.metric,
            grouped(figure.predicted)
        )?;
    }
    writeln!(
        page,
        "</table></div>\n<pre>{}</pre>\n</html>",
        escaped(command)
    )
}

fn say_verdicts(page: &mut String, profile: &Profile) -> std::fmt::Result {
    let verdicts = verdicts(profile);
    if verdicts.is_empty() {
        writeln!(
            page,
            "<p class=\"verdict good\">Nothing wasted: no bank conflicts, and every byte of every \
             sector is used.</p>"
        )?;
    }
    for verdict in verdicts {
        writeln!(
            page,
            "<p class=\"verdict\"><code>{}</code>: <b>{}</b>:<br>{}.</p>",
            escaped(&verdict.place),
            escaped(&verdict.finding),
            escaped(verdict.advice)
        )?;
    }
    Ok(())
}

fn listing(page: &mut String, profile: &Profile) -> std::fmt::Result {
    let lines = profile.lines();
    let total = profile.work().max(1);
    let most = lines
        .values()
        .map(|&(work, _)| work)
        .max()
        .unwrap_or(1)
        .max(1);
    let mut files: BTreeMap<&str, BTreeMap<u32, (u64, u64)>> = BTreeMap::new();
    for (place, &cost) in &lines {
        files
            .entry(&place.file)
            .or_default()
            .insert(place.line, cost);
    }
    for (file, hot) in files {
        writeln!(
            page,
            "<h2><code>{}</code> <span class=\"legend faint\"><span class=\"needed\"></span>needed\
             <span class=\"wasted\"></span>wasted, of {} wavefronts and sectors</span></h2>",
            escaped(file),
            grouped(total)
        )?;
        let Some(text) = sources::text(file) else {
            writeln!(page, "<p class=\"faint\">Its text is not here.</p>")?;
            continue;
        };
        const CONTEXT: u32 = 4;
        let near = |number: u32| {
            hot.range(number.saturating_sub(CONTEXT)..=number + CONTEXT)
                .next()
                .is_some()
        };
        writeln!(page, "<div class=\"wide\"><table class=\"source\">")?;
        let mut gap = false;
        for (index, code) in text.lines().enumerate() {
            let number = index as u32 + 1;
            if !near(number) {
                gap = true;
                continue;
            }
            if std::mem::take(&mut gap) && number > 1 {
                writeln!(
                    page,
                    "<tr class=\"cold\"><td></td><td></td><td></td><td>⋮</td></tr>"
                )?;
            }
            let (class, percent, bar) = match hot.get(&number) {
                None => ("cold", String::new(), String::new()),
                Some(&(work, wasted)) => {
                    let width = |n: u64| 14.0 * n as f64 / most as f64;
                    (
                        "hot",
                        format!("{:.0}%", 100.0 * work as f64 / total as f64),
                        format!(
                            "<span class=\"needed\" style=\"width:{:.2}rem\"></span>\
                             <span class=\"wasted\" style=\"width:{:.2}rem\"></span>",
                            width(work.saturating_sub(wasted)).max(0.1),
                            width(wasted)
                        ),
                    )
                }
            };
            writeln!(
                page,
                "<tr class=\"{class}\"><td>{percent:>4}</td><td class=\"bar\">{bar}</td>\
                 <td class=\"faint\">{number:>4}</td><td>{}</td></tr>",
                escaped(code)
            )?;
        }
        writeln!(page, "</table></div>")?;
    }
    Ok(())
}

fn table(page: &mut String, profile: &Profile) -> std::fmt::Result {
    writeln!(
        page,
        "<h2>Instruction by instruction</h2>\n<div class=\"wide\"><table class=\"figures\"><tr>\
         <th class=\"left\">source</th><th>PTX line</th><th class=\"left\">instruction</th>\
         <th>executed</th><th>wavefronts</th><th>ideal</th><th>n-way</th><th>sectors</th>\
         <th>ideal</th></tr>"
    )?;
    for row in &profile.rows {
        let shared = row.wavefronts > 0 || row.space == Space::Shared;
        let cell = |shown: bool, bad: bool, n: u64| match (shown, bad) {
            (false, _) => "<td>–</td>".to_owned(),
            (true, false) => format!("<td>{}</td>", grouped(n)),
            (true, true) => format!("<td class=\"bad\">{}</td>", grouped(n)),
        };
        let conflicts = row.wavefronts > row.ideal_wavefronts;
        let sectors = row.space != Space::Shared;
        writeln!(
            page,
            "<tr><td class=\"left\">{}</td><td>{}</td><td class=\"left\"><code>{}</code></td><td>{}</td>\
             {}{}{}{}{}</tr>",
            source(row),
            row.ptx_line,
            escaped(&row.ptx),
            grouped(row.executions),
            cell(shared, conflicts, row.wavefronts),
            cell(shared, false, row.ideal_wavefronts),
            cell(shared, conflicts, row.ways.into()),
            cell(sectors, row.sectors > row.ideal_sectors, row.sectors),
            cell(sectors, false, row.ideal_sectors),
        )?;
    }
    writeln!(page, "</table></div>")
}

fn source(row: &Row) -> String {
    let Some(line) = &row.line else {
        return "?".to_owned();
    };
    let mut text = format!(
        "<span title=\"{}\">{}</span>",
        escaped(&line.file),
        escaped(&line.short())
    );
    if let Some(at) = &row.written_at {
        text.push_str(&format!(
            " <span class=\"faint\" title=\"{}\">({})</span>",
            escaped(&at.file),
            escaped(&at.short())
        ));
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
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("a<b && \"c\""), "a&lt;b &amp;&amp; &quot;c&quot;");
    }
}
