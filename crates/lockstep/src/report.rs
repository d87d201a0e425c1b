//! A launch's report: counts and lines on the simulator, time on a GPU.

use crate::counts::{Counts, InstructionCounts, Metric, bank_conflicts};
use crate::engine::{Place, PtxModule};
use crate::lines::{self, Line};
use std::cmp::Reverse;
use std::fmt::{Display, Write};
use std::ops::RangeToInclusive;

/// What a launch cost.
///
/// The `expect` functions are for tests. Each makes one claim, and panics with the source lines
/// that break it:
///
/// ```no_run
/// # let report: lockstep::Report = unimplemented!();
/// report.expect_bank_conflicts(0);
/// report.expect_sectors_per_load(4.0);
/// report.expect_sectors_per_store(..=4.5);
/// report.expect_no_race();
/// ```
///
/// Left out: how long a kernel would take. Requests, wavefronts and sectors are work that hardware
/// counters count as well; only a GPU can say how much time it takes.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) place: Place,
    pub(crate) file: &'static str,
    pub(crate) module: PtxModule,
    pub(crate) counted: Option<ptx_sim::Report>,
    pub(crate) time_ms: Option<f32>,
    pub(crate) is_checked: bool,
}

/// The work that an expectation is about, to name the lines that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Conflicts,
    GlobalLoads,
    GlobalStores,
    Local,
}

/// What a count must be, in a test: exactly a number, or at most one, as `..=8`.
#[diagnostic::on_unimplemented(
    message = "a claim is a number or `..=number`, of type `{N}`",
    label = "not a number of type `{N}`, nor `..=number`",
    note = "of sectors it has a decimal point: `4.0`, `..=4.5`; of bank conflicts none: `0`, `..=8`"
)]
pub trait Expected<N> {
    /// Whether it is so.
    fn holds(&self, counted: N) -> bool;

    /// `8`, or `at most 8`.
    fn in_words(&self) -> String;
}

impl<N: PartialEq + Display> Expected<N> for N {
    fn holds(&self, counted: N) -> bool {
        *self == counted
    }

    fn in_words(&self) -> String {
        self.to_string()
    }
}

impl<N: PartialOrd + Display> Expected<N> for RangeToInclusive<N> {
    fn holds(&self, counted: N) -> bool {
        counted <= self.end
    }

    fn in_words(&self) -> String {
        format!("at most {}", self.end)
    }
}

impl Report {
    /// Which kernel was launched, and how.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The file with the kernel, by its path from the workspace's root.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The module that has the kernel.
    pub fn module(&self) -> &PtxModule {
        &self.module
    }

    /// Totals of its memory work; `None` from a GPU, where only a profiler can count.
    pub fn counts(&self) -> Option<&Counts> {
        self.counted.as_ref().map(|report| &report.counts)
    }

    /// The same for each instruction, in PTX order; empty from a GPU.
    pub fn instructions(&self) -> Vec<InstructionCounts> {
        self.counted
            .as_ref()
            .map(ptx_sim::Report::instructions)
            .unwrap_or_default()
    }

    /// The same for each source line that accesses memory, the most work first; empty from
    /// a GPU and without line tables.
    pub fn lines(&self) -> Vec<Line> {
        lines::of(&self.instructions(), self.file, self.module.sources())
    }

    /// The simulator's own report; `None` from a GPU.
    pub fn simulated(&self) -> Option<&ptx_sim::Report> {
        self.counted.as_ref()
    }

    /// What its threads printed, one entry per call; empty from a GPU, where it goes to standard
    /// output. So does what a launch printed before it failed.
    pub fn printed(&self) -> &[String] {
        self.counted
            .as_ref()
            .map_or(&[], |report| report.printed.as_slice())
    }

    /// Milliseconds that it took on a GPU, between two events; `None` from the simulator, whose
    /// time says nothing about the kernel.
    pub fn time_ms(&self) -> Option<f32> {
        self.time_ms
    }

    /// Panics unless shared memory had this many bank conflicts, or with `..=n` at most as many:
    /// passes through its banks beyond those that the bytes need, over all loads, stores, atomics
    /// and copies.
    ///
    /// # Panics
    ///
    /// There were more or fewer, or the launch was not counted.
    #[track_caller]
    pub fn expect_bank_conflicts(&self, n: impl Expected<u64>) {
        let counted = bank_conflicts(self.counted("bank conflicts"));
        if !n.holds(counted) {
            let numbers = (n.in_words(), counted.to_string());
            self.fail("bank conflicts", numbers, Work::Conflicts, |_| false);
        }
    }

    /// Panics unless a warp's load from global memory takes this many 32-byte sectors on average,
    /// or with `..=n` at most as many. 4 is best for 32 lanes of 4 bytes.
    ///
    /// # Panics
    ///
    /// It takes more or fewer, nothing was loaded, or the launch was not counted.
    #[track_caller]
    pub fn expect_sectors_per_load(&self, n: impl Expected<f64>) {
        self.expect_of(Metric::GlobalLoadSectorsPerRequest, n, Work::GlobalLoads);
    }

    /// The same for stores.
    ///
    /// # Panics
    ///
    /// As [`Report::expect_sectors_per_load`].
    #[track_caller]
    pub fn expect_sectors_per_store(&self, n: impl Expected<f64>) {
        self.expect_of(Metric::GlobalStoreSectorsPerRequest, n, Work::GlobalStores);
    }

    /// Panics if threads keep anything in local memory, where spilled registers and arrays with
    /// computed indices end up.
    ///
    /// # Panics
    ///
    /// They do, or the launch was not counted.
    #[track_caller]
    pub fn expect_no_local_memory(&self) {
        let counts = self.counted("sectors of local memory");
        let sectors = counts.local_load_sectors + counts.local_store_sectors;
        if sectors != 0 {
            let numbers = ("0".to_owned(), sectors.to_string());
            self.fail("sectors of local memory", numbers, Work::Local, |_| false);
        }
    }

    /// Panics unless the launch was checked for races. A launch with a race does not get this far:
    /// it is an error of [`Module::launch`](crate::Module::launch), which names both accesses.
    ///
    /// # Panics
    ///
    /// The launch was not checked.
    #[track_caller]
    pub fn expect_no_race(&self) {
        assert!(
            self.is_checked,
            "{}: not checked for races; open the device with \
             `Device::simulator_with(Simulator {{ check: true, ..Simulator::default() }})`",
            self.place
        );
    }

    #[track_caller]
    fn expect_of(&self, metric: Metric, n: impl Expected<f64>, work: Work) {
        match metric.of(self.counted(&metric.to_string())) {
            // A quotient of whole numbers below 2^53 is exact if `n` is.
            Some(value) if n.holds(value) => {}
            Some(value) => {
                let numbers = (n.in_words(), rounded(value));
                self.fail(&metric.to_string(), numbers, work, |line| n.holds(line));
            }
            None => panic!(
                "{}: expected {} {metric}, but there was no request",
                self.place,
                n.in_words()
            ),
        }
    }

    #[track_caller]
    fn counted(&self, what: &str) -> &Counts {
        self.counts().unwrap_or_else(|| {
            panic!(
                "{}: {what} are counted only on the simulator; open this test's device with \
                 `Device::simulator()`",
                self.place
            )
        })
    }

    /// Panics, and names the lines.
    #[track_caller]
    fn fail(
        &self,
        what: &str,
        (expected, counted): (String, String),
        work: Work,
        is_fine: impl Fn(f64) -> bool,
    ) -> ! {
        let mut message = format!(
            "{}: expected {expected} {what}, counted {counted}",
            self.place
        );
        let lines = self.lines();
        for (line, Does { words, .. }) in offending(&lines, work, is_fine) {
            // Writing to a string never fails.
            let _ = write!(message, "\n  {line}\n      {words}");
        }
        panic!("{message}");
    }
}

fn plural(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The lines that do some work: first those whose own average is not fine either, and of these those
/// that do most.
fn offending(lines: &[Line], work: Work, is_fine: impl Fn(f64) -> bool) -> Vec<(&Line, Does)> {
    let does = |line| Some((line, work.of(line)?));
    let mut offending: Vec<_> = lines.iter().filter_map(does).collect();
    offending.sort_by_key(|(_, does)| (is_fine(does.average), Reverse(does.n)));
    offending
}

/// With as many decimals as tell something.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How much of some work a line does: in all, for each request, and in words.
struct Does {
    n: u64,
    average: f64,
    words: String,
}

impl Work {
    /// How much of it a line does; `None` if it does none.
    fn of(self, line: &Line) -> Option<Does> {
        let per_request = |sectors: u64, requests: u64| {
            let average = sectors as f64 / requests as f64;
            let (all, by) = (plural(sectors, "sector"), plural(requests, "request"));
            let words = format!("{all} in {by}, {average:.2} each");
            let does = Does {
                n: sectors,
                average,
                words,
            };
            (requests != 0).then_some(does)
        };
        match self {
            Self::Conflicts => (line.conflicts != 0).then(|| {
                let words = format!(
                    "{} in {}, {}-way at worst",
                    plural(line.conflicts, "conflict"),
                    plural(line.shared_requests, "request"),
                    line.ways
                );
                Does {
                    n: line.conflicts,
                    average: line.conflicts as f64 / line.shared_requests as f64,
                    words,
                }
            }),
            Self::GlobalLoads => per_request(line.load_sectors, line.load_requests),
            Self::GlobalStores => per_request(line.store_sectors, line.store_requests),
            Self::Local => (line.local_sectors != 0).then(|| Does {
                n: line.local_sectors,
                average: line.local_sectors as f64,
                words: plural(line.local_sectors, "sector"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_fine_by_themselves_come_last() {
        let stores = |line, store_requests, store_sectors| Line {
            line,
            store_requests,
            store_sectors,
            ..Line::default()
        };
        let lines = [stores(1, 2048, 32768), stores(2, 1, 1), stores(3, 512, 512)];
        let found = offending(&lines, Work::GlobalStores, |average| average == 16.0);
        let numbers: Vec<u32> = found.iter().map(|(line, _)| line.line).collect();
        assert_eq!(numbers, [3, 2, 1]);
    }

    #[test]
    fn averages_have_few_decimals() {
        assert_eq!(rounded(11.006514657980455), "11.007");
        assert_eq!((rounded(4.0), rounded(2.5)), ("4".into(), "2.5".into()));
    }
}
