//! Numbers looked up for reports: instructions, threads, addresses; and why a launch
//! ended, with its place.

use super::LaunchContext;
use crate::diagnostics::{
    Caller, Fault, LaunchError, OutOfFuel, Place, Relation, Source, ThreadPlace,
};
use crate::ir;
use crate::memory::local::LOCAL_START;
use crate::program::{BlockId, Terminator};
use crate::stop::Stop;
use crate::warp::{FrameId, Warp};

impl LaunchContext<'_> {
    /// The launch's error: a warp's instruction could not be carried out.
    #[cold]
    pub fn stopped(
        &self,
        ctaid: [u32; 3],
        warp: &Warp,
        (frame, ptx): (FrameId, u32),
        stop: Stop,
    ) -> Box<LaunchError> {
        let place = self.place_in_calls(warp, frame, ptx);
        Box::new(match stop {
            Stop::Fault { lane, kind } => LaunchError::Fault(Box::new(Fault {
                kind: *kind,
                place,
                thread: self.thread_place(ctaid, warp.index, lane),
            })),
            Stop::Unsupported(what) => LaunchError::Unsupported {
                opcode: what.opcode,
                reason: what.reason,
                excerpt: what.excerpt,
                place: Box::new(place),
            },
            Stop::Internal(bug) => LaunchError::Internal {
                message: bug.message,
                place: Box::new(place),
            },
            Stop::NeedsLanes { .. } => LaunchError::Internal {
                message: "lanes that could wait for others ended the launch".to_owned(),
                place: Box::new(place),
            },
        })
    }

    /// The launch's error: a warp's block has no fuel left.
    #[cold]
    pub fn out_of_fuel(&self, ctaid: [u32; 3], warp: &Warp) -> Box<LaunchError> {
        let at_end = (self.kernel, u32::MAX);
        let (function, ptx) = warp.paths.last().map_or(at_end, |path| {
            let function = warp.frames[path.frame].function;
            let block = &self.function(function).blocks[path.block as usize];
            (function, block.ptx_first)
        });
        Box::new(LaunchError::OutOfFuel(Box::new(OutOfFuel {
            fuel: self.fuel as u64,
            place: self.place(function, ptx),
            thread: self.thread_place(ctaid, warp.index, 0),
        })))
    }

    /// The place of an instruction of a call, with the calls that led there.
    fn place_in_calls(&self, warp: &Warp, frame: FrameId, ptx: u32) -> Place {
        let called = &warp.frames[frame];
        let mut place = self.place(called.function, ptx);
        let mut caller = called.caller;
        while let Some((frame, block)) = caller {
            let calling = &warp.frames[frame];
            let function = calling.function;
            let ptx = self.function(function).blocks[block as usize].ptx_end - 1;
            let call = self.place(function, ptx);
            place.callers.push(Caller {
                function: call.function,
                ptx_line: call.ptx_line,
                source: call.source,
            });
            caller = calling.caller;
        }
        place
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

    /// The place of a thread.
    pub fn thread_place(&self, ctaid: [u32; 3], warp: u32, lane: u32) -> ThreadPlace {
        ThreadPlace {
            block: ctaid,
            thread: self.thread_at(warp, lane),
            warp,
            lane,
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
        let start = u64::from(LOCAL_START);
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
    pub fn waiting_at(&self, function: usize, block: BlockId, at: u32) -> u32 {
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

    /// Where a shared address is, relative to the variables.
    pub fn shared_relation(&self, address: u64) -> Relation {
        let placed = &self.plan.shared.placed;
        let before = placed
            .iter()
            .filter(|(_, offset)| u64::from(*offset) <= address);
        // What is past a static array's end is where the dynamic one begins, also if
        // that has no memory: then it is the static one's fault.
        let nearest = before.max_by_key(|(id, offset)| {
            let is_dynamic = self.module.variables[id.0 as usize].is_extern;
            (!is_dynamic || self.dynamic_shared_bytes > 0, *offset)
        });
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
