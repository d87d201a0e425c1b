//! Panes: what the lower part of the view can show.

use std::collections::BTreeSet;

use debugger::names::Named;
use debugger::{Debugger, Focus, show};
use ptx::ir::{Operand, Space};
use ptx_sim::debug::Known;

use crate::warp::{block, instruction, place_of};

/// A part that can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The source's variables.
    #[default]
    Variables,
    /// The registers of the thread.
    Registers,
    /// An expression in all lanes.
    Lanes,
    /// A variable in shared memory.
    Shared,
    /// A buffer in global memory.
    Buffers,
    /// Barriers, copies and products.
    Waiting,
    /// What the kernel has printed.
    Printed,
    /// The calls of the thread.
    Calls,
    /// The warps of the block.
    Warps,
}

impl Pane {
    /// All, in order.
    pub const ALL: [Self; 9] = [
        Self::Variables,
        Self::Registers,
        Self::Lanes,
        Self::Shared,
        Self::Buffers,
        Self::Waiting,
        Self::Printed,
        Self::Calls,
        Self::Warps,
    ];

    /// Its number, from 0.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Variables => "vars",
            Self::Registers => "regs",
            Self::Lanes => "lanes",
            Self::Shared => "shared",
            Self::Buffers => "buffers",
            Self::Waiting => "waiting",
            Self::Printed => "printed",
            Self::Calls => "calls",
            Self::Warps => "warps",
        }
    }

    /// The space of the memory that it shows.
    pub fn space(self) -> Option<Space> {
        match self {
            Self::Shared => Some(Space::Shared),
            Self::Buffers => Some(Space::Global),
            _ => None,
        }
    }

    /// The pane that is so many further.
    pub fn by(self, n: i32) -> Self {
        let all = Self::ALL.len() as i32;
        Self::ALL[(self.index() as i32 + n).rem_euclid(all) as usize]
    }
}

/// How far something is scrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scroll {
    /// The first row or column shown.
    pub first: usize,
    /// Whether it goes where the current instruction is at work.
    pub follows: bool,
    /// How many were shown when it was last drawn.
    pub shown: usize,
}

impl Default for Scroll {
    fn default() -> Self {
        Self {
            first: 0,
            follows: true,
            shown: 1,
        }
    }
}

impl Scroll {
    /// Scrolls by hand.
    pub fn by(&mut self, n: isize) {
        self.first = self.first.saturating_add_signed(n);
        self.follows = false;
    }

    /// Before it is drawn: `shown` of `n` fit, and `target` is to be among them if it follows.
    pub fn settle(&mut self, n: usize, shown: usize, target: Option<usize>) {
        self.shown = shown.max(1);
        if let (true, Some(target)) = (self.follows, target)
            && !(self.first..self.first + self.shown).contains(&target)
        {
            self.first = target.saturating_sub(self.shown / 2);
        }
        self.first = self.first.min(n.saturating_sub(self.shown));
    }
}

/// The registers of a thread at a moment.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Whose: the thread, and its call.
    of: Option<(Focus, u32)>,
    known: Vec<(String, Known)>,
    /// The names of those that the last move changed.
    changed: BTreeSet<String>,
}

impl Registers {
    /// Those that have a value, in the thread that is looked at.
    pub fn of(debugger: &Debugger<'_, '_, '_>) -> Self {
        let path = debugger.path();
        let Some(frame) = path.and_then(|path| path.frames.first().copied()) else {
            return Self::default();
        };
        let function = &debugger.session().module().functions[frame.position.function];
        let lane = debugger.focus().lane;
        let known = function.registers.iter().filter_map(|register| {
            match debugger.known_in(&frame, &register.name, lane) {
                Ok(known @ (Known::Is(_) | Known::InFlight)) => {
                    Some((register.name.clone(), known))
                }
                _ => None,
            }
        });
        Self {
            of: Some((debugger.focus(), frame.id)),
            known: known.collect(),
            changed: BTreeSet::new(),
        }
    }

    /// Marks what is different from what it was, if it is the same thread.
    pub fn since(mut self, before: &Self) -> Self {
        if self.of == before.of {
            let new = self.known.iter().filter(|one| !before.known.contains(one));
            self.changed = new.map(|(name, _)| name.clone()).collect();
        }
        self
    }

    /// The register's number among those with a value that changed first.
    pub fn first_changed(&self) -> Option<usize> {
        let mut known = self.known.iter();
        known.position(|(name, _)| self.changed.contains(name))
    }

    /// Each with its value, and whether it has changed.
    pub fn texts(&self) -> Vec<(String, bool)> {
        let texts = self.known.iter().map(|(name, known)| {
            let value = match known {
                Known::InFlight => "in flight".to_owned(),
                known => show::known(*known),
            };
            (format!("{name} {value}"), self.changed.contains(name))
        });
        texts.collect()
    }
}

/// The variables of a thread at a moment, as lines.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    of: Option<Focus>,
    /// Each, and whether the last move has changed it.
    pub lines: Vec<(String, bool)>,
}

impl Variables {
    /// Those that are in scope for the thread that is looked at.
    pub fn of(debugger: &Debugger<'_, '_, '_>) -> Self {
        let text = debugger.variables_text();
        Self {
            of: Some(debugger.focus()),
            lines: text.lines().map(|line| (line.to_owned(), false)).collect(),
        }
    }

    /// Marks what was not there before, if it is the same thread.
    pub fn since(mut self, before: &Self) -> Self {
        if self.of == before.of {
            for (line, is_new) in &mut self.lines {
                *is_new = !before.lines.iter().any(|(known, _)| known == line);
            }
        }
        self
    }
}

/// The last register that the current instruction names: what its lanes are shown of unless an
/// expression is given.
pub fn last_register(debugger: &Debugger<'_, '_, '_>) -> Option<String> {
    let position = debugger.position()?;
    let function = &debugger.session().module().functions[position.function];
    let operands = &instruction(debugger, position)?.operands;
    let mut all = Vec::new();
    for operand in operands {
        registers_in(operand, &mut all);
    }
    let is_known = |name: &String| {
        let known = debugger.known(name, debugger.focus().lane);
        matches!(known, Ok(Known::Is(_)))
    };
    let names = all.iter().rev();
    let mut names = names.map(|id| function.registers[id.0 as usize].name.clone());
    names.find(is_known)
}

/// The registers that an operand names.
pub fn registers_in(operand: &Operand, all: &mut Vec<ptx::ir::RegId>) {
    match operand {
        Operand::Reg(id) | Operand::NotReg(id) | Operand::Component(id, _) => all.push(*id),
        Operand::Pair(a, b) => {
            registers_in(a, all);
            registers_in(b, all);
        }
        Operand::Vector(list) | Operand::List(list) => {
            for operand in list {
                registers_in(operand, all);
            }
        }
        Operand::Address(at) => all.extend(base(at)),
        Operand::IndexedAddress(at, list) => {
            all.extend(base(at));
            for operand in list {
                registers_in(operand, all);
            }
        }
        _ => {}
    }
}

fn base(address: &ptx::ir::Address) -> Option<ptx::ir::RegId> {
    match address.base {
        ptx::ir::AddressBase::Reg(id) => Some(id),
        _ => None,
    }
}

/// The memory of a space that has a name.
pub fn named(debugger: &Debugger<'_, '_, '_>, space: Space) -> Vec<Named> {
    let all = debugger.names().all().iter();
    all.filter(|named| named.space == space).cloned().collect()
}

/// The warps of the block, a line for each place that lanes of one are at; and the line of the
/// thread that is looked at.
pub fn warps(debugger: &Debugger<'_, '_, '_>) -> (Vec<String>, Option<usize>) {
    let focus = debugger.focus();
    let Some(block) = block(debugger) else {
        let text = format!("block {} has not begun, or has ended", focus.block);
        return (vec![text], None);
    };
    let (mut lines, mut own) = (Vec::new(), None);
    for warp in &block.warps {
        let is_own = warp.index == focus.warp;
        if warp.paths.is_empty() {
            if is_own {
                own = Some(lines.len());
            }
            lines.push(format!("{:>2}  has ended", warp.index));
        }
        for path in &warp.paths {
            if is_own && path.lanes >> focus.lane & 1 != 0 {
                own = Some(lines.len());
            }
            let who = match path.lanes {
                u32::MAX => "all".to_owned(),
                lanes => show::lanes(lanes),
            };
            let place = place_of(debugger, path);
            let (index, waits) = (warp.index, show::waits(path.waits));
            lines.push(format!("{index:>2}  {who:<9} {place}  {waits}"));
        }
    }
    (lines, own)
}
