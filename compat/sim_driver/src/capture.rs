//! Streams under capture: what is submitted becomes a graph.

use std::sync::Arc;

use crate::event::Captured;
use crate::graph::{Graph, Work};
use crate::operation::Operation;
use crate::session::Session;
use crate::status::Outcome;

/// A stream's part in a capture.
pub struct Capture {
    /// The capture.
    pub session: Arc<Session>,
    /// The graph that it makes.
    pub graph: Arc<Graph>,
    /// Handles of the nodes that the next one comes after.
    pub last: Vec<usize>,
    /// Whether it began in this stream.
    pub is_origin: bool,
}

impl Capture {
    /// A capture that begins in a stream of a context.
    pub fn begin(context: usize, mode: u32) -> Self {
        Self {
            session: Session::begin(context, mode),
            graph: Arc::default(),
            last: Vec::new(),
            is_origin: true,
        }
    }

    /// The part of another stream, which continues after an event.
    pub fn forked(from: Captured) -> Outcome<Self> {
        Ok(Self {
            graph: Graph::of(from.graph)?,
            session: from.session,
            last: from.nodes,
            is_origin: false,
        })
    }

    /// What an event recorded now knows.
    pub fn so_far(&self) -> Outcome<Captured> {
        Ok(Captured {
            session: Arc::clone(&self.session),
            graph: self.graph.handle()?,
            nodes: self.last.clone(),
        })
    }

    /// Adds an operation instead of submitting it.
    pub fn add(&mut self, operation: Operation) {
        self.add_work(Work::Operation(operation));
    }

    /// Adds a node.
    pub fn add_work(&mut self, work: Work) {
        let after = std::mem::take(&mut self.last);
        self.last = vec![self.graph.add_work(work, after)];
    }

    /// Makes the next operation come after these nodes as well.
    pub fn join(&mut self, nodes: &[usize]) {
        for &node in nodes {
            if !self.last.contains(&node) {
                self.last.push(node);
            }
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if self.is_origin {
            self.session.end();
        }
    }
}
