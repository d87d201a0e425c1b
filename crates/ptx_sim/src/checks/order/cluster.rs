//! What threads of a cluster let each other know at its barrier.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::known::Known;
use super::others::Others;
use super::{BlockOrder, GridOrder};
use crate::checks::access::Lanes;
use crate::checks::shadow::Mix;
use crate::program::Scope;

/// By cluster, its barrier.
pub(super) type ClusterMeetings = HashMap<u64, Meeting, BuildHasherDefault<Mix>>;

/// The barrier of a cluster.
#[derive(Default)]
pub(super) struct Meeting {
    /// What has been brought to it since it opened last.
    brought: Brought,
    /// What was brought before that, for those that have yet to go on.
    opened: Brought,
}

/// What comes before those who go on.
#[derive(Clone, Default)]
struct Brought {
    now: Others,
    /// What came before a fence: a relaxed write publishes it.
    fenced: Others,
}

impl GridOrder {
    /// Lanes arrive at the barrier of their cluster.
    pub fn cluster_arrived(
        &mut self,
        block: &mut BlockOrder,
        lanes: Lanes,
        cluster: u64,
        releases: bool,
    ) {
        let place = block.place;
        let warp = &mut block.warps[lanes.warp as usize];
        if releases {
            let mut brings = warp.brings(lanes.mask);
            brings.count_pending(Scope::Device, place);
            let brought = &mut self.meetings.entry(cluster).or_default().brought;
            brought.now.join(&brings.now.for_others(place));
            if let [_, Some(fenced)] = &brings.fenced {
                brought.fenced.join(&fenced.for_others(place));
            }
        }
        warp.tick();
    }

    /// All have arrived.
    pub fn cluster_opened(&mut self, cluster: u64) {
        if let Some(meeting) = self.meetings.get_mut(&cluster) {
            meeting.opened = std::mem::take(&mut meeting.brought);
        }
    }

    /// Lanes go on behind the barrier.
    pub fn cluster_left(&mut self, block: &mut BlockOrder, lanes: Lanes, cluster: u64) {
        let Some(meeting) = self.meetings.get(&cluster) else {
            return;
        };
        let Brought { now, fenced } = &meeting.opened;
        let place = block.place;
        for group in block.warps[lanes.warp as usize].split(lanes.mask) {
            group.carried.now.join_others(now, place);
            if fenced.is_nothing() {
                continue;
            }
            for known in &mut group.carried.fenced {
                let known: &mut Arc<Known> = known.get_or_insert_with(Known::nothing);
                known.join_others(fenced, place);
            }
        }
    }
}
