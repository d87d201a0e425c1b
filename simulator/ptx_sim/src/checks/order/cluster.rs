//! The order that a cluster's barrier makes between its threads.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::known::{Known, Place};
use super::others::Others;
use super::warp::WarpOrder;
use crate::checks::shadow::Mix;
use crate::program::Scope;

/// By cluster, its barrier.
#[derive(Default)]
pub(super) struct ClusterMeetings(HashMap<u64, Meeting, BuildHasherDefault<Mix>>);

/// The barrier of a cluster.
#[derive(Default)]
struct Meeting {
    /// What has been brought to it since it opened last.
    brought: Brought,
    /// What was brought before that, for those that have yet to go on.
    opened: Brought,
}

/// What comes before the threads that go on.
#[derive(Clone, Default)]
struct Brought {
    now: Others,
    /// What came before a fence, for the device or the system: a relaxed write publishes it.
    fenced: [Others; 2],
}

impl ClusterMeetings {
    /// Lanes of a warp arrive at the barrier of their cluster.
    pub fn arrived(
        &mut self,
        cluster: u64,
        (warp, place): (&mut WarpOrder, Place),
        lanes: u32,
        releases: bool,
    ) {
        if releases {
            let mut brings = warp.brings(lanes);
            brings.count_pending(Scope::System, place);
            let brought = &mut self.0.entry(cluster).or_default().brought;
            brought.now.join(&brings.now.for_others(place));
            for (brought, fenced) in brought.fenced.iter_mut().zip(&brings.fenced[1..]) {
                if let Some(fenced) = fenced {
                    brought.join(&fenced.for_others(place));
                }
            }
        }
        warp.tick();
    }

    /// All have arrived.
    pub fn opened(&mut self, cluster: u64) {
        if let Some(meeting) = self.0.get_mut(&cluster) {
            meeting.opened = std::mem::take(&mut meeting.brought);
        }
    }

    /// No more threads will come.
    pub fn ended(&mut self, cluster: u64) {
        self.0.remove(&cluster);
    }

    /// Lanes of a warp go on after the barrier.
    pub fn left(&self, cluster: u64, (warp, place): (&mut WarpOrder, Place), lanes: u32) {
        let Some(meeting) = self.0.get(&cluster) else {
            return;
        };
        let Brought { now, fenced } = &meeting.opened;
        for group in warp.split(lanes) {
            group.carried.now.join_others(now, place);
            let [device, system] = fenced;
            for (known, fenced) in group
                .carried
                .fenced
                .iter_mut()
                .zip([device, device, system])
            {
                if fenced.is_nothing() {
                    continue;
                }
                let known: &mut Arc<Known> = known.get_or_insert_with(Known::nothing);
                known.join_others(fenced, place);
            }
        }
    }
}
