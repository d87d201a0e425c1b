//! Ping-pong: the time that a flag takes, within a device and between two.

use super::lesson::{Lesson, ways};
use super::node::Node;
use super::outcome::{Failure, Outcome};
use cuda_std::launch::{DevicePtrMut, Kernel};
use gpu_kernels::devices::ping_pong::{APART, BLOCK, GRID};
use gpu_kernels::devices::{ping_pong_device, ping_pong_link, ping_pong_system};
use lockstep::{Buffer, LaunchConfig};
use std::cell::Cell;

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "ping_pong",
    title: "Flags: how long a question and its answer take",
    source: "gpu-kernels/src/13_devices/05_ping_pong.rs",
    size: "questions",
    quick: 10,
    sizes: &[1000],
    ways: ways! {
        device: "two blocks of a device, device scope",
            [ping_pong_device], |node, n| run(node, n, |game| within(game, ping_pong_device));
        system: "two blocks of a device, system scope",
            [ping_pong_system], |node, n| run(node, n, |game| within(game, ping_pong_system));
        link: "two devices",
            [ping_pong_link], |node, n| run(node, n, link);
    },
};

/// Flags on each device, and how far they have come.
struct Game<'n> {
    node: &'n Node,
    flags: Vec<Buffer<u32>>,
    base: Cell<u32>,
    n_rounds: u32,
}

fn run(
    node: &Node,
    n_rounds: u32,
    play: fn(&Game<'_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let flags = node.zeros("flags", 2 * APART)?;
    let base = Cell::new(0);
    let game = Game {
        node,
        flags,
        base,
        n_rounds,
    };
    play(&game)?;
    node.synchronize()?;
    Ok(Outcome {
        link_bytes: node.take_link_bytes(),
        measured: node.measure(0, || play(&game))?,
    })
}

impl Game<'_> {
    /// What flags are above, in the next game.
    fn next_base(&self) -> u32 {
        self.base.replace(self.base.get() + self.n_rounds)
    }
}

/// Two blocks of the first device.
fn within<K>(game: &Game<'_>, kernel: K) -> Result<(), Failure>
where
    K: Kernel<Args = (DevicePtrMut<u32>, u32, u32)>,
{
    let base = game.next_base();
    // SAFETY: there are two flags, and both blocks fit on the device.
    unsafe {
        game.node.launch(kernel, |i| {
            let args = (game.flags[i].as_mut_ptr(), base, game.n_rounds);
            (i == 0).then_some((LaunchConfig::new(GRID, BLOCK), args))
        })
    }
}

fn link(game: &Game<'_>) -> Result<(), Failure> {
    let base = game.next_base();
    // SAFETY: each device has a flag.
    unsafe {
        game.node.launch(ping_pong_link, |i| {
            let other = game.flags.get(1 - i.min(1))?;
            let (own, other) = (game.flags[i].as_mut_ptr(), other.as_mut_ptr());
            let args = (own, other, u32::from(i == 0), base, game.n_rounds);
            (i < 2).then_some((LaunchConfig::new([1; 3], BLOCK), args))
        })
    }
}
