//! A launch that is allowed, ready to be run: under checks maybe more than once.

use super::clusters::shape;
use super::options::Launch;
use crate::attributes::registers_declared;
use crate::checks::counters::Counters;
use crate::clock::Started;
use crate::context::{Among, Fuel, LaunchContext, Printed};
use crate::device::{Device, LoadedModule};
use crate::diagnostics::LaunchError;
use crate::memory::global::GlobalMemory;
use crate::report::Report;
use ptx::ir::{self, FuncId};

/// The number of thread-instructions below which it is not worth waking other cores.
const WORTH_SPREADING: u64 = 1 << 18;
/// How often a loop is taken to go round.
const ROUNDS: u64 = 16;
/// What a thread of a kernel that gains little by it is taken to execute.
const FEW: u64 = 16;

/// A launch that is allowed.
pub(crate) struct Prepared<'a> {
    pub device: &'a Device,
    pub loaded: &'a LoadedModule,
    pub id: FuncId,
    pub options: &'a Launch<'a>,
    /// What is allocated, as far as it may use it.
    pub memory: &'a GlobalMemory,
    /// What is allocated on all devices of the machine.
    pub machine: &'a GlobalMemory,
    /// Its place among launches that run at the same time.
    pub among: Among,
    /// Whether nothing else uses it meanwhile.
    pub alone: bool,
    pub started: Started,
    /// The address of its [`GridWorkspace`](super::grid_workspace::GridWorkspace), or 0.
    pub grid_workspace: u64,
}

impl<'a> Prepared<'a> {
    /// What the workers have counted.
    pub fn report(&self, counters: Vec<Counters>) -> Report {
        let module = self.loaded.module();
        let mut all: Option<Counters> = None;
        for counters in counters {
            match &mut all {
                Some(all) => all.add(&counters),
                None => all = Some(counters),
            }
        }
        let all = all.unwrap_or_else(|| Counters::new(&module.plan(self.id).numbering));
        Report::new(module, self.id, all)
    }

    /// A launch's end, with what its threads have printed: in the report, or kept by the device.
    pub fn ended(
        &self,
        context: LaunchContext<'_>,
        result: Result<Report, LaunchError>,
    ) -> Result<Report, LaunchError> {
        let printed = context.printed.into_lines();
        match result {
            Ok(mut report) => {
                report.printed = printed;
                Ok(report)
            }
            Err(error) => {
                self.device.keep_printed(printed);
                Err(error)
            }
        }
    }
}

impl<'a> Prepared<'a> {
    /// How many host threads are to run it.
    pub fn n_workers(&self) -> usize {
        let &Self {
            device,
            options: launch,
            ..
        } = self;
        let plan = self.loaded.module().plan(self.id);
        let n_blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let n_threads: u32 = launch.block.iter().product();
        let wanted = match launch.options.threads.or(device.config().threads) {
            Some(given) => given.max(1),
            None if plan.is_order_independent => rayon::current_num_threads(),
            // Its results would differ from run to run.
            None => 1,
        };
        // Blocks that can tell in which order they run mostly meet in atomics, where several
        // cores are in each other's way.
        let per_thread = match (plan.is_order_independent, plan.has_loops) {
            (false, _) => FEW,
            (true, false) => plan.numbering.n_instructions.into(),
            (true, true) => ROUNDS * u64::from(plan.numbering.n_instructions),
        };
        let work = n_blocks
            .saturating_mul(u64::from(n_threads))
            .saturating_mul(per_thread);
        // A schedule is an order of the blocks.
        let may_spread = work >= WORTH_SPREADING && launch.options.schedule.is_none();
        let most = if may_spread { wanted } else { 1 };
        let of_cluster = launch
            .options
            .cluster
            .map_or(1, |cluster| cluster.iter().product());
        let n_clusters = n_blocks / u64::from(of_cluster.max(1));
        most.min(usize::try_from(n_clusters).unwrap_or(usize::MAX))
            .max(1)
    }

    /// What is the same for all blocks of the launch.
    pub fn context(&self, n_workers: usize) -> LaunchContext<'a> {
        let &Self {
            device,
            loaded,
            id,
            options: launch,
            memory,
            machine,
            among,
            alone,
            started,
            grid_workspace,
        } = self;
        let module = loaded.module();
        let plan = module.plan(id);
        let n_threads: u32 = launch.block.iter().product();
        let function = &module.ir().functions[id.0 as usize];
        let cluster = shape(&function.bounds, &launch.options);
        let shared = &plan.shared;
        let shared_bytes = shared.static_bytes_with_padding(launch.dynamic_shared_bytes);
        let fuel = Fuel::new(launch.options.fuel, n_threads.div_ceil(32));
        let runs_again = launch.options.go_on && device.config().concurrent;
        let fuel = match launch.options.check && runs_again {
            true => fuel.at_first(),
            false => fuel,
        };
        let (params, params_bytes) = pack_params(function, launch.params);
        LaunchContext {
            module: module.ir(),
            program: module.program(),
            memory,
            machine,
            device: device.machine.number(),
            has_peers: device.machine.has_peers(),
            among,
            heap: loaded.kernel_heap(),
            exclusive: n_workers == 1 && alone && !plan.has_atomics_for_host,
            beside: (!alone).then(|| device.machine.progress()),
            repeats: false,
            schedule: launch.options.schedule,
            checks: launch.options.check,
            pending: &launch.options.pending,
            keeps_footprint: launch.options.footprint,
            most_resident: device.config().resident_blocks(n_threads, shared_bytes),
            shared_bytes,
            fuel,
            has_ranks: cluster.n_blocks() > 1 || plan.maps_ranks,
            cluster,
            kernel: id.0 as usize,
            grid: launch.grid,
            block: launch.block,
            registers_declared: registers_declared(module.ir().functions[id.0 as usize].bounds),
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            params,
            params_bytes,
            plan,
            grid_workspace,
            variables: loaded.addresses(),
            started,
            printed: Printed::default(),
            spare: device.spare(),
        }
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
