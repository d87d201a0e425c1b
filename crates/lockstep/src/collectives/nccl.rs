//! Ranks whose calls NCCL does: those of GPUs.

use super::kind::Kind;
use super::library::{Comm, Config, IN_PROGRESS, Nccl, UniqueId, failed};
use super::ranks::{Peers, Ranks};
use crate::engine::gpu::{Gpu, TIME_LIMIT_OVERRIDE, time_limit};
use crate::{Device, Error, Stream};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

/// A communicator of NCCL.
pub(super) struct OfNccl {
    nccl: &'static Nccl,
    comm: Cell<Comm>,
    /// Connections to other processes, if there are some.
    peers: RefCell<Option<Peers>>,
    /// How long a rank waits for a call to end: as long as for kernels.
    patience: Duration,
}

/// Makes the calls that `work` makes as one.
pub(super) fn group(nccl: &Nccl, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let no_comm = std::ptr::null_mut();
    // SAFETY: it has no arguments.
    nccl.check("ncclGroupStart", no_comm, unsafe { (nccl.group_start)() })?;
    let worked = work();
    // SAFETY: as above; a group ends after an error, too.
    let ended = nccl.check("ncclGroupEnd", no_comm, unsafe { (nccl.group_end)() });
    worked.and(ended)
}

/// Calls NCCL with a device's context.
fn on(gpu: &Gpu, call: impl FnOnce() -> c_int) -> Result<c_int, Error> {
    gpu.with_stream(|| Ok(call()))
}

impl OfNccl {
    /// A communicator for each GPU of this process.
    pub fn of_gpus(devices: &[Device]) -> Result<Vec<Self>, Error> {
        let nccl = Nccl::get()?;
        let numbers: Vec<c_int> = devices
            .iter()
            .map(|device| device.number() as c_int)
            .collect();
        let mut comms = vec![std::ptr::null_mut(); devices.len()];
        let n = numbers.len() as c_int;
        // SAFETY: both lists are as long as said.
        let code = unsafe { (nccl.init_all)(comms.as_mut_ptr(), n, numbers.as_ptr()) };
        nccl.check("ncclCommInitAll", std::ptr::null_mut(), code)?;
        let of = |comm| Self::new(nccl, comm, None);
        Ok(comms.into_iter().map(of).collect())
    }

    /// This process's among several.
    pub fn of_process(gpu: &Gpu, ranks: &Ranks) -> Result<Self, Error> {
        let nccl = Nccl::get()?;
        let (peers, id) = Peers::meet(ranks, || {
            let mut id = UniqueId([0; UniqueId::SIZE]);
            // SAFETY: writes the identifier.
            let code = unsafe { (nccl.unique_id)(&mut id) };
            nccl.check("ncclGetUniqueId", std::ptr::null_mut(), code)?;
            Ok(id)
        })?;
        let mut comm = std::ptr::null_mut();
        let mut config = Config::nonblocking();
        let (n, rank) = (ranks.n_ranks as c_int, ranks.rank as c_int);
        // SAFETY: the device's context is current, and the identifier is rank 0's.
        let code = on(gpu, || unsafe {
            (nccl.init_rank)(&mut comm, n, id, rank, &mut config)
        })?;
        nccl.check("ncclCommInitRankConfig", comm, code)?;
        let made = Self::new(nccl, comm, Some(peers));
        made.settle((ranks.rank, ranks.n_ranks))?;
        Ok(made)
    }

    fn new(nccl: &'static Nccl, comm: Comm, peers: Option<Peers>) -> Self {
        Self {
            nccl,
            comm: Cell::new(comm),
            peers: RefCell::new(peers),
            patience: time_limit(),
        }
    }

    /// The library.
    pub fn nccl(&self) -> &'static Nccl {
        self.nccl
    }

    /// The library's version.
    pub fn version(&self) -> Option<u32> {
        let mut version = 0;
        // SAFETY: writes a number.
        let code = unsafe { (self.nccl.get_version)(&mut version) };
        (code == 0).then_some(version.unsigned_abs())
    }

    /// Makes a call.
    ///
    /// # Safety
    ///
    /// The addresses are those of buffers on the rank's device that are as long as the call says.
    pub unsafe fn call(
        &self,
        gpu: &Gpu,
        kind: Kind,
        (to, from, count, data): (u64, u64, usize, c_int),
        stream: *mut c_void,
    ) -> Result<(), Error> {
        let (comm, nccl) = (self.comm.get(), self.nccl);
        // SAFETY: the caller's promise; ranks have been checked.
        let call = || unsafe {
            match kind {
                Kind::AllReduce(operator) => {
                    (nccl.all_reduce)(from, to, count, data, operator.number(), comm, stream)
                }
                Kind::ReduceScatter(operator) => {
                    (nccl.reduce_scatter)(from, to, count, data, operator.number(), comm, stream)
                }
                Kind::AllGather => (nccl.all_gather)(from, to, count, data, comm, stream),
                Kind::Broadcast { root } => {
                    (nccl.broadcast)(from, to, count, data, root as c_int, comm, stream)
                }
                Kind::Send { to } => (nccl.send)(from, count, data, to as c_int, comm, stream),
                Kind::Receive { from } => {
                    (nccl.receive)(to, count, data, from as c_int, comm, stream)
                }
            }
        };
        nccl.check(kind.name(), comm, on(gpu, call)?)
    }

    /// Waits until calls have been put into their streams. `place` is the rank's number, and how many
    /// there are.
    pub fn settle(&self, place: (usize, usize)) -> Result<(), Error> {
        let started = Instant::now();
        while self.state()? == IN_PROGRESS {
            self.look_after(place, started)?;
        }
        Ok(())
    }

    /// Waits for the end of what is in a stream.
    pub fn wait_for(&self, stream: &Stream, place: (usize, usize)) -> Result<(), Error> {
        self.settle(place)?;
        let end = stream.record()?;
        let started = Instant::now();
        while !end.is_passed()? {
            self.look_after(place, started)?;
        }
        Ok(())
    }

    /// Whether something has gone wrong meanwhile, or goes on.
    fn state(&self) -> Result<c_int, Error> {
        let comm = self.comm.get();
        if comm.is_null() {
            return Err(failed("the communicator has failed before".to_owned()));
        }
        let mut state = 0;
        // SAFETY: the communicator is alive; writes a code.
        let code = unsafe { (self.nccl.async_error)(comm, &mut state) };
        self.nccl.check("ncclCommGetAsyncError", comm, code)?;
        Ok(state)
    }

    /// While a call goes on: an error if it cannot end. The communicator is given up then, which
    /// ends its kernels.
    fn look_after(&self, (rank, n_ranks): (usize, usize), started: Instant) -> Result<(), Error> {
        let state = self.state()?;
        let lost = self.peers.borrow_mut().as_mut().and_then(Peers::lost);
        let comm = self.comm.get();
        let what = match self.nccl.check("a collective call", comm, state) {
            Err(error) => error,
            Ok(()) => match lost {
                Some(lost) => failed(format!(
                    "rank {lost} has ended, and rank {rank} of {n_ranks} waits for it"
                )),
                None if started.elapsed() > self.patience => failed(format!(
                    "rank {rank} of {n_ranks} has waited for {} s: another rank has not made the same \
                     calls ({TIME_LIMIT_OVERRIDE}=SECONDS allows more)",
                    self.patience.as_secs()
                )),
                None => {
                    std::thread::sleep(Duration::from_micros(50));
                    return Ok(());
                }
            },
        };
        self.comm.set(std::ptr::null_mut());
        // SAFETY: the communicator is alive, and not used again.
        unsafe { (self.nccl.abort)(comm) };
        Err(what)
    }
}

impl Drop for OfNccl {
    fn drop(&mut self) {
        let comm = self.comm.get();
        if !comm.is_null() {
            // SAFETY: it is alive, and not used again.
            unsafe {
                match std::thread::panicking() {
                    true => (self.nccl.abort)(comm),
                    false => (self.nccl.destroy)(comm),
                }
            };
        }
    }
}
