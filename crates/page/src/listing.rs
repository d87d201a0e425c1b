//! A kernel's PTX as a listing: the code, each memory instruction with its cost.
//!
//! Of a long kernel only lines near memory instructions, barriers and branches are
//! kept, because a page should be small.

use crate::numbers::grouped;
use crate::work::Row;
use ptx::outline::kernel_text;

/// Kernels of more lines are shortened.
const MOST_LINES: usize = 1200;
/// Lines that are kept before and after an instruction of interest.
const CONTEXT: usize = 1;
/// Opcodes of interest in addition to memory instructions.
const KEPT: [&str; 7] = ["bar", "barrier", "mbarrier", "bra", "wgmma", "cp", "fence"];

/// An entry's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The line of the module that it begins on, from 1.
    pub first: usize,
    /// Its lines. Line-table directives are replaced by empty lines, so that the others
    /// keep their numbers.
    pub text: String,
}

/// The listing of an entry of a module; `None` if there is no such entry.
pub fn of(module: &str, entry: &str) -> Option<Listing> {
    let text = kernel_text(module, entry)?;
    let start = text.as_ptr() as usize - module.as_ptr() as usize;
    let lines = text.lines().map(|line| {
        let code = line.trim();
        let is_noise = code.starts_with(".loc")
            || code.starts_with("$L__tmp")
            || code.starts_with("// begin inline asm")
            || code.starts_with("// end inline asm");
        match (is_noise, line.starts_with(char::is_whitespace)) {
            (true, _) => String::new(),
            (false, true) => format!("  {}", code.replace(['\t'], " ")),
            (false, false) => code.replace('\t', " "),
        }
    });
    Some(Listing {
        first: module[..start].matches('\n').count() + 1,
        text: lines.collect::<Vec<_>>().join("\n"),
    })
}

impl Listing {
    /// Whether [`Listing::with_costs`] leaves lines out.
    pub fn is_shortened(&self) -> bool {
        self.text.lines().filter(|line| !line.is_empty()).count() > MOST_LINES
    }

    /// The text with the costs after the memory instructions. In a long one most lines
    /// are empty.
    pub fn with_costs(&self, rows: &[Row]) -> String {
        let lines = self.costed(rows);
        if !self.is_shortened() {
            return lines.join("\n");
        }
        let is_kept = |line: &String| line.contains("  // ") || is_of_interest(line);
        let kept: Vec<bool> = lines.iter().map(is_kept).collect();
        let is_near = |at: usize| {
            let near = at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(kept.len());
            kept[near].iter().any(|kept| *kept)
        };
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(at, line)| if is_near(at) { line } else { String::new() });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn costed(&self, rows: &[Row]) -> Vec<String> {
        let mut rows = rows.iter().peekable();
        let lines = (self.first..).zip(self.text.lines()).map(|(number, line)| {
            while rows
                .next_if(|row| (row.ptx_line as usize) < number)
                .is_some()
            {}
            match rows.next_if(|row| row.ptx_line as usize == number) {
                Some(row) => format!("{line}  // {}", words(row)),
                None => line.to_owned(),
            }
        });
        lines.collect()
    }
}

/// Whether a line has a label, or an instruction that others wait for.
fn is_of_interest(line: &str) -> bool {
    let code = line.trim_start();
    let words = code.split([' ', '.']).take(2);
    line.starts_with('$') || words.into_iter().any(|word| KEPT.contains(&word))
}

/// The cost of an instruction, in short.
fn words(row: &Row) -> String {
    let mut words = format!("{} ×", grouped(row.executions));
    if row.is_in_shared() {
        words += &format!(", {} wavefronts", grouped(row.wavefronts));
        if row.ways > 1 {
            words += &format!(", {}-way", row.ways);
        }
    }
    if row.is_in_sectors() {
        words += &format!(", {} sectors", grouped(row.sectors));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Listing, MOST_LINES, of};

    #[test]
    fn long_kernels_keep_what_others_wait_for() {
        let mut lines = vec!["  add.u32 %r1, %r1, 1;"; MOST_LINES + 10];
        lines[600] = "  bar.sync 0;";
        let listing = Listing {
            first: 1,
            text: lines.join("\n"),
        };
        let text = listing.with_costs(&[]);
        let shown = |line: &&str| !line.is_empty();
        assert_eq!(text.lines().filter(shown).count(), 3);
        assert_eq!(text.lines().nth(600), Some("  bar.sync 0;"));
    }

    #[test]
    fn lines_keep_their_numbers() {
        let module = ".version 7.0\n\n.visible .entry k()\n{\n\t.loc\t1 2 3\n\tmov.u32 \t%r1, 0;\n\tret;\n}\n";
        let listing = of(module, "k").expect("it has one");
        assert_eq!(listing.first, 3);
        let lines: Vec<_> = listing.text.lines().collect();
        assert_eq!(
            lines,
            [
                ".visible .entry k()",
                "{",
                "",
                "  mov.u32  %r1, 0;",
                "  ret;",
                "}"
            ]
        );
        assert_eq!(of(module, "other"), None);
    }
}
