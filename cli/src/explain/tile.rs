//! A tile in shared memory, a layout, and accesses to it, without a kernel.

use super::text::with_summary;
use crate::report::style::{BAD, FAINT, GOOD, HEADING};
use crate::report::width::{Width, write_styled};
use maps::banks::plural;
use maps::search::Candidate;
use maps::{BankMap, Invalid, Layout, Pattern, Tile, TileMap};
use std::io::{self, Write};

/// A tile, its layout, and accesses.
#[derive(Clone, Debug)]
pub struct Question {
    /// The tile.
    pub tile: Tile,
    /// Its layout.
    pub layout: Layout,
    /// The accesses to it.
    pub patterns: Vec<Pattern>,
}

/// A pattern under a layout.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The pattern.
    pub pattern: Pattern,
    /// Accesses that were counted.
    pub n_accesses: usize,
    /// Bank conflicts of all of them.
    pub conflicts: u32,
    /// The first access with the most conflicts.
    pub worst: BankMap,
    /// The places of its lanes in the tile.
    pub tile: TileMap,
}

impl Question {
    /// The cost of each pattern.
    ///
    /// # Errors
    ///
    /// The layout or a pattern does not suit this tile.
    pub fn answers(&self) -> Result<Vec<Answer>, Invalid> {
        self.patterns.iter().map(|one| self.answer(one)).collect()
    }

    fn answer(&self, pattern: &Pattern) -> Result<Answer, Invalid> {
        let accesses = pattern.accesses(&self.tile, &self.layout)?;
        let conflicts = |access: &maps::Access| access.shared_cost().conflicts;
        let most = accesses.iter().map(conflicts).max().unwrap_or(0);
        let worst = accesses.iter().find(|access| conflicts(access) == most);
        let worst = worst.ok_or_else(|| Invalid(format!("`{pattern}` accesses nothing")))?;
        Ok(Answer {
            pattern: pattern.clone(),
            n_accesses: accesses.len(),
            conflicts: accesses.iter().map(conflicts).sum(),
            worst: BankMap::of(worst),
            tile: TileMap::accessed(self.tile, self.layout.clone(), pattern)?,
        })
    }
}

/// Writes the tile and the bank map of each access.
pub fn write(out: &mut dyn Write, answers: &[Answer], width: Width) -> io::Result<()> {
    for (i, answer) in answers.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let style = if answer.conflicts == 0 { GOOD } else { BAD };
        let n = answer.n_accesses;
        let accesses = if n == 1 { "access" } else { "accesses" };
        let conflicts = plural(answer.conflicts.into(), "bank conflict");
        writeln!(
            out,
            "{HEADING}{}{HEADING:#}: {n} {accesses} counted, {style}{conflicts}{style:#}",
            answer.pattern
        )?;
        with_summary(out, &answer.tile.text(width.columns()), width)?;
        if answer.n_accesses > 1 {
            writeln!(out, "{FAINT}the access with the most conflicts:{FAINT:#}")?;
        }
        with_summary(out, &answer.worst.text(width.columns()), width)?;
    }
    Ok(())
}

/// Layouts that are shown.
const MOST_LAYOUTS: usize = 10;

/// Writes the results of a search.
pub fn write_found(
    out: &mut dyn Write,
    question: &Question,
    found: &[Candidate],
    width: Width,
) -> io::Result<()> {
    let n_free = found.iter().filter(|one| one.total() == 0).count();
    let patterns: Vec<String> = question.patterns.iter().map(Pattern::to_string).collect();
    let what = match n_free {
        0 => format!(
            "none of {} layouts makes these accesses free of conflicts: {}; the best ones",
            found.len(),
            patterns.join(", ")
        ),
        n => format!(
            "{n} of {} layouts make these accesses free of conflicts: {}",
            found.len(),
            patterns.join(", ")
        ),
    };
    write_styled(out, HEADING, &what, width.prose())?;
    let shown = if n_free == 0 { found.len() } else { n_free };
    let shown: Vec<&Candidate> = found.iter().take(shown.min(MOST_LAYOUTS)).collect();
    let plain = found.iter().find(|one| one.layout == Layout::Plain);
    let plain = plain.filter(|plain| !shown.contains(plain));
    let line = |candidate: &Candidate| {
        let conflicts = candidate.conflicts.iter().zip(&patterns);
        let conflicts: Vec<String> = conflicts.map(|(n, name)| format!("{name} {n}")).collect();
        let name = candidate.layout.to_string();
        let extra = match candidate.extra_bytes {
            0 => String::new(),
            n => format!(", {n} bytes more"),
        };
        format!("  {name:<20}  {}{extra}", conflicts.join(", "))
    };
    for candidate in shown {
        writeln!(out, "{}", line(candidate))?;
    }
    if n_free > MOST_LAYOUTS {
        writeln!(out, "  … {} more", n_free - MOST_LAYOUTS)?;
    }
    if let Some(plain) = plain {
        writeln!(out, "{}", line(plain))?;
    }
    let rules = "Conflicts were counted for every access to the tile, by the rules that reproduce \
                 an H200's counters.";
    write_styled(out, FAINT, rules, width.prose())
}
