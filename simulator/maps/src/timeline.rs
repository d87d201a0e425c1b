//! The timeline of a block: its warps' waits, and operations in flight meanwhile.
//!
//! The timeline's order is the one in which the simulator ran the events: a GPU could have
//! taken the same order, but it says nothing about how long anything takes.

use std::collections::{BTreeMap, BTreeSet};

use ptx_sim::trace::{Trace, TraceEvent, TraceKind};

/// A block's events by warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Steps: every event that is shown counts as one.
    pub n_steps: u32,
    /// By warp, in order; warps without visible events are left out.
    pub warps: Vec<Row>,
    /// Operations in flight that no single warp waits for: bulk copies, by their barrier.
    pub copies: Vec<Span>,
    /// Steps at which the phase of a barrier in memory ends, and its address.
    pub phases: Vec<(u32, u32)>,
    /// Whether the trace was longer than what is shown.
    pub is_cut: bool,
}

/// A warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number in the block.
    pub warp: u32,
    /// Its events.
    pub marks: Vec<Mark>,
    /// Its waits and its operations in flight.
    pub spans: Vec<Span>,
}

/// Something that a warp did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The step.
    pub step: u32,
    /// The kind of event.
    pub kind: MarkKind,
}

/// What a warp did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// Reached a barrier of the block or the cluster.
    Barrier,
    /// Worked on a barrier in memory: arrived, expected bytes, tested.
    Mbarrier,
    /// Closed a group of asynchronous copies.
    Commit,
    /// Waited for groups of asynchronous copies.
    Await,
    /// Started a bulk copy.
    Bulk,
    /// Issued a product of its warpgroup.
    Product,
    /// Waited for its products.
    ProductAwait,
}

/// Something that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first step.
    pub from: u32,
    /// The step after its last.
    pub to: u32,
    /// The kind of span.
    pub kind: SpanKind,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanKind {
    /// The warp waits at a barrier.
    Waiting,
    /// Its asynchronous copies are in flight.
    Copying,
    /// A bulk copy is in flight.
    BulkCopy,
    /// Its products are in flight.
    Multiplying,
}

impl MarkKind {
    /// All, in the order of the legend.
    pub const ALL: [Self; 7] = [
        Self::Barrier,
        Self::Mbarrier,
        Self::Commit,
        Self::Await,
        Self::Bulk,
        Self::Product,
        Self::ProductAwait,
    ];

    /// Its letter in text.
    pub fn letter(self) -> char {
        match self {
            Self::Barrier => '|',
            Self::Mbarrier => 'm',
            Self::Commit => 'c',
            Self::Await => 'w',
            Self::Bulk => 'b',
            Self::Product => 'p',
            Self::ProductAwait => 'W',
        }
    }

    /// Its meaning, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Barrier => "reaches a barrier",
            Self::Mbarrier => "arrives at, or tests, an mbarrier",
            Self::Commit => "commits copies (cp.async)",
            Self::Await => "waits for copies",
            Self::Bulk => "starts a bulk copy (TMA)",
            Self::Product => "issues wgmma",
            Self::ProductAwait => "waits for wgmma",
        }
    }
}

impl SpanKind {
    /// All, in the order of the legend.
    pub const ALL: [Self; 4] = [
        Self::Waiting,
        Self::Copying,
        Self::BulkCopy,
        Self::Multiplying,
    ];

    /// Its meaning, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Waiting => "waiting at a barrier",
            Self::Copying => "copies in flight (cp.async)",
            Self::BulkCopy => "bulk copies in flight (TMA)",
            Self::Multiplying => "wgmma in flight",
        }
    }
}

/// Most steps that are shown.
const MOST_STEPS: u32 = 400;

impl Timeline {
    /// The timeline of a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut line = Self {
            is_cut: trace.is_cut,
            ..Self::default()
        };
        let mut rows: BTreeMap<u32, Building> = BTreeMap::new();
        let mut copies = BTreeMap::new();
        for event in &trace.events {
            let Some(kind) = shown(trace, event) else {
                continue;
            };
            if line.n_steps >= MOST_STEPS {
                line.is_cut = true;
                break;
            }
            let step = line.n_steps;
            match &event.kind {
                TraceKind::Released { barrier } => {
                    for row in rows.values_mut() {
                        row.released(*barrier, step);
                    }
                }
                TraceKind::PhaseOver { barrier } => line.phases.push((step, *barrier)),
                TraceKind::BulkArrived { copy } | TraceKind::BulkDone { copy } => {
                    let from = copies.remove(copy);
                    line.copies.extend(from.map(|from| flight(from, step)));
                }
                TraceKind::BulkStarted { copy, .. } => {
                    copies.insert(*copy, step);
                    rows.entry(event.warp).or_default().add(event, kind, step);
                }
                _ => rows.entry(event.warp).or_default().add(event, kind, step),
            }
            line.n_steps += 1;
        }
        let end = line.n_steps;
        let left = copies.into_values();
        line.copies.extend(left.map(|from| flight(from, end)));
        line.copies.sort_by_key(|span| (span.from, span.to));
        line.warps = rows
            .into_iter()
            .map(|(warp, row)| row.end(warp, end))
            .collect();
        line
    }

    /// The kinds of marks and spans that occur, for a legend.
    pub fn kinds(&self) -> (BTreeSet<MarkKind>, BTreeSet<SpanKind>) {
        let marks = self.warps.iter().flat_map(|row| &row.marks);
        let spans = self.warps.iter().flat_map(|row| &row.spans);
        (
            marks.map(|mark| mark.kind).collect(),
            spans.chain(&self.copies).map(|span| span.kind).collect(),
        )
    }

    /// Whether there is more to see than barriers that all warps reach.
    pub fn has_more_than_barriers(&self) -> bool {
        let (marks, _) = self.kinds();
        marks.iter().any(|kind| *kind != MarkKind::Barrier)
    }

    /// What it shows, in a sentence.
    pub fn summary(&self) -> String {
        let cut = if self.is_cut {
            ", the first of them"
        } else {
            ""
        };
        format!(
            "{} events of {} warps in the simulator's order{cut}; it says nothing about time",
            self.n_steps,
            self.warps.len()
        )
    }
}

/// A bulk copy in flight.
fn flight(from: u32, to: u32) -> Span {
    let kind = SpanKind::BulkCopy;
    Span { from, to, kind }
}

/// The mark that shows an event; `None` if it is not shown.
fn shown(trace: &Trace, event: &TraceEvent) -> Option<MarkKind> {
    let is_mbarrier = || {
        let at = event.instruction? as usize;
        let opcode = &trace.instructions.get(at)?.opcode;
        opcode
            .starts_with("mbarrier.")
            .then_some(MarkKind::Mbarrier)
    };
    match event.kind {
        TraceKind::Access(_) => is_mbarrier(),
        TraceKind::Arrived { .. }
        | TraceKind::Released { .. }
        | TraceKind::ClusterArrived
        | TraceKind::ClusterLeft => Some(MarkKind::Barrier),
        TraceKind::CopiesCommitted => Some(MarkKind::Commit),
        TraceKind::CopiesAwaited { .. } => Some(MarkKind::Await),
        TraceKind::BulkStarted { .. }
        | TraceKind::BulkArrived { .. }
        | TraceKind::BulkDone { .. } => Some(MarkKind::Bulk),
        TraceKind::PhaseOver { .. } => Some(MarkKind::Mbarrier),
        TraceKind::ProductIssued | TraceKind::ProductsCommitted => Some(MarkKind::Product),
        TraceKind::ProductsAwaited { .. } => Some(MarkKind::ProductAwait),
        _ => None,
    }
}

/// A warp's row while its events come.
#[derive(Default)]
struct Building {
    marks: Vec<Mark>,
    spans: Vec<Span>,
    /// The step since which it waits, and the barrier; `None` for the cluster's.
    waiting: Option<(u32, Option<u32>)>,
    /// The steps since which its groups of copies are in flight, the oldest first.
    copies: Vec<u32>,
    /// The same for products, and the step since which products are not in a group.
    products: Vec<u32>,
    issued: Option<u32>,
}

impl Building {
    fn add(&mut self, event: &TraceEvent, kind: MarkKind, step: u32) {
        let is_left = matches!(event.kind, TraceKind::ClusterLeft);
        let is_commit = matches!(event.kind, TraceKind::ProductsCommitted);
        if !is_left && !is_commit {
            self.marks.push(Mark { step, kind });
        }
        match event.kind {
            TraceKind::Arrived {
                barrier,
                waits: true,
            } => self.waiting = Some((step, Some(barrier))),
            TraceKind::ClusterArrived => self.waiting = Some((step, None)),
            TraceKind::ClusterLeft => self.end_waiting(step),
            TraceKind::CopiesCommitted => self.copies.push(step),
            TraceKind::CopiesAwaited { n_left } => {
                self.close(SpanKind::Copying, n_left.unwrap_or(0), step);
            }
            TraceKind::ProductIssued => {
                self.issued.get_or_insert(step);
            }
            TraceKind::ProductsCommitted => self.products.extend(self.issued.take()),
            TraceKind::ProductsAwaited { n_left } => {
                self.close(SpanKind::Multiplying, n_left, step);
            }
            _ => {}
        }
    }

    fn released(&mut self, barrier: u32, step: u32) {
        if self.waiting.is_some_and(|(_, at)| at == Some(barrier)) {
            self.end_waiting(step);
        }
    }

    fn end_waiting(&mut self, step: u32) {
        if let Some((from, _)) = self.waiting.take() {
            let (to, kind) = (step, SpanKind::Waiting);
            self.spans.push(Span { from, to, kind });
        }
    }

    fn end(mut self, warp: u32, step: u32) -> Row {
        self.end_waiting(step);
        self.close(SpanKind::Copying, 0, step);
        self.close(SpanKind::Multiplying, 0, step);
        Row {
            warp,
            marks: self.marks,
            spans: self.spans,
        }
    }

    /// Ends the flight of all groups of copies or products but the youngest `n_left`.
    fn close(&mut self, kind: SpanKind, n_left: u32, to: u32) {
        let groups = match kind {
            SpanKind::Copying => &mut self.copies,
            _ => &mut self.products,
        };
        let n_over = groups.len().saturating_sub(n_left as usize);
        let over = groups.drain(..n_over);
        self.spans.extend(over.map(|from| Span { from, to, kind }));
    }
}
