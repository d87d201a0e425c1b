//! Coalescing: one sum, six orders of its elements.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::coalescing::{
    self, add, add_broadcast, add_offset, add_permuted, add_safe, add_stride, add_vectorized,
};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::measure::Side;
use lesson::target::most;
use lesson::verify::{Element, compare};
use lesson::{
    Act, CaseError, Effort, Footprint, Found, Lesson, Measurement, Shape, Target, Trial, Work,
    exactly,
};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    GlobalLoadDegreePercent as LoadDegree, GlobalLoadSectorsPerRequest as LoadSectors,
    GlobalStoreDegreePercent as StoreDegree, GlobalStoreSectorsPerRequest as StoreSectors,
    LocalSectors,
};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "coalescing",
    title: "Coalescing",
    idea: "lanes side by side share sectors of memory; lanes far apart fetch eight times the bytes they use",
    source: "gpu-kernels/src/02_coalescing.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| Work::new(3 * 4 * u64::from(shape.n()), shape.n().into()),
    memory: |shape| Footprint::of(shape.n_elements(), 12, 16),
    expects_at,
    targets: &TARGETS,
};

static TARGETS: [Target; 1] = [Target::at_least(
    "vector add, 2²⁶ f32 and more",
    "device-to-device copy's bytes per second",
    1.03,
    vector_add,
)];

/// The fastest addition, except strided and broadcast ones, which move other bytes.
fn vector_add(measured: &[Measurement]) -> Option<Found> {
    const STRAIGHT: [&str; 2] = [add::NAME, add_vectorized::NAME];
    let is_meant =
        |one: &&Measurement| STRAIGHT.contains(&&*one.kernel) && one.dims() >= vec![1 << 26];
    let meant = measured.iter().filter(is_meant);
    most(meant.filter_map(|one| Found::speed(one, Side::Copy)))
}

lesson::kernels! {
    add: "one element per thread, lanes side by side",
        run(&IN_PLACE), expecting(&claims([4.0, 100.0], [4.0, 100.0]));
    add_permuted: "neighbouring lanes change places: no loss",
        run(&IN_PLACE), expecting(&claims([4.0, 100.0], [4.0, 100.0]));
    add_offset: "one element later: a fifth sector",
        run(&ONE_LATER), expecting(&claims([5.0, 80.0], [5.0, 80.0]));
    add_stride: "lanes a grid apart: one sector per lane",
        run(&IN_PLACE), expecting(&claims([32.0, 12.5], [32.0, 12.5]));
    // Half of the loads are of x (one sector for one word), half of y (four).
    add_broadcast: "x[0] for all lanes: one sector, one word of it",
        run(&BROADCAST), expecting(&claims([2.5, 82.5], [4.0, 100.0]));
    add_vectorized: "16 bytes per access, four elements per thread",
        run(&VECTORIZED),
        expecting(&claims([16.0, 100.0], [16.0, 100.0])), timed_at(&[&[TIMED], &[1 << 28]]);
    add_safe: "lanes side by side, as a safe function",
        run_safely(&IN_PLACE), expecting(&claims([4.0, 100.0], [4.0, 100.0]));
}

/// Sectors per request and degree, of loads and of stores.
const fn claims(load: [f64; 2], store: [f64; 2]) -> [Expectation; 5] {
    [
        exactly(LoadSectors, load[0]),
        exactly(LoadDegree, load[1]),
        exactly(StoreSectors, store[0]),
        exactly(StoreDegree, store[1]),
        exactly(LocalSectors, 0.0),
    ]
}

/// The size that the catalogue counts: 128 blocks of one warp.
const COUNTED: u32 = coalescing::COUNTED_BLOCKS * coalescing::COUNTED_BLOCK_THREADS;
/// The size that is timed: 256 MiB per vector, many times the L2 cache.
const TIMED: u32 = 1 << 26;

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    match (effort, engine) {
        (Effort::Quick, _) => vec![Shape::every(&[40]), Shape::of(&[COUNTED])],
        (Effort::Sample, _) => vec![Shape::of(&[1 << 18])],
        (Effort::Default | Effort::Full, EngineKind::Sim) => vec![
            Shape::every(&[300]),
            Shape::of(&[COUNTED]),
            Shape::of(&[100_003]),
            Shape::of(&[1 << 18]),
        ],
        (Effort::Default | Effort::Full, EngineKind::Gpu) => vec![
            Shape::every(&[300]),
            Shape::of(&[COUNTED]),
            Shape::of(&[100_003]),
            Shape::of(&[TIMED]),
        ],
    }
}

/// The counts are for whole warps and whole sectors, and 8 blocks or more.
fn expects_at(shape: &Shape) -> bool {
    let n = shape.n();
    !shape.is_sweep() && n >= COUNTED && n.is_multiple_of(coalescing::VECTORIZED_BLOCK_ELEMENTS)
}

/// The parameters of kernels with pointers: x, y, z, elements.
type Args = (DevicePtr<f32>, DevicePtr<f32>, DevicePtrMut<f32>, u32);

/// How a kernel is launched, and what it computes: `z[i] = x[x_index(i)] + y[i]`
/// for `first ≤ i < first + n`.
struct Pattern {
    config: fn(u32) -> LaunchConfig,
    first: u32,
    x_index: fn(usize) -> usize,
}

const IN_PLACE: Pattern = Pattern {
    config: one_a_thread,
    first: 0,
    x_index: |i| i,
};
const ONE_LATER: Pattern = Pattern {
    first: 1,
    ..IN_PLACE
};
const BROADCAST: Pattern = Pattern {
    x_index: |_| 0,
    ..IN_PLACE
};
const VECTORIZED: Pattern = Pattern {
    config: vectorized,
    ..IN_PLACE
};

/// Blocks of one warp where sectors are counted, larger ones elsewhere.
fn one_a_thread(n: u32) -> LaunchConfig {
    let threads = if n == COUNTED {
        coalescing::COUNTED_BLOCK_THREADS
    } else {
        coalescing::TIMED_BLOCK_THREADS
    };
    LaunchConfig::new(coalescing::grid(n, threads), [threads, 1, 1])
}

fn vectorized(n: u32) -> LaunchConfig {
    LaunchConfig::new(
        coalescing::vectorized_grid(n),
        [coalescing::VECTORIZED_BLOCK_THREADS, 1, 1],
    )
}

/// The vectors to add, and the result.
struct Vectors<'e> {
    x: Buffer<'e, f32>,
    y: Buffer<'e, f32>,
    z: Guarded<'e>,
    len: u32,
    config: LaunchConfig,
}

/// How a kernel is launched.
type Launch<'l> = dyn Fn(&mut Trial<'_>, Act, &mut Vectors<'_>) -> Result<(), CaseError> + 'l;

fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    pattern: &Pattern,
) -> Result<(), CaseError> {
    run_by(trial, pattern, &|trial, act, vectors| {
        let Vectors { x, y, z, len, .. } = vectors;
        let args = (x.as_ptr(), y.as_ptr(), z.as_mut_ptr(), *len);
        // SAFETY: all three vectors hold `len` elements, start at multiples of 256
        // bytes and outlive the launches; the grid is the kernel's own.
        let launch = unsafe { Prepared::of::<K>(vectors.config, args) }?;
        trial.act(act, &launch)
    })
}

fn run_safely(trial: &mut Trial<'_>, _: add_safe, pattern: &Pattern) -> Result<(), CaseError> {
    run_by(trial, pattern, &|trial, act, vectors| {
        let Vectors { x, y, z, len, .. } = vectors;
        let views = (x.input(), y.input(), z.output(), *len);
        trial.act_safely(act, add_safe, vectors.config, views)
    })
}

fn run_by(trial: &mut Trial<'_>, pattern: &Pattern, launch: &Launch<'_>) -> Result<(), CaseError> {
    let n = trial.shape().n();
    if !trial.shape().is_sweep() {
        return run_one(trial, pattern, launch, n);
    }
    for n in 0..=n {
        run_one(trial, pattern, launch, n).map_err(|error| error.of_size(&[n]))?;
    }
    Ok(())
}

fn run_one(
    trial: &mut Trial<'_>,
    pattern: &Pattern,
    launch: &Launch<'_>,
    n: u32,
) -> Result<(), CaseError> {
    let is_sweep = trial.shape().is_sweep();
    let len = (pattern.first + n) as usize;
    let (x, y) = (inputs::uniform(1, len), inputs::uniform(2, len));
    let mut vectors = Vectors {
        x: Buffer::of(trial.engine(), "x", &x)?,
        y: Buffer::of(trial.engine(), "y", &y)?,
        z: Guarded::poisoned(trial.engine(), "z", len)?,
        len: len as u32,
        config: (pattern.config)(n),
    };
    let first = match is_sweep {
        true => Act::Verified,
        false => Act::Counted,
    };
    launch(trial, first, &mut vectors)?;
    let got = vectors.z.read()?;
    let (before, got) = got.split_at(pattern.first as usize);
    if let Some(written) = before.iter().find(|value| !value.is_poison()) {
        return Err(CaseError::wrong(format!(
            "it wrote {written} before its first element"
        )));
    }
    let expected = |index: usize| {
        let i = index + pattern.first as usize;
        x[(pattern.x_index)(i)] + y[i]
    };
    let compared = compare(got, expected, trial.tolerance());
    trial.verdict(compared.map_err(|mismatch| mismatch.after(pattern.first as usize)))?;
    if is_sweep {
        return Ok(());
    }
    trial.check_counts()?;
    launch(trial, Act::Timed, &mut vectors)
}

#[cfg(test)]
mod tests {
    use super::{COUNTED, LESSON, TIMED};
    use lesson::{Effort, Shape};
    use lockstep::engine::EngineKind;

    #[test]
    fn every_run_sweeps_counts_and_has_an_odd_size() {
        for engine in [EngineKind::Gpu, EngineKind::Sim] {
            for effort in [Effort::Quick, Effort::Default, Effort::Full] {
                let shapes = (LESSON.shapes)(engine, effort);
                assert!(shapes.iter().any(Shape::is_sweep));
                assert!(shapes.iter().any(|shape| (LESSON.expects_at)(shape)));
            }
        }
    }

    #[test]
    fn claims_hold_at_the_counted_and_the_timed_size() {
        for n in [COUNTED, TIMED] {
            assert!((LESSON.expects_at)(&Shape::of(&[n])));
        }
        assert!(!(LESSON.expects_at)(&Shape::of(&[COUNTED + 1])));
        assert!(!(LESSON.expects_at)(&Shape::every(&[COUNTED])));
    }
}
