//! Launching a kernel: checks, blocks over workers, the report.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::block::{BlockRun, BlockTrouble, Cause, Round};
use crate::checks::counters::Counters;
use crate::checks::observer::{Blind, Observer};
use crate::checks::watch::{Checks, Watch};
use crate::decode::layout::SharedLayout;
use crate::device::{Device, LoadedModule};
use crate::diagnostics::{
    Caller, Fault, LaunchError, OutOfFuel, Place, Relation, Source, ThreadPlace,
};
use crate::ir::{self, Special};
use crate::lanes::WARP_SIZE;
use crate::memory::address::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::memory::global::GlobalMemory;
use crate::module::KernelPlan;
use crate::program::{Function, Init, Program, Terminator};
use crate::registers::Registers;
use crate::report::Report;
use crate::step::{StuckAt, Trouble};
use crate::warp::{Frame, FrameId, Warp};

/// Addresses of functions: this plus 16 times their number.
pub(crate) const FUNCTION_BASE: u64 = 0xF << 44;

/// A function's address.
pub(crate) fn function_address(id: ir::FuncId) -> u64 {
    FUNCTION_BASE + 16 * u64::from(id.0)
}

/// Largest block, in threads.
pub const MAX_BLOCK_THREADS: u32 = 1024;
/// Largest block, by axis.
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid, by axis.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// Blocks that one worker keeps in flight when they wait for each other.
const MAX_RESIDENT: usize = 512;
/// Rounds after which a block is taken to wait for another even if it does
/// not look like it.
const PATIENCE: u32 = 4096;
/// A block's fuel: this, and so much for each of its warps.
const DEFAULT_FUEL: (u64, u64) = (256 << 20, 8 << 20);
/// Threads of a launch below which it is not worth waking other cores.
const WORTH_SPREADING: u64 = 16 << 10;

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Blocks, by axis.
    pub grid: [u32; 3],
    /// Threads of a block, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// The parameters' bytes, in order.
    pub params: &'a [&'a [u8]],
    /// How to run it.
    pub options: LaunchOptions,
}

/// How to run a launch.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Warp instructions that each block may execute; a generous default
    /// (some seconds) if not given.
    pub fuel: Option<u64>,
    /// Whether to count. Without, [`Report::counts`] is zero.
    pub count: bool,
    /// Host threads; all cores if not given.
    pub threads: Option<usize>,
    /// Whether to look for what a GPU would let pass: races, reads of memory that
    /// nothing was written to, asynchronous copies that were not waited for,
    /// barriers and warp-wide instructions in code that has diverged. Slower, and
    /// on one host thread.
    pub check: bool,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            fuel: None,
            count: true,
            threads: None,
            check: false,
        }
    }
}

/// What is the same for all blocks of a launch.
pub(crate) struct LaunchContext<'a> {
    pub module: &'a ir::Module,
    pub program: &'a Program,
    pub memory: &'a GlobalMemory,
    /// Whether one host thread does all the work.
    pub exclusive: bool,
    /// Bytes of shared memory that a block has.
    pub shared_bytes: u32,
    /// Warp instructions that a block may execute.
    pub fuel: i64,
    kernel: usize,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    params: Vec<u64>,
    params_bytes: u64,
    pub(crate) plan: &'a KernelPlan,
    variables: &'a [u64],
    started: Instant,
    printed: Mutex<Vec<Printed>>,
}

/// A line that a thread printed.
struct Printed {
    ctaid: [u32; 3],
    warp: u32,
    text: String,
}

impl<'a> LaunchContext<'a> {
    /// A decoded function.
    #[inline]
    pub fn function(&self, index: usize) -> &'a Function {
        self.program.functions[index]
            .as_ref()
            .expect("only functions with bodies are entered")
    }

    /// Whether a function can be reached, its body known.
    pub fn has_function(&self, index: usize) -> bool {
        self.plan.numbering.of_function(index).is_some()
    }

    /// What observers call a function's first instruction and first block.
    #[inline]
    pub fn numbers(&self, index: usize) -> (u32, u32) {
        self.plan.numbering.of_function(index).unwrap_or_default()
    }

    /// `%ctaid` of the block of this number.
    pub fn ctaid(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / x / y) as u32,
        ]
    }

    /// Threads of a block.
    pub fn n_threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a block.
    pub fn n_warps(&self) -> u32 {
        self.n_threads().div_ceil(32)
    }

    /// The kernel's parameters: where, and how many bytes.
    pub fn params(&self) -> (*const u8, u64) {
        (self.params.as_ptr().cast(), self.params_bytes)
    }

    /// A clock: nanoseconds since the launch.
    pub fn clock(&self, _slice: i64) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Keeps what a thread printed.
    pub fn print(&self, ctaid: [u32; 3], warp: u32, _lane: u32, text: String) {
        /// Lines kept; more are dropped.
        const LIMIT: usize = 1 << 16;
        let mut printed = self
            .printed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if printed.len() < LIMIT {
            printed.push(Printed { ctaid, warp, text });
        }
    }

    /// What a warp printed last, if anything.
    pub fn printed(&self, ctaid: [u32; 3], warp: u32) -> Option<String> {
        let printed = self
            .printed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let last = printed
            .iter()
            .rev()
            .find(|p| (p.ctaid, p.warp) == (ctaid, warp))?;
        Some(last.text.trim_end().to_owned())
    }

    /// Where a shared address is, relative to the variables.
    pub fn shared_relation(&self, address: u64) -> Relation {
        let nearest = self
            .plan
            .shared
            .placed
            .iter()
            .filter(|(_, offset)| u64::from(*offset) <= address)
            .max_by_key(|(_, offset)| *offset);
        let total = i128::from(self.shared_bytes);
        match nearest {
            Some((id, offset)) => {
                let variable = &self.module.variables[id.0 as usize];
                let is_dynamic = variable.is_extern;
                Relation::Near {
                    label: variable.name.clone(),
                    size_bytes: if is_dynamic {
                        u64::from(self.dynamic_shared_bytes)
                    } else {
                        variable.size_bytes
                    },
                    offset: i128::from(address) - i128::from(*offset),
                }
            }
            None => Relation::Near {
                label: "the block's shared memory".to_owned(),
                size_bytes: total as u64,
                offset: i128::from(address),
            },
        }
    }

    /// Gives a warp the frame of the kernel itself.
    pub fn push_entry_frame(&self, warp: &mut Warp) {
        let frame = self.push_frame(warp, self.kernel, crate::memory::local::LOCAL_START, [0; 3]);
        debug_assert_eq!(frame, 0);
    }

    /// Makes a frame for a call, or takes one that is free.
    pub fn push_frame(
        &self,
        warp: &mut Warp,
        index: usize,
        local_base: u32,
        ctaid: [u32; 3],
    ) -> FrameId {
        let function = self.function(index);
        warp.local.reserve(local_base + function.local_bytes);
        // Frame 0 is the kernel's, even before its lanes start.
        let free = warp
            .frames
            .iter()
            .skip(1)
            .position(|f| f.lanes == 0 && f.function == index);
        let id = match free {
            Some(position) => position + 1,
            None => {
                warp.frames.push(Frame {
                    function: index,
                    registers: Registers::new(function.frame_bytes),
                    local_base,
                    lanes: 0,
                    caller: None,
                });
                let id = warp.frames.len() - 1;
                self.initialise(warp, id, |init| !depends_on_block(init), ctaid);
                id
            }
        };
        warp.frames[id].local_base = local_base;
        self.initialise(
            warp,
            id,
            |init| depends_on_block(init) || matches!(init, Init::Local { .. }),
            ctaid,
        );
        self.zero(warp, id);
        id
    }

    /// Prepares the kernel's own frame for a new block.
    pub fn enter_block(&self, warp: &mut Warp, ctaid: [u32; 3]) {
        let regs = warp.frames[0].registers.frame();
        for &(slot, bytes, axis) in &self.plan.block_values {
            // SAFETY: The decoder made the slot for this width.
            unsafe { regs.splat(slot, bytes, u64::from(ctaid[axis])) };
        }
        self.zero(warp, 0);
    }

    /// Zeroes the registers that may be read before they are written.
    fn zero(&self, warp: &Warp, id: FrameId) {
        let frame = &warp.frames[id];
        let regs = frame.registers.frame();
        for &(slot, bytes) in &self.function(frame.function).zeroed {
            // SAFETY: The decoder gives registers and their sizes in bytes.
            unsafe { regs.0.add(slot as usize).write_bytes(0, bytes as usize) };
        }
    }

    /// Puts constants and special values in place.
    fn initialise(&self, warp: &Warp, id: FrameId, which: impl Fn(&Init) -> bool, ctaid: [u32; 3]) {
        let frame = &warp.frames[id];
        let regs = frame.registers.frame();
        let function = self.function(frame.function);
        for (slot, init) in function.inits.iter().filter(|(_, init)| which(init)) {
            // SAFETY: The decoder made the slot for this value's width.
            unsafe {
                match *init {
                    Init::Predicate(value) => {
                        regs.set_predicate(*slot, u32::MAX, if value { u32::MAX } else { 0 });
                    }
                    Init::Constant { bits, bytes } => regs.splat(*slot, bytes, bits),
                    Init::Special { register, bytes } if is_uniform(register) => {
                        let value = self.special(register, warp.index, 0, ctaid);
                        regs.splat(*slot, bytes, value);
                    }
                    Init::Special {
                        register: Special::Tid(axis),
                        bytes,
                    } => {
                        let mut at = self.thread_at(warp.index, 0);
                        for lane in 0..WARP_SIZE {
                            let value = at.get(axis as usize).copied().unwrap_or(0);
                            regs.set(*slot, bytes, lane, u64::from(value));
                            at = self.thread_after(at);
                        }
                    }
                    Init::Special { register, bytes } => {
                        for lane in 0..WARP_SIZE {
                            let value = self.special(register, warp.index, lane as u32, ctaid);
                            regs.set(*slot, bytes, lane, value);
                        }
                    }
                    Init::Variable {
                        id,
                        offset,
                        generic,
                        bytes,
                    } => {
                        let variable = &self.module.variables[id.0 as usize];
                        let base = if variable.space == ir::Space::Shared {
                            let window = if generic { SHARED_WINDOW } else { 0 };
                            window + u64::from(self.plan.shared.offset(id))
                        } else {
                            self.variables[id.0 as usize]
                        };
                        regs.splat(*slot, bytes, base.wrapping_add(offset as u64));
                    }
                    Init::Local {
                        offset,
                        generic,
                        bytes,
                    } => {
                        let window = if generic { LOCAL_WINDOW } else { 0 };
                        let base = window + u64::from(frame.local_base);
                        regs.splat(*slot, bytes, base.wrapping_add(offset as u64));
                    }
                    Init::ParamAddress { offset, bytes } => {
                        regs.splat(*slot, bytes, PARAM_WINDOW.wrapping_add(offset as u64));
                    }
                    Init::Param {
                        offset,
                        size,
                        signed,
                        bytes,
                    } => {
                        regs.splat(*slot, bytes, self.param(offset, size, signed));
                    }
                    Init::Function { id, bytes } => {
                        regs.splat(*slot, bytes, function_address(id));
                    }
                }
            }
        }
    }

    /// A value out of the kernel's parameters.
    fn param(&self, offset: u32, size: u32, signed: bool) -> u64 {
        let mut value = 0;
        for i in 0..size {
            let at = (offset + i) as usize;
            let word = self.params.get(at / 8).copied().unwrap_or(0);
            value |= (word >> (8 * (at % 8)) & 0xFF) << (8 * i);
        }
        let shift = 64 - 8 * size.clamp(1, 8);
        if signed {
            ((value << shift) as i64 >> shift) as u64
        } else {
            value
        }
    }

    /// A special register's value.
    fn special(&self, register: Special, warp: u32, lane: u32, ctaid: [u32; 3]) -> u64 {
        let axis =
            |values: [u32; 3], axis: u8| u64::from(values.get(axis as usize).copied().unwrap_or(0));
        match register {
            Special::Tid(a) => axis(self.thread_at(warp, lane), a),
            Special::Ntid(a) => axis(self.block, a),
            Special::Ctaid(a) => axis(ctaid, a),
            Special::Nctaid(a) => axis(self.grid, a),
            Special::LaneId => u64::from(lane),
            Special::WarpId => u64::from(warp),
            Special::NWarpId => u64::from(MAX_BLOCK_THREADS / 32),
            Special::SmId => 0,
            Special::NSmId => 1,
            Special::GridId => 1,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLe => (2 << lane) - 1,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskGe => u64::from(u32::MAX << lane),
            Special::LaneMaskGt => u64::from(u32::MAX.checked_shl(lane + 1).unwrap_or(0)),
            Special::DynamicSmemSize => u64::from(self.dynamic_shared_bytes),
            Special::TotalSmemSize => u64::from(self.shared_bytes),
            Special::WarpSize => 32,
            Special::Clock
            | Special::ClockHi
            | Special::Clock64
            | Special::GlobalTimer
            | Special::GlobalTimerLo
            | Special::GlobalTimerHi
            | Special::Other(_) => 0,
        }
    }

    /// `%tid` of the thread after the one at `[x, y, z]`.
    fn thread_after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        if x + 1 < self.block[0] {
            [x + 1, y, z]
        } else if y + 1 < self.block[1] {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        }
    }

    /// `%tid` of a lane.
    fn thread_at(&self, warp: u32, lane: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        let linear = warp * 32 + lane;
        [linear % x, linear / x % y, linear / x / y]
    }

    pub(crate) fn thread_place(&self, ctaid: [u32; 3], warp: u32, lane: u32) -> ThreadPlace {
        ThreadPlace {
            block: ctaid,
            thread: self.thread_at(warp, lane),
            warp,
            lane,
        }
    }

    /// The place of an instruction.
    fn place(&self, function: usize, ptx: u32) -> Place {
        let f = &self.module.functions[function];
        let instruction = f
            .body
            .as_ref()
            .and_then(|body| body.get(ptx as usize).or_else(|| body.last()));
        Place {
            kernel: self.module.functions[self.kernel].name.clone(),
            function: f.name.clone(),
            opcode: instruction.map(|i| i.opcode.clone()).unwrap_or_default(),
            ptx_line: instruction.map_or(f.line, |i| i.line),
            source: instruction.and_then(|i| source_of(self.module, i.loc)),
            callers: Vec::new(),
        }
    }

    /// Turns trouble in a block into the launch's error.
    fn error(&self, ctaid: [u32; 3], trouble: BlockTrouble) -> LaunchError {
        let warp = trouble.warp;
        match trouble.cause {
            Cause::OutOfFuel { function, ptx } => LaunchError::OutOfFuel(Box::new(OutOfFuel {
                fuel: self.fuel as u64,
                place: self.place(function, ptx),
                thread: self.thread_place(ctaid, warp, 0),
            })),
            Cause::Stuck(stuck, frames) => {
                let (_, function, mut caller) = frames[stuck.frame];
                let ptx = match stuck.place {
                    StuckAt::Instruction(ptx) => ptx,
                    StuckAt::Waiting { block, at } => self.waiting_at(function, block, at),
                };
                let mut place = self.place(function, ptx);
                while let Some((frame, block)) = caller {
                    let (_, function, next) = frames[frame];
                    let ptx = self.function(function).blocks[block as usize].ptx_end - 1;
                    let call = self.place(function, ptx);
                    place.callers.push(Caller {
                        function: call.function,
                        ptx_line: call.ptx_line,
                        source: call.source,
                    });
                    caller = next;
                }
                match *stuck.trouble {
                    Trouble::Fault { lane, kind } => LaunchError::Fault(Box::new(Fault {
                        kind,
                        place,
                        thread: self.thread_place(ctaid, warp, lane),
                    })),
                    Trouble::Unsupported { opcode, reason } => LaunchError::Unsupported {
                        opcode,
                        reason,
                        place: Box::new(place),
                    },
                    Trouble::Internal(message) => LaunchError::Internal {
                        message,
                        place: Box::new(place),
                    },
                }
            }
        }
    }

    /// The place of an instruction by its number in the module.
    pub(crate) fn numbered_place(&self, number: u32) -> Place {
        match self.plan.numbering.instruction(number) {
            Some((function, ptx)) => self.place(function, ptx),
            None => Place::default(),
        }
    }

    /// Where a local address is.
    pub(crate) fn local_relation(&self, address: u64, bytes: u32) -> Relation {
        let start = u64::from(crate::memory::local::LOCAL_START);
        let size_bytes = u64::from(self.function(self.kernel).local_bytes);
        Relation::Near {
            label: "the thread's local memory".to_owned(),
            // Calls have more than the kernel.
            size_bytes: size_bytes.max((address + u64::from(bytes)).saturating_sub(start)),
            offset: i128::from(address) - i128::from(start),
        }
    }

    /// The instruction that a path waits at: inside its block, or the barrier
    /// that the block before it ends in.
    fn waiting_at(&self, function: usize, block: u32, at: u32) -> u32 {
        let function = self.function(function);
        let here = &function.blocks[block as usize];
        let before = function.blocks.iter().find(
            |b| matches!(&b.terminator, Terminator::Barrier(barrier) if barrier.next == block),
        );
        match before {
            Some(before) if at == 0 => before.ptx_end - 1,
            _ if at == here.end - here.first => here.ptx_end.saturating_sub(1),
            _ => function.code[(here.first + at) as usize].ptx,
        }
    }
}

/// Whether all lanes of a warp have the same value.
fn is_uniform(register: Special) -> bool {
    !matches!(
        register,
        Special::Tid(_)
            | Special::LaneId
            | Special::LaneMaskEq
            | Special::LaneMaskLe
            | Special::LaneMaskLt
            | Special::LaneMaskGe
            | Special::LaneMaskGt
    )
}

/// Whether a value changes from block to block.
fn depends_on_block(init: &Init) -> bool {
    matches!(
        init,
        Init::Special {
            register: Special::Ctaid(_),
            ..
        }
    )
}

/// A source place, its file's name looked up.
pub(crate) fn source_of(module: &ir::Module, loc: Option<ir::SourceLoc>) -> Option<Source> {
    let loc = loc?;
    Some(Source {
        file: module.file(loc.file)?.to_owned(),
        line: loc.line,
        column: loc.column,
    })
}

/// Runs a launch on a device.
pub(crate) fn launch(
    device: &mut Device,
    loaded: &LoadedModule,
    kernel: &str,
    launch: &Launch<'_>,
) -> Result<Report, LaunchError> {
    let started = Instant::now();
    let invalid = |message: String| LaunchError::InvalidLaunch {
        kernel: kernel.to_owned(),
        message,
    };
    if !device.owns(loaded) {
        return Err(invalid(
            "the module was loaded on another device".to_owned(),
        ));
    }
    let module = loaded.module();
    let Some((id, function)) = module.ir().function(kernel).filter(|(_, f)| f.is_entry) else {
        let names: Vec<&str> = module.ir().entries().map(|f| f.name.as_str()).collect();
        return Err(invalid(format!(
            "the module has no kernel of this name; it has {}",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        )));
    };
    let plan = module.plan(id);
    check(device, function, &plan.shared, launch).map_err(invalid)?;

    let n_blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
    let n_threads: u32 = launch.block.iter().product();
    let wanted = launch
        .options
        .threads
        .or(device.config().threads)
        .unwrap_or_else(rayon::current_num_threads)
        .max(1);
    let worth = if n_blocks * u64::from(n_threads) < WORTH_SPREADING {
        1
    } else {
        wanted
    };
    // The order of accesses is only known where one host thread makes them.
    let most = if launch.options.check { 1 } else { worth };
    let n_workers = most.min(usize::try_from(n_blocks).unwrap_or(usize::MAX));
    let fuel = launch
        .options
        .fuel
        .unwrap_or(DEFAULT_FUEL.0 + DEFAULT_FUEL.1 * u64::from(n_threads.div_ceil(32)));
    let (params, params_bytes) = pack_params(function, launch.params);
    let written = launch
        .options
        .check
        .then(|| device.memory_mut().take_written());
    let context = LaunchContext {
        module: module.ir(),
        program: module.program(),
        memory: device.memory(),
        exclusive: n_workers == 1,
        shared_bytes: plan
            .shared
            .static_bytes_with_padding(launch.dynamic_shared_bytes),
        fuel: i64::try_from(fuel).unwrap_or(i64::MAX),
        kernel: id.0 as usize,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared_bytes: launch.dynamic_shared_bytes,
        params,
        params_bytes,
        plan,
        variables: loaded.addresses(),
        started,
        printed: Mutex::default(),
    };
    let mut written_after = None;
    let result = if launch.options.count || launch.options.check {
        let written = Mutex::new(written);
        let checks = || {
            let mut written = written
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            // There is one worker where there is something to take.
            let written = written.take()?;
            Some(Box::new(Checks::new(&context, written)))
        };
        let (watches, result) = run(&context, n_blocks, n_workers, || Watch {
            counters: Counters::new(&plan.numbering),
            checks: checks(),
        });
        let mut all: Option<Counters> = None;
        for watch in watches {
            match &mut all {
                Some(all) => all.add(&watch.counters),
                None => all = Some(watch.counters),
            }
            let checks = watch.checks.map(|checks| checks.into_written());
            written_after = written_after.or(checks);
        }
        let all = all.unwrap_or_else(|| Counters::new(&plan.numbering));
        result.map(|()| Report::new(module, id, all))
    } else {
        let (_, result) = run(&context, n_blocks, n_workers, || Blind);
        result.map(|()| Report::default())
    };
    let printed = context
        .printed
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    device.memory_mut().launched(written_after);
    let mut report = result?;
    report.printed = printed.into_iter().map(|p| p.text).collect();
    report.elapsed = started.elapsed();
    Ok(report)
}

/// Whether the launch is one that this kernel and device allow.
fn check(
    device: &Device,
    function: &ir::Function,
    shared: &SharedLayout,
    launch: &Launch<'_>,
) -> Result<(), String> {
    let Launch {
        grid,
        block,
        dynamic_shared_bytes,
        params,
        ..
    } = launch;
    for axis in 0..3 {
        let name = ["x", "y", "z"][axis];
        if grid[axis] == 0 || block[axis] == 0 {
            let what = if grid[axis] == 0 { "grid" } else { "block" };
            return Err(format!("the {what} has size 0 along {name}"));
        }
        if grid[axis] > MAX_GRID[axis] {
            return Err(format!(
                "the grid has {} blocks along {name}, the limit is {}",
                grid[axis], MAX_GRID[axis]
            ));
        }
    }
    let n_threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if n_threads > u64::from(MAX_BLOCK_THREADS) {
        return Err(format!(
            "a block of {}×{}×{} = {n_threads} threads, the limit is {MAX_BLOCK_THREADS}",
            block[0], block[1], block[2]
        ));
    }
    for axis in 0..3 {
        if block[axis] > MAX_BLOCK[axis] {
            let name = ["x", "y", "z"][axis];
            return Err(format!(
                "the block has {} threads along {name}, the limit is {}",
                block[axis], MAX_BLOCK[axis]
            ));
        }
    }
    if let Some(max) = function.bounds.max_threads
        && n_threads > u64::from(max)
    {
        return Err(format!(
            "a block of {n_threads} threads, the kernel declares at most {max}"
        ));
    }
    if let Some(required) = function.bounds.required_block
        && required != *block
    {
        return Err(format!(
            "a block of {block:?} threads, the kernel declares {required:?}"
        ));
    }
    let limits = device.config();
    if shared.static_bytes > limits.static_shared_limit {
        return Err(format!(
            "{} bytes of static shared memory, the limit is {}",
            shared.static_bytes, limits.static_shared_limit
        ));
    }
    let total = u64::from(shared.static_bytes) + u64::from(*dynamic_shared_bytes);
    if total > u64::from(limits.shared_limit) {
        return Err(format!(
            "{} bytes of static and {dynamic_shared_bytes} of dynamic shared memory a block, \
             the limit is {} together",
            shared.static_bytes, limits.shared_limit
        ));
    }
    if params.len() != function.params.len() {
        let names: Vec<String> = function.params.iter().map(describe).collect();
        return Err(format!(
            "{} parameters given, the kernel takes {}{}{}",
            params.len(),
            names.len(),
            if names.is_empty() { "" } else { ": " },
            names.join(", ")
        ));
    }
    for (i, (given, declared)) in params.iter().zip(&function.params).enumerate() {
        if given.len() != declared.size_bytes as usize {
            return Err(format!(
                "parameter {i} has {} bytes, the kernel takes {}",
                given.len(),
                describe(declared)
            ));
        }
    }
    Ok(())
}

/// A parameter's name, type and size.
fn describe(param: &ir::Param) -> String {
    let ir::Param {
        name,
        ty,
        size_bytes,
        ..
    } = param;
    if *size_bytes == ty.size_bytes() {
        format!("`{name}` ({ty}, {size_bytes} bytes)")
    } else {
        format!("`{name}` ({size_bytes} bytes)")
    }
}

/// Lays the parameters out as the kernel reads them.
fn pack_params(function: &ir::Function, params: &[&[u8]]) -> (Vec<u64>, u64) {
    let end = function
        .params
        .iter()
        .map(|p| p.offset + p.size_bytes)
        .max()
        .unwrap_or(0);
    let mut bytes = vec![0; (end as usize).next_multiple_of(16)];
    for (given, declared) in params.iter().zip(&function.params) {
        let start = declared.offset as usize;
        bytes[start..start + given.len()].copy_from_slice(given);
    }
    let words = bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes")))
        .collect();
    (words, u64::from(end))
}

/// Runs all blocks; gives the workers' observers, and how it ended.
fn run<O: Observer>(
    context: &LaunchContext<'_>,
    n_blocks: u64,
    n_workers: usize,
    observer: impl Fn() -> O + Sync,
) -> (Vec<O>, Result<(), LaunchError>) {
    let work = Work {
        context,
        n_blocks,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let seen = Mutex::new(Vec::new());
    let worker = || {
        let mut observer = observer();
        work.run(&mut observer);
        seen.lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(observer);
    };
    if n_workers == 1 {
        worker();
    } else {
        rayon::scope(|scope| {
            for _ in 1..n_workers {
                scope.spawn(|_| worker());
            }
            worker();
        });
    }
    let failure = work
        .failure
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let observers = seen
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    (observers, failure.map_or(Ok(()), |(_, error)| Err(error)))
}

/// The blocks of a launch, handed out to workers in order.
struct Work<'a> {
    context: &'a LaunchContext<'a>,
    n_blocks: u64,
    next: AtomicU64,
    stop: AtomicBool,
    /// The failure of the lowest block.
    failure: Mutex<Option<(u64, LaunchError)>>,
}

impl Work<'_> {
    /// Takes a block to run.
    fn take(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.n_blocks && !self.stop.load(Ordering::Relaxed)).then_some(number)
    }

    fn fail(&self, number: u64, error: LaunchError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut failure = self
            .failure
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(n, _)| number < *n) {
            *failure = Some((number, error));
        }
    }

    /// One worker: runs blocks until there are none. Mostly one at a time;
    /// where blocks wait for others, several in turn.
    fn run<O: Observer>(&self, observer: &mut O) {
        let mut resident: Vec<(u64, BlockRun)> = Vec::new();
        let mut spare: Vec<BlockRun> = Vec::new();
        let mut rounds = 0;
        loop {
            if resident.is_empty() {
                rounds = 0;
                match self.take() {
                    Some(number) => resident.push(self.begin(number, &mut spare, observer)),
                    None => {
                        if let Some(finding) = observer.take_finding(true) {
                            self.fail(self.n_blocks, self.context.finding(finding));
                        }
                        return;
                    }
                }
            }
            let mut waiting = true;
            let mut i = 0;
            while i < resident.len() {
                let (number, block) = &mut resident[i];
                let outcome = block.round(self.context, observer);
                if matches!(outcome, Ok(Round::Finished)) {
                    observer.block_ended(*number);
                }
                // What fails may have read what nobody wrote.
                if let Some(finding) = observer.take_finding(outcome.is_err()) {
                    self.fail(*number, self.context.finding(finding));
                    return;
                }
                match outcome {
                    Ok(Round::Finished) => {
                        spare.push(resident.remove(i).1);
                        waiting = false;
                        continue;
                    }
                    Ok(Round::Progress { waits }) => waiting &= waits,
                    Err(trouble) => {
                        let ctaid = block.ctaid;
                        self.fail(*number, self.context.error(ctaid, *trouble));
                        return;
                    }
                }
                i += 1;
            }
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            rounds += 1;
            if !resident.is_empty()
                && (waiting || rounds % PATIENCE == 0)
                && resident.len() < MAX_RESIDENT
                && let Some(number) = self.take()
            {
                resident.push(self.begin(number, &mut spare, observer));
            }
        }
    }

    fn begin<O: Observer>(
        &self,
        number: u64,
        spare: &mut Vec<BlockRun>,
        observer: &mut O,
    ) -> (u64, BlockRun) {
        let mut block = spare.pop().unwrap_or_else(|| BlockRun::new(self.context));
        block.start(self.context, number);
        observer.block_started(number, self.context.shared_bytes);
        (number, block)
    }
}
