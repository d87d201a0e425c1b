//! The display of exercises and verdicts.

use super::words::command;
use crate::report::style::{BAD, FAINT, GOOD, HEADING, UNSURE};
use crate::report::width::{Width, indented, wrap};
use learn::{Verdict, Workplace};
use std::io::{self, Write};

/// Columns of prose; longer lines are hard to read.
const PROSE: usize = 88;
/// Cells of the bar.
const BAR: usize = 24;

/// The exercise's name, and the progress in the course.
pub(super) fn heading(out: &mut dyn Write, workplace: &Workplace, place: usize) -> io::Result<()> {
    let exercise = workplace.exercise(place);
    let (solved, n) = (workplace.n_solved(), workplace.course.exercises.len());
    let full = solved * BAR / n;
    writeln!(
        out,
        "{HEADING}{}  {}{HEADING:#}   {GOOD}{}{GOOD:#}{FAINT}{}{FAINT:#} {solved} of {n} solved",
        exercise.name,
        exercise.manifest.title,
        "█".repeat(full),
        "░".repeat(BAR - full)
    )?;
    writeln!(out, "{FAINT}{}{FAINT:#}", exercise.manifest.goal)?;
    writeln!(out)
}

/// Prints a verdict.
pub(super) fn verdict(
    out: &mut dyn Write,
    workplace: &Workplace,
    place: usize,
    verdict: &Verdict,
) -> io::Result<()> {
    let exercise = workplace.exercise(place);
    let manifest = &exercise.manifest;
    // A command for this exercise, which may not be the current one.
    let of = |word: &str| match place == workplace.current() {
        true => command(word),
        false => command(&format!("{word} {}", exercise.name)),
    };
    match verdict {
        Verdict::Passed(passed) => {
            let orders = match passed.n_orders {
                0 => String::new(),
                n => format!(", each in {n} other orders too"),
            };
            writeln!(
                out,
                "{GOOD}solved{GOOD:#}: {} cases{orders}",
                passed.n_cases
            )?;
            if let (Some(case), false) = (&passed.case, passed.counts.is_empty()) {
                writeln!(out, "counted with {case}, the last one:")?;
            }
            for count in &passed.counts {
                writeln!(out, "  {count}")?;
            }
            printed(out, &passed.printed)?;
            writeln!(out)?;
            prose(out, &manifest.solved)?;
            read_on(out, &manifest.read)?;
            writeln!(
                out,
                "{FAINT}{}: a solution to compare with · {}: the next exercise{FAINT:#}",
                of("solution"),
                command("next")
            )?;
        }
        Verdict::Failed(failure) => {
            let case = failure.case.as_ref();
            let case = case.map_or(String::new(), |case| {
                format!(" {FAINT}with {case}{FAINT:#}")
            });
            writeln!(out, "{BAD}{}{BAD:#}{case}", failure.kind)?;
            writeln!(out)?;
            // A compiler has broken its lines itself.
            let columns = match failure.kind {
                "compile" => usize::MAX,
                _ => Width::of_stdout().prose(),
            };
            writeln!(out, "{}", indented(&failure.message, 0, columns))?;
            if let Some(excerpt) = &failure.excerpt {
                writeln!(out, "\n{excerpt}")?;
            }
            printed(out, &failure.printed)?;
            writeln!(out)?;
            if let Some(why) = &failure.why {
                prose(out, why)?;
            }
            read_on(out, &manifest.read)?;
            writeln!(
                out,
                "{FAINT}your file: {} · {}: a hint{FAINT:#}",
                workplace.shown(place),
                of("hint")
            )?;
        }
    }
    Ok(())
}

/// Shows what threads printed, as far as it fits a screen.
fn printed(out: &mut dyn Write, printed: &[String]) -> io::Result<()> {
    /// Lines shown.
    const MOST: usize = 16;
    let text = printed.concat();
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nprinted:")?;
    for line in lines.iter().take(MOST) {
        writeln!(out, "  {line}")?;
    }
    match lines.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "  … {more} more"),
    }
}

/// Prints a verdict in one line.
pub(super) fn line(
    out: &mut dyn Write,
    workplace: &Workplace,
    place: usize,
    verdict: &Verdict,
) -> io::Result<()> {
    let name = &workplace.exercise(place).name;
    match verdict {
        Verdict::Passed(_) => writeln!(out, "{GOOD}solved{GOOD:#}  {name}"),
        Verdict::Failed(failure) => {
            let case = failure.case.as_ref();
            let case = case.map_or(String::new(), |case| format!(" with {case}"));
            writeln!(
                out,
                "{UNSURE}open{UNSURE:#}    {name}: {}{case}",
                failure.kind
            )
        }
    }
}

/// Prints the task.
pub(super) fn task(out: &mut dyn Write, workplace: &Workplace, place: usize) -> io::Result<()> {
    heading(out, workplace, place)?;
    writeln!(
        out,
        "Open {}: it begins with a question.",
        workplace.shown(place)
    )
}

/// Prints the state of every exercise.
pub(super) fn list(out: &mut dyn Write, workplace: &Workplace) -> io::Result<()> {
    let current = workplace.current();
    let exercises = &workplace.course.exercises;
    let longest = exercises.iter().map(|e| e.name.len()).max().unwrap_or(0);
    for (place, exercise) in exercises.iter().enumerate() {
        let mark = if place == current { "▶" } else { " " };
        let (style, state) = match workplace.is_solved(place) {
            true => (GOOD, "solved"),
            false => (FAINT, "open  "),
        };
        writeln!(
            out,
            "{mark} {:longest$}  {style}{state}{style:#}  {}",
            exercise.name, exercise.manifest.title
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "{} of {} solved",
        workplace.n_solved(),
        exercises.len()
    )
}

/// Prints the hints given so far, the newest last.
pub(super) fn hints(
    out: &mut dyn Write,
    workplace: &Workplace,
    place: usize,
    given: &[String],
) -> io::Result<()> {
    let exercise = workplace.exercise(place);
    let n = exercise.manifest.hints.len();
    for (number, hint) in given.iter().enumerate() {
        writeln!(out, "{HEADING}hint {} of {n}{HEADING:#}", number + 1)?;
        prose(out, hint)?;
    }
    if given.len() == n {
        writeln!(
            out,
            "{FAINT}that was the last hint for {}{FAINT:#}",
            exercise.name
        )?;
    }
    Ok(())
}

/// Prints the end of the course.
pub(super) fn all_solved(out: &mut dyn Write, workplace: &Workplace) -> io::Result<()> {
    let n = workplace.course.exercises.len();
    writeln!(out, "{GOOD}all {n} exercises are solved{GOOD:#}")?;
    writeln!(
        out,
        "What next: the lessons in gpu-kernels/src, or an exercise of your own:"
    )?;
    writeln!(out, "  {}", command("new DIR"))
}

fn read_on(out: &mut dyn Write, places: &[String]) -> io::Result<()> {
    if !places.is_empty() {
        writeln!(out, "Further reading:")?;
        for place in places {
            writeln!(out, "  {place}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Paragraphs, broken at spaces; lines that begin with a space are pictures, and stay whole.
fn prose(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let columns = Width::of_stdout().columns().min(PROSE);
    for paragraph in text.trim_end().split("\n\n") {
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            writeln!(out, "{}", paragraph.trim_end())?;
        } else {
            let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            for line in wrap(&joined, columns) {
                writeln!(out, "{line}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
