//! Numbers looked up for reports: instructions, threads, addresses; and why a launch
//! ended, with its place.

use super::LaunchContext;
use crate::diagnostics::{
    Caller, DYNAMIC_SHARED, Fault, LaunchError, Place, Relation, Source, ThreadPlace,
};
use crate::memory::heap::ordinal_of;
use crate::program::{Block, BlockId, Terminator};
use crate::stop::Stop;
use crate::warp::{FrameId, Warp};
use ptx::ir;

/// The place in the source of an instruction of a function, and whether it is that of one just before
/// it, because it has none of its own.
pub(crate) fn loc_of(body: &[ir::Instruction], at: usize) -> (Option<ir::SourceLoc>, bool) {
    /// How many instructions back that may be.
    const NEAR: usize = 32;
    let own = body.get(at).or(body.last()).and_then(|own| own.loc);
    let before = || body[..body.len().min(at)].iter().rev().take(NEAR);
    let loc = own.or_else(|| before().find_map(|instruction| instruction.loc));
    (loc, own.is_none() && loc.is_some())
}

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
            Stop::OutOfMemory => LaunchError::HostOutOfMemory {
                place: Box::new(place),
            },
            Stop::Internal(bug) => LaunchError::Internal {
                message: bug.message,
                place: Box::new(place),
            },
            Stop::NeedsLanes { .. } | Stop::WaitsForWarps | Stop::Halted => LaunchError::Internal {
                message: "lanes that could wait for others ended the launch".to_owned(),
                place: Box::new(place),
            },
        })
    }

    /// The launch's error: the host has no memory for a warp's first call.
    #[cold]
    pub fn out_of_memory(&self) -> Box<LaunchError> {
        Box::new(LaunchError::HostOutOfMemory {
            place: Box::new(self.place(self.kernel, 0)),
        })
    }

    /// The place of an instruction of a call, with the calls that led there.
    pub fn place_in_calls(&self, warp: &Warp, frame: FrameId, ptx: u32) -> Place {
        let called = &warp.frames[frame as usize];
        let mut place = self.place(called.function, ptx);
        let package = self.own_package();
        let is_own = |source: &Source| package.as_deref() == Some(package_of(&source.file));
        let mut caller = called.caller;
        while let Some((frame, block)) = caller {
            let calling = &warp.frames[frame as usize];
            let function = calling.function;
            let ptx = self.function(function).blocks[block as usize].ptx_end - 1;
            let call = self.place(function, ptx);
            place.callers.push(Caller {
                function: call.function,
                input: call.input,
                ptx_line: call.ptx_line,
                source: call.source,
                inlined_at: call.inlined_at,
            });
            caller = calling.caller;
        }
        // In a library function that was not inlined, the caller's line is the relevant
        // one.
        if let Some(source) = place.source.take_if(|source| !is_own(source)) {
            let callers = place.callers.iter();
            let mut sources = callers.filter_map(|caller| caller.source.as_ref());
            match sources.find(|source| is_own(source)) {
                Some(own) => {
                    place.source = Some(own.clone());
                    place.inside.push(source);
                }
                None => place.source = Some(source),
            }
        }
        place
    }

    /// The package that the kernel's own source is in.
    fn own_package(&self) -> Option<String> {
        let body = self.module.functions[self.kernel].body.as_ref()?;
        let loc = body.iter().find_map(|instruction| instruction.loc)?;
        let outermost = self.module.calls_around(loc).last().unwrap_or(loc);
        Some(package_of(self.module.file(outermost.file)?).to_owned())
    }

    /// The place of an instruction.
    pub fn place(&self, function: usize, ptx: u32) -> Place {
        let f = &self.module.functions[function];
        let body = f.body.as_deref().unwrap_or_default();
        let instruction = body.get(ptx as usize).or_else(|| body.last());
        let (loc, is_near) = loc_of(body, ptx as usize);
        Place {
            kernel: self.module.functions[self.kernel].name.clone(),
            function: f.name.clone(),
            opcode: instruction.map(|i| i.opcode.clone()).unwrap_or_default(),
            input: self.module.input(f).map(str::to_owned),
            ptx_line: instruction.map_or(f.line, |i| i.line),
            is_near,
            ..in_source(self.module, loc)
        }
    }

    /// The place of a thread.
    pub fn thread_place(&self, ctaid: [u32; 3], warp: u32, lane: u32) -> ThreadPlace {
        ThreadPlace {
            device: self.device,
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

    /// Whether the function of an instruction compares and swaps, or exchanges.
    pub(crate) fn may_lock(&self, number: u32) -> bool {
        let found = self.plan.numbering.instruction(number);
        let body = found.and_then(|(function, _)| self.module.functions[function].body.as_ref());
        let may_lock = |opcode: &str| {
            opcode.starts_with("atom.") && (opcode.contains(".cas.") || opcode.contains(".exch."))
        };
        body.is_some_and(|body| body.iter().any(|one| may_lock(&one.opcode)))
    }

    /// Where a global address is: also on which device, where that is another one.
    pub(crate) fn global_relation(&self, address: u64) -> Relation {
        let found = self.machine.find(address);
        let Some(relation) = found.map(|allocation| allocation.relation(address)) else {
            return Relation::Nowhere;
        };
        match ordinal_of(address) {
            Some(owner) if self.device.is_some_and(|device| device != owner) => {
                relation.on_device(owner)
            }
            _ => relation,
        }
    }

    /// Where a local address is.
    pub(crate) fn local_relation(&self, address: u64, bytes: u32) -> Relation {
        let start = u64::from(self.local_start());
        let size_bytes = u64::from(self.function(self.kernel).local_bytes);
        Relation::Near {
            label: "the thread's local memory".to_owned(),
            // Calls have more memory than the kernel.
            size_bytes: size_bytes.max((address + u64::from(bytes)).saturating_sub(start)),
            offset: i128::from(address) - i128::from(start),
        }
    }

    /// The instruction that a path waits at: inside its block, or the barrier
    /// that the block before it ends in.
    pub fn waiting_at(&self, function: usize, block: BlockId, at: u32) -> u32 {
        let function = self.function(function);
        let here = &function.blocks[block as usize];
        let leads_here = |b: &&Block| match &b.terminator {
            Terminator::Barrier(barrier) => barrier.next == block,
            Terminator::ClusterBarrier(barrier) => barrier.next == block,
            _ => false,
        };
        let before = function.blocks.iter().find(leads_here);
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
        // Dynamic memory begins just past the static arrays, even if it is empty: then the
        // access belongs to the static array.
        let nearest = before.max_by_key(|(id, offset)| {
            let is_dynamic = self.module.variables[id.0 as usize].is_open();
            (!is_dynamic || self.dynamic_shared_bytes > 0, *offset)
        });
        let total = i128::from(self.shared_bytes);
        match nearest {
            Some((id, offset)) => {
                let variable = &self.module.variables[id.0 as usize];
                let is_dynamic = variable.is_open();
                let (label, size_bytes) = match is_dynamic {
                    true => (
                        dynamic_shared(&variable.name),
                        u64::from(self.dynamic_shared_bytes),
                    ),
                    false => (variable.name.clone(), variable.size_bytes),
                };
                Relation::Near {
                    label,
                    size_bytes,
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

/// What the launch's dynamic shared memory is called that a variable stands for.
fn dynamic_shared(variable: &str) -> String {
    match variable {
        // rustc's own, which no source names.
        "gpu_launch_sized_workgroup_mem" => DYNAMIC_SHARED.to_owned(),
        name => format!("{DYNAMIC_SHARED} `{name}`"),
    }
}

/// The part of a place that is in the source: the innermost line that is in the
/// package of the function itself, what was inlined there, and what that was inlined
/// in. A library's line says little to its users.
fn in_source(module: &ir::Module, loc: Option<ir::SourceLoc>) -> Place {
    let all = loc.into_iter();
    let all = all.flat_map(|loc| std::iter::once(loc).chain(module.calls_around(loc)));
    let mut all: Vec<Source> = all.filter_map(|loc| source_of(module, Some(loc))).collect();
    let Some(own) = own_among(all.iter()) else {
        return Place::default();
    };
    let inlined_at = all.split_off(own + 1);
    let source = all.pop();
    Place {
        source,
        inside: all,
        inlined_at,
        ..Place::default()
    }
}

/// Which of a place and the calls around it, the innermost first, is the first in the package of the
/// outermost.
pub(crate) fn own_among<'a>(
    all: impl DoubleEndedIterator<Item = &'a Source> + Clone,
) -> Option<usize> {
    let package = package_of(&all.clone().next_back()?.file);
    all.clone()
        .position(|source| package_of(&source.file) == package)
}

/// What the files of one package have in common: the path up to its `src`, else the
/// folder.
fn package_of(file: &str) -> &str {
    let end = match file.rfind("src/") {
        Some(at) => at + 4,
        None => file.rfind('/').map_or(0, |at| at + 1),
    };
    &file[..end]
}

/// The source places of the calls that an instruction was inlined at, the innermost first.
pub(crate) fn sources_around(module: &ir::Module, loc: Option<ir::SourceLoc>) -> Vec<Source> {
    let calls = loc.into_iter().flat_map(|loc| module.calls_around(loc));
    calls
        .filter_map(|call| source_of(module, Some(call)))
        .collect()
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
