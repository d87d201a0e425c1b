//! A sum over several processes, each with a device: what a program does that `mpirun` has started.

use super::outcome::{Failure, compare, numbers, sums};
use lockstep::Device;
use lockstep::collectives::{Communicator, Operator, Ranks};

/// Adds `n` numbers of each process, and compares the sum with its reference; gives how many ranks there
/// were.
///
/// # Errors
///
/// A rank does not come or has ended, there is no NCCL, or the sum is wrong.
pub fn run(ranks: &Ranks, n: usize, repetitions: u32) -> Result<usize, Failure> {
    let devices = Device::all()?;
    let device = &devices[ranks.local_rank % devices.len()];
    let rank = Communicator::of_process(device, ranks)?;
    let stream = device.stream()?;
    let input = device.upload("input", &numbers(n, ranks.rank as u32 + 1))?;
    let output = device.alloc::<f32>("output", n)?;
    for _ in 0..repetitions {
        // SAFETY: both buffers live until the stream has been waited for.
        unsafe { rank.all_reduce(&stream, &output, &input, Operator::Sum) }?;
        rank.synchronize(&stream)?;
    }
    let expected = sums(n, ranks.n_ranks as u32);
    compare(&format!("rank {}", ranks.rank), &output.read()?, &expected)?;
    Ok(ranks.n_ranks)
}
