//! Jacobi's method: the same steps with the halo moved in five ways.

use super::lesson::{Lesson, ways};
use super::node::Node;
use super::outcome::{Failure, Measured, Outcome, compare, numbers};
use cuda_std::launch::DevicePtrMut;
use gpu_kernels::devices::jacobi::{self, BLOCK, BLOCKS_AT_ONCE, band, cell, grid};
use gpu_kernels::devices::{jacobi_flags, jacobi_loads, jacobi_rows, jacobi_stores};
use lockstep::{Buffer, LaunchConfig};

/// Steps that are compared with the reference: an odd number, so that both matrices are used.
const N_STEPS: u32 = 5;

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "jacobi",
    title: "Jacobi's method, a band of rows per device",
    source: "gpu-kernels/src/13_devices/01_jacobi.rs",
    size: "rows and columns",
    quick: 66,
    sizes: &[4096, 16384],
    ways: ways! {
        copies: "the host copies edge rows between devices after each step",
            [jacobi_rows], |node, side| run(node, side, copies);
        stores: "kernels store edge rows in the neighbours' halos as well",
            [jacobi_stores], |node, side| run(node, side, stores);
        loads: "kernels read the neighbours' edge rows where they are",
            [jacobi_loads], |node, side| run(node, side, loads);
        overlap: "edge rows first; they are copied while the rest is computed",
            [jacobi_rows], |node, side| run(node, side, overlap);
        flags: "all steps in one launch: kernels store edge rows and wait for flags",
            [jacobi_flags], |node, side| run(node, side, flags);
    },
};

/// The bands of all devices: two matrices that take turns.
struct Bands<'n> {
    node: &'n Node,
    n_columns: u32,
    matrices: [Vec<Buffer<f32>>; 2],
    flags: Vec<Buffer<u32>>,
    /// The largest change of the last step.
    largest: Vec<Buffer<u32>>,
    /// Rows of each band.
    n_rows: Vec<u32>,
    /// Steps that were made.
    n_done: std::cell::Cell<u32>,
}

/// Makes some steps; the largest change is noted if that is asked for.
type Steps = fn(&Bands<'_>, u32, bool) -> Result<(), Failure>;

fn run(node: &Node, side: u32, steps: Steps) -> Result<Outcome, Failure> {
    let bands = Bands::new(node, side)?;
    steps(&bands, N_STEPS, true)?;
    node.synchronize()?;
    bands.compare(side)?;
    let link_bytes = node.take_link_bytes();
    let edges = if node.n() > 2 { 2 } else { node.n() - 1 };
    let bytes = u64::from(edges * side * 4);
    // In pairs, so that the matrices end where they began.
    let pairs = |n: u32| node.measure(bytes, || steps(&bands, 2 * n, false));
    let measured = pairs(5)?.map(|ten| Measured {
        time_ms: ten.time_ms / 10.0,
        ..ten
    });
    // One step with no halo moved, and nobody waiting: nothing is read that is written.
    let alone = node.measure(bytes, || bands.all_rows(bands.turn(0), false))?;
    Ok(Outcome::beside(link_bytes, measured, alone))
}

/// The whole matrix at first: the outer cells stay.
fn start(side: u32) -> Vec<f32> {
    numbers(side as usize * side as usize, 1)
}

/// The matrix after some steps, and the largest change of the last.
fn reference(side: u32, n_steps: u32) -> (Vec<f32>, f32) {
    let mut from = start(side);
    let mut largest = 0.0_f32;
    for _ in 0..n_steps {
        let mut to = from.clone();
        largest = 0.0;
        for row in 1..side - 1 {
            for column in 1..side - 1 {
                let at = cell(row, column, side);
                let around = jacobi::Around {
                    up: from[at - side as usize],
                    left: from[at - 1],
                    own: from[at],
                    right: from[at + 1],
                    down: from[at + side as usize],
                };
                to[at] = around.mean();
                largest = largest.max(around.change());
            }
        }
        from = to;
    }
    (from, largest)
}

impl<'n> Bands<'n> {
    fn new(node: &'n Node, side: u32) -> Result<Self, Failure> {
        if side < node.n() + 2 {
            let n = node.n();
            return Err(Failure::Wrong(format!(
                "{side} rows are too few for {n} devices"
            )));
        }
        let whole = start(side);
        // The rows between the outer ones, with a row above and one below.
        let with_halos = |device: u32| {
            let (first, n_rows) = band(side - 2, node.n(), device);
            whole[cell(first, 0, side)..cell(first + n_rows + 2, 0, side)].to_vec()
        };
        Ok(Self {
            node,
            n_columns: side,
            matrices: [
                node.upload("even", with_halos)?,
                node.upload("odd", with_halos)?,
            ],
            flags: node.zeros("flags", 2)?,
            largest: node.zeros("largest change", 1)?,
            n_rows: (0..node.n())
                .map(|device| band(side - 2, node.n(), device).1)
                .collect(),
            n_done: std::cell::Cell::new(0),
        })
    }

    /// The matrices that a step reads and writes.
    fn turn(&self, step: u32) -> [&[Buffer<f32>]; 2] {
        let [even, odd] = &self.matrices;
        match step % 2 {
            0 => [even, odd],
            _ => [odd, even],
        }
    }

    /// Makes steps, after each of which devices wait for their neighbours. `step` gets the matrices
    /// that it reads and writes, and whether the largest change is noted: of the last step, if at all.
    fn each_step<'b>(
        &'b self,
        n_steps: u32,
        notes: bool,
        step: impl Fn([&'b [Buffer<f32>]; 2], bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let first = self.count(n_steps);
        for i in 0..n_steps {
            step(self.turn(first + i), notes && i + 1 == n_steps)?;
            self.node.wait_for_neighbours()?;
        }
        Ok(())
    }

    /// Computes some rows of each band, if there are any: `which` says of a band's number of rows
    /// which is the first, how far apart they are, and how many.
    fn rows(
        &self,
        [from, to]: [&[Buffer<f32>]; 2],
        notes: bool,
        which: impl Fn(u32) -> (u32, u32, u32),
    ) -> Result<(), Failure> {
        // SAFETY: the buffers are as long as the bands, and events order what devices do.
        unsafe {
            self.node.launch(jacobi_rows, |i| {
                let (first, step, n) = which(self.n_rows[i]);
                let (from, to) = (from[i].as_ptr(), to[i].as_mut_ptr());
                let largest = self.noted(i, notes);
                let args = (from, to, largest, first, step, n, self.n_columns);
                (n > 0).then(|| (self.config(n), args))
            })
        }
    }

    /// Computes all rows.
    fn all_rows(&self, matrices: [&[Buffer<f32>]; 2], notes: bool) -> Result<(), Failure> {
        self.rows(matrices, notes, |n| (1, 1, n))
    }

    /// Counts steps; gives the number of the first of them.
    fn count(&self, n_steps: u32) -> u32 {
        self.n_done.replace(self.n_done.get() + n_steps)
    }

    /// Where the largest change goes, if it does.
    fn noted(&self, device: usize, notes: bool) -> DevicePtrMut<u32> {
        match notes {
            true => self.largest[device].as_mut_ptr(),
            false => DevicePtrMut::new(0),
        }
    }

    /// A row of the device above that is this one's edge there, and of the one below; null without
    /// such a device.
    fn neighbours(
        &self,
        matrix: &[Buffer<f32>],
        device: usize,
        rows: Rows,
    ) -> [DevicePtrMut<f32>; 2] {
        let row = |device: usize, row: u32| matrix[device].ptr_mut_at(cell(row, 0, self.n_columns));
        let above = device.checked_sub(1);
        let below = Some(device + 1).filter(|&below| below < matrix.len());
        [
            above.map(|above| match rows {
                Rows::Halos => row(above, self.n_rows[above] + 1),
                Rows::Edges => row(above, self.n_rows[above]),
            }),
            below.map(|below| match rows {
                Rows::Halos => row(below, 0),
                Rows::Edges => row(below, 1),
            }),
        ]
        .map(|row| row.unwrap_or(DevicePtrMut::new(0)))
    }

    fn config(&self, n_rows: u32) -> LaunchConfig {
        LaunchConfig::new(grid(n_rows, self.n_columns), BLOCK)
    }

    /// Puts the copies of a device's edge rows into a stream.
    fn copy_edges(
        &self,
        to: &[Buffer<f32>],
        stream: &lockstep::Stream,
        i: usize,
    ) -> Result<(), Failure> {
        let columns = self.n_columns as usize;
        let row = |row: u32| cell(row, 0, self.n_columns)..cell(row, 0, self.n_columns) + columns;
        // SAFETY: the buffers live until the streams have been waited for, and events order the rest.
        unsafe {
            if i > 0 {
                let halo = cell(self.n_rows[i - 1] + 1, 0, self.n_columns);
                stream.copy_part(&to[i - 1], halo, &to[i], row(1))?;
            }
            if i + 1 < to.len() {
                stream.copy_part(&to[i + 1], 0, &to[i], row(self.n_rows[i]))?;
            }
        }
        Ok(())
    }

    /// Compares everything with the reference.
    fn compare(&self, side: u32) -> Result<(), Failure> {
        let (expected, largest) = reference(side, N_STEPS);
        let [got, _] = self.turn(self.n_done.get());
        let mut of_all = 0.0_f32;
        for (device, got) in got.iter().enumerate() {
            let (first, n_rows) = band(side - 2, self.node.n(), device as u32);
            let rows = cell(first + 1, 0, side)..cell(first + 1 + n_rows, 0, side);
            let own = got.read_of(cell(1, 0, side)..cell(n_rows + 1, 0, side))?;
            compare(&format!("device {device}"), &own, &expected[rows])?;
            of_all = of_all.max(f32::from_bits(self.largest[device].read()?[0]));
        }
        compare("the largest change", &[of_all], &[largest])
    }
}

/// Which rows of a neighbour.
#[derive(Clone, Copy)]
enum Rows {
    Halos,
    Edges,
}

fn copies(bands: &Bands<'_>, n_steps: u32, notes: bool) -> Result<(), Failure> {
    bands.each_step(n_steps, notes, |[from, to], notes| {
        bands.all_rows([from, to], notes)?;
        for (i, stream) in bands.node.streams.iter().enumerate() {
            bands.copy_edges(to, stream, i)?;
        }
        Ok(())
    })
}

fn stores(bands: &Bands<'_>, n_steps: u32, notes: bool) -> Result<(), Failure> {
    bands.each_step(n_steps, notes, |[from, to], notes| {
        // SAFETY: as in `Bands::rows`.
        unsafe {
            bands.node.launch(jacobi_stores, |i| {
                let [above, below] = bands.neighbours(to, i, Rows::Halos);
                let (from, to) = (from[i].as_ptr(), to[i].as_mut_ptr());
                let n_rows = bands.n_rows[i];
                let largest = bands.noted(i, notes);
                let args = (from, to, above, below, largest, n_rows, bands.n_columns);
                Some((bands.config(n_rows), args))
            })
        }
    })
}

fn loads(bands: &Bands<'_>, n_steps: u32, notes: bool) -> Result<(), Failure> {
    bands.each_step(n_steps, notes, |[from, to], notes| {
        // SAFETY: as in `Bands::rows`.
        unsafe {
            bands.node.launch(jacobi_loads, |i| {
                let edges = bands.neighbours(from, i, Rows::Edges);
                let [above, below] = edges.map(DevicePtrMut::as_const);
                let (from, to) = (from[i].as_ptr(), to[i].as_mut_ptr());
                let n_rows = bands.n_rows[i];
                let largest = bands.noted(i, notes);
                let args = (from, to, above, below, largest, n_rows, bands.n_columns);
                Some((bands.config(n_rows), args))
            })
        }
    })
}

fn overlap(bands: &Bands<'_>, n_steps: u32, notes: bool) -> Result<(), Failure> {
    bands.each_step(n_steps, notes, |[from, to], notes| {
        // The edge rows, of which there may be one only…
        bands.rows([from, to], notes, |n| (1, n - 1, n.min(2)))?;
        // …are copied…
        let mut edges = Vec::new();
        for (i, copies) in bands.node.copies.iter().enumerate() {
            copies.wait(&bands.node.streams[i].record()?)?;
            bands.copy_edges(to, copies, i)?;
            edges.push(copies.record()?);
        }
        // …while the rest is computed.
        bands.rows([from, to], notes, |n| (2, 1, n.saturating_sub(2)))?;
        for (i, stream) in bands.node.streams.iter().enumerate() {
            let near = i.saturating_sub(1)..(i + 2).min(edges.len());
            near.map(|other| &edges[other])
                .try_for_each(|edge| stream.wait(edge))?;
        }
        Ok(())
    })
}

fn flags(bands: &Bands<'_>, n_steps: u32, notes: bool) -> Result<(), Failure> {
    let node = bands.node;
    let first = bands.count(n_steps);
    let [even, odd] = bands.turn(first);
    // SAFETY: as in `Bands::rows`; flags order what devices do.
    unsafe {
        node.launch(jacobi_flags, |i| {
            let [above_even, below_even] = bands.neighbours(even, i, Rows::Halos);
            let [above_odd, below_odd] = bands.neighbours(odd, i, Rows::Halos);
            let flags = |other: Option<usize>| {
                let flags = other.and_then(|other| bands.flags.get(other));
                flags.map_or(DevicePtrMut::new(0), Buffer::as_mut_ptr)
            };
            let n_rows = bands.n_rows[i];
            let [columns, rows, _] = grid(n_rows, bands.n_columns);
            let most = (BLOCKS_AT_ONCE * node.n_multiprocessors() / columns).max(1);
            let config = LaunchConfig::new([columns, rows.min(most), 1], BLOCK);
            let args = (
                even[i].as_mut_ptr(),
                odd[i].as_mut_ptr(),
                above_even,
                above_odd,
                flags(i.checked_sub(1)),
                below_even,
                below_odd,
                flags(Some(i + 1)),
                bands.flags[i].as_mut_ptr(),
                bands.noted(i, notes),
                n_rows,
                bands.n_columns,
                first,
                n_steps,
            );
            Some((config, args))
        })
    }
}
