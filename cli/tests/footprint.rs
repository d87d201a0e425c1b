//! Lessons' memory estimates, compared with their allocations: never too low, so that nothing is
//! killed for memory, and not much too high, so that nothing is refused needlessly.

use host::lessons::neighbor::{self, atoms::CUTOFF, sheet::sheet_of};
use host::registry::LESSONS;
use lesson::{Effort, Footprint, Lesson, Registered, Shape};
use lockstep::engine::EngineKind;
use lockstep::engine::sim::Sim;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which also counts the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn more(n_bytes: usize) {
    let in_use = IN_USE.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes;
    PEAK.fetch_max(in_use, Ordering::Relaxed);
}

fn less(n_bytes: usize) {
    IN_USE.fetch_sub(n_bytes, Ordering::Relaxed);
}

// SAFETY: every call is the system allocator's, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both exist while the content is copied.
        more(size);
        less(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All tests share one allocator.
static ALONE: Mutex<()> = Mutex::new(());

/// The bytes that a run adds to those in use, at its peak.
fn peak_of(run: impl FnOnce()) -> u128 {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    run();
    (PEAK.load(Ordering::Relaxed) - before) as u128
}

/// Blocks in flight, counters, results: for each of the simulator's threads.
fn slack() -> u128 {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    (2 << 20) + (1 << 20) * n_threads as u128
}

/// The lesson's single shapes for some purpose.
fn single(lesson: &Lesson, effort: Effort) -> impl Iterator<Item = Shape> {
    let shapes = (lesson.shapes)(EngineKind::Sim, effort).into_iter();
    shapes.filter(|shape| !shape.is_sweep())
}

/// The lesson's shape for timing the simulator.
fn sample(lesson: &Lesson) -> Shape {
    single(lesson, Effort::Sample).next().expect("a shape")
}

/// The lesson's smallest shape: for some lessons a quick run has only ranges of shapes.
fn smallest(lesson: &Lesson) -> Shape {
    let quick = single(lesson, Effort::Quick);
    quick
        .chain([sample(lesson)])
        .min_by_key(|shape| total((lesson.memory)(shape), false))
        .expect("the sample")
}

/// A shape that needs more memory than the slack, if the lesson has one.
fn large(lesson: &Lesson) -> Shape {
    const ENOUGH: u128 = 8 << 20;
    let sample = sample(lesson);
    let factor = ENOUGH / total((lesson.memory)(&sample), false).max(1);
    let mut dims = sample.dims().to_vec();
    // Some of its kernels test all pairs.
    let most = if lesson.id == "neighbor" { 2 } else { 16 };
    dims[0] *= factor.clamp(1, most) as u32;
    let large = Shape::of(&dims);
    // Some lessons ignore the shape; the lesson on widths runs only widths.
    let has_sizes = (lesson.memory)(&large) != Footprint::SMALL && lesson.id != "bank_widths";
    if has_sizes { large } else { sample }
}

/// The peak of a case, after a small one that loads what all cases share.
fn peak_of_case(sim: &Sim, registered: Registered, small: &Shape, shape: &Shape) -> u128 {
    cli::profile::run_case(registered, small, sim).expect("it passes");
    peak_of(|| cli::profile::run_case(registered, shape, sim).expect("it passes"))
}

fn total(footprint: Footprint, check: bool) -> u128 {
    let checks = if check { footprint.checks_bytes() } else { 0 };
    footprint.bytes() + checks
}

#[test]
fn lessons_take_what_they_say() {
    let _alone = ALONE.lock();
    let sim = Sim::new(host::kernels::modules().expect("the kernels are here"));
    for lesson in LESSONS {
        let (small, shape) = (smallest(lesson), large(lesson));
        let stated = total((lesson.memory)(&shape), false);
        let mut most = 0;
        for kernel in lesson.kernels {
            let registered = Registered { lesson, kernel };
            let peak = peak_of_case(&sim, registered, &small, &shape);
            assert!(
                peak <= stated + slack(),
                "{} at {shape}: {peak} of {stated}",
                kernel.id
            );
            most = most.max(peak);
        }
        // Kernels of one lesson differ a little; the largest counts.
        assert!(
            stated <= most * 5 / 4 + slack(),
            "{}: {most} of {stated}",
            lesson.id
        );
    }
}

#[test]
fn checks_take_what_is_said_of_them() {
    let _alone = ALONE.lock();
    let sim = Sim::new(host::kernels::modules().expect("the kernels are here")).with_check(true);
    for id in [
        "transpose_vectorized",
        "transpose_shared",
        "copy",
        "add_stride",
    ] {
        let registered = host::registry::kernel(id).expect("it is there");
        let shape = sample(registered.lesson);
        let stated = total((registered.lesson.memory)(&shape), true);
        let peak = peak_of_case(&sim, registered, &shape, &shape);
        assert!(peak <= stated + slack(), "{id}: {peak} of {stated}");
    }
}

#[test]
fn neighbor_lists_take_what_is_said_of_them() {
    let _alone = ALONE.lock();
    let n_atoms = 100_000;
    let sim = Sim::new(host::kernels::modules().expect("the kernels are here"));
    let lists = |n_atoms: u32| {
        let atoms = sheet_of(n_atoms);
        neighbor::device::lists(&sim, &atoms, CUTOFF).expect("it passes");
    };
    lists(100);
    let stated = total(neighbor::device::footprint(n_atoms), false);
    let peak = peak_of(|| lists(n_atoms));
    assert!(peak <= stated + slack(), "{peak} of {stated}");
    assert!(stated <= peak * 5 / 4 + slack(), "{peak} of {stated}");
}
