//! The simulator's speed: thread-instructions per second, kernel by kernel.
//!
//! Every kernel of the catalogue runs its own lesson, and every launch is repeated in several
//! [`Mode`]s that alternate, so that drift affects all modes alike. Small loops
//! of one kind of instruction each ([`LOOPS`]) show the cost of the parts.
//!
//! Figures are the best of several runs, with the median: on a machine that also
//! does other things, the best is what can be reproduced.
//!
//! Left out: what a lesson does around its launches (inputs, references).

pub mod report;

use cuda_std::launch::ParamValue;
use lesson::{Effort, Registered};
use lockstep::engine::sim::Sim;
use lockstep::engine::{
    Buffer, Engine, EngineError, EngineKind, LaunchConfig, Observe, Prepared, PtxModule,
};
use ptx_sim::LaunchOptions;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A way to run a launch; in results by its name in snake case.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
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

    /// The column's heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Counted => "counters",
            Self::Bare => "no counters",
            Self::AllCores => "all cores",
            Self::Checked => "checks",
        }
    }

    fn options(self) -> LaunchOptions {
        LaunchOptions {
            count: self != Self::Bare,
            threads: (!matches!(self, Self::AllCores | Self::Checked)).then_some(1),
            check: self == Self::Checked,
            ..LaunchOptions::default()
        }
    }
}

/// How to measure each launch: in these modes, at least this many times each, and until
/// this time is over.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The modes.
    pub modes: Vec<Mode>,
    /// Minimum rounds of all modes.
    pub fewest: usize,
    /// After this, no round begins, except to reach the minimum.
    pub time: Duration,
}

/// Measurements of all launches of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Instructions, counted for each lane that executes them.
    pub thread_instructions: u64,
    /// Seconds of the fastest run and of the median one by mode, the sums of all launches.
    pub seconds: BTreeMap<Mode, [f64; 2]>,
}

impl Measured {
    fn add(&mut self, thread_instructions: u64, runs: BTreeMap<Mode, Vec<f64>>) {
        self.thread_instructions += thread_instructions;
        for (mode, mut runs) in runs {
            runs.sort_by(f64::total_cmp);
            let sums = self.seconds.entry(mode).or_default();
            sums[0] += runs[0];
            sums[1] += runs[runs.len() / 2];
        }
    }
}

/// The result of `work`, which launches on `sim`, and the time of its launches. Each one is
/// repeated on the memory that it found; then it runs once more, as it would anyway.
fn timed<T>(sim: &Sim, patience: &Patience, work: impl FnOnce() -> T) -> (T, Measured) {
    let total = Rc::new(RefCell::new(Measured::default()));
    let (sum, patience) = (total.clone(), patience.clone());
    sim.launch_by(Some(Rc::new(move |sim, launch| {
        repeat(sim, launch, &patience, &mut sum.borrow_mut())?;
        sim.launch_with(launch, LaunchOptions::default()).map(drop)
    })));
    let result = work();
    sim.launch_by(None);
    (result, total.take())
}

fn repeat(
    sim: &Sim,
    launch: &Prepared,
    patience: &Patience,
    sum: &mut Measured,
) -> Result<(), EngineError> {
    let memory = sim.memory()?;
    let restore = || {
        let mut contents = memory.iter();
        contents.try_for_each(|(address, bytes)| sim.write(*address, bytes))
    };
    let mut runs: BTreeMap<Mode, Vec<f64>> = BTreeMap::new();
    let mut thread_instructions = 0;
    let (started, mut n_rounds) = (Instant::now(), 0);
    while n_rounds < patience.fewest || started.elapsed() < patience.time {
        for &mode in &patience.modes {
            restore()?;
            let report = sim.launch_with(launch, mode.options())?;
            runs.entry(mode)
                .or_default()
                .push(report.elapsed.as_secs_f64());
            thread_instructions = thread_instructions.max(report.counts.thread_instructions);
        }
        n_rounds += 1;
    }
    sum.add(thread_instructions, runs);
    restore()
}

/// Runs a kernel's lesson on its sample shape.
///
/// # Errors
///
/// The lesson has no such shape, or the kernel's result is wrong.
pub fn measure(
    sim: &Sim,
    registered: Registered,
    patience: &Patience,
) -> Result<(String, Measured), String> {
    let shapes = (registered.lesson.shapes)(EngineKind::Sim, Effort::Sample);
    let shape = shapes
        .iter()
        .find(|shape| !shape.is_sweep())
        .ok_or("its lesson has no shape to sample")?;
    let (ran, measured) = timed(sim, patience, || {
        (registered.kernel.run)(&mut registered.trial(sim, shape, None))
    });
    ran.map_err(|error| error.to_string())?;
    Ok((shape.to_string(), measured))
}

/// A small loop: its entry, what one round does, and the number of rounds.
pub type Loop = (&'static str, &'static str, u32);

/// All of them.
pub const LOOPS: &[Loop] = &[
    ("arithmetic", "integer and floating-point arithmetic", 4000),
    ("shared_memory", "a store and a load of shared memory", 2000),
    ("global_memory", "a load and a store of global memory", 2000),
    ("divergence", "a branch on which lanes disagree", 1000),
    ("shuffle", "a warp shuffle", 2000),
    ("tensor_core", "a 16×8×16 product of f16", 200),
    (SMALL, "a sum of products, in one block of 128 threads", 1),
];

/// The loop that is a launch of one small block: what matters is how long one takes.
pub const SMALL: &str = "small_launch";

/// Runs a loop, in enough blocks for several cores (but for [`SMALL`]).
///
/// # Errors
///
/// It did not run to its end.
pub fn measure_loop(
    (entry, _, n_rounds): Loop,
    patience: &Patience,
) -> Result<Measured, EngineError> {
    let (n_blocks, block) = if entry == SMALL { (1, 128) } else { (8, 256) };
    let loops = PtxModule::of_text("small loops", include_str!("loops.ptx").to_owned());
    let sim = Sim::new(vec![loops]);
    let data = Buffer::of(&sim, "data", &vec![0_u32; (n_blocks * block) as usize])?;
    let params = vec![
        ParamValue::new(data.address().to_le_bytes()),
        ParamValue::new(n_rounds.to_le_bytes()),
    ];
    let config = LaunchConfig::new([n_blocks, 1, 1], [block, 1, 1]);
    // SAFETY: the entries take an address of one word for each thread, and a number.
    let launch = unsafe { Prepared::by_name(entry, config, params) }?;
    let (ran, measured) = timed(&sim, patience, || sim.launch(&launch, Observe::Nothing));
    ran.map(|_| measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_has_a_shape_to_sample() {
        for lesson in host::registry::LESSONS {
            let shapes = (lesson.shapes)(EngineKind::Sim, Effort::Sample);
            assert!(
                shapes.iter().any(|shape| !shape.is_sweep()),
                "{}",
                lesson.id
            );
        }
    }

    #[test]
    fn every_loop_runs_in_every_mode_as_often_as_is_said() {
        let patience = Patience {
            modes: Mode::ALL.to_vec(),
            fewest: 1,
            time: Duration::ZERO,
        };
        for (entry, what, _) in LOOPS {
            let three_rounds = measure_loop((entry, what, 3), &patience).expect("it runs");
            let four_rounds = measure_loop((entry, what, 4), &patience).expect("it runs");
            assert!(
                four_rounds.thread_instructions > three_rounds.thread_instructions,
                "{entry}"
            );
            assert!(Mode::ALL.iter().eq(three_rounds.seconds.keys()), "{entry}");
        }
    }
}
