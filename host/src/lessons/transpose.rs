//! Transpose: eight kernels that move the same data, from strided accesses to
//! 16-byte ones through a swizzled tile.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::{
    self, transpose_coalesced_read, transpose_coalesced_write, transpose_coalesced_write_ldg,
    transpose_padded, transpose_safe, transpose_shared, transpose_swizzled, transpose_vectorized,
};
use lesson::measure::Side;
use lesson::references::compare_with_transpose;
use lesson::target::{least, most};
use lesson::{
    Act, CaseError, Effort, Footprint, Found, Lesson, Measurement, Published, Shape, Target, Trial,
    Work, exactly,
};
use lesson::{guarded, inputs};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    GlobalLoadSectorsPerRequest as LoadSectors, GlobalStoreSectorsPerRequest as StoreSectors,
    LocalSectors, SharedLoadConflictsPerRequest as LoadConflicts,
    SharedStoreConflictsPerRequest as StoreConflicts,
};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "transpose",
    title: "Transpose",
    idea: "a tile in shared memory makes both global accesses coalesced; its layout decides the bank conflicts",
    source: "gpu-kernels/src/04_transpose/mod.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| Work::new(2 * 4 * shape.n_elements() as u64, 0),
    memory: |shape| Footprint::of(shape.n_elements(), 8, 4),
    expects_at,
    targets: &TARGETS,
};

static TARGETS: [Target; 3] = [
    Target::at_least(
        "best transpose, 8192×8192 f32",
        "device-to-device copy",
        1.0,
        |measured| best_square(measured, 8192),
    ),
    Target::at_least(
        "best transpose, 32768×32768 f32",
        "device-to-device copy",
        1.0,
        |measured| best_square(measured, 32768),
    ),
    Target::at_least(
        "best transpose, sides not multiples of 64",
        "its rate at the nearest multiple of 64",
        0.97,
        odd_sizes,
    ),
];

fn best_square(measured: &[Measurement], side: u64) -> Option<Found> {
    let squares = measured.iter().filter(|one| one.dims() == [side; 2]);
    most(squares.filter_map(|one| Found::speed(one, Side::Copy)))
}

/// The worst of the shapes with a side that is not a multiple of 64: the rate of the
/// fastest kernel there, relative to that of the fastest kernel at the nearest shape whose sides
/// are multiples.
fn odd_sizes(measured: &[Measurement]) -> Option<Found> {
    let elements = |one: &Measurement| one.dims().iter().product::<u64>() as f64;
    let is_whole = |one: &&Measurement| one.dims().iter().all(|side| side.is_multiple_of(64));
    let rate = |one: &Measurement| Some(elements(one) / one.median_ms()?);
    // The fastest at that shape.
    let best = |shape: &str| {
        let there = measured.iter().filter(|one| one.shape == shape);
        let timed = there.filter_map(|one| Some((one, rate(one)?)));
        timed.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let odd = measured.iter().filter(|one| !is_whole(one));
    least(odd.filter_map(|odd| {
        let (fastest, odd_rate) = best(&odd.shape)?;
        let distance = |one: &Measurement| (elements(one) - elements(odd)).abs();
        let whole = measured.iter().filter(is_whole);
        let near = whole.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let (whole, whole_rate) = best(&near.shape)?;
        let spread = |one: &Measurement| one.times.get(&Side::Kernel).map(|times| times.spread());
        Some(Found {
            value: odd_rate / whole_rate,
            spread: Some(spread(fastest)? + spread(whole)?),
            at: format!(
                "{}, beside {}",
                fastest.place(),
                whole.shape.replace('x', "×")
            ),
        })
    }))
}

lesson::kernels! {
    transpose_coalesced_read: "no shared memory; reads coalesced, writes strided",
        run(by_input),
        expecting(&[exactly(LoadSectors, 4.0), exactly(StoreSectors, 32.0), NO_LOCAL]),
        published(&[on_h200(0.962)]);
    transpose_coalesced_write: "no shared memory; reads strided, writes coalesced",
        run(by_output),
        expecting(&[exactly(LoadSectors, 32.0), exactly(StoreSectors, 4.0), NO_LOCAL]),
        published(&[on_h200(0.390)]);
    transpose_coalesced_write_ldg: "the same, reads through the read-only path",
        run(by_output),
        expecting(&[exactly(LoadSectors, 32.0), exactly(StoreSectors, 4.0), NO_LOCAL]);
    transpose_shared: "tile in shared memory, column read: 32-way bank conflicts",
        run(by_input), expecting(&tiled(31.0, 4.0)),
        published(&[on_h200(0.510), on_rtx_3090(1.10)]);
    transpose_padded: "tile row padded by one element",
        run(by_input), expecting(&tiled(0.0, 4.0)), published(&[on_h200(0.286), on_rtx_3090(0.92)]);
    transpose_swizzled: "tile column XOR tile row: no padding",
        run(by_input), expecting(&tiled(0.0, 4.0)), published(&[on_h200(0.286), on_rtx_3090(0.92)]);
    transpose_vectorized: "64×64 tile, 16-byte accesses, swizzled 16-byte vectors",
        run(large), expecting(&tiled(0.0, 16.0)), timed_at(TIMED);
    transpose_safe: "the swizzled tile, as a safe function",
        run_safely(), expecting(&tiled(0.0, 4.0));
}

/// The shapes at which the fastest are timed: the catalogue's size, one too large for any cache,
/// and nearby sizes with sides that are not multiples of 64, or not even of 4.
const TIMED: &[&[u32]] = &[
    &[8192, 8192],
    &[32768, 32768],
    &[8200, 8200],
    &[8191, 8193],
    &[8190, 8194],
    &[8100, 8300],
    &[32767, 32769],
];

const NO_LOCAL: Expectation = exactly(LocalSectors, 0.0);

/// Through a tile: both global accesses coalesced, stores to the tile without
/// conflicts.
const fn tiled(load_conflicts: f64, sectors: f64) -> [Expectation; 5] {
    [
        exactly(LoadConflicts, load_conflicts),
        exactly(StoreConflicts, 0.0),
        exactly(LoadSectors, sectors),
        exactly(StoreSectors, sectors),
        NO_LOCAL,
    ]
}

const fn on_h200(time_ms: f64) -> Published {
    published("H200, CUDA C++", time_ms)
}

const fn on_rtx_3090(time_ms: f64) -> Published {
    published("RTX 3090, CUDA C++", time_ms)
}

const fn published(machine: &'static str, time_ms: f64) -> Published {
    Published {
        machine,
        shape: "8192x8192",
        time_ms,
    }
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    match (effort, engine) {
        (Effort::Quick, _) => vec![Shape::every(&[33, 33]), Shape::of(&[256, 256])],
        (Effort::Sample, _) => vec![Shape::of(&[1024, 1024])],
        (Effort::Default, EngineKind::Sim) => {
            vec![Shape::every(&[64, 64]), Shape::of(&[2048, 2048])]
        }
        (Effort::Default | Effort::Full, _) => {
            vec![Shape::every(&[64, 64]), Shape::of(&[8192, 8192])]
        }
    }
}

/// The counts are whole-warp figures: no tile may extend past the edge.
fn expects_at(shape: &Shape) -> bool {
    let (n_rows, n_columns) = shape.matrix();
    let whole = |side: u32| side.is_multiple_of(transpose::LARGE_TILE);
    !shape.is_sweep() && whole(n_rows) && whole(n_columns)
}

/// The parameters of kernels with pointers: input, output, rows, columns.
type Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32, u32);

/// Blocks of 32×32 threads along the input's rows.
pub fn by_input(n_rows: u32, n_columns: u32) -> LaunchConfig {
    LaunchConfig::new(transpose::grid(n_rows, n_columns), transpose::BLOCK)
}

/// Blocks of 32×32 threads along the output's rows.
pub fn by_output(n_rows: u32, n_columns: u32) -> LaunchConfig {
    LaunchConfig::new(
        transpose::grid_by_output(n_rows, n_columns),
        transpose::BLOCK,
    )
}

/// Blocks for large tiles.
pub fn large(n_rows: u32, n_columns: u32) -> LaunchConfig {
    LaunchConfig::new(
        transpose::large_grid(n_rows, n_columns),
        transpose::LARGE_BLOCK,
    )
}

/// A matrix in a buffer, and room for its transpose in another, each from a given value on.
///
/// Outputs are aligned to 256 bytes, and where `n_columns` is a multiple of 4 inputs to 16.
struct Matrices<'e> {
    input: Buffer<'e, f32>,
    first_input: usize,
    output: Buffer<'e, f32>,
    first_output: usize,
    n_rows: u32,
    n_columns: u32,
}

/// How a kernel is launched.
type Launch<'l> = dyn Fn(&mut Trial<'_>, Act, &mut Matrices<'_>) -> Result<(), CaseError> + 'l;

/// Verifies a transpose on the trial's shape, and measures it if that is one
/// shape and not a sweep. `config` is the kernel's geometry for rows and columns.
pub fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    config: fn(u32, u32) -> LaunchConfig,
) -> Result<(), CaseError> {
    run_by(trial, &|trial, act, on| {
        let input = on.input.ptr_at(on.first_input);
        let output = on.output.ptr_mut_at(on.first_output);
        let args = (input, output, on.n_rows, on.n_columns);
        // SAFETY: both buffers hold n_rows · n_columns elements from there on, aligned as stated
        // above, and outlive the launches; the grid is the kernel's own.
        let launch = unsafe { Prepared::of::<K>(config(on.n_rows, on.n_columns), args) }?;
        trial.act(act, &launch)
    })
}

fn run_safely(trial: &mut Trial<'_>, _: transpose_safe) -> Result<(), CaseError> {
    run_by(trial, &|trial, act, on| {
        let (n_rows, n_columns) = (on.n_rows, on.n_columns);
        let n_elements = n_rows as usize * n_columns as usize;
        let from = |first| first..first + n_elements;
        let input = on.input.input_of(from(on.first_input));
        let output = on.output.output_of(from(on.first_output));
        let views = (input, output, n_rows, n_columns);
        trial.act_safely(act, transpose_safe, by_output(n_rows, n_columns), views)
    })
}

fn run_by(trial: &mut Trial<'_>, launch: &Launch<'_>) -> Result<(), CaseError> {
    if trial.shape().is_sweep() {
        run_sweep(trial, launch)
    } else {
        run_one(trial, launch)
    }
}

fn run_one(trial: &mut Trial<'_>, launch: &Launch<'_>) -> Result<(), CaseError> {
    let (n_rows, n_columns) = trial.shape().matrix();
    let n_elements = n_rows as usize * n_columns as usize;
    let mut matrices = Matrices {
        input: Buffer::of(trial.engine(), "input", &inputs::distinct(n_elements))?,
        first_input: 0,
        output: Buffer::poisoned(trial.engine(), "output", n_elements)?,
        first_output: 0,
        n_rows,
        n_columns,
    };
    launch(trial, Act::Counted, &mut matrices)?;
    let (got, shape) = (
        matrices.output.read()?,
        [n_rows as usize, n_columns as usize],
    );
    trial.verdict(compare_with_transpose(&got, shape, 0, trial.tolerance()))?;
    drop(got);
    trial.check_counts()?;
    launch(trial, Act::Timed, &mut matrices)
}

/// Elements between two outputs of a sweep, which must not be written.
const GUARD: usize = 64;

/// Every shape up to the trial's, each exact.
///
/// All outputs lie in one allocation with guards between them, so that it is
/// poisoned once and read once. The inputs are the ends of one array: a kernel
/// that reads past its input reads past the allocation, which the simulator
/// reports.
fn run_sweep(trial: &mut Trial<'_>, launch: &Launch<'_>) -> Result<(), CaseError> {
    let (max_rows, max_columns) = trial.shape().matrix();
    // A multiple of 4, so that the end is aligned to 16 bytes.
    let max_elements = (max_rows as usize * max_columns as usize).next_multiple_of(4);
    let shapes = || {
        (1..=max_rows)
            .flat_map(move |n_rows| (1..=max_columns).map(move |n_columns| (n_rows, n_columns)))
    };
    let room = |n_rows: u32, n_columns: u32| {
        (n_rows as usize * n_columns as usize).next_multiple_of(GUARD) + GUARD
    };
    let total: usize = shapes()
        .map(|(n_rows, n_columns)| room(n_rows, n_columns))
        .sum();

    let mut matrices = Matrices {
        input: Buffer::of(trial.engine(), "input", &inputs::distinct(max_elements))?,
        first_input: 0,
        output: Buffer::poisoned(trial.engine(), "outputs", GUARD + total)?,
        first_output: GUARD,
        n_rows: 0,
        n_columns: 0,
    };
    for (n_rows, n_columns) in shapes() {
        (matrices.n_rows, matrices.n_columns) = (n_rows, n_columns);
        matrices.first_input = max_elements - n_rows as usize * n_columns as usize;
        launch(trial, Act::Verified, &mut matrices)
            .map_err(|error| error.of_size(&[n_rows, n_columns]))?;
        matrices.first_output += room(n_rows, n_columns);
    }

    let outputs = matrices.output.read_with_gaps()?;
    guarded::check(&outputs[..GUARD], "before the first output")?;
    let mut start = GUARD;
    for (n_rows, n_columns) in shapes() {
        let n_elements = n_rows as usize * n_columns as usize;
        let (got, rest) = outputs[start..start + room(n_rows, n_columns)].split_at(n_elements);
        let first = max_elements - n_elements;
        let shape = [n_rows as usize, n_columns as usize];
        let compared = compare_with_transpose(got, shape, first, trial.tolerance());
        trial
            .verdict(compared.map_err(|mismatch| mismatch.after(start)))
            .map_err(|error| error.of_size(&[n_rows, n_columns]))?;
        guarded::check(rest, "after the output")
            .map_err(|error| error.of_size(&[n_rows, n_columns]))?;
        start += room(n_rows, n_columns);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::LESSON;
    use lesson::{Effort, Shape};
    use lockstep::engine::EngineKind;

    #[test]
    fn every_run_sweeps_and_only_whole_tiles_have_claims() {
        for engine in [EngineKind::Gpu, EngineKind::Sim] {
            for effort in [Effort::Quick, Effort::Default, Effort::Full] {
                let shapes = (LESSON.shapes)(engine, effort);
                assert!(shapes.iter().any(Shape::is_sweep));
                assert!(shapes.iter().any(|shape| (LESSON.expects_at)(shape)));
            }
        }
        assert!(!(LESSON.expects_at)(&Shape::of(&[64, 65])));
    }
}
