//! A transpose of a matrix whose rows are spread over devices.

use super::lesson::{Lesson, ways};
use super::node::Node;
use super::outcome::{Failure, Outcome, compare, numbers};
use gpu_kernels::devices::transpose::{BLOCK, band, grid};
use gpu_kernels::devices::transpose_to_all;
use lockstep::LaunchConfig;

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "transpose_to_all",
    title: "Transpose: every device sends a part to every other one",
    source: "gpu-kernels/src/13_devices/03_transpose.rs",
    size: "rows and columns",
    quick: 100,
    sizes: &[8192, 16384],
    ways: ways! {
        stores: "tiles are stored on the device that they belong to",
            [transpose_to_all], run;
    },
};

fn run(node: &Node, n: u32) -> Result<Outcome, Failure> {
    let whole = numbers(n as usize * n as usize, 1);
    let len = |device| band(n, node.n(), device).1 as usize * n as usize;
    let start = |device| band(n, node.n(), device).0 as usize * n as usize;
    let inputs = node.upload("input", |device| {
        let own = whole[start(device)..start(device) + len(device)].to_vec();
        if own.is_empty() { vec![0.0] } else { own }
    })?;
    let outputs = node.room("output", len)?;
    let lists = node.addresses("outputs", &outputs)?;
    let once = || {
        // SAFETY: the buffers hold the bands, and outlive the launches.
        unsafe {
            node.launch(transpose_to_all, |i| {
                let (_, n_rows) = band(n, node.n(), i as u32);
                let config = LaunchConfig::new(grid(n_rows, n), BLOCK);
                let args = (
                    inputs[i].as_ptr(),
                    lists[i].as_ptr(),
                    n,
                    n,
                    i as u32,
                    node.n(),
                );
                (n_rows > 0).then_some((config, args))
            })
        }
    };
    once()?;
    node.synchronize()?;
    let side = n as usize;
    let mut expected = vec![0.0; whole.len()];
    for row in 0..side {
        for column in 0..side {
            expected[column * side + row] = whole[row * side + column];
        }
    }
    for (device, output) in (0..).zip(&outputs) {
        let got = output.read_of(0..len(device))?;
        let own = &expected[start(device)..start(device) + len(device)];
        compare(&format!("device {device}"), &got, own)?;
    }
    let link_bytes = node.take_link_bytes();
    // What a device stores on others, all of its band but its own square.
    let (_, own) = band(n, node.n(), 0);
    let bytes = u64::from(own) * u64::from(n - own) * 4;
    let measured = node.measure(bytes, once)?;
    // The same bytes, copied.
    let copied = node.measure(bytes, || {
        for (i, stream) in node.streams.iter().enumerate() {
            let to = (i + 1) % outputs.len();
            let n_values = (bytes as usize / 4)
                .min(inputs[i].len())
                .min(outputs[to].len());
            // SAFETY: the buffers outlive the wait for the streams, and what they hold does not matter.
            unsafe { stream.copy_part(&outputs[to], 0, &inputs[i], 0..n_values) }?;
        }
        Ok(())
    })?;
    Ok(Outcome::beside(link_bytes, measured, copied))
}
