//! The kernels of GEMM, each with one line of its PTX changed as if by a slip: the simulator's
//! checks must find every change, and name a line of source.
//!
//! Left out: changes that are not defects, such as a wait for more than is needed. What the checks
//! do not find is at the end, and in `docs/checks.md`.

use cli::profile::run_case;
use host::{kernels, ptx, registry};
use lesson::Shape;
use lockstep::engine::PtxModule;
use lockstep::engine::sim::Sim;
use lockstep_tests::debugged::leads_to_the_line;

/// One tile of 128×256, eight steps of 64 along k: each stage of a ring is used again.
const LONG: [u32; 3] = [128, 256, 512];

/// The module of a kernel alone, each line that has `what` in it changed.
fn mutant(kernel: &str, what: &str, change: fn(&str) -> String) -> PtxModule {
    let module = kernels::module_with(kernel, None).expect("the kernels compile");
    let text = module.text().expect("the kernels compile");
    let listing = ptx::kernel_listing(text, kernel).expect("the kernel exists");
    let lines = listing.lines().map(|line| match line.contains(what) {
        true => change(line),
        false => line.to_owned(),
    });
    let changed: Vec<String> = lines.collect();
    let changed = changed.join("\n");
    assert_ne!(changed, listing.trim_end(), "{kernel} has no `{what}`");
    PtxModule::of_text("mutant.ptx", changed).with_sources(lockstep_tests::ptx::root())
}

/// What the checks say about a mutant at a size; nothing if they find nothing.
fn found(kernel: &str, dims: [u32; 3], what: &str, change: fn(&str) -> String) -> String {
    let sim = Sim::new(vec![mutant(kernel, what, change)]).with_check(true);
    checked(kernel, dims, &sim)
}

/// The same of the kernel that a simulator with checks has.
fn checked(kernel: &str, dims: [u32; 3], sim: &Sim) -> String {
    let registered = registry::kernel(kernel).expect("it exists");
    let ended = run_case(registered, &Shape::of(&dims), sim);
    ended.err().map_or(String::new(), |error| error.to_string())
}

/// It is found, in these words, with a line of the kernels' source.
fn must_find(kernel: &str, dims: [u32; 3], what: &str, change: fn(&str) -> String, words: &str) {
    let found = found(kernel, dims, what, change);
    assert!(
        found.contains(words),
        "{kernel}: `{words}` is missing in: {found}"
    );
    // In the debugger those that do not end take long.
    if found.contains("  in kernel `") && !found.contains("may never end") {
        let sim = Sim::new(vec![mutant(kernel, what, change)]);
        let registered = registry::kernel(kernel).expect("it exists");
        leads_to_the_line(&found, &sim, |sim| {
            drop(run_case(registered, &Shape::of(&dims), sim));
        });
    }
    let has_line = found.contains("gpu-kernels/src/") || found.contains("cuda_std/src/");
    assert!(has_line, "{kernel}: no line of source in: {found}");
}

fn without(_: &str) -> String {
    String::new()
}

macro_rules! mutants {
    ($($name:ident: $kernel:literal at $dims:expr, $what:literal => $change:expr, $words:literal;)*) => {
        $(
            #[test]
            fn $name() {
                must_find($kernel, $dims, $what, $change, $words);
            }
        )*
    };
}

mutants! {
    pipelined_waits_for_a_group_less:
        "gemm_pipelined" at LONG, "cp.async.wait_group 2;" => |line| line.replace('2', "3"),
        "asynchronous copy not waited for";
    rows_of_the_result_take_the_place_of_others_in_the_same_warp:
        "gemm_pipelined" at [128, 256, 64], "bar.warp.sync" => without,
        "race";
    tiled_has_no_barrier_behind_its_copies:
        "gemm_tiled" at [64, 64, 64], "bar.sync" => without,
        "race";
    wgmma_sees_stores_without_a_proxy_fence:
        "gemm_wgmma" at LONG, "fence.proxy.async.shared::cta" => without,
        "missing proxy fence";
    wgmma_has_no_fence_of_its_registers:
        "gemm_wgmma" at LONG, "wgmma.fence.sync" => without,
        "missing wgmma.fence";
    wgmma_tiles_are_overwritten_while_they_are_read:
        "gemm_wgmma" at LONG, "wgmma.wait_group.sync.aligned 0;" => without,
        "product of a warpgroup not waited for";
    a_stage_is_given_back_too_early:
        "gemm_warp_specialized" at LONG, "wgmma.wait_group.sync.aligned 1;" => |line| line.replace("1;", "2;"),
        "product of a warpgroup not waited for";
    sums_are_read_in_flight:
        "gemm_warp_specialized" at LONG, "wgmma.wait_group.sync.aligned 0;" => without,
        "wgmma in flight";
    a_tile_is_read_before_its_phase_is_over:
        "gemm_tma" at LONG, "mbarrier.try_wait" => |_| "setp.eq.u32 ended, 0, 0;".to_owned(),
        "asynchronous copy not waited for";
    more_bytes_are_expected_than_come:
        "gemm_tma" at LONG, "mbarrier.arrive.expect_tx" => |line| {
            let (head, _) = line.rsplit_once(',').expect("it names the bytes");
            format!("{head}, 999424;")
        },
        "it may never end";
    results_are_sent_without_a_proxy_fence:
        "gemm_ping_pong" at LONG, "fence.proxy.async.shared::cta" => without,
        "missing proxy fence";
    results_are_overwritten_while_they_are_sent:
        "gemm_ping_pong" at [128, 512, 64], "cp.async.bulk.wait_group.read 0;" => without,
        "asynchronous copy not waited for";
    a_block_ends_while_its_results_are_sent:
        "gemm_epilogue" at LONG, "cp.async.bulk.wait_group.read 0;" => without,
        "bulk copy not waited for";
    sums_of_other_blocks_are_read_before_they_are_there:
        "gemm_split_k_64x128" at [64, 128, 512], "barrier.cluster.wait" => without,
        "race";
    a_pair_copies_to_a_block_whose_barriers_are_not_ready:
        "gemm_small" at LONG, "barrier.cluster.wait" => without,
        "race";
    by_mma_says_for_its_warp_what_one_lane_knows:
        "gemm_by_mma" at LONG, "bar.warp.sync" => without,
        "race: asynchronous copy";
    by_mma_reads_a_tile_before_its_phase_is_over:
        "gemm_by_mma" at [128, 256, 64], "mbarrier.try_wait" => |_| "setp.eq.u32 ended, 0, 0;".to_owned(),
        "asynchronous copy not waited for";
    another_blocks_barrier_is_used_before_it_is_ready:
        "gemm_cluster" at [256, 256, 512], "barrier.cluster.wait" => without,
        "race";
}

/// The findings above are the mutants' own: the unchanged kernels have none, even with several
/// tiles per block, tiles that stick out, and sums that blocks share.
#[test]
fn kernels_as_they_are_have_nothing_to_find() {
    let modules = kernels::modules().expect("the kernels are here");
    let sim = Sim::new(modules).with_check(true);
    for kernel in host::lessons::gemm::LESSON.kernels {
        let mut shared = ["split", "spread", "small"].into_iter();
        let dims = match shared.any(|what| kernel.id.contains(what)) {
            true => [64, 256, 512],
            false => [264, 264, 72],
        };
        let found = checked(kernel.id, dims, &sim);
        assert_eq!(found, "", "{} at {dims:?}", kernel.id);
    }
}

/// Defects that a GPU may punish and the checks do not look for: barriers in memory that the copy
/// engine uses without a fence after their initialisation.
#[test]
fn fences_of_new_barriers_are_not_missed() {
    for what in ["fence.mbarrier_init", "fence.proxy.async;"] {
        let found = found("gemm_warp_specialized", LONG, what, without);
        assert_eq!(
            found, "",
            "{what}: found now, so docs/checks.md must say so"
        );
    }
}
