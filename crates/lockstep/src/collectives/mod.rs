//! Collective calls: all ranks, each a device, exchange or combine buffers.
//!
//! Ranks are the devices of one process ([`Communicator::of_devices`]) or several processes with a
//! device each, also on several machines ([`Communicator::of_process`], [`Ranks`]). On GPUs the work
//! is NCCL's, found when the program runs. Simulators of one process do it themselves; for several
//! processes without a GPU, `cargo xtask sim-run` has an NCCL for its simulated devices.
//!
//! A rank that makes another call than the rest, or none, or whose process ends, is an error for the
//! others within a limited time.

mod element;
mod kind;
mod library;
mod nccl;
mod ranks;
mod simulated;

pub use element::{Element, Operator};
pub use library::{Find, load_functions};
pub use ranks::Ranks;

use crate::engine::{EngineError, Machine};
use crate::{Buffer, Device, Error, Stream};
use element::private::Number;
use kind::Kind;
use library::failed;
use nccl::OfNccl;
use simulated::{Call, Meeting};
use std::panic::Location;
use std::rc::Rc;

/// A rank's part in collective calls.
///
/// ```no_run
/// use lockstep::collectives::{Communicator, Operator, group};
/// # use lockstep::{Buffer, Device, Stream};
///
/// let devices = Device::all()?;
/// let ranks = Communicator::of_devices(&devices)?;
/// # let (streams, sums, parts): (Vec<Stream>, Vec<Buffer<f32>>, Vec<Buffer<f32>>) = todo!();
/// group(&ranks, || {
///     for (i, rank) in ranks.iter().enumerate() {
///         // SAFETY: the buffers live until the streams have been waited for.
///         unsafe { rank.all_reduce(&streams[i], &sums[i], &parts[i], Operator::Sum) }?;
///     }
///     Ok(())
/// })?;
/// for (rank, stream) in ranks.iter().zip(&streams) {
///     rank.synchronize(stream)?;
/// }
/// # Ok::<(), lockstep::Error>(())
/// ```
pub struct Communicator {
    device: Device,
    rank: usize,
    n_ranks: usize,
    by: By,
}

enum By {
    Nccl(OfNccl),
    /// Simulators of one process.
    Meeting(Rc<Meeting>),
}

/// Makes calls of several ranks of this process as one: until all have called, none waits.
///
/// # Errors
///
/// That of `work`, or of the calls.
pub fn group(
    ranks: &[Communicator],
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let first = ranks.iter().find_map(|rank| match &rank.by {
        By::Nccl(of) => Some(of.nccl()),
        By::Meeting(_) => None,
    });
    let Some(nccl) = first else {
        return work();
    };
    nccl::group(nccl, work)?;
    ranks.iter().try_for_each(|rank| match &rank.by {
        By::Nccl(of) => of.settle(rank.place()),
        By::Meeting(_) => Ok(()),
    })
}

fn are_of_one_machine(devices: &[Device]) -> Result<(), Error> {
    let sims = || {
        devices.iter().filter_map(|device| match device.machine() {
            Machine::Sim(sim) => Some(sim),
            Machine::Gpu(_) => None,
        })
    };
    let first = sims().next();
    match first.is_none_or(|first| sims().all(|sim| first.is_beside(sim))) {
        true => Ok(()),
        false => Err(EngineError::Devices(
            "the simulators are of different machines: make them together, by \
             `Device::simulators`"
                .to_owned(),
        )),
    }
}

impl Communicator {
    /// A rank for each device of this process.
    ///
    /// # Errors
    ///
    /// There is no NCCL, or it refuses; some devices are GPUs and others simulators; or simulators are
    /// of different machines.
    pub fn of_devices(devices: &[Device]) -> Result<Vec<Self>, Error> {
        let n_ranks = devices.len();
        for (number, device) in devices.iter().enumerate() {
            if devices[..number].iter().any(|other| other.is_same(device)) {
                return Err(EngineError::Devices(format!(
                    "ranks need different devices, but device {} is there twice",
                    device.number()
                )));
            }
        }
        let n_simulators = devices
            .iter()
            .filter(|device| device.is_simulator())
            .count();
        let all: Vec<By> = match n_simulators {
            _ if n_ranks == 0 => Vec::new(),
            0 => OfNccl::of_gpus(devices)?
                .into_iter()
                .map(By::Nccl)
                .collect(),
            n if n == n_ranks => {
                are_of_one_machine(devices)?;
                let meeting = Rc::new(Meeting::new(n_ranks));
                let of = |_: &Device| By::Meeting(meeting.clone());
                devices.iter().map(of).collect()
            }
            _ => {
                return Err(EngineError::Devices(
                    "a communicator has GPUs or simulators, not both".to_owned(),
                ));
            }
        };
        let of = |(rank, (device, by)): (usize, (&Device, By))| Self {
            device: device.clone(),
            rank,
            n_ranks,
            by,
        };
        Ok(devices.iter().zip(all).enumerate().map(of).collect())
    }

    /// This process's rank among several processes, with its device.
    ///
    /// # Errors
    ///
    /// A rank does not come in time, there is no NCCL, or the device is a simulator.
    pub fn of_process(device: &Device, ranks: &Ranks) -> Result<Self, Error> {
        let Machine::Gpu(gpu) = device.machine() else {
            return Err(failed(
                "simulators of this library are of one process: run the program on simulated \
                 devices by `cargo xtask sim-run -- PROGRAM`, or on GPUs"
                    .to_owned(),
            ));
        };
        Ok(Self {
            device: device.clone(),
            rank: ranks.rank,
            n_ranks: ranks.n_ranks,
            by: By::Nccl(OfNccl::of_process(gpu, ranks)?),
        })
    }

    /// Its number, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    /// NCCL's version, such as 22803 for 2.28.3; `None` where simulators need none.
    pub fn nccl_version(&self) -> Option<u32> {
        match &self.by {
            By::Nccl(of) => of.version(),
            By::Meeting(_) => None,
        }
    }

    /// Its number, and how many there are.
    fn place(&self) -> (usize, usize) {
        (self.rank, self.n_ranks)
    }

    /// Combines the values of all ranks, element by element; all get the result. The buffers may be
    /// the same.
    ///
    /// # Safety
    ///
    /// The buffers are on the rank's device, and live until the stream has been waited for; nothing
    /// else uses them meanwhile.
    ///
    /// # Errors
    ///
    /// The buffers differ in length, NCCL refuses, or simulators' ranks make different calls.
    #[track_caller]
    pub unsafe fn all_reduce<T: Element>(
        &self,
        stream: &Stream,
        to: &Buffer<T>,
        from: &Buffer<T>,
        operator: Operator,
    ) -> Result<(), Error> {
        self.check_lengths(to.len(), from.len(), "all ranks get as much as each gives")?;
        let kind = Kind::AllReduce(operator);
        self.call(stream, Some(to), Some(from), (kind, from.len()))
    }

    /// As [`Communicator::all_reduce`], but each rank gets a part of the result: rank 0 the first.
    ///
    /// # Safety
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`].
    #[track_caller]
    pub unsafe fn reduce_scatter<T: Element>(
        &self,
        stream: &Stream,
        to: &Buffer<T>,
        from: &Buffer<T>,
        operator: Operator,
    ) -> Result<(), Error> {
        let parts = to.len() * self.n_ranks;
        self.check_lengths(parts, from.len(), "each rank gets a part of what it gives")?;
        let kind = Kind::ReduceScatter(operator);
        self.call(stream, Some(to), Some(from), (kind, to.len()))
    }

    /// Puts the buffers of all ranks one after the other; all get the result.
    ///
    /// # Safety
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`].
    #[track_caller]
    pub unsafe fn all_gather<T: Element>(
        &self,
        stream: &Stream,
        to: &Buffer<T>,
        from: &Buffer<T>,
    ) -> Result<(), Error> {
        let parts = from.len() * self.n_ranks;
        self.check_lengths(to.len(), parts, "all ranks get what all give")?;
        self.call(stream, Some(to), Some(from), (Kind::AllGather, from.len()))
    }

    /// Copies a rank's buffer to all others'.
    ///
    /// # Safety
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; there is no such rank.
    #[track_caller]
    pub unsafe fn broadcast<T: Element>(
        &self,
        stream: &Stream,
        buffer: &Buffer<T>,
        root: usize,
    ) -> Result<(), Error> {
        self.check_rank(root)?;
        let kind = Kind::Broadcast { root };
        self.call(stream, Some(buffer), Some(buffer), (kind, buffer.len()))
    }

    /// Sends a buffer to a rank, which receives as much.
    ///
    /// # Safety
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::broadcast`].
    #[track_caller]
    pub unsafe fn send<T: Element>(
        &self,
        stream: &Stream,
        from: &Buffer<T>,
        to: usize,
    ) -> Result<(), Error> {
        self.check_rank(to)?;
        self.call(stream, None, Some(from), (Kind::Send { to }, from.len()))
    }

    /// Receives what a rank sends.
    ///
    /// # Safety
    ///
    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    ///
    /// As [`Communicator::broadcast`].
    #[track_caller]
    pub unsafe fn receive<T: Element>(
        &self,
        stream: &Stream,
        to: &Buffer<T>,
        from: usize,
    ) -> Result<(), Error> {
        self.check_rank(from)?;
        self.call(stream, Some(to), None, (Kind::Receive { from }, to.len()))
    }

    /// Waits for a stream that collective calls were put into.
    ///
    /// # Errors
    ///
    /// Another rank has failed, ended, or not made the same calls within a minute
    /// (`LOCKSTEP_TIME_LIMIT_S=SECONDS` sets another limit); or as [`Stream::synchronize`]. After
    /// that the communicator cannot be used.
    pub fn synchronize(&self, stream: &Stream) -> Result<(), Error> {
        match &self.by {
            By::Nccl(of) => of.wait_for(stream, self.place())?,
            By::Meeting(meeting) => meeting.waited_for(self.rank)?,
        }
        stream.synchronize()
    }

    #[track_caller]
    fn call<T: Element>(
        &self,
        stream: &Stream,
        to: Option<&Buffer<T>>,
        from: Option<&Buffer<T>>,
        (kind, count): (Kind, usize),
    ) -> Result<(), Error> {
        if !stream.device().is_same(&self.device) {
            return Err(EngineError::Devices(format!(
                "the stream is on device {}, but rank {} is device {}",
                stream.device().number(),
                self.rank,
                self.device.number()
            )));
        }
        let of_device =
            |buffer: &&Buffer<T>| std::ptr::addr_eq(buffer.engine(), self.device.engine());
        if let Some(buffer) = to.iter().chain(&from).find(|buffer| !of_device(buffer)) {
            return Err(EngineError::Devices(format!(
                "rank {} is given `{}`, which is not on its device {}",
                self.rank,
                buffer.label(),
                self.device.number()
            )));
        }
        match (&self.by, self.device.machine()) {
            (By::Nccl(of), Machine::Gpu(gpu)) => {
                let [to, from] =
                    [to, from].map(|buffer| buffer.map_or(0, |buffer| buffer.address()));
                let stream = stream.as_raw().unwrap_or(std::ptr::null_mut());
                // SAFETY: the buffers are there, by the caller's promise, and long enough.
                unsafe { of.call(gpu, kind, (to, from, count, T::TYPE), stream) }
            }
            (By::Meeting(meeting), _) => {
                stream.refuse_while_recording("a collective call of simulators")?;
                let call = Call {
                    kind,
                    count,
                    element: T::NAME,
                    size_bytes: size_of::<T>(),
                    combine: <T as Number>::combine,
                    to: to.map(Buffer::address),
                    from: from.map(Buffer::address),
                    device: self.device.clone(),
                    place: Location::caller(),
                    unmet: 0,
                };
                meeting.call(self.rank, call, stream.id)
            }
            _ => unreachable!("NCCL's ranks are GPUs"),
        }
    }

    fn check_lengths(&self, a: usize, b: usize, rule: &str) -> Result<(), Error> {
        if a == b {
            return Ok(());
        }
        Err(EngineError::Devices(format!(
            "buffers for {a} and {b} values in a collective call of {} ranks: {rule}",
            self.n_ranks
        )))
    }

    fn check_rank(&self, rank: usize) -> Result<(), Error> {
        if rank < self.n_ranks {
            return Ok(());
        }
        let n = self.n_ranks;
        Err(EngineError::Devices(format!(
            "there is no rank {rank}: there are {n}, from 0"
        )))
    }
}
