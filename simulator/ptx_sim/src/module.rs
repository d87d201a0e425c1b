//! A PTX module, parsed and decoded.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::cluster::depends_on_rank;
use crate::decode::{
    self,
    cfg::successors,
    layout::SharedLayout,
    layout::reachable,
    liveness::most_live,
    order_dependence::{is_order_independent, may_meet_host},
};
use crate::numbering::{Numbering, Routes};
use crate::program::{Init, Op, Program, Scope, Slot, Terminator, WarpgroupOp};
use ptx::ir;

/// What the device's runtime provides, so that no text has to.
pub(crate) const PROVIDED: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// A PTX module. Cheap to clone.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    text: Option<Arc<str>>,
    ir: ir::Module,
    program: Program,
    /// By function; made when a kernel is first launched.
    plans: Box<[OnceLock<KernelPlan>]>,
    /// By function: the most 32-bit registers in use at once, if that was requested.
    live_registers: Box<[OnceLock<u32>]>,
}

/// What is the same for all launches of a kernel.
pub(crate) struct KernelPlan {
    /// Where its shared variables lie.
    pub shared: SharedLayout,
    /// The observers' numbers for the instructions that it can reach.
    pub numbering: Numbering,
    /// Its values that change from block to block: slot, bytes per lane, axis of
    /// `%ctaid`.
    pub block_values: Vec<(Slot, u32, usize)>,
    /// Those that say where in its cluster a block is, and where the cluster is: slot,
    /// bytes per lane, register.
    pub cluster_values: Vec<(Slot, u32, ir::Special)>,
    /// Whether it makes addresses of other blocks' shared memory.
    pub maps_ranks: bool,
    /// Whether it reaches the barrier of its cluster.
    pub meets_in_cluster: bool,
    /// A number that no other kernel of the process has.
    pub number: u64,
    /// Whether anything works on shared memory alongside its threads.
    pub uses_async_proxy: bool,
    /// Whether lanes shuffle.
    pub shuffles: bool,
    /// Whether anything in it goes round.
    pub has_loops: bool,
    /// Whether its blocks cannot tell in which order they run.
    pub is_order_independent: bool,
    /// Whether its atomics and those of the host may meet (`.sys`).
    pub has_atomics_for_host: bool,
    /// Whether it may wait for the host, or tell it something.
    pub may_meet_host: bool,
    /// Whether it can reach a call of `malloc` or `free`.
    pub takes_memory: bool,
    /// Whether the prefilter was useless for a launch that had no defect, as it will be for
    /// others.
    pub is_not_for_the_prefilter: AtomicBool,
    /// Whether a block has begun while another one waited for it.
    pub has_waiting_blocks: AtomicBool,
    /// Where values are only passed on, once a launch with checks has asked for it.
    pub routes: OnceLock<Arc<Routes>>,
}

/// What a host needs to know of a kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, in order.
    pub params: &'a [ir::Param],
    /// The launch limits that it declares.
    pub bounds: ir::LaunchBounds,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// Local memory of a thread, in bytes, without what it calls.
    pub local_bytes: u32,
    /// Whether it names dynamic shared memory.
    pub uses_dynamic_shared: bool,
}

/// An instruction that the simulator does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedInstruction<'a> {
    /// The function that holds it.
    pub function: &'a str,
    /// The text that it comes from, if the module was linked.
    pub input: Option<&'a str>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The opcode as written.
    pub opcode: &'a str,
    /// Column in that line of what is not supported, from 1.
    pub ptx_column: u32,
    /// What about it is not supported, and what to do instead if that is known.
    pub reason: &'a str,
    /// The line, with a mark under the place.
    pub excerpt: &'a str,
    /// Whether it certainly is PTX; if not, it may be mistyped or newer than the simulator.
    pub is_known: bool,
}

impl Module {
    /// Parses and decodes PTX text. Instructions that are PTX and not simulated, or
    /// not known, are not an error until they are executed: see
    /// [`unsupported`](Self::unsupported).
    ///
    /// # Errors
    /// What is not PTX: where the text cannot be read, the first such place; where it
    /// can, up to 20 instructions and declarations that ptxas would refuse as well.
    pub fn parse(source: &str) -> Result<Self, ir::ParseError> {
        let ir = ptx::parse::parse(source)?;
        let program = decode::decode(&ir, &[source]).map_err(|decoding| decoding.error)?;
        let mut module = Self::new(ir, program);
        if let Some(inner) = Arc::get_mut(&mut module.inner) {
            inner.text = Some(source.into());
        }
        Ok(module)
    }

    /// The text, for a debugger; none if it was linked from several.
    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        self.inner.text.as_ref()
    }

    pub(crate) fn new(ir: ir::Module, program: Program) -> Self {
        let plans = ir.functions.iter().map(|_| OnceLock::new()).collect();
        let live_registers = ir.functions.iter().map(|_| OnceLock::new()).collect();
        Self {
            inner: Arc::new(Inner {
                text: None,
                ir,
                program,
                plans,
                live_registers,
            }),
        }
    }

    /// Its kernels, in order of appearance.
    pub fn kernels(&self) -> impl Iterator<Item = KernelInfo<'_>> {
        self.ir().entries().filter_map(|f| self.kernel(&f.name))
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<KernelInfo<'_>> {
        let (id, function) = self.ir().function(name)?;
        if !function.is_entry {
            return None;
        }
        let shared = &self.plan(id).shared;
        let decoded = self.program().functions[id.0 as usize].as_ref()?;
        Some(KernelInfo {
            name: &function.name,
            params: &function.params,
            bounds: function.bounds,
            static_shared_bytes: shared.static_bytes,
            local_bytes: decoded.local_bytes,
            uses_dynamic_shared: shared.is_dynamic,
        })
    }

    /// The instructions that the simulator does not know, in order of the PTX
    /// text. A launch that reaches one ends there with
    /// [`LaunchError::Unsupported`](crate::LaunchError::Unsupported); the
    /// module's other code runs.
    ///
    /// ```
    /// let module = ptx_sim::Module::parse(
    ///     ".version 8.0\n.target sm_90\n.address_size 64\n\
    ///      .entry k() { .reg .b32 %r<2>; mov.u32 %r0, 1; frobnicate.b32 %r1, %r0; ret; }",
    /// )?;
    /// let unknown = module.unsupported();
    /// assert_eq!(unknown.len(), 1);
    /// assert_eq!(unknown[0].opcode, "frobnicate.b32");
    /// # Ok::<(), ptx_sim::ir::ParseError>(())
    /// ```
    pub fn unsupported(&self) -> Vec<UnsupportedInstruction<'_>> {
        let mut found = Vec::new();
        for function in self.program().functions.iter().flatten() {
            let text = &self.ir().functions[function.id.0 as usize];
            let body = text.body.as_deref().unwrap_or_default();
            for insn in &function.code {
                if let Op::Unsupported(unsupported) = &insn.op {
                    let unsupported = UnsupportedInstruction {
                        function: &text.name,
                        input: self.ir().input(text),
                        ptx_line: body.get(insn.ptx as usize).map_or(text.line, |i| i.line),
                        opcode: &unsupported.opcode,
                        ptx_column: unsupported.column,
                        reason: &unsupported.reason,
                        excerpt: &unsupported.excerpt,
                        is_known: unsupported.is_known,
                    };
                    found.push((text.input, unsupported));
                }
            }
        }
        found.sort_by_key(|(input, unsupported)| (*input, unsupported.ptx_line));
        found
            .into_iter()
            .map(|(_, unsupported)| unsupported)
            .collect()
    }

    /// Whether it declares `malloc` or `free` for its kernels to call.
    pub fn takes_memory(&self) -> bool {
        self.ir().functions.iter().any(takes_memory)
    }

    /// A function that it uses and that neither it nor the device's runtime defines.
    pub fn undefined_function(&self) -> Option<&str> {
        let functions = &self.ir().functions;
        let bodies = functions.iter().filter_map(|f| f.body.as_deref());
        let mut operands = bodies.flatten().flat_map(|i| &i.operands);
        operands.find_map(|operand| {
            let ir::Operand::Function(id) = operand else {
                return None;
            };
            let used = &functions[id.0 as usize];
            let is_defined = used.body.is_some() || PROVIDED.contains(&&*used.name);
            (!is_defined).then_some(&*used.name)
        })
    }

    /// The parsed text.
    pub fn ir(&self) -> &ir::Module {
        &self.inner.ir
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }

    /// The most 32-bit registers of a function that are in use at once; 0 without a body.
    pub(crate) fn live_registers(&self, function: u32) -> u32 {
        let text = &self.ir().functions[function as usize];
        *self.inner.live_registers[function as usize].get_or_init(|| {
            let body = text.body.as_deref();
            body.map_or(0, |body| most_live(text, body))
        })
    }

    /// What is the same for all launches of a kernel.
    pub(crate) fn plan(&self, kernel: ir::FuncId) -> &KernelPlan {
        let Inner {
            ir, program, plans, ..
        } = &*self.inner;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        plans[kernel.0 as usize].get_or_init(|| {
            let reachable = reachable(ir, program, kernel);
            let has_loops = has_loops(program, &reachable);
            KernelPlan {
                shared: SharedLayout::of(ir, program, kernel),
                numbering: Numbering::new(program, &reachable),
                block_values: block_values(program, kernel),
                cluster_values: cluster_values(program, kernel),
                meets_in_cluster: meets_in_cluster(program, &reachable),
                maps_ranks: program.functions.iter().flatten().any(|f| f.maps_ranks),
                number: NEXT.fetch_add(1, Ordering::Relaxed),
                uses_async_proxy: any_insn(program, &reachable, |op| match op {
                    Op::Warpgroup(op) => matches!(**op, WarpgroupOp::Multiply(_)),
                    op => matches!(op, Op::Bulk(_)),
                }),
                shuffles: any_insn(program, &reachable, |op| matches!(op, Op::Shuffle(_))),
                has_loops,
                is_order_independent: is_order_independent(program, &reachable),
                has_atomics_for_host: any_insn(program, &reachable, |op| match op {
                    Op::Atomic(op) => op.scope == Scope::System && op.space != ir::Space::Shared,
                    _ => false,
                }),
                may_meet_host: may_meet_host(program, &reachable, has_loops),
                takes_memory: ir.functions.iter().enumerate().any(|(index, function)| {
                    takes_memory(function) && reachable.contains(&(index as u32))
                }),
                is_not_for_the_prefilter: AtomicBool::new(false),
                has_waiting_blocks: AtomicBool::new(false),
                routes: OnceLock::new(),
            }
        })
    }
}

/// Whether a function is the device runtime's `malloc` or `free`.
fn takes_memory(function: &ir::Function) -> bool {
    function.body.is_none() && matches!(function.name.as_str(), "malloc" | "free")
}

/// Whether one of these functions jumps back.
fn has_loops(program: &Program, reachable: &BTreeSet<u32>) -> bool {
    let jumps_back = |(i, block)| successors(block).iter().any(|&next| next <= i);
    program
        .functions_of(reachable)
        .flat_map(|function| function.blocks.iter().enumerate())
        .any(jumps_back)
}

/// Whether a kernel that can reach these functions has such an instruction.
fn any_insn(program: &Program, reachable: &BTreeSet<u32>, is_it: impl Fn(&Op) -> bool) -> bool {
    program.code_of(reachable).any(|insn| is_it(&insn.op))
}

/// The values of a kernel that change from block to block.
fn block_values(program: &Program, kernel: ir::FuncId) -> Vec<(Slot, u32, usize)> {
    let inits = program.functions[kernel.0 as usize]
        .as_ref()
        .map_or(&[][..], |f| &f.inits);
    inits
        .iter()
        .filter_map(|(slot, init)| match *init {
            Init::Special {
                register: ir::Special::Ctaid(axis),
                bytes,
            } => Some((*slot, bytes, usize::from(axis.min(2)))),
            _ => None,
        })
        .collect()
}

/// The values of a kernel that change from block to block with the place in the cluster.
fn cluster_values(program: &Program, kernel: ir::FuncId) -> Vec<(Slot, u32, ir::Special)> {
    let function = program.functions[kernel.0 as usize].as_ref();
    let inits = function.map_or(&[][..], |f| &f.inits);
    let of_cluster = inits.iter().filter_map(|(slot, init)| match *init {
        Init::Special { register, bytes } if depends_on_rank(register) => {
            Some((*slot, bytes, register))
        }
        _ => None,
    });
    of_cluster.collect()
}

/// Whether one of the functions that a kernel can reach has a cluster barrier.
fn meets_in_cluster(program: &Program, reachable: &BTreeSet<u32>) -> bool {
    let mut blocks = program
        .functions_of(reachable)
        .flat_map(|function| &function.blocks);
    blocks.any(|block| matches!(block.terminator, Terminator::ClusterBarrier(_)))
}
