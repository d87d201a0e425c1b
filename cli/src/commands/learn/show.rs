//! How exercises and verdicts look.

use super::words::command;
use crate::report::style::{BAD, FAINT, GOOD, HEADING, UNSURE};
use crate::report::width::{Width, wrap};
use anstream::println;
use learn::{Verdict, Workplace};

/// Columns of prose: longer lines are hard to read.
const PROSE: usize = 88;
/// Cells of the bar.
const BAR: usize = 24;

/// The exercise's name, and how far the course has come.
pub(super) fn heading(workplace: &Workplace, place: usize) {
    let exercise = workplace.exercise(place);
    let (solved, n) = (workplace.n_solved(), workplace.course.exercises.len());
    let full = solved * BAR / n;
    println!(
        "{HEADING}{}  {}{HEADING:#}   {GOOD}{}{GOOD:#}{FAINT}{}{FAINT:#} {solved} of {n} solved",
        exercise.name,
        exercise.manifest.title,
        "█".repeat(full),
        "░".repeat(BAR - full)
    );
    println!("{FAINT}{}{FAINT:#}", exercise.manifest.goal);
    println!();
}

/// What the judge says.
pub(super) fn verdict(workplace: &Workplace, place: usize, verdict: &Verdict) {
    let manifest = &workplace.exercise(place).manifest;
    match verdict {
        Verdict::Passed(passed) => {
            let orders = match passed.n_orders {
                0 => String::new(),
                n => format!(", each in {n} other orders too"),
            };
            println!("{GOOD}solved{GOOD:#}: {} cases{orders}", passed.n_cases);
            for count in &passed.counts {
                println!("  {count}");
            }
            println!();
            prose(&manifest.solved);
            read_on(&manifest.read);
            println!(
                "{FAINT}{}: a solution to compare with · {}: the next exercise{FAINT:#}",
                command("solution"),
                command("next")
            );
        }
        Verdict::Failed(failure) => {
            let case = failure.case.as_ref();
            let case = case.map_or(String::new(), |case| {
                format!(" {FAINT}with {case}{FAINT:#}")
            });
            println!("{BAD}{}{BAD:#}{case}", failure.kind);
            println!();
            println!("{}", failure.message);
            if let Some(excerpt) = &failure.excerpt {
                println!("\n{excerpt}");
            }
            println!();
            if let Some(why) = &failure.why {
                prose(why);
            }
            read_on(&manifest.read);
            println!(
                "{FAINT}your file: {} · {}: a hint{FAINT:#}",
                workplace.shown(place),
                command("hint")
            );
        }
    }
}

/// The verdict in a line.
pub(super) fn line(workplace: &Workplace, place: usize, verdict: &Verdict) {
    let name = &workplace.exercise(place).name;
    match verdict {
        Verdict::Passed(_) => println!("{GOOD}solved{GOOD:#}  {name}"),
        Verdict::Failed(failure) => {
            let case = failure.case.as_ref();
            let case = case.map_or(String::new(), |case| format!(" with {case}"));
            println!("{UNSURE}open{UNSURE:#}    {name}: {}{case}", failure.kind);
        }
    }
}

/// What there is to do.
pub(super) fn task(workplace: &Workplace, place: usize) {
    heading(workplace, place);
    println!(
        "Open {}: it begins with a question.",
        workplace.shown(place)
    );
}

/// Everybody's state.
pub(super) fn list(workplace: &Workplace) {
    let current = workplace.current();
    let exercises = &workplace.course.exercises;
    let longest = exercises.iter().map(|e| e.name.len()).max().unwrap_or(0);
    for (place, exercise) in exercises.iter().enumerate() {
        let mark = if place == current { "▶" } else { " " };
        let (style, state) = match workplace.is_solved(place) {
            true => (GOOD, "solved"),
            false => (FAINT, "open  "),
        };
        println!(
            "{mark} {:longest$}  {style}{state}{style:#}  {}",
            exercise.name, exercise.manifest.title
        );
    }
    println!();
    println!("{} of {} solved", workplace.n_solved(), exercises.len());
}

/// The hints that were given so far, the newest last.
pub(super) fn hints(workplace: &Workplace, place: usize, given: &[String]) {
    let exercise = workplace.exercise(place);
    let n = exercise.manifest.hints.len();
    for (number, hint) in given.iter().enumerate() {
        println!("{HEADING}hint {} of {n}{HEADING:#}", number + 1);
        prose(hint);
    }
    if given.len() == n {
        println!(
            "{FAINT}that was the last hint for {}{FAINT:#}",
            exercise.name
        );
    }
}

/// The end.
pub(super) fn all_solved(workplace: &Workplace) {
    let n = workplace.course.exercises.len();
    println!("{GOOD}all {n} exercises are solved{GOOD:#}");
    println!("What next: the lessons in gpu-kernels/src, or an exercise of your own:");
    println!("  {}", command("new DIR"));
}

fn read_on(places: &[String]) {
    if !places.is_empty() {
        println!("Read on:");
        for place in places {
            println!("  {place}");
        }
        println!();
    }
}

/// Paragraphs, broken at spaces; lines that begin with a space are pictures, and stay.
fn prose(text: &str) {
    let columns = Width::of_stdout().columns().min(PROSE);
    for paragraph in text.trim_end().split("\n\n") {
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            println!("{}", paragraph.trim_end());
        } else {
            let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            for line in wrap(&joined, columns) {
                println!("{line}");
            }
        }
        println!();
    }
}
