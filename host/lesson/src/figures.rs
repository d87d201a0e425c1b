//! The figures measured of a kernel on a shape.

use crate::measure::{Side, Times, Timings};
use crate::shape::Work;
use lockstep::counts::Counts;
use serde::{Deserialize, Serialize};

/// The measurements of a case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Elements compared with the reference.
    pub n_checked: usize,
    /// Largest difference from the reference.
    pub max_abs_error: Option<f64>,
    /// Times of the kernel and of everything that alternated with it, on a GPU.
    pub timings: Timings,
    /// Bytes and operations of one launch.
    pub work: Option<Work>,
    /// Counts of one launch, from the simulator; not in files.
    #[serde(skip)]
    pub counts: Option<Counts>,
    /// Launches in order, without the timed ones.
    pub launches: Vec<LaunchRun>,
    /// The launch that [`Figures::counts`] are of, from 0.
    pub counted_launch: Option<usize>,
    /// Remarks, for people.
    pub notes: Vec<String>,
}

/// Consecutive launches of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRun {
    /// Its entry.
    pub entry: String,
    /// The number of launches.
    pub n: usize,
}

impl Figures {
    /// Records a launch. Returns its number, from 0.
    pub(crate) fn note_launch(&mut self, entry: &str) -> usize {
        let number = self.launches.iter().map(|run| run.n).sum();
        match self.launches.last_mut() {
            Some(run) if run.entry == entry => run.n += 1,
            _ => self.launches.push(LaunchRun {
                entry: entry.to_owned(),
                n: 1,
            }),
        }
        number
    }

    /// Times of the kernel.
    pub fn times(&self) -> Option<Times> {
        self.timings.of(Side::Kernel)
    }

    /// Times of a device-to-device copy that moves as many bytes.
    pub fn copy_times(&self) -> Option<Times> {
        self.timings.of(Side::Copy)
    }

    /// Times of the kernel's CUDA C++ baseline.
    pub fn baseline_times(&self) -> Option<Times> {
        self.timings.of(Side::Baseline)
    }
}
