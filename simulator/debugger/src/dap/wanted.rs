//! Breakpoints as the editor wants them. They are kept from launch to launch, and placed in each.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::addresses::{self, SUFFIX};
use super::capabilities::Editor;
use super::request::{Request, number, text};
use crate::debugger::Debugger;
use crate::expression::NoValue;
use crate::places;
use crate::watcher::At;

/// By which request breakpoints are set. Each replaces those of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of a source file, or of the PTX of a function.
    Source(String),
    /// By the names of functions.
    Functions,
    /// On memory.
    Data,
    Instructions,
    /// Where something happens that has no place.
    Exceptions,
}

/// Where a breakpoint is wanted.
#[derive(Clone, Debug)]
enum Place {
    Line(String, u32),
    /// A line of the PTX of a function.
    Listing(String, u32),
    Function(String),
    /// An instruction, by its address in a disassembly.
    Instruction(u64),
    /// As [`places`] reads it.
    Written(String),
}

/// A breakpoint that is wanted.
#[derive(Clone, Debug)]
struct Breakpoint {
    id: i64,
    kind: Kind,
    place: Place,
    condition: Option<String>,
    /// Why it cannot be had in any launch.
    refused: Option<String>,
    /// Its number in the launch under control.
    number: Option<u32>,
}

/// All that the editor wants to halt at.
#[derive(Debug)]
pub struct Wanted {
    all: Vec<Breakpoint>,
    n_ever: i64,
    /// Whether to halt at what the checks find.
    pub findings: bool,
    /// Whether to halt where the launch fails.
    pub faults: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            n_ever: 0,
            findings: true,
            faults: true,
        }
    }
}

impl Wanted {
    /// Sets breakpoints, if that is what a request asks for, in a launch if there is one. Gives
    /// what the editor is told of each.
    pub fn set(
        &mut self,
        request: &Request,
        editor: Editor,
        mut debugger: Option<&mut Debugger<'_, '_, '_>>,
    ) -> Option<Vec<Value>> {
        let (kind, places) = self.read(request, editor)?;
        for old in self.all.iter().filter(|old| old.kind == kind) {
            if let (Some(debugger), Some(number)) = (debugger.as_deref_mut(), old.number) {
                debugger.remove_breakpoint(number);
            }
        }
        self.all.retain(|old| old.kind != kind);
        let mut answers = Vec::new();
        for read in places {
            self.n_ever += 1;
            let refused = match (read.counts, &read.place) {
                (true, _) => Some("hits are not counted: give a condition"),
                (false, None) => Some("it names no place"),
                (false, Some(_)) => None,
            };
            let mut breakpoint = Breakpoint {
                id: self.n_ever,
                kind: kind.clone(),
                place: read.place.unwrap_or(Place::Written(String::new())),
                condition: read.condition,
                refused: refused.map(str::to_owned),
                number: None,
            };
            let result = match &mut debugger {
                Some(debugger) => breakpoint.put(debugger),
                None => Err(NoValue("no launch is under control yet".to_owned())),
            };
            answers.push(breakpoint.answer(result, editor));
            self.all.push(breakpoint);
        }
        Some(answers)
    }

    /// Sets all in a new launch. Gives what the editor is told of each.
    pub fn put_all(&mut self, debugger: &mut Debugger<'_, '_, '_>, editor: Editor) -> Vec<Value> {
        let all = self.all.iter_mut();
        all.map(|breakpoint| {
            let result = breakpoint.put(debugger);
            breakpoint.answer(result, editor)
        })
        .collect()
    }

    /// The kind of a breakpoint of the launch, by its number in it, and its number here.
    pub fn find(&self, number: u32) -> Option<(&Kind, i64)> {
        let found = self.all.iter().find(|own| own.number == Some(number))?;
        Some((&found.kind, found.id))
    }

    /// How the editor writes the path of a file, if it has breakpoints there.
    pub fn spelling(&self, file: &Path) -> Option<&str> {
        self.all
            .iter()
            .find_map(|breakpoint| match &breakpoint.kind {
                Kind::Source(path) if real(Path::new(path)).as_deref() == Some(file) => {
                    Some(path.as_str())
                }
                _ => None,
            })
    }

    fn read(&mut self, request: &Request, editor: Editor) -> Option<(Kind, Vec<Read>)> {
        let (kind, place): (Kind, &ReadPlace<'_>) = match request.command.as_str() {
            "setBreakpoints" => {
                let (kind, of_source) = source(request)?;
                let line = |one: &Value| Some(editor.line(number(one, "line")?));
                let place = |one: &Value| Some(of_source(line(one)?));
                return Some((kind, read_all(request, &place)));
            }
            "setFunctionBreakpoints" => (Kind::Functions, &function),
            "setDataBreakpoints" => (Kind::Data, &data),
            "setInstructionBreakpoints" => (Kind::Instructions, &instruction),
            "setExceptionBreakpoints" => return Some((Kind::Exceptions, self.filters(request))),
            _ => return None,
        };
        Some((kind, read_all(request, place)))
    }

    fn filters(&mut self, request: &Request) -> Vec<Read> {
        let is_on = |name: &str| request.list("filters").iter().any(|filter| filter == name);
        self.findings = is_on("findings");
        self.faults = is_on("faults");
        let places = [("barriers", "barrier"), ("divergence", "divergence")];
        let places = places.iter().filter(|(filter, _)| is_on(filter));
        places
            .map(|(_, place)| Read {
                place: Some(Place::Written((*place).to_owned())),
                condition: None,
                counts: false,
            })
            .collect()
    }
}

/// A breakpoint as it is asked for.
struct Read {
    place: Option<Place>,
    condition: Option<String>,
    /// Whether hits are to be counted.
    counts: bool,
}

/// Reads the place of one of a list.
type ReadPlace<'a> = dyn Fn(&Value) -> Option<Place> + 'a;

fn read_all(request: &Request, place: &ReadPlace<'_>) -> Vec<Read> {
    let text = |one, name| text(one, name).filter(|text| !text.trim().is_empty());
    let all = request.list("breakpoints").iter();
    all.map(|one| Read {
        place: place(one),
        condition: text(one, "condition").map(str::to_owned),
        counts: text(one, "hitCondition").is_some(),
    })
    .collect()
}

/// The source that breakpoints are set in, and what they are in it by their line.
fn source(request: &Request) -> Option<(Kind, impl Fn(u32) -> Place)> {
    let source = request.arguments().get("source")?;
    let listing = number(source, "sourceReference").filter(|&reference| reference > 0);
    let name = match listing {
        Some(_) => text(source, "name")?,
        None => text(source, "path")?,
    };
    let file = name.strip_prefix("file://").unwrap_or(name).to_owned();
    let function = name.strip_suffix(SUFFIX).unwrap_or(name).to_owned();
    let place = move |line| match listing {
        Some(_) => Place::Listing(function.clone(), line),
        None => Place::Line(file.clone(), line),
    };
    Some((Kind::Source(name.to_owned()), place))
}

fn function(one: &Value) -> Option<Place> {
    Some(Place::Function(text(one, "name")?.trim().to_owned()))
}

fn data(one: &Value) -> Option<Place> {
    let how = match text(one, "accessType") {
        Some("read") => "read",
        Some("readWrite") => "access",
        _ => "write",
    };
    Some(Place::Written(format!("{how} {}", text(one, "dataId")?)))
}

fn instruction(one: &Value) -> Option<Place> {
    let address = addresses::address(text(one, "instructionReference")?)?;
    let offset = number(one, "offset").unwrap_or(0);
    Some(Place::Instruction(address.checked_add_signed(offset)?))
}

impl Breakpoint {
    /// Sets it in a launch. Gives the line that it is at, if it has one.
    fn put(&mut self, debugger: &mut Debugger<'_, '_, '_>) -> Result<Option<u32>, NoValue> {
        self.number = None;
        if let Some(why) = &self.refused {
            return Err(NoValue(why.clone()));
        }
        let at = self.place.find(debugger)?;
        let line = self.place.line(debugger, &at);
        let text = self.place.to_string();
        let number = debugger.add_breakpoint_at(&text, at, self.condition.as_deref())?;
        self.number = Some(number);
        Ok(line)
    }

    /// What the editor is told of it.
    fn answer(&self, result: Result<Option<u32>, NoValue>, editor: Editor) -> Value {
        let mut answer = json!({"id": self.id, "verified": result.is_ok()});
        let mut line = match self.place {
            Place::Line(_, line) | Place::Listing(_, line) => Some(line),
            _ => None,
        };
        match result {
            Ok(actual) => line = actual.or(line),
            Err(NoValue(why)) => answer["message"] = json!(why),
        }
        if let Some(line) = line {
            answer["line"] = json!(editor.their_line(line));
        }
        answer
    }
}

impl Place {
    /// The line of the first instruction that was found: another one than was asked for, if what is
    /// there is part of what follows.
    fn line(&self, debugger: &Debugger<'_, '_, '_>, at: &At) -> Option<u32> {
        let At::Instructions(all) = at else {
            return None;
        };
        let first = *all.first()?;
        match self {
            Self::Line(..) => Some(debugger.program().spot(first)?.source?.1),
            Self::Listing(..) => Some(addresses::line_of(first)),
            _ => None,
        }
    }

    fn find(&self, debugger: &Debugger<'_, '_, '_>) -> Result<At, NoValue> {
        match self {
            Self::Line(file, line) => source_line(debugger, file, *line),
            Self::Listing(function, line) => addresses::listed(debugger, function, *line)
                .and_then(|position| places::executed(debugger, vec![position]))
                .ok_or_else(|| NoValue(format!("`{function}` has no instruction there"))),
            Self::Function(name) => places::function(debugger, name).ok_or_else(|| {
                let kernel = debugger.session().kernel();
                let kernel = &debugger.program().function(kernel).name;
                NoValue(format!(
                    "this launch, of `{kernel}`, has no function `{name}`"
                ))
            }),
            Self::Instruction(address) => addresses::position(debugger, *address)
                .and_then(|position| places::executed(debugger, vec![position]))
                .ok_or_else(|| NoValue(format!("there is no instruction at {address:#x}"))),
            Self::Written(text) => places::read(debugger, text),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::Listing(function, line) => write!(f, "{function}{}:{line}", SUFFIX),
            Self::Function(name) => f.write_str(name),
            Self::Instruction(address) => write!(f, "{address:#x}"),
            Self::Written(text) => f.write_str(text),
        }
    }
}

/// The instructions of a line of a file of the editor: the compiler may have known it by several
/// names.
fn source_line(debugger: &Debugger<'_, '_, '_>, file: &str, line: u32) -> Result<At, NoValue> {
    let real_file = real(Path::new(file));
    let names = debugger.program().files().iter().filter(|name| {
        let own = debugger.sources().path(name);
        real_file.is_some() && own.and_then(|path| real(&path)) == real_file
    });
    let found: Vec<Result<At, NoValue>> = names
        .map(|name| places::source_line(debugger, name, line))
        .collect();
    let mut all = Vec::new();
    for at in found.iter().flatten() {
        if let At::Instructions(positions) = at {
            all.extend_from_slice(positions);
        }
    }
    match (all.is_empty(), found.into_iter().next()) {
        (false, _) => {
            all.sort_unstable();
            all.dedup();
            Ok(At::Instructions(Arc::new(all)))
        }
        (true, Some(first)) => first,
        (true, None) => places::source_line(debugger, file, line),
    }
}

/// A file's path without links and without `..`.
pub fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
