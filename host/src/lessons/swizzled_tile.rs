//! A column of a 32×16 tile: 16-way, 2-way, no conflict.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::swizzled_tile::{
    BLOCK, COLUMNS, ELEMENTS, GRID, ROWS, tile_column_plain, tile_column_swizzled_lines,
    tile_column_swizzled_rows,
};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::references::compare_with_transpose;
use lesson::{CaseError, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{SharedLoadConflictsPerRequest, SharedStoreConflictsPerRequest};
use lockstep::engine::{Buffer, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "swizzled_tile",
    title: "A swizzled tile",
    idea: "XOR of the column spreads it over the banks; swizzle by what the banks span, not by the row",
    source: "gpu-kernels/src/05_swizzled_tile.rs",
    kernels: KERNELS,
    shapes: |_, _| vec![Shape::of(&[ROWS, COLUMNS])],
    work: |_| Work::new(2 * 4 * u64::from(ELEMENTS), 0),
    memory: |_| Footprint::SMALL,
    expects_at: |_| true,
    targets: &[],
};

lesson::kernels! {
    tile_column_plain: "plain column: 16-way", run(), expecting(&conflicts(15.0));
    tile_column_swizzled_rows: "column XOR row: 2-way", run(), expecting(&conflicts(1.0));
    tile_column_swizzled_lines: "column XOR line of 128 bytes: none",
        run(), expecting(&conflicts(0.0));
}

const fn conflicts(per_load: f64) -> [Expectation; 2] {
    [
        exactly(SharedLoadConflictsPerRequest, per_load),
        exactly(SharedStoreConflictsPerRequest, 0.0),
    ]
}

fn run<K: Kernel<Args = (DevicePtr<f32>, DevicePtrMut<f32>)>>(
    trial: &mut Trial<'_>,
    _kernel: K,
) -> Result<(), CaseError> {
    let input = Buffer::of(
        trial.engine(),
        "input",
        &inputs::distinct(ELEMENTS as usize),
    )?;
    let output = Guarded::poisoned(trial.engine(), "output", ELEMENTS as usize)?;
    // SAFETY: both hold the tile's elements and outlive the launches; one block,
    // as the kernels ask.
    let launch = unsafe {
        Prepared::of::<K>(
            LaunchConfig::new(GRID, BLOCK),
            (input.as_ptr(), output.as_mut_ptr()),
        )
    }?;
    trial.launch(&launch)?;
    let (got, shape) = (output.read()?, [ROWS as usize, COLUMNS as usize]);
    trial.verdict(compare_with_transpose(&got, shape, 0, trial.tolerance()))?;
    trial.finish(&launch)
}
