//! The functions of a PTX module, with the source lines that access local memory.

use crate::requests::entry_name;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The beginning of LLVM's name for a function's local memory.
pub const DEPOT: &str = "__local_depot";

/// Whose source file a path in the PTX names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    User,
    Core,
    Library,
}

/// File and line.
pub type Place = (u32, u32);

/// File, line and column, as in `.loc`.
type Loc = (u32, u32, u32);

/// A function, as far as it matters here.
#[derive(Default)]
pub struct Function<'a> {
    pub name: &'a str,
    pub is_entry: bool,
    /// Size of its local memory.
    pub bytes: u64,
    pub calls: Vec<&'a str>,
    /// Where it gives an address in its local memory to a call that is yet to come.
    given: Vec<At>,
    /// The same for calls that have come: with the call's operands, of which one is the function.
    passed: Vec<(&'a str, At)>,
    /// Whose source it is.
    owner: Option<Owner>,
    /// Registers that hold an address in local memory which is known when it is compiled.
    fixed: BTreeSet<&'a str>,
    /// The user's lines with accesses at computed addresses, and how many each has.
    computed: BTreeMap<Place, usize>,
    /// Those with other accesses.
    known: BTreeMap<Place, usize>,
    /// Whether a library has accesses at computed addresses.
    is_librarys: bool,
}

impl<'a> Function<'a> {
    /// The function that a line begins: `.visible .entry NAME(` or
    /// `.func (.param .b32 func_retval0) NAME(`.
    fn begins(line: &'a str) -> Option<Self> {
        let (name, is_entry) = match (entry_name(line), line.split_once(".func")) {
            (Some(name), _) => (name, true),
            (None, Some((before, after))) if !before.contains("//") => {
                let after = after.trim_start();
                let after = match after.strip_prefix('(') {
                    Some(results) => results.split_once(')')?.1,
                    None => after,
                };
                (after.split('(').next()?.trim(), false)
            }
            _ => return None,
        };
        Some(Self {
            name,
            is_entry,
            fixed: BTreeSet::from(["%SP", "%SPL"]),
            ..Self::default()
        })
    }

    /// The line with most accesses at computed addresses, or else with most others, and which of the
    /// two it is; of several lines, the first. `None` if the local memory is a library's.
    pub fn place(&self) -> Option<(Place, bool)> {
        let most = |lines: &BTreeMap<Place, usize>, is_index| {
            let most = lines.iter().rev().max_by_key(|&(_, n)| n)?;
            Some((*most.0, is_index))
        };
        let known = || most(&self.known, false).filter(|_| !self.is_librarys);
        most(&self.computed, true).or_else(known)
    }

    /// Counts an access whose address is computed, or known.
    fn count(&mut self, at: At, is_computed: bool) {
        match (at, is_computed) {
            (At::User(place), true) => *self.computed.entry(place).or_default() += 1,
            (At::User(place), false) => *self.known.entry(place).or_default() += 1,
            (At::Library, true) => self.is_librarys = true,
            (At::Library, false) | (At::Unknown, _) => {}
        }
    }

    /// Reads an instruction, or the declaration of local memory.
    fn read(&mut self, line: &'a str, at: At) {
        if let Some((_, depot)) = line.split_once(DEPOT)
            && line.starts_with(".local")
        {
            let size = depot.split(['[', ']']).nth(1);
            self.bytes += size.and_then(|size| size.parse().ok()).unwrap_or(0);
            return;
        }
        let (opcode, operands) = instruction(line);
        if opcode.starts_with("call") {
            self.calls.extend(words(operands));
            let given = self.given.drain(..);
            self.passed.extend(given.map(|at| (operands, at)));
        }
        if self.bytes == 0 {
            return;
        }
        if opcode.starts_with("st.param") {
            let is_address = words(operands).any(|word| self.fixed.contains(word));
            self.given.extend(is_address.then_some(at));
            return;
        }
        let mut registers = words(operands).filter(|word| word.starts_with('%'));
        let is_local = opcode.split('.').skip(1).any(|word| word == "local");
        if is_local && (opcode.starts_with("ld") || opcode.starts_with("st")) {
            let address = operands
                .split(['[', ']'])
                .nth(1)
                .and_then(|a| words(a).next());
            let is_known = address.is_some_and(|address| self.fixed.contains(address));
            self.count(at, !is_known);
            return;
        }
        let Some(to) = registers.next() else { return };
        let from: Vec<&str> = registers.collect();
        let is_address = |register: &&str| self.fixed.contains(*register);
        let moves = ["add", "mov", "cvta"]
            .iter()
            .any(|start| opcode.starts_with(start));
        if moves && !from.is_empty() && from.iter().all(is_address) {
            self.fixed.insert(to);
        } else if from.iter().any(is_address) || (is_address(&to) && !moves) {
            self.count(at, true);
        }
    }
}

/// Opcode and operands of an instruction, without its condition.
fn instruction(line: &str) -> (&str, &str) {
    let line = match line.strip_prefix('@') {
        Some(line) => line
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest.trim_start()),
        None => line,
    };
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}

/// Registers, names and numbers.
fn words(operands: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "%_$.".contains(c);
    operands
        .split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// The functions of a module, without declarations.
pub fn functions(ptx: &str, owner: impl Fn(u32) -> Owner) -> Vec<Function<'_>> {
    let mut functions = bodies(ptx, owner);
    let is_users = |function: &&Function| function.owner == Some(Owner::User);
    let of_user: BTreeSet<&str> = functions.iter().filter(is_users).map(|f| f.name).collect();
    for function in &mut functions {
        for (operands, at) in std::mem::take(&mut function.passed) {
            // A library's function that is given an address, such as `core::fmt`'s, decides itself
            // how it uses it.
            let at = match words(operands).any(|word| of_user.contains(word)) {
                true => at,
                false => At::Library,
            };
            function.count(at, true);
        }
    }
    functions
}

/// The same, before it is known whose the functions are that they call.
fn bodies(ptx: &str, owner: impl Fn(u32) -> Owner) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut begun = None;
    let mut depth = 0_u32;
    let mut places = Places::default();
    for line in ptx.lines().map(str::trim) {
        if depth == 0
            && let Some(function) = Function::begins(line)
        {
            begun = Some(function);
            places = Places::default();
        }
        let Some(function) = &mut begun else { continue };
        if line.starts_with('{') && !line.ends_with('}') {
            depth += 1;
        } else if line.starts_with('}') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                found.extend(begun.take());
            }
        } else if depth == 0 {
            if line.ends_with(';') {
                begun = None;
            }
        } else if let Some(loc) = line.strip_prefix(".loc")
            && loc.starts_with(char::is_whitespace)
        {
            // Not `.local`.
            places.read(loc);
            let first = function.owner.or(places.now.map(|now| owner(now.0)));
            function.owner = first;
        } else {
            function.read(line, places.at(&owner));
        }
    }
    found
}

/// Where an instruction is in the sources.
#[derive(Default)]
struct Places {
    now: Option<Loc>,
    /// By place, that of the call at which it was inlined.
    around: HashMap<Loc, Loc>,
}

impl Places {
    /// Reads what follows `.loc`.
    fn read(&mut self, loc: &str) {
        let mut parts = loc.split(',');
        self.now = parts.next().and_then(numbers);
        let Some(now) = self.now else { return };
        let call = parts.find_map(|part| numbers(part.trim().strip_prefix("inlined_at")?));
        match call {
            Some(call) => self.around.insert(now, call),
            None => self.around.remove(&now),
        };
    }

    /// The line of the innermost call outside `core` that has one.
    fn at(&self, owner: &impl Fn(u32) -> Owner) -> At {
        let mut at = self.now;
        // A place can be inlined at itself, by recursion.
        for _ in 0..MAX_CALLS {
            let Some(place) = at else { break };
            match owner(place.0) {
                // LLVM gives the line 0 to what it has merged from several lines.
                Owner::User if place.1 > 0 => return At::User((place.0, place.1)),
                Owner::Library => return At::Library,
                Owner::User | Owner::Core => at = self.around.get(&place).copied(),
            }
        }
        At::Unknown
    }
}

/// Whose an instruction is.
#[derive(Clone, Copy)]
enum At {
    User(Place),
    Library,
    Unknown,
}

/// More calls than are inlined into each other.
const MAX_CALLS: usize = 256;

/// `1 7 9` as a place.
fn numbers(text: &str) -> Option<Loc> {
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?, numbers.next()?))
}
