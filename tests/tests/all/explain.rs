//! The maps of kernels: their traces agree with what the catalogue claims about counts.

use cli::explain::default_shape;
use cli::profile::{run_case, with_helpers};
use host::{kernels, registry};
use lesson::Registered;
use lockstep::engine::sim::Sim;
use maps::Access;
use ptx_sim::ir::Space;
use ptx_sim::trace::{Trace, TraceKind};
use ptx_sim::{AccessClass, Counts, TraceOptions};

/// Lessons whose claims are about single accesses, and quick to count.
const LESSONS: [&str; 8] = [
    "coalescing",
    "transpose",
    "swizzled_tile",
    "bank_conflicts",
    "mma_simple",
    "blocks_of_tiles",
    "matrix_power",
    "multi_tiles",
];

fn add(counts: &mut Counts, access: &Access, times: u64) {
    let shared = access.shared_cost();
    let conflicts = times * u64::from(shared.conflicts);
    let global = access.global_cost();
    let sectors = times * u64::from(global.sectors);
    let bytes = times * u64::from(global.bytes);
    match (access.space, access.class) {
        (Space::Shared, AccessClass::Load) => {
            counts.shared_load_requests += times;
            counts.shared_load_conflicts += conflicts;
        }
        (Space::Shared, AccessClass::Store) => {
            counts.shared_store_requests += times;
            counts.shared_store_conflicts += conflicts;
        }
        (Space::Shared, AccessClass::LoadMatrix) => counts.ldmatrix_conflicts += conflicts,
        (Space::Shared, AccessClass::StoreMatrix) => counts.stmatrix_conflicts += conflicts,
        (Space::Shared, AccessClass::AsyncCopy) => {
            counts.async_copy_requests += times;
            counts.async_copy_conflicts += conflicts;
        }
        (Space::Global, AccessClass::Load) => {
            counts.global_load_requests += times;
            counts.global_load_sectors += sectors;
            counts.global_load_bytes += bytes;
        }
        (Space::Global, AccessClass::Store) => {
            counts.global_store_requests += times;
            counts.global_store_sectors += sectors;
            counts.global_store_bytes += bytes;
        }
        (Space::Local, AccessClass::Load) => counts.local_load_sectors += sectors,
        (Space::Local, AccessClass::Store) => counts.local_store_sectors += sectors,
        _ => {}
    }
}

/// What the maps of all accesses of a trace show together.
fn counted(trace: &Trace) -> Counts {
    assert!(!trace.is_cut);
    let mut counts = Counts::default();
    for event in &trace.events {
        if let TraceKind::Access(access) = &event.kind {
            add(&mut counts, access, event.times.into());
        }
    }
    counts
}

/// Launches of at most this many blocks are traced in full: claims about totals are about those.
const FEW_BLOCKS: u32 = 8;

/// What the maps of the kernel's launch at its default shape show, of all blocks or of the first;
/// none if the catalogue claims nothing there.
fn shown(registered: Registered) -> Option<Counts> {
    let shape = default_shape(registered)?;
    if registered.kernel.expected.is_empty() || !(registered.lesson.expects_at)(&shape) {
        return None;
    }
    let module = kernels::module_with(registered.kernel.id, None).expect("the kernels compile");
    let traced = |block: u64| {
        let options = TraceOptions {
            accesses: u32::MAX,
            events: usize::MAX,
            block,
        };
        let sim = Sim::new(with_helpers(&module)).with_trace(registered.kernel.id, options);
        run_case(registered, &shape, &sim).expect("it is right");
        sim.traced().expect("it was launched")
    };
    let first = traced(0);
    let mut counts = counted(&first.trace);
    let n_blocks: u32 = first.config.grid.iter().product();
    if n_blocks <= FEW_BLOCKS {
        for block in 1..n_blocks {
            counts.add(&counted(&traced(block.into()).trace));
        }
    }
    Some(counts)
}

#[test]
fn maps_show_what_the_catalogue_claims() {
    let mut n_claims = 0;
    for id in LESSONS {
        for registered in registry::kernels().filter(|kernel| kernel.lesson.id == id) {
            let Some(counts) = shown(registered) else {
                continue;
            };
            for claim in registered.kernel.expected {
                n_claims += 1;
                let found = claim.metric.of(&counts);
                let name = registered.kernel.id;
                assert!(
                    claim.holds(&counts),
                    "{name}: {claim:?}, the maps show {found:?}"
                );
            }
        }
    }
    assert!(n_claims >= 100, "only {n_claims} claims were looked at");
}
