//! A device: a GPU, or the simulator where there is none.
//!
//! Modules, streams and pinned memory are created by methods in their own files.

use crate::engine::buffer::Handle;
use crate::engine::gpu::Gpu;
use crate::engine::sim::Sim;
use crate::engine::{DeviceProperties, Engine, EngineError, EngineKind, Machine};
use crate::{Buffer, Error, Schedule};
use cuda_std::launch::DeviceCopy;
use std::fmt;
use std::rc::Rc;

/// A device with its memory. Cheap to clone: clones are the same device.
///
/// It belongs to the thread that opened it. Another thread, such as another test, opens its own:
/// simulators are then separate devices, GPUs one and the same.
#[derive(Clone)]
pub struct Device {
    machine: Rc<Machine>,
    why: Rc<str>,
    number: usize,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Device");
        shown.field("number", &self.number).field("why", &self.why);
        shown.finish_non_exhaustive()
    }
}

impl Device {
    /// The first GPU if a driver and a device respond, otherwise the simulator. [`Device::why`]
    /// says which one it is and why.
    ///
    /// ```
    /// let device = lockstep::Device::open()?;
    /// println!("running on {}", device.why());
    /// # Ok::<(), lockstep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is a GPU, but it cannot be used: it is lost, full, or in exclusive use.
    pub fn open() -> Result<Self, Error> {
        match Gpu::new(Vec::new()) {
            Ok(gpu) => Ok(Self::of_gpu(gpu)),
            Err(error) => {
                let (sim, reason) = (Sim::new(Vec::new()), absence(error)?);
                Ok(Self::of(Machine::Sim(sim), format!("simulator: {reason}")))
            }
        }
    }

    /// A new simulated GPU with 64 GB of memory, which takes the host's only as it is used.
    pub fn simulator() -> Self {
        Self::simulator_with(Simulator::default())
    }

    /// A simulated GPU with these settings.
    ///
    /// ```
    /// use lockstep::{Device, Simulator};
    ///
    /// let device = Device::simulator_with(Simulator { check: true, ..Simulator::default() });
    /// # assert!(device.is_simulator());
    /// ```
    pub fn simulator_with(settings: Simulator) -> Self {
        Self::of_simulator(Sim::new(Vec::new()), settings, 0, "requested")
    }

    pub(crate) fn of_simulator(sim: Sim, settings: Simulator, number: usize, why: &str) -> Self {
        let sim = sim
            .with_check(settings.check)
            .with_traces(settings.trace)
            .with_fuel(settings.fuel)
            .with_schedule(settings.schedule);
        let device = Self::of(Machine::Sim(sim), format!("simulator: {why}"));
        Self { number, ..device }
    }

    /// The GPU with this index, counted from 0.
    ///
    /// # Errors
    ///
    /// No driver, no such device, or one that cannot be used.
    pub fn gpu(index: usize) -> Result<Self, Error> {
        Gpu::nth(index, Vec::new()).map(Self::of_gpu)
    }

    fn of_gpu(gpu: Gpu) -> Self {
        let why = format!("GPU: {}", gpu.device().name);
        let number = gpu.ordinal as usize;
        let device = Self::of(Machine::Gpu(gpu), why);
        Self { number, ..device }
    }

    fn of(machine: Machine, why: String) -> Self {
        Self {
            machine: Rc::new(machine),
            why: why.into(),
            number: 0,
        }
    }

    /// Its number among the GPUs, or among the simulators of one machine; counted from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// One line that says which device this is and why it was chosen.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether it is the simulator.
    pub fn is_simulator(&self) -> bool {
        self.engine().kind() == EngineKind::Sim
    }

    /// Its name, architecture and limits.
    pub fn properties(&self) -> &DeviceProperties {
        self.engine().device()
    }

    /// Copies `values` to the device. `name` identifies the buffer in reports of bad accesses.
    ///
    /// # Errors
    ///
    /// The memory is full.
    pub fn upload<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::of_in(self.handle(), name, values)
    }

    /// Allocates `len` values for a kernel to write; a simulator with [`Simulator::check`] reports
    /// a kernel that reads them first. Every byte is 0xFF, which floats read as NaN.
    ///
    /// # Errors
    ///
    /// The memory is full.
    pub fn alloc<T: DeviceCopy>(&self, name: &str, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::poisoned_in(self.handle(), name, len)
    }

    /// Allocates `len` values, all bytes 0.
    ///
    /// # Errors
    ///
    /// The memory is full.
    pub fn zeroed<T: DeviceCopy>(&self, name: &str, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(name, len)?;
        buffer.fill(0)?;
        Ok(buffer)
    }

    /// Halts every launch of this simulator from now on in a debugger, which goes forwards and
    /// backwards. It talks in the terminal, or as the variable `LOCKSTEP_DEBUG` says. With
    /// [`Simulator::check`], a launch then fails for what the checks find, as any other.
    ///
    /// ```no_run
    /// let device = lockstep::Device::simulator();
    /// device.debug()?;
    /// # Ok::<(), lockstep::Error>(())
    /// ```
    ///
    /// In a test: `cargo test -- --nocapture name_of_the_test`.
    ///
    /// # Errors
    ///
    /// It is a GPU.
    #[cfg(feature = "debug")]
    pub fn debug(&self) -> Result<(), Error> {
        let Machine::Sim(sim) = self.machine() else {
            let what = "the debugger works on the simulator: open the device with \
                        `Device::simulator`";
            return Err(EngineError::Devices(what.to_owned()));
        };
        sim.launch_by(Some(Rc::new(|sim, launch| {
            let talked = sim.debug(launch, None, |session| {
                debugger::front::control(session, &[])
            });
            talked?.map_err(|error| EngineError::Devices(format!("the debugger: {error}")))
        })));
        Ok(())
    }

    /// The untyped engine underneath.
    pub fn engine(&self) -> &dyn Engine {
        self.machine.engine()
    }

    /// Whether both are the same device.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.machine, &other.machine)
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(crate) fn handle(&self) -> Handle<'static> {
        Handle::Shared(self.machine.clone())
    }
}

/// Why there is no GPU; the error itself if there is one that cannot be used.
pub(crate) fn absence(error: EngineError) -> Result<String, EngineError> {
    // `CUDA_ERROR_STUB_LIBRARY` and `CUDA_ERROR_NO_DEVICE`.
    const NONE: [i32; 2] = [34, 100];
    let is_absence = match &error {
        EngineError::NoDriver(_) | EngineError::NoGpu => true,
        EngineError::Driver(error) => NONE.contains(&error.code),
        _ => false,
    };
    if !is_absence {
        return Err(error);
    }
    let error = error.to_string();
    // The rest says how to get a GPU.
    Ok(error.split(';').next().unwrap_or_default().to_owned())
}

/// Settings of a simulated GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator {
    /// Whether to report as errors what a GPU lets pass: races, reads of uninitialised memory,
    /// asynchronous copies that are not waited for. Slower.
    pub check: bool,
    /// Warp instructions after which a launch is assumed to never end; `None` for the simulator's
    /// own limit.
    pub fuel: Option<u64>,
    /// Whether reports contain the events of a launch's first block, in
    /// [`Report::simulated`](crate::Report::simulated): each access with its addresses, and what
    /// warps wait for. Not together with `check`.
    pub trace: bool,
    /// The order of blocks, warps and diverged lanes that launches run in, if not the usual one: a GPU
    /// promises none, so what is right passes in each. Counts are then those of that order.
    ///
    /// ```no_run
    /// use lockstep::{Device, Schedule, Simulator};
    /// for seed in 0..20 {
    ///     let schedule = Some(Schedule::new(seed));
    ///     let device = Device::simulator_with(Simulator { check: true, schedule, ..Default::default() });
    ///     // …load, launch, compare.
    /// }
    /// ```
    pub schedule: Option<Schedule>,
}
