//! A launch from beginning to end: checked, run, reported.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::options::Launch;
use super::validate::validate;
use super::workers;
use crate::checks::counters::Counters;
use crate::checks::observer::Blind;
use crate::checks::watch::{Checks, Watch};
use crate::context::{Fuel, LaunchContext, Printed};
use crate::device::{Device, LoadedModule, Turn};
use crate::diagnostics::LaunchError;
use crate::ir::{self, FuncId};
use crate::memory::global::GlobalMemory;
use crate::memory::written::Written;
use crate::module::Module;
use crate::report::Report;

/// Threads of a launch below which it is not worth waking other cores.
const WORTH_SPREADING: u64 = 16 << 10;

impl Device {
    /// Runs a kernel and waits for its end.
    ///
    /// # Errors
    /// See [`LaunchError`]. After an error, memory holds whatever the kernel
    /// had written by then.
    pub fn launch(
        &self,
        loaded: &LoadedModule,
        kernel: &str,
        options: &Launch<'_>,
    ) -> Result<Report, LaunchError> {
        let started = Instant::now();
        let id = self.find(loaded, kernel, options).map_err(|message| {
            let kernel = kernel.to_owned();
            LaunchError::InvalidLaunch { kernel, message }
        })?;
        let turn = self.turn();
        let mut heap = self.heap();
        let memory = heap.memory().clone();
        let n_workers = n_workers(self, options);
        let alone = n_workers == 1 && matches!(turn, Turn::Alone(_));
        let context = self.context(loaded, id, options, (&memory, alone), started);
        let run = |written| run(&context, loaded.module(), id, options, n_workers, written);
        let outcome = if options.options.check {
            // Nobody else has the heap while its knowledge is with the launch.
            let mut outcome = run(Some(heap.take_written()));
            match outcome.written.take() {
                Some(written) => heap.give_written(written),
                None => heap.written_by_anyone(),
            }
            outcome
        } else {
            heap.written_by_anyone();
            drop(heap);
            run(None)
        };
        let printed = context.printed.into_lines();
        let mut report = outcome.report?;
        report.printed = printed;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// The kernel of a launch that is allowed; else what is wrong.
    fn find(
        &self,
        loaded: &LoadedModule,
        kernel: &str,
        options: &Launch<'_>,
    ) -> Result<FuncId, String> {
        if !self.owns(loaded) {
            return Err("the module was loaded on another device".to_owned());
        }
        let module = loaded.module();
        let Some((id, function)) = module.ir().function(kernel).filter(|(_, f)| f.is_entry) else {
            let names: Vec<&str> = module.ir().entries().map(|f| f.name.as_str()).collect();
            return Err(format!(
                "the module has no kernel of this name; it has {}",
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            ));
        };
        validate(self.config(), function, &module.plan(id).shared, options)?;
        Ok(id)
    }

    /// What is the same for all blocks of a launch.
    fn context<'a>(
        &'a self,
        loaded: &'a LoadedModule,
        id: FuncId,
        launch: &Launch<'_>,
        (memory, exclusive): (&'a GlobalMemory, bool),
        started: Instant,
    ) -> LaunchContext<'a> {
        let module = loaded.module();
        let plan = module.plan(id);
        let n_threads: u32 = launch.block.iter().product();
        let function = &module.ir().functions[id.0 as usize];
        let shared = &plan.shared;
        let shared_bytes = shared.static_bytes_with_padding(launch.dynamic_shared_bytes);
        let (params, params_bytes) = pack_params(function, launch.params);
        LaunchContext {
            module: module.ir(),
            program: module.program(),
            memory,
            exclusive,
            schedule: launch.options.schedule,
            checks: launch.options.check,
            most_resident: self.config().resident_blocks(n_threads, shared_bytes),
            shared_bytes,
            fuel: Fuel::new(launch.options.fuel, n_threads.div_ceil(32)),
            kernel: id.0 as usize,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            params,
            params_bytes,
            plan,
            variables: loaded.addresses(),
            started,
            printed: Printed::default(),
        }
    }
}

/// How many host threads run a launch.
fn n_workers(device: &Device, launch: &Launch<'_>) -> usize {
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
    let in_order = launch.options.check || launch.options.schedule.is_some();
    let most = if in_order { 1 } else { worth };
    most.min(usize::try_from(n_blocks).unwrap_or(usize::MAX))
}

/// How a launch ended.
struct Outcome {
    report: Result<Report, LaunchError>,
    /// What has been written of each allocation, where that was watched.
    written: Option<Vec<Written>>,
}

/// Runs the blocks of a launch, with the observers that it asks for.
fn run(
    context: &LaunchContext<'_>,
    module: &Module,
    id: FuncId,
    launch: &Launch<'_>,
    n_workers: usize,
    written: Option<Vec<Written>>,
) -> Outcome {
    if !launch.options.count && !launch.options.check {
        let (_, result) = workers::run(context, n_workers, || Blind);
        return Outcome {
            report: result.map(|()| Report::default()),
            written: None,
        };
    }
    let numbering = &context.plan.numbering;
    let written = Mutex::new(written);
    let checks = || {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        // There is one worker where there is something to take.
        let written = written.take()?;
        Some(Box::new(Checks::new(context, written)))
    };
    let (watches, result) = workers::run(context, n_workers, || Watch {
        counters: Counters::new(numbering),
        checks: checks(),
    });
    let mut all: Option<Counters> = None;
    let mut written_after = None;
    for watch in watches {
        match &mut all {
            Some(all) => all.add(&watch.counters),
            None => all = Some(watch.counters),
        }
        let checks = watch.checks.map(|checks| checks.into_written());
        written_after = written_after.or(checks);
    }
    let all = all.unwrap_or_else(|| Counters::new(numbering));
    Outcome {
        report: result.map(|()| Report::new(module, id, all)),
        written: written_after,
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
