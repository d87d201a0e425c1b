//! A kernel's code, as known before it runs: its source lines, and how deep they are in calls.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::ir::{self, RegId};
use ptx_sim::debug::{Position, Session};
use ptx_sim::diagnostics::{Place, Source};

/// A module's code, shared by what looks for places in it.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    functions: Vec<Function>,
    /// Source files, as the compiler wrote them.
    files: Vec<String>,
}

/// A function.
#[derive(Default)]
pub struct Function {
    /// Its name, demangled.
    pub name: String,
    /// Its instructions.
    pub spots: Vec<Spot>,
    registers: HashMap<String, RegId>,
}

/// What is known of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The same for all instructions of a source line in one chain of inlined calls.
    pub line_key: u32,
    /// How many calls it was inlined through.
    pub depth: u32,
    /// The number of its file and its line, in the package of the kernel; if it is known.
    pub source: Option<(u32, u32)>,
    /// Its line in the PTX text, from 1.
    pub ptx_line: u32,
    /// Whether threads wait for each other there.
    pub is_barrier: bool,
    /// Whether it may access memory.
    pub may_access: bool,
    /// Whether it is executed, and not part of another one: a launch can be halted there.
    pub is_executed: bool,
}

impl Program {
    /// Of the module of a launch.
    pub fn of(session: &Session<'_, '_>) -> Self {
        let module = session.module();
        let mut keys = Keys::default();
        let mut functions = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            let body = function.body.as_deref().unwrap_or_default();
            let executed = session.executed(index);
            let mut spots: Vec<Spot> = Vec::new();
            for (instruction, at) in (0..).zip(body) {
                let position = Position {
                    function: index,
                    instruction,
                };
                let place = session.place(position);
                let mut spot = keys.spot(&place, at);
                spot.is_executed = executed.binary_search(&instruction).is_ok();
                // A line of a library whose caller is not known belongs to the line before it.
                if is_librarys(&place)
                    && let Some(before) = spots.last()
                {
                    (spot.line_key, spot.depth) = (before.line_key, before.depth);
                    spot.source = before.source;
                }
                spots.push(spot);
            }
            functions.push(Function {
                spots,
                name: ptx_sim::readable(&function.name),
                registers: (0..)
                    .zip(&function.registers)
                    .map(|(id, register)| (register.name.clone(), RegId(id)))
                    .collect(),
            });
        }
        Self(Arc::new(Inner {
            functions,
            files: keys.files,
        }))
    }

    /// A function, by its number in the module.
    pub fn function(&self, index: usize) -> &Function {
        &self.0.functions[index]
    }

    /// How many functions there are.
    pub fn n_functions(&self) -> usize {
        self.0.functions.len()
    }

    /// What is known of an instruction.
    pub fn spot(&self, position: Position) -> Option<Spot> {
        let function = self.0.functions.get(position.function)?;
        function.spots.get(position.instruction as usize).copied()
    }

    /// The first instruction from this one on that a launch can be halted at.
    pub fn executed_from(&self, position: Position) -> Option<Position> {
        let spots = &self.0.functions.get(position.function)?.spots;
        let rest = spots.get(position.instruction as usize..)?;
        let n = rest.iter().position(|spot| spot.is_executed)?;
        Some(Position {
            instruction: position.instruction + n as u32,
            ..position
        })
    }

    /// A register of a function, by its name.
    pub fn register(&self, function: usize, name: &str) -> Option<RegId> {
        self.0.functions.get(function)?.registers.get(name).copied()
    }

    /// Source files, as the compiler wrote them.
    pub fn files(&self) -> &[String] {
        &self.0.files
    }

    /// All instructions.
    pub fn all(&self) -> impl Iterator<Item = (Position, Spot)> {
        let functions = self.0.functions.iter().enumerate();
        functions.flat_map(|(index, function)| {
            let position = move |instruction| Position {
                function: index,
                instruction,
            };
            (0..)
                .zip(&function.spots)
                .map(move |(i, &spot)| (position(i), spot))
        })
    }

    /// The files whose path ends with a name, at a folder's boundary.
    pub fn files_named(&self, name: &str) -> Vec<u32> {
        let name = name.trim_start_matches("./");
        let is_named = |file: &str| {
            file.strip_suffix(name)
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let files = (0..).zip(&self.0.files);
        let named = files.filter(|(_, file)| is_named(file) || name.ends_with(*file));
        named.map(|(number, _)| number).collect()
    }
}

/// Numbers for lines and files.
#[derive(Default)]
struct Keys {
    files: Vec<String>,
    keys: HashMap<(Vec<Source>, u32), u32>,
}

impl Keys {
    fn spot(&mut self, place: &Place, instruction: &ir::Instruction) -> Spot {
        let chain: Vec<Source> = place
            .source
            .iter()
            .chain(&place.inlined_at)
            .map(without_column)
            .collect();
        let n = self.keys.len() as u32;
        // Without a source each line of the PTX text stands for itself.
        let line = match chain.is_empty() {
            true => place.ptx_line,
            false => 0,
        };
        let line_key = *self.keys.entry((chain, line)).or_insert(n);
        let source = place.source.as_ref();
        Spot {
            line_key,
            depth: place.inlined_at.len() as u32,
            source: source.map(|source| (self.file(&source.file), source.line)),
            ptx_line: place.ptx_line,
            is_barrier: is_barrier(&instruction.opcode),
            may_access: may_access(&instruction.opcode),
            is_executed: false,
        }
    }

    fn file(&mut self, name: &str) -> u32 {
        let known = self.files.iter().position(|file| file == name);
        known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        }) as u32
    }
}

/// Whether a place is in Rust's library, and nothing says what it was inlined in.
fn is_librarys(place: &Place) -> bool {
    let is_library = |file: &str| {
        let folders = ["core/", "alloc/", "std/"];
        folders.iter().any(|folder| file.starts_with(folder)) || file.contains("/rustlib/src/")
    };
    let source = place.source.as_ref();
    place.inlined_at.is_empty() && source.is_some_and(|source| is_library(&source.file))
}

fn without_column(source: &Source) -> Source {
    Source {
        column: 0,
        ..source.clone()
    }
}

/// Whether an instruction may access memory.
fn may_access(opcode: &str) -> bool {
    const NAMES: [&str; 9] = [
        "ld", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "mbarrier", "wmma",
    ];
    let name = opcode.split('.').next().unwrap_or_default();
    NAMES.contains(&name) || matches!(name, "ldu" | "wgmma" | "call")
}

/// Whether threads wait for each other at an instruction.
fn is_barrier(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    match parts.next().unwrap_or_default() {
        "bar" | "barrier" => true,
        "mbarrier" => parts.any(|part| part.ends_with("wait") || part.starts_with("arrive")),
        _ => false,
    }
}
