//! Small loops of one kind of instruction each: what the parts cost.

use super::{Measured, Mode, Patience};
use ptx_sim::{Device, Launch, LoadedModule, Module};

const PTX: &str = include_str!("micro.ptx");
/// Threads of a block.
const BLOCK: u32 = 256;
/// Blocks: enough for several cores.
const N_BLOCKS: u32 = 8;

/// A loop.
pub struct Micro {
    /// Its entry in the PTX.
    pub name: &'static str,
    /// What it is about.
    pub what: &'static str,
    n_rounds: u32,
}

const fn micro(name: &'static str, what: &'static str, n_rounds: u32) -> Micro {
    Micro {
        name,
        what,
        n_rounds,
    }
}

/// All of them.
pub const ALL: &[Micro] = &[
    micro("arithmetic", "integer and floating-point arithmetic", 4000),
    micro(
        "shared_memory",
        "a store and a load of shared memory a round",
        2000,
    ),
    micro(
        "global_memory",
        "a load and a store of global memory a round",
        2000,
    ),
    micro(
        "divergence",
        "a branch on which lanes disagree a round",
        1000,
    ),
    micro("shuffle", "a warp shuffle per round", 2000),
    micro("tensor_core", "a 16×8×16 product of f16 a round", 200),
];

/// A device with the loops on it.
pub struct Rig {
    device: Device,
    loaded: LoadedModule,
    data: u64,
}

impl Rig {
    /// Ready to run.
    ///
    /// # Errors
    ///
    /// The PTX is wrong, which is a mistake of ours.
    pub fn new() -> Result<Self, String> {
        let module = Module::parse(PTX).map_err(|error| error.to_string())?;
        let device = Device::new();
        let loaded = device.load(&module).map_err(|error| error.to_string())?;
        let size_bytes = u64::from(4 * BLOCK * N_BLOCKS);
        let data = device
            .alloc(size_bytes, "data")
            .map_err(|error| error.to_string())?;
        Ok(Self {
            device,
            loaded,
            data,
        })
    }

    /// Runs a loop in every mode, in turn.
    ///
    /// # Errors
    ///
    /// It could not run to its end.
    pub fn measure(&mut self, micro: &Micro, patience: Patience) -> Result<Measured, String> {
        let mut runs: [Vec<f32>; 4] = Default::default();
        let mut thread_instructions = 0;
        let params = [
            &self.data.to_le_bytes()[..],
            &micro.n_rounds.to_le_bytes()[..],
        ];
        patience.rounds(|| {
            for (mode, runs) in Mode::ALL.into_iter().zip(&mut runs) {
                if !patience.wants(mode) {
                    continue;
                }
                // All blocks write the same words, which is a race.
                let n_blocks = if mode == Mode::Checked { 1 } else { N_BLOCKS };
                let launch = Launch {
                    grid: [n_blocks, 1, 1],
                    block: [BLOCK, 1, 1],
                    dynamic_shared_bytes: 0,
                    params: &params,
                    options: mode.options(),
                };
                let report = self
                    .device
                    .launch(&self.loaded, micro.name, &launch)
                    .map_err(|error| error.to_string())?;
                let blocks_left_out = (N_BLOCKS / n_blocks) as f32;
                runs.push(report.elapsed.as_secs_f32() * 1e3 * blocks_left_out);
                thread_instructions = thread_instructions.max(report.counts.thread_instructions);
            }
            Ok::<(), String>(())
        })?;
        Ok(Measured::of(thread_instructions, &runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_loop_runs_in_every_mode() {
        let mut rig = Rig::new().expect("the PTX is right");
        let patience = Patience {
            time: Duration::ZERO,
            fewest: 1,
            most: 1,
            modes: [true; 4],
        };
        for micro in ALL {
            let few = Micro {
                n_rounds: 3,
                ..*micro
            };
            let measured = rig.measure(&few, patience).expect("it runs");
            assert!(measured.thread_instructions > 0, "{}", micro.name);
            assert!(measured.times.iter().all(Option::is_some), "{}", micro.name);
        }
    }
}
