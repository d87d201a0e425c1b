//! Launches that run at the same time, on several devices.

use crate::driver;
use crate::engine::gpu::Gpu;
use crate::engine::sim::Sim;
use crate::engine::{EngineError, Machine, Prepared, pending};
use crate::graph::refuse_launch_while_recording;
use crate::{Error, Event, LaunchConfig, Module, Report, Stream};
use cuda_std::launch::Kernel;
use ptx_sim::Schedule;

/// Launches that run at the same time, mostly one on each of several devices: their kernels may
/// wait for each other.
///
/// On GPUs each goes into a stream of its own, and only then is the first waited for. The simulator
/// gives the devices their turns, and with [`Simulator::check`](crate::Simulator::check) finds races
/// across them.
///
/// ```no_run
/// # use cuda_std::prelude::*;
/// # #[kernel]
/// # pub unsafe fn exchange(own: *mut f32, other: *mut f32) {}
/// # use lockstep::{Buffer, Device, LaunchConfig, Module, Together};
/// let devices = Device::simulators(2);
/// # let modules: Vec<Module> = Vec::new();
/// # let buffers: Vec<Buffer<f32>> = Vec::new();
/// devices[0].enable_peer(&devices[1])?;
/// devices[1].enable_peer(&devices[0])?;
/// let mut together = Together::new();
/// for (i, module) in modules.iter().enumerate() {
///     let args = (buffers[i].as_mut_ptr(), buffers[1 - i].as_mut_ptr());
///     // SAFETY: both buffers are as long as the kernel needs, and live longer than the launches.
///     unsafe { together.add(module, exchange, LaunchConfig::linear(1024, 256), args) }?;
/// }
/// let reports = together.run()?;
/// # Ok::<(), lockstep::Error>(())
/// ```
#[derive(Default)]
pub struct Together {
    launches: Vec<Launch>,
    schedule: Option<Schedule>,
}

struct Launch {
    module: Module,
    prepared: Prepared,
    /// What it comes after.
    after: Option<Event>,
    file: &'static str,
}

impl Together {
    /// No launches yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a launch, on the module's device.
    ///
    /// # Safety
    ///
    /// As [`Module::launch`], whenever it runs.
    ///
    /// # Errors
    ///
    /// The launch breaks a rule.
    pub unsafe fn add<K: Kernel>(
        &mut self,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let prepared = unsafe { module.prepare(kernel, config, args) }?;
        self.launches.push(Launch {
            module: module.clone(),
            prepared,
            after: None,
            file: K::FILE,
        });
        Ok(())
    }

    /// As [`Together::add`], after everything that is now in a stream.
    ///
    /// # Safety
    ///
    /// As [`Together::add`].
    ///
    /// # Errors
    ///
    /// As [`Together::add`], or the GPU is lost.
    pub unsafe fn add_after<K: Kernel>(
        &mut self,
        stream: &Stream,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.add(module, kernel, config, args) }?;
        if let Some(launch) = self.launches.last_mut() {
            launch.after = Some(stream.record()?);
        }
        Ok(())
    }

    /// Makes simulators run them in another order of devices, blocks, warps and lanes than the first
    /// launch's device has ([`Simulator::schedule`](crate::Simulator::schedule)), or in that one again.
    /// They are not traced.
    pub fn set_schedule(&mut self, schedule: Option<Schedule>) {
        self.schedule = schedule;
    }

    /// Runs the launches and waits for the end of all; gives their reports in the order in which they
    /// were added.
    ///
    /// # Errors
    ///
    /// A kernel does something wrong, or the devices cannot run together: some are GPUs and others
    /// simulators, or simulators were not made together. The error names the device. While a graph is
    /// recorded they would run at once and be no part of it.
    pub fn run(&self) -> Result<Vec<Report>, Error> {
        refuse_launch_while_recording()?;
        let mut gpus: Vec<(&Gpu, &Launch)> = Vec::new();
        let mut sims: Vec<(&Sim, &Launch)> = Vec::new();
        for launch in &self.launches {
            match launch.module.device().machine() {
                Machine::Gpu(gpu) => gpus.push((gpu, launch)),
                Machine::Sim(sim) => sims.push((sim, launch)),
            }
        }
        match (gpus.is_empty(), sims.is_empty()) {
            (false, false) => Err(EngineError::Devices(
                "launches on GPUs and on simulators cannot run together".to_owned(),
            )),
            (false, true) => self.run_on_gpus(&gpus),
            _ => self.run_on_simulators(&sims),
        }
    }

    fn run_on_simulators(&self, sims: &[(&Sim, &Launch)]) -> Result<Vec<Report>, Error> {
        let stranger = sims.iter().find(|(sim, _)| !sims[0].0.is_beside(sim));
        if let Some((_, launch)) = stranger {
            return Err(EngineError::Devices(format!(
                "{} is to run together with one on a device of another machine: make the devices \
                 together, by `Device::simulators`",
                launch.prepared.place()
            )));
        }
        // Each comes after what its stream has before it.
        let known = |launch: &Launch| {
            let id = pending::new_id();
            launch
                .after
                .iter()
                .for_each(|after| pending::learn(id, &after.known));
            id
        };
        let launches = sims
            .iter()
            .map(|(sim, launch)| (*sim, &launch.prepared, known(launch)));
        let launches: Vec<_> = launches.collect();
        let counted = Sim::launch_together(&launches, self.schedule);
        for &(_, _, id) in &launches {
            if counted.is_ok() {
                // So does the host now.
                pending::waited(id);
            }
            pending::dropped(id);
        }
        let counted = counted.map_err(|failed| {
            let (member, error) = *failed;
            sims[member].1.on_its_device(error)
        })?;
        let reports = sims.iter().zip(counted);
        Ok(reports
            .map(|((sim, launch), counted)| Report {
                counted: Some(counted),
                is_checked: sim.is_checked(),
                ..launch.report()
            })
            .collect())
    }

    fn run_on_gpus(&self, gpus: &[(&Gpu, &Launch)]) -> Result<Vec<Report>, Error> {
        if self.schedule.is_some() {
            return Err(EngineError::Devices(
                "only simulators run launches in another order".to_owned(),
            ));
        }
        let mut running = Vec::new();
        for (gpu, launch) in gpus {
            let at = |error| launch.on_its_device(error);
            let stream = gpu.new_stream().map_err(at)?;
            if let Some(after) = launch.after.as_ref().and_then(Event::on_device) {
                gpu.with_stream(|| stream.wait_for(after)).map_err(at)?;
            }
            let mark = |stream: &driver::Stream| {
                gpu.with_stream(|| {
                    let event = driver::Event::timed()?;
                    stream.mark(&event)?;
                    Ok(event)
                })
            };
            let start = mark(&stream).map_err(at)?;
            gpu.enqueue(&stream, &launch.prepared).map_err(at)?;
            let end = mark(&stream).map_err(at)?;
            running.push((stream, start, end));
        }
        let mut reports = Vec::new();
        for ((gpu, launch), (stream, start, end)) in gpus.iter().zip(&running) {
            let at = |error| launch.on_its_device(error);
            gpu.wait_for(stream, &launch.prepared.place()).map_err(at)?;
            let time_ms = gpu.with_stream(|| end.ms_since(start)).map_err(at)?;
            reports.push(Report {
                time_ms: Some(time_ms),
                ..launch.report()
            });
        }
        Ok(reports)
    }
}

impl Launch {
    /// An error of it that names its device.
    fn on_its_device(&self, error: EngineError) -> EngineError {
        error.on_device(self.module.device().number())
    }

    /// Its report, without what an engine adds.
    fn report(&self) -> Report {
        Report {
            place: self.prepared.place(),
            file: self.file,
            module: self.module.source().clone(),
            counted: None,
            time_ms: None,
            is_checked: false,
        }
    }
}
