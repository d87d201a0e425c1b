//! The decoding of a function into blocks.

use std::collections::BTreeMap;

use crate::lanes::{LaneOp, is_plain};
use crate::program::{
    Argument, Barrier, BarrierKind, Block, BlockId, Call, CallTarget, ClusterBarrier, Function,
    Guard, Init, Insn, Op, Slot, Terminator,
};
use ptx::excerpt::ParseError;
use ptx::ir::{FuncId, Function as IrFunction, Instruction, Module, Operand, Param, Symbol, Type};

use super::cfg;
use super::decoder::{Decoded, Decoder};
use super::fragments;
use super::frame::{FrameBuilder, lane_bytes};
use super::kind::kind_of;
use super::liveness::Liveness;
use super::liveness::targets;
use super::opcode::Opcode;
use super::operand::immediate;
use super::signature;
use super::verify;
use crate::lanes::PREDICATE;
use crate::memory::local::LOCAL_START;

/// More local memory than any thread has, and little enough to be added to.
const MOST_LOCAL_BYTES: u32 = 1 << 30;
/// What a call's local memory is aligned to if its variables ask for less.
const LEAST_ALIGN: u32 = 16;

/// A call's local memory, while its variables get places there.
struct Local {
    bytes: u32,
    align: u32,
}

impl Local {
    fn new() -> Self {
        Self {
            bytes: 0,
            align: LEAST_ALIGN,
        }
    }

    /// A place for a variable.
    fn place(&mut self, size: u32, align: u32) -> u32 {
        self.align = self.align.max(align);
        // No thread has enough memory for this to overflow: a call fails first.
        let align = align.max(4);
        let offset = self.bytes.div_ceil(align).saturating_mul(align);
        let end = offset.saturating_add(size.div_ceil(4).saturating_mul(4));
        self.bytes = end.min(MOST_LOCAL_BYTES);
        offset.min(MOST_LOCAL_BYTES)
    }
}

/// The local memory of a function, with the offsets of its parameters, of its return values and of
/// its variables. An entry's parameters are the launch's, not local memory.
fn place_locals(function: &IrFunction) -> (Local, [Vec<u32>; 3]) {
    let mut local = Local::new();
    let mut place = |size, align| local.place(size, align);
    let own = |entry: bool| if entry { &[][..] } else { &function.params[..] };
    let params = own(function.is_entry).iter();
    let params = params.map(|p| place(p.size_bytes, p.align)).collect();
    let returns = function.returns.iter();
    let returns = returns.map(|p| place(p.size_bytes, p.align)).collect();
    let locals = function.locals.iter();
    let locals = locals.map(|l| place(l.size_bytes, l.align)).collect();
    (local, [params, returns, locals])
}

/// Decodes a function.
pub(crate) fn decode(
    (module, source): (&Module, &str),
    id: FuncId,
    function: &IrFunction,
    body: &[Instruction],
    errors: &mut Vec<ParseError>,
) -> Function {
    let (local, [param_offsets, return_offsets, local_offsets]) = place_locals(function);
    let mut liveness = Liveness::of(function, body);
    let fragments = fragments::of(function.registers.len(), body);
    fragments::pin(fragments.as_ref(), &mut liveness, body.len());
    let frame = FrameBuilder::new(function, &liveness);
    let set_once = liveness.set_once();
    let Liveness {
        read,
        at_entry,
        intervals,
        ..
    } = liveness;
    let mut decoder = Decoder {
        source,
        module,
        function,
        frame,
        code: Vec::new(),
        guard: None,
        ptx: 0,
        local_offsets: local_offsets.clone(),
        param_offsets: param_offsets.clone(),
        return_offsets: return_offsets.clone(),
        variables: Vec::new(),
        callees: Vec::new(),
        maps_ranks: false,
        read,
        set_once,
        fragments,
        carry: None,
        mismatch: None,
        culprit: None,
        errors: Vec::new(),
    };
    let mut blocks = Blocks::find(function, body).build(&mut decoder, body);
    mark_joins(&mut blocks, function.is_entry);
    errors.append(&mut decoder.errors);
    let is_zeroed = |register| at_entry.contains(register);
    let zeroed = decoder.frame.slots_of(is_zeroed);
    debug_assert!(is_prepared(&decoder.frame, &zeroed));
    Function {
        id,
        is_entry: function.is_entry,
        homes: decoder.frame.homes(&intervals),
        frame_bytes: decoder.frame.size(),
        inits: decoder.frame.inits,
        zeroed,
        lanewise: gather_lanewise(&blocks, &mut decoder.code),
        blocks,
        code: decoder.code,
        local_bytes: local.bytes,
        local_align: local.align,
        local_start: LOCAL_START.next_multiple_of(local.align),
        local_offsets,
        param_offsets,
        return_offsets,
        n_instructions: body.len() as u32,
        variables: decoder.variables,
        callees: decoder.callees,
        maps_ranks: decoder.maps_ranks,
    }
}

/// Whether all that a frame begins with lies in slots made for it.
fn is_prepared(frame: &FrameBuilder<'_>, zeroed: &[(Slot, u32)]) -> bool {
    let mut inits = frame.inits.iter();
    inits.all(|&(slot, init)| frame.holds(slot, init.bytes()))
        && zeroed
            .iter()
            .all(|&(slot, bytes)| u64::from(slot) + u64::from(bytes) <= u64::from(frame.size()))
}

/// Finds where diverged lanes meet again.
fn mark_joins(blocks: &mut [Block], is_entry: bool) {
    let joins = cfg::joins(blocks, is_entry);
    for (i, join) in joins.iter().enumerate() {
        match &mut blocks[i].terminator {
            Terminator::Branch { join: place, .. } | Terminator::Switch { join: place, .. } => {
                *place = *join;
                if let Some(join) = join {
                    blocks[*join as usize].is_join = true;
                }
            }
            // Calls through pointers may diverge.
            Terminator::Call(call) => {
                if let Some(next) = call.next {
                    blocks[next as usize].is_join = true;
                }
            }
            _ => {}
        }
    }
}

/// The lane-wise instructions without a guard; each is told how many of its kind it begins.
fn gather_lanewise(blocks: &[Block], code: &mut [Insn]) -> Vec<LaneOp> {
    let mut gathered = Vec::new();
    if is_plain() {
        return gathered;
    }
    for block in blocks {
        let code = &mut code[block.first as usize..block.end as usize];
        for insn in &mut *code {
            if let (None, Op::Lanes(op)) = (insn.guard, &insn.op) {
                (insn.n_lanewise, insn.lanewise) = (1, gathered.len() as u32);
                gathered.push(*op);
            }
        }
        let mut n = 0;
        for insn in code.iter_mut().rev() {
            n = if insn.n_lanewise > 0 { n + 1 } else { 0 };
            insn.n_lanewise = n;
        }
    }
    gathered
}

/// Whether an instruction ends a block.
pub(crate) fn is_control(instruction: &Instruction) -> bool {
    let mut parts = instruction.opcode.split('.');
    match parts.next().unwrap_or("") {
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "call" => true,
        "bar" | "barrier" => !parts.any(|p| p == "warp"),
        _ => false,
    }
}

/// Blocks by the instruction that they start at.
struct Blocks {
    /// First instruction → block number.
    starts: BTreeMap<u32, BlockId>,
    n_instructions: u32,
}

impl Blocks {
    fn find(function: &IrFunction, body: &[Instruction]) -> Self {
        let n_instructions = body.len() as u32;
        let mut starts = BTreeMap::from([(0, 0)]);
        // Not at every label: compilers put many between source lines.
        for (i, instruction) in body.iter().enumerate() {
            for target in targets(function, instruction) {
                starts.insert(target.min(n_instructions), 0);
            }
            if is_control(instruction) {
                starts.insert(i as u32 + 1, 0);
            }
        }
        // After the last instruction, the function returns.
        starts.insert(n_instructions, 0);
        for (number, (_, block)) in starts.iter_mut().enumerate() {
            *block = number as BlockId;
        }
        Self {
            starts,
            n_instructions,
        }
    }

    /// The block that starts at an instruction.
    fn at(&self, instruction: u32) -> BlockId {
        self.starts[&instruction.min(self.n_instructions)]
    }

    /// The block of the function's return.
    fn end(&self) -> BlockId {
        self.at(self.n_instructions)
    }

    fn build(&self, decoder: &mut Decoder<'_>, body: &[Instruction]) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::with_capacity(self.starts.len());
        // Blocks that execute guarded calls, barriers and so on, for the lanes whose guard
        // holds; they come after the others.
        let mut guarded: Vec<Block> = Vec::new();
        let starts: Vec<u32> = self.starts.keys().copied().collect();
        for (number, &start) in starts.iter().enumerate() {
            let end = starts
                .get(number + 1)
                .copied()
                .unwrap_or(self.n_instructions);
            let first = decoder.code.len() as u32;
            let mut terminator = Terminator::Jump(self.at(end));
            if start == self.n_instructions {
                terminator = Terminator::Return;
            }
            for i in start..end {
                let instruction = &body[i as usize];
                decoder.ptx = i;
                decoder.guard = None;
                decoder.frame.next_instruction();
                let guard = instruction.guard.map(|g| Guard {
                    slot: decoder.frame.register(g.register),
                    flip: if g.negated { u32::MAX } else { 0 },
                });
                if !is_control(instruction) {
                    decoder.guard = guard;
                    decoder.instruction(instruction);
                    decoder.guard = None;
                    continue;
                }
                decoder.touches(instruction);
                terminator = self.ending(decoder, instruction, guard, &mut guarded);
            }
            blocks.push(Block {
                first,
                end: decoder.code.len() as u32,
                ptx_first: start,
                ptx_end: end,
                is_join: false,
                terminator,
            });
        }
        blocks.extend(guarded);
        blocks
    }

    /// The terminator of the current control instruction. What its guard allows only some
    /// lanes becomes a block of `guarded`.
    fn ending(
        &self,
        decoder: &mut Decoder<'_>,
        instruction: &Instruction,
        guard: Option<Guard>,
        guarded: &mut Vec<Block>,
    ) -> Terminator {
        let next = self.at(decoder.ptx + 1);
        let before = decoder.code.len();
        let fits = guard.map_or(Ok(()), |guard| {
            verify::check(&decoder.frame, guard.slot, PREDICATE)
        });
        let decoded = fits.and_then(|()| self.control(decoder, instruction, next));
        let branch = |guard, taken| Terminator::Branch {
            guard,
            taken,
            other: next,
            join: None,
        };
        match (decoded, guard) {
            (Ok(terminator), None) => terminator,
            // Either way.
            (Ok(Terminator::Jump(taken)), Some(_)) if taken == next => Terminator::Jump(next),
            (Ok(Terminator::Jump(taken)), Some(guard)) => branch(guard, taken),
            (Ok(terminator), Some(guard)) => {
                let taken = (self.starts.len() + guarded.len()) as BlockId;
                let behind = decoder.ptx + 1;
                guarded.push(Block {
                    first: 0,
                    end: 0,
                    ptx_first: behind,
                    ptx_end: behind,
                    is_join: false,
                    terminator,
                });
                branch(guard, taken)
            }
            (Err(reason), guard) => {
                decoder.code.truncate(before);
                decoder.guard = guard;
                decoder.give_up(instruction, reason);
                decoder.guard = None;
                Terminator::Jump(next)
            }
        }
    }

    /// The terminator of a control instruction, its guard aside.
    fn control(
        &self,
        decoder: &mut Decoder<'_>,
        instruction: &Instruction,
        next: BlockId,
    ) -> Decoded<Terminator> {
        // Errors are reported where the instruction is given up.
        signature::check(decoder.module, decoder.function, instruction).map_err(|r| r.reason)?;
        let mut op = Opcode::new(&instruction.opcode);
        let operands = &instruction.operands;
        let terminator = match op.name {
            "bra" => {
                op.take("uni");
                let [Operand::Label(label)] = &operands[..] else {
                    return Err("bra takes a label".to_owned());
                };
                Terminator::Jump(self.label(decoder, label.0))
            }
            "brx" => {
                op.ignore(&["idx", "uni"]);
                let [index, Operand::BranchTargets(list)] = &operands[..] else {
                    return Err("brx.idx takes an index and a list of targets".to_owned());
                };
                let index = decoder.source(index, Type::U32)?;
                let targets = decoder.function.branch_targets[*list as usize]
                    .iter()
                    .map(|label| self.label(decoder, label.0))
                    .collect();
                Terminator::Switch {
                    index,
                    targets,
                    join: None,
                }
            }
            "ret" => {
                op.take("uni");
                // All returns of a device function are one block, so that
                // diverged lanes meet there. In a kernel threads just end.
                if decoder.function.is_entry {
                    Terminator::Return
                } else {
                    Terminator::Jump(self.end())
                }
            }
            "exit" => Terminator::Exit,
            "trap" | "brkpt" => Terminator::Trap,
            "call" => call(decoder, &mut op, operands, next)?,
            "barrier" if op.has("cluster") => cluster_barrier(&mut op, operands, next)?,
            _ => barrier(decoder, &mut op, operands, next)?,
        };
        op.finish()?;
        let fits = verify::check_all(&decoder.frame, |f| {
            verify::terminator_operands(&terminator, &mut |slot, width| f(slot, width));
        });
        decoder.fits().and(fits)?;
        Ok(terminator)
    }

    fn label(&self, decoder: &Decoder<'_>, label: u32) -> BlockId {
        self.at(decoder.function.labels[label as usize].target)
    }
}

/// `call`
fn call(
    decoder: &mut Decoder<'_>,
    op: &mut Opcode<'_>,
    operands: &[Operand],
    next: BlockId,
) -> Decoded<Terminator> {
    op.take("uni");
    let mut operands = operands.iter().peekable();
    // call (returns), function, (arguments), prototype: lists are optional,
    // and the parser keeps what is written.
    let mut returns: &[Operand] = &[];
    if let Some(Operand::List(list)) = operands.peek() {
        returns = list;
        operands.next();
    }
    let Some(target) = operands.next() else {
        return Err("call takes a function".to_owned());
    };
    let mut arguments: &[Operand] = &[];
    if let Some(Operand::List(list)) = operands.peek() {
        arguments = list;
        operands.next();
    }
    let mut no_return = false;
    let mut params: &[Param] = &[];
    let target = match target {
        Operand::Function(id) => {
            decoder.callees.push(*id);
            let callee = &decoder.module.functions[id.0 as usize];
            params = &callee.params;
            no_return = callee.no_return;
            if callee.body.is_some() {
                CallTarget::Function(*id)
            } else {
                CallTarget::External(callee.name.clone())
            }
        }
        Operand::External(name) => CallTarget::External(name.clone()),
        Operand::Reg(_) => CallTarget::Pointer(decoder.source(target, Type::U64)?),
        other => return Err(format!("{} cannot be called", kind_of(other))),
    };
    let arguments = arguments
        .iter()
        .enumerate()
        .map(|(i, a)| match (a, params.get(i)) {
            (Operand::Int(_) | Operand::F32(_) | Operand::F64(_), Some(param)) => {
                constant_argument(decoder, a, param.ty)
            }
            _ => argument(decoder, a),
        })
        .collect::<Decoded<Vec<_>>>()?;
    let returns = returns
        .iter()
        .map(|a| match a {
            Operand::Int(_) => Err("a number cannot take a result".to_owned()),
            a => argument(decoder, a),
        })
        .collect::<Decoded<Vec<_>>>()?;
    let next = if no_return { None } else { Some(next) };
    Ok(Terminator::Call(Box::new(Call {
        target,
        arguments,
        returns,
        next,
    })))
}

/// A number passed to a parameter of this type.
fn constant_argument(decoder: &mut Decoder<'_>, operand: &Operand, ty: Type) -> Decoded<Argument> {
    let bits = immediate(operand, ty)?;
    let bytes = lane_bytes(ty);
    let slot = decoder.frame.value(Init::Constant { bits, bytes });
    Ok(Argument::Register { slot, bytes })
}

/// An argument or return value of a call.
fn argument(decoder: &mut Decoder<'_>, operand: &Operand) -> Decoded<Argument> {
    match operand {
        Operand::Symbol {
            base: Symbol::Local(id),
            offset: 0,
            ..
        } => {
            let local = &decoder.function.locals[id.0 as usize];
            let offset = decoder.local_offsets[id.0 as usize];
            Ok(Argument::Memory {
                offset,
                bytes: local.size_bytes,
            })
        }
        Operand::Symbol {
            base: Symbol::Param(index),
            offset: 0,
            ..
        } if !decoder.function.is_entry => {
            let param = &decoder.function.params[*index as usize];
            let offset = decoder.param_offsets[*index as usize];
            Ok(Argument::Memory {
                offset,
                bytes: param.size_bytes,
            })
        }
        Operand::Reg(register) => {
            let bytes = lane_bytes(decoder.frame.type_of(*register));
            if bytes == 0 {
                return Err("a predicate cannot be passed".to_owned());
            }
            Ok(Argument::Register {
                slot: decoder.frame.register(*register),
                bytes,
            })
        }
        Operand::Int(value) => {
            let init = Init::Constant {
                bits: *value as u64,
                bytes: 8,
            };
            let slot = decoder.frame.value(init);
            Ok(Argument::Number { slot })
        }
        other => Err(format!("{} cannot be passed to a function", kind_of(other))),
    }
}

/// `bar`, `barrier`
fn barrier(
    decoder: &mut Decoder<'_>,
    op: &mut Opcode<'_>,
    operands: &[Operand],
    next: BlockId,
) -> Decoded<Terminator> {
    let mut aligned = op.name == "bar";
    op.take("cta");
    aligned |= op.take("aligned");
    let mut has_result = false;
    let kind = if op.take("arrive") {
        BarrierKind::Arrive
    } else if op.take("red") {
        has_result = true;
        match (op.take("and"), op.take("or"), op.take("popc")) {
            (true, false, false) => BarrierKind::And,
            (false, true, false) => BarrierKind::Or,
            (false, false, true) => BarrierKind::PopCount,
            _ => return Err("a barrier reduction needs .and, .or or .popc".to_owned()),
        }
    } else {
        op.take("sync");
        BarrierKind::Sync
    };
    op.ignore(&["pred", "u32"]);
    let mut operands = operands.iter();
    let d = match (has_result, kind) {
        (true, BarrierKind::PopCount) => {
            let d = operands.next().ok_or("the destination is missing")?;
            Some(decoder.destination(d, Type::U32)?)
        }
        (true, _) => {
            let d = operands.next().ok_or("the destination is missing")?;
            Some(decoder.destination(d, Type::Pred)?)
        }
        (false, _) => None,
    };
    let id = operands.next().ok_or("the barrier's number is missing")?;
    let id = decoder.source(id, Type::U32)?;
    let rest: Vec<&Operand> = operands.collect();
    let (threads, source) = match (has_result, &rest[..]) {
        (false, []) => (None, None),
        (false, [threads]) => (Some(*threads), None),
        (true, [source]) => (None, Some(*source)),
        (true, [threads, source]) => (Some(*threads), Some(*source)),
        _ => return Err("too many operands".to_owned()),
    };
    let threads = threads.map(|t| decoder.source(t, Type::U32)).transpose()?;
    let source = source.map(|s| decoder.predicate(s)).transpose()?;
    Ok(Terminator::Barrier(Box::new(Barrier {
        kind,
        aligned,
        id,
        threads,
        source,
        d,
        next,
    })))
}

/// `barrier.cluster`
fn cluster_barrier(
    op: &mut Opcode<'_>,
    operands: &[Operand],
    next: BlockId,
) -> Decoded<Terminator> {
    op.take("cluster");
    let aligned = op.take("aligned");
    let arrives = op.take("arrive");
    if !arrives && !op.take("wait") {
        return Err("barrier.cluster needs .arrive or .wait".to_owned());
    }
    let relaxed = arrives && op.take("relaxed");
    op.take(if arrives { "release" } else { "acquire" });
    if !operands.is_empty() {
        return Err("barrier.cluster takes no operands".to_owned());
    }
    Ok(Terminator::ClusterBarrier(Box::new(ClusterBarrier {
        arrives,
        releases: !relaxed,
        aligned,
        next,
    })))
}
