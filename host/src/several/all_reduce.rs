//! All-reduce, in one shot, in two, and around a ring; and by NCCL.

use super::lesson::{Lesson, ways};
use super::node::Node;
use super::outcome::{self, Failure, Outcome, compare, numbers};
use gpu_kernels::devices::all_reduce::{self, BLOCK, N_FLAGS, inbox_len, n_blocks};
use gpu_kernels::devices::{all_reduce_one_shot, all_reduce_ring, all_reduce_two_shot};
use lockstep::collectives::{Communicator, Operator, group};
use lockstep::{Buffer, LaunchConfig};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "all_reduce",
    title: "All-reduce: every device gets the sum of all",
    source: "gpu-kernels/src/13_devices/02_all_reduce.rs",
    size: "numbers of f32, in multiples of 4",
    quick: 4000,
    sizes: &[1 << 10, 1 << 14, 1 << 16, 1 << 20, 1 << 24, 1 << 28],
    ways: ways! {
        one_shot: "every device reads all inputs",
            [all_reduce_one_shot], |node, n| run(node, n, one_shot, false);
        two_shot: "every device adds a part, and stores it on all",
            [all_reduce_two_shot], |node, n| run(node, n, two_shot, false);
        ring: "parts go around: from one device to the next",
            [all_reduce_ring], |node, n| run(node, n, ring, false);
        library: "by `lockstep::collectives`: NCCL on GPUs",
            [], |node, n| run(node, n, library, true);
    },
};

/// Inputs and outputs on all devices.
struct Sums<'n> {
    node: &'n Node,
    n: u32,
    inputs: Vec<Buffer<f32>>,
    outputs: Vec<Buffer<f32>>,
    inboxes: Vec<Buffer<f32>>,
    flags: Vec<Buffer<u32>>,
    input_list: Vec<Buffer<u64>>,
    output_list: Vec<Buffer<u64>>,
    flag_list: Vec<Buffer<u64>>,
    ranks: Vec<Communicator>,
}

fn run(
    node: &Node,
    n: u32,
    reduce: fn(&Sums<'_>) -> Result<(), Failure>,
    needs_library: bool,
) -> Result<Outcome, Failure> {
    if !n.is_multiple_of(all_reduce::CHUNK) {
        return Err(Failure::Wrong(format!("{n} is not a multiple of 4")));
    }
    let inputs = node.upload("input", |device| numbers(n as usize, device + 1))?;
    let outputs = node.room("output", |_| n as usize)?;
    let flags = node.zeros("flags", N_FLAGS)?;
    let mut sums = Sums {
        node,
        n,
        input_list: node.addresses("inputs", &inputs)?,
        output_list: node.addresses("outputs", &outputs)?,
        flag_list: node.addresses("all flags", &flags)?,
        inboxes: node.room("inbox", |_| inbox_len(n, node.n()))?,
        inputs,
        outputs,
        flags,
        ranks: Vec::new(),
    };
    if needs_library {
        sums.ranks = node.ranks()?;
    }
    // Twice, since the second may meet what the first has left.
    for _ in 0..2 {
        reduce(&sums)?;
        node.synchronize()?;
    }
    let link_bytes = node.take_link_bytes().map(|bytes| bytes / 2);
    let expected = outcome::sums(n as usize, node.n());
    for (device, output) in sums.outputs.iter().enumerate() {
        // They are whole numbers: exact in any order.
        compare(&format!("device {device}"), &output.read()?, &expected)?;
    }
    // As much as two shot and the ring need; one shot reads more where there are more than two.
    let bytes = u64::from(n) * 4 * 2 * u64::from(node.n() - 1) / u64::from(node.n());
    let measured = node.measure(bytes, || reduce(&sums))?;
    if measured.is_some() && sums.ranks.is_empty() {
        // Without NCCL there is nothing to compare with.
        sums.ranks = node.ranks().unwrap_or_default();
    }
    let by_library = match sums.ranks.is_empty() {
        true => None,
        false => node.measure(bytes, || library(&sums))?,
    };
    Ok(Outcome::beside(link_bytes, measured, by_library))
}

fn one_shot(sums: &Sums<'_>) -> Result<(), Failure> {
    let epoch = sums.node.next_epoch();
    // SAFETY: buffers and lists are as long as the kernel asks, and outlive the launches.
    unsafe {
        sums.node.launch(all_reduce_one_shot, |i| {
            let args = (
                sums.input_list[i].as_ptr(),
                sums.outputs[i].as_mut_ptr(),
                sums.flag_list[i].as_ptr(),
                i as u32,
                sums.node.n(),
                sums.n,
                epoch,
            );
            Some((sums.config(), args))
        })
    }
}

fn two_shot(sums: &Sums<'_>) -> Result<(), Failure> {
    let epoch = sums.node.next_epoch();
    // SAFETY: as in `one_shot`.
    unsafe {
        sums.node.launch(all_reduce_two_shot, |i| {
            let args = (
                sums.input_list[i].as_ptr(),
                sums.output_list[i].as_ptr(),
                sums.flag_list[i].as_ptr(),
                i as u32,
                sums.node.n(),
                sums.n,
                epoch,
            );
            Some((sums.config(), args))
        })
    }
}

fn ring(sums: &Sums<'_>) -> Result<(), Failure> {
    let epoch = sums.node.next_epoch();
    // SAFETY: as in `one_shot`.
    unsafe {
        sums.node.launch(all_reduce_ring, |i| {
            let next = (i + 1) % sums.outputs.len();
            let args = (
                sums.inputs[i].as_ptr(),
                sums.outputs[i].as_mut_ptr(),
                sums.inboxes[i].as_ptr(),
                sums.flags[i].as_mut_ptr(),
                sums.outputs[next].as_mut_ptr(),
                sums.inboxes[next].as_mut_ptr(),
                sums.flags[next].as_mut_ptr(),
                i as u32,
                sums.node.n(),
                sums.n,
                epoch,
            );
            Some((sums.config(), args))
        })
    }
}

fn library(sums: &Sums<'_>) -> Result<(), Failure> {
    Ok(group(&sums.ranks, || {
        let each = sums.ranks.iter().zip(&sums.node.streams).enumerate();
        for (i, (rank, stream)) in each {
            let (to, from) = (&sums.outputs[i], &sums.inputs[i]);
            // SAFETY: the buffers outlive the wait for the streams.
            unsafe { rank.all_reduce(stream, to, from, Operator::Sum) }?;
        }
        Ok(())
    })?)
}

impl Sums<'_> {
    fn config(&self) -> LaunchConfig {
        let most = n_blocks(self.n).min(self.node.n_multiprocessors().max(1));
        LaunchConfig::new([most, 1, 1], BLOCK)
    }
}
