//! Launches, recorded while a program runs.

use super::{LaunchConfig, Prepared};
use crate::counts::{Counts, InstructionCounts};
use ptx_sim::Report;

/// The launches, kernel by kernel, in the order of their first launches.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Entry and launches.
    pub kernels: Vec<(String, Launches)>,
}

/// All launches of one kernel.
#[derive(Clone, Debug)]
pub struct Launches {
    /// Number of launches.
    pub n_launches: usize,
    /// Geometry of the first.
    pub config: LaunchConfig,
    /// Sums over all launches.
    pub total: Counts,
    /// Sums over all launches, for each instruction.
    pub instructions: Vec<InstructionCounts>,
}

impl Recorded {
    /// Adds one launch.
    pub fn add(&mut self, launch: &Prepared, report: &Report) {
        let known = self
            .kernels
            .iter_mut()
            .find(|(entry, _)| entry == launch.entry());
        let Some((_, launches)) = known else {
            let launches = Launches {
                n_launches: 1,
                config: launch.config(),
                total: report.counts,
                instructions: report.instructions(),
            };
            self.kernels.push((launch.entry().to_owned(), launches));
            return;
        };
        launches.n_launches += 1;
        launches.total.add(&report.counts);
        for counted in report.instructions() {
            // Both are in PTX line order.
            let place = launches
                .instructions
                .binary_search_by_key(&counted.ptx_line, |known| known.ptx_line);
            match place {
                Ok(index) => add(&mut launches.instructions[index], &counted),
                Err(index) => launches.instructions.insert(index, counted),
            }
        }
    }
}

fn add(sum: &mut InstructionCounts, other: &InstructionCounts) {
    sum.executions += other.executions;
    sum.thread_executions += other.thread_executions;
    sum.class = sum.class.or(other.class);
    sum.space = sum.space.or(other.space);
    sum.requests += other.requests;
    sum.wavefronts += other.wavefronts;
    sum.ideal_wavefronts += other.ideal_wavefronts;
    sum.conflicts += other.conflicts;
    sum.max_way = sum.max_way.max(other.max_way);
    sum.sectors += other.sectors;
    sum.ideal_sectors += other.ideal_sectors;
    sum.bytes += other.bytes;
    sum.counts.add(&other.counts);
}
