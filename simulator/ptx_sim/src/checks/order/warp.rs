//! Happens-before within a warp: what its lanes know.
//!
//! Lanes that know the same form a [`Group`]; mostly that is the whole warp. Where
//! some lanes synchronise and others do not, the warp has several, until its lanes
//! meet at a barrier.

use std::sync::Arc;

use super::in_block::Part;
use super::known::{Carried, Known, is_same, join_option};
use crate::lanes::FULL_MASK;
use crate::program::Scope;

/// A warp.
pub(crate) struct WarpOrder {
    warp: u32,
    /// The lanes that it began with.
    all: u32,
    /// Counts the points at which lanes publish what they did.
    pub clock: u32,
    groups: Vec<Group>,
}

/// Lanes that know the same.
#[derive(Clone)]
pub(crate) struct Group {
    pub lanes: u32,
    pub carried: Carried,
    /// By scope, the clock of each lane's last fence; 0 if that is in `carried`.
    fence_clocks: [u32; Scope::N],
}

impl Group {
    /// Whether both know the same.
    fn is_like(&self, other: &Self) -> bool {
        self.fence_clocks == other.fence_clocks
            && (self.carried.fenced.iter())
                .zip(&other.carried.fenced)
                .all(|(a, b)| is_same(a.as_ref(), b.as_ref()))
            && self.carried.now.own == other.carried.now.own
    }

    /// Whether both know the same, of other blocks as well.
    fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.carried, &other.carried);
        self.is_like(other)
            && is_same(a.pending.as_ref(), b.pending.as_ref())
            && a.now.others.is_same(&b.now.others)
            && a.pending_others.is_same(&b.pending_others)
            && a.pending_system.is_same(&b.pending_system)
    }
}

impl WarpOrder {
    /// A warp at the beginning of its block, with its lanes, which know nothing.
    pub fn new(warp: u32, all: u32, nothing: Arc<Known>) -> Self {
        let group = Group {
            lanes: u32::MAX,
            carried: Carried::new(nothing),
            fence_clocks: [0; Scope::N],
        };
        Self {
            warp,
            all,
            clock: 1,
            groups: vec![group],
        }
    }

    /// What lanes know, if all of them know the same.
    #[inline]
    pub fn known_by(&self, lanes: u32) -> Option<&Arc<Known>> {
        let knows = |group: &&Group| lanes & !group.lanes == 0;
        Some(&self.groups.iter().find(knows)?.carried.now)
    }

    /// Lanes that know the same, and what.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &Arc<Known>)> {
        let groups = self.groups.iter();
        groups.map(|group| (group.lanes, &group.carried.now))
    }

    /// The groups of some lanes, which become groups of their own.
    pub fn split(&mut self, lanes: u32) -> impl Iterator<Item = &mut Group> {
        for i in 0..self.groups.len() {
            let group = &mut self.groups[i];
            let (inside, outside) = (group.lanes & lanes, group.lanes & !lanes);
            if inside != 0 && outside != 0 {
                group.lanes = inside;
                let mut other = group.clone();
                other.lanes = outside;
                self.groups.push(other);
            }
        }
        let groups = self.groups.iter_mut();
        groups.filter(move |group| group.lanes & lanes != 0)
    }

    /// Lanes that have come to know the same are one group again.
    pub fn unite(&mut self) {
        let mut together: Vec<Group> = Vec::with_capacity(1);
        for group in self.groups.drain(..) {
            match together.iter_mut().find(|other| other.is_same(&group)) {
                Some(other) => other.lanes |= group.lanes,
                None => together.push(group),
            }
        }
        self.groups = together;
    }

    /// Whether some lanes know more than others.
    pub fn is_split(&self) -> bool {
        self.groups.len() > 1
    }

    pub fn tick(&mut self) {
        self.clock = self.clock.saturating_add(1);
    }

    /// Lanes carry out a fence.
    pub fn fence(&mut self, lanes: u32, scope: Scope) {
        let clock = self.clock;
        for group in self.split(lanes) {
            for i in 0..=scope as usize {
                group.carried.fenced[i] = Some(group.carried.now.clone());
                group.fence_clocks[i] = clock;
            }
        }
        self.tick();
    }

    /// What these lanes bring to others: what they did, and what they know.
    pub fn brings(&self, lanes: u32) -> Carried {
        let mut brought: Option<Carried> = None;
        for group in self.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let mut carried = group.carried.clone();
            carried.fenced = self.fenced_by(group, lanes);
            match &mut brought {
                Some(brought) => brought.join(&carried),
                None => brought = Some(carried),
            }
        }
        let mut brought = brought.unwrap_or_else(Carried::nothing);
        brought.now.cover(self.part(lanes, self.clock), self.all);
        brought
    }

    /// What all lanes know, if they know the same and have not fenced since they came to know it.
    fn simply_known(&mut self) -> Option<&mut Carried> {
        match &mut self.groups[..] {
            [group] if group.lanes == FULL_MASK && group.fence_clocks == [0; Scope::N] => {
                Some(&mut group.carried)
            }
            _ => None,
        }
    }

    /// All lanes meet each other; gives whether that was simple.
    pub fn meets_simply(&mut self) -> bool {
        let (part, all) = (self.part(FULL_MASK, self.clock), self.all);
        let Some(carried) = self.simply_known() else {
            return false;
        };
        carried.now.cover(part, all);
        self.tick();
        true
    }

    /// Brings what all lanes know and did to others who know this and brought what they did as
    /// well; gives whether that was simple.
    pub fn adds_simply(&mut self, known: &Arc<Known>, brought: &mut Carried) -> bool {
        let (part, all) = (self.part(FULL_MASK, self.clock), self.all);
        let is_simple = |own: &mut Carried| Arc::ptr_eq(&own.now, known) && own.is_only_now();
        if !self.simply_known().is_some_and(is_simple) {
            return false;
        }
        brought.now.cover(part, all);
        self.tick();
        true
    }

    /// What relaxed writes of these lanes publish, by scope.
    pub fn fenced(&self, lanes: u32) -> [Option<Arc<Known>>; Scope::N] {
        let mut all = [const { None }; Scope::N];
        for group in self.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let fenced = self.fenced_by(group, lanes);
            for (all, fenced) in all.iter_mut().zip(&fenced) {
                join_option(all, fenced.as_ref());
            }
        }
        all
    }

    /// Whether any lane has carried out a fence, or met one that did.
    pub fn has_fenced(&self) -> bool {
        self.groups.iter().any(|g| g.carried.fenced[0].is_some())
    }

    fn fenced_by(&self, group: &Group, lanes: u32) -> [Option<Arc<Known>>; Scope::N] {
        let before = &group.carried.fenced;
        let mut fenced = before.clone();
        let is_one = |i: usize, j: usize| {
            group.fence_clocks[i] == group.fence_clocks[j]
                && is_same(before[i].as_ref(), before[j].as_ref())
        };
        for i in 0..Scope::N {
            if i > 0 && is_one(i - 1, i) {
                // One fence made both.
                fenced[i] = fenced[i - 1].clone();
            } else if let Some(known) = &mut fenced[i]
                && group.fence_clocks[i] != 0
            {
                let part = self.part(lanes & group.lanes, group.fence_clocks[i]);
                known.cover(part, self.all);
            }
        }
        fenced
    }

    fn part(&self, lanes: u32, clock: u32) -> Part {
        Part {
            warp: self.warp,
            lanes,
            clock,
        }
    }

    /// Lanes know what was brought to them, themselves included.
    pub fn adopt(&mut self, lanes: u32, brought: Carried) {
        self.groups.retain_mut(|group| {
            group.lanes &= !lanes;
            // Lanes that have ended learn nothing more.
            group.lanes & self.all != 0
        });
        self.groups.insert(
            0,
            Group {
                lanes,
                carried: brought,
                fence_clocks: [0; Scope::N],
            },
        );
    }

    /// Lanes carry out a warp-wide instruction: what each knows of other warps, all
    /// know.
    pub fn share(&mut self, lanes: u32) {
        let warp = self.warp;
        if self.known_by(lanes).is_some() {
            return;
        }
        let mut all = Carried::nothing();
        for group in self.split(lanes) {
            all.now.join(&group.carried.now);
            all.join_pending(&group.carried);
        }
        for group in self.split(lanes) {
            let carried = &mut group.carried;
            let mut now = all.now.clone();
            Arc::make_mut(&mut now)
                .own
                .restore_warp(warp, &carried.now.own);
            carried.now = now;
            carried.join_pending(&all);
        }
        let mut together: Vec<Group> = Vec::new();
        for group in self.groups.drain(..) {
            let like = |other: &&mut Group| {
                (group.lanes & lanes != 0) && (other.lanes & lanes != 0) && group.is_like(other)
            };
            match together.iter_mut().find(like) {
                Some(other) => other.lanes |= group.lanes,
                None => together.push(group),
            }
        }
        self.groups = together;
    }
}
