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
use lesson::verify::{Element, Tolerance, compare_slices};
use lesson::{CaseError, Effort, Footprint, KernelEntry, Lesson, Shape, Trial, Work};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{LdmatrixConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, EngineError, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "multi_tiles",
    title: "One layout for two ways of reading",
    idea: "two swizzles, one after the other, serve blocks of columns and rows read as matrices; neither disturbs the other",
    source: "gpu-kernels/src/10_tensor/05_multi.rs",
    kernels: &KERNELS,
    shapes,
    work,
    memory: |shape| Footprint::of(shape.n_elements(), 49_152, 114_700),
    expects_at: |shape| shape.dims() == [1],
    targets: &[],
};

const IN_F32: Tolerance = Tolerance::Absolute(f32_sum_error(16));
const IN_F16: Tolerance = Tolerance::Absolute(f32_sum_error(16) + f16_rounding(16));

static KERNELS: [KernelEntry; 8] = [
    KernelEntry::of(multi_columns_plain, "C1 out of plain tiles", |trial| {
        run_one(trial, multi_columns_plain, by_columns)
    })
    .within(IN_F32)
    .expecting(&[ldmatrix(896.0)]),
    KernelEntry::of(
        multi_columns_swizzled,
        "C1, Swizzle<3, 3, 5> then Swizzle<1, 3, 3>",
        |trial| run_one(trial, multi_columns_swizzled, by_columns),
    )
    .within(IN_F32)
    .expecting(&[ldmatrix(0.0)]),
    KernelEntry::of(multi_rows_plain, "C2 out of plain tiles", |trial| {
        run_one(trial, multi_rows_plain, by_rows)
    })
    .within(IN_F32)
    .expecting(&[ldmatrix(128.0)]),
    KernelEntry::of(
        multi_rows_swizzled,
        "C2, Swizzle<3, 3, 5> then Swizzle<1, 3, 3>",
        |trial| run_one(trial, multi_rows_swizzled, by_rows),
    )
    .within(IN_F32)
    .expecting(&[ldmatrix(0.0)]),
    KernelEntry::of(
        multi_both_plain,
        "C1 and C2 out of the same plain tiles",
        run_both::<f32, multi_both_plain>,
    )
    .within(IN_F32)
    .expecting(&[ldmatrix(896.0 + 128.0)]),
    KernelEntry::of(
        multi_both_swizzled,
        "C1 and C2 out of the same tiles, one layout for both",
        run_both::<f32, multi_both_swizzled>,
    )
    .within(IN_F32)
    .expecting(&[ldmatrix(0.0)]),
    KernelEntry::of(
        interleaved_plain,
        "results through shared memory, plain",
        run_both::<f16, interleaved_plain>,
    )
    .within(IN_F16)
    .expecting(&[ldmatrix(896.0 + 128.0)]),
    KernelEntry::of(
        interleaved_swizzled,
        "results through shared memory, re-laid between the products",
        run_both::<f16, interleaved_swizzled>,
    )
    .within(IN_F16)
    .expecting(&[
        ldmatrix(0.0),
        Expectation::exactly(SharedStoreConflicts, 0.0),
    ]),
];

const fn ldmatrix(conflicts: f64) -> Expectation {
    Expectation::exactly(LdmatrixConflicts, conflicts)
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let many = match (engine, effort) {
        (_, Effort::Quick) => 2,
        (_, Effort::Sample) => return vec![Shape::of(&[8])],
        (EngineKind::Sim, Effort::Default) => 8,
        (EngineKind::Gpu, _) | (_, Effort::Full) => 2048,
    };
    vec![Shape::of(&[1]), Shape::of(&[many])]
}

/// The work of both products, in f32.
fn work(shape: &Shape) -> Work {
    let n = u64::from(shape.dims()[0]) * u64::from(ELEMENTS);
    Work {
        bytes: n * (2 * 2 + 2 * 4),
        flops: n * 2 * 2 * SIDE as u64,
    }
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
        let n_problems = trial.shape().dims()[0] as usize;
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
            let expected = reference(&self.a[part.clone()], &self.b[part.clone()]);
            let compared = compare_slices(&got[part], &expected, trial.tolerance());
            trial.verdict(compared.map_err(|mismatch| mismatch.in_matrix(COLUMNS as usize)))?;
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
    // SAFETY: 16×256 elements per problem in each, aligned to 256 bytes; a block per
    // problem.
    let launch = unsafe {
        Prepared::of::<K>(
            inputs.config(),
            (
                inputs.a_buffer.as_ptr(),
                inputs.b_buffer.as_ptr(),
                c.as_mut_ptr(),
            ),
        )
    }?;
    trial.launch(&launch)?;
    inputs.check(trial, &c, reference)?;
    trial.check_counts()?;
    trial.time(&launch)
}

fn run_both<T: Element, K>(trial: &mut Trial<'_>) -> Result<(), CaseError>
where
    K: Kernel<
        Args = (
            DevicePtr<f16>,
            DevicePtr<f16>,
            DevicePtrMut<T>,
            DevicePtrMut<T>,
        ),
    >,
{
    let inputs = Inputs::new(trial)?;
    let c1 = inputs.output::<T>(trial, "c1")?;
    let c2 = inputs.output::<T>(trial, "c2")?;
    // SAFETY: as in `run_one`.
    let launch = unsafe {
        Prepared::of::<K>(
            inputs.config(),
            (
                inputs.a_buffer.as_ptr(),
                inputs.b_buffer.as_ptr(),
                c1.as_mut_ptr(),
                c2.as_mut_ptr(),
            ),
        )
    }?;
    trial.launch(&launch)?;
    inputs.check(trial, &c1, by_columns)?;
    inputs.check(trial, &c2, by_rows)?;
    trial.check_counts()?;
    trial.time(&launch)
}
