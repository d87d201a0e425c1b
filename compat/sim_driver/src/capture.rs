//! Streams that are captured: what is submitted becomes a graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::graph::{Graph, Work};
use crate::operation::Operation;
use crate::status::Status;

/// A stream's part in a capture.
#[derive(Clone)]
pub struct Capture {
    /// The capture's number.
    pub id: u64,
    /// What it makes.
    pub graph: Arc<Graph>,
    /// Handles of the nodes that the next one comes after.
    pub last: Vec<usize>,
    /// Whether it began in this stream.
    pub is_origin: bool,
    /// Whether something was asked for that a capture does not survive.
    invalid: Arc<AtomicBool>,
    /// Whether it is over.
    ended: Arc<AtomicBool>,
}

impl Capture {
    /// That begins in a stream.
    pub fn begin(graph: Arc<Graph>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            graph,
            last: Vec::new(),
            is_origin: true,
            invalid: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// The part of another stream, which goes on after some nodes of this one's.
    pub fn forked(&self, last: Vec<usize>) -> Self {
        Self {
            last,
            is_origin: false,
            ..self.clone()
        }
    }

    /// Ends it without a graph, in all its streams.
    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    /// It is over.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// What an event that was recorded in it answers to who asks whether it is complete; a
    /// capture does not survive that.
    pub fn asked_of_event(&self) -> Status {
        let is_over = self.is_invalid() || self.ended.load(Ordering::Relaxed);
        self.invalidate();
        match is_over {
            true => Status::INVALID_VALUE,
            false => Status::CAPTURED_EVENT,
        }
    }

    /// Whether it will not give a graph.
    pub fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Relaxed)
    }

    /// Adds an operation in place of submitting it.
    pub fn add(&mut self, operation: Operation) {
        self.add_work(Work::Operation(operation));
    }

    /// Adds a node.
    pub fn add_work(&mut self, work: Work) {
        let after = std::mem::take(&mut self.last);
        self.last = vec![self.graph.add_work(work, after)];
    }

    /// Lets the next operation come after other nodes, too.
    pub fn join(&mut self, nodes: &[usize]) {
        for &node in nodes {
            if !self.last.contains(&node) {
                self.last.push(node);
            }
        }
    }
}
