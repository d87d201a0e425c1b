//! The registers that a call begins with: constants, special registers, addresses,
//! parameters.

use std::sync::Arc;

use super::LaunchContext;
use crate::cluster::depends_on_rank;
use crate::lanes::{WARP_SIZE, lanes};
use crate::memory::address::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, function_address};
use crate::program::Init;
use crate::registers::{OutOfMemory, Registers};
use crate::spare::{Form, SpareBlocks};
use crate::warp::{Frame, FrameId, MAX_WARPS, Warp};
use ptx::ir::{self, Special};

/// Bytes of registers that the calls of a warp may take together: recursion ends at the
/// stack's limit before, unless its functions have thousands of registers.
const MOST_FRAME_BYTES: u64 = 1 << 30;

impl LaunchContext<'_> {
    /// Prepares warps that an earlier launch has left.
    pub fn renew(&self, warps: &[Warp]) {
        for warp in warps {
            self.initialise(warp, 0, depends_on_launch, [0; 3]);
        }
    }

    /// The warps of a block, each with the frame of the kernel itself.
    pub fn entry_warps(&self) -> Result<Vec<Warp>, OutOfMemory> {
        let local_base = self.local_start();
        let new = |index| {
            let mut warp = Warp::new(index);
            let frame = self.push_frame(&mut warp, self.kernel, local_base, [0; 3])?;
            debug_assert_eq!(frame, 0);
            Ok(warp)
        };
        (0..self.n_warps()).map(new).collect()
    }

    /// Where a block's parts are kept for the kernel's next launch, and what they depend on.
    pub fn heir(&self) -> Option<(Arc<SpareBlocks>, Form)> {
        if self.repeats {
            return None;
        }
        let function = self.function(self.kernel);
        let local_bytes = WARP_SIZE as u64 * u64::from(function.local_bytes);
        let warp_bytes = u64::from(function.frame_bytes) + local_bytes;
        let form = Form {
            kernel: self.plan.number,
            block: self.block,
            shared_bytes: self.shared_bytes,
            n_bytes: warp_bytes * u64::from(self.n_warps()) + u64::from(self.shared_bytes),
        };
        Some((Arc::clone(&self.spare), form))
    }

    /// Where the kernel's own local memory starts.
    pub fn local_start(&self) -> u32 {
        self.function(self.kernel).local_start
    }

    /// Makes a frame for a call, or takes one that is free.
    pub fn push_frame(
        &self,
        warp: &mut Warp,
        index: usize,
        local_base: u32,
        ctaid: [u32; 3],
    ) -> Result<FrameId, OutOfMemory> {
        let function = self.function(index);
        warp.local.reserve(local_base + function.local_bytes)?;
        // Frame 0 belongs to the kernel, even before its lanes start.
        let free = warp
            .frames
            .iter()
            .skip(1)
            .position(|f| f.lanes == 0 && f.function == index);
        let id = match free {
            Some(position) => position as FrameId + 1,
            None => {
                warp.frame_bytes += u64::from(function.frame_bytes);
                if warp.frame_bytes > MOST_FRAME_BYTES {
                    return Err(OutOfMemory);
                }
                warp.frames.push(Frame {
                    function: index,
                    registers: Registers::new(function.frame_bytes)?,
                    local_base,
                    lanes: 0,
                    caller: None,
                });
                let id = warp.frames.len() as FrameId - 1;
                self.initialise(warp, id, |init| !depends_on_block(init), ctaid);
                id
            }
        };
        warp.frames[id as usize].local_base = local_base;
        self.initialise(
            warp,
            id,
            |init| depends_on_block(init) || matches!(init, Init::Local { .. }),
            ctaid,
        );
        self.zero(warp, id);
        Ok(id)
    }

    /// Prepares the kernel's own frame for a new block.
    pub fn enter_block(&self, warp: &mut Warp, ctaid: [u32; 3]) {
        let regs = warp.frames[0].registers.frame();
        for &(slot, bytes, axis) in &self.plan.block_values {
            // SAFETY: The decoder made the slot for this width.
            unsafe { regs.splat(slot, bytes, u64::from(ctaid[axis])) };
        }
        for &(slot, bytes, register) in &self.plan.cluster_values {
            let value = self.special(register, warp.index, 0, ctaid);
            // SAFETY: As above.
            unsafe { regs.splat(slot, bytes, value) };
        }
        self.zero(warp, 0);
    }

    /// Zeroes the registers that may be read before they are written.
    fn zero(&self, warp: &Warp, id: FrameId) {
        let frame = &warp.frames[id as usize];
        let regs = frame.registers.frame();
        for &(slot, bytes) in &self.function(frame.function).zeroed {
            // SAFETY: The decoder gives registers and their sizes in bytes.
            unsafe {
                regs.bytes(slot, bytes as usize)
                    .write_bytes(0, bytes as usize)
            };
        }
    }

    /// Prepares a frame for lanes that enter a call that others are already in.
    pub fn enter_frame(&self, warp: &Warp, id: FrameId, mask: u32) {
        let frame = &warp.frames[id as usize];
        let regs = frame.registers.frame();
        for &(slot, bytes) in &self.function(frame.function).zeroed {
            let lane_bytes = bytes as usize / WARP_SIZE;
            if lane_bytes == 0 {
                // SAFETY: The decoder gives registers; those of 4 bytes are predicates.
                unsafe { regs.set_predicate(slot, mask, 0) };
                continue;
            }
            for lane in lanes(mask) {
                // SAFETY: The decoder gives registers and their sizes in bytes.
                unsafe {
                    let lane = regs.0.add(slot as usize + lane * lane_bytes);
                    lane.write_bytes(0, lane_bytes);
                }
            }
        }
    }

    /// Puts constants and special values in place.
    fn initialise(&self, warp: &Warp, id: FrameId, which: impl Fn(&Init) -> bool, ctaid: [u32; 3]) {
        let frame = &warp.frames[id as usize];
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
                    Init::Special { register, bytes: 0 } => {
                        let value = self.special(register, warp.index, 0, ctaid);
                        let all = if value != 0 { u32::MAX } else { 0 };
                        regs.set_predicate(*slot, u32::MAX, all);
                    }
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
            Special::ClusterId(a) => axis(self.cluster.id_of(ctaid), a),
            Special::NclusterId(a) => axis(self.cluster.id_of(self.grid), a),
            Special::ClusterCtaid(a) => axis(self.cluster.place_of(ctaid), a),
            Special::ClusterNctaid(a) => axis(self.cluster.blocks, a),
            Special::ClusterCtarank => u64::from(self.cluster.rank_of(ctaid)),
            Special::ClusterNctarank => u64::from(self.cluster.n_blocks()),
            Special::IsExplicitCluster => u64::from(self.cluster.is_explicit),
            Special::LaneId => u64::from(lane),
            Special::WarpId => u64::from(warp),
            Special::NWarpId => u64::from(MAX_WARPS),
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
            // The halves of an address, the upper one first; of the others CUDA sets none.
            Special::Environment(1) => self.grid_workspace >> 32,
            Special::Environment(2) => self.grid_workspace & u64::from(u32::MAX),
            Special::Environment(_) => 0,
            Special::Clock
            | Special::ClockHi
            | Special::Clock64
            | Special::GlobalTimer
            | Special::GlobalTimerLo
            | Special::GlobalTimerHi
            | Special::Other(_) => 0,
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
    match init {
        Init::Special { register, .. } => {
            matches!(register, Special::Ctaid(_)) || depends_on_rank(*register)
        }
        _ => false,
    }
}

/// Whether a value may change from launch to launch of one kernel with blocks of one
/// shape.
fn depends_on_launch(init: &Init) -> bool {
    match init {
        Init::Constant { .. }
        | Init::Predicate(_)
        | Init::Local { .. }
        | Init::ParamAddress { .. }
        | Init::Function { .. } => false,
        Init::Variable { .. } | Init::Param { .. } => true,
        Init::Special { register, .. } => !matches!(
            register,
            Special::Tid(_)
                | Special::Ntid(_)
                | Special::LaneId
                | Special::WarpId
                | Special::LaneMaskEq
                | Special::LaneMaskLe
                | Special::LaneMaskLt
                | Special::LaneMaskGe
                | Special::LaneMaskGt
        ),
    }
}
