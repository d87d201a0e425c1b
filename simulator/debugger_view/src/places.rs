//! Source lines and instructions that the cursor can be on, and the breakpoints there.

use std::collections::BTreeSet;

use debugger::{At, Debugger};
use ptx_sim::debug::Position;
use ptx_sim::diagnostics::Place;

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A line of a source file, from 1.
    Source {
        /// The file, as the compiler wrote it.
        file: String,
        /// The line.
        line: u32,
    },
    /// An instruction.
    Ptx(Position),
}

/// Where the thread is that is looked at, in PTX and in the source.
pub fn here(debugger: &Debugger<'_, '_, '_>) -> Option<(Position, Place)> {
    let position = debugger.position()?;
    Some((position, debugger.session().place(position)))
}

impl Spot {
    /// Where an instruction is: its source line if its file can be read.
    pub fn of(
        debugger: &Debugger<'_, '_, '_>,
        position: Position,
        place: &Place,
        only_ptx: bool,
    ) -> Self {
        let source = place.source.as_ref().filter(|source| {
            let lines = debugger.sources().lines(&source.file);
            !only_ptx && lines.is_some()
        });
        match source {
            Some(source) => Self::Source {
                file: source.file.clone(),
                line: source.line,
            },
            None => Self::Ptx(position),
        }
    }

    /// The place so many lines further, within its file or its function.
    pub fn moved(&self, debugger: &Debugger<'_, '_, '_>, n: i32) -> Self {
        match self {
            Self::Source { file, line } => {
                let lines = debugger.sources().lines(file);
                let n_lines = lines.map_or(1, |lines| lines.len() as u32).max(1);
                Self::Source {
                    file: file.clone(),
                    line: line.saturating_add_signed(n).clamp(1, n_lines),
                }
            }
            Self::Ptx(position) => {
                let spots = &debugger.program().function(position.function).spots;
                let last = (spots.len() as u32).saturating_sub(1);
                let instruction = position.instruction.saturating_add_signed(n).min(last);
                Self::Ptx(Position {
                    instruction,
                    ..*position
                })
            }
        }
    }

    /// As a breakpoint's place is written.
    pub fn text(&self, debugger: &Debugger<'_, '_, '_>) -> String {
        match self {
            Self::Source { file, line } => format!("{file}:{line}"),
            Self::Ptx(position) => {
                let spot = debugger.program().spot(*position);
                format!("ptx:{}", spot.map_or(0, |spot| spot.ptx_line))
            }
        }
    }

    /// The breakpoints that are there.
    pub fn breakpoints(&self, debugger: &Debugger<'_, '_, '_>) -> Vec<u32> {
        let is_here = |position: &Position| match self {
            Self::Source { file, line } => {
                line_of(debugger, *position).is_some_and(|(own, at)| own == file && at == *line)
            }
            Self::Ptx(own) => own == position,
        };
        let here = debugger.breakpoints().iter().filter(|b| match &b.at {
            At::Instructions(all) => all.iter().any(is_here),
            _ => false,
        });
        here.map(|breakpoint| breakpoint.id).collect()
    }
}

fn line_of<'a>(debugger: &'a Debugger<'_, '_, '_>, position: Position) -> Option<(&'a str, u32)> {
    let program = debugger.program();
    let (file, line) = program.spot(position)?.source?;
    Some((&program.files()[file as usize], line))
}

/// The instructions with breakpoints.
pub fn positions_with_breakpoints(debugger: &Debugger<'_, '_, '_>) -> BTreeSet<Position> {
    let all = debugger.breakpoints().iter();
    let instructions = all.filter_map(|breakpoint| match &breakpoint.at {
        At::Instructions(all) => Some(all.iter().copied()),
        _ => None,
    });
    instructions.flatten().collect()
}

/// The lines of a file with breakpoints.
pub fn lines_with_breakpoints(debugger: &Debugger<'_, '_, '_>, file: &str) -> BTreeSet<u32> {
    let all = positions_with_breakpoints(debugger).into_iter();
    let lines = all.filter_map(|position| line_of(debugger, position));
    lines
        .filter(|(own, _)| *own == file)
        .map(|(_, line)| line)
        .collect()
}
