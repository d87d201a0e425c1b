//! Names for memory: buffers by their labels, shared variables by theirs, with the type of their
//! elements as the launch's instructions access them.

use std::collections::HashMap;

use ptx::ir::{Operand, Space, Symbol};
use ptx_sim::debug::{Moment, Position, Probe, Session, Touch};
use ptx_sim::readable;

use crate::element::Element;
use crate::sources::Sources;

/// Instructions that are looked at to find out how memory is accessed.
const MOST_LOOKED_AT: u64 = 1 << 18;
/// Columns of a tile whose shape is not known: as many words as there are banks.
const COLUMNS: u64 = 32;

/// Memory with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, as expressions have it.
    pub name: String,
    /// Global or shared.
    pub space: Space,
    /// Its first address.
    pub address: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The type of its elements.
    pub element: Element,
    /// Elements of a row, if it was said or is known.
    pub columns: Option<u64>,
}

impl Named {
    /// How many elements it has.
    pub fn len(&self) -> u64 {
        self.size_bytes / self.element.bytes()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements of a row.
    pub fn row(&self) -> u64 {
        self.columns
            .unwrap_or(COLUMNS * 4 / self.element.bytes().min(4))
    }

    /// Where an element is.
    pub fn address_of(&self, index: u64) -> u64 {
        self.address + index * self.element.bytes()
    }

    /// An element's name, by an address in it.
    pub fn name_of(&self, address: u64) -> String {
        let index = (address - self.address) / self.element.bytes();
        match self.columns {
            Some(columns) => format!("{}[{}][{}]", self.name, index / columns, index % columns),
            None => format!("{}[{index}]", self.name),
        }
    }

    fn has(&self, space: Space, address: u64) -> bool {
        self.space == space && (self.address..self.address + self.size_bytes).contains(&address)
    }
}

/// All memory with a name.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<Named>);

impl Names {
    /// Of a launch. Runs a part of it, and leaves it where it was.
    pub fn of(session: &mut Session<'_, '_>) -> Self {
        let seen = accesses(session);
        let mut all = Vec::new();
        for allocation in session.allocations() {
            let at = (Space::Global, allocation.address, allocation.size_bytes);
            all.push((allocation.label, at));
        }
        for variable in session.shared_variables() {
            let at = (Space::Shared, variable.address, variable.size_bytes);
            all.push((last_part(&readable(&variable.name)), at));
        }
        let mut names = Self::default();
        all.retain(|(_, (_, _, size_bytes))| *size_bytes > 0);
        for (label, (space, address, size_bytes)) in all {
            let element = element_of(session, &seen, space, address..address + size_bytes);
            names.0.push(Named {
                name: names.unused(&identifier(&label)),
                space,
                address,
                size_bytes,
                element: element.unwrap_or(Element::Unsigned(4)),
                columns: None,
            });
        }
        names
    }

    /// Gives shared arrays of a Rust kernel the types that stand in their lines
    /// (`let tile = shared_array![f32; N]`).
    pub fn type_by_lines(&mut self, session: &Session<'_, '_>, sources: &Sources) {
        let variables = session.shared_variables();
        for (symbol, (file, line)) in symbols(session) {
            let line = sources.line(&file, line);
            let element = line.as_deref().and_then(declared);
            let variable = variables.iter().find(|variable| variable.name == symbol);
            let (Some(element), Some(variable)) = (element, variable) else {
                continue;
            };
            let mut all = self.0.iter_mut();
            if let Some(named) = all.find(|named| named.has(Space::Shared, variable.address)) {
                named.element = element;
            }
        }
    }

    /// Gives buffers the types that the kernel's parameters have, in the order of the source.
    pub fn type_by_parameters(&mut self, session: &Session<'_, '_>, types: &[Element]) {
        let kernel = &session.module().functions[session.kernel()];
        let bytes = session.parameters();
        let pointers = kernel.params.iter().filter(|param| param.size_bytes == 8);
        let addresses = pointers.filter_map(|param| {
            let at = param.offset as usize;
            let address = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
            self.0
                .iter()
                .position(|named| named.has(Space::Global, address))
        });
        let buffers: Vec<usize> = addresses.collect();
        if buffers.len() == types.len() {
            for (buffer, &element) in buffers.into_iter().zip(types) {
                self.0[buffer].element = element;
            }
        }
    }

    fn unused(&self, name: &str) -> String {
        let is_used = |name: &str| self.find(name).is_some();
        if !is_used(name) {
            return name.to_owned();
        }
        let mut numbered = (2..).map(|n| format!("{name}_{n}"));
        numbered.find(|name| !is_used(name)).unwrap_or_default()
    }

    /// Memory by its name.
    pub fn find(&self, name: &str) -> Option<&Named> {
        self.0.iter().find(|named| named.name == name)
    }

    /// The memory that an address is in.
    pub fn at(&self, space: Space, address: u64) -> Option<&Named> {
        self.0.iter().find(|named| named.has(space, address))
    }

    /// All of it.
    pub fn all(&self) -> &[Named] {
        &self.0
    }

    /// Says how many elements a row has; gives whether there is such memory.
    pub fn set_columns(&mut self, name: &str, columns: Option<u64>) -> bool {
        let found = self.0.iter_mut().find(|named| named.name == name);
        found.map(|named| named.columns = columns).is_some()
    }

    /// Says of which type the elements are; gives whether there is such memory.
    pub fn set_element(&mut self, name: &str, element: Element) -> bool {
        let found = self.0.iter_mut().find(|named| named.name == name);
        found.map(|named| named.element = element).is_some()
    }
}

/// Shared variables, and the source lines at which their addresses are first taken.
fn symbols(session: &Session<'_, '_>) -> Vec<(String, (String, u32))> {
    let module = session.module();
    let mut found: Vec<(String, (String, u32))> = Vec::new();
    for (function, of) in module.functions.iter().enumerate() {
        for (instruction, at) in (0..).zip(of.body.as_deref().unwrap_or_default()) {
            for operand in &at.operands {
                let Operand::Symbol { base: symbol, .. } = operand else {
                    continue;
                };
                let Symbol::Variable(id) = symbol else {
                    continue;
                };
                let variable = &module.variables[id.0 as usize];
                let is_known = found.iter().any(|(name, _)| *name == variable.name);
                if variable.space != Space::Shared || is_known {
                    continue;
                }
                let place = session.place(Position {
                    function,
                    instruction,
                });
                if let Some(source) = place.source {
                    found.push((variable.name.clone(), (source.file, source.line)));
                }
            }
        }
    }
    found
}

/// The type of a shared array's elements, by the line that declares it and no other.
fn declared(line: &str) -> Option<Element> {
    let (_, after) = line.split_once("shared_array!")?;
    if after.contains("shared_array!") {
        return None;
    }
    let ty = after.trim_start_matches(['[', '(']).split(';').next()?;
    Element::named(ty.trim())
}

/// The last part of a path, such as `TILE` of `transpose::TILE`.
fn last_part(path: &str) -> String {
    path.rsplit("::").next().unwrap_or(path).to_owned()
}

/// A label as an identifier.
fn identifier(label: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut name: String = label
        .chars()
        .map(|c| if is_part(c) { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}

/// Which instructions access memory, by space and address of their first lane.
#[derive(Default)]
struct Accesses {
    until: u64,
    /// By instruction and the 2 MiB that it accesses, one address.
    seen: HashMap<(Space, Position, u64), u64>,
}

impl Probe for Accesses {
    fn step(&mut self, at: &Moment<'_>) -> bool {
        at.time() > self.until
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn touch(&mut self, touch: &Touch<'_>) -> bool {
        if let Some((addresses, _)) = touch.addresses() {
            let address = addresses[touch.lanes.trailing_zeros() as usize % 32];
            let part = match touch.space {
                Space::Shared => address >> 4,
                _ => address >> 21,
            };
            let key = (touch.space, touch.position, part);
            self.seen.entry(key).or_insert(address);
        }
        false
    }
}

fn accesses(session: &mut Session<'_, '_>) -> Accesses {
    let time = session.time();
    session.go_to(0);
    let probe = Accesses {
        until: MOST_LOOKED_AT,
        ..Accesses::default()
    };
    let (_, seen) = session.forwards(probe);
    session.go_to(time);
    seen
}

/// The type as which most instructions access some memory.
fn element_of(
    session: &Session<'_, '_>,
    seen: &Accesses,
    space: Space,
    range: std::ops::Range<u64>,
) -> Option<Element> {
    let accesses = seen
        .seen
        .iter()
        .filter(|((own, _, _), address)| *own == space && range.contains(address));
    let mut positions: Vec<Position> = accesses.map(|((_, position, _), _)| *position).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut counts: Vec<(Element, usize)> = Vec::new();
    for position in positions {
        let function = &session.module().functions[position.function];
        let body = function.body.as_deref().unwrap_or_default();
        let instruction = body.get(position.instruction as usize)?;
        if let Some(element) = Element::of(function, instruction) {
            match counts.iter_mut().find(|(other, _)| *other == element) {
                Some((_, n)) => *n += 1,
                None => counts.push((element, 1)),
            }
        }
    }
    // What is known to be a float or signed says more than a type that may be anything.
    let says_more = |element: Element| !matches!(element, Element::Unsigned(_));
    let most = counts
        .into_iter()
        .max_by_key(|&(element, n)| (says_more(element), n));
    Some(most?.0)
}
