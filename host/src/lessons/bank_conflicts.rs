//! Bank conflicts of one block that accesses rows or columns, once.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::bank_conflicts::{
    BLOCK, COLUMNS, ELEMENTS, GRID, ROWS, bank_load_columns, bank_load_rows, bank_store_columns,
    bank_store_rows, bank_warm_up,
};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::verify::compare;
use lesson::{CaseError, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{SharedLoadConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "bank_conflicts",
    title: "Bank conflicts",
    idea: "a warp that reads down a column of rows of 32 words finds all of it in one bank",
    source: "gpu-kernels/src/03_bank_conflicts/01_columns.rs",
    kernels: KERNELS,
    shapes: |_, _| vec![Shape::of(&[ROWS, COLUMNS])],
    work: |_| Work::new(2 * 4 * u64::from(ELEMENTS), 0),
    memory: |_| Footprint::SMALL,
    expects_at: |_| true,
    targets: &[],
};

lesson::kernels! {
    bank_warm_up: "runs before the first kernel that is timed",
        run(upside_down), expecting(&conflicts(0.0, 0.0));
    bank_store_rows: "stores along rows", run(upside_down), expecting(&conflicts(0.0, 0.0));
    bank_store_columns: "stores along columns: 31 conflicts per warp",
        run(transposed), expecting(&conflicts(992.0, 0.0));
    bank_load_rows: "loads along rows", run(upside_down), expecting(&conflicts(0.0, 0.0));
    bank_load_columns: "loads along columns: 31 conflicts per warp",
        run(transposed), expecting(&conflicts(0.0, 992.0));
}

const fn conflicts(of_stores: f64, of_loads: f64) -> [Expectation; 2] {
    [
        exactly(SharedStoreConflicts, of_stores),
        exactly(SharedLoadConflicts, of_loads),
    ]
}

/// The input element that belongs at `(row, column)` of the output.
type Source = fn(usize, usize) -> (usize, usize);

fn upside_down(row: usize, column: usize) -> (usize, usize) {
    (ROWS as usize - 1 - row, column)
}

fn transposed(row: usize, column: usize) -> (usize, usize) {
    (column, row)
}

fn run<K: Kernel<Args = (DevicePtr<f32>, DevicePtrMut<f32>)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    source: Source,
) -> Result<(), CaseError> {
    let input = Buffer::of(
        trial.engine(),
        "input",
        &inputs::distinct(ELEMENTS as usize),
    )?;
    let output = Guarded::poisoned(trial.engine(), "output", ELEMENTS as usize)?;
    // SAFETY: both hold the array's elements and outlive the launches; one
    // block, as the kernels ask.
    let launch = unsafe {
        Prepared::of::<K>(
            LaunchConfig::new(GRID, BLOCK),
            (input.as_ptr(), output.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    let n_columns = COLUMNS as usize;
    let expected = |index| {
        let (row, column) = source(index / n_columns, index % n_columns);
        inputs::distinct_at(row * n_columns + column)
    };
    trial.verdict(
        compare(&output.read()?, expected, trial.tolerance())
            .map_err(|mismatch| mismatch.in_matrix(n_columns)),
    )?;
    trial.finish(&launch)
}
