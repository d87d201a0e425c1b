//! The observer that counts instructions, keeps what is overwritten, and halts.

use std::collections::BTreeSet;

use super::assigned::Knowledge;
use super::here::{Here, Position};
use super::probe::{Probe, Touch, Touched};
use super::values::Moment;
use crate::checks::access::{BulkStart, Lanes, WarpAccess};
use crate::checks::exact::{Exact, Kind};
use crate::checks::finding::Finding;
use crate::checks::observer::{Events, Now, Observer};
use crate::checks::watch::Watch;
use crate::context::LaunchContext;
use crate::memory::journal::Journal;
use ptx::ir::Space;

/// Steps a launch.
pub(crate) struct Walk<'a> {
    launch: &'a LaunchContext<'a>,
    /// Instructions executed.
    pub time: u64,
    /// The time at which it halts.
    pub limit: u64,
    /// Where it was halted, once it is.
    pub here: Option<Here>,
    /// The instruction that is executed, where a probe looks.
    at: Position,
    /// What looks for a place, and from when on.
    probe: Option<(Box<dyn Probe>, u64)>,
    wants_accesses: bool,
    /// When the probe wanted to halt, during an instruction.
    pub hit: Option<u64>,
    /// Memory as it was when it was last kept.
    pub journal: Journal<'a>,
    /// The checks, if they look, and when they first found something.
    pub checks: Option<Box<Watch<'a, Exact<'a>>>>,
    pub found_at: Option<u64>,
    /// What they found.
    pub finding: Option<Finding>,
    /// What is known of functions.
    pub knowledge: Knowledge,
    /// Where barriers in memory were initialised: the block, and the address in its shared memory.
    pub barriers: BTreeSet<(u64, u64)>,
}

impl<'a> Walk<'a> {
    pub fn new(launch: &'a LaunchContext<'a>) -> Self {
        Self {
            launch,
            time: 0,
            limit: u64::MAX,
            here: None,
            at: Position::default(),
            probe: None,
            wants_accesses: false,
            hit: None,
            journal: Journal::new(launch.memory),
            checks: None,
            found_at: None,
            finding: None,
            knowledge: Knowledge::default(),
            barriers: BTreeSet::new(),
        }
    }

    /// Goes on from a time, up to another, and asks a probe from some time on.
    pub fn begin(&mut self, time: u64, limit: u64, probe: Option<(Box<dyn Probe>, u64)>) {
        self.time = time;
        self.limit = limit;
        self.here = None;
        self.hit = None;
        self.wants_accesses = probe.as_ref().is_some_and(|p| p.0.wants_accesses());
        self.probe = probe;
    }

    /// The probe, when the run has ended.
    pub fn take_probe(&mut self) -> Option<Box<dyn Probe>> {
        self.wants_accesses = false;
        Some(self.probe.take()?.0)
    }

    /// Whether it has halted the launch.
    pub fn has_halted(&self) -> bool {
        self.here.is_some()
    }

    #[inline(never)]
    fn admit_one(&mut self, now: &Now<'_>) -> u32 {
        let here = Here {
            block: now.block,
            warp: now.warp.index,
            frame: now.frame,
            function: now.function,
            ptx: now.ptx,
            lanes: now.lanes,
            active: now.active,
        };
        if let Some(checks) = &self.checks
            && self.found_at.is_none()
            && checks.has_finding()
        {
            self.found_at = Some(self.time);
        }
        let mut halts = self.time >= self.limit || self.hit.is_some();
        if !halts
            && let Some((probe, from)) = &mut self.probe
            && self.time >= *from
        {
            let moment = Moment::new(self.launch, &self.knowledge, self.time, now);
            halts = probe.step(&moment);
        }
        if halts {
            self.here = Some(here);
            return 0;
        }
        self.at = Position {
            function: here.function,
            instruction: here.ptx,
        };
        self.time += 1;
        1
    }

    fn touch(&mut self, instruction: u32, access: &WarpAccess<'_>, how: Touched) {
        let Some(time) = self.time.checked_sub(1) else {
            return;
        };
        if let Some((probe, from)) = &mut self.probe
            && time >= *from
            && probe.touch(&Touch::of_lanes((time, instruction, self.at), access, how))
        {
            self.hit.get_or_insert(time);
        }
    }

    fn touch_ranges(&mut self, instruction: u32, thread: Lanes, start: &BulkStart) {
        let Some(time) = self.time.checked_sub(1) else {
            return;
        };
        let Some((probe, from)) = &mut self.probe else {
            return;
        };
        if time < *from {
            return;
        }
        for (of, how) in [
            (&start.reads, Touched::Read),
            (&start.writes, Touched::Written),
        ] {
            let touch = Touch::of_copy((time, instruction, self.at), thread, start, of, how);
            if probe.touch(&touch) {
                self.hit.get_or_insert(time);
            }
        }
    }

    /// Whether the first and the last lane access the same allocation.
    fn is_in_one(&self, access: &WarpAccess<'_>) -> bool {
        let [first, last] = [0, 31].map(|lane| self.launch.memory.find(access.addresses[lane]));
        let [first, last] = [first, last].map(|found| found.map(|a| a.base));
        first == last
    }

    /// Keeps what lanes may be about to write.
    fn keep(&mut self, access: &WarpAccess<'_>) {
        if access.space != Space::Global || !Kind::of(access).writes {
            return;
        }
        let is_row = access.stride == Some(u64::from(access.bytes));
        if is_row && access.mask == u32::MAX && self.is_in_one(access) {
            return self.journal.keep(access.addresses[0], 32 * access.bytes);
        }
        for lane in crate::lanes::lanes(access.mask) {
            self.journal.keep(access.addresses[lane], access.bytes);
        }
    }
}

impl Observer for Walk<'_> {
    const QUICK: bool = false;
}

impl Events for Walk<'_> {
    fn inner(&mut self) -> Option<&mut dyn Events> {
        Some(self.checks.as_deref_mut()?)
    }

    #[inline(always)]
    fn admit(&mut self, now: &Now<'_>, n: u32) -> u32 {
        let is_plain = self.probe.is_none() && self.checks.is_none();
        if is_plain && self.time + u64::from(n) <= self.limit {
            self.time += u64::from(n);
            return n;
        }
        self.admit_one(now)
    }

    fn block(&mut self, _counter: u32, _mask: u32) {}

    fn guarded(&mut self, _instruction: u32, _mask: u32, _block_mask: u32) {}

    fn clock(&self) -> Option<u64> {
        Some(self.time)
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        self.keep(access);
        if self.wants_accesses {
            let kind = Kind::of(access);
            let how = match (kind.writes, access.class.is_atomic()) {
                (true, true) => Touched::Both,
                (true, false) => Touched::Written,
                (false, _) => Touched::Read,
            };
            self.touch(instruction, access, how);
        }
        if let Some(checks) = &mut self.checks {
            checks.access(instruction, access);
        }
    }

    fn barrier_initialised(&mut self, instruction: u32, lanes: Lanes, addresses: &[u64; 32]) {
        let of_lane = |lane: usize| (lanes.block, addresses[lane]);
        self.barriers
            .extend(crate::lanes::lanes(lanes.mask).map(of_lane));
        if let Some(checks) = &mut self.checks {
            checks.barrier_initialised(instruction, lanes, addresses);
        }
    }

    fn part(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if self.wants_accesses {
            self.touch(instruction, access, Touched::Read);
        }
        if let Some(checks) = &mut self.checks {
            checks.part(instruction, access);
        }
    }

    fn may_write(&mut self, access: &WarpAccess<'_>) {
        self.keep(access);
        if let Some(checks) = &mut self.checks {
            checks.may_write(access);
        }
    }

    fn bulk_started(&mut self, instruction: u32, thread: Lanes, start: BulkStart) {
        if start.writes.space == Space::Global {
            for range in &start.writes.ranges {
                let n_bytes = (range.end - range.start) as u32;
                self.journal.keep(range.start, n_bytes);
            }
        }
        if self.wants_accesses {
            self.touch_ranges(instruction, thread, &start);
        }
        if let Some(checks) = &mut self.checks {
            checks.bulk_started(instruction, thread, start);
        }
    }

    fn follows(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.follows())
    }

    fn take_finding(&mut self, end: bool) -> Option<Finding> {
        // What a halted launch has not done yet is not missing.
        if self.here.is_some() {
            return None;
        }
        let found = self.checks.as_mut()?.take_finding(end);
        self.finding = self.finding.or(found);
        found
    }
}
