//! The counts of a launch.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::checks::access::AccessClass;
use crate::checks::counters::{Counters, MemoryRecord, SpaceCost};
use crate::checks::links::LinkCost;
use crate::context::{loc_of, own_among, source_of, sources_around};
use crate::diagnostics::{LaunchError, Source};
use crate::module::Module;
use crate::pending::Footprint;
use crate::trace::Trace;
use ptx::ir::{self, Space};

/// What a launch counted, and how long it took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Totals.
    pub counts: Counts,
    /// What threads printed, one entry per call.
    pub printed: Vec<String>,
    /// Host time.
    pub elapsed: Duration,
    /// What checks have found, if the launch was to go on after a finding
    /// ([`LaunchOptions::go_on`](crate::LaunchOptions::go_on)).
    pub finding: Option<Box<LaunchError>>,
    /// The events of a block, if they were requested
    /// ([`LaunchOptions::trace`](crate::LaunchOptions::trace)).
    pub trace: Option<Box<Trace>>,
    /// The global memory that it has used, if that was requested
    /// ([`LaunchOptions::footprint`](crate::LaunchOptions::footprint)) and nothing was found.
    pub footprint: Option<Arc<Footprint>>,
    details: Option<Arc<Details>>,
}

/// What the instructions' counts are computed from, when requested.
struct Details {
    module: Module,
    kernel: ir::FuncId,
    counters: Counters,
}

impl fmt::Debug for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Details")
            .field(
                "kernel",
                &self.module.ir().functions[self.kernel.0 as usize].name,
            )
            .finish_non_exhaustive()
    }
}

macro_rules! counts {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Totals of a launch. The names follow the hardware's counters: a
        /// *request* is one warp's instruction, a *wavefront* one pass through
        /// the banks of shared memory, a *sector* 32 bytes of global memory.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counts {
            /// Adds another launch's.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// The counters by name, in order of declaration.
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field),)*]
            }
        }
    };
}
counts! {
    /// Instructions, each counted once for all lanes that execute it together.
    warp_instructions,
    /// Instructions, counted for each lane that executes them.
    thread_instructions,
    /// `ld.shared`: instructions.
    shared_load_requests,
    /// `ld.shared`: wavefronts.
    shared_load_wavefronts,
    /// `ld.shared`: bank conflicts.
    shared_load_conflicts,
    /// `st.shared`: instructions.
    shared_store_requests,
    /// `st.shared`: wavefronts.
    shared_store_wavefronts,
    /// `st.shared`: bank conflicts.
    shared_store_conflicts,
    /// `atom.shared` and `red.shared`: instructions.
    shared_atomic_requests,
    /// `atom.shared` and `red.shared`: wavefronts.
    shared_atomic_wavefronts,
    /// `atom.shared` and `red.shared`: bank conflicts.
    shared_atomic_conflicts,
    /// `ldmatrix`: instructions.
    ldmatrix_requests,
    /// `ldmatrix`: wavefronts.
    ldmatrix_wavefronts,
    /// `ldmatrix`: bank conflicts.
    ldmatrix_conflicts,
    /// `stmatrix`: instructions.
    stmatrix_requests,
    /// `stmatrix`: wavefronts.
    stmatrix_wavefronts,
    /// `stmatrix`: bank conflicts.
    stmatrix_conflicts,
    /// `cp.async.ca`: instructions. (`cp.async.cg` bypasses the banks.)
    async_copy_requests,
    /// `cp.async.ca`: wavefronts in shared memory.
    async_copy_wavefronts,
    /// `cp.async.ca`: bank conflicts.
    async_copy_conflicts,
    /// `ld.global`, and `cp.async` that copies anything: instructions.
    global_load_requests,
    /// `ld.global`: sectors.
    global_load_sectors,
    /// `ld.global`: distinct bytes asked for, request by request.
    global_load_bytes,
    /// `st.global`: instructions.
    global_store_requests,
    /// `st.global`: sectors.
    global_store_sectors,
    /// `st.global`: distinct bytes written, request by request.
    global_store_bytes,
    /// `atom.global`: instructions.
    global_atomic_requests,
    /// `atom.global`: sectors.
    global_atomic_sectors,
    /// `red.global`: instructions.
    global_red_requests,
    /// `red.global`: sectors.
    global_red_sectors,
    /// `ld.local`: instructions.
    local_load_requests,
    /// `ld.local`: sectors.
    local_load_sectors,
    /// `st.local`: instructions.
    local_store_requests,
    /// `st.local`: sectors.
    local_store_sectors,
    /// Loads from shared memory of other blocks of the cluster: an instruction counts once
    /// for each block that it loads from.
    cluster_load_requests,
    /// The same: distinct bytes asked for, request by request.
    cluster_load_bytes,
    /// Stores to shared memory of other blocks of the cluster, including `st.async`: an
    /// instruction counts once for each block that it stores to.
    cluster_store_requests,
    /// The same: distinct bytes written, request by request.
    cluster_store_bytes,
    /// Atomics in shared memory of other blocks of the cluster, and operations on mbarriers
    /// there: an instruction counts once for each block.
    cluster_atomic_requests,
    /// Loads from the memory of other devices: sectors over the link. Those are among the global
    /// ones as well, like the following.
    peer_load_sectors,
    /// The same: distinct bytes asked for, request by request.
    peer_load_bytes,
    /// Stores to the memory of other devices: sectors over the link.
    peer_store_sectors,
    /// The same: distinct bytes written, request by request.
    peer_store_bytes,
    /// Atomics in the memory of other devices: instructions.
    peer_atomic_requests,
}

/// What one PTX instruction did in a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstructionCounts {
    /// The function that holds it.
    pub function: String,
    /// The PTX text that it is in, if the module was linked.
    pub input: Option<String>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// Source line, where the PTX has line tables; one just before, if the compiler made the
    /// instruction of several lines'.
    pub loc: Option<Source>,
    /// The calls that the source line was inlined at, the innermost first, where
    /// the PTX names them.
    pub inlined_at: Vec<Source>,
    /// The opcode as written.
    pub opcode: String,
    /// Times that a warp executed it.
    pub executions: u64,
    /// Times that a thread executed it.
    pub thread_executions: u64,
    /// What it does to memory, if it accessed any.
    pub class: Option<AccessClass>,
    /// Where it accessed memory, generic addresses resolved. If it accessed several spaces,
    /// shared memory takes precedence over global, and global over local: for an
    /// asynchronous copy, it is the space of the target.
    pub space: Option<Space>,
    /// Memory requests.
    pub requests: u64,
    /// Shared memory: wavefronts.
    pub wavefronts: u64,
    /// Shared memory: wavefronts without conflicts.
    pub ideal_wavefronts: u64,
    /// Shared memory: bank conflicts.
    pub conflicts: u64,
    /// Shared memory: the worst group's wavefronts.
    pub max_way: u32,
    /// Global and local memory: sectors.
    pub sectors: u64,
    /// Global and local memory: sectors that the bytes asked for need.
    pub ideal_sectors: u64,
    /// Global and local memory: distinct bytes asked for, request by request.
    pub bytes: u64,
    /// Its share of the launch's totals.
    pub counts: Counts,
}

impl InstructionCounts {
    /// The source line in the package of the function itself, not that of a library which was
    /// inlined there.
    pub fn own_line(&self) -> Option<&Source> {
        let all = || self.loc.iter().chain(&self.inlined_at);
        all().nth(own_among(all())?)
    }
}

impl Report {
    /// Sums up the counters of a launch.
    pub(crate) fn new(module: &Module, kernel: ir::FuncId, counters: Counters) -> Self {
        let details = Details {
            module: module.clone(),
            kernel,
            counters,
        };
        let mut counts = Counts::default();
        details.each_executed(|executed| {
            counts.warp_instructions += executed.warps;
            counts.thread_instructions += executed.threads;
            counts.record(executed.record);
            counts.link(executed.link);
        });
        Self {
            counts,
            details: Some(Arc::new(details)),
            ..Self::default()
        }
    }

    /// The instructions that were executed, in order of the PTX text; none if the
    /// launch did not count.
    pub fn instructions(&self) -> Vec<InstructionCounts> {
        let Some(details) = &self.details else {
            return Vec::new();
        };
        let module = details.module.ir();
        let mut instructions = Vec::new();
        details.each_executed(|executed| {
            let Executed {
                function,
                instruction,
                record,
                ..
            } = executed;
            let mut counts = Counts {
                warp_instructions: executed.warps,
                thread_instructions: executed.threads,
                ..Counts::default()
            };
            counts.record(record);
            counts.link(executed.link);
            let mut sum = record.shared;
            for other in [&record.cluster, &record.global, &record.local] {
                sum.requests += other.requests;
                sum.sectors += other.sectors;
                sum.ideal_sectors += other.ideal_sectors;
                sum.bytes += other.bytes;
            }
            let body = function.body.as_deref().unwrap_or_default();
            let (loc, _) = loc_of(body, executed.at);
            let counts = InstructionCounts {
                function: function.name.clone(),
                input: module.input(function).map(str::to_owned),
                ptx_line: instruction.line,
                loc: source_of(module, loc),
                inlined_at: sources_around(module, loc),
                opcode: instruction.opcode.clone(),
                executions: executed.warps,
                thread_executions: executed.threads,
                class: record.class,
                space: record.spaces.first_of(&[
                    Space::Shared,
                    Space::Global,
                    Space::Local,
                    Space::Const,
                    Space::Param,
                ]),
                requests: sum.requests,
                wavefronts: sum.wavefronts,
                ideal_wavefronts: sum.ideal_wavefronts,
                conflicts: sum.conflicts,
                max_way: sum.ways,
                sectors: sum.sectors,
                ideal_sectors: sum.ideal_sectors,
                bytes: sum.bytes,
                counts,
            };
            instructions.push((function.input, counts));
        });
        instructions.sort_by_key(|(input, counts)| (*input, counts.ptx_line));
        instructions.into_iter().map(|(_, counts)| counts).collect()
    }
}

/// An instruction that was executed.
struct Executed<'a> {
    function: &'a ir::Function,
    instruction: &'a ir::Instruction,
    /// Which of the function's it is.
    at: usize,
    /// How often by a warp, and by threads.
    warps: u64,
    threads: u64,
    record: &'a MemoryRecord,
    link: Option<&'a LinkCost>,
}

impl Details {
    /// Calls `f` with each instruction that was executed.
    fn each_executed(&self, mut f: impl FnMut(Executed<'_>)) {
        let numbering = &self.module.plan(self.kernel).numbering;
        let counters = &self.counters;
        for decoded in self.module.program().functions.iter().flatten() {
            let index = decoded.id.0 as usize;
            let Some((first_instruction, first_block)) = numbering.of_function(index) else {
                continue;
            };
            let function = &self.module.ir().functions[index];
            let Some(body) = &function.body else {
                continue;
            };
            let mut executed = vec![(0u64, 0u64); body.len()];
            for (i, block) in decoded.blocks.iter().enumerate() {
                let (warps, lanes) = counters.blocks[first_block as usize + i];
                for entry in &mut executed[block.ptx_first as usize..block.ptx_end as usize] {
                    entry.0 += warps;
                    entry.1 += lanes;
                }
            }
            for (i, (instruction, (warps, lanes))) in body.iter().zip(executed).enumerate() {
                if warps == 0 {
                    continue;
                }
                let number = first_instruction as usize + i;
                f(Executed {
                    function,
                    instruction,
                    at: i,
                    warps,
                    threads: lanes - counters.guarded_out[number].min(lanes),
                    record: counters.record_of(number),
                    link: counters.link_cost_of(number),
                });
            }
        }
    }
}

impl Counts {
    /// Adds what an instruction's accesses cost.
    fn record(&mut self, record: &MemoryRecord) {
        let MemoryRecord {
            shared,
            cluster,
            global,
            ..
        } = record;
        match record.class {
            // Bulk copies only have bytes, which are in no total; what products read is not
            // counted.
            None | Some(AccessClass::BulkCopy | AccessClass::Product) => {}
            Some(AccessClass::Load) => self.record_load(record),
            Some(AccessClass::Store) => self.record_store(record),
            Some(AccessClass::Reduction) => {
                self.record_atomic(shared, cluster);
                self.global_red_requests += global.requests;
                self.global_red_sectors += global.sectors;
            }
            Some(AccessClass::Atomic | AccessClass::CompareAndSwap | AccessClass::Increment) => {
                self.record_atomic(shared, cluster);
                self.global_atomic_requests += global.requests;
                self.global_atomic_sectors += global.sectors;
            }
            Some(AccessClass::LoadMatrix) => {
                self.ldmatrix_requests += shared.requests;
                self.ldmatrix_wavefronts += shared.wavefronts;
                self.ldmatrix_conflicts += shared.conflicts;
            }
            Some(AccessClass::StoreMatrix) => {
                self.stmatrix_requests += shared.requests;
                self.stmatrix_wavefronts += shared.wavefronts;
                self.stmatrix_conflicts += shared.conflicts;
            }
            Some(AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass) => {
                self.async_copy_requests += shared.requests;
                self.async_copy_wavefronts += shared.wavefronts;
                self.async_copy_conflicts += shared.conflicts;
                self.record_global_load(global);
            }
        }
    }

    /// Adds what an instruction has moved over links.
    fn link(&mut self, cost: Option<&LinkCost>) {
        let Some(cost) = cost else { return };
        self.peer_load_sectors += cost.load_sectors;
        self.peer_load_bytes += cost.load_bytes;
        self.peer_store_sectors += cost.store_sectors;
        self.peer_store_bytes += cost.store_bytes;
        self.peer_atomic_requests += cost.atomic_requests;
    }

    fn record_load(&mut self, record: &MemoryRecord) {
        self.shared_load_requests += record.shared.requests;
        self.shared_load_wavefronts += record.shared.wavefronts;
        self.shared_load_conflicts += record.shared.conflicts;
        self.cluster_load_requests += record.cluster.requests;
        self.cluster_load_bytes += record.cluster.bytes;
        self.record_global_load(&record.global);
        self.local_load_requests += record.local.requests;
        self.local_load_sectors += record.local.sectors;
    }

    fn record_global_load(&mut self, global: &SpaceCost) {
        self.global_load_requests += global.requests;
        self.global_load_sectors += global.sectors;
        self.global_load_bytes += global.bytes;
    }

    fn record_store(&mut self, record: &MemoryRecord) {
        self.shared_store_requests += record.shared.requests;
        self.shared_store_wavefronts += record.shared.wavefronts;
        self.shared_store_conflicts += record.shared.conflicts;
        self.cluster_store_requests += record.cluster.requests;
        self.cluster_store_bytes += record.cluster.bytes;
        self.global_store_requests += record.global.requests;
        self.global_store_sectors += record.global.sectors;
        self.global_store_bytes += record.global.bytes;
        self.local_store_requests += record.local.requests;
        self.local_store_sectors += record.local.sectors;
    }

    fn record_atomic(&mut self, shared: &SpaceCost, cluster: &SpaceCost) {
        self.cluster_atomic_requests += cluster.requests;
        self.shared_atomic_requests += shared.requests;
        self.shared_atomic_wavefronts += shared.wavefronts;
        self.shared_atomic_conflicts += shared.conflicts;
    }
}
