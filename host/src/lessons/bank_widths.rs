//! Bank conflicts of a column by the length of the rows: the law of the greatest
//! common divisor, in counts on the simulator and in times on a GPU.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::bank_conflicts::{
    BLOCK, COLUMNS, ELEMENTS, GRID, MAX_WIDTH, ROWS, bank_load_width, bank_store_width, strip_words,
};
use lesson::guarded::Guarded;
use lesson::inputs;
use lesson::verify::{Element, compare};
use lesson::{CaseError, Effort, Footprint, Lesson, Shape, Trial, Work, exactly};
use lockstep::counts::Metric::{self, SharedLoadConflicts, SharedStoreConflicts};
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "bank_widths",
    title: "Bank conflicts by row width",
    idea: "a column of rows of w words conflicts gcd(w, 32)-way: odd widths are free",
    source: "gpu-kernels/src/03_bank_conflicts/02_widths.rs",
    kernels: KERNELS,
    shapes,
    // About shared memory; global memory is read and written once.
    work: |shape| Work::new(2 * 4 * u64::from(ELEMENTS), shape.dims()[1].into()),
    // What is expected depends on the width: `run_one` checks it.
    memory: |shape| Footprint::of(shape.n().into(), 140, 440),
    expects_at: |_| false,
    targets: &[],
};

lesson::kernels! {
    bank_store_width: "stores each column, repeatedly", run(&STORE);
    bank_load_width: "loads each column, repeatedly", run(&LOAD);
}

/// Accesses per thread, where times matter.
const TIMED_ROUNDS: u32 = 10_000;

/// Widths to show: all powers of two, and odd ones.
const SOME_WIDTHS: [u32; 9] = [1, 2, 4, 7, 8, 16, 31, 32, 33];

/// Shapes are width × rounds; a sweep is every width, with rounds 1 to its own.
fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let sweep = Shape::every(&[MAX_WIDTH, 2]);
    let (widths, n_rounds) = match (engine, effort) {
        (_, Effort::Quick) => (vec![], 0),
        (_, Effort::Sample) => return vec![Shape::of(&[MAX_WIDTH, 64])],
        (EngineKind::Sim, Effort::Default) => (SOME_WIDTHS.to_vec(), 1),
        (EngineKind::Gpu, Effort::Default) => (SOME_WIDTHS.to_vec(), TIMED_ROUNDS),
        (EngineKind::Sim, Effort::Full) => ((1..=MAX_WIDTH).collect(), 1),
        (EngineKind::Gpu, Effort::Full) => ((1..=MAX_WIDTH).collect(), TIMED_ROUNDS),
    };
    let one = |width| Shape::of(&[width, n_rounds]);
    std::iter::once(sweep)
        .chain(widths.into_iter().map(one))
        .collect()
}

/// The differences between the two kernels.
struct Access {
    metric: Metric,
    /// Counts the accesses along rows, which have no conflicts.
    free: Metric,
    /// Lengths of input and output.
    lens: fn(u32) -> (usize, usize),
    /// The output, from the input; `None` for words that must not be written.
    reference: fn(&[f32], u32, u32) -> Vec<Option<f32>>,
}

const STORE: Access = Access {
    metric: SharedStoreConflicts,
    free: SharedLoadConflicts,
    lens: |width| (ELEMENTS as usize, strip_words(width) as usize),
    reference: |input, width, _| {
        let mut output = vec![None; strip_words(width) as usize];
        for (column, row, word) in columns_in_strips(width) {
            output[word] = Some(input[column * ROWS as usize + row]);
        }
        output
    },
};

const LOAD: Access = Access {
    metric: SharedLoadConflicts,
    free: SharedStoreConflicts,
    lens: |width| (strip_words(width) as usize, ELEMENTS as usize),
    reference: |input, width, n_rounds| {
        let mut output = vec![None; ELEMENTS as usize];
        for (column, row, word) in columns_in_strips(width) {
            let sum = (0..n_rounds).fold(0.0, |sum, _| sum + input[word]);
            output[column * ROWS as usize + row] = Some(sum);
        }
        output
    },
};

/// Every element `(column, row)` with its word: strips of `width` columns one below
/// another, found by going through them.
fn columns_in_strips(width: u32) -> Vec<(usize, usize, usize)> {
    let columns: Vec<usize> = (0..COLUMNS as usize).collect();
    let mut elements = Vec::new();
    let mut word = 0;
    for strip in columns.chunks(width as usize) {
        for row in 0..ROWS as usize {
            for (place, &column) in strip.iter().enumerate() {
                elements.push((column, row, word + place));
            }
            word += width as usize;
        }
    }
    elements
}

type Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32, u32);

fn run<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    kernel: K,
    access: &Access,
) -> Result<(), CaseError> {
    let (max_width, max_rounds) = trial.shape().matrix();
    if !trial.shape().is_sweep() {
        return run_one(trial, kernel, access, [max_width, max_rounds]);
    }
    for width in 1..=max_width {
        for n_rounds in 1..=max_rounds {
            run_one(trial, kernel, access, [width, n_rounds])
                .map_err(|error| error.of_size(&[width, n_rounds]))?;
        }
    }
    Ok(())
}

fn run_one<K: Kernel<Args = Args>>(
    trial: &mut Trial<'_>,
    _kernel: K,
    access: &Access,
    [width, n_rounds]: [u32; 2],
) -> Result<(), CaseError> {
    let (n_inputs, n_outputs) = (access.lens)(width);
    let values = inputs::uniform(3, n_inputs);
    let input = Buffer::of(trial.engine(), "input", &values)?;
    let output = Guarded::poisoned(trial.engine(), "output", n_outputs)?;
    let args = (input.as_ptr(), output.as_mut_ptr(), width, n_rounds);
    // SAFETY: the lengths are those the kernel asks for at this width, which is
    // in its range; both outlive the launches; one block.
    let launch = unsafe { Prepared::of::<K>(LaunchConfig::new(GRID, BLOCK), args) }?;
    trial.launch(&launch)?;

    let (got, expected) = (output.read()?, (access.reference)(&values, width, n_rounds));
    let mut unused = got
        .iter()
        .zip(&expected)
        .filter(|(_, expected)| expected.is_none());
    if let Some((value, _)) = unused.find(|(value, _)| !value.is_poison()) {
        return Err(CaseError::wrong(format!(
            "it wrote {value} to a word of no column"
        )));
    }
    // Where nothing is expected, any value is right: it was checked above.
    let or_as_it_is = |index: usize| expected[index].unwrap_or(got[index]);
    trial.verdict(compare(&got, or_as_it_is, trial.tolerance()))?;

    let conflicts = n_rounds * COLUMNS * (gcd(width, 32) - 1);
    let claims = [(access.metric, conflicts), (access.free, 0)];
    trial.check_claims(&claims.map(|(metric, n)| exactly(metric, n.into())))?;
    trial.finish(&launch)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{LOAD, ROWS, STORE, columns_in_strips, gcd};
    use gpu_kernels::bank_conflicts::{MAX_WIDTH, strip_word, way};

    #[test]
    fn the_reference_agrees_with_the_kernel_about_places() {
        for width in 1..=MAX_WIDTH {
            for (column, row, word) in columns_in_strips(width) {
                assert_eq!(word as u32, strip_word(row as u32, column as u32, width));
            }
            assert_eq!(gcd(width, 32), way(width));
        }
    }

    #[test]
    fn references_go_there_and_back() {
        let input: Vec<f32> = (0..1024).map(|i| i as f32).collect();
        let stored = (STORE.reference)(&input, 7, 1);
        let words: Vec<f32> = stored.iter().map(|word| word.unwrap_or(-1.0)).collect();
        // Column 1 starts with the second word, column 7 in the second strip.
        assert_eq!((words[1], words[7 * ROWS as usize]), (32.0, 7.0 * 32.0));
        let loaded = (LOAD.reference)(&words, 7, 2);
        assert!(
            loaded
                .iter()
                .zip(&input)
                .all(|(&twice, &once)| twice == Some(2.0 * once))
        );
    }
}
