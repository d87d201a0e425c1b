//! Collective calls of simulators in one process: done as soon as all ranks have called.

use super::element::Operator;
use super::kind::Kind;
use crate::engine::pending::{self, Id};
use crate::engine::{EngineError, Machine};
use crate::{Device, Error};
use ptx_sim::{Pending, Touches, Usage};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;

/// Makes the bytes of two buffers one.
type Combine = fn(Operator, &mut [u8], &[u8]);

/// A rank's call.
#[derive(Clone)]
pub(super) struct Call {
    pub kind: Kind,
    /// Values of a rank's part.
    pub count: usize,
    pub element: &'static str,
    pub size_bytes: usize,
    pub combine: Combine,
    pub to: Option<u64>,
    pub from: Option<u64>,
    pub device: Device,
    /// Its number while other ranks have not made it.
    pub unmet: Id,
    pub place: &'static Location<'static>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::AllReduce(operator) => write!(f, "all_reduce ({operator})"),
            Kind::ReduceScatter(operator) => write!(f, "reduce_scatter ({operator})"),
            Kind::AllGather => f.write_str("all_gather"),
            Kind::Broadcast { root } => write!(f, "broadcast from rank {root}"),
            Kind::Send { to } => write!(f, "send to rank {to}"),
            Kind::Receive { from } => write!(f, "receive from rank {from}"),
        }?;
        write!(f, " of {} {} at {}", self.count, self.element, self.place)
    }
}

impl Call {
    /// Whether calls of two ranks belong together.
    fn fits(&self, other: &Self) -> bool {
        self.kind == other.kind && self.count == other.count && self.element == other.element
    }

    /// The device memory that it uses.
    fn uses(&self, n_ranks: usize) -> Vec<Pending> {
        let of = |address: u64, n_values: usize, usage| Pending {
            touches: Touches::All(
                address..address + (n_values * self.size_bytes) as u64,
                usage,
            ),
            what: self.to_string(),
        };
        let (got, given) = match self.kind {
            Kind::ReduceScatter(_) => (self.count, self.count * n_ranks),
            Kind::AllGather => (self.count * n_ranks, self.count),
            _ => (self.count, self.count),
        };
        let from = self.from.map(|from| of(from, given, Usage::READ));
        from.into_iter()
            .chain(self.to.map(|to| of(to, got, Usage::WRITE)))
            .collect()
    }

    /// The call is to be put into a stream, which must come after what works on its buffers; gives
    /// the uses that there are to note.
    fn check(&self, stream: Id, n_ranks: usize) -> Result<Vec<Pending>, Error> {
        match self.device.machine() {
            Machine::Sim(sim) => sim.check_uses(Some(stream), || self.uses(n_ranks)),
            Machine::Gpu(_) => Ok(Vec::new()),
        }
    }

    /// It is in the stream: from now on others must wait for it.
    fn begin(device: &Device, stream: Id, uses: Vec<Pending>) {
        if let Machine::Sim(sim) = device.machine() {
            sim.begin(stream, uses);
        }
    }

    /// Does a part of it on its device.
    fn at_work<R>(&self, work: impl FnOnce() -> R) -> R {
        match self.device.machine() {
            Machine::Sim(sim) => sim.at_work(work),
            Machine::Gpu(_) => work(),
        }
    }

    fn read(&self, n_values: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; n_values * self.size_bytes];
        if let Some(from) = self.from {
            let engine = self.device.engine();
            self.at_work(|| engine.read_values(from, &mut bytes, self.size_bytes, false))
                .map_err(|error| error.on_device(self.device.number()))?;
        }
        Ok(bytes)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        match self.to {
            Some(to) => self.at_work(|| self.device.engine().write(to, bytes)),
            None => Ok(()),
        }
    }
}

/// Where ranks' calls wait for those of the others.
///
/// Calls that are never matched keep their streams waiting, also without the communicator.
pub(super) struct Meeting {
    ranks: RefCell<Vec<Waiting>>,
    /// Why a call failed: no later one can be done.
    failure: RefCell<Option<String>>,
}

/// A rank's calls that others have not made yet.
#[derive(Default)]
struct Waiting {
    collective: VecDeque<Call>,
    /// Sends and receives.
    between: Vec<Call>,
    /// Collective calls that were done.
    n_done: u64,
}

impl Meeting {
    pub fn new(n_ranks: usize) -> Self {
        let ranks = std::iter::repeat_with(Waiting::default).take(n_ranks);
        Self {
            ranks: RefCell::new(ranks.collect()),
            failure: RefCell::default(),
        }
    }

    /// An error if an earlier call has failed, of whichever rank.
    fn check_usable(&self) -> Result<(), Error> {
        match &*self.failure.borrow() {
            None => Ok(()),
            Some(why) => Err(EngineError::Devices(format!(
                "the communicator cannot be used any more, since a call failed: {why}"
            ))),
        }
    }

    /// A rank makes a call, in a stream.
    pub fn call(&self, rank: usize, mut call: Call, stream: Id) -> Result<(), Error> {
        self.check_usable()?;
        let uses = call.check(stream, self.ranks.borrow().len())?;
        call.unmet = pending::waits_for_ranks(stream, call.to_string());
        let device = call.device.clone();
        self.make(rank, call).inspect_err(|error| {
            let why = match error {
                EngineError::Devices(why) => why.clone(),
                other => other.to_string(),
            };
            *self.failure.borrow_mut() = Some(why);
        })?;
        Call::begin(&device, stream, uses);
        Ok(())
    }

    /// Notes a rank's call, and does what all ranks have called now.
    fn make(&self, rank: usize, call: Call) -> Result<(), Error> {
        let mut ranks = self.ranks.borrow_mut();
        match call.kind {
            Kind::Send { to: other } | Kind::Receive { from: other } => {
                ranks[rank].between.push(call);
                exchange(&mut ranks, rank, other)
            }
            _ => {
                ranks[rank].collective.push_back(call);
                while ranks.iter().all(|waiting| !waiting.collective.is_empty()) {
                    let take = |waiting: &mut Waiting| {
                        waiting.n_done += 1;
                        waiting.collective.pop_front()
                    };
                    let calls: Vec<Call> = ranks.iter_mut().filter_map(take).collect();
                    calls.iter().for_each(|call| pending::met(call.unmet));
                    perform(&calls, ranks[0].n_done)?;
                }
                Ok(())
            }
        }
    }

    /// A rank waits for the end of its calls.
    pub fn waited_for(&self, rank: usize) -> Result<(), Error> {
        self.check_usable()?;
        let ranks = self.ranks.borrow();
        let own = &ranks[rank];
        if let Some(call) = own.collective.front() {
            let absent = (0..ranks.len()).filter(|&other| ranks[other].collective.is_empty());
            let absent: Vec<_> = absent.map(|other| other.to_string()).collect();
            return Err(EngineError::Devices(format!(
                "rank {rank} waits for its collective call {}, {call}, which these ranks have not \
                 made: {}",
                own.n_done + 1,
                absent.join(", ")
            )));
        }
        match own.between.first() {
            Some(call) => Err(EngineError::Devices(format!(
                "rank {rank} waits for its {call}, which the other rank has not matched"
            ))),
            None => Ok(()),
        }
    }
}

/// Copies what one rank has sent and the other is to receive, in either direction.
fn exchange(ranks: &mut [Waiting], one: usize, other: usize) -> Result<(), Error> {
    for (sender, receiver) in [(one, other), (other, one)] {
        let sends = |call: &Call| call.kind == Kind::Send { to: receiver };
        let receives = |call: &Call| call.kind == Kind::Receive { from: sender };
        let found = (
            ranks[sender].between.iter().position(sends),
            ranks[receiver].between.iter().position(receives),
        );
        let (Some(send), Some(receive)) = found else {
            continue;
        };
        let send = ranks[sender].between.remove(send);
        let shift = usize::from(sender == receiver && found.0 < found.1);
        let receive = ranks[receiver].between.remove(receive - shift);
        pending::met(send.unmet);
        pending::met(receive.unmet);
        if (send.count, send.element) != (receive.count, receive.element) {
            return Err(EngineError::Devices(format!(
                "rank {sender} calls {send}, but rank {receiver} calls {receive}: both must have as \
                 many values of the same type"
            )));
        }
        receive.write(&send.read(send.count)?)?;
    }
    Ok(())
}

/// All ranks have called.
fn perform(calls: &[Call], number: u64) -> Result<(), Error> {
    let first = &calls[0];
    if let Some(rank) = calls.iter().position(|call| !call.fits(first)) {
        return Err(EngineError::Devices(format!(
            "the ranks' collective call {number} differs: rank 0 calls {first}, but rank {rank} \
             calls {}; all ranks must make the same calls in the same order",
            calls[rank]
        )));
    }
    let n_ranks = calls.len();
    let reduced = |operator, n_values| -> Result<Vec<u8>, Error> {
        let mut sum = first.read(n_values)?;
        for call in &calls[1..] {
            (first.combine)(operator, &mut sum, &call.read(n_values)?);
        }
        Ok(sum)
    };
    match first.kind {
        Kind::AllReduce(operator) => {
            let sum = reduced(operator, first.count)?;
            calls.iter().try_for_each(|call| call.write(&sum))
        }
        Kind::ReduceScatter(operator) => {
            let sum = reduced(operator, first.count * n_ranks)?;
            let part_bytes = first.count * first.size_bytes;
            let parts = (0..n_ranks).map(|rank| &sum[rank * part_bytes..(rank + 1) * part_bytes]);
            calls
                .iter()
                .zip(parts)
                .try_for_each(|(call, part)| call.write(part))
        }
        Kind::AllGather => {
            let mut all = Vec::new();
            for call in calls {
                all.extend(call.read(call.count)?);
            }
            calls.iter().try_for_each(|call| call.write(&all))
        }
        Kind::Broadcast { root } => {
            let bytes = calls[root].read(first.count)?;
            calls.iter().try_for_each(|call| call.write(&bytes))
        }
        Kind::Send { .. } | Kind::Receive { .. } => Ok(()),
    }
}
