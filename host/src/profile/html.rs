//! A profile as a page for a browser: one file, nothing to fetch. It suits a phone
//! and a wide screen, light and dark.

use super::hardware::Figure;
use super::verdict::verdicts;
use super::{Profile, Row, Space, sources};
use crate::report::table::grouped;
use std::collections::BTreeMap;
use std::fmt::{Result, Write};

const STYLE: &str = include_str!("page.css");

/// Lines shown before and after a line with memory work.
const CONTEXT: u32 = 4;

/// The whole page.
pub fn page(profile: &Profile, figures: &[Figure], command: &str) -> String {
    let mut page = String::new();
    // Writing to a string never fails.
    let _ = write(&mut page, profile, figures, command);
    page
}

fn write(page: &mut String, profile: &Profile, figures: &[Figure], command: &str) -> Result {
    heading(page, profile)?;
    say_trouble(page, profile)?;
    say_verdicts(page, profile)?;
    listing(page, profile)?;
    instructions(page, profile)?;
    hardware(page, figures, command)?;
    writeln!(page, "</html>")
}

fn heading(page: &mut String, profile: &Profile) -> Result {
    let kernel = escaped(&profile.kernel);
    let shape = escaped(&profile.shape);
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{kernel} at {shape}</title>\n<style>\n{STYLE}</style>"
    )?;
    writeln!(
        page,
        "<h1>{kernel} <span class=\"faint\">at {shape}</span></h1>\n<div>{}</div>\n\
         <div class=\"faint\">{}{}; {} for {}</div>",
        escaped(profile.technique),
        profile.launches(),
        escaped(&profile.geometry),
        escaped(&profile.module),
        escaped(&profile.target),
    )?;
    for (entry, n_launches) in &profile.others {
        let entry = escaped(entry);
        writeln!(
            page,
            "<div class=\"faint\">not in here: {n_launches} × {entry}, launched with it</div>"
        )?;
    }
    Ok(())
}

/// What was expected otherwise.
fn say_trouble(page: &mut String, profile: &Profile) -> Result {
    let mut say = |label: &str, text: &str| {
        let text = escaped(text).replace('\n', "<br>");
        writeln!(
            page,
            "<p class=\"verdict\"><span class=\"bad\">{label}</span>: {text}</p>"
        )
    };
    if let Some(trouble) = &profile.trouble {
        say(trouble.label(), trouble.reason())?;
    }
    for difference in &profile.differences {
        say("differs from the catalogue", &difference.to_string())?;
    }
    Ok(())
}

fn say_verdicts(page: &mut String, profile: &Profile) -> Result {
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

/// Work, and wasted work, of each line of a file.
type Costs = BTreeMap<u32, (u64, u64)>;

/// The source with its heat, file by file.
fn listing(page: &mut String, profile: &Profile) -> Result {
    let lines = profile.lines();
    let most = lines.values().map(|&(work, _)| work).max();
    let scale = Scale {
        total: profile.work().max(1),
        most: most.unwrap_or(1).max(1),
    };
    let mut files: BTreeMap<&str, Costs> = BTreeMap::new();
    for (place, &cost) in &lines {
        let costs = files.entry(&place.file).or_default();
        costs.insert(place.line, cost);
    }
    // The lesson's own file first.
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(file, _)| *file != profile.source);
    for (file, costs) in files {
        writeln!(page, "<h2><code>{}</code></h2>", escaped(file))?;
        let Some(text) = sources::text(file) else {
            let lines: Vec<_> = costs.keys().map(u32::to_string).collect();
            let lines = lines.join(", ");
            writeln!(
                page,
                "<p class=\"faint\">Its text is not here. Lines with memory work: \
                 {lines}.</p>"
            )?;
            continue;
        };
        writeln!(
            page,
            "<p class=\"legend\"><span class=\"needed\"></span>needed\
             <span class=\"wasted\"></span>wasted, of {} wavefronts and sectors</p>",
            grouped(scale.total)
        )?;
        source_lines(page, &text, &costs, &scale)?;
    }
    Ok(())
}

/// How bars are scaled.
struct Scale {
    /// The work of the whole kernel.
    total: u64,
    /// That of the costliest line.
    most: u64,
}

fn source_lines(page: &mut String, text: &str, costs: &Costs, scale: &Scale) -> Result {
    writeln!(page, "<div class=\"source\">")?;
    let mut shown_to = 0;
    for (number, code) in (1u32..).zip(text.lines()) {
        let near = number.saturating_sub(CONTEXT)..=number + CONTEXT;
        if costs.range(near).next().is_none() {
            continue;
        }
        if number > shown_to + 1 {
            source_line(page, "cold", "", "", "⋮")?;
        }
        shown_to = number;
        let (class, work) = match costs.get(&number) {
            Some(&cost) => ("hot", scale.bar(cost)),
            None => ("cold", String::new()),
        };
        source_line(page, class, &work, &number.to_string(), code)?;
    }
    writeln!(page, "</div>")
}

fn source_line(page: &mut String, class: &str, work: &str, number: &str, code: &str) -> Result {
    // By itself, since a narrow page makes less of it.
    let (spaces, code) = code.split_at(code.len() - code.trim_start().len());
    let indent = spaces.len();
    writeln!(
        page,
        "<div class=\"{class}\"><span class=\"work\">{work}</span>\
         <span class=\"number\">{number}</span>\
         <span class=\"code\" style=\"--indent:{indent}\">\
         <span class=\"indent\">{spaces}</span>{}</span></div>",
        escaped(code)
    )
}

impl Scale {
    /// A share in percent, and its bar.
    fn bar(&self, (work, wasted): (u64, u64)) -> String {
        let percent = |n: u64, of: u64| 100.0 * n as f64 / of as f64;
        let needed = work.saturating_sub(wasted);
        format!(
            "<b>{:.0}%</b><span class=\"bar\" title=\"{} needed, {} wasted\">\
             <span class=\"needed\" style=\"width:{:.2}%\"></span>\
             <span class=\"wasted\" style=\"width:{:.2}%\"></span></span>",
            percent(work, self.total),
            grouped(needed),
            grouped(wasted),
            percent(needed, self.most).max(0.5),
            percent(wasted, self.most)
        )
    }
}

fn instructions(page: &mut String, profile: &Profile) -> Result {
    writeln!(
        page,
        "<h2>Instruction by instruction</h2>\n<table class=\"many\"><thead><tr>\
         <th class=\"left\">source</th><th class=\"left\">instruction</th><th>PTX line</th>\
         <th>executed</th><th>wavefronts</th><th>ideal</th><th>n-way</th><th>sectors</th>\
         <th>ideal</th></tr></thead><tbody>"
    )?;
    for row in &profile.rows {
        let shared = row.wavefronts > 0 || row.space == Space::Shared;
        let conflicts = row.wavefronts > row.ideal_wavefronts;
        let sectors = row.space != Space::Shared;
        let scattered = row.sectors > row.ideal_sectors;
        writeln!(
            page,
            "<tr><td class=\"name left\">{}</td><td class=\"name left\"><code>{}</code></td>\
             {}{}{}{}{}{}{}</tr>",
            source(row),
            escaped(&row.ptx),
            Cell("PTX line", true, false).of(&row.ptx_line.to_string()),
            Cell("executed", true, false).of(&grouped(row.executions)),
            Cell("wavefronts", shared, conflicts).of(&grouped(row.wavefronts)),
            Cell("ideal wavefronts", shared, false).of(&grouped(row.ideal_wavefronts)),
            Cell("n-way", shared, conflicts).of(&row.ways.to_string()),
            Cell("sectors", sectors, scattered).of(&grouped(row.sectors)),
            Cell("ideal sectors", sectors, false).of(&grouped(row.ideal_sectors)),
        )?;
    }
    writeln!(page, "</tbody></table>")
}

/// A figure: its name, for where there are no headings; whether the instruction has
/// it; whether it is bad.
struct Cell(&'static str, bool, bool);

impl Cell {
    fn of(self, text: &str) -> String {
        let Self(label, is_there, is_bad) = self;
        match (is_there, is_bad) {
            (false, _) => "<td class=\"none\">–</td>".to_owned(),
            (true, false) => format!("<td data-label=\"{label}\">{text}</td>"),
            (true, true) => format!("<td class=\"bad\" data-label=\"{label}\">{text}</td>"),
        }
    }
}

fn hardware(page: &mut String, figures: &[Figure], command: &str) -> Result {
    let is_measured = figures.iter().any(|figure| figure.measured.is_some());
    writeln!(
        page,
        "<h2>The same on a GPU, as Nsight Compute names it</h2>\n<table><thead><tr>\
         <th class=\"left\">metric</th><th>predicted</th>{}</tr></thead><tbody>",
        if is_measured { "<th>measured</th>" } else { "" }
    )?;
    for figure in figures {
        let measured = figure.measured.map(|n| {
            let differs = n != figure.predicted;
            Cell("measured", true, differs).of(&grouped(n))
        });
        writeln!(
            page,
            "<tr><td class=\"name left\"><code>{}</code></td>{}{}</tr>",
            figure.metric,
            Cell("predicted", true, false).of(&grouped(figure.predicted)),
            measured.unwrap_or_default()
        )?;
    }
    // Metrics are many, with commas between them.
    let command = escaped(command).replace(',', ",<wbr>");
    writeln!(page, "</tbody></table>\n<pre>{command}</pre>")
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
