//! Local memory: a window in registers, and the same in local memory.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::local_memory::{self as kernels, BLOCK, BLOCK_THREADS, WINDOWS};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::verify::compare_slices;
use lesson::{CaseError, Effort, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Metric::{LocalSectors, LocalSectorsPerRequest};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};
use rayon::prelude::*;

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "local_memory",
    title: "Local memory",
    idea: "a thread's array lives in registers only if every index is a constant; a single other index sends all of it to memory",
    source: "gpu-kernels/src/06_local_memory/01_own_array.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| Work::new(2 * 4 * u64::from(shape.n()), 0),
    memory: |shape| Footprint::of(shape.n_elements(), 8, 16),
    expects_at: |shape| !shape.is_sweep() && shape.n().is_multiple_of(32),
    targets: &[],
};

/// For each window, a kernel with it in registers, and one with it in local memory.
macro_rules! entries {
    ($($window:literal: $in_registers:ident, $in_local:ident;)*) => {
        lesson::kernels! { $(
            kernels::$in_registers: concat!("window of ", $window, " in registers: constant indices"),
                run($window), expecting(&[exactly(LocalSectors, 0.0)]);
            // All lanes use the same index: word j of 32 lanes is four sectors.
            kernels::$in_local:
                concat!("window of ", $window, " in local memory: index (j + n) mod ", $window),
                run($window), expecting(&[exactly(LocalSectorsPerRequest, 4.0)]);
        )* }
    };
}
entries! {
    3: running_mean_registers_3, running_mean_local_3;
    5: running_mean_registers_5, running_mean_local_5;
    16: running_mean_registers_16, running_mean_local_16;
    32: running_mean_registers_32, running_mean_local_32;
    64: running_mean_registers_64, running_mean_local_64;
    128: running_mean_registers_128, running_mean_local_128;
}

const _: () = assert!(KERNELS.len() == 2 * WINDOWS.len());

/// The catalogue's size.
const CATALOGUE: u32 = 8192;

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let mut shapes = vec![Shape::every(&[40]), Shape::of(&[CATALOGUE])];
    match (effort, engine) {
        (Effort::Quick, _) => {}
        (Effort::Sample, _) => return vec![Shape::of(&[CATALOGUE])],
        (Effort::Default, EngineKind::Sim) => shapes[0] = Shape::every(&[300]),
        (Effort::Full, EngineKind::Sim) => shapes[0] = Shape::every(&[600]),
        (Effort::Default | Effort::Full, EngineKind::Gpu) => {
            shapes[0] = Shape::every(&[600]);
            shapes.push(Shape::of(&[1_000_003]));
            shapes.push(Shape::of(&[1 << 26]));
        }
    }
    shapes
}

/// The running mean in the kernels' order: from the window's first element on,
/// in `f32`, with zeros outside the array.
pub fn reference(input: &[f32], window: usize) -> Vec<f32> {
    let at = |i: Option<usize>| i.and_then(|i| input.get(i)).copied().unwrap_or(0.0);
    (0..input.len())
        .into_par_iter()
        .map(|i| {
            let sum = (0..window).fold(0.0, |sum, j| sum + at((i + j).checked_sub(window / 2)));
            sum / window as f32
        })
        .collect()
}

type Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32);

fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    kernel: K,
    window: usize,
) -> Result<(), CaseError> {
    let n = trial.shape().n();
    if !trial.shape().is_sweep() {
        return run_one(trial, kernel, window, n, kernels::grid(n));
    }
    // One block, so that a thread has several outputs where n is large enough.
    for n in 0..=n {
        run_one(trial, kernel, window, n, [1, 1, 1]).map_err(|error| error.of_size(&[n]))?;
    }
    Ok(())
}

fn run_one<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    window: usize,
    n: u32,
    grid: [u32; 3],
) -> Result<(), CaseError> {
    let values = inputs::uniform(4, n as usize);
    let input = Buffer::of(trial.engine(), "input", &values)?;
    let output = Guarded::poisoned(trial.engine(), "output", n as usize)?;
    let args = (input.as_ptr(), output.as_mut_ptr(), n);
    // SAFETY: both hold n elements and outlive the launches; any grid is right.
    let launch = unsafe { Prepared::of::<K>(LaunchConfig::new(grid, BLOCK), args) }?;
    trial.launch(&launch)?;
    let (got, expected) = (output.read()?, reference(&values, window));
    trial.verdict(compare_slices(&got, &expected, trial.tolerance()))?;
    trial.finish(&launch)
}

// A sweep must reach the second output of a thread.
const _: () = assert!(BLOCK_THREADS < 300);

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn the_mean_is_centred_and_zero_outside() {
        assert_eq!(reference(&[3.0, 6.0, 9.0], 3), [3.0, 6.0, 5.0]);
        // Even windows: one more before than after.
        assert_eq!(reference(&[2.0, 4.0], 2), [1.0, 3.0]);
        assert_eq!(reference(&[1.0], 5), [0.2]);
        assert!(reference(&[], 5).is_empty());
    }
}
