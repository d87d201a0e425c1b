//! Graphs: operations, and which come after which.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::Context;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::Stream;
use crate::tasks::Task;

/// A node.
#[derive(Clone)]
pub struct Node {
    /// Its handle.
    pub handle: usize,
    /// What is done.
    pub work: Work,
    /// Handles of the nodes that it comes after.
    pub after: Vec<usize>,
}

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// An operation.
    Operation(Operation),
    /// A whole graph.
    Graph(Vec<Node>),
}

/// A graph.
#[derive(Default)]
pub struct Graph(Mutex<Vec<Node>>);

/// A handle that no node has had.
fn node_handle() -> usize {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    ((crate::handles::Kind::Node as u64) << 40 | NEXT.fetch_add(1, Ordering::Relaxed) << 4) as usize
}

impl Graph {
    /// Its nodes.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an operation after some nodes of it; gives the node's handle.
    pub fn add(&self, operation: Operation, after: Vec<usize>) -> usize {
        self.add_work(Work::Operation(operation), after)
    }

    /// Adds a node.
    pub fn add_work(&self, work: Work, after: Vec<usize>) -> usize {
        let handle = node_handle();
        let node = Node {
            handle,
            work,
            after,
        };
        self.nodes().push(node);
        handle
    }

    /// Whether all of these are its nodes.
    pub fn has(&self, nodes: &[usize]) -> bool {
        let own = self.nodes();
        nodes
            .iter()
            .all(|&node| own.iter().any(|n| n.handle == node))
    }

    /// A copy, and what its nodes are called in place of the others.
    pub fn copied(&self) -> (Self, HashMap<usize, usize>) {
        let nodes = self.nodes().clone();
        let names: HashMap<usize, usize> = nodes
            .iter()
            .map(|node| (node.handle, node_handle()))
            .collect();
        let renamed = nodes.into_iter().map(|node| Node {
            handle: names[&node.handle],
            after: node.after.iter().map(|n| names[n]).collect(),
            work: node.work,
        });
        (Self(Mutex::new(renamed.collect())), names)
    }
}

/// A graph that can be launched.
pub struct Executable {
    /// `CUDA_GRAPH_INSTANTIATE_FLAG_…`
    pub flags: u64,
    /// Each after those that it comes after.
    nodes: Mutex<Vec<Node>>,
    /// The last launch: the next waits for it.
    last: Mutex<Option<Arc<Task>>>,
}

/// Nodes in an order in which they may run; none if they go round in a circle.
fn sorted(nodes: &[Node]) -> Option<Vec<Node>> {
    let mut left: Vec<&Node> = nodes.iter().collect();
    let mut done = std::collections::HashSet::new();
    let mut order = Vec::with_capacity(nodes.len());
    while !left.is_empty() {
        let before = left.len();
        left.retain(|node| {
            let ready = node.after.iter().all(|n| done.contains(n));
            if ready {
                done.insert(node.handle);
                order.push((*node).clone());
            }
            !ready
        });
        if left.len() == before {
            return None;
        }
    }
    Some(order)
}

impl Executable {
    /// Of a graph as it is now.
    pub fn new(graph: &Graph, flags: u64) -> Outcome<Self> {
        let nodes = sorted(&graph.nodes()).ok_or(Status::INVALID_VALUE)?;
        Ok(Self {
            flags,
            nodes: Mutex::new(nodes),
            last: Mutex::default(),
        })
    }

    /// Its nodes, each after those that it comes after.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a node do something else of the same kind.
    pub fn replace(&self, node: usize, operation: Operation) -> Outcome {
        let mut nodes = self.nodes();
        let node = nodes.iter_mut().find(|n| n.handle == node);
        let node = node.ok_or(Status::INVALID_VALUE)?;
        let same_kind = match &node.work {
            Work::Operation(old) => {
                std::mem::discriminant(old) == std::mem::discriminant(&operation)
            }
            Work::Graph(_) => false,
        };
        if !same_kind {
            return Err(Status::INVALID_VALUE);
        }
        node.work = Work::Operation(operation);
        Ok(())
    }

    /// Submits all of it to a stream.
    pub fn launch(&self, context: &Arc<Context>, stream: &Stream) {
        let begin = stream.submit(context, Operation::Nothing);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = vec![begin];
        before.extend(last.take());
        let ends = submit_nodes(&self.nodes(), context, &before);
        ends.into_iter().for_each(|task| stream.wait_for(task));
        *last = Some(stream.submit(context, Operation::Nothing));
    }
}

/// Submits nodes after some tasks; gives those that nothing comes after.
fn submit_nodes(nodes: &[Node], context: &Arc<Context>, before: &[Arc<Task>]) -> Vec<Arc<Task>> {
    let mut tasks: HashMap<usize, Vec<Arc<Task>>> = HashMap::new();
    let mut has_followers = std::collections::HashSet::new();
    for node in nodes {
        let mut after: Vec<Arc<Task>> = Vec::new();
        for n in &node.after {
            has_followers.insert(*n);
            after.extend(tasks.get(n).into_iter().flatten().map(Arc::clone));
        }
        if node.after.is_empty() {
            after = before.to_vec();
        }
        let ends = match &node.work {
            Work::Operation(operation) => {
                let (operation, context) = (operation.clone(), Arc::clone(context));
                vec![Task::submit(move || operation.run(&context), &after)]
            }
            Work::Graph(nodes) => {
                let order = sorted(nodes).unwrap_or_default();
                let ends = submit_nodes(&order, context, &after);
                if ends.is_empty() { after } else { ends }
            }
        };
        tasks.insert(node.handle, ends);
    }
    let is_end = |node: &&Node| !has_followers.contains(&node.handle);
    let ends = nodes.iter().filter(is_end);
    ends.flat_map(|node| tasks.remove(&node.handle).unwrap_or_default())
        .collect()
}
