//! The context of a launch, which all its blocks share and may query.
//!
//! In reading order: this file, the launch's state; `frames`, the registers that a
//! call begins with; `printed`, what threads print; `places`, numbers looked up for
//! reports: instructions, threads, addresses; `spinning`, what lanes do that do not
//! end.
//!
//! Left out: how a launch is set up and what runs its blocks, which is in `launch`.

mod frames;
mod fuel;
mod places;
mod printed;
mod spinning;

pub(crate) use fuel::Fuel;
pub(crate) use places::{loc_of, own_among, source_of, sources_around};
pub(crate) use printed::Printed;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::clock::Started;
use crate::cluster::ClusterShape;
use crate::memory::global::GlobalMemory;
use crate::memory::kernel_heap::KernelHeap;
use crate::module::KernelPlan;
use crate::pending::Pending;
use crate::program::{Function, Insn, Op, Program, SetRegisters, WarpgroupOp};
use crate::schedule::Schedule;
use crate::spare::SpareBlocks;
use crate::warp::{Path, Warp};
use crate::warpgroups::Warpgroups;
use ptx::ir;

/// A launch's place among those that run at the same time, on several devices, and whose blocks
/// are numbered through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    /// Which of them it is.
    pub index: u8,
    /// The number of its first block.
    pub first_block: u64,
    /// Blocks of all of them.
    pub n_blocks: u64,
}

impl Among {
    /// Of a launch of this many blocks that runs alone.
    pub fn alone(grid: [u32; 3]) -> Self {
        Self {
            index: 0,
            first_block: 0,
            n_blocks: grid.iter().map(|&n| u64::from(n)).product(),
        }
    }
}

/// What is the same for all blocks of a launch.
pub(crate) struct LaunchContext<'a> {
    /// The module.
    pub module: &'a ir::Module,
    /// The module, decoded.
    pub program: &'a Program,
    /// The memory that the device may use.
    pub memory: &'a GlobalMemory,
    /// The memory of all devices of the machine.
    pub machine: &'a GlobalMemory,
    /// The device's number, if the machine has several.
    pub device: Option<u32>,
    /// Whether it may use other devices' memory.
    pub has_peers: bool,
    /// Its place among launches that run at the same time.
    pub among: Among,
    /// The heap that kernels allocate from.
    pub heap: Option<&'a KernelHeap>,
    /// Whether one host thread does all the work, and nothing else uses the memory: nor may the
    /// program's own atomics.
    pub exclusive: bool,
    /// Counts what launches of the machine do besides waiting, if others may run meanwhile: what
    /// this one waits for may come from them, or from the host.
    pub beside: Option<&'a AtomicU64>,
    /// Whether each of its blocks begins with new registers, so that a run can be repeated to the
    /// last bit, dead registers included.
    pub repeats: bool,
    /// The order that it runs in, if not the usual one.
    pub schedule: Option<Schedule>,
    /// Whether it looks for what a GPU would let pass.
    pub checks: bool,
    /// Work of others that it does not come after.
    pub pending: &'a [Pending],
    /// Whether the global memory that it uses is kept, if it is checked.
    pub keeps_footprint: bool,
    /// Blocks that the device can hold at once.
    pub most_resident: u64,
    /// Bytes of shared memory that a block has.
    pub shared_bytes: u32,
    /// How much it may execute.
    pub fuel: Fuel,
    /// The kernel, by its number in the module.
    pub kernel: usize,
    /// Blocks, by axis.
    pub grid: [u32; 3],
    /// Threads of a block, by axis.
    pub block: [u32; 3],
    /// Its clusters.
    pub cluster: ClusterShape,
    /// Whether generic addresses may be those of other blocks' shared memory, or of the
    /// block's own by its rank.
    pub has_ranks: bool,
    /// Registers that threads begin with, where the kernel declares enough to tell.
    pub registers_declared: Option<u32>,
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// The parameters' bytes, in words.
    pub params: Vec<u64>,
    /// How many bytes those are.
    pub params_bytes: u64,
    /// What is the same for all launches of the kernel.
    pub plan: &'a KernelPlan,
    /// Where the barrier of all blocks is, if the launch is cooperative; else 0.
    pub grid_workspace: u64,
    /// Addresses of the variables, by number.
    pub variables: &'a [u64],
    /// When it began.
    pub started: Started,
    /// What threads have printed.
    pub printed: Printed,
    /// Parts of blocks that earlier launches have left.
    pub spare: Arc<SpareBlocks>,
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

    /// The instruction that a path has reached; none if only the end of its block is left.
    fn next_of(&self, warp: &Warp, path: &Path) -> Option<&'a Insn> {
        let function = self.function(warp.frames[path.frame as usize].function);
        let block = &function.blocks[path.block as usize];
        let code = &function.code[block.first as usize..block.end as usize];
        code.get(path.at as usize)
    }

    /// Whether only the end of its block is left for a path.
    pub fn is_at_end(&self, warp: &Warp, path: &Path) -> bool {
        self.next_of(warp, path).is_none()
    }

    /// Whether a path has reached an instruction whose mask names the lanes that take part.
    pub fn waits_by_mask(&self, warp: &Warp, path: &Path) -> bool {
        self.next_of(warp, path)
            .is_some_and(|insn| matches!(insn.op, Op::Shuffle(_) | Op::Collective(_)))
    }

    /// In words, what a path that waits for other warps waits for.
    pub fn waits_for_warps(&self, warp: &Warp, path: &Path, groups: &Warpgroups) -> String {
        let next = self.next_of(warp, path);
        match next.map(|insn| &insn.op) {
            Some(Op::Warpgroup(op)) => match **op {
                WarpgroupOp::Wait(n_left) => {
                    groups.missing(warp.index, Some(warp.in_flight.needed(n_left)))
                }
                WarpgroupOp::Multiply(_) => groups.missing(warp.index, None),
                WarpgroupOp::SetRegisters(SetRegisters { n, .. }) => {
                    let first = self.registers_declared.unwrap_or(0);
                    groups.registers.missing(warp.index, first, n)
                }
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// What observers call a function's first instruction and first block.
    #[inline]
    pub fn numbers(&self, index: usize) -> (u32, u32) {
        self.plan.numbering.of_function(index).unwrap_or_default()
    }

    /// `%ctaid` of the block of this number.
    pub fn ctaid(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        let number = number - self.among.first_block;
        [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / x / y) as u32,
        ]
    }

    /// The number of a block.
    pub fn number_of(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [along_x, along_y, _] = self.grid.map(u64::from);
        let in_grid = u64::from(x) + along_x * (u64::from(y) + along_y * u64::from(z));
        self.among.first_block + in_grid
    }

    /// Whether a block of this number is one of its grid.
    pub fn has_block(&self, number: u64) -> bool {
        let first = self.among.first_block;
        (first..first + self.n_blocks()).contains(&number)
    }

    /// Clusters of the grid.
    pub fn n_clusters(&self) -> u64 {
        self.n_blocks() / u64::from(self.cluster.n_blocks())
    }

    /// Blocks of the grid.
    pub fn n_blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
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
    pub fn clock(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// `%tid` of the thread after the one at `[x, y, z]`.
    pub(crate) fn thread_after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        if x + 1 < self.block[0] {
            [x + 1, y, z]
        } else if y + 1 < self.block[1] {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        }
    }

    /// `%tid` of a lane.
    pub(crate) fn thread_at(&self, warp: u32, lane: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        let linear = warp * 32 + lane;
        [linear % x, linear / x % y, linear / x / y]
    }
}
