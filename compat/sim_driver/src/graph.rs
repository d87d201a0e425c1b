//! Graphs: operations, and their order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::driver::driver;
use crate::event::Event;
use crate::handles::{Kind, Table};
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::user_object::Kept;

/// A node.
#[derive(Clone)]
pub struct Node {
    /// Its handle.
    pub handle: usize,
    /// What it does.
    pub work: Work,
    /// Handles of the nodes that it comes after.
    pub after: Vec<usize>,
    /// Whether it does its work; only in executable graphs can this be `false`.
    pub is_enabled: bool,
}

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// An operation.
    Operation(Operation),
    /// A whole graph.
    Graph(Arc<Graph>),
    /// Records an event.
    Record(Arc<Event>),
    /// Waits for an event, as last recorded when the graph is launched.
    Wait(Arc<Event>),
}

impl Work {
    /// `CU_GRAPH_NODE_TYPE_…`
    pub fn kind(&self) -> u32 {
        match self {
            Self::Operation(operation) => match operation {
                Operation::Launch(_) => 0,
                Operation::Copy(_) => 1,
                Operation::Fill(_) => 2,
                Operation::Call(_) => 3,
                Operation::Nothing | Operation::Note(_) => 5,
                Operation::Free(_) => 11,
            },
            Self::Graph(_) => 4,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
        }
    }

    /// A launch keeps the attributes of the one that it replaces: its parameters do not include
    /// them.
    pub(crate) fn with_attributes_of(self, old: &Self) -> Outcome<Self> {
        let (Self::Operation(Operation::Launch(new)), Self::Operation(Operation::Launch(old))) =
            (&self, old)
        else {
            return Ok(self);
        };
        let launch = Arc::new(new.with_attributes_of(old)?);
        Ok(Self::Operation(Operation::Launch(launch)))
    }

    /// Why an executable graph's node that does this cannot do `new` instead, if it cannot.
    pub(crate) fn refuses(&self, new: &Self) -> Option<Change> {
        if self.kind() != new.kind() {
            return Some(Change::Kind);
        }
        let (Self::Operation(old), Self::Operation(new)) = (self, new) else {
            return None;
        };
        let (alike, change) = match (old, new) {
            (Operation::Launch(old), Operation::Launch(new)) => {
                let stays = old.module().context == new.module().context;
                (stays, Change::Function)
            }
            (Operation::Copy(old), Operation::Copy(new)) => (old.is_like(new), Change::Parameters),
            (Operation::Fill(old), Operation::Fill(new)) => (old.is_like(new), Change::Parameters),
            _ => return None,
        };
        (!alike).then_some(change)
    }
}

/// Changes between two graphs that an executable one cannot follow: `CU_GRAPH_EXEC_UPDATE_ERROR_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Change {
    /// The number of nodes, or their order.
    Topology = 2,
    /// The kind of a node's work.
    Kind = 3,
    /// What a node works on.
    Parameters = 5,
    /// The context that a kernel runs in.
    Function = 7,
}

/// A graph.
#[derive(Default)]
pub struct Graph {
    /// In the order in which they were made.
    nodes: Mutex<Vec<Node>>,
    /// Its handle, if it has one.
    handle: OnceLock<usize>,
    /// The handles here of the nodes of the graph that this one is a copy of.
    origins: HashMap<usize, usize>,
    /// The client's objects that it keeps.
    kept: Mutex<Kept>,
}

/// `CUgraph`
static GRAPHS: Table<Graph> = Table::new(Kind::Graph);

/// A handle that no node has had.
fn node_handle() -> usize {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    ((Kind::Node as u64) << 40 | NEXT.fetch_add(1, Ordering::Relaxed) << 4) as usize
}

impl Graph {
    /// The graph with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        GRAPHS.get(handle)
    }

    /// The graph that has a node.
    pub fn home(node: usize) -> Outcome<Arc<Self>> {
        driver()?;
        let found = GRAPHS.all().into_iter().find(|graph| graph.has(&[node]));
        found.ok_or(Status::INVALID_VALUE)
    }

    /// A graph of nodes that keep their handles.
    pub fn with(nodes: Vec<Node>) -> Self {
        Self {
            nodes: Mutex::new(nodes),
            ..Self::default()
        }
    }

    /// Its nodes.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's objects that it keeps.
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it and the graphs in it keep.
    pub(crate) fn all_kept(&self) -> Kept {
        let mut all = self.kept().clone();
        for node in &*self.nodes() {
            if let Work::Graph(graph) = &node.work {
                all.extend(&graph.all_kept());
            }
        }
        all
    }

    /// Its handle, which is created if it has none.
    pub fn handle(self: &Arc<Self>) -> Outcome<usize> {
        driver()?;
        let new = || {
            let handle = GRAPHS.reserve();
            GRAPHS.insert(handle, Arc::clone(self));
            handle
        };
        Ok(*self.handle.get_or_init(new))
    }

    /// Invalidates its handle, and those of the graphs in it.
    pub fn forget(&self) -> Outcome {
        if let Some(&handle) = self.handle.get() {
            driver()?;
            let _ = GRAPHS.remove(handle);
        }
        self.nodes().iter().try_for_each(Node::forget)
    }

    /// Adds a node after some of its nodes; returns its handle.
    pub fn add_work(&self, work: Work, after: Vec<usize>) -> usize {
        let handle = node_handle();
        let node = Node {
            handle,
            work,
            after,
            is_enabled: true,
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

    /// What a node of it does.
    pub fn work(&self, node: usize) -> Outcome<Work> {
        let nodes = self.nodes();
        let found = nodes.iter().find(|n| n.handle == node);
        found.map(|n| n.work.clone()).ok_or(Status::INVALID_VALUE)
    }

    /// Makes a node do something else of the same kind.
    pub fn replace(&self, node: usize, work: Work) -> Outcome {
        let mut nodes = self.nodes();
        let found = nodes.iter_mut().find(|n| n.handle == node);
        let node = found.ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(node.work.kind() != work.kind())?;
        node.work = work.with_attributes_of(&node.work)?;
        Ok(())
    }

    /// Its current nodes, with the same handles.
    pub fn snapshot(&self) -> Vec<Node> {
        let nodes = self.nodes();
        let copy = |node: &Node| match &node.work {
            Work::Graph(graph) => Node {
                work: Work::Graph(Arc::new(Self::with(graph.snapshot()))),
                ..node.clone()
            },
            _ => node.clone(),
        };
        nodes.iter().map(copy).collect()
    }

    /// A copy, whose nodes have their own handles.
    pub fn copied(&self) -> Self {
        let nodes = self.nodes();
        let own = nodes.iter().map(|node| (node.handle, node_handle()));
        let names: HashMap<usize, usize> = own.collect();
        let renamed = nodes.iter().map(|node| Node {
            handle: names[&node.handle],
            after: node.after.iter().map(|n| names[n]).collect(),
            work: match &node.work {
                Work::Graph(graph) => Work::Graph(Arc::new(graph.copied())),
                work => work.clone(),
            },
            is_enabled: node.is_enabled,
        });
        Self {
            nodes: Mutex::new(renamed.collect()),
            handle: OnceLock::new(),
            origins: names,
            kept: Mutex::new(self.kept().clone()),
        }
    }

    /// The node here that is the copy of a node of the original graph.
    pub fn node_of(&self, original: usize) -> Option<usize> {
        let node = self.origins.get(&original).copied()?;
        self.has(&[node]).then_some(node)
    }
}

impl Node {
    /// Invalidates the handles of the graph in it, if there is one.
    pub fn forget(&self) -> Outcome {
        match &self.work {
            Work::Graph(graph) => graph.forget(),
            _ => Ok(()),
        }
    }
}
