//! Copy: the yardstick of the other lessons.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::copy as kernels;
use gpu_kernels::copy::{copy, copy_safe, copy_vectorized};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::verify::compare_slices;
use lesson::{Act, CaseError, Effort, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    GlobalLoadSectorsPerRequest as LoadSectors, GlobalStoreSectorsPerRequest as StoreSectors,
    LocalSectors,
};
use lockstep::engine::{Buffer, EngineError, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "copy",
    title: "Copy",
    idea: "the memory's own speed: enough bytes must be in flight to keep it busy",
    source: "gpu-kernels/src/01_copy.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| Work::new(2 * 4 * u64::from(shape.n()), 0),
    memory: |shape| Footprint::of(shape.n_elements(), 8, 12),
    expects_at: |shape| {
        !shape.is_sweep() && shape.n().is_multiple_of(kernels::VECTORIZED_BLOCK_ELEMENTS)
    },
    targets: &[],
};

lesson::kernels! {
    copy: "one element per thread", run(one_a_thread), expecting(&claims(4.0));
    copy_vectorized: "16 bytes per access, four elements per thread",
        run(vectorized), expecting(&claims(16.0)),
        timed_at(&[&[TIMED], &[LARGE]]);
    copy_safe: "one element per thread, as a safe function", run_safely(), expecting(&claims(4.0));
}

const fn claims(sectors: f64) -> [Expectation; 3] {
    [
        exactly(LoadSectors, sectors),
        exactly(StoreSectors, sectors),
        exactly(LocalSectors, 0.0),
    ]
}

/// 256 MiB each way, as a matrix of 8192².
const TIMED: u32 = 1 << 26;
/// 4 GiB each way, as a matrix of 32768².
const LARGE: u32 = 1 << 30;

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    match (effort, engine) {
        (Effort::Quick, _) => vec![Shape::every(&[40]), Shape::of(&[1 << 14])],
        (Effort::Sample, _) => vec![Shape::of(&[1 << 18])],
        (Effort::Default | Effort::Full, EngineKind::Sim) => vec![
            Shape::every(&[300]),
            Shape::of(&[100_003]),
            Shape::of(&[1 << 18]),
        ],
        (Effort::Default | Effort::Full, EngineKind::Gpu) => vec![
            Shape::every(&[300]),
            Shape::of(&[100_003]),
            Shape::of(&[TIMED]),
        ],
    }
}

/// The parameters of kernels with pointers: input, output, elements.
type Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32);

fn one_a_thread(n: u32) -> LaunchConfig {
    LaunchConfig::new(kernels::grid(n), [kernels::BLOCK_THREADS, 1, 1])
}

fn vectorized(n: u32) -> LaunchConfig {
    LaunchConfig::new(kernels::vectorized_grid(n), [kernels::BLOCK_THREADS, 1, 1])
}

/// A launch of our best copy.
///
/// # Safety
///
/// Both pointers lead to `n` elements of live device memory and are aligned to 16
/// bytes.
///
/// # Errors
///
/// `n` is too large for a grid.
pub unsafe fn best(
    input: DevicePtr<f32>,
    output: DevicePtrMut<f32>,
    n: u32,
) -> Result<Prepared, EngineError> {
    // SAFETY: the caller's promise; the grid is the kernel's own.
    unsafe { Prepared::of::<copy_vectorized>(vectorized(n), (input, output, n)) }
}

/// The source and target of the copy.
struct Vectors<'e> {
    input: Buffer<'e, f32>,
    output: Guarded<'e>,
    n: u32,
}

/// How a kernel is launched.
type Launch<'l> = dyn Fn(&mut Trial<'_>, Act, &mut Vectors<'_>) -> Result<(), CaseError> + 'l;

fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    config: fn(u32) -> LaunchConfig,
) -> Result<(), CaseError> {
    run_by(trial, &|trial, act, Vectors { input, output, n }| {
        let args = (input.as_ptr(), output.as_mut_ptr(), *n);
        // SAFETY: both hold n elements, start at multiples of 256 bytes and outlive the
        // launches; the grid is the kernel's own.
        let launch = unsafe { Prepared::of::<K>(config(*n), args) }?;
        trial.act(act, &launch)
    })
}

fn run_safely(trial: &mut Trial<'_>, _: copy_safe) -> Result<(), CaseError> {
    run_by(trial, &|trial, act, Vectors { input, output, n }| {
        let views = (input.input(), output.output(), *n);
        trial.act_safely(act, copy_safe, one_a_thread(*n), views)
    })
}

fn run_by(trial: &mut Trial<'_>, launch: &Launch<'_>) -> Result<(), CaseError> {
    let n = trial.shape().n();
    if !trial.shape().is_sweep() {
        return run_one(trial, launch, n);
    }
    // And around the end of one of the larger blocks.
    let block = kernels::VECTORIZED_BLOCK_ELEMENTS;
    for n in (0..=n).chain([block - 1, block, block + 1, 2 * block + 3]) {
        run_one(trial, launch, n).map_err(|error| error.of_size(&[n]))?;
    }
    Ok(())
}

fn run_one(trial: &mut Trial<'_>, launch: &Launch, n: u32) -> Result<(), CaseError> {
    let is_sweep = trial.shape().is_sweep();
    let values = inputs::distinct(n as usize);
    let mut vectors = Vectors {
        input: Buffer::of(trial.engine(), "input", &values)?,
        output: Guarded::poisoned(trial.engine(), "output", n as usize)?,
        n,
    };
    let first = match is_sweep {
        true => Act::Verified,
        false => Act::Counted,
    };
    launch(trial, first, &mut vectors)?;
    trial.verdict(compare_slices(
        &vectors.output.read()?,
        &values,
        trial.tolerance(),
    ))?;
    if is_sweep {
        return Ok(());
    }
    trial.check_counts()?;
    launch(trial, Act::Timed, &mut vectors)
}
