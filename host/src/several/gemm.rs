//! A product whose second factor is spread over devices.

use super::lesson::{Lesson, ways};
use super::node::Node;
use super::outcome::{Failure, Outcome, compare, numbers};
use gpu_kernels::devices::gemm::{BLOCK, grid};
use gpu_kernels::devices::gemm_add;
use gpu_kernels::devices::jacobi::band;
use lockstep::{Buffer, Event, LaunchConfig};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "gemm_sharded",
    title: "Product: bands of the second factor are fetched while others are multiplied",
    source: "gpu-kernels/src/13_devices/04_gemm.rs",
    size: "rows and columns of all matrices",
    quick: 96,
    sizes: &[4096, 8192],
    ways: ways! {
        in_turn: "fetch, then multiply",
            [gemm_add], |node, n| run(node, n, false);
        overlap: "fetch the next band while one is multiplied",
            [gemm_add], |node, n| run(node, n, true);
    },
};

/// The bands of all devices.
struct Product<'n> {
    node: &'n Node,
    n: u32,
    a: Vec<Buffer<f32>>,
    b: Vec<Buffer<f32>>,
    c: Vec<Buffer<f32>>,
    /// What is fetched of B, in turns.
    fetched: [Vec<Buffer<f32>>; 2],
}

fn run(node: &Node, n: u32, overlaps: bool) -> Result<Outcome, Failure> {
    let side = n as usize;
    let rows = |device: u32| band(n, node.n(), device);
    let of = |all: &[f32], device: u32| {
        let (first, n_rows) = rows(device);
        let own = all[first as usize * side..(first + n_rows) as usize * side].to_vec();
        if own.is_empty() { vec![0.0] } else { own }
    };
    // Small whole numbers: products and sums are exact.
    let small = |seed| {
        numbers(side * side, seed)
            .iter()
            .map(|x| (x / 32.0).round())
            .collect()
    };
    let (a, b): (Vec<f32>, Vec<f32>) = (small(1), small(2));
    let most = rows(0).1 as usize * side;
    let product = Product {
        node,
        n,
        a: node.upload("a", |device| of(&a, device))?,
        b: node.upload("b", |device| of(&b, device))?,
        c: node.upload("c", |device| {
            vec![0.0; (rows(device).1 as usize * side).max(1)]
        })?,
        fetched: [
            node.room("fetched, even", |_| most)?,
            node.room("fetched, odd", |_| most)?,
        ],
    };
    product.multiply(overlaps, true)?;
    node.synchronize()?;
    let sample = Sample::of(&a, &b, side);
    for device in 0..node.n() {
        let (first, n_rows) = rows(device);
        let got = product.c[device as usize].read()?;
        sample.compare(device, first as usize..(first + n_rows) as usize, &got)?;
    }
    // What is fetched crosses by copies, which are not the kernels'.
    let link_bytes = node.take_link_bytes();
    let bytes = (u64::from(n) - u64::from(rows(0).1)) * u64::from(n) * 4;
    let measured = node.measure(bytes, || product.multiply(overlaps, true))?;
    let alone = node.measure(bytes, || product.multiply(overlaps, false))?;
    Ok(Outcome::beside(link_bytes, measured, alone))
}

impl Product<'_> {
    /// Adds the product to C; without fetching, the own band of B is multiplied each time.
    fn multiply(&self, overlaps: bool, fetches: bool) -> Result<(), Failure> {
        let (node, n) = (self.node, self.node.n());
        // When what a buffer had was multiplied.
        let mut free: [Vec<Option<Event>>; 2] =
            std::array::from_fn(|_| (0..n).map(|_| None).collect());
        let mut here: Vec<Option<Event>> = (0..n).map(|_| None).collect();
        // What was multiplied before may still be read.
        for (copies, stream) in node.copies.iter().zip(&node.streams) {
            copies.wait(&stream.record()?)?;
        }
        for step in 0..n {
            for (i, stream) in node.streams.iter().enumerate() {
                if let Some(fetched) = here[i].take() {
                    stream.wait(&fetched)?;
                }
                if step + 1 == n || !fetches {
                    continue;
                }
                // The next band, into the buffer that was multiplied before the present one.
                let owner = (i + 1 + step as usize) % n as usize;
                let place = (step % 2) as usize;
                let copies = if overlaps { &node.copies[i] } else { stream };
                if let Some(free) = free[place][i].take() {
                    copies.wait(&free)?;
                }
                let len = band(self.n, n, owner as u32).1 as usize * self.n as usize;
                // SAFETY: the buffers outlive the wait for the streams, and events order their uses.
                unsafe { copies.copy_part(&self.fetched[place][i], 0, &self.b[owner], 0..len) }?;
                here[i] = Some(copies.record()?);
            }
            self.add(step, fetches)?;
            if let Some(place) = step.checked_sub(1) {
                for (i, stream) in node.streams.iter().enumerate() {
                    free[(place % 2) as usize][i] = Some(stream.record()?);
                }
            }
        }
        Ok(())
    }

    /// Multiplies the bands that are there in a step.
    fn add(&self, step: u32, fetches: bool) -> Result<(), Failure> {
        let (n, n_devices) = (self.n, self.node.n());
        // SAFETY: the buffers hold the bands, and outlive the launches.
        unsafe {
            self.node.launch(gemm_add, |i| {
                let (_, m) = band(n, n_devices, i as u32);
                let owner = match fetches {
                    true => (i as u32 + step) % n_devices,
                    false => i as u32,
                };
                let (first_k, k) = band(n, n_devices, owner);
                let b = match step {
                    0 => &self.b[i],
                    _ if !fetches => &self.b[i],
                    _ => &self.fetched[((step - 1) % 2) as usize][i],
                };
                let config = LaunchConfig::new(grid(m, n), BLOCK);
                let (a, b, c) = (self.a[i].as_ptr(), b.as_ptr(), self.c[i].as_mut_ptr());
                (m > 0 && k > 0).then_some((config, (a, b, c, m, n, k, n, first_k)))
            })
        }
    }
}

/// Some rows of the product, or all of a small one.
struct Sample {
    side: usize,
    rows: Vec<(usize, Vec<f32>)>,
}

impl Sample {
    fn of(a: &[f32], b: &[f32], side: usize) -> Self {
        const MOST_ROWS: usize = 100;
        let step = side.div_ceil(MOST_ROWS).max(1);
        let row = |row: usize| {
            let mut sums = vec![0.0_f32; side];
            for k in 0..side {
                let factor = a[row * side + k];
                let line = &b[k * side..(k + 1) * side];
                sums.iter_mut()
                    .zip(line)
                    .for_each(|(sum, value)| *sum += factor * value);
            }
            (row, sums)
        };
        Self {
            side,
            rows: (0..side).step_by(step).map(row).collect(),
        }
    }

    /// Compares the rows of a device.
    fn compare(
        &self,
        device: u32,
        own: std::ops::Range<usize>,
        got: &[f32],
    ) -> Result<(), Failure> {
        for (row, expected) in self.rows.iter().filter(|(row, _)| own.contains(row)) {
            let at = (row - own.start) * self.side;
            let got = &got[at..at + self.side];
            compare(&format!("device {device}, row {row}"), got, expected)?;
        }
        Ok(())
    }
}
