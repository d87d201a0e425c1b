//! Tensor-core tiles: mistakes with them are caught, their counts are the
//! hardware's, and their PTX is as it must be.

use crate::support::opcodes;
use broken_kernels::tensor::{
    b_without_trans, fragments_swapped, right_product, stored_plain_loaded_swizzled,
};
use host::lessons::blocks_of_tiles::{left_times_right, left_times_right_transposed, run};
use host::registry::{LESSONS, kernel};
use lesson::half_matrices::f32_sum_error;
use lesson::run::{cases, run as run_cases};
use lesson::verify::Tolerance;
use lesson::{Effort, KernelEntry, Shape, Status};
use lockstep::engine::EngineKind;
use lockstep::engine::sim::Sim;
use lockstep_tests::{ptx, results, simulator};
use ptx_sim::ir::Function;

const TOLERANCE: Tolerance = Tolerance::Absolute(f32_sum_error(16));

fn outcome(kernel: KernelEntry) -> (Status, String) {
    let (simulator, kernel) = (simulator(ptx::broken()), kernel.within(TOLERANCE));
    let result = results(&simulator, kernel, &[Shape::of(&[2])]).remove(0);
    (result.status, result.reason.unwrap_or_default())
}

/// The entry of a kernel for tiles of 32 columns.
macro_rules! entry {
    ($kernel:ident, $reference:ident) => {
        KernelEntry::of($kernel, "broken", |trial| {
            run(trial, $kernel, 32, $reference)
        })
    };
}

#[test]
fn mistakes_with_tiles_are_wrong() {
    for kernel in [
        entry!(stored_plain_loaded_swizzled, left_times_right_transposed),
        entry!(b_without_trans, left_times_right),
        entry!(fragments_swapped, left_times_right),
    ] {
        let id = kernel.id;
        let (status, reason) = outcome(kernel);
        assert_eq!(status, Status::Failed, "{id}");
        assert!(
            reason.contains("of 256 elements are wrong"),
            "{id}: {reason}"
        );
    }
}

#[test]
fn the_same_without_a_mistake_is_right() {
    let (status, reason) = outcome(entry!(right_product, left_times_right));
    assert_eq!(status, Status::Passed, "{reason}");
}

// ---------------------------------------------------------------------------
// Counters
// ---------------------------------------------------------------------------

/// An H200's counters, kernel by kernel (`tests/data/README.md`).
const COUNTERS: &str = include_str!("../../data/h200-tensor-counters.csv");

#[test]
fn counts_are_those_of_the_hardware() {
    let simulator = Sim::new(ptx::modules());
    let mut n_kernels = 0;
    for line in COUNTERS.lines().skip(1) {
        let (id, measured) = line.split_once(',').expect("a name and figures");
        let measured: Vec<u64> = measured
            .split(',')
            .map(|figure| figure.parse().expect("a number"))
            .collect();
        let selected = [kernel(id).expect("it is registered")];
        let first = &cases(&selected, EngineKind::Sim, Effort::Quick)[..1];
        let result = run_cases(&simulator, first, None, |_| {}, |_| {}).remove(0);
        assert_eq!(result.status, Status::Passed, "{id}: {:?}", result.reason);
        let counts = result.figures.counts.expect("the simulator counts");
        let counted = [
            counts.shared_load_conflicts + counts.ldmatrix_conflicts,
            counts.shared_store_conflicts + counts.stmatrix_conflicts,
            counts.ldmatrix_conflicts,
            counts.stmatrix_conflicts,
            0,
            counts.global_load_requests,
            counts.global_load_sectors,
        ];
        assert_eq!(counted[..], measured[..], "{id}");
        n_kernels += 1;
    }
    assert_eq!(n_kernels, 26);
}

// ---------------------------------------------------------------------------
// PTX
// ---------------------------------------------------------------------------

const TENSOR_LESSONS: [&str; 5] = [
    "mma_simple",
    "blocks_of_tiles",
    "matrix_power",
    "multi_tiles",
    "tensor_instructions",
];

/// Instructions that the whole warp must carry out together. The compiler does
/// not know that of inline assembly.
const WARP_WIDE: [&str; 3] = ["ldmatrix", "stmatrix", "mma"];

fn name(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}

/// The kernels of the tensor lessons, each from every module that has it.
fn kernels() -> Vec<Function> {
    let ids: Vec<&str> = LESSONS
        .iter()
        .filter(|lesson| TENSOR_LESSONS.contains(&lesson.id))
        .flat_map(|lesson| lesson.kernels)
        .map(|kernel| kernel.id)
        .collect();
    let found: Vec<Function> = host::kernels::ARCHES
        .into_iter()
        .flat_map(ptx::parsed)
        .flat_map(|(_, module)| module.functions)
        .filter(|function| function.is_entry && ids.contains(&&*function.name))
        .collect();
    assert!(found.len() > ids.len(), "most are in both modules");
    found
}

/// No branch of a kernel may split the lanes between the start and an instruction of the
/// whole warp. Only the loop over the digits of an exponent branches at all, and all lanes
/// have the same exponent.
#[test]
fn warp_wide_instructions_stand_in_straight_line_code() {
    for kernel in kernels() {
        let body = kernel.body.as_deref().unwrap_or_default();
        let may_branch = kernel.name.starts_with("matrix_power");
        for instruction in body {
            let opcode = name(&instruction.opcode);
            let (id, line) = (&kernel.name, instruction.line);
            let is_guarded = WARP_WIDE.contains(&opcode) && instruction.guard.is_some();
            assert!(!is_guarded, "{id}: {opcode} is guarded, PTX line {line}");
            let branches = opcode == "bra" && !may_branch;
            assert!(!branches, "{id} branches, PTX line {line}");
        }
        let has_any = body.iter().any(|i| WARP_WIDE.contains(&name(&i.opcode)));
        assert!(has_any, "{} has no tensor-core instruction", kernel.name);
    }
}

/// Whole tiles move in chunks of 16 bytes.
#[test]
fn copies_move_16_bytes() {
    for kernel in kernels() {
        // A probe's registers and a result's pairs are not tiles.
        if kernel.name.starts_with("probe_mma") || kernel.name == "probe_stmatrix" {
            continue;
        }
        let mut loads = opcodes(&kernel).filter(|opcode| opcode.starts_with("ld.global"));
        let narrow = loads.find(|load| !load.contains(".v2.b64") && !load.contains(".v4.b32"));
        assert_eq!(narrow, None, "{}", kernel.name);
    }
}
