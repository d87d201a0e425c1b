//! Devices that work together, with what the lessons need on each.

use super::outcome::{Failure, Measured};
use crate::kernels::{ARCHES, modules};
use cuda_std::launch::Kernel;
use lockstep::collectives::Communicator;
use lockstep::{Buffer, Device, LaunchConfig, Line, Module, PtxModule, Stream, Together};
use ptx_sim::Schedule;
use std::cell::{Cell, RefCell};
use std::time::Instant;

/// Repetitions of a measurement.
const N_TIMES: usize = 9;
/// A repetition lasts about this long.
const REPETITION_MS: f64 = 20.0;

/// Devices with the lessons' kernels, and access to each other's memory.
pub struct Node {
    devices: Vec<Device>,
    modules: Vec<Module>,
    /// One per device.
    pub streams: Vec<Stream>,
    /// A second one, for copies.
    pub copies: Vec<Stream>,
    schedule: Option<Schedule>,
    /// Counted over links since it was taken last.
    link_bytes: Cell<u64>,
    /// Counts the launches that tell each other apart.
    epoch: Cell<u32>,
    /// The memory work of launches by source line, if that is kept.
    lines: Option<RefCell<Vec<Line>>>,
}

impl Node {
    /// Loads the kernels on all devices and lets each use the memory of all.
    ///
    /// # Errors
    ///
    /// There are no kernels, or a device cannot use another's memory.
    pub fn new(devices: &[Device]) -> Result<Self, Failure> {
        let kernels = modules()?;
        let is_base = |module: &&PtxModule| {
            module.topic() == Some("devices") && module.target_name() == Some(ARCHES[0])
        };
        let source = kernels
            .iter()
            .find(is_base)
            .expect("a topic of the catalogue");
        source.text()?;
        for device in devices {
            for peer in devices
                .iter()
                .filter(|peer| peer.number() != device.number())
            {
                device.enable_peer(peer)?;
            }
        }
        let load = |device: &Device| device.load(source.clone());
        let modules = devices.iter().map(load).collect::<Result<_, _>>()?;
        let streams = || devices.iter().map(Device::stream).collect::<Result<_, _>>();
        Ok(Self {
            modules,
            streams: streams()?,
            copies: streams()?,
            devices: devices.to_vec(),
            schedule: None,
            link_bytes: Cell::new(0),
            epoch: Cell::new(1),
            lines: None,
        })
    }

    /// Makes simulators run launches in another order.
    pub fn with_schedule(self, schedule: Option<Schedule>) -> Self {
        Self { schedule, ..self }
    }

    /// Keeps the memory work of simulators' launches by source line.
    pub fn with_lines(self) -> Self {
        Self {
            lines: Some(RefCell::default()),
            ..self
        }
    }

    /// The lines that were kept, those of most bytes over links first.
    pub fn into_lines(self) -> Vec<Line> {
        let mut sums: Vec<Line> = Vec::new();
        for line in self.lines.map(RefCell::into_inner).unwrap_or_default() {
            match sums
                .iter_mut()
                .find(|sum| (&sum.file, sum.line) == (&line.file, line.line))
            {
                Some(sum) => sum.merge(&line),
                None => sums.push(line),
            }
        }
        sums.sort_by_key(|line| std::cmp::Reverse((line.link_bytes, line.load_sectors)));
        sums
    }

    /// How many devices there are.
    pub fn n(&self) -> u32 {
        self.devices.len() as u32
    }

    /// Whether they are GPUs.
    pub fn is_measured(&self) -> bool {
        !self.devices[0].is_simulator()
    }

    /// Multiprocessors of a device.
    pub fn n_multiprocessors(&self) -> u32 {
        self.devices[0].properties().n_multiprocessors
    }

    /// A number that is greater each time.
    pub fn next_epoch(&self) -> u32 {
        self.epoch.replace(self.epoch.get() + 1)
    }

    /// A buffer on each device, with these values.
    ///
    /// # Errors
    ///
    /// A device has no room.
    pub fn upload(
        &self,
        name: &str,
        values: impl Fn(u32) -> Vec<f32>,
    ) -> Result<Vec<Buffer<f32>>, Failure> {
        let on = |(i, device): (usize, &Device)| device.upload(name, &values(i as u32));
        let all = self.devices.iter().enumerate().map(on);
        Ok(all.collect::<Result<_, _>>()?)
    }

    /// A buffer on each device that kernels are to write, of at least one value.
    ///
    /// # Errors
    ///
    /// A device has no room.
    pub fn room(
        &self,
        name: &str,
        len: impl Fn(u32) -> usize,
    ) -> Result<Vec<Buffer<f32>>, Failure> {
        let on = |(i, device): (usize, &Device)| device.alloc(name, len(i as u32).max(1));
        let all = self.devices.iter().enumerate().map(on);
        Ok(all.collect::<Result<_, _>>()?)
    }

    /// Words that are 0 on each device.
    ///
    /// # Errors
    ///
    /// A device has no room.
    pub fn zeros(&self, name: &str, len: usize) -> Result<Vec<Buffer<u32>>, Failure> {
        let all = self.devices.iter().map(|device| device.zeroed(name, len));
        Ok(all.collect::<Result<_, _>>()?)
    }

    /// The addresses of buffers on all devices, as a list on each device.
    ///
    /// # Errors
    ///
    /// A device has no room.
    pub fn addresses<T: cuda_std::launch::DeviceCopy>(
        &self,
        name: &str,
        buffers: &[Buffer<T>],
    ) -> Result<Vec<Buffer<u64>>, Failure> {
        let list: Vec<u64> = buffers.iter().map(Buffer::address).collect();
        let all = self.devices.iter().map(|device| device.upload(name, &list));
        Ok(all.collect::<Result<_, _>>()?)
    }

    /// Launches a kernel on all devices at the same time; those that `args` gives nothing for take no
    /// part. GPUs go on in their streams.
    ///
    /// # Safety
    ///
    /// As for each launch by itself.
    ///
    /// # Errors
    ///
    /// A launch breaks a rule; on simulators, a kernel does something wrong.
    pub unsafe fn launch<K: Kernel>(
        &self,
        kernel: K,
        args: impl Fn(usize) -> Option<(LaunchConfig, K::Args)>,
    ) -> Result<(), Failure> {
        let mut together = Together::new();
        for (i, module) in self.modules.iter().enumerate() {
            let Some((config, args)) = args(i) else {
                continue;
            };
            // SAFETY: the caller's promise.
            unsafe {
                match self.is_measured() {
                    true => self.streams[i].launch(module, kernel, config, args)?,
                    false => together.add_after(&self.streams[i], module, kernel, config, args)?,
                }
            }
        }
        if !self.is_measured() {
            together.set_schedule(self.schedule);
            for report in together.run()? {
                let counts = report.counts().copied().unwrap_or_default();
                let bytes = counts.peer_load_bytes + counts.peer_store_bytes;
                self.link_bytes.set(self.link_bytes.get() + bytes);
                if let Some(lines) = &self.lines {
                    lines.borrow_mut().extend(report.lines());
                }
            }
        }
        Ok(())
    }

    /// Makes the device's stream wait for what is now in the streams of its neighbours.
    ///
    /// # Errors
    ///
    /// A GPU is lost.
    pub fn wait_for_neighbours(&self) -> Result<(), Failure> {
        let events = self.streams.iter().map(Stream::record);
        let events = events.collect::<Result<Vec<_>, _>>()?;
        for (i, stream) in self.streams.iter().enumerate() {
            let near = i.saturating_sub(1)..(i + 2).min(events.len());
            for event in near.filter(|&other| other != i).map(|other| &events[other]) {
                stream.wait(event)?;
            }
        }
        Ok(())
    }

    /// Waits for all streams.
    ///
    /// # Errors
    ///
    /// A kernel did something wrong.
    pub fn synchronize(&self) -> Result<(), Failure> {
        let mut streams = self.streams.iter().chain(&self.copies);
        Ok(streams.try_for_each(Stream::synchronize)?)
    }

    /// The devices as ranks of collective calls.
    ///
    /// # Errors
    ///
    /// There is no NCCL.
    pub fn ranks(&self) -> Result<Vec<Communicator>, Failure> {
        Ok(Communicator::of_devices(&self.devices)?)
    }

    /// What kernels have moved over links since the last call, if that is counted.
    pub fn take_link_bytes(&self) -> Option<u64> {
        let bytes = self.link_bytes.take();
        (!self.is_measured()).then_some(bytes)
    }

    /// Measures what can be repeated, on GPUs.
    ///
    /// # Errors
    ///
    /// Those of `once`.
    pub fn measure(
        &self,
        bytes: u64,
        mut once: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<Measured>, Failure> {
        if !self.is_measured() {
            return Ok(None);
        }
        let mut timed = |n: usize| -> Result<f64, Failure> {
            self.synchronize()?;
            let started = Instant::now();
            (0..n).try_for_each(|_| once())?;
            self.synchronize()?;
            Ok(started.elapsed().as_secs_f64() * 1e3 / n as f64)
        };
        timed(3)?;
        let n = (REPETITION_MS / timed(3)?).ceil().clamp(1.0, 2000.0) as usize;
        let mut times = (0..N_TIMES)
            .map(|_| timed(n))
            .collect::<Result<Vec<_>, _>>()?;
        times.sort_by(f64::total_cmp);
        let median = times[N_TIMES / 2];
        Ok(Some(Measured {
            time_ms: median,
            reference_ms: None,
            spread: (times[0] / median, times[N_TIMES - 1] / median),
            bytes,
        }))
    }
}
