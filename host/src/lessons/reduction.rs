//! Reduction: six kernels that add up an array, and the error of each.
//!
//! There are two inputs. Whole numbers so small that every partial sum is exact in
//! `f32`: any order of additions gives the same bits, and the check is exact, at
//! every length. And the catalogue's 1.23, whose sum is rounded at every step:
//! there the check is the error bound of the kernel's own order of additions.

use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::reduction::{
    self, MAX_FEW_WARPS, atomic_depth, error_bound, fast_block, fast_depth, fast_grid,
    reduce_atomic, reduce_fast, reduce_global, reduce_shared, reduce_shared_dynamic,
    reduce_shuffle, shared_bytes, tree_depth,
};
use lesson::inputs;
use lesson::measure::Side;
use lesson::references::{repeated_sum_f32, repeated_sum_f64};
use lesson::target::least;
use lesson::verify::Tolerance;
use lesson::{
    CaseError, Effort, Footprint, Found, Lesson, Measurement, Shape, Target, Trial, Work, exactly,
};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    LocalSectors, SharedLoadConflictsPerRequest as LoadConflicts,
    SharedStoreConflictsPerRequest as StoreConflicts,
};
use lockstep::engine::{
    Buffer, Engine, EngineError, EngineKind, Fill, LaunchConfig, LibraryCall, Prepared, Timed,
};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "reduction",
    title: "Reduction",
    idea: "many threads, one number: a tree with barriers, shuffles, and a ticket for the last block",
    source: "gpu-kernels/src/08_reduction/mod.rs",
    kernels: KERNELS,
    shapes,
    work: |shape| {
        Work::new(
            4 * u64::from(shape.n()),
            u64::from(shape.n()).saturating_sub(1),
        )
    },
    memory: |shape| Footprint::of(shape.n_elements(), 4, 4),
    expects_at: |shape| !shape.is_sweep(),
    targets: &TARGETS,
};

static TARGETS: [Target; 3] = [
    Target::at_least(
        "reduce_fast, 2²⁸ to 2³⁰ f32",
        "cub::DeviceReduce::Sum",
        1.015,
        |measured| beside_cub(measured, |n| n.is_power_of_two() && n >= 1 << 28),
    ),
    Target::at_least(
        "reduce_fast, up to 2¹⁶ f32, a single launch between events",
        "cub::DeviceReduce::Sum",
        1.5,
        |measured| beside_cub(measured, |n| n <= 1 << 16),
    ),
    Target::at_least(
        "reduce_fast, up to 2¹⁶ f32, per launch, back to back in a CUDA graph",
        "cub::DeviceReduce::Sum",
        1.5,
        |measured| {
            let in_rows = measured.iter().filter_map(Measurement::in_row);
            beside_cub(&in_rows.collect::<Vec<_>>(), |n| n <= 1 << 16)
        },
    ),
];

/// The worst of the chosen lengths.
fn beside_cub(measured: &[Measurement], is_meant: impl Fn(u64) -> bool) -> Option<Found> {
    let fast = measured
        .iter()
        .filter(|one| one.kernel == reduce_fast::NAME);
    let meant = fast.filter(|one| one.dims().first().is_some_and(|&n| is_meant(n)));
    least(meant.filter_map(|one| Found::speed(one, Side::Cub)))
}

/// The catalogue's size.
const N_FULL: u32 = 100_000_000;
/// The catalogue's value, in every element.
const VALUE: f32 = 1.23;
/// The largest length of a sweep.
const N_SWEEP: u32 = 300;
/// Lengths that a sweep adds: zero, and those around the limits of a
/// kernel.
const EXTRA_LENGTHS: [u32; 14] = [
    0, 511, 512, 513, 4_095, 4_097, 16_384, 16_385, 32_768, 32_769, 40_963, 65_536, 131_072,
    131_073,
];

const fn bound_of(depth: u32) -> Tolerance {
    Tolerance::Relative(error_bound(depth, 1.0))
}

const NO_LOCAL: Expectation = exactly(LocalSectors, 0.0);
const CONFLICT_FREE: &[Expectation] = &[
    exactly(LoadConflicts, 0.0),
    exactly(StoreConflicts, 0.0),
    NO_LOCAL,
];

lesson::kernels! {
    reduce_global: "the tree in global memory, in place",
        run(&global), within(bound_of(tree_depth(N_FULL))), expecting(&[NO_LOCAL]);
    reduce_shared: "the tree in shared memory",
        run_by_tree(0), within(bound_of(tree_depth(N_FULL))), expecting(CONFLICT_FREE);
    reduce_shared_dynamic: "the same, in shared memory that the launch sizes",
        run_by_tree(shared_bytes()), within(bound_of(tree_depth(N_FULL))), expecting(CONFLICT_FREE);
    reduce_atomic: "one atomic addition per block, one launch",
        run(&atomic), within(bound_of(atomic_depth(N_FULL))), expecting(CONFLICT_FREE);
    reduce_shuffle: "the tree in registers, by warp shuffles",
        run_by_tree(0), within(bound_of(tree_depth(N_FULL))), expecting(CONFLICT_FREE);
    reduce_fast: "16-byte loads, many elements per thread, the last block finishes",
        run(&fast),
        within(bound_of(fast_depth(N_FULL, fast_grid(N_FULL, 132)[0], fast_block(N_FULL)[0]))),
        expecting(CONFLICT_FREE),
        timed_at(&[
            &[1 << 10], &[1 << 12], &[1 << 14], &[1 << 16], &[1 << 18], &[1 << 20], &[1 << 22],
            &[1 << 24], &[1 << 26], &[N_FULL], &[1 << 28], &[1 << 29], &[1 << 30],
        ]);
}

fn shapes(engine: EngineKind, effort: Effort) -> Vec<Shape> {
    let n = match (effort, engine) {
        (Effort::Quick, _) => 150_000,
        (Effort::Sample, _) => return vec![Shape::of(&[1_000_000])],
        (Effort::Default, EngineKind::Sim) => 10_000_000,
        (Effort::Default | Effort::Full, _) => N_FULL,
    };
    vec![Shape::every(&[N_SWEEP]), Shape::of(&[n])]
}

// ---------------------------------------------------------------------------
// The truth, and two straight sums
// ---------------------------------------------------------------------------

/// The results of adding `VALUE` `n` times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StraightSums {
    /// One after another in `f32`.
    pub in_f32: f32,
    /// One after another in `f64`, of the `f64` 1.23.
    pub in_f64: f64,
    /// Exactly, of the `f32` 1.23, which is what the kernels add.
    pub exact: f64,
}

impl StraightSums {
    /// The sums of `n` elements.
    pub fn of(n: u32) -> Self {
        static KNOWN: Mutex<Option<HashMap<u32, StraightSums>>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        *known
            .get_or_insert_default()
            .entry(n)
            .or_insert_with(|| Self::compute(n))
    }

    fn compute(n: u32) -> Self {
        Self {
            in_f32: repeated_sum_f32(VALUE, n),
            in_f64: repeated_sum_f64(1.23, n),
            // 24 bits times 32 bits: a product without rounding if it fits 53.
            exact: f64::from(VALUE) * f64::from(n),
        }
    }
}

// ---------------------------------------------------------------------------
// Launches
// ---------------------------------------------------------------------------

/// What a kernel needs to add up an array.
struct Plan<'e> {
    /// One after another.
    launches: Vec<Prepared>,
    /// The sum is at index 0, when all are done.
    sums: Buffer<'e, f32>,
    /// Other buffers of the launches, kept alive as long as they are.
    _partial_sums: Vec<Buffer<'e, f32>>,
    /// A counter that must be 0 before and after.
    counter: Option<Buffer<'e, u32>>,
    /// Words between warps that must be 0 before and after.
    words: Option<Buffer<'e, u64>>,
    /// Most additions that an element goes through.
    depth: u32,
    /// Whether the launches overwrite their input.
    destroys_input: bool,
    /// Whether they add to the sums' old contents, which must be 0 then.
    adds_to_sums: bool,
}

impl<'e> Plan<'e> {
    /// Launches that need nothing but their sums.
    fn new(launches: Vec<Prepared>, sums: Buffer<'e, f32>, depth: u32) -> Self {
        Self {
            launches,
            sums,
            _partial_sums: Vec::new(),
            counter: None,
            words: None,
            depth,
            destroys_input: false,
            adds_to_sums: false,
        }
    }
}

/// A plan, unless the engine cannot make it.
type Made<'e> = Result<Plan<'e>, EngineError>;

/// Makes the launches that add up the first `n` elements of an array.
type Planner<'p> = &'p dyn for<'e> Fn(&'e dyn Engine, &Buffer<'e, f32>, u32) -> Made<'e>;

/// Launches of a kernel that leaves one sum per block, repeated over its own sums
/// until one is left.
fn tree<'e, K: Kernel>(
    engine: &'e dyn Engine,
    input: &Buffer<'e, f32>,
    n: u32,
    shared_bytes: u32,
    args: impl Fn(&Buffer<'e, f32>, &Buffer<'e, f32>, u32) -> K::Args,
) -> Made<'e> {
    let mut launches = Vec::new();
    let mut levels: Vec<Buffer<'e, f32>> = Vec::new();
    let mut n_left = n;
    let sums = loop {
        let config = config(n_left).with_shared(shared_bytes);
        let n_blocks = config.grid[0];
        let sums = Buffer::poisoned(engine, "block sums", n_blocks as usize)?;
        let from = levels.last().unwrap_or(input);
        // SAFETY: `from` holds n_left elements, `sums` one per block; both outlive
        // the plan's launches, because the plan keeps them (the caller keeps the
        // input). The geometry is the kernel's own.
        launches.push(unsafe { Prepared::of::<K>(config, args(from, &sums, n_left)) }?);
        if n_blocks == 1 {
            break sums;
        }
        levels.push(sums);
        n_left = n_blocks;
    };
    Ok(Plan {
        _partial_sums: levels,
        ..Plan::new(launches, sums, tree_depth(n))
    })
}

fn config(n: u32) -> LaunchConfig {
    LaunchConfig::new(reduction::grid(n), reduction::BLOCK)
}

fn global<'e>(engine: &'e dyn Engine, input: &Buffer<'e, f32>, n: u32) -> Made<'e> {
    let plan = tree::<reduce_global>(engine, input, n, 0, |from, to, n| {
        (from.as_mut_ptr(), to.as_mut_ptr(), n)
    })?;
    Ok(Plan {
        destroys_input: true,
        ..plan
    })
}

fn atomic<'e>(engine: &'e dyn Engine, input: &Buffer<'e, f32>, n: u32) -> Made<'e> {
    let sums = Buffer::of(engine, "sum", &[0.0])?;
    let args = (input.as_ptr(), sums.as_mut_ptr(), n);
    // SAFETY: `input` holds n elements, `sums` one, which is 0; the grid is
    // the kernel's own.
    let launch = unsafe { Prepared::of::<reduce_atomic>(config(n), args) }?;
    Ok(Plan {
        adds_to_sums: true,
        ..Plan::new(vec![launch], sums, atomic_depth(n))
    })
}

fn fast<'e>(engine: &'e dyn Engine, input: &Buffer<'e, f32>, n: u32) -> Made<'e> {
    let (grid, block) = (
        fast_grid(n, engine.device().n_multiprocessors),
        fast_block(n),
    );
    let n_blocks = grid[0];
    let sums = Buffer::poisoned(engine, "sum", 1)?;
    let block_sums = Buffer::poisoned(engine, "block sums", n_blocks as usize)?;
    let counter = Buffer::of(engine, "blocks done", &[0])?;
    let warp_words = Buffer::of(engine, "sums of warps", &[0; MAX_FEW_WARPS as usize])?;
    let args = (
        input.as_ptr(),
        sums.as_mut_ptr(),
        n,
        block_sums.as_mut_ptr(),
        counter.as_mut_ptr(),
        warp_words.as_mut_ptr(),
    );
    // SAFETY: buffers are aligned to 256 bytes; `input` holds n elements,
    // `sums` one, `block_sums` one per block; the counter and the words are 0.
    let launch = unsafe { Prepared::of::<reduce_fast>(LaunchConfig::new(grid, block), args) }?;
    Ok(Plan {
        _partial_sums: vec![block_sums],
        counter: Some(counter),
        words: Some(warp_words),
        ..Plan::new(vec![launch], sums, fast_depth(n, n_blocks, block[0]))
    })
}

impl Plan<'_> {
    /// Sets the sums to 0, because the atomic kernel adds to them.
    fn clear_sums(&self) -> Timed<'static> {
        let fill = Fill {
            address: self.sums.address(),
            size_bytes: self.sums.size_bytes(),
            value: 0,
        };
        Timed::Fills(vec![fill].into())
    }

    /// The sum, after all launches.
    fn sum(&self) -> Result<f32, CaseError> {
        if let Some(counter) = &self.counter {
            let n_done = counter.read()?[0];
            if n_done != 0 {
                return Err(CaseError::wrong(format!(
                    "the counter of blocks is {n_done} after the launch, not 0: the next launch would fail"
                )));
            }
        }
        if let Some(words) = &self.words
            && let Some(left) = words.read()?.iter().position(|&word| word != 0)
        {
            return Err(CaseError::wrong(format!(
                "word {left} between the warps is not 0 after the launch: the next launch would fail"
            )));
        }
        let mut sums = vec![0.0; self.sums.len()];
        self.sums.read_into(&mut sums)?;
        Ok(sums[0])
    }
}

// ---------------------------------------------------------------------------
// Cases
// ---------------------------------------------------------------------------

/// Runs a case of a kernel with the arguments of [`reduce_shared`], by the tree.
pub fn run_by_tree<K: Kernel<Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32)>>(
    trial: &mut Trial<'_>,
    kernel: K,
    shared_bytes: u32,
) -> Result<(), CaseError> {
    run(trial, kernel, &|engine, input, n| {
        tree::<K>(engine, input, n, shared_bytes, |from, to, n| {
            (from.as_ptr(), to.as_mut_ptr(), n)
        })
    })
}

fn run<K: Kernel>(trial: &mut Trial<'_>, _: K, plan: Planner<'_>) -> Result<(), CaseError> {
    if trial.shape().is_sweep() {
        run_sweep(trial, plan)
    } else {
        run_one(trial, plan)
    }
}

fn run_one(trial: &mut Trial<'_>, plan: Planner<'_>) -> Result<(), CaseError> {
    let n = trial.shape().n();
    let input = Buffer::of(
        trial.engine(),
        "input",
        &inputs::constant(VALUE, n as usize),
    )?;
    let plan = plan(trial.engine(), &input, n)?;

    // The first launch reads the input; the others are short.
    for (i, launch) in plan.launches.iter().enumerate() {
        if i == 0 {
            trial.launch(launch)?;
        } else {
            trial.launch_uncounted(launch)?;
        }
    }
    let sum = plan.sum()?;
    let truth = StraightSums::of(n);
    let bound = error_bound(plan.depth, truth.exact);
    trial.note(describe(sum, bound, &truth));
    trial.verdict_within(sum.into(), truth.exact, bound)?;
    trial.check_counts()?;
    if !trial.is_timed() {
        return Ok(());
    }
    time_on_random(trial, &input, &plan)
}

/// Times the plan in alternation with CUB's sum, on random data, because equal numbers are cheaper
/// to move. Both results are checked once more.
fn time_on_random(
    trial: &mut Trial<'_>,
    input: &Buffer<'_, f32>,
    plan: &Plan<'_>,
) -> Result<(), CaseError> {
    // All positive, so that nothing cancels out and every element shows in the sum.
    let mut values = inputs::uniform(7, input.len());
    values.par_iter_mut().for_each(|value| *value = value.abs());
    let exact: f64 = values.par_iter().copied().map(f64::from).sum();
    input.write(&values)?;
    let kept = match plan.destroys_input {
        true => Some(Buffer::of(trial.engine(), "input, kept", &values)?),
        false => None,
    };
    let before: Vec<Timed<'_>> = match &kept {
        Some(kept) => vec![Timed::Copy {
            to: input.address(),
            from: kept.address(),
            size_bytes: kept.size_bytes(),
        }],
        None if plan.adds_to_sums => vec![plan.clear_sums()],
        None => Vec::new(),
    };
    trial.perform(&plan.clear_sums())?;
    for launch in &plan.launches {
        trial.launch_uncounted(launch)?;
    }
    trial.verdict_within(plan.sum()?.into(), exact, error_bound(plan.depth, exact))?;

    /// More additions than an element goes through in CUB.
    const CUB_DEPTH: u32 = 1 << 14;
    let source = kept.as_ref().unwrap_or(input);
    let output = Buffer::<f32>::poisoned(trial.engine(), "CUB's sum", 1)?;
    let sum = LibraryCall::CubSum {
        input: source.address(),
        n: source.len() as u64,
        output: output.address(),
    };
    if trial.beside_library(sum)? {
        let sum = output.read()?[0].into();
        trial.verdict_within(sum, exact, error_bound(CUB_DEPTH, exact))?;
    }
    trial.time_from(&plan.launches, &before)
}

/// The result compared with the truth and the straight sums.
fn describe(sum: f32, bound: f64, truth: &StraightSums) -> String {
    let StraightSums {
        in_f32,
        in_f64,
        exact,
    } = *truth;
    let error = (f64::from(sum) - exact).abs();
    format!(
        "sum {sum:.1}, error {error:.1} of at most {bound:.1}; added up one by one, f32 gives {in_f32:.1} and f64 {in_f64:.6}"
    )
}

/// Element `index` of a sweep's input: whole numbers of both signs, whose sums
/// stay below 2²⁴.
fn whole_number(index: u32) -> f32 {
    ((index.wrapping_mul(7919) % 201) as f32) - 97.0
}

/// Every length up to the trial's and some more, each exact.
fn run_sweep(trial: &mut Trial<'_>, plan: Planner<'_>) -> Result<(), CaseError> {
    let lengths = (1..=trial.shape().n()).chain(EXTRA_LENGTHS);
    for n in lengths {
        check_length(trial, plan, n).map_err(|error| error.of_size(&[n]))?;
    }
    Ok(())
}

fn check_length(trial: &mut Trial<'_>, plan: Planner<'_>, n: u32) -> Result<(), CaseError> {
    let values: Vec<f32> = (0..n).map(whole_number).collect();
    let expected: f64 = values.iter().copied().map(f64::from).sum();
    // An allocation is never empty; the kernel must not read the element.
    let stored = if values.is_empty() {
        &[f32::NAN][..]
    } else {
        &values
    };
    let input = Buffer::of(trial.engine(), "input", stored)?;
    let plan = plan(trial.engine(), &input, n)?;
    for launch in &plan.launches {
        trial.launch_uncounted(launch)?;
    }
    trial.verdict_within(plan.sum()?.into(), expected, 0.0)
}

#[cfg(test)]
mod tests {
    use super::{EXTRA_LENGTHS, N_FULL, StraightSums, describe, whole_number};
    use gpu_kernels::reduction::{error_bound, tree_depth};

    #[test]
    fn partial_sums_of_a_sweep_are_exact() {
        let n = EXTRA_LENGTHS.into_iter().max().expect("some");
        let most: f64 = (0..n)
            .map(|index| f64::from(whole_number(index)).abs())
            .sum();
        assert!(most < f64::from(1 << 24));
        // And they are not all the same, so that a missing element shows.
        assert!((0..n).all(|index| whole_number(index) != 0.0 || index % 201 != 0));
    }

    #[test]
    fn the_small_operand_is_swallowed() {
        let sums = StraightSums::of(N_FULL);
        assert_eq!(sums.in_f32, 33_554_432.0);
        assert_eq!(format!("{:.6}", sums.in_f64), "123000000.110771");
        assert_eq!(format!("{:.3}", sums.exact), "123000001.907");
    }

    #[test]
    fn the_note_names_result_error_bound_and_both_straight_sums() {
        let sums = StraightSums::of(N_FULL);
        let bound = error_bound(tree_depth(N_FULL), sums.exact);
        assert_eq!(
            describe(123_000_000.0, bound, &sums),
            "sum 123000000.0, error 1.9 of at most 205.3; added up one by one, f32 gives 33554432.0 and f64 123000000.110771"
        );
    }
}
