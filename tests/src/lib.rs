//! Integration tests of the whole workspace, and what they share: the broken
//! kernels, and running one kernel as `run-all` would.

use lesson::run::run;
use lesson::{Case, CaseResult, Footprint, KernelEntry, Lesson, Registered, Shape, Work};
use lockstep::engine::sim::Sim;
use lockstep::engine::{PtxModule, Timing};

pub mod debugged;
pub mod ptx;

/// Warp instructions that a launch may execute: many times what any of the kernels here
/// needs.
const FUEL: u64 = 1_000_000;

/// The simulator with one module of this text.
pub fn simulator(text: &str) -> Sim {
    let module = PtxModule::of_text("test.ptx", text.to_owned()).with_sources(ptx::root());
    Sim::new(vec![module]).with_fuel(Some(FUEL))
}

/// A lesson of one kernel; it lives as long as the test, as lessons do.
pub fn lesson_of(kernel: KernelEntry) -> Registered {
    let lesson: &'static Lesson = Box::leak(Box::new(Lesson {
        id: "broken",
        title: "Broken",
        idea: "each has one defect",
        source: "tests/broken-kernels/src/lib.rs",
        kernels: Box::leak(Box::new([kernel])),
        shapes: |_, _| Vec::new(),
        work: |_| Work::new(0, 0),
        memory: |_| Footprint::SMALL,
        expects_at: |_| true,
        targets: &[],
    }));
    Registered {
        lesson,
        kernel: &lesson.kernels[0],
    }
}

/// Runs the kernel on each of the shapes.
pub fn results(engine: &dyn Timing, kernel: KernelEntry, shapes: &[Shape]) -> Vec<CaseResult> {
    run(engine, &cases(kernel, shapes), None, |_| {}, |_| {})
}

/// The cases of a kernel that belongs to none of our lessons.
pub fn cases(kernel: KernelEntry, shapes: &[Shape]) -> Vec<Case> {
    let registered = lesson_of(kernel);
    let case_at = |shape: &Shape| Case {
        registered,
        shape: shape.clone(),
    };
    shapes.iter().map(case_at).collect()
}

/// The macros' README, tested here: their crate cannot depend on `cuda_std`, which needs it.
#[cfg(doctest)]
#[doc = include_str!("../../crates/cuda_std_macros/README.md")]
struct MacrosReadme;
