//! From entries to functions, inlined calls and their variables.
//!
//! A scope is a set of lines, which DWARF often makes too large: from the first instruction of an
//! inlined call to its last, with others between. So a variable of an inlined call is in scope only
//! where the instruction's own place (`.loc … inlined_at`) is in that call too, if PTX says it.

use super::entries::{Entries, Entry, Value};
use super::flow::{Flow, Ranges};
use super::lists;
use super::location::Frame;
use super::sections::Sections;
use super::types::{Type, Types};
use gimli::{DwAt, constants as dwarf};
use ptx::ir::{self, Module, Space};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Calls around a place, the innermost first: file, line, column.
pub(super) type Calls = Arc<[(u32, u32, u32)]>;

/// A function of the PTX.
#[derive(Debug)]
pub(super) struct Function {
    pub sections: Arc<Sections>,
    pub flow: Flow,
    pub ranges: Ranges,
    pub registers: HashMap<String, Register>,
    /// Spaces of the variables of the PTX.
    pub spaces: HashMap<String, Space>,
    /// By instruction, the calls that it was inlined at; `None` if that is not known.
    pub calls: Vec<Option<Calls>>,
    pub declared: Vec<Declared>,
}

/// A register with a name of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    pub id: ir::RegId,
    pub size: u64,
}

/// A variable of the source.
#[derive(Debug)]
pub(super) struct Declared {
    pub name: String,
    pub is_parameter: bool,
    pub ty: Arc<Type>,
    pub frame: Arc<Frame>,
    pub calls: Calls,
    /// The instructions that it is in scope at.
    pub scope: Vec<Range<usize>>,
    /// By instructions, the operations that name its place.
    pub located: Vec<(Range<usize>, Vec<u8>)>,
    /// Whether it is in one place throughout its scope.
    pub has_one_place: bool,
}

/// The functions of the module that are described, by name.
pub(super) fn functions(
    entries: &Entries,
    sections: Sections,
    module: &Module,
) -> HashMap<String, Function> {
    let sections = Arc::new(sections);
    let mut types = Types::new(entries);
    let mut functions: HashMap<String, Function> = HashMap::new();
    for (index, entry) in entries.all.iter().enumerate() {
        if entry.tag != dwarf::DW_TAG_subprogram {
            continue;
        }
        let lines = lines(entries, index, &sections);
        let Some((id, function)) = lines.first().and_then(|lines| within(module, lines)) else {
            continue;
        };
        let mut reader = Reader {
            entries,
            sections: &sections,
            types: &mut types,
            body: function.body.as_deref().unwrap_or_default(),
            declared: Vec::new(),
        };
        reader.function(index, &lines);
        let declared = reader.declared;
        let ranges = ranges(entries.unit(index));
        functions
            .entry(function.name.clone())
            .or_insert_with(|| Function {
                sections: sections.clone(),
                flow: Flow::of(function),
                ranges,
                registers: registers(function),
                spaces: spaces(module, id, function),
                calls: calls(module, function),
                declared: Vec::new(),
            })
            .declared
            .extend(declared);
    }
    functions
}

/// The function whose instructions are all on these lines.
fn within<'a>(module: &'a Module, lines: &Range<u64>) -> Option<(ir::FuncId, &'a ir::Function)> {
    let is_within = |function: &ir::Function| {
        let mut body = function.body.iter().flatten();
        let first = body.next();
        let last = body.next_back().or(first);
        let is_on = |instruction: &ir::Instruction| lines.contains(&u64::from(instruction.line));
        first.is_some_and(is_on) && last.is_some_and(is_on)
    };
    let mut functions = (0..).map(ir::FuncId).zip(&module.functions);
    functions.find(|(_, function)| is_within(function))
}

/// How the compiler of a unit writes ranges: as upstream LLVM does, or unknown.
fn ranges(unit: &Entry) -> Ranges {
    let producer = unit.text(dwarf::DW_AT_producer).unwrap_or_default();
    match producer.contains("LLVM (rustc") || producer.contains("clang version") {
        true => Ranges::Restated,
        false => Ranges::ByText,
    }
}

/// The registers by name; not those that several scopes have.
fn registers(function: &ir::Function) -> HashMap<String, Register> {
    let mut registers = HashMap::new();
    let mut several = HashSet::new();
    for (id, register) in (0..).map(ir::RegId).zip(&function.registers) {
        let size = u64::from(register.ty.size_bytes());
        let known = registers.insert(register.name.clone(), Register { id, size });
        if known.is_some() {
            several.insert(&register.name);
        }
    }
    registers.retain(|name, _| !several.contains(name));
    registers
}

/// The spaces of the variables that a function can name.
fn spaces(module: &Module, id: ir::FuncId, function: &ir::Function) -> HashMap<String, Space> {
    let mut spaces = HashMap::new();
    for variable in &module.variables {
        if variable.scope.is_none_or(|scope| scope == id) {
            spaces.insert(variable.name.clone(), variable.space);
        }
    }
    for local in &function.locals {
        spaces.insert(local.name.clone(), local.space);
    }
    for param in &function.params {
        spaces.insert(param.name.clone(), Space::Param);
    }
    spaces
}

/// By instruction, the calls that it was inlined at.
fn calls(module: &Module, function: &ir::Function) -> Vec<Option<Calls>> {
    let mut known: HashMap<ir::SourceLoc, Calls> = HashMap::new();
    let mut of = |loc: ir::SourceLoc| {
        let calls = known.entry(loc).or_insert_with(|| {
            let calls = module.calls_around(loc);
            calls.map(|at| (at.file, at.line, at.column)).collect()
        });
        calls.clone()
    };
    // Line 0 stands for code that belongs to no line.
    let is_known = |loc: &ir::SourceLoc| loc.line != 0 && !module.call_sites.is_empty();
    let body = function.body.iter().flatten();
    body.map(|instruction| instruction.loc.filter(is_known).map(&mut of))
        .collect()
}

/// The lines that an entry covers.
fn lines(entries: &Entries, index: usize, sections: &Sections) -> Vec<Range<u64>> {
    let entry = &entries.all[index];
    if let Some(offset) = offset(entry, dwarf::DW_AT_ranges) {
        return lists::ranges(sections, offset, base(entries, index));
    }
    let (Some(low), Some(high)) = (
        entry.number(dwarf::DW_AT_low_pc),
        entry.number(dwarf::DW_AT_high_pc),
    ) else {
        return Vec::new();
    };
    std::iter::once(low..high).collect()
}

/// The address that those in a unit's lists are relative to.
fn base(entries: &Entries, index: usize) -> u64 {
    entries.unit(index).number(dwarf::DW_AT_low_pc).unwrap_or(0)
}

/// An offset in another section, which DWARF 2 does not tell from other numbers.
fn offset(entry: &Entry, of: DwAt) -> Option<usize> {
    match *entry.value(of)? {
        Value::Offset(offset) => Some(offset),
        Value::Number(number) => usize::try_from(number).ok(),
        _ => None,
    }
}

/// What is around a variable.
#[derive(Clone)]
struct Scope {
    frame: Arc<Frame>,
    calls: Calls,
    instructions: Vec<Range<usize>>,
}

/// Reads the variables of a function.
struct Reader<'a, 'b> {
    entries: &'a Entries,
    sections: &'a Sections,
    types: &'b mut Types<'a>,
    body: &'a [ir::Instruction],
    declared: Vec<Declared>,
}

impl Reader<'_, '_> {
    /// Reads a function and all in it.
    fn function(&mut self, index: usize, lines: &[Range<u64>]) {
        let scope = Scope {
            frame: Arc::new(Frame {
                function: self.entries.name(index).unwrap_or_default().to_owned(),
                depth: 0,
                called_at: None,
            }),
            calls: Arc::new([]),
            instructions: self.instructions(lines),
        };
        // Not by recursion: malformed entries may be nested as deep as they are long.
        let mut waiting = vec![(index, scope)];
        let mut next = 0;
        while let Some((index, scope)) = waiting.get(next).cloned() {
            next += 1;
            let mut described = HashSet::new();
            for &child in self.entries.children(index) {
                described.extend(self.entries.origins(child).skip(1));
                match self.entries.all[child].tag {
                    dwarf::DW_TAG_variable | dwarf::DW_TAG_formal_parameter => {
                        self.variable(child, &scope);
                    }
                    dwarf::DW_TAG_lexical_block | dwarf::DW_TAG_inlined_subroutine => {
                        waiting.push((child, self.inside(child, &scope)));
                    }
                    _ => {}
                }
            }
            self.left_out(index, &described, &scope);
        }
    }

    /// The instructions on some lines.
    fn instructions(&self, lines: &[Range<u64>]) -> Vec<Range<usize>> {
        let at = |line: u64| {
            let is_before = |instruction: &ir::Instruction| u64::from(instruction.line) < line;
            self.body.partition_point(is_before)
        };
        let ranges = lines.iter().map(|lines| at(lines.start)..at(lines.end));
        ranges.filter(|range| !range.is_empty()).collect()
    }

    /// The scope that a block or an inlined call makes.
    fn inside(&self, index: usize, around: &Scope) -> Scope {
        let entry = &self.entries.all[index];
        let lines = lines(self.entries, index, self.sections);
        let mut scope = around.clone();
        // A block without lines has no code of its own, only variables.
        if !lines.is_empty() {
            scope.instructions = self.instructions(&lines);
        }
        if entry.tag == dwarf::DW_TAG_inlined_subroutine {
            let number = |of| {
                let number = entry.number(of)?;
                u32::try_from(number).ok()
            };
            let called_at = (
                number(dwarf::DW_AT_call_file).unwrap_or(0),
                number(dwarf::DW_AT_call_line).unwrap_or(0),
                number(dwarf::DW_AT_call_column).unwrap_or(0),
            );
            scope.calls = std::iter::once(called_at)
                .chain(around.calls.iter().copied())
                .collect();
            scope.frame = Arc::new(Frame {
                function: self.entries.name(index).unwrap_or_default().to_owned(),
                depth: around.frame.depth + 1,
                called_at: Some(called_at),
            });
        }
        scope
    }

    fn variable(&mut self, index: usize, scope: &Scope) {
        let entry = &self.entries.all[index];
        let Some(name) = self.entries.name(index) else {
            return;
        };
        let always = |operations: Vec<u8>| {
            let ranges = scope.instructions.iter();
            ranges
                .map(|range| (range.clone(), operations.clone()))
                .collect()
        };
        let has_one_place = matches!(entry.value(dwarf::DW_AT_location), Some(Value::Bytes(_)));
        let located = match entry.value(dwarf::DW_AT_location) {
            Some(Value::Bytes(operations)) if !operations.is_empty() => always(operations.clone()),
            Some(Value::Offset(_) | Value::Number(_)) => self.list(index),
            _ => match entry.value(dwarf::DW_AT_const_value) {
                Some(constant) => always(operations(constant)),
                None => Vec::new(),
            },
        };
        self.declared.push(Declared {
            name: name.to_owned(),
            is_parameter: entry.tag == dwarf::DW_TAG_formal_parameter,
            ty: self.types.of(self.entries.type_of(index)),
            frame: scope.frame.clone(),
            calls: scope.calls.clone(),
            scope: scope.instructions.clone(),
            located,
            has_one_place,
        });
    }

    /// The location list of a variable.
    fn list(&self, index: usize) -> Vec<(Range<usize>, Vec<u8>)> {
        let Some(offset) = offset(&self.entries.all[index], dwarf::DW_AT_location) else {
            return Vec::new();
        };
        let base = base(self.entries, index);
        let located = lists::locations(self.sections, offset, base).into_iter();
        let located = located.filter_map(|(lines, operations)| {
            let range = self.instructions(&[lines]).pop()?;
            Some((range, operations))
        });
        let mut located: Vec<_> = located.collect();
        located.sort_by_key(|(range, _)| (range.start, range.end));
        located
    }

    /// Variables that the source's function has and this copy of it does not mention.
    fn left_out(&mut self, index: usize, described: &HashSet<usize>, scope: &Scope) {
        let Some(origin) = self.entries.origins(index).nth(1) else {
            return;
        };
        for &child in self.entries.children(origin) {
            let entry = &self.entries.all[child];
            let is_variable = matches!(
                entry.tag,
                dwarf::DW_TAG_variable | dwarf::DW_TAG_formal_parameter
            );
            if is_variable && !described.contains(&child) {
                self.variable(child, scope);
            }
        }
    }
}

/// A constant as operations.
fn operations(constant: &Value) -> Vec<u8> {
    let (operation, number) = match constant {
        Value::Number(number) => (dwarf::DW_OP_const8u, *number),
        Value::Signed(number) => (dwarf::DW_OP_const8s, *number as u64),
        Value::Bytes(bytes) if bytes.len() < 128 => {
            let size = bytes.len() as u8;
            let head = [dwarf::DW_OP_implicit_value.0, size];
            return head.into_iter().chain(bytes.iter().copied()).collect();
        }
        _ => return Vec::new(),
    };
    let head = std::iter::once(operation.0);
    head.chain(number.to_le_bytes()).collect()
}
