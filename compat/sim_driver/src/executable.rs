//! Executable graphs: launched as a whole, and updated.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::context::Context;
use crate::event::State;
use crate::graph::{Change, Graph, Node, Work};
use crate::handles::{Kind, Table};
use crate::happens_before;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{Stream, StreamKind};
use crate::tasks::Task;
use crate::user_object::Kept;

/// A graph that can be launched.
pub struct Executable {
    /// `CUDA_GRAPH_INSTANTIATE_FLAG_…`
    pub flags: u64,
    /// In an order in which they may run; they have the handles of the graph's nodes.
    nodes: Mutex<Vec<Node>>,
    /// The last launch, which the next one waits for.
    last: Mutex<Option<Arc<Task>>>,
    /// The client's objects that the graph and the graphs in it kept.
    kept: Kept,
}

/// `CUgraphExec`
static EXECUTABLES: Table<Executable> = Table::new(Kind::Executable);

/// Where a graph differs from an executable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What has changed.
    pub change: Change,
    /// The graph's node, if it is about one.
    pub node: usize,
    /// The node that it comes after, if that is what has changed.
    pub from: usize,
}

/// Nodes in an order in which they may run; `None` if they form a cycle.
fn sorted(nodes: &[Node]) -> Option<Vec<Node>> {
    let mut left: Vec<&Node> = nodes.iter().collect();
    let mut done = HashSet::new();
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

/// Checks that there is room for all launches.
fn check_room(nodes: &[Node]) -> Outcome {
    nodes.iter().try_for_each(|node| match &node.work {
        Work::Operation(Operation::Launch(launch)) => launch.check_room(),
        Work::Graph(graph) => check_room(&graph.nodes()),
        _ => Ok(()),
    })
}

/// The nodes of an executable graph with the work of new ones, paired in the order in which they
/// were made.
fn updated(own: &[Node], new: &[Node]) -> Result<Vec<Node>, Mismatch> {
    let mismatch = |change, node, from| Mismatch { change, node, from };
    if own.len() != new.len() {
        return Err(mismatch(Change::Topology, 0, 0));
    }
    let mut own = own.to_vec();
    own.sort_by_key(|node| node.handle);
    let pairs = new
        .iter()
        .zip(&own)
        .map(|(new, own)| (new.handle, own.handle));
    let pairs: HashMap<usize, usize> = pairs.collect();
    for (own, new) in own.iter_mut().zip(new) {
        if own.after.len() != new.after.len() {
            return Err(mismatch(Change::Topology, new.handle, 0));
        }
        let is_other = |&&from: &&usize| !own.after.contains(&pairs[&from]);
        if let Some(&from) = new.after.iter().find(is_other) {
            return Err(mismatch(Change::Topology, new.handle, from));
        }
        if let Some(change) = own.work.refuses(&new.work) {
            return Err(mismatch(change, new.handle, 0));
        }
        own.work = match (&own.work, &new.work) {
            (Work::Graph(own), Work::Graph(new)) => {
                let nodes = updated(&own.nodes(), &new.nodes())?;
                Work::Graph(Arc::new(Graph::with(nodes)))
            }
            (_, work) => work.clone(),
        };
    }
    Ok(own)
}

/// Calls a function with one of these nodes, or one of a graph in them.
fn with_node<T>(nodes: &mut [Node], handle: usize, f: &mut dyn FnMut(&mut Node) -> T) -> Option<T> {
    for node in nodes {
        if node.handle == handle {
            return Some(f(node));
        }
        if let Work::Graph(graph) = &node.work
            && let Some(done) = with_node(&mut graph.nodes(), handle, f)
        {
            return Some(done);
        }
    }
    None
}

impl Executable {
    /// Creates one of a graph as it is now, and returns its handle.
    pub fn create(graph: &Graph, flags: u64) -> Outcome<usize> {
        let nodes = sorted(&graph.snapshot()).ok_or(Status::INVALID_VALUE)?;
        check_room(&nodes)?;
        EXECUTABLES.add(Arc::new(Self {
            flags,
            nodes: Mutex::new(nodes),
            last: Mutex::default(),
            kept: graph.all_kept(),
        }))
    }

    /// The one with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        EXECUTABLES.get(handle)
    }

    /// Invalidates the handle.
    pub fn destroy(handle: usize) -> Outcome {
        EXECUTABLES.remove(handle).map(drop)
    }

    /// Its nodes, in an order in which they may run.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with a node.
    pub fn with_node<T>(&self, handle: usize, mut f: impl FnMut(&mut Node) -> T) -> Outcome<T> {
        let done = with_node(&mut self.nodes(), handle, &mut f);
        done.ok_or(Status::INVALID_VALUE)
    }

    /// Makes a node do something else of the same kind.
    pub fn replace(&self, node: usize, work: &Work) -> Outcome {
        self.with_node(node, |node| {
            Status::INVALID_VALUE.when(node.work.refuses(work).is_some())?;
            node.work = match (&node.work, work) {
                (Work::Graph(own), Work::Graph(new)) => {
                    let nodes = updated(&own.nodes(), &new.nodes());
                    let nodes = nodes.map_err(|_| Status::INVALID_VALUE)?;
                    Work::Graph(Arc::new(Graph::with(nodes)))
                }
                (own, new) => new.clone().with_attributes_of(own)?,
            };
            Ok(())
        })?
    }

    /// Makes all nodes do what a graph of the same shape does now.
    pub fn update(&self, graph: &Graph) -> Result<(), Mismatch> {
        let mut nodes = self.nodes();
        let changed = updated(&nodes, &graph.snapshot())?;
        // Their order stays valid: the edges are the same.
        for node in nodes.iter_mut() {
            let same = changed.iter().find(|new| new.handle == node.handle);
            node.work = same.map_or_else(|| node.work.clone(), |new| new.work.clone());
        }
        Ok(())
    }

    /// Submits all of it to a stream. In a legacy stream it comes after the work of other contexts'
    /// legacy streams, if it has kernels of theirs, and before later work there: CUDA promises no
    /// order, but clients rely on one, which a GPU's speed gives them.
    pub fn launch(&self, context: &Arc<Context>, stream: &Stream) {
        let mut others = match stream.kind {
            StreamKind::Legacy => contexts(&self.nodes()),
            _ => BTreeMap::new(),
        };
        others.remove(&context.handle);
        for other in others.values() {
            stream.wait_for(other.fence());
        }
        let begin = stream.submit(context, Operation::Nothing);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = vec![begin];
        before.extend(last.take());
        let ends = submit_nodes(&self.nodes(), (context, stream.id), &before);
        ends.into_iter().for_each(|task| stream.wait_for(task));
        let end = stream.submit(context, Operation::Nothing);
        for other in others.values() {
            other.wait_for(&end);
        }
        *last = Some(end);
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut self.kept).forget_after(last.take());
    }
}

/// The contexts that the kernels of these nodes run in, by handle.
fn contexts(nodes: &[Node]) -> BTreeMap<usize, Arc<Context>> {
    let mut found = BTreeMap::new();
    for node in nodes {
        match &node.work {
            Work::Operation(Operation::Launch(launch)) => {
                let handle = launch.module().context;
                found.extend(Context::of(handle).map(|context| (handle, context)));
            }
            Work::Graph(graph) => found.extend(contexts(&graph.nodes())),
            _ => {}
        }
    }
    found
}

/// Submits nodes to a stream after some tasks; returns the tasks that nothing comes after.
fn submit_nodes(
    nodes: &[Node],
    (context, stream): (&Arc<Context>, u64),
    before: &[Arc<Task>],
) -> Vec<Arc<Task>> {
    let mut tasks: HashMap<usize, Vec<Arc<Task>>> = HashMap::new();
    let mut has_followers = HashSet::new();
    for node in nodes {
        let mut after: Vec<Arc<Task>> = Vec::new();
        for n in &node.after {
            has_followers.insert(*n);
            after.extend(tasks.get(n).into_iter().flatten().map(Arc::clone));
        }
        if node.after.is_empty() {
            after = before.to_vec();
        }
        let ends = match node.is_enabled {
            true => submit_work(&node.work, (context, stream), after),
            false => after,
        };
        tasks.insert(node.handle, ends);
    }
    let is_end = |node: &&Node| !has_followers.contains(&node.handle);
    let ends = nodes.iter().filter(is_end);
    ends.flat_map(|node| tasks.remove(&node.handle).unwrap_or_default())
        .collect()
}

/// Submits what a node does after some tasks; returns the tasks that end it.
fn submit_work(
    work: &Work,
    (context, stream): (&Arc<Context>, u64),
    mut after: Vec<Arc<Task>>,
) -> Vec<Arc<Task>> {
    let submit = |operation: Operation, after: &[Arc<Task>]| {
        let moments = after.iter().filter_map(|task| task.moment());
        let moment = happens_before::moment(stream, moments, operation.uses_memory());
        let work = operation.into_work(Arc::clone(context), moment.clone());
        Task::submit_at(moment, work, after)
    };
    match work {
        Work::Operation(operation) => vec![submit(operation.clone(), &after)],
        Work::Graph(graph) => {
            let order = sorted(&graph.nodes()).unwrap_or_default();
            let ends = submit_nodes(&order, (context, stream), &after);
            if ends.is_empty() { after } else { ends }
        }
        Work::Record(event) => {
            let at = Arc::new(OnceLock::new());
            let task = submit(Operation::Note(Arc::clone(&at)), &after);
            *event.state() = State::Recorded {
                task: Arc::clone(&task),
                at,
            };
            vec![task]
        }
        Work::Wait(event) => {
            if let State::Recorded { task, .. } = &*event.state() {
                after.push(Arc::clone(task));
            }
            after
        }
    }
}
