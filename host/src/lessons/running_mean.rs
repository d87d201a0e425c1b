//! Running mean of any window, from a tile in shared memory.

use cuda_std::launch::Kernel;
use gpu_kernels::local_memory::{
    CHUNK, MAX_WINDOW, SHARED_BLOCK, running_mean_shared, shared_error_bound, shared_grid,
    tile_outputs,
};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::measure::Side;
use lesson::target::least;
use lesson::verify::{Tolerance, Verified};
use lesson::{
    CaseError, Effort, Footprint, Found, Lesson, Measurement, Shape, Target, Trial, Work, exactly,
};
use lockstep::counts::Metric::{LocalSectors, SharedLoadConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "running_mean",
    title: "Running mean in shared memory",
    idea: "neighbouring windows share a tile: load it once, then add what enters and subtract what leaves",
    source: "gpu-kernels/src/06_local_memory/02_running_mean.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| Work::new(2 * 4 * u64::from(shape.n()), 3 * u64::from(shape.n())),
    memory: |shape| Footprint::of(shape.n().into(), 8, 24),
    expects_at: |shape| {
        let (n, window) = shape.matrix();
        !shape.is_sweep() && n >= tile_outputs(window)
    },
    targets: &TARGETS,
};

static TARGETS: [Target; 1] = [Target::at_least(
    "running mean, windows up to 1024",
    "device-to-device copy",
    0.97,
    short_windows,
)];

fn short_windows(measured: &[Measurement]) -> Option<Found> {
    // Elements × window; short inputs do not fill the memory's pipes.
    let is_meant = |one: &&Measurement| {
        one.kernel == running_mean_shared::NAME
            && matches!(one.dims()[..], [n, window] if n >= 1 << 26 && window <= 1024)
    };
    let meant = measured.iter().filter(is_meant);
    least(meant.filter_map(|one| Found::speed(one, Side::Copy)))
}

lesson::kernels! {
    running_mean_shared:
        "tile and halo in shared memory, sliding sums, 16-byte accesses, 17 outputs per thread",
        run(), within(Tolerance::Absolute(largest_error())),
        expecting(&[
            exactly(SharedLoadConflicts, 0.0), exactly(SharedStoreConflicts, 0.0), exactly(LocalSectors, 0.0),
        ]),
        timed_at(&[
            &[1 << 26, 4], &[1 << 26, 32], &[1 << 26, 128],
            &[1 << 26, 512], &[1 << 26, 1000], &[1 << 26, 1024],
        ]);
}

/// The largest error for inputs below 1 in magnitude, over all windows: the tolerance
/// of the case. Each element has its own, smaller bound;
/// see [`compare`].
const fn largest_error() -> f64 {
    let mut largest = 0.0;
    let mut window = 1;
    while window <= MAX_WINDOW {
        // The magnitudes are those of the window and a chunk more.
        let bound = shared_error_bound(window) * (window + CHUNK) as f64 / window as f64;
        if bound > largest {
            largest = bound;
        }
        window += 1;
    }
    largest
}

/// Shapes are elements × window.
fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let windows = |n: u32| {
        [1, 2, 5, 31, 32, 33, 128, 1000, 1024, MAX_WINDOW].map(|window| Shape::of(&[n, window]))
    };
    let mut shapes = vec![Shape::every(&[20, 20])];
    match (effort, engine) {
        (Effort::Quick, _) => shapes.push(Shape::of(&[20_000, 32])),
        (Effort::Sample, _) => return vec![Shape::of(&[20_011, 32])],
        (Effort::Default, EngineKind::Sim) => {
            shapes = vec![Shape::every(&[40, 40])];
            shapes.extend(windows(20_011));
        }
        (Effort::Full, EngineKind::Sim) => shapes.extend(windows(1_000_003)),
        (Effort::Default | Effort::Full, EngineKind::Gpu) => {
            shapes.extend(windows(1_000_003));
            shapes.extend([4, 32, 1024].map(|window| Shape::of(&[1 << 26, window])));
        }
    }
    shapes
}

fn run(trial: &mut Trial<'_>, _: running_mean_shared) -> Result<(), CaseError> {
    let (max_n, max_window) = trial.shape().matrix();
    if !trial.shape().is_sweep() {
        return run_one(trial, max_n, max_window);
    }
    for n in 0..=max_n {
        for window in 1..=max_window {
            run_one(trial, n, window).map_err(|error| error.of_size(&[n, window]))?;
        }
    }
    Ok(())
}

fn run_one(trial: &mut Trial<'_>, n: u32, window: u32) -> Result<(), CaseError> {
    let values = inputs::uniform(5, n as usize);
    let input = Buffer::of(trial.engine(), "input", &values)?;
    let output = Guarded::poisoned(trial.engine(), "output", n as usize)?;
    let config = LaunchConfig::new(shared_grid(n, window), SHARED_BLOCK);
    let args = (input.as_ptr(), output.as_mut_ptr(), n, window);
    // SAFETY: both hold n elements and outlive the launches, the window is in
    // the kernel's range, and the grid is its own.
    let launch = unsafe { Prepared::of::<running_mean_shared>(config, args) }?;
    trial.launch(&launch)?;
    let verified = compare(&values, &output.read()?, window)?;
    trial.verdict(Ok(verified))?;
    trial.finish(&launch)
}

/// Prefix sums in `f64`: entry `i` is the sum of `values[..i]`.
fn prefix_sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    [0.0]
        .into_iter()
        .chain(values.map(|value| {
            sum += value;
            sum
        }))
        .collect()
}

/// Compares every output with the mean in `f64`, within the bound that the
/// kernel's file states for it.
fn compare(input: &[f32], got: &[f32], window: u32) -> Result<Verified, CaseError> {
    let sums = prefix_sums(input.iter().map(|&x| f64::from(x)));
    let magnitudes = prefix_sums(input.iter().map(|&x| f64::from(x.abs())));
    // The elements from `start` to before `end`, as far as they exist.
    let n = input.len() as i64;
    let between = |sums: &[f64], start: i64, end: i64| {
        sums[end.clamp(0, n) as usize] - sums[start.clamp(0, n) as usize]
    };
    let width = i64::from(window);
    let mut max_abs_error = 0.0f64;
    for (i, &got) in got.iter().enumerate() {
        let start = i as i64 - width / 2;
        let expected = between(&sums, start, start + width) / f64::from(window);
        // The elements that had left the window before, and the next to enter.
        let reach = i64::from(CHUNK) - 1;
        let magnitude = between(&magnitudes, start - reach, start + width + 1) / f64::from(window);
        let bound = shared_error_bound(window) * magnitude;
        let error = (f64::from(got) - expected).abs();
        // Written so that a NaN, which compares false with everything, is wrong.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(error <= bound) {
            return Err(CaseError::wrong(format!(
                "element {i}: expected {expected} ± {bound:e}, got {got}"
            ))
            .of_element(i));
        }
        max_abs_error = max_abs_error.max(error);
    }
    Ok(Verified {
        n_checked: got.len(),
        max_abs_error,
    })
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::lessons::local_memory::reference;

    #[test]
    fn the_reference_is_the_other_lessons_up_to_rounding() {
        let input: Vec<f32> = (0..200).map(|i| ((i * 37) % 101) as f32 - 50.0).collect();
        for window in [1, 2, 5, 32, 199, 300] {
            let means = reference(&input, window as usize);
            let verified = compare(&input, &means, window).expect("the same means");
            assert_eq!(verified.n_checked, input.len());
        }
    }

    #[test]
    fn errors_beyond_the_bound_are_found() {
        let input = vec![1.0; 100];
        let mut means = reference(&input, 5);
        means[50] += 1e-4;
        assert!(compare(&input, &means, 5).is_err());
        means[50] = f32::NAN;
        assert!(compare(&input, &means, 5).is_err());
    }
}
