//! The meeting of a communicator's ranks: which of their calls belong together, and which cannot.
//!
//! Collectives of all ranks belong together in the order in which each rank makes them; sends
//! belong to receives in the order of both for each pair of ranks.

use std::time::{Duration, Instant};

use super::complaint;
use super::members::{Gone, Member, Output, Waiting};
use super::results;
use crate::call::{Call, Kind};
use crate::result::{Code, Failure, Outcome};
use crate::wire::{Farewell, Introduction};

/// The meeting.
pub struct Meeting {
    /// By rank; none until one has said how many there are.
    pub members: Vec<Member>,
    /// Why it has failed.
    pub failure: Option<Failure>,
    /// When the first rank joined, until all have.
    joining_since: Option<Instant>,
    patience: Option<Duration>,
}

/// What a rank's calls result in.
pub struct Answer {
    /// The rank.
    pub rank: usize,
    /// What it receives, in the order of its calls.
    pub outputs: Vec<Output>,
}

impl Meeting {
    /// One that waits this long for ranks that do not come.
    pub fn new(patience: Option<Duration>) -> Self {
        Self {
            members: Vec::new(),
            failure: None,
            joining_since: None,
            patience,
        }
    }

    /// Whether all ranks have joined.
    pub fn is_complete(&self) -> bool {
        let mut members = self.members.iter();
        !self.members.is_empty() && members.all(|member| member.introduction.is_some())
    }

    /// Whether no rank is left, and none will come.
    pub fn is_over(&self) -> bool {
        let none_comes = self.failure.is_some() || self.is_complete();
        none_comes && !self.members.iter().any(Member::is_present)
    }

    /// Adds a rank.
    ///
    /// # Errors
    /// It does not fit the others; then the meeting has failed.
    pub fn join(&mut self, new: Introduction) -> Outcome {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if self.members.is_empty() {
            self.members.resize_with(new.n_ranks, Member::default);
            self.joining_since = Some(Instant::now());
        }
        let rank = new.rank;
        let is_taken = |member: &Member| member.introduction.is_some();
        let same_device = |member: &Member| {
            let other = member.introduction.as_ref();
            other.is_some_and(|o| (o.process, o.device) == (new.process, new.device))
        };
        let n_ranks = self.members.len();
        if new.n_ranks != n_ranks {
            let wants = new.n_ranks;
            self.fail(Code::INVALID_ARGUMENT, format!("NCCL: rank {rank} joins a communicator of {wants} ranks, but others one of {n_ranks}"));
        } else if self.members.get(rank).is_none_or(is_taken) {
            self.fail(
                Code::INVALID_USAGE,
                format!(
                    "NCCL: rank {rank} joins a communicator of {n_ranks} ranks for the second time"
                ),
            );
        } else if let Some(other) = self.members.iter().position(same_device) {
            let device = new.device;
            self.fail(Code::INVALID_USAGE, format!("NCCL: ranks {other} and {rank} of a communicator are on the same device, {device}"));
        } else {
            self.members[rank].introduction = Some(new);
        }
        if self.is_complete() {
            self.joining_since = None;
        }
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Adds calls that a rank's streams have not come to yet.
    pub fn announce(&mut self, rank: usize, calls: Vec<Call>) {
        self.members[rank].submitted.extend(calls);
    }

    /// Takes the first so many of them: a stream has come to them.
    pub fn begin_announced(&mut self, rank: usize, n: usize) {
        let submitted = &mut self.members[rank].submitted;
        submitted.drain(..n.min(submitted.len()));
    }

    /// Adds the calls that a rank makes together, and the bytes that it sends.
    pub fn call(&mut self, rank: usize, calls: Vec<Call>, mut bytes: Vec<u8>) {
        let n_ranks = self.members.len();
        let member = &mut self.members[rank];
        let mut waiting = Vec::with_capacity(calls.len());
        for call in calls {
            member.n_calls += 1;
            member.last = Some(call);
            let rest = bytes.split_off(call.sent(rank, n_ranks).min(bytes.len()));
            waiting.push(Waiting {
                number: member.n_calls,
                call,
                input: std::mem::replace(&mut bytes, rest),
                output: None,
            });
        }
        member.now = Some((Instant::now(), waiting));
    }

    /// Adds a rank's wish for a split.
    pub fn split(&mut self, rank: usize, color: i32, key: i32) {
        self.members[rank].split = Some((Instant::now(), color, key));
    }

    /// Records that a rank has gone. One that was killed, or whose device failed, has not done what
    /// the others wait for.
    pub fn leave(&mut self, rank: usize, gone: Gone) {
        let member = &mut self.members[rank];
        if member.gone.is_some() {
            return;
        }
        member.gone = Some(gone);
        member.now = None;
        member.split = None;
        let process = member.introduction.as_ref().map_or(0, |i| i.process);
        if matches!(gone, Gone::Lost | Gone::Said(Farewell::DeviceFailed)) {
            let heading = format!(
                "NCCL: rank {rank} (process {process}) {}:",
                complaint::how(gone)
            );
            self.complain(Code::REMOTE, &heading, true);
        }
    }

    /// When to give up, unless something happens before.
    pub fn deadline(&self) -> Option<Instant> {
        if self.failure.is_some() {
            return None;
        }
        let waits = self.members.iter().filter_map(Member::waits_since);
        Some(waits.chain(self.joining_since).min()? + self.patience?)
    }

    /// Fails if it is time to give up.
    pub fn expire(&mut self) {
        if self
            .deadline()
            .is_none_or(|deadline| Instant::now() < deadline)
        {
            return;
        }
        let what = match self.joining_since {
            Some(_) => "not all ranks of a communicator have joined it",
            None => "calls wait for ranks that have not come",
        };
        self.complain(Code::REMOTE, &(complaint::too_long(what) + ":"), true);
    }

    /// Completes what can be completed; returns the ranks whose calls are done.
    pub fn proceed(&mut self) -> Vec<Answer> {
        while self.failure.is_none() && (self.do_collective() || self.do_transfer()) {}
        let mut answers = Vec::new();
        for (rank, member) in self.members.iter_mut().enumerate() {
            let is_done =
                |(_, calls): &mut (_, Vec<Waiting>)| calls.iter().all(|c| c.output.is_some());
            if let Some((_, calls)) = member.now.take_if(is_done) {
                let outputs = calls.into_iter().filter_map(|call| call.output).collect();
                answers.push(Answer { rank, outputs });
            }
        }
        self.check_ends();
        answers
    }

    /// Does a collective that all ranks have come to; fails if two have come to different ones.
    fn do_collective(&mut self) -> bool {
        let calls: Vec<Call> = {
            let waiting = self.members.iter().filter_map(Member::collective);
            waiting.map(|waiting| waiting.call).collect()
        };
        let Some(&first) = calls.first() else {
            return false;
        };
        if calls.iter().any(|call| *call != first) {
            self.mismatch();
            return false;
        }
        if calls.len() < self.members.len() {
            return false;
        }
        let waiting = self.members.iter().filter_map(Member::collective);
        let inputs: Vec<&[u8]> = waiting.map(|waiting| waiting.input.as_slice()).collect();
        let outputs = results::of(&first, &inputs);
        let waiting = self.members.iter_mut().filter_map(Member::collective_mut);
        for (waiting, output) in waiting.zip(outputs) {
            waiting.output = Some(output);
        }
        true
    }

    /// Does a send with its receive; fails if they differ.
    fn do_transfer(&mut self) -> bool {
        for from in 0..self.members.len() {
            for to in self.members[from].sends_to() {
                let (send, recv) = (Kind::Send { to }, Kind::Recv { from });
                let sent = self.members[from].transfer(send);
                let received = self.members.get(to).and_then(|m| m.transfer(recv));
                let (Some(sent), Some(received)) = (sent, received) else {
                    continue;
                };
                let shape = |call: &Call| (call.count, call.data_type);
                if shape(&sent.call) != shape(&received.call) {
                    self.mismatch();
                    return false;
                }
                self.transfer(from, to);
                return true;
            }
        }
        false
    }

    fn transfer(&mut self, from: usize, to: usize) {
        let sent = self.members[from].transfer_mut(Kind::Send { to });
        let bytes = sent.map(|sent| {
            sent.output = Some(Output::none());
            std::mem::take(&mut sent.input)
        });
        let received = self.members[to].transfer_mut(Kind::Recv { from });
        if let (Some(received), Some(bytes)) = (received, bytes) {
            received.output = Some(Output::all(&bytes.into()));
        }
    }

    /// Fails if what ranks wait for cannot come: for one that has gone, or each for another.
    fn check_ends(&mut self) {
        let waits = |member: &&Member| member.waits_since().is_some();
        let n_waiting = self.members.iter().filter(waits).count();
        let calls = self.members.iter().filter(|m| m.now.is_some()).count();
        if self.failure.is_some() || n_waiting == 0 {
            return;
        }
        let is_gone = |rank: usize| self.members.get(rank).is_none_or(|m| m.gone.is_some());
        let any_gone = (0..self.members.len()).any(is_gone);
        let waits_for_gone = |member: &Member| {
            let mut waiting = member.waiting();
            let lost = waiting.any(|waiting| match waiting.call.kind {
                Kind::Send { to } => is_gone(to),
                Kind::Recv { from } => is_gone(from),
                _ => any_gone,
            });
            lost || member.split.is_some() && any_gone
        };
        if self.members.iter().any(waits_for_gone) {
            self.complain(
                Code::REMOTE,
                "NCCL: calls wait for a rank that has gone:",
                true,
            );
        } else if self.is_complete() && calls == self.members.len() {
            let heading = "NCCL: each rank of a communicator waits for another one:";
            self.complain(Code::INVALID_USAGE, heading, true);
        }
    }

    /// Color and key of all ranks, once all wish to split.
    pub fn take_split(&mut self) -> Option<Vec<(i32, i32)>> {
        if !self.is_complete() || !self.members.iter().all(|m| m.split.is_some()) {
            return None;
        }
        let wishes = self.members.iter_mut().filter_map(|m| m.split.take());
        Some(wishes.map(|(_, color, key)| (color, key)).collect())
    }

    fn mismatch(&mut self) {
        let heading = "NCCL: the ranks of a communicator do not make the same call:";
        self.complain(Code::INVALID_USAGE, heading, false);
    }

    fn complain(&mut self, code: Code, heading: &str, with_absent: bool) {
        let text = complaint::text(heading, &self.members, with_absent);
        self.fail(code, text);
    }

    fn fail(&mut self, code: Code, text: String) {
        self.failure.get_or_insert_with(|| code.because(text));
    }
}
