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
use lesson::{CaseError, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    LdmatrixConflicts, SharedLoadConflicts, SharedStoreConflicts, StmatrixConflicts,
};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "mma_simple",
    title: "A tensor-core product",
    idea: "ldmatrix reads eight rows of 16 bytes at a time; the tile's layout decides whether they collide",
    source: "gpu-kernels/src/10_tensor/01_simple.rs",
    kernels: KERNELS,
    shapes: |engine, effort| Shape::problems([3, 64, 16384], engine, effort),
    work,
    memory: |shape| Footprint::of(shape.n_elements(), 1536, 7680),
    expects_at: |shape| shape.dims() == [1],
    targets: &[],
};

/// Summed in f32, rounded once to f16.
const ROUNDED_ONCE: Tolerance = Tolerance::Absolute(f32_sum_error(16) + f16_rounding(16));
/// Summed in f16, two groups of eight: rounded twice.
const ROUNDED_TWICE: Tolerance = Tolerance::Absolute(f32_sum_error(16) + 2.0 * f16_rounding(16));

lesson::kernels! {
    mma_simple_plain: "plain tiles: 8 conflicts in ldmatrix, 4 in the result's stores",
        run(), within(ROUNDED_ONCE), expecting(&conflicts(8.0, 4.0, 0.0, 0.0));
    mma_simple_padded: "rows padded by 16 bytes: the conflicts move into the copies",
        run(), within(ROUNDED_ONCE), expecting(&conflicts(0.0, 8.0, 4.0, 0.0));
    mma_simple_swizzled: "Swizzle<1, 3, 3>: none",
        run(), within(ROUNDED_ONCE), expecting(&conflicts(0.0, 0.0, 0.0, 0.0));
    mma_simple_stmatrix_plain: "plain tiles, the result stored by stmatrix",
        run(), within(ROUNDED_ONCE), since_sm(90), expecting(&conflicts(8.0, 0.0, 0.0, 4.0));
    mma_simple_stmatrix_swizzled: "Swizzle<1, 3, 3>, the result stored by stmatrix",
        run(), within(ROUNDED_ONCE), since_sm(90), expecting(&conflicts(0.0, 0.0, 0.0, 0.0));
    mma_simple_f16: "summed in f16 by m16n8k8, two halves",
        run(), within(ROUNDED_TWICE), expecting(&conflicts(0.0, 0.0, 0.0, 0.0));
}

const fn conflicts(ldmatrix: f64, stores: f64, loads: f64, stmatrix: f64) -> [Expectation; 4] {
    [
        exactly(LdmatrixConflicts, ldmatrix),
        exactly(SharedStoreConflicts, stores),
        exactly(SharedLoadConflicts, loads),
        exactly(StmatrixConflicts, stmatrix),
    ]
}

fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.n()) * MATRIX as u64;
    Work::new(n * 3 * 2, n * 2 * SIDE as u64)
}

fn run<K: Kernel<Args = (DevicePtr<f16>, DevicePtr<f16>, DevicePtrMut<f16>)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
) -> Result<(), CaseError> {
    let n_problems = trial.shape().n() as usize;
    let a = uniform_f16(0xA, n_problems * MATRIX);
    let b = uniform_f16(0xB, n_problems * MATRIX);
    let a_buffer = Buffer::of(trial.engine(), "a", &a)?;
    let b_buffer = Buffer::of(trial.engine(), "b", &b)?;
    let c_buffer = Buffer::<f16>::poisoned(trial.engine(), "c", n_problems * MATRIX)?;
    let config = LaunchConfig::new(grid(n_problems as u32), BLOCK);
    let args = (a_buffer.as_ptr(), b_buffer.as_ptr(), c_buffer.as_mut_ptr());
    // SAFETY: three buffers of a matrix per problem, aligned to 256 bytes; a block
    // per problem.
    let launch = unsafe { Prepared::of::<K>(config, args) }?;
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
        trial.verdict(compared.map_err(|mismatch| mismatch.in_matrix(SIDE).after(first)))?;
    }
    trial.finish(&launch)
}
