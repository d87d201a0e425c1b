//! A kernel's attributes, as a driver reports them.

use crate::decode::layout::reachable;
use crate::module::Module;
use crate::occupancy::{
    MAX_BLOCK_THREADS, MOST_REGISTERS, blocks_by_registers, most_threads_by_registers,
};
use ptx::ir::{LaunchBounds, Space};

/// Registers that every thread has.
const LEAST_REGISTERS: u32 = 16;
/// Registers of a thread come in units of this many.
const UNIT: u32 = 8;

/// What `cuFuncGetAttribute` reports of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Bytes of static shared memory of a block.
    pub static_shared_bytes: u32,
    /// Bytes of the module's constants.
    pub const_bytes: u64,
    /// Bytes of local memory of a thread: the kernel's own, plus the largest of any
    /// function that it can reach.
    pub local_bytes: u64,
    /// Registers of a thread, estimated: as many 32-bit values as are needed at once.
    /// Only an assembler for a GPU knows the number.
    pub registers: u32,
    /// Threads of the largest block, by what the kernel declares and by its registers.
    /// Launches are only checked against the former.
    pub max_threads: u32,
    /// `.version` of the PTX: major and minor.
    pub ptx_version: (u32, u32),
    /// The architecture of `.target`: 90 for `sm_90a`.
    pub target: u32,
}

/// What a client asks of an assembler regarding registers, in addition to what kernels
/// declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterLimits {
    /// Registers of a thread at most (`CU_JIT_MAX_REGISTERS`).
    pub most: Option<u32>,
    /// Threads of a block that is to be launched (`CU_JIT_THREADS_PER_BLOCK`).
    pub block_threads: Option<u32>,
    /// Blocks that an SM is to hold (`CU_JIT_MIN_CTA_PER_SM`).
    pub min_blocks: Option<u32>,
    /// Whether that overrides what kernels declare.
    pub overrides: bool,
}

impl RegisterLimits {
    /// What determines the registers of a kernel that declares this.
    fn of(self, declared: LaunchBounds) -> LaunchBounds {
        let is_silent = declared.max_threads.is_none()
            && declared.required_block.is_none()
            && declared.min_blocks.is_none()
            && declared.max_registers.is_none();
        if !is_silent && !self.overrides {
            return declared;
        }
        LaunchBounds {
            max_threads: self.block_threads.or(declared.max_threads),
            min_blocks: self.min_blocks.or(declared.min_blocks),
            max_registers: self.most.or(declared.max_registers),
            ..declared
        }
    }
}

impl Module {
    /// What a driver reports of the kernel of that name.
    pub fn attributes(&self, kernel: &str) -> Option<KernelAttributes> {
        self.attributes_within(kernel, RegisterLimits::default())
    }

    /// What a driver reports of the kernel of that name if it was assembled within these
    /// limits.
    pub fn attributes_within(
        &self,
        kernel: &str,
        limits: RegisterLimits,
    ) -> Option<KernelAttributes> {
        let (id, function) = self.ir().function(kernel)?;
        if !function.is_entry || function.body.is_none() {
            return None;
        }
        let reached = reachable(self.ir(), self.program(), id);
        let most_live = reached.iter().map(|&f| self.live_registers(f)).max();
        let bounds = function.bounds;
        let registers = estimate(most_live.unwrap_or(0), limits.of(bounds));
        let declared = declared_threads(bounds).unwrap_or(MAX_BLOCK_THREADS);
        let callees = reached.iter().filter(|&&f| f != id.0);
        let of_callees = callees.map(|&f| self.own_local_bytes(f)).max();
        Some(KernelAttributes {
            static_shared_bytes: self.plan(id).shared.static_bytes,
            const_bytes: self.ir().const_bytes(),
            local_bytes: self.own_local_bytes(id.0) + of_callees.unwrap_or(0),
            registers,
            max_threads: declared.min(most_threads_by_registers(registers)),
            ptx_version: self.ir().version,
            target: self.ir().architecture().0,
        })
    }

    /// Bytes of the `.local` variables of a function.
    fn own_local_bytes(&self, function: u32) -> u64 {
        let locals = self.ir().functions[function as usize].locals.iter();
        let locals = locals.filter(|local| local.space == Space::Local);
        let end = locals.fold(0, |end: u64, local| {
            end.next_multiple_of(u64::from(local.align.max(1))) + u64::from(local.size_bytes)
        });
        end.next_multiple_of(4)
    }
}

/// The largest block that a kernel declares.
fn declared_threads(bounds: LaunchBounds) -> Option<u32> {
    let required = bounds.required_block.map(|block| {
        let product = block.iter().try_fold(1_u32, |n, &axis| n.checked_mul(axis));
        product.unwrap_or(u32::MAX)
    });
    let declared = bounds.max_threads.into_iter().chain(required).min();
    declared.map(|n_threads| n_threads.clamp(1, MAX_BLOCK_THREADS))
}

/// Registers that an assembler gives threads of a kernel that moves registers from warp to
/// warp: as many as its limits leave; none where it declares no limit.
pub(crate) fn registers_declared(bounds: LaunchBounds) -> Option<u32> {
    let by_threads = || declared_threads(bounds).map(|_| estimate(u32::MAX, bounds) / UNIT * UNIT);
    bounds.max_registers.or_else(by_threads)
}

/// Registers for this many values at once, within what a kernel declares: as an assembler
/// that keeps the others in memory.
fn estimate(most_live: u32, bounds: LaunchBounds) -> u32 {
    let wanted = most_live.clamp(LEAST_REGISTERS, MOST_REGISTERS);
    let mut registers = wanted.next_multiple_of(UNIT).min(MOST_REGISTERS);
    if let Some(most) = bounds.max_registers {
        registers = registers.min(most.max(LEAST_REGISTERS));
    }
    let Some(n_threads) = declared_threads(bounds) else {
        return registers;
    };
    let n_blocks = bounds.min_blocks.unwrap_or(1);
    let fits = |registers| blocks_by_registers(registers, n_threads.div_ceil(32)) >= n_blocks;
    while registers > LEAST_REGISTERS && !fits(registers) {
        registers = (registers - 1) / UNIT * UNIT;
    }
    registers
}
