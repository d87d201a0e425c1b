//! The ways to run a launch, how long to measure it, and what that gives.

use lesson::measure::Times;
use std::time::{Duration, Instant};

/// A way to run a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// One core, with counters: the figure that is quoted.
    Counted,
    /// One core, without counters.
    Bare,
    /// All cores, with counters.
    AllCores,
    /// All cores, with every check.
    Checked,
}

impl Mode {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 4] = [Self::Counted, Self::Bare, Self::AllCores, Self::Checked];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Bare => "bare",
            Self::AllCores => "all_cores",
            Self::Checked => "checked",
        }
    }

    /// As a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Counted => "counters",
            Self::Bare => "no counters",
            Self::AllCores => "all cores",
            Self::Checked => "checks",
        }
    }

    /// How ptx_sim is told.
    pub fn options(self) -> ptx_sim::LaunchOptions {
        ptx_sim::LaunchOptions {
            count: self != Self::Bare,
            threads: (!matches!(self, Self::AllCores | Self::Checked)).then_some(1),
            check: self == Self::Checked,
            ..ptx_sim::LaunchOptions::default()
        }
    }
}

/// How long to measure one launch: whole rounds, each of all modes.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// No round begins after this.
    pub time: Duration,
    /// But there are so many.
    pub fewest: usize,
    /// And no more than so many.
    pub most: usize,
    /// Which modes, in the order of [`Mode::ALL`].
    pub modes: [bool; 4],
}

impl Patience {
    /// Whether a mode is measured.
    pub fn wants(&self, mode: Mode) -> bool {
        self.modes[mode as usize]
    }

    /// Calls `round` until there are enough; gives how often.
    pub fn rounds<E>(&self, mut round: impl FnMut() -> Result<(), E>) -> Result<usize, E> {
        let started = Instant::now();
        let mut n = 0;
        while n < self.fewest || (n < self.most && started.elapsed() < self.time) {
            round()?;
            n += 1;
        }
        Ok(n)
    }
}

/// What was measured of one launch, or of one kernel's launches together.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Instructions, counted for each lane that carries them out.
    pub thread_instructions: u64,
    /// Times by mode, in the order of [`Mode::ALL`]; where there are several
    /// launches, the sums of their figures.
    pub times: [Option<Times>; 4],
}

impl Measured {
    /// Of one launch: its runs in milliseconds, by mode.
    pub fn of(thread_instructions: u64, runs_ms: &[Vec<f32>; 4]) -> Self {
        Self {
            thread_instructions,
            times: std::array::from_fn(|mode| Times::of(&runs_ms[mode])),
        }
    }

    /// With another launch's.
    pub fn add(&mut self, other: &Self) {
        self.thread_instructions += other.thread_instructions;
        for (mine, theirs) in self.times.iter_mut().zip(other.times) {
            *mine = match (*mine, theirs) {
                (Some(a), Some(b)) => Some(Times {
                    median_ms: a.median_ms + b.median_ms,
                    min_ms: a.min_ms + b.min_ms,
                    max_ms: a.max_ms + b.max_ms,
                    p10_ms: a.p10_ms + b.p10_ms,
                    q1_ms: a.q1_ms + b.q1_ms,
                    q3_ms: a.q3_ms + b.q3_ms,
                    p90_ms: a.p90_ms + b.p90_ms,
                    n_runs: a.n_runs.min(b.n_runs),
                }),
                (a, b) => a.or(b),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Patience;
    use std::time::Duration;

    #[test]
    fn rounds_end_by_number_or_by_time() {
        let rounds = |time, fewest, most| {
            let patience = Patience {
                time: Duration::from_millis(time),
                fewest,
                most,
                modes: [true; 4],
            };
            patience
                .rounds(|| Ok::<(), ()>(()))
                .expect("no round fails")
        };
        assert_eq!(rounds(0, 3, 9), 3);
        assert_eq!(rounds(60_000, 3, 9), 9);
    }
}
