//! A copy of all that a worker has in hand between two turns, to go on from there again.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use super::{Waited, Worker};
use crate::block::BlockRun;
use crate::checks::observer::Observer;
use crate::cluster::{Cluster, Member};
use crate::memory::kernel_heap;
use crate::schedule::Choices;

/// The state of the only worker of a launch, between two turns; not what is in global memory.
pub(crate) struct Kept {
    resident: Vec<(u64, BlockRun)>,
    taken: Range<u64>,
    ahead: Vec<u64>,
    choices: Option<Choices>,
    rounds: u32,
    waited: Waited,
    /// Of the launch: clusters taken, what was done besides waiting, fuel, lines printed, and
    /// what is allocated on the kernels' heap.
    next: u64,
    launch_progress: u64,
    launch_varied: u64,
    fuel: i64,
    n_printed: usize,
    heap: Option<kernel_heap::State>,
}

impl<O: Observer> Worker<'_, '_, O> {
    /// Keeps it.
    pub fn keep(&self) -> Kept {
        let context = self.work.context;
        Kept {
            resident: copies(&self.resident),
            taken: self.taken.clone(),
            ahead: self.ahead.clone(),
            choices: self.choices.clone(),
            rounds: self.rounds,
            waited: self.waited,
            next: self.work.next.load(Ordering::Relaxed),
            launch_progress: self.work.progress.load(Ordering::Relaxed),
            launch_varied: self.work.varied.load(Ordering::Relaxed),
            fuel: context.fuel.left(),
            n_printed: context.printed.len(),
            heap: context.heap.map(|heap| heap.save()),
        }
    }

    /// Makes it what it was.
    pub fn put_back(&mut self, kept: &Kept) {
        let context = self.work.context;
        self.resident = copies(&kept.resident);
        self.taken = kept.taken.clone();
        self.ahead.clone_from(&kept.ahead);
        self.choices.clone_from(&kept.choices);
        self.rounds = kept.rounds;
        self.waited = kept.waited;
        self.work.next.store(kept.next, Ordering::Relaxed);
        let (progress, varied) = (&self.work.progress, &self.work.varied);
        progress.store(kept.launch_progress, Ordering::Relaxed);
        varied.store(kept.launch_varied, Ordering::Relaxed);
        self.work.stop.store(false, Ordering::Relaxed);
        context.fuel.put_back(kept.fuel);
        context.printed.truncate(kept.n_printed);
        if let (Some(heap), Some(state)) = (context.heap, &kept.heap) {
            heap.restore(state);
        }
    }

    /// Everything that it does from now on depends on, but global memory.
    pub fn hash(&self, state: &mut impl Hasher) {
        for (number, block) in &self.resident {
            number.hash(state);
            block.hash(state);
        }
        (&self.taken, &self.ahead, &self.choices).hash(state);
        let waited = &self.waited;
        (self.rounds, waited.used, waited.progress).hash(state);
        (waited.repeated, waited.varied).hash(state);
        self.work.context.printed.len().hash(state);
    }
}

impl Kept {
    /// About how much memory it takes.
    pub fn n_bytes(&self) -> usize {
        let of_warps = |block: &BlockRun| -> usize {
            let frames = block.warps().iter().flat_map(|warp| &warp.frames);
            frames.map(|frame| frame.registers.bytes().len()).sum()
        };
        let blocks = self.resident.iter().map(|(_, block)| {
            of_warps(block) + block.shared().size_bytes() as usize + size_of::<BlockRun>()
        });
        blocks.sum::<usize>() + size_of::<Self>()
    }
}

/// Copies of blocks that share nothing with them.
fn copies(blocks: &[(u64, BlockRun)]) -> Vec<(u64, BlockRun)> {
    let copy = |(number, block): &(u64, BlockRun)| (*number, block.copy());
    let mut copies: Vec<(u64, BlockRun)> = blocks.iter().map(copy).collect();
    let mut done: Vec<(*const Cluster, Rc<Cluster>)> = Vec::new();
    for i in 0..copies.len() {
        let Some((cluster, rank)) = copies[i].1.cluster() else {
            continue;
        };
        let old = Rc::as_ptr(cluster);
        let known = done.iter().find(|(known, _)| *known == old);
        let new = match known {
            Some((_, new)) => new.clone(),
            None => {
                let new = Rc::new(copied(cluster, &copies));
                done.push((old, new.clone()));
                new
            }
        };
        copies[i].1.join(new, rank);
    }
    copies
}

/// A copy of a cluster of these blocks, of which some may have ended.
fn copied(cluster: &Cluster, blocks: &[(u64, BlockRun)]) -> Cluster {
    let of = |member: &Member| {
        let block = blocks.iter().find(|(number, _)| *number == member.number);
        block.map_or_else(
            || Member {
                number: member.number,
                shared: Rc::new((*member.shared).clone()),
                bulk: Rc::new((*member.bulk).clone()),
            },
            |(_, block)| block.member(),
        )
    };
    cluster.copy(cluster.members().iter().map(of).collect())
}
