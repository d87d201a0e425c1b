//! Breakpoints as they are written.
//!
//! - `tiles.rs:41`: a source line; also `41`, in the file that the thread is in;
//! - `ptx:120`: a line of the PTX text;
//! - `transpose`: the first instruction of a function, such as a kernel;
//! - `barrier`, `divergence`;
//! - `write out[37]`, `read tile[3][5]`, `access out`: memory, an element or all of it.
//!
//! Each can be followed by a condition: `tiles.rs:41 if tid.x == 3 && %r4 > 7`.

use std::sync::Arc;

use ptx_sim::debug::Position;

use crate::debugger::Debugger;
use crate::expression::NoValue;
use crate::watcher::At;

/// How many lines with code are named if a line has none.
const NEAREST: usize = 2;

/// The place and the condition of a breakpoint.
pub fn split(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    match text
        .split_once(" if ")
        .or(text.strip_suffix(" if").map(|place| (place, "")))
    {
        Some((place, condition)) => (place.trim(), Some(condition.trim())),
        None => (text, None),
    }
}

impl Debugger<'_, '_, '_> {
    /// Adds a breakpoint as it is [written](self). Gives its number.
    ///
    /// # Errors
    /// What is wrong with it, and what there is near.
    pub fn add_breakpoint(&mut self, text: &str) -> Result<u32, NoValue> {
        let (place, condition) = split(text);
        let at = read(self, place)?;
        self.add_breakpoint_at(text, at, condition)
    }
}

/// Reads the place of a breakpoint.
///
/// # Errors
/// What is wrong with it.
pub fn read(debugger: &Debugger<'_, '_, '_>, text: &str) -> Result<At, NoValue> {
    match text {
        "barrier" => return Ok(At::Barrier),
        "divergence" => return Ok(At::Divergence),
        _ => {}
    }
    for (word, reads, writes) in [
        ("write", false, true),
        ("read", true, false),
        ("access", true, true),
    ] {
        if let Some(memory) = text.strip_prefix(word).and_then(|t| t.strip_prefix(' ')) {
            return debugger.accesses_to(memory.trim(), (reads, writes));
        }
    }
    if let Some(line) = text.strip_prefix("ptx:") {
        return ptx_line(debugger, number(line)?);
    }
    match text.rsplit_once(':').filter(|_| !text.contains("::")) {
        Some((file, line)) => source_line(debugger, file.trim(), number(line)?),
        None => match number(text) {
            Ok(line) => source_line(debugger, &current_file(debugger)?, line),
            Err(_) => function(debugger, text).ok_or_else(|| {
                NoValue(format!(
                    "`{text}` is not a place: give `file.rs:41`, `41`, `ptx:120`, a function, \
                     `barrier`, `divergence`, `write out[3]`, `read out[3]` or `access out`"
                ))
            }),
        },
    }
}

/// Where functions of a name begin, with or without the modules that they are in.
pub fn function(debugger: &Debugger<'_, '_, '_>, name: &str) -> Option<At> {
    let program = debugger.program();
    let is_named = |own: &str| {
        own.strip_suffix(name)
            .is_some_and(|path| path.is_empty() || path.ends_with("::"))
    };
    let all = (0..program.n_functions()).filter(|&index| {
        let function = program.function(index);
        !function.spots.is_empty() && is_named(&function.name)
    });
    let first = all.map(|function| Position {
        function,
        instruction: 0,
    });
    executed(debugger, first.collect()).filter(|_| !name.is_empty())
}

fn number(text: &str) -> Result<u32, NoValue> {
    let text = text.trim();
    text.parse()
        .map_err(|_| NoValue(format!("`{text}` is not a line number")))
}

/// The file that the thread is in, else that of the kernel.
fn current_file(debugger: &Debugger<'_, '_, '_>) -> Result<String, NoValue> {
    let program = debugger.program();
    let kernel = Position {
        function: debugger.session().kernel(),
        instruction: 0,
    };
    let here = debugger.position().unwrap_or(kernel);
    let source = program.spot(here).and_then(|spot| spot.source);
    let mut others = program.function(kernel.function).spots.iter();
    let source = source.or_else(|| others.find_map(|spot| spot.source));
    let (file, _) = source.ok_or_else(|| {
        NoValue("the module has no line tables: give a line of the PTX text, as `ptx:120`".into())
    })?;
    Ok(program.files()[file as usize].clone())
}

/// The instructions of a source line that others do not lead to from within it.
///
/// # Errors
/// There are none: the nearest lines with code.
pub fn source_line(debugger: &Debugger<'_, '_, '_>, file: &str, line: u32) -> Result<At, NoValue> {
    let program = debugger.program();
    let files = program.files_named(file);
    if files.is_empty() {
        let known = program.files().join(", ");
        return Err(NoValue(format!(
            "no code comes from a file `{file}`; there is code from {known}"
        )));
    }
    let mut first = Vec::new();
    for function in 0..program.n_functions() {
        let mut before = None;
        for (instruction, spot) in (0..).zip(&program.function(function).spots) {
            let is_there = spot
                .source
                .is_some_and(|(f, l)| files.contains(&f) && l == line);
            if is_there && before != Some(spot.line_key) {
                first.push(Position {
                    function,
                    instruction,
                });
            }
            before = Some(spot.line_key);
        }
    }
    if first.is_empty() {
        return Err(no_code(debugger, file, &files, line));
    }
    executed(debugger, first).ok_or_else(|| no_code(debugger, file, &files, line))
}

/// Where instructions are executed: those that are part of others, at the next one.
pub fn executed(debugger: &Debugger<'_, '_, '_>, instructions: Vec<Position>) -> Option<At> {
    let program = debugger.program();
    let all = instructions.into_iter();
    let mut all: Vec<Position> = all.filter_map(|at| program.executed_from(at)).collect();
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then(|| At::Instructions(Arc::new(all)))
}

fn no_code(debugger: &Debugger<'_, '_, '_>, file: &str, files: &[u32], line: u32) -> NoValue {
    let spots = debugger.program().all().filter_map(|(_, spot)| spot.source);
    let mut lines: Vec<u32> = spots
        .filter(|(f, _)| files.contains(f))
        .map(|(_, line)| line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines.sort_by_key(|other| other.abs_diff(line));
    lines.truncate(2 * NEAREST);
    lines.sort_unstable();
    let near: Vec<String> = lines.iter().map(u32::to_string).collect();
    NoValue(format!(
        "no instruction comes from {file}:{line}; the nearest lines with code are {}",
        near.join(", ")
    ))
}

fn ptx_line(debugger: &Debugger<'_, '_, '_>, line: u32) -> Result<At, NoValue> {
    let spots = debugger.program().all();
    let mut all: Vec<(u32, Position)> = spots.map(|(at, spot)| (spot.ptx_line, at)).collect();
    let here = all.iter().filter(|(own, _)| *own == line);
    let here: Vec<Position> = here.map(|(_, position)| *position).collect();
    if here.is_empty() {
        all.sort_by_key(|(own, _)| own.abs_diff(line));
        let near = all.first().map_or(0, |(line, _)| *line);
        return Err(NoValue(format!(
            "there is no instruction in line {line} of the PTX text; the nearest is in line {near}"
        )));
    }
    executed(debugger, here).ok_or_else(|| {
        NoValue(format!(
            "nothing is executed from line {line} of the PTX text on"
        ))
    })
}
