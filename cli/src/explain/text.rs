//! A kernel's maps in a terminal.

use super::{Explained, ExplainedLine};
use crate::profile::sources;
use crate::report::style::{BAD, FAINT, HEADING};
use crate::report::width::{Width, columns_of, cut, write_styled};
use anstyle::Style;
use std::io::{self, Write};

/// Lines whose maps are shown if none is named.
const MOST_MAPS: usize = 4;
/// Characters of an opcode in the overview.
const LONGEST_OPCODE: usize = 26;

/// Writes the maps: of one line, if it is named, else of the most wasteful lines.
pub fn write(
    out: &mut dyn Write,
    explained: &Explained,
    line: Option<u32>,
    width: Width,
) -> io::Result<()> {
    heading(out, explained, width)?;
    let shown = shown(explained, line);
    if line.is_none() {
        overview(out, explained, width)?;
    }
    let mut seen = Vec::new();
    for line in &shown {
        let text = line.map().text(width.columns());
        let what = (line.line.clone(), line.opcode.clone(), text);
        if !seen.contains(&what) {
            map(out, line, &what.2, width)?;
            seen.push(what);
        }
    }
    if line.is_none() {
        if explained.has_timeline() {
            writeln!(out, "\n{HEADING}what its warps wait for{HEADING:#}")?;
            write!(out, "{}", explained.timeline.text(width.columns()))?;
        }
        rest(out, explained, shown.len(), width)?;
    }
    Ok(())
}

/// The lines whose maps are shown, in the PTX's order.
fn shown(explained: &Explained, line: Option<u32>) -> Vec<&ExplainedLine> {
    let lines = explained.lines.iter();
    if let Some(line) = line {
        return lines.filter(|one| one.is_at(line)).collect();
    }
    let mut by_waste: Vec<&ExplainedLine> = lines.collect();
    by_waste.sort_by_key(|line| std::cmp::Reverse(line.waste()));
    by_waste.truncate(MOST_MAPS);
    by_waste.sort_by_key(|line| line.ptx_line);
    by_waste
}

impl ExplainedLine {
    /// Whether it comes from this line of a source file: the kernel's own, or the one that
    /// it was written in.
    pub fn is_at(&self, line: u32) -> bool {
        let mut places = self.line.iter().chain(&self.written_at);
        places.any(|place| place.line == line)
    }
}

fn heading(out: &mut dyn Write, explained: &Explained, width: Width) -> io::Result<()> {
    let title = format!(
        "{} at {}: {}",
        explained.kernel, explained.shape, explained.technique
    );
    write_styled(out, HEADING, &title, width.prose())?;
    let what = format!(
        "block {} of {}, on the simulator: for each instruction, the most wasteful access among \
         the first ones of each warp",
        explained.block, explained.config
    );
    write_styled(out, FAINT, &what, width.prose())?;
    match &explained.trouble {
        Some(trouble) => write_styled(out, BAD, &format!("not right: {trouble}"), width.prose()),
        None => Ok(()),
    }
}

/// An instruction's entry in the overview.
#[derive(PartialEq)]
struct Said {
    place: String,
    opcode: String,
    summary: String,
    is_wasteful: bool,
}

/// Every instruction in a line; those with the same entry share one.
fn overview(out: &mut dyn Write, explained: &Explained, width: Width) -> io::Result<()> {
    writeln!(out)?;
    let mut all: Vec<(Said, u32)> = Vec::new();
    for line in &explained.lines {
        let said = Said {
            place: line.place(),
            opcode: cut(&line.opcode, LONGEST_OPCODE),
            summary: line.map().summary(),
            is_wasteful: line.waste() > 0,
        };
        match all.iter_mut().find(|(known, _)| *known == said) {
            Some((_, times)) => *times += 1,
            None => all.push((said, 1)),
        }
    }
    let longest = |f: fn(&Said) -> &str| {
        let lengths = all.iter().map(|(said, _)| columns_of(f(said)));
        lengths.max().unwrap_or(0)
    };
    let (first, second) = (longest(|said| &said.place), longest(|said| &said.opcode));
    let is_repeated = all.iter().any(|(_, times)| *times > 1);
    for (said, times) in &all {
        let times = match times {
            _ if !is_repeated => String::new(),
            1 => "      ".to_owned(),
            n => format!("{n:>4}× "),
        };
        let before = format!(
            "  {:<first$}  {:<second$}  {times}",
            said.place, said.opcode
        );
        let room = width.columns().saturating_sub(columns_of(&before));
        let style = if said.is_wasteful { BAD } else { FAINT };
        writeln!(out, "{before}{style}{}{style:#}", cut(&said.summary, room))?;
    }
    Ok(())
}

/// One instruction's map, with its line of source.
fn map(out: &mut dyn Write, line: &ExplainedLine, text: &str, width: Width) -> io::Result<()> {
    writeln!(out)?;
    let written_at = match &line.written_at {
        Some(place) => format!(" ({})", place.short()),
        None => String::new(),
    };
    writeln!(
        out,
        "{HEADING}{}{HEADING:#}{written_at}  {} (PTX line {}), warp {}",
        line.place(),
        line.opcode,
        line.ptx_line,
        line.warp
    )?;
    if let Some(place) = &line.line
        && let Some(text) = sources::text(&place.file)
        && let Some(code) = text.lines().nth(place.line as usize - 1)
    {
        writeln!(out, "{FAINT}{}{FAINT:#}", cut(code, width.columns()))?;
    }
    with_summary(out, text, width)
}

/// A map's text, whose first line is prose.
pub(super) fn with_summary(out: &mut dyn Write, text: &str, width: Width) -> io::Result<()> {
    let (summary, body) = text.split_once('\n').unwrap_or((text, ""));
    write_styled(out, Style::new(), summary, width.prose())?;
    write!(out, "{body}")
}

/// Says how to see the other maps.
fn rest(
    out: &mut dyn Write,
    explained: &Explained,
    n_shown: usize,
    width: Width,
) -> io::Result<()> {
    let n_left = explained.lines.len().saturating_sub(n_shown);
    if n_left == 0 {
        return Ok(());
    }
    let example = explained.lines.iter().find_map(|line| line.line.as_ref());
    let example = example.map_or(1, |place| place.line);
    let command = host::hints::command(&format!("explain {}:{example}", explained.kernel));
    let what = format!("{n_left} more maps can be shown by line: {command}");
    writeln!(out)?;
    write_styled(out, FAINT, &what, width.prose())
}
