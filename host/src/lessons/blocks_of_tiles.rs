//! 16×16 blocks loaded by `ldmatrix` from tiles of 16, 32 and 64 columns, and a
//! plain 16-column tile made free of conflicts by another order of addresses.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::tensor::address_order::{address_order_plain, address_order_swapped};
use gpu_kernels::tensor::wide::{
    tile32_plain, tile32_product_plain, tile32_product_swizzled, tile32_swizzled, tile64_all_plain,
    tile64_all_swizzled, tile64_one_plain, tile64_one_swizzled,
};
use gpu_kernels::tensor::{BLOCK, grid};
use half::f16;
use lesson::half_matrices::{
    MATRIX, SIDE, View, f32_sum_error, product, product_transposed, uniform_f16, widened,
};
use lesson::verify::{Tolerance, compare_slices};
use lesson::{CaseError, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{LdmatrixConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "blocks_of_tiles",
    title: "Blocks of wider tiles",
    idea: "the wider the tile, the more rows of a block share a bank; one swizzle per width ends it",
    source: "gpu-kernels/src/10_tensor/03_wide.rs",
    kernels: KERNELS,
    shapes: |engine, effort| Shape::problems([3, 64, 16384], engine, effort),
    work,
    memory: |shape| Footprint::of(shape.n_elements(), 3072, 12_288),
    expects_at: |shape| shape.dims() == [1],
    targets: &[],
};

const SUM_OF_16: Tolerance = Tolerance::Absolute(f32_sum_error(16));
const SUM_OF_64: Tolerance = Tolerance::Absolute(f32_sum_error(64));

lesson::kernels! {
    address_order_plain: "16 columns, A·Aᵀ, addresses as usual",
        run(16, own_transpose), within(SUM_OF_16), expecting(&conflicts(4.0));
    address_order_swapped: "16 columns, A·Aᵀ, half of the lanes ask for the other half of their row",
        run(16, own_transpose), within(SUM_OF_16), expecting(&conflicts(0.0));
    tile32_plain: "32 columns, L·Rᵀ, two loads",
        run(32, left_times_right_transposed), within(SUM_OF_16), expecting(&conflicts(24.0));
    tile32_swizzled: "32 columns, L·Rᵀ, Swizzle<2, 3, 3>",
        run(32, left_times_right_transposed), within(SUM_OF_16), expecting(&conflicts(0.0));
    tile64_one_plain: "64 columns, one load",
        run(64, own_transpose), within(SUM_OF_16), expecting(&conflicts(28.0));
    tile64_one_swizzled: "64 columns, one load, Swizzle<3, 3, 3>",
        run(64, own_transpose), within(SUM_OF_16), expecting(&conflicts(0.0));
    tile64_all_plain: "64 columns, four loads",
        run(64, own_transpose_of_four), within(SUM_OF_64), expecting(&conflicts(112.0));
    tile64_all_swizzled: "64 columns, four loads, Swizzle<3, 3, 3>",
        run(64, own_transpose_of_four), within(SUM_OF_64), expecting(&conflicts(0.0));
    tile32_product_plain: "A·B out of one tile, B through .trans",
        run(32, left_times_right), within(SUM_OF_16), expecting(&conflicts(24.0));
    tile32_product_swizzled: "A·B out of one tile, B through .trans, Swizzle<2, 3, 3>",
        run(32, left_times_right), within(SUM_OF_16), expecting(&conflicts(0.0));
}

const fn conflicts(ldmatrix: f64) -> [Expectation; 2] {
    [
        exactly(LdmatrixConflicts, ldmatrix),
        exactly(SharedStoreConflicts, 0.0),
    ]
}

/// For the widest tile; the others move less.
fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.n()) * MATRIX as u64;
    Work::new(n * (2 * 4 + 4), n * 4 * 2 * SIDE as u64)
}

/// From a tile and its number of columns to the 16×16 result.
pub type Reference = fn(&[f64], usize) -> [f64; MATRIX];

/// T₀·T₀ᵀ.
pub fn own_transpose(tile: &[f64], n_columns: usize) -> [f64; MATRIX] {
    let block = View::new(tile, 0, n_columns);
    product_transposed(block, block)
}

/// Σ Tᵢ·Tᵢᵀ over all blocks.
pub fn own_transpose_of_four(tile: &[f64], n_columns: usize) -> [f64; MATRIX] {
    let mut sum = [0.0; MATRIX];
    for first in (0..n_columns).step_by(SIDE) {
        let block = View::new(tile, first, n_columns);
        for (sum, term) in sum.iter_mut().zip(product_transposed(block, block)) {
            *sum += term;
        }
    }
    sum
}

/// L·Rᵀ.
pub fn left_times_right_transposed(tile: &[f64], n_columns: usize) -> [f64; MATRIX] {
    product_transposed(
        View::new(tile, 0, n_columns),
        View::new(tile, SIDE, n_columns),
    )
}

/// L·R.
pub fn left_times_right(tile: &[f64], n_columns: usize) -> [f64; MATRIX] {
    product(
        View::new(tile, 0, n_columns),
        View::new(tile, SIDE, n_columns),
    )
}

/// Runs a kernel that makes one 16×16 result of each tile of `n_columns`.
pub fn run<K: Kernel<Args = (DevicePtr<f16>, DevicePtrMut<f32>)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    n_columns: usize,
    reference: Reference,
) -> Result<(), CaseError> {
    let n_problems = trial.shape().n() as usize;
    let tile_elements = SIDE * n_columns;
    let input = uniform_f16(0x71, n_problems * tile_elements);
    let input_buffer = Buffer::of(trial.engine(), "input", &input)?;
    let output = Buffer::<f32>::poisoned(trial.engine(), "output", n_problems * MATRIX)?;
    let config = LaunchConfig::new(grid(n_problems as u32), BLOCK);
    let args = (input_buffer.as_ptr(), output.as_mut_ptr());
    // SAFETY: a tile and a matrix per problem, aligned to 256 bytes; a block per
    // problem.
    let launch = unsafe { Prepared::of::<K>(config, args) }?;
    trial.launch(&launch)?;
    let got: Vec<f64> = output.read()?.into_iter().map(f64::from).collect();
    let (input, all) = (widened(&input), got.chunks(MATRIX));
    for (problem, (tile, got)) in input.chunks(tile_elements).zip(all).enumerate() {
        let expected = reference(tile, n_columns);
        let compared = compare_slices(got, &expected, trial.tolerance());
        let first = problem * MATRIX;
        trial.verdict(compared.map_err(|mismatch| mismatch.in_matrix(SIDE).after(first)))?;
    }
    trial.finish(&launch)
}
