//! The values in registers and memory at a moment.

use super::assigned::Knowledge;
use crate::checks::observer::Now;
use crate::context::LaunchContext;
use crate::lanes::WARP_SIZE;
use crate::memory::journal::byte_at;
use crate::memory::shared::SharedMemory;
use crate::program::Terminator;
use crate::warp::{FrameId, Warp};
use ptx::ir::{self, RegId, Space, Type};

/// A register's value in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its bits.
    pub bits: u128,
    /// The register's type.
    pub ty: Type,
}

/// What is known of a register in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its value.
    Is(Value),
    /// A product in flight will write it.
    InFlight,
    /// It may not have been written yet.
    NotWritten,
    /// It is not used any more, and its place may belong to another register: the line of the PTX
    /// text with its last use.
    NotKept {
        /// That line.
        last_used: u32,
    },
    /// No instruction uses it.
    Unused,
}

/// A call of a warp, at an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub launch: &'a LaunchContext<'a>,
    pub knowledge: &'a Knowledge,
    pub warp: &'a Warp,
    pub frame: FrameId,
    /// The instruction that is reached, numbered within the function.
    pub ptx: u32,
}

impl Reader<'_> {
    /// A register of the call's function, in one lane.
    pub fn register(&self, register: RegId, lane: u32) -> Known {
        let frame = &self.warp.frames[self.frame as usize];
        let function = self.launch.function(frame.function);
        let ir = &self.launch.module.functions[frame.function];
        let home = function.homes.get(register.0 as usize).copied().flatten();
        let Some(home) = home else {
            return Known::Unused;
        };
        if self.ptx > home.last {
            let body = ir.body.as_deref().unwrap_or_default();
            let last_used = body.get(home.last as usize).map_or(0, |i| i.line);
            return Known::NotKept { last_used };
        }
        let assigned = self.knowledge.of(frame.function, ir, function);
        if !assigned.has(ir, function, register, self.ptx) {
            return Known::NotWritten;
        }
        if self.warp.in_flight.is_for(self.frame, home.slot) {
            return Known::InFlight;
        }
        let ty = ir.registers[register.0 as usize].ty;
        let lane = lane as usize % WARP_SIZE;
        let bytes = frame.registers.bytes();
        let start = home.slot as usize;
        let bits = match crate::decode::frame::lane_bytes(ty) {
            0 => u128::from(bytes[start + lane / 8] >> (lane % 8) & 1),
            n => {
                let n = n as usize;
                let own = &bytes[start + n * lane..start + n * lane + n];
                own.iter()
                    .rev()
                    .fold(0, |bits, &b| bits << 8 | u128::from(b))
            }
        };
        Known::Is(Value { bits, ty })
    }

    /// Bytes of a thread's local memory; none if some are not there.
    pub fn local(&self, lane: u32, address: u32, n_bytes: u32) -> Option<Vec<u8>> {
        let lane = lane as usize % WARP_SIZE;
        let at = |i| self.warp.local.byte(lane, address.checked_add(i)?);
        (0..n_bytes).map(at).collect()
    }
}

/// Bytes of a block's shared memory; none if some are not there.
pub(crate) fn shared_bytes(shared: &SharedMemory, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
    let end = address.checked_add(n_bytes)?;
    if end > u64::from(shared.size_bytes()) {
        return None;
    }
    // SAFETY: In range, and the launch is halted.
    let byte = |at| unsafe { *shared.host().add(at as usize) };
    Some((address..end).map(byte).collect())
}

/// Bytes of global memory; none if some are not there.
pub(crate) fn global_bytes(
    launch: &LaunchContext<'_>,
    address: u64,
    n_bytes: u64,
) -> Option<Vec<u8>> {
    let end = address.checked_add(n_bytes)?;
    (address..end)
        .map(|at| byte_at(launch.memory, at))
        .collect()
}

/// The kernel's parameters, as they lie in memory.
pub(crate) fn parameters(launch: &LaunchContext<'_>) -> Vec<u8> {
    let words = launch.params.iter();
    words.flat_map(|word| word.to_le_bytes()).collect()
}

/// Where memory is that a function knows by a name: of local memory, from the call's first byte on.
pub(crate) fn address_of(
    launch: &LaunchContext<'_>,
    function: usize,
    space: Space,
    name: &str,
) -> Option<u64> {
    let ir = launch.module.functions.get(function)?;
    match space {
        Space::Local => {
            let index = ir.locals.iter().position(|local| local.name == name)?;
            let offsets = &launch.function(function).local_offsets;
            offsets.get(index).map(|&offset| u64::from(offset))
        }
        Space::Param if function == launch.kernel => {
            let parameter = ir.params.iter().find(|param| param.name == name)?;
            Some(u64::from(parameter.offset))
        }
        Space::Param => None,
        _ => {
            let mut variables = launch.module.variables.iter();
            let index = variables.position(|v| v.name == name && v.space == space)?;
            match space {
                Space::Shared => {
                    let id = ir::VarId(index as u32);
                    Some(u64::from(launch.plan.shared.offset(id)))
                }
                _ => launch.variables.get(index).copied(),
            }
        }
    }
}

/// A moment: an instruction is about to be executed.
pub struct Moment<'a> {
    launch: &'a LaunchContext<'a>,
    knowledge: &'a Knowledge,
    time: u64,
    now: &'a Now<'a>,
}

impl<'a> Moment<'a> {
    pub(crate) fn new(
        launch: &'a LaunchContext<'a>,
        knowledge: &'a Knowledge,
        time: u64,
        now: &'a Now<'a>,
    ) -> Self {
        Self {
            launch,
            knowledge,
            time,
            now,
        }
    }

    /// The time.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The block's number in the grid.
    pub fn block(&self) -> u64 {
        self.now.block
    }

    /// The warp's number in the block.
    pub fn warp(&self) -> u32 {
        self.now.warp.index
    }

    /// `%ctaid` and, of a lane, `%tid`.
    pub fn thread(&self, lane: u32) -> ([u32; 3], [u32; 3]) {
        let thread = self.launch.thread_at(self.now.warp.index, lane);
        (self.launch.ctaid(self.now.block), thread)
    }

    /// Blocks of the grid and threads of a block, by axis.
    pub fn shape(&self) -> ([u32; 3], [u32; 3]) {
        (self.launch.grid, self.launch.block)
    }

    /// The lanes that run together.
    pub fn lanes(&self) -> u32 {
        self.now.lanes
    }

    /// Those that carry the instruction out, because its guard holds.
    pub fn active(&self) -> u32 {
        self.now.active
    }

    /// The function's number in the module.
    pub fn function(&self) -> usize {
        self.now.function
    }

    /// The instruction's number in the function's body.
    pub fn instruction(&self) -> u32 {
        self.now.ptx
    }

    /// The number by which checks know the instruction.
    pub(crate) fn number(&self) -> u32 {
        let bases = self.launch.plan.numbering.of_function(self.now.function);
        bases.map_or(0, |(first, _)| first) + self.now.ptx
    }

    /// How many calls the lanes are in; 0 in the kernel itself.
    pub fn depth(&self) -> u32 {
        let mut depth = 0;
        let mut frame = &self.now.warp.frames[self.now.frame as usize];
        while let Some((caller, _)) = frame.caller {
            depth += 1;
            frame = &self.now.warp.frames[caller as usize];
        }
        depth
    }

    /// Whether the lanes go different ways from here.
    pub fn diverges(&self) -> bool {
        let frame = &self.now.warp.frames[self.now.frame as usize];
        let bytes = frame.registers.bytes();
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes)
        };
        match self.now.end {
            Some(Terminator::Branch { guard, .. }) => {
                let takers = (word(guard.slot as usize) ^ guard.flip) & self.now.lanes;
                takers != 0 && takers != self.now.lanes
            }
            Some(Terminator::Switch { index, .. }) => {
                let mut indices =
                    crate::lanes::lanes(self.now.lanes).map(|l| word(*index as usize + 4 * l));
                let first = indices.next();
                indices.any(|other| Some(other) != first)
            }
            _ => false,
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            launch: self.launch,
            knowledge: self.knowledge,
            warp: self.now.warp,
            frame: self.now.frame,
            ptx: self.now.ptx,
        }
    }

    /// A register of the function, in one lane.
    pub fn register(&self, register: RegId, lane: u32) -> Known {
        self.reader().register(register, lane)
    }

    /// Bytes of the block's shared memory; none if some are not there.
    pub fn shared(&self, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
        shared_bytes(self.now.shared, address, n_bytes)
    }

    /// Bytes of global memory; none if some are not there.
    pub fn global(&self, address: u64, n_bytes: u64) -> Option<Vec<u8>> {
        global_bytes(self.launch, address, n_bytes)
    }

    /// Bytes of a thread's local memory; none if some are not there.
    pub fn local(&self, lane: u32, address: u32, n_bytes: u32) -> Option<Vec<u8>> {
        self.reader().local(lane, address, n_bytes)
    }

    /// Where memory is that the function knows by a name; see
    /// [`Session::address_of`](super::Session::address_of).
    pub fn address_of(&self, space: Space, name: &str) -> Option<u64> {
        address_of(self.launch, self.now.function, space, name)
    }

    /// The kernel's parameters, as they lie in memory.
    pub fn parameters(&self) -> Vec<u8> {
        parameters(self.launch)
    }

    /// Where the local memory of the call begins.
    pub fn local_base(&self) -> u32 {
        self.now.warp.frames[self.now.frame as usize].local_base
    }
}
