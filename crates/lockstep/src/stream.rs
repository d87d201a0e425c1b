//! Streams: work that the device does in order while the host goes on.

use crate::driver;
use crate::engine::{EngineError, Machine, Place, Prepared, pending};
use crate::graph::{Graph, Recording};
use crate::step::{Move, Recorded, Step};
use crate::{Buffer, Device, Error, Event, LaunchConfig, Module, Pinned};
use cuda_std::launch::{DeviceCopy, Kernel, SafeKernel};
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::panic::Location;

/// A stream of a device.
///
/// On a GPU, work put into it runs in order, concurrently with other streams and with the host. The
/// simulator does each thing at once, which is one of the orders that a GPU may choose: results are
/// a GPU's results wherever a program waits for what it needs. With
/// [`Simulator::check`](crate::Simulator::check) it reports uses of memory that nothing orders.
///
/// On a GPU a kernel's failure is reported at the next wait: [`Stream::synchronize`] names the kernels
/// enqueued since the previous one. On the simulator the call that enqueues the kernel reports it; a
/// program that is to run on both looks at both results.
pub struct Stream {
    device: Device,
    kind: Kind,
    /// Tells it apart from others.
    pub(crate) id: pending::Id,
    /// Launches since the last wait.
    in_flight: RefCell<Vec<Place>>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        pending::dropped(self.id);
    }
}

enum Kind {
    Gpu(driver::Stream),
    /// The steps recorded so far, while a graph is recorded.
    Sim(RefCell<Option<Vec<Recorded>>>),
}

impl Device {
    /// A new stream.
    ///
    /// # Errors
    ///
    /// The GPU is lost.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        Ok(match device.machine() {
            Machine::Gpu(gpu) => Self::on_gpu(device, gpu.new_stream()?),
            Machine::Sim(_) => Self::of(device, Kind::Sim(RefCell::default())),
        })
    }

    pub(crate) fn on_gpu(device: &Device, stream: driver::Stream) -> Self {
        Self::of(device, Kind::Gpu(stream))
    }

    fn of(device: &Device, kind: Kind) -> Self {
        Self {
            device: device.clone(),
            kind,
            id: pending::new_id(),
            in_flight: RefCell::default(),
        }
    }

    /// The driver's stream, on a GPU.
    pub(crate) fn on_device(&self) -> Option<&driver::Stream> {
        match &self.kind {
            Kind::Gpu(stream) => Some(stream),
            Kind::Sim(_) => None,
        }
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Enqueues a launch.
    ///
    /// # Safety
    ///
    /// As [`Module::launch`]; until the launch has finished, buffers stay alive, and nothing else
    /// uses those that the kernel writes.
    ///
    /// # Errors
    ///
    /// The module is on another device or has no such kernel, or the launch breaks a rule.
    #[track_caller]
    pub unsafe fn launch<K: Kernel>(
        &self,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args,
    ) -> Result<(), Error> {
        self.check_module(module)?;
        // SAFETY: the caller's promise.
        let launch = unsafe { module.prepare(kernel, config, args) }?;
        self.put(Step::Launch(launch))
    }

    /// Enqueues a launch of a safe kernel, with the checks of lengths and geometry that
    /// [`Module::run`] makes.
    ///
    /// # Safety
    ///
    /// The borrows of the buffers end here, and the launch does not: until it has finished, buffers
    /// stay alive, nothing uses those that the kernel writes, and nothing writes the others.
    ///
    /// # Errors
    ///
    /// As [`Stream::launch`] and [`Module::run`].
    #[track_caller]
    pub unsafe fn run<K: SafeKernel>(
        &self,
        module: &Module,
        _kernel: K,
        config: LaunchConfig,
        views: K::Views<'_>,
    ) -> Result<(), Error> {
        self.check_module(module)?;
        let memory = self.device.engine().memory();
        // SAFETY: the caller's promise.
        let launch = unsafe { Prepared::admitted::<K>(config, memory, views) }?;
        self.put(Step::Launch(launch.in_module(module.source())))
    }

    /// Refuses a module of another device.
    fn check_module(&self, module: &Module) -> Result<(), Error> {
        if self.device.is_same(module.device()) {
            return Ok(());
        }
        Err(EngineError::Stream(format!(
            "the module `{}` and the stream are on different devices",
            module.source().name
        )))
    }

    /// Refuses a buffer whose addresses mean other memory on this device, or none.
    fn check_memory<T: DeviceCopy>(&self, of: &Buffer<T>) -> Result<(), Error> {
        match of.engine().memory() == self.device.engine().memory() {
            true => Ok(()),
            false => Err(EngineError::Stream(format!(
                "`{}` is another simulator's than the stream, or only one of the two is on a GPU",
                of.label()
            ))),
        }
    }

    /// Enqueues a step, or adds it to the graph that is being recorded.
    #[track_caller]
    fn put(&self, step: Step) -> Result<(), Error> {
        self.put_by(step, Location::caller())
    }

    /// The same, for a call.
    fn put_by(&self, step: Step, caller: &'static Location<'static>) -> Result<(), Error> {
        match (&self.kind, self.device.machine()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu)) => match step {
                Step::Launch(launch) => {
                    gpu.enqueue(stream, &launch)?;
                    self.in_flight.borrow_mut().push(launch.place());
                    Ok(())
                }
                Step::Move(bytes) => gpu.with_stream(|| bytes.enqueue(stream)),
            },
            (Kind::Sim(recording), Machine::Sim(sim)) => {
                if let Some(steps) = recording.borrow_mut().as_mut() {
                    steps.push((step, caller));
                    return Ok(());
                }
                pending::check_met(self.id)?;
                step.perform(sim, self.id, caller)
            }
            _ => unreachable!("a stream matches its device"),
        }
    }

    /// Enqueues a copy to the device.
    ///
    /// # Safety
    ///
    /// Until the copy has finished (in a graph, until the last run has), the buffer and `from` stay
    /// alive, and `from` unchanged.
    ///
    /// # Errors
    ///
    /// The two differ in length, a buffer is another simulator's, or the GPU is lost.
    #[track_caller]
    pub unsafe fn upload<T: DeviceCopy>(
        &self,
        to: &Buffer<T>,
        from: &Pinned<T>,
    ) -> Result<(), Error> {
        self.check_memory(to)?;
        same_length(to, PINNED, from.len())?;
        let (from, size_bytes) = from.bytes();
        self.put(Step::Move(Move::Upload {
            address: to.address(),
            from,
            size_bytes,
        }))
    }

    /// Enqueues a copy from the device.
    ///
    /// # Safety
    ///
    /// Until the copy has finished (in a graph, until the last run has), the buffer and `to` stay
    /// alive, and nothing else reads or writes `to`.
    ///
    /// # Errors
    ///
    /// The two differ in length, a buffer is another simulator's, or the GPU is lost.
    #[track_caller]
    pub unsafe fn download<T: DeviceCopy>(
        &self,
        to: &mut Pinned<T>,
        from: &Buffer<T>,
    ) -> Result<(), Error> {
        self.check_memory(from)?;
        same_length(from, PINNED, to.len())?;
        let (to, size_bytes) = to.bytes_mut();
        self.put(Step::Move(Move::Download {
            to,
            address: from.address(),
            size_bytes,
            value_bytes: size_of::<T>(),
        }))
    }

    /// Enqueues a copy within the device, or between it and another one: neither needs access to the
    /// other's memory for that.
    ///
    /// # Safety
    ///
    /// Both buffers stay alive until the copy has finished, and nothing else writes to either.
    ///
    /// # Errors
    ///
    /// The two differ in length or are one and the same, a buffer is another simulator's, or the GPU
    /// is lost.
    #[track_caller]
    pub unsafe fn copy<T: DeviceCopy>(
        &self,
        to: &Buffer<T>,
        from: &Buffer<T>,
    ) -> Result<(), Error> {
        same_length(to, &format!("`{}`", from.label()), from.len())?;
        // SAFETY: the caller's promise.
        unsafe { self.copy_part(to, 0, from, 0..from.len()) }
    }

    /// As [`Stream::copy`], of the values `part` of `from`, to those from `first` on.
    ///
    /// # Safety
    ///
    /// As [`Stream::copy`]; nothing else writes those values.
    ///
    /// # Errors
    ///
    /// The values are not in the buffers, some are to be copied over others of them, or the GPU is
    /// lost.
    #[track_caller]
    pub unsafe fn copy_part<T: DeviceCopy>(
        &self,
        to: &Buffer<T>,
        first: usize,
        from: &Buffer<T>,
        part: Range<usize>,
    ) -> Result<(), Error> {
        self.check_memory(to)?;
        self.check_memory(from)?;
        let n = part.len();
        if part.start > part.end
            || part.end > from.len()
            || first.checked_add(n).is_none_or(|end| end > to.len())
        {
            return Err(EngineError::Stream(format!(
                "a copy of the values {part:?} of `{}`, which has {}, to {first} and on of `{}`, \
                 which has {}",
                from.label(),
                from.len(),
                to.label(),
                to.len()
            )));
        }
        let size_bytes = size_of::<T>() as u64;
        let label = from.label();
        let (to, from) = (
            to.address() + first as u64 * size_bytes,
            from.address() + part.start as u64 * size_bytes,
        );
        let size_bytes = n as u64 * size_bytes;
        if size_bytes > 0 && to.abs_diff(from) < size_bytes {
            return Err(EngineError::Stream(format!(
                "a copy of the values {part:?} of `{label}` to itself, to {first} and on: what is \
                 overwritten while it is copied has no defined result"
            )));
        }
        self.put(Step::Move(Move::Copy {
            to,
            from,
            size_bytes,
        }))
    }

    /// Enqueues setting every byte of the buffer to `value`.
    ///
    /// # Safety
    ///
    /// The buffer stays alive until that has finished, and nothing else uses it.
    ///
    /// # Errors
    ///
    /// The GPU is lost.
    #[track_caller]
    pub unsafe fn fill<T: DeviceCopy>(&self, buffer: &Buffer<T>, value: u8) -> Result<(), Error> {
        self.check_memory(buffer)?;
        self.put(Step::Move(Move::Fill {
            address: buffer.address(),
            size_bytes: buffer.size_bytes(),
            value,
        }))
    }

    /// Enqueues one run of a graph.
    ///
    /// # Safety
    ///
    /// What was promised for each step when the graph was recorded holds until the run has
    /// finished.
    ///
    /// # Errors
    ///
    /// The graph is on another device, one of its kernels does something wrong, or the GPU is lost.
    #[track_caller]
    pub unsafe fn launch_graph(&self, graph: &Graph) -> Result<(), Error> {
        if !self.device.is_same(graph.device()) {
            let what = "the graph and the stream are on different devices".to_owned();
            return Err(EngineError::Stream(what));
        }
        match (&self.kind, self.device.machine(), graph.exec()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu), Some(exec)) => {
                gpu.with_stream(|| stream.run(exec))?;
                self.in_flight
                    .borrow_mut()
                    .extend_from_slice(graph.places());
                Ok(())
            }
            _ => {
                let mut steps = graph.steps().iter();
                steps.try_for_each(|(step, caller)| self.put_by(step.clone(), caller))
            }
        }
    }

    /// Records what `work` puts into this stream as a graph, without running it. What it does in no
    /// stream, such as writing to a buffer, is done at once and not recorded. On a GPU,
    /// no thread may meanwhile wait for the whole device (`cuCtxSynchronize`, which nothing here
    /// calls): that is an error and spoils the recording.
    ///
    /// ```no_run
    /// # use lockstep::{Buffer, Device};
    /// # let device = Device::simulator();
    /// # let buffer: Buffer<f32> = device.alloc("x", 16)?;
    /// let stream = device.stream()?;
    /// // SAFETY: the buffer lives longer than the graph's last run.
    /// let graph = stream.record_graph(|| unsafe { stream.fill(&buffer, 0) })?;
    /// // SAFETY: as above.
    /// unsafe { stream.launch_graph(&graph) }?;
    /// stream.synchronize()?;
    /// # Ok::<(), lockstep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An error of `work`; it did something that a graph recorded here cannot hold: that is a sequence,
    /// without events, and nothing in it waits for the stream; it launched a kernel by a [`Module`](crate::Module), which would run at once; or
    /// a graph is already being recorded.
    pub fn record_graph(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<Graph, Error> {
        let _recording = Recording::begin();
        match (&self.kind, self.device.machine()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu)) => {
                let before = self.in_flight.take();
                let recorded = gpu.record(stream, work);
                let places = self.in_flight.replace(before);
                Ok(Graph::on_gpu(&self.device, recorded?, places))
            }
            (Kind::Sim(recording), _) => {
                if recording.borrow().is_some() {
                    let what = "a graph is already being recorded from this stream".to_owned();
                    return Err(EngineError::Stream(what));
                }
                *recording.borrow_mut() = Some(Vec::new());
                let _ends = Ends(recording);
                work()?;
                let steps = recording.take().unwrap_or_default();
                Ok(Graph::on_simulator(&self.device, steps))
            }
            (Kind::Gpu(_), Machine::Sim(_)) => unreachable!("a stream matches its device"),
        }
    }

    /// An event that completes when everything now in the stream has finished.
    ///
    /// # Errors
    ///
    /// The GPU is lost.
    pub fn record(&self) -> Result<Event, Error> {
        match (&self.kind, self.device.machine()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu)) => {
                let event = gpu.with_stream(|| {
                    let event = driver::Event::timed()?;
                    stream.mark(&event)?;
                    Ok(event)
                })?;
                Ok(Event::on_gpu(&self.device, event))
            }
            _ => {
                self.refuse_while_recording("an event")?;
                pending::check_met(self.id)?;
                Ok(Event::on_simulator(
                    &self.device,
                    pending::known_to(Some(self.id)),
                ))
            }
        }
    }

    /// Makes what is put into the stream from now on wait for the event, whichever stream it is
    /// from, also of another device.
    ///
    /// # Errors
    ///
    /// One of the two is on a GPU and the other on a simulator, or the GPU is lost.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        match (&self.kind, self.device.machine(), event.on_device()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu), Some(event)) => {
                gpu.with_stream(|| stream.wait_for(event))
            }
            // What came before the event has already finished.
            (Kind::Sim(_), Machine::Sim(_), None) => {
                self.refuse_while_recording("a wait for an event")?;
                pending::learn(self.id, &event.known);
                Ok(())
            }
            _ => {
                let what = "one of event and stream is on a GPU, the other on a simulator";
                Err(EngineError::Stream(what.to_owned()))
            }
        }
    }

    /// Waits until everything in it has finished.
    ///
    /// # Errors
    ///
    /// A kernel did something wrong or does not end: the error names it, or the candidates. On a
    /// GPU the device is then lost to this process.
    pub fn synchronize(&self) -> Result<(), Error> {
        match (&self.kind, self.device.machine()) {
            (Kind::Gpu(stream), Machine::Gpu(gpu)) => {
                let place = any_of(&self.in_flight.take());
                gpu.wait_for(stream, &place)
            }
            _ => {
                self.refuse_while_recording("a wait")?;
                pending::check_met(self.id)?;
                pending::waited(self.id);
                Ok(())
            }
        }
    }

    /// Refuses what a simulator's graph cannot contain, while one is recorded from this stream.
    pub(crate) fn refuse_while_recording(&self, what: &str) -> Result<(), Error> {
        match &self.kind {
            Kind::Sim(recording) if recording.borrow().is_some() => Err(EngineError::Stream(
                format!("a graph is being recorded from this stream and cannot contain {what}"),
            )),
            _ => Ok(()),
        }
    }
}

/// A simulator's recording, which ends with this value: also after an error or a panic.
struct Ends<'a>(&'a RefCell<Option<Vec<Recorded>>>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// What errors call it: it has no name.
const PINNED: &str = "pinned memory";

/// Refuses a copy between things of different lengths.
fn same_length<T: DeviceCopy>(
    buffer: &Buffer<T>,
    other: &str,
    n_values: usize,
) -> Result<(), Error> {
    if buffer.len() == n_values {
        return Ok(());
    }
    Err(EngineError::Stream(format!(
        "a copy between `{}`, which has {} values, and {other}, which has {n_values}",
        buffer.label(),
        buffer.len()
    )))
}

/// The place that an error names if it can be any of these.
fn any_of(places: &[Place]) -> Place {
    let mut kernels: Vec<&str> = places.iter().map(|place| place.kernel.as_str()).collect();
    kernels.dedup();
    let config = match places.last() {
        Some(last) => last.config,
        None => LaunchConfig::new([1; 3], [1; 3]),
    };
    match kernels.is_empty() {
        true => Place::of("copy or fill", config),
        false => Place::of(kernels.join("` or `"), config),
    }
}
