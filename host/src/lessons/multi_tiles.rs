//! One 16×256 tile read by columns and by rows: one layout for both, or a layout
//! for each.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::tensor::grid;
use gpu_kernels::tensor::multi::{
    BLOCK, COLUMNS, ELEMENTS, interleaved_plain, interleaved_swizzled, multi_both_plain,
    multi_both_swizzled, multi_columns_plain, multi_columns_swizzled, multi_rows_plain,
    multi_rows_swizzled,
};
use half::f16;
use lesson::half_matrices::{
    MATRIX, SIDE, View, f16_rounding, f32_sum_error, product_transposed, uniform_f16, widened,
};
use lesson::verify::{Element, Mismatch, Tolerance, compare_slices};
use lesson::{CaseError, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{LdmatrixConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, EngineError, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "multi_tiles",
    title: "One layout for two ways of reading",
    idea: "two swizzles, one after the other, serve blocks of columns and rows read as matrices; neither disturbs the other",
    source: "gpu-kernels/src/10_tensor/05_multi.rs",
    kernels: KERNELS,
    shapes: |engine, effort| Shape::problems([2, 8, 2048], engine, effort),
    work,
    memory: |shape| Footprint::of(shape.n_elements(), 49_152, 114_700),
    expects_at: |shape| shape.dims() == [1],
    targets: &[],
};

const IN_F32: Tolerance = Tolerance::Absolute(f32_sum_error(16));
const IN_F16: Tolerance = Tolerance::Absolute(f32_sum_error(16) + f16_rounding(16));

lesson::kernels! {
    multi_columns_plain: "C1 out of plain tiles",
        run_one(by_columns), within(IN_F32), expecting(&[ldmatrix(896.0)]);
    multi_columns_swizzled: "C1, Swizzle<3, 3, 5> then Swizzle<1, 3, 3>",
        run_one(by_columns), within(IN_F32), expecting(&[ldmatrix(0.0)]);
    multi_rows_plain: "C2 out of plain tiles",
        run_one(by_rows), within(IN_F32), expecting(&[ldmatrix(128.0)]);
    multi_rows_swizzled: "C2, Swizzle<3, 3, 5> then Swizzle<1, 3, 3>",
        run_one(by_rows), within(IN_F32), expecting(&[ldmatrix(0.0)]);
    multi_both_plain: "C1 and C2 out of the same plain tiles",
        run_both(), within(IN_F32), expecting(&[ldmatrix(896.0 + 128.0)]);
    multi_both_swizzled: "C1 and C2 out of the same tiles, one layout for both",
        run_both(), within(IN_F32), expecting(&[ldmatrix(0.0)]);
    interleaved_plain: "results through shared memory, plain",
        run_both(), within(IN_F16), expecting(&[ldmatrix(896.0 + 128.0)]);
    interleaved_swizzled: "results through shared memory, re-laid between the products",
        run_both(), within(IN_F16),
        expecting(&[ldmatrix(0.0), exactly(SharedStoreConflicts, 0.0)]);
}

const fn ldmatrix(conflicts: f64) -> Expectation {
    exactly(LdmatrixConflicts, conflicts)
}

/// The work of both products, in f32.
fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.n()) * u64::from(ELEMENTS);
    Work::new(n * (2 * 2 + 2 * 4), n * 2 * 2 * SIDE as u64)
}

/// From A and B, 16×256 each, to all of a result.
type Reference = fn(&[f64], &[f64]) -> Vec<f64>;

/// C1: column block w is Aʷ·Bʷᵀ.
fn by_columns(a: &[f64], b: &[f64]) -> Vec<f64> {
    let columns = COLUMNS as usize;
    let mut c = vec![0.0; a.len()];
    for first in (0..columns).step_by(SIDE) {
        let block = product_transposed(View::new(a, first, columns), View::new(b, first, columns));
        for (index, value) in block.into_iter().enumerate() {
            c[index / SIDE * columns + first + index % SIDE] = value;
        }
    }
    c
}

/// C2: row w, as a 16×16 matrix, is that of A times that of B transposed.
fn by_rows(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len())
        .step_by(MATRIX)
        .flat_map(|first| product_transposed(View::new(a, first, SIDE), View::new(b, first, SIDE)))
        .collect()
}

/// A and B of every problem.
struct Inputs<'e> {
    n_problems: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    a_buffer: Buffer<'e, f16>,
    b_buffer: Buffer<'e, f16>,
}

impl<'e> Inputs<'e> {
    fn new(trial: &Trial<'e>) -> Result<Self, EngineError> {
        let n_problems = trial.shape().n() as usize;
        let a = uniform_f16(0xA2, n_problems * ELEMENTS as usize);
        let b = uniform_f16(0xB2, n_problems * ELEMENTS as usize);
        Ok(Self {
            n_problems,
            a_buffer: Buffer::of(trial.engine(), "a", &a)?,
            b_buffer: Buffer::of(trial.engine(), "b", &b)?,
            a: widened(&a),
            b: widened(&b),
        })
    }

    fn output<T: Element>(
        &self,
        trial: &Trial<'e>,
        label: &str,
    ) -> Result<Buffer<'e, T>, EngineError> {
        Buffer::poisoned(trial.engine(), label, self.a.len())
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig::new(grid(self.n_problems as u32), BLOCK)
    }

    fn check<T: Element>(
        &self,
        trial: &mut Trial<'_>,
        output: &Buffer<'_, T>,
        reference: Reference,
    ) -> Result<(), CaseError> {
        let got: Vec<f64> = output.read()?.into_iter().map(T::to_f64).collect();
        let elements = ELEMENTS as usize;
        for problem in 0..self.n_problems {
            let part = problem * elements..(problem + 1) * elements;
            let first = part.start;
            let expected = reference(&self.a[part.clone()], &self.b[part.clone()]);
            let compared = compare_slices(&got[part], &expected, trial.tolerance());
            let in_matrix = |mismatch: Mismatch| mismatch.in_matrix(COLUMNS as usize).after(first);
            trial.verdict(compared.map_err(in_matrix))?;
        }
        Ok(())
    }
}

fn run_one<K: Kernel<Args = (DevicePtr<f16>, DevicePtr<f16>, DevicePtrMut<f32>)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    reference: Reference,
) -> Result<(), CaseError> {
    let inputs = Inputs::new(trial)?;
    let c = inputs.output::<f32>(trial, "c")?;
    let (a, b) = (inputs.a_buffer.as_ptr(), inputs.b_buffer.as_ptr());
    let args = (a, b, c.as_mut_ptr());
    // SAFETY: 16×256 elements per problem in each, aligned to 256 bytes; a block per
    // problem.
    let launch = unsafe { Prepared::of::<K>(inputs.config(), args) }?;
    trial.launch(&launch)?;
    inputs.check(trial, &c, reference)?;
    trial.finish(&launch)
}

/// Arguments of kernels with both results: A, B, C1, C2.
type Both<T> = (
    DevicePtr<f16>,
    DevicePtr<f16>,
    DevicePtrMut<T>,
    DevicePtrMut<T>,
);

fn run_both<T: Element, K: Kernel<Args = Both<T>>>(
    trial: &mut Trial<'_>,
    _kernel: K,
) -> Result<(), CaseError> {
    let inputs = Inputs::new(trial)?;
    let c1 = inputs.output::<T>(trial, "c1")?;
    let c2 = inputs.output::<T>(trial, "c2")?;
    let (a, b) = (inputs.a_buffer.as_ptr(), inputs.b_buffer.as_ptr());
    let args = (a, b, c1.as_mut_ptr(), c2.as_mut_ptr());
    // SAFETY: as in `run_one`.
    let launch = unsafe { Prepared::of::<K>(inputs.config(), args) }?;
    trial.launch(&launch)?;
    inputs.check(trial, &c1, by_columns)?;
    inputs.check(trial, &c2, by_rows)?;
    trial.finish(&launch)
}
