//! `lockstep list`: the lessons and their kernels.

use super::ending;
use super::exit::{Exit, Stop};
use crate::report::json;
use crate::report::style::{FAINT, HEADING};
use crate::report::width::{Width, indented, wrap};
use host::registry::LESSONS;
use lesson::{KernelEntry, Lesson};
use serde::Serialize;
use std::io::{self, Write};

/// Options of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// As JSON, for programs.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ListedLesson {
    id: &'static str,
    title: &'static str,
    idea: &'static str,
    source: &'static str,
    kernels: Vec<ListedKernel>,
}

#[derive(Serialize)]
struct ListedKernel {
    id: &'static str,
    technique: &'static str,
    params: &'static [&'static str],
    max_threads_per_block: Option<u32>,
    min_sm: u32,
    tolerance: String,
    expected: Vec<ListedExpectation>,
    published: Vec<ListedTime>,
}

#[derive(Serialize)]
struct ListedExpectation {
    metric: String,
    value: Option<f64>,
}

#[derive(Serialize)]
struct ListedTime {
    machine: &'static str,
    shape: &'static str,
    time_ms: f64,
}

impl From<&KernelEntry> for ListedKernel {
    fn from(kernel: &KernelEntry) -> Self {
        Self {
            id: kernel.id,
            technique: kernel.technique,
            params: kernel.param_names,
            max_threads_per_block: kernel.bounds.map(|bounds| bounds.max_threads),
            min_sm: kernel.min_sm,
            tolerance: kernel.tolerance.to_string(),
            expected: kernel
                .expected
                .iter()
                .map(|expected| ListedExpectation {
                    metric: expected.metric.to_string(),
                    value: expected.value,
                })
                .collect(),
            published: kernel
                .published
                .iter()
                .map(|published| ListedTime {
                    machine: published.machine,
                    shape: published.shape,
                    time_ms: published.time_ms,
                })
                .collect(),
        }
    }
}

impl From<&Lesson> for ListedLesson {
    fn from(lesson: &Lesson) -> Self {
        Self {
            id: lesson.id,
            title: lesson.title,
            idea: lesson.idea,
            source: lesson.source,
            kernels: lesson.kernels.iter().map(ListedKernel::from).collect(),
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    ending::print(Exit::Passed, |out| {
        if args.json {
            write_json(out)
        } else {
            write(out, Width::of_stdout())
        }
    })
}

fn write_json(out: &mut dyn Write) -> io::Result<()> {
    let lessons: Vec<_> = LESSONS
        .iter()
        .map(|&lesson| ListedLesson::from(lesson))
        .collect();
    out.write_all(&json::text(&lessons)?)
}

/// For people to read.
fn write(out: &mut dyn Write, width: Width) -> io::Result<()> {
    /// Columns before a kernel's name, or before its description below it.
    const INDENT: usize = 4;
    /// Between the two on one line.
    const GAP: usize = 2;
    /// The description next to the name has at least this many columns.
    const NARROWEST: usize = 30;
    let kernels = LESSONS.iter().flat_map(|lesson| lesson.kernels);
    let widest = kernels.map(|kernel| kernel.id.len()).max().unwrap_or(0);
    let column = INDENT + widest + GAP;
    let is_stacked = width.columns() < column + NARROWEST;
    let column = if is_stacked { INDENT + GAP } else { column };
    for (index, lesson) in LESSONS.iter().enumerate() {
        if index != 0 {
            writeln!(out)?;
        }
        let Lesson {
            id, source, idea, ..
        } = lesson;
        let fits = id.len() + " ()".len() + source.len() <= width.columns();
        let gap = if fits { " " } else { "\n  " };
        writeln!(
            out,
            "{HEADING}{id}{HEADING:#}{gap}{FAINT}({source}){FAINT:#}"
        )?;
        writeln!(out, "{}", indented(idea, 2, width.columns()))?;
        for kernel in lesson.kernels {
            let lines = wrap(kernel.technique, width.columns() - column);
            let mut before = format!("{:INDENT$}{:widest$}{:GAP$}", "", kernel.id, "");
            if is_stacked {
                writeln!(out, "{:INDENT$}{}", "", kernel.id)?;
                before = " ".repeat(column);
            }
            for line in lines {
                writeln!(out, "{before}{FAINT}{line}{FAINT:#}")?;
                before = " ".repeat(column);
            }
        }
    }
    Ok(())
}
