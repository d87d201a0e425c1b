//! Happens-before sets: what comes before something, and what could be made to.

use std::sync::Arc;

use super::in_block::{InBlock, Part};
use super::others::{Depth, Others};
use crate::program::Scope;

/// A block of a launch, or of launches that run together.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub block: u64,
    pub depth: Depth,
    /// The device, of those that run together.
    pub device: u8,
}

/// The accesses that come before something.
#[derive(Clone)]
pub(crate) struct Known {
    /// Those of the same block.
    pub own: InBlock,
    /// Those of others.
    pub others: Others,
}

impl Known {
    pub fn nothing() -> Arc<Self> {
        Arc::new(Self {
            own: InBlock::nothing(),
            others: Others::default(),
        })
    }

    pub fn join(self: &mut Arc<Self>, other: &Arc<Self>) {
        if Arc::ptr_eq(self, other) {
            return;
        }
        let mine = Arc::make_mut(self);
        mine.own.join(&other.own);
        mine.others.join(&other.others);
    }

    /// Joins what was published for all blocks.
    pub fn join_others(self: &mut Arc<Self>, others: &Others, place: Place) {
        if others.is_nothing() {
            return;
        }
        let mine = Arc::make_mut(self);
        mine.others.join(others);
        if let Some(own) = others.get(place.depth, place.block) {
            mine.own.join(own);
        }
    }

    /// Lets lanes of a warp whose lanes are `all` come before, up to their clock.
    pub fn cover(self: &mut Arc<Self>, part: Part, all: u32) {
        let own = &mut Arc::make_mut(self).own;
        if all & !part.lanes == 0 {
            own.add_warp(part.warp, part.clock);
        } else if part.lanes != 0 {
            own.add_part(part);
        }
    }

    /// As other blocks see it.
    pub fn for_others(&self, place: Place) -> Others {
        let mut others = self.others.clone();
        others.join(&Others::of_block(
            place.depth,
            place.block,
            self.own.clone(),
        ));
        others
    }
}

/// What is handed on, by a barrier or a release.
#[derive(Clone)]
pub(crate) struct Carried {
    /// What comes before.
    pub now: Arc<Known>,
    /// By scope of the fence, what came before a fence: a relaxed write publishes it.
    pub fenced: [Option<Arc<Known>>; Scope::N],
    /// What relaxed reads have met of the same block: a fence makes it count…
    pub pending: Option<Arc<Known>>,
    /// …of all blocks: a fence for the whole device does…
    pub pending_others: Others,
    /// …and of all devices: a fence for the system does.
    pub pending_system: Others,
}

impl Carried {
    pub fn nothing() -> Self {
        Self::new(Known::nothing())
    }

    pub fn new(now: Arc<Known>) -> Self {
        Self {
            now,
            fenced: [const { None }; Scope::N],
            pending: None,
            pending_others: Others::default(),
            pending_system: Others::default(),
        }
    }

    /// Whether nothing is handed on but what comes before.
    pub fn is_only_now(&self) -> bool {
        self.fenced.iter().all(Option::is_none)
            && self.pending.is_none()
            && self.pending_others.is_nothing()
            && self.pending_system.is_nothing()
    }

    pub fn join(&mut self, other: &Self) {
        self.now.join(&other.now);
        for (mine, theirs) in self.fenced.iter_mut().zip(&other.fenced) {
            join_option(mine, theirs.as_ref());
        }
        self.join_pending(other);
    }

    pub fn join_pending(&mut self, other: &Self) {
        join_option(&mut self.pending, other.pending.as_ref());
        self.pending_others.join(&other.pending_others);
        self.pending_system.join(&other.pending_system);
    }

    /// What relaxed reads have met counts, as far as the scope reaches.
    pub fn count_pending(&mut self, scope: Scope, place: Place) {
        if let Some(pending) = self.pending.take() {
            self.now.join(&pending);
        }
        let mut counts = |others: &mut Others| {
            self.now.join_others(&std::mem::take(others), place);
        };
        if scope >= Scope::Device {
            counts(&mut self.pending_others);
        }
        if scope == Scope::System {
            counts(&mut self.pending_system);
        }
    }
}

/// Joins what may be absent.
pub(crate) fn join_option(mine: &mut Option<Arc<Known>>, theirs: Option<&Arc<Known>>) {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => mine.join(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}

/// Whether both are the same, not only equal.
pub(crate) fn is_same(a: Option<&Arc<Known>>, b: Option<&Arc<Known>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}
