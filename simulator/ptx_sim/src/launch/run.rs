//! A launch from beginning to end: checked, run, reported.

use super::checked::{self, Failed};
use super::grid_workspace::GridWorkspace;
use super::memory::Heaps;
use super::options::Launch;
use super::prepared::Prepared;
use super::validate::validate;
use super::workers;
use crate::checks::counters::Counters;
use crate::checks::exact::Exact;
use crate::checks::links::Links;
use crate::checks::observer::Blind;
use crate::checks::recorder::Recorder;
use crate::checks::tracer::Tracer;
use crate::checks::watch::Watch;
use crate::clock::Started;
use crate::context::Among;
use crate::device::{Device, LoadedModule, Turn};
use crate::diagnostics::LaunchError;
use crate::report::Report;
use ptx::ir::FuncId;

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
        let started = Started::now();
        self.keep_printed(Vec::new());
        let id = self.find(loaded, kernel, options).map_err(|message| {
            let kernel = kernel.to_owned();
            LaunchError::InvalidLaunch { kernel, message }
        })?;
        let workspace = GridWorkspace::new(self, &options.options).map_err(|error| {
            let (kernel, message) = (kernel.to_owned(), error.to_string());
            LaunchError::InvalidLaunch { kernel, message }
        })?;
        let turn = self.turn(options.options.check);
        let (mut heaps, views) = Heaps::of(&[self]);
        let launch = Prepared {
            device: self,
            loaded,
            id,
            options,
            memory: &views.usable[0],
            machine: &views.machine,
            among: Among::alone(options.grid),
            alone: matches!(turn, Turn::Alone(_)),
            started,
            grid_workspace: workspace.address(),
        };
        let mut report = if options.options.check {
            // The heaps stay locked while their knowledge is with the launch.
            match checked::run(&mut heaps, &launch) {
                Ok(report) => report,
                Err(failed) => go_on(&mut heaps, &launch, failed)?,
            }
        } else {
            // It may write anything.
            heaps.written_by_anyone();
            drop(heaps);
            unchecked(&launch)?
        };
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// The kernel of a launch that is allowed; else what is wrong.
    pub(crate) fn find(
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
}

/// Runs a launch without checks after they have found something, if it is to go on. If that
/// fails, it is not a finding of checks. What may only have waited for another launch does not run
/// again here, where it is alone.
fn go_on(
    heaps: &mut Heaps<'_>,
    launch: &Prepared<'_>,
    failed: Failed,
) -> Result<Report, LaunchError> {
    let Some(before) = failed.before else {
        return Err(failed.error);
    };
    before.restore(launch.memory);
    heaps.written_by_anyone();
    if launch.device.config().concurrent && failed.error.is_of_waiting() {
        return Err(failed.error);
    }
    let mut plain = launch.options.clone();
    plain.options.check = false;
    let again = Prepared {
        options: &plain,
        ..*launch
    };
    let mut report = unchecked(&again)?;
    report.finding = Some(Box::new(failed.error));
    Ok(report)
}

/// Runs a launch without checks.
fn unchecked(launch: &Prepared<'_>) -> Result<Report, LaunchError> {
    let n_workers = launch.n_workers();
    let context = launch.context(n_workers);
    let trace = launch.options.options.trace;
    let report = if launch.options.options.count || trace.is_some() {
        let numbering = &context.plan.numbering;
        let (watches, result) = workers::run(&context, n_workers, || Watch::<Exact<'_>> {
            counters: Counters::new(numbering).with_links(Links::of(&context)),
            checks: None,
            recorder: trace.map(|trace| Box::new(Recorder::Trace(Tracer::new(trace)))),
        });
        let (counters, recorders): (_, Vec<_>) = watches
            .into_iter()
            .map(|watch| (watch.counters, watch.recorder))
            .unzip();
        let mut tracers = recorders
            .into_iter()
            .flatten()
            .filter_map(|a| a.into_tracer());
        // The block was one worker's.
        let seen = tracers.find(|tracer| !tracer.is_empty());
        result.map(|()| {
            let mut report = launch.report(counters);
            report.trace = trace.map(|options| {
                let tracer = seen.unwrap_or_else(|| Tracer::new(options));
                Box::new(tracer.finish(&context))
            });
            report
        })
    } else {
        let (_, result) = workers::run(&context, n_workers, || Blind);
        result.map(|()| Report::default())
    };
    launch.ended(context, report)
}
