//! The execution of a launch when its turn comes: other orders are tried, it runs, with checks or
//! without, and is recorded.

use std::sync::Arc;
use std::time::Instant;

use ptx_sim::{LaunchError, LaunchOptions, Report};

use crate::driver::driver;
use crate::happens_before::Moment;
use crate::in_turn::{self, Ended};
use crate::launch::KernelLaunch;
use crate::observe::InFlight;
use crate::orders;
use crate::recorder::recorder;
use crate::settings::Settings;
use crate::status::{Outcome, Status};

impl KernelLaunch {
    /// Runs it. What is found goes to the thread's observer, or is recorded for the process's
    /// report.
    pub(crate) fn run(
        self: &Arc<Self>,
        watched: Option<&InFlight>,
        moment: Option<&Arc<Moment>>,
    ) -> Outcome {
        let settings = &driver()?.settings;
        let name = self.function().name();
        if let Some(watched) = watched {
            let options = watched.options();
            let fuel = options.fuel.or(settings.fuel);
            let result = self.run_with(&LaunchOptions { fuel, ..options });
            self.print(&result);
            watched.ended(name, result);
            return Ok(());
        }
        let options = options(settings);
        self.search(settings, &options)?;
        let started = Instant::now();
        let Ended { result, is_checked } = match settings.check {
            _ if is_debugged() => Ended {
                result: self.in_debugger(&options),
                is_checked: true,
            },
            true => in_turn::run(self, moment, &options),
            false => Ended {
                result: self.run_with(&options),
                is_checked: false,
            },
        };
        let device = self.module().device.ordinal;
        let is_unchecked = settings.check && !is_checked;
        let recorder = recorder()?;
        recorder.launched((name, device), started.elapsed(), &result, is_unchecked);
        self.print(&result);
        result.map(drop).map_err(|error| Status::from(&error))
    }

    /// Prints what its threads have printed.
    fn print(&self, result: &Result<Report, LaunchError>) {
        match result {
            Ok(report) => print(&report.printed),
            Err(_) => print(&self.module().device.sim.printed_before_failure()),
        }
    }

    #[cfg(feature = "debug")]
    fn in_debugger(&self, options: &LaunchOptions) -> Result<Report, LaunchError> {
        self.debug(options)
    }

    #[cfg(not(feature = "debug"))]
    fn in_debugger(&self, options: &LaunchOptions) -> Result<Report, LaunchError> {
        self.run_with(options)
    }

    /// Tries it in other orders, if that is requested.
    fn search(&self, settings: &Settings, options: &LaunchOptions) -> Outcome {
        let (module, name) = (self.module(), self.function().name());
        let params = self.params();
        let launch = self.in_simulator(&params, options);
        orders::search(settings, &module.device, &module.loaded, name, &launch)
    }
}

/// Whether launches are halted in the debugger.
fn is_debugged() -> bool {
    cfg!(feature = "debug") && std::env::var_os("LOCKSTEP_DEBUG").is_some_and(|v| !v.is_empty())
}

/// How all launches run.
fn options(settings: &Settings) -> LaunchOptions {
    LaunchOptions {
        fuel: settings.fuel,
        count: settings.count || settings.check,
        check: settings.check,
        // The client continues as on a GPU, which finds nothing.
        go_on: true,
        schedule: settings.schedule,
        ..LaunchOptions::default()
    }
}

/// Writes what threads printed to the client's own output, as on a GPU.
fn print(printed: &[String]) {
    use std::io::Write;
    if printed.is_empty() {
        return;
    }
    let mut out = std::io::stdout().lock();
    for text in printed {
        let _ = out.write_all(text.as_bytes());
    }
    let _ = out.flush();
}
