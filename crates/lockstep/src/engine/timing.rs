//! Timing requests: what is timed, against what, and for how long at most.
//!
//! Everything here is data with device addresses, so that an engine can do the same work on copies
//! of the buffers ([`Timed::relocated`]): results from a cache that a previous run filled are not
//! results.

use super::library::{Library, LibraryCall};
use super::{BaselineModule, Engine, EngineError, Prepared};
use std::borrow::Cow;
use std::path::Path;

/// Device memory to be set to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size_bytes: u64,
    /// The value.
    pub value: u8,
}

/// Work to be timed on the device.
#[derive(Clone, Debug)]
pub enum Timed<'a> {
    /// These launches, one after the other.
    Launches(Cow<'a, [Prepared]>),
    /// The same launches, but of the entries' CUDA C++ baselines.
    Baselines(Cow<'a, [Prepared]>),
    /// A device-to-device copy.
    Copy {
        /// Address of the target.
        to: u64,
        /// Address of the source.
        from: u64,
        /// Bytes that are read, and written.
        size_bytes: u64,
    },
    /// Memory set to a value, one range after the other.
    Fills(Cow<'a, [Fill]>),
    /// A call of NVIDIA's library.
    Library(LibraryCall),
}

impl Timed<'_> {
    /// Every address it is given, with the number of bytes if known.
    pub fn addresses(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Launches(launches) | Self::Baselines(launches) => launches
                .iter()
                .flat_map(|launch| launch.params())
                .filter_map(|param| Some((param.address()?, 0)))
                .collect(),
            Self::Copy {
                to,
                from,
                size_bytes,
            } => vec![(*to, *size_bytes), (*from, *size_bytes)],
            Self::Fills(fills) => fills
                .iter()
                .map(|fill| (fill.address, fill.size_bytes))
                .collect(),
            Self::Library(call) => call.addresses().to_vec(),
        }
    }

    /// The same on other memory: `to` maps each address to its place there.
    ///
    /// # Errors
    ///
    /// As [`Prepared::relocated`].
    pub fn relocated(&self, to: &dyn Fn(u64) -> u64) -> Result<Timed<'static>, EngineError> {
        let launches_there = |launches: &[Prepared]| {
            let launches = launches.iter().map(|launch| launch.relocated(to));
            launches.collect::<Result<Vec<_>, _>>().map(Cow::Owned)
        };
        Ok(match self {
            Self::Launches(launches) => Timed::Launches(launches_there(launches)?),
            Self::Baselines(launches) => Timed::Baselines(launches_there(launches)?),
            &Self::Copy {
                to: target,
                from,
                size_bytes,
            } => Timed::Copy {
                to: to(target),
                from: to(from),
                size_bytes,
            },
            Self::Fills(fills) => Timed::Fills(
                fills
                    .iter()
                    .map(|fill| Fill {
                        address: to(fill.address),
                        ..*fill
                    })
                    .collect(),
            ),
            Self::Library(call) => Timed::Library(call.relocated(to)),
        })
    }
}

/// One of the things that are timed in turn.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    /// Done before each run, outside of its time.
    pub before: Vec<Timed<'a>>,
    /// What is timed.
    pub timed: Timed<'a>,
}

/// How often the contenders run, and on how much memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Number of runs wanted of each.
    pub n_runs: u32,
    /// Minimum number of runs of each, however long they take.
    pub fewest_runs: u32,
    /// Approximate limit for all runs together, in milliseconds.
    pub longest_ms: f32,
    /// Bytes that a run touches, if fewer than its buffers hold.
    pub touched_bytes: Option<u64>,
    /// If runs of the first contender take less than this many milliseconds, all are also timed in
    /// rows of many runs.
    pub row_below_ms: f32,
}

impl Conditions {
    /// How often to run a round, all contenders once, that takes this long.
    pub fn n_runs_of(&self, round_ms: f32) -> u32 {
        let fitting = (self.longest_ms / round_ms.max(1e-6)) as u32;
        fitting
            .min(self.n_runs)
            .max(self.fewest_runs.min(self.n_runs))
    }
}

/// An engine that times kernels, their baselines and libraries, and that can also run such work
/// once.
pub trait Timing: Engine {
    /// Times the contenders in turn (A A B B A A …, the second of each pair counts) with a clock on
    /// the device, so that drift affects all of them alike. They are warm when the clock starts,
    /// and use several sets of copies of their buffers, as far as that takes their data out of the
    /// cache. Afterwards the buffers hold what the last run left there. `None` from an engine whose
    /// time says nothing about the kernels.
    fn time(
        &self,
        contenders: &[Contender<'_>],
        conditions: &Conditions,
    ) -> Result<Option<Clocked>, EngineError> {
        let _ = (contenders, conditions);
        Ok(None)
    }

    /// Times one contender with the device to itself: after rests, and without pauses.
    /// `None` as in [`Timing::time`].
    fn time_alone(
        &self,
        contender: &Contender<'_>,
        conditions: &Conditions,
    ) -> Result<Option<Alone>, EngineError> {
        let _ = (contender, conditions);
        Ok(None)
    }

    /// Does the work once and waits for its end.
    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError>;

    /// Loads CUDA C++ baselines of the kernels, to be timed as [`Timed::Baselines`].
    fn load_baselines(&self, baselines: &[BaselineModule]) -> Result<(), EngineError> {
        let _ = baselines;
        Err(EngineError::BaselinesNeedGpu)
    }

    /// Whether a baseline of that entry is loaded.
    fn has_baseline(&self, entry: &str) -> bool {
        let _ = entry;
        false
    }

    /// Loads a library from this file, for [`Timed::Library`].
    fn load_library(&self, library: Library, file: &Path) -> Result<(), EngineError> {
        let _ = (library, file);
        Err(EngineError::BaselinesNeedGpu)
    }

    /// The version of the library, if it is loaded.
    fn library_version(&self, library: Library) -> Option<String> {
        let _ = library;
        None
    }

    /// How the library does the call, if it has a choice and the call was made.
    fn library_choice(&self, call: &LibraryCall) -> Option<String> {
        let _ = call;
        None
    }
}

/// How warm and how fast the device was, according to its sensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sensors {
    /// Clock of the SMs.
    pub sm_clock_mhz: Option<u32>,
    /// Clock of the memory.
    pub memory_clock_mhz: Option<u32>,
    /// Power that the board draws.
    pub power_w: Option<f64>,
    /// Temperature of the chip.
    pub temperature_c: Option<u32>,
}

/// The measured times.
#[derive(Clone, Debug, Default)]
pub struct Clocked {
    /// For each contender, the time of each run in milliseconds.
    pub runs_ms: Vec<Vec<f32>>,
    /// For each contender, the time per run of each row in milliseconds; empty if not requested.
    pub rows_ms: Vec<Vec<f32>>,
    /// Runs in a row.
    pub n_in_row: u32,
    /// Sets of buffers that the runs used in turn.
    pub n_sets: u32,
    /// Minimum number of bytes that a run touches.
    pub set_bytes: u64,
    /// Whether all sets together are so large that a run finds none of its own data in the
    /// second-level cache.
    pub out_of_cache: bool,
    /// Groups of runs that the device began before all of them were queued, so that their times may
    /// include some of the host's. Should be 0.
    pub n_late: u32,
    /// Read right after the last run.
    pub sensors: Option<Sensors>,
}

/// Measurements of one contender that had the device to itself.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// The time of each run shortly after a rest, in milliseconds.
    pub rested_ms: Vec<f32>,
    /// Runs without pauses, once power and clock had settled: the time per run of each group, in
    /// milliseconds.
    pub steady_ms: Vec<f32>,
    /// Power that the board drew meanwhile, from its energy counter.
    pub power_w: Option<f64>,
    /// Median clock of the SMs meanwhile.
    pub sm_clock_mhz: Option<u32>,
}

impl Alone {
    /// The better of two ways to do the same, separately for each state: power and clock are those
    /// of the one that is faster without pauses.
    #[must_use]
    pub fn better(mut self, mut other: Self) -> Self {
        if median(&other.rested_ms) < median(&self.rested_ms) {
            std::mem::swap(&mut self.rested_ms, &mut other.rested_ms);
        }
        if other.median_steady() < self.median_steady() {
            other.rested_ms = self.rested_ms;
            return other;
        }
        self
    }

    /// The median of the runs without pauses; infinite if there are none.
    pub fn median_steady(&self) -> f32 {
        median(&self.steady_ms)
    }
}

fn median(runs_ms: &[f32]) -> f32 {
    let mut sorted = runs_ms.to_vec();
    sorted.sort_by(f32::total_cmp);
    sorted
        .get(sorted.len() / 2)
        .copied()
        .unwrap_or(f32::INFINITY)
}

/// The number of sets of buffers after which one set of `set_bytes` has left a cache of
/// `cache_bytes` before it is used again, for this many contenders in turn; at least two, so that
/// no run follows itself on the same one. `None` if that takes more than `most` sets: the data is
/// small, and stays in the cache.
pub fn sets_out_of_cache(
    set_bytes: u64,
    cache_bytes: u64,
    n_contenders: u32,
    most: u32,
) -> Option<u32> {
    /// Total size of the sets, in caches.
    const CACHES: u64 = 4;
    let n_sets = (CACHES * cache_bytes).div_ceil(set_bytes.max(1));
    // With a common factor, a contender would use only some of the sets.
    let least = u64::from(most).clamp(1, 2);
    (n_sets.max(least)..=u64::from(most))
        .find(|&n_sets| gcd(n_sets, u64::from(n_contenders.max(1))) == 1)
        .map(|n_sets| n_sets as u32)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{Alone, Conditions, Fill, Timed, sets_out_of_cache};

    #[test]
    fn the_better_of_two_ways_is_found_in_each_state() {
        let alone = |rested, steady, watts| Alone {
            rested_ms: vec![rested],
            steady_ms: vec![steady],
            power_w: Some(watts),
            sm_clock_mhz: None,
        };
        let best = alone(1.0, 3.0, 700.0).better(alone(2.0, 2.5, 650.0));
        assert_eq!((best.rested_ms, best.steady_ms), (vec![1.0], vec![2.5]));
        assert_eq!(best.power_w, Some(650.0), "of the one without pauses");
    }

    #[test]
    fn sets_add_up_to_four_caches_and_every_contender_meets_each() {
        const MB: u64 = 1 << 20;
        // Large enough alone, but the previous run must use another.
        assert_eq!(sets_out_of_cache(200 * MB, 50 * MB, 3, 64), Some(2));
        assert_eq!(sets_out_of_cache(200 * MB, 50 * MB, 4, 64), Some(3));
        // No memory for another set.
        assert_eq!(sets_out_of_cache(200 * MB, 50 * MB, 4, 1), Some(1));
        // 4 × 50 MB in sets of 48 MB makes five.
        assert_eq!(sets_out_of_cache(48 * MB, 50 * MB, 3, 64), Some(5));
        // With five contenders, each would always use the same set: six.
        assert_eq!(sets_out_of_cache(48 * MB, 50 * MB, 5, 64), Some(6));
        // Too small to be worth it.
        assert_eq!(sets_out_of_cache(MB, 50 * MB, 3, 64), None);
        assert_eq!(sets_out_of_cache(0, 50 * MB, 3, 64), None);
        // One contender, no cache: no more than two.
        assert_eq!(sets_out_of_cache(100, 0, 1, 64), Some(2));
    }

    #[test]
    fn long_runs_are_fewer_but_never_fewer_than_asked() {
        let conditions = Conditions {
            n_runs: 100,
            fewest_runs: 30,
            longest_ms: 1000.0,
            touched_bytes: None,
            row_below_ms: 0.0,
        };
        assert_eq!(conditions.n_runs_of(0.1), 100);
        assert_eq!(conditions.n_runs_of(20.0), 50);
        assert_eq!(conditions.n_runs_of(5000.0), 30);
        assert_eq!(conditions.n_runs_of(0.0), 100);
        let few = Conditions {
            n_runs: 5,
            ..conditions
        };
        assert_eq!(few.n_runs_of(5000.0), 5);
    }

    #[test]
    fn work_moves_with_its_memory() {
        let there = |address| address + 1000;
        let fill = Fill {
            address: 1,
            size_bytes: 8,
            value: 3,
        };
        let moved = |work: Timed<'_>| work.relocated(&there).expect("it has no maps");
        let fills = moved(Timed::Fills([fill].as_slice().into()));
        assert_eq!(fills.addresses(), [(1001, 8)]);
        let copy = Timed::Copy {
            to: 5,
            from: 7,
            size_bytes: 4,
        };
        assert_eq!(copy.addresses(), [(5, 4), (7, 4)]);
        assert_eq!(moved(copy).addresses(), [(1005, 4), (1007, 4)]);
    }
}
