//! C = A·Bᵀ of 16×16 matrices: the same product through plain, padded and
//! swizzled tiles.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::tensor::simple::{
    mma_simple_f16, mma_simple_padded, mma_simple_plain, mma_simple_stmatrix_plain,
    mma_simple_stmatrix_swizzled, mma_simple_swizzled,
};
use gpu_kernels::tensor::{BLOCK, grid};
use half::f16;
use lesson::half_matrices::{
    MATRIX, SIDE, View, f16_rounding, f32_sum_error, product_transposed, uniform_f16, widened,
};
use lesson::verify::{Tolerance, compare};
use lesson::{CaseError, Effort, Footprint, KernelEntry, Lesson, Shape, Trial, Work};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    LdmatrixConflicts, SharedLoadConflicts, SharedStoreConflicts, StmatrixConflicts,
};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "mma_simple",
    title: "A tensor-core product",
    idea: "ldmatrix reads eight rows of 16 bytes at a time; the tile's layout decides whether they collide",
    source: "gpu-kernels/src/10_tensor/01_simple.rs",
    kernels: &KERNELS,
    shapes,
    work,
    memory: |shape| Footprint::of(shape.n_elements(), 1536, 7680),
    expects_at: |shape| shape.dims() == [1],
    targets: &[],
};

/// Summed in f32, rounded once to f16.
const ROUNDED_ONCE: Tolerance = Tolerance::Absolute(f32_sum_error(16) + f16_rounding(16));
/// Summed in f16, two groups of eight: rounded twice.
const ROUNDED_TWICE: Tolerance = Tolerance::Absolute(f32_sum_error(16) + 2.0 * f16_rounding(16));

static KERNELS: [KernelEntry; 6] = [
    KernelEntry::of(
        mma_simple_plain,
        "plain tiles: 8 conflicts in ldmatrix, 4 in the result's stores",
        run::<mma_simple_plain>,
    )
    .within(ROUNDED_ONCE)
    .expecting(&conflicts(8.0, 4.0, 0.0, 0.0)),
    KernelEntry::of(
        mma_simple_padded,
        "rows padded by 16 bytes: the conflicts move into the copies",
        run::<mma_simple_padded>,
    )
    .within(ROUNDED_ONCE)
    .expecting(&conflicts(0.0, 8.0, 4.0, 0.0)),
    KernelEntry::of(
        mma_simple_swizzled,
        "Swizzle<1, 3, 3>: none",
        run::<mma_simple_swizzled>,
    )
    .within(ROUNDED_ONCE)
    .expecting(&conflicts(0.0, 0.0, 0.0, 0.0)),
    KernelEntry::of(
        mma_simple_stmatrix_plain,
        "plain tiles, the result stored by stmatrix",
        run::<mma_simple_stmatrix_plain>,
    )
    .within(ROUNDED_ONCE)
    .since_sm(90)
    .expecting(&conflicts(8.0, 0.0, 0.0, 4.0)),
    KernelEntry::of(
        mma_simple_stmatrix_swizzled,
        "Swizzle<1, 3, 3>, the result stored by stmatrix",
        run::<mma_simple_stmatrix_swizzled>,
    )
    .within(ROUNDED_ONCE)
    .since_sm(90)
    .expecting(&conflicts(0.0, 0.0, 0.0, 0.0)),
    KernelEntry::of(
        mma_simple_f16,
        "summed in f16 by m16n8k8, two halves",
        run::<mma_simple_f16>,
    )
    .within(ROUNDED_TWICE)
    .expecting(&conflicts(0.0, 0.0, 0.0, 0.0)),
];

const fn conflicts(ldmatrix: f64, stores: f64, loads: f64, stmatrix: f64) -> [Expectation; 4] {
    [
        Expectation::exactly(LdmatrixConflicts, ldmatrix),
        Expectation::exactly(SharedStoreConflicts, stores),
        Expectation::exactly(SharedLoadConflicts, loads),
        Expectation::exactly(StmatrixConflicts, stmatrix),
    ]
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let many = match (engine, effort) {
        (_, Effort::Quick) => 3,
        (_, Effort::Sample) => return vec![Shape::of(&[64])],
        (EngineKind::Sim, Effort::Default) => 64,
        (EngineKind::Gpu, _) | (_, Effort::Full) => 16384,
    };
    vec![Shape::of(&[1]), Shape::of(&[many])]
}

fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.dims()[0]);
    Work {
        bytes: n * 3 * 2 * MATRIX as u64,
        flops: n * 2 * (MATRIX * SIDE) as u64,
    }
}

fn run<K: Kernel<Args = (DevicePtr<f16>, DevicePtr<f16>, DevicePtrMut<f16>)>>(
    trial: &mut Trial<'_>,
) -> Result<(), CaseError> {
    let n_problems = trial.shape().dims()[0] as usize;
    let a = uniform_f16(0xA, n_problems * MATRIX);
    let b = uniform_f16(0xB, n_problems * MATRIX);
    let a_buffer = Buffer::of(trial.engine(), "a", &a)?;
    let b_buffer = Buffer::of(trial.engine(), "b", &b)?;
    let c_buffer = Buffer::<f16>::poisoned(trial.engine(), "c", n_problems * MATRIX)?;
    // SAFETY: three buffers of a matrix per problem, aligned to 256 bytes; a block
    // per problem.
    let launch = unsafe {
        Prepared::of::<K>(
            LaunchConfig::new(grid(n_problems as u32), BLOCK),
            (a_buffer.as_ptr(), b_buffer.as_ptr(), c_buffer.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    let (a, b) = (widened(&a), widened(&b));
    let got = widened(&c_buffer.read()?);
    for problem in 0..n_problems {
        let first = problem * MATRIX;
        let expected = product_transposed(View::new(&a, first, SIDE), View::new(&b, first, SIDE));
        let compared = compare(
            &got[first..first + MATRIX],
            |index| expected[index],
            trial.tolerance(),
        );
        trial.verdict(compared.map_err(|mismatch| mismatch.in_matrix(SIDE)))?;
    }
    trial.check_counts()?;
    trial.time(&launch)
}
