//! The source with its heat: each line's share of the memory work, as a bar of needed
//! and wasted work.
//!
//! Lines with memory work are shown whole, wrapped if necessary; the lines
//! around them are cut at the width of the output.

use super::{Profile, sources};
use crate::report::style::{BAD, FAINT, HEADING};
use crate::report::width::{Width, columns_of, cut, wrap_code, write_styled};
use anstyle::{AnsiColor, Style};
use lockstep_page::work::{self, Cost};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Needed work.
const NEEDED: Style = AnsiColor::Cyan.on_default();
/// Lines shown before and after a line with memory work.
const CONTEXT: u32 = 2;

/// The scale of everything.
struct Scale {
    /// The work of the whole kernel.
    total: u64,
    /// The work of the costliest line.
    most: u64,
    /// Characters of the longest bar.
    bar: usize,
    width: Width,
}

/// Writes the lines with memory work and those around them, file by file.
pub(super) fn write(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    let total = work::total(&profile.rows).work;
    if total == 0 {
        return Ok(());
    }
    let lines = work::lines(&profile.rows);
    let scale = Scale {
        total,
        most: lines.values().map(|cost| cost.work).max().unwrap_or(1),
        bar: if width.columns() < 100 { 8 } else { 16 },
        width,
    };
    for (file, hot) in work::files(&profile.rows, profile.source) {
        writeln!(out)?;
        match sources::text(file) {
            Some(text) => scale.write_file(out, file, &text, &hot)?,
            None => scale.write_unknown_file(out, file, &hot)?,
        }
    }
    writeln!(
        out,
        "{NEEDED}█{NEEDED:#} needed  {BAD}░{BAD:#} wasted  of all wavefronts and sectors"
    )
}

impl Scale {
    /// Columns before a line's number.
    fn margin(&self) -> usize {
        "100% ".len() + self.bar
    }

    fn write_file(
        &self,
        out: &mut dyn Write,
        file: &str,
        text: &str,
        hot: &BTreeMap<u32, Cost>,
    ) -> io::Result<()> {
        writeln!(
            out,
            "{HEADING}{}{HEADING:#}",
            cut(file, self.width.columns())
        )?;
        let mut shown_to = 0;
        for (number, code) in (1u32..).zip(text.lines()) {
            let near = number.saturating_sub(CONTEXT)..=number + CONTEXT;
            if hot.range(near).next().is_none() {
                continue;
            }
            if shown_to > 0 && number > shown_to + 1 {
                writeln!(out, "{:1$} {FAINT}   ⋮{FAINT:#}", "", self.margin())?;
            }
            self.write_line(out, number, code, hot.get(&number))?;
            shown_to = number;
        }
        Ok(())
    }

    fn write_line(
        &self,
        out: &mut dyn Write,
        number: u32,
        code: &str,
        cost: Option<&Cost>,
    ) -> io::Result<()> {
        let before = format!("{:1$} {number:>4} ", "", self.margin());
        let room = self.width.columns().saturating_sub(columns_of(&before));
        let Some(cost) = cost else {
            let line = cut(code, room);
            let line = format!("{before}{line}");
            return writeln!(out, "{FAINT}{}{FAINT:#}", line.trim_end());
        };
        let heat = self.heat(*cost);
        let mut before = format!("{heat} {FAINT}{number:>4}{FAINT:#} ");
        for line in wrap_code(code, room) {
            writeln!(out, "{before}{line}")?;
            before = " ".repeat(self.width.columns() - room);
        }
        Ok(())
    }

    fn write_unknown_file(
        &self,
        out: &mut dyn Write,
        file: &str,
        hot: &BTreeMap<u32, Cost>,
    ) -> io::Result<()> {
        let what = format!("{file}: its text is not available");
        write_styled(out, FAINT, &what, self.width.columns())?;
        for (line, cost) in hot {
            writeln!(out, "{} {line:>4}", self.heat(*cost))?;
        }
        Ok(())
    }

    /// A share in percent, and its bar: needed work, then wasted.
    fn heat(&self, Cost { work, wasted }: Cost) -> String {
        let scale = |n: u64| (n as f64 * self.bar as f64 / self.most.max(1) as f64).round();
        let length = (scale(work) as usize).clamp(1, self.bar);
        let wasted_length = (scale(wasted) as usize).min(length);
        let needed = length - wasted_length;
        let percent = 100.0 * work as f64 / self.total as f64;
        format!(
            "{percent:>3.0}% {NEEDED}{}{NEEDED:#}{BAD}{}{BAD:#}{}",
            "█".repeat(needed),
            "░".repeat(wasted_length),
            " ".repeat(self.bar - length)
        )
    }
}
