//! Streams that are captured: what is submitted becomes a graph.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::driver::driver;
use crate::graph::Graph;
use crate::operation::Operation;
use crate::status::{Outcome, Status};

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
    /// The graph's handle, if anybody has asked for it.
    handle: Arc<Mutex<usize>>,
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
            handle: Arc::default(),
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
        let node = self.graph.add(operation, std::mem::take(&mut self.last));
        self.last = vec![node];
    }

    /// A handle of the graph that is being made, for as long as it is.
    pub fn graph_handle(&self) -> Outcome<usize> {
        let graphs = &driver()?.graphs;
        let mut handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if *handle == 0 {
            *handle = graphs.add(Arc::clone(&self.graph));
        }
        Ok(*handle)
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
