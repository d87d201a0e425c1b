//! The ranks of a communicator, as their hub knows them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crate::call::{Call, Kind};
use crate::wire::{Farewell, Introduction};

/// Part of the bytes that a call results in.
#[derive(Clone)]
pub struct Output {
    /// Bytes that several ranks may share.
    pub bytes: Arc<Vec<u8>>,
    /// The part.
    pub range: Range<usize>,
}

impl Output {
    pub fn all(bytes: &Arc<Vec<u8>>) -> Self {
        Self {
            range: 0..bytes.len(),
            bytes: Arc::clone(bytes),
        }
    }

    /// One of equal parts.
    pub fn part(bytes: &Arc<Vec<u8>>, i: usize, n: usize) -> Self {
        let size = bytes.len() / n;
        Self {
            range: i * size..(i + 1) * size,
            bytes: Arc::clone(bytes),
        }
    }

    /// Nothing.
    pub fn none() -> Self {
        Self::all(&Arc::default())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// A call that waits for other ranks.
pub struct Waiting {
    /// Its number among the rank's, from 1.
    pub number: usize,
    pub call: Call,
    /// What the rank sends.
    pub input: Vec<u8>,
    /// What it receives, once that is known.
    pub output: Option<Output>,
}

/// How a rank has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    Said(Farewell),
    /// Its connection ended.
    Lost,
}

/// A rank.
#[derive(Default)]
pub struct Member {
    /// Who it is, once it has joined.
    pub introduction: Option<Introduction>,
    pub gone: Option<Gone>,
    /// Number of its calls.
    pub n_calls: usize,
    pub last: Option<Call>,
    /// Calls that its streams have not come to yet.
    pub submitted: VecDeque<Call>,
    /// The calls that it makes now, of which some may be done, and since when.
    pub now: Option<(Instant, Vec<Waiting>)>,
    /// Its color and key for a split, and since when it waits.
    pub split: Option<(Instant, i32, i32)>,
}

impl Member {
    /// Whether it has joined and not gone.
    pub fn is_present(&self) -> bool {
        self.introduction.is_some() && self.gone.is_none()
    }

    /// Since when it waits for others.
    pub fn waits_since(&self) -> Option<Instant> {
        let calls = self.now.as_ref().map(|(since, _)| *since);
        let split = self.split.map(|(since, ..)| since);
        [calls, split].into_iter().flatten().min()
    }

    /// Its calls that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        let calls = self.now.iter().flat_map(|(_, calls)| calls);
        calls.filter(|waiting| waiting.output.is_none())
    }

    fn waiting_mut(&mut self) -> impl Iterator<Item = &mut Waiting> {
        let calls = self.now.iter_mut().flat_map(|(_, calls)| calls);
        calls.filter(|waiting| waiting.output.is_none())
    }

    /// Its first collective that waits.
    pub fn collective(&self) -> Option<&Waiting> {
        self.waiting().find(|waiting| waiting.call.is_collective())
    }

    /// The same, to be completed.
    pub fn collective_mut(&mut self) -> Option<&mut Waiting> {
        let mut waiting = self.waiting_mut();
        waiting.find(|waiting| waiting.call.is_collective())
    }

    /// Its first send or receive of a kind that waits.
    pub fn transfer(&self, kind: Kind) -> Option<&Waiting> {
        self.waiting().find(|waiting| waiting.call.kind == kind)
    }

    /// The same, to be completed.
    pub fn transfer_mut(&mut self, kind: Kind) -> Option<&mut Waiting> {
        self.waiting_mut().find(|w| w.call.kind == kind)
    }

    /// Its sends that wait: to whom.
    pub fn sends_to(&self) -> Vec<usize> {
        let kinds = self.waiting().map(|waiting| waiting.call.kind);
        let to = kinds.filter_map(|kind| match kind {
            Kind::Send { to } => Some(to),
            _ => None,
        });
        to.collect()
    }
}
