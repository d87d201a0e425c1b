//! The timing of kernels.

use crate::copies::CopyKernel;
use lockstep::engine::Conditions;

/// How cases are timed.
#[derive(Clone, Copy, Debug)]
pub struct Clocking {
    /// Numbers of runs, and limits on their time.
    pub conditions: Conditions,
    /// The kernel that copies best, if it, libraries and clearing are timed too.
    pub yardstick: Option<CopyKernel>,
    /// Whether the kernel and the libraries that it is compared with are also timed each with the
    /// device to itself.
    pub is_alone: bool,
}

impl Clocking {
    /// For a run in which results matter: a hundred runs, fewer if they are long.
    pub const BRIEF: Self = Self {
        conditions: Conditions {
            n_runs: 100,
            fewest_runs: 10,
            longest_ms: 2000.0,
            touched_bytes: None,
            row_below_ms: 0.0,
        },
        yardstick: None,
        is_alone: false,
    };

    /// For a run in which times matter: at least thirty runs, or as many as requested,
    /// alternating with everything that there is to compare with.
    pub const fn thorough(n_runs: u32, yardstick: CopyKernel) -> Self {
        Self {
            conditions: Conditions {
                n_runs,
                fewest_runs: 30,
                longest_ms: 3000.0,
                touched_bytes: None,
                row_below_ms: 0.0,
            },
            yardstick: Some(yardstick),
            is_alone: false,
        }
    }

    /// The same, and launches of less than `ms` milliseconds are also timed many times
    /// in a row.
    #[must_use]
    pub const fn with_rows_below(self, ms: f32) -> Self {
        Self {
            conditions: Conditions {
                row_below_ms: ms,
                ..self.conditions
            },
            ..self
        }
    }
}
