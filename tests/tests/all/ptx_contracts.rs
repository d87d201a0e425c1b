//! Contracts about the kernels' PTX, whatever the compiler does next.
//!
//! A kernel can give right results and still be the wrong kernel: shared memory
//! reached through generic addresses, an array in registers that went to local
//! memory, four loads where one of 16 bytes was meant. These tests read the PTX
//! that runs.
//!
//! Left out: what only ptxas decides (registers, spills), and what only a run
//! shows (counts, results).

use crate::support::{count, opcodes};
use host::kernels::ARCHES;
use host::registry::LESSONS;
use lesson::KernelEntry;
use lockstep_tests::ptx;
use ptx_sim::ir::{Function, Module, Space};
use std::path::Path;

/// Prefixes of the names of kernels whose subject is local memory.
const LOCAL_MEMORY_IS_THE_SUBJECT: &[&str] = &["running_mean_local"];

/// The modules of every topic and architecture, parsed.
fn modules() -> Vec<(String, Module)> {
    ARCHES.into_iter().flat_map(ptx::parsed).collect()
}

/// The kernels for the oldest architecture, which are nearly all.
fn base() -> Module {
    ptx::merged(ARCHES[0])
}

/// The kernels that use what only Hopper can do.
fn hopper() -> Module {
    ptx::merged(ARCHES[1])
}

fn entries(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.iter().filter(|function| function.is_entry)
}

/// All kernels of all lessons.
fn registered() -> impl Iterator<Item = &'static KernelEntry> {
    LESSONS.iter().flat_map(|lesson| lesson.kernels)
}

fn entry<'m>(module: &'m Module, name: &str) -> &'m Function {
    entries(module)
        .find(|entry| entry.name == name)
        .unwrap_or_else(|| panic!("no entry `{name}`"))
}

/// Whether a load or store moves 16 bytes per thread.
fn moves_16_bytes(opcode: &str) -> bool {
    let words: Vec<_> = opcode.split('.').collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    let moves =
        has(&["v4"]) && has(&["b32", "f32", "u32"]) || has(&["v2"]) && has(&["b64", "f64", "u64"]);
    matches!(words[0], "ld" | "st") && moves
}

/// Whether an instruction accesses memory without saying which.
fn is_generic_access(opcode: &str) -> bool {
    let mut words = opcode.split('.');
    let accesses = matches!(words.next(), Some("ld" | "ldu" | "st" | "atom" | "red"));
    let spaces = ["global", "shared", "local", "param", "const"];
    let is_space = |word: &str| spaces.contains(&word.split("::").next().unwrap_or(word));
    accesses && !words.any(is_space)
}

#[test]
fn generic_accesses_are_told_from_others() {
    for opcode in "ld.b32 st.v4.f32 ld.volatile.b32 atom.add.u32 red.relaxed.gpu.add.f32".split(' ')
    {
        assert!(is_generic_access(opcode), "{opcode}");
    }
    let others =
        "ld.shared.b32 ld.volatile.shared.b32 st.shared::cta.b32 ld.global.nc.v4.f32 add.s32";
    for opcode in others.split(' ') {
        assert!(!is_generic_access(opcode), "{opcode}");
    }
}

#[test]
fn no_kernel_accesses_memory_through_generic_addresses() {
    for (name, module) in modules() {
        for entry in entries(&module) {
            let mut instructions = entry.body.iter().flatten();
            if let Some(wrong) = instructions.find(|one| is_generic_access(&one.opcode)) {
                let (line, opcode) = (wrong.line, &wrong.opcode);
                let entry = &entry.name;
                panic!("{name}, line {line}: {opcode} in `{entry}` does not say which memory");
            }
        }
    }
}

#[test]
fn local_memory_is_used_only_where_it_is_the_subject() {
    for (_, module) in modules() {
        for entry in entries(&module) {
            let mut locals = entry.locals.iter();
            let uses_local = locals.any(|local| local.space == Space::Local);
            let mut subjects = LOCAL_MEMORY_IS_THE_SUBJECT.iter();
            let is_subject = subjects.any(|start| entry.name.starts_with(start));
            assert!(
                !uses_local || is_subject,
                "`{}` uses local memory",
                entry.name
            );
        }
    }
}

/// The instructions of a function, in no order. A condition and its opposite count as one: the
/// compiler chooses which side of a branch comes first, which costs or saves a jump. So do a
/// sum and the `or` that replaces it where the compiler knows that no bit carries.
fn work(function: &Function) -> Vec<&str> {
    let mut work: Vec<_> = opcodes(function)
        .filter(|&opcode| opcode != "bra.uni")
        .map(|opcode| match opcode {
            "setp.ge.u32" => "setp.lt.u32",
            "or.pred" => "and.pred",
            "or.b32" => "add.s32",
            other => other,
        })
        .collect();
    work.sort_unstable();
    work
}

/// The sizes of a function's parameters.
fn sizes(function: &Function) -> Vec<u32> {
    let params = function.params.iter();
    params.map(|param| param.size_bytes).collect()
}

/// Safe kernels, and the same with pointers.
const SAFE_AND_PLAIN: [(&str, &str); 3] = [
    ("copy_safe", "copy"),
    ("add_safe", "add"),
    ("transpose_safe", "transpose_swizzled"),
];

#[test]
fn safe_kernels_do_the_work_of_plain_ones_and_no_more() {
    let catalogue = base();
    for (name, plain) in SAFE_AND_PLAIN {
        let (safe, plain) = (entry(&catalogue, name), entry(&catalogue, plain));
        assert_eq!(work(safe), work(plain), "`{name}`");
        let jumps_more = opcodes(safe).count() > opcodes(plain).count();
        assert!(!jumps_more, "`{name}` jumps more");
        assert_eq!(sizes(safe), sizes(plain), "`{name}`");
    }
}

#[test]
fn every_registered_kernel_is_an_entry_with_the_parameters_the_host_passes() {
    let modules = modules();
    for kernel in registered() {
        let mut n_found = 0;
        for (_, module) in &modules {
            let Some(entry) = entries(module).find(|entry| entry.name == kernel.id) else {
                continue;
            };
            n_found += 1;
            let expected = (kernel.param_sizes)();
            assert_eq!(sizes(entry), expected, "parameters of `{}`", kernel.id);
            let expected = kernel.bounds.map(|of| (of.max_threads, of.min_blocks));
            let found = entry.bounds;
            let found = found.max_threads.map(|threads| (threads, found.min_blocks));
            assert_eq!(found, expected, "launch bounds of `{}`", kernel.id);
        }
        assert!(n_found > 0, "`{}` is in no module", kernel.id);
    }
}

#[test]
fn source_places_are_files_of_the_repository() {
    let repository = ptx::root();
    for (name, module) in modules() {
        assert!(!module.files.is_empty(), "{name} has no line table");
        for (_, file) in &module.files {
            let path = Path::new(file);
            assert!(
                path.is_relative(),
                "{name}: {file} is of the machine that built it"
            );
            if path.starts_with("gpu-kernels") || path.starts_with("crates") {
                let is_there = repository.join(path).is_file();
                assert!(is_there, "{name}: {file} is not in the repository");
            }
        }
        for entry in entries(&module) {
            let mut instructions = entry.body.iter().flatten();
            let has_place = instructions.any(|instruction| instruction.loc.is_some());
            assert!(
                has_place,
                "no instruction of `{}` has a source place",
                entry.name
            );
        }
    }
}

#[test]
fn the_panic_sink_is_there_and_empty() {
    for (name, module) in modules() {
        let mut variables = module.variables.iter();
        let sink = variables.find(|variable| variable.name == cuda_std::panic::SINK_SYMBOL);
        let sink = sink.unwrap_or_else(|| panic!("{name} has no panic sink"));
        assert_eq!((sink.space, sink.size_bytes), (Space::Global, 8));
        let is_empty = sink.init.iter().all(|byte| *byte == 0);
        assert!(is_empty, "{name}: the panic sink is not empty");
    }
}

#[test]
fn transposes_through_a_tile_store_wait_and_load_once() {
    let module = base();
    for name in ["shared", "padded", "swizzled", "safe"].map(|by| format!("transpose_{by}")) {
        let entry = entry(&module, &name);
        for (opcode, n_expected) in [
            ("ld.global", 1),
            ("st.shared", 1),
            ("bar.sync", 1),
            ("ld.shared", 1),
            ("st.global", 1),
            ("call", 0),
        ] {
            assert_eq!(count(entry, opcode), n_expected, "{opcode} in `{name}`");
        }
        let order: Vec<_> = opcodes(entry)
            .filter(|opcode| opcode.contains(".shared") || opcode.starts_with("bar."))
            .collect();
        let expected = ["st.shared", "bar.", "ld.shared"];
        let is_right = order
            .iter()
            .zip(expected)
            .all(|(found, start)| found.starts_with(start));
        assert!(order.len() == 3 && is_right, "`{name}`: {order:?}");
    }
}

/// So the claims about their counts are about one store and one load, of which none was forwarded.
#[test]
fn kernels_about_banks_and_sectors_access_memory_as_often_as_they_say() {
    let module = base();
    let through_shared = [("st.shared", 1), ("ld.shared", 1)];
    let two_to_one = [("ld.global", 2), ("st.global", 1)];
    for (names, expected) in [
        (
            &[
                "bank_warm_up",
                "bank_store_rows",
                "bank_store_columns",
                "bank_load_rows",
                "bank_load_columns",
                "tile_column_plain",
                "tile_column_swizzled_rows",
                "tile_column_swizzled_lines",
            ][..],
            through_shared,
        ),
        (
            &[
                "add",
                "add_permuted",
                "add_offset",
                "add_stride",
                "add_broadcast",
            ],
            two_to_one,
        ),
        // A width that may be zero is not divided by.
        (
            &["bank_store_width", "bank_load_width"],
            [("call", 0), ("trap", 0)],
        ),
    ] {
        for name in names {
            for (opcode, n_expected) in expected {
                let found = count(entry(&module, name), opcode);
                assert_eq!(found, n_expected, "{opcode} in `{name}`");
            }
        }
    }
}

#[test]
fn the_vectorized_sum_loads_all_before_it_stores() {
    let module = base();
    let wide = opcodes(entry(&module, "add_vectorized")).filter(|opcode| opcode.contains(".v4"));
    let spaces = wide.map(|opcode| &opcode[.."ld.global".len()]);
    assert_eq!(
        spaces.collect::<Vec<_>>(),
        ["ld.global", "ld.global", "st.global"]
    );
}

#[test]
fn the_vectorized_transpose_moves_16_bytes_an_access() {
    let module = base();
    let entry = entry(&module, "transpose_vectorized");
    // A thread's 16 elements; where rows start anywhere, 20 of the input and 12 of
    // the output. There it loads the tile by single elements. Blocks with the
    // matrix's first or last row have loads of their own: ends move singly.
    for (access, n_wide, n_narrow) in [
        ("ld.global", 4 + 5 + 5, 20),
        ("st.shared", 4 + 5, 0),
        ("ld.shared", 4, 12),
        ("st.global", 4 + 3, 12),
    ] {
        let wide =
            opcodes(entry).filter(|opcode| opcode.starts_with(access) && moves_16_bytes(opcode));
        assert_eq!(wide.count(), n_wide, "{access}");
        assert_eq!(count(entry, access), n_wide + n_narrow, "{access}");
    }
    // All loads of the aligned path are in flight before the first store to the
    // tile.
    let order: Vec<_> = opcodes(entry)
        .filter(|opcode| moves_16_bytes(opcode) && !opcode.starts_with("st.global"))
        .collect();
    let mut first = order[..4].iter();
    assert!(
        first.all(|opcode| opcode.starts_with("ld.global")),
        "{order:?}"
    );
}

#[test]
fn read_only_loads_take_the_read_only_path() {
    let module = base();
    for (name, n_read_only) in [
        ("transpose_coalesced_write_ldg", 1),
        ("transpose_coalesced_read", 0),
        ("transpose_coalesced_write", 0),
    ] {
        let entry = entry(&module, name);
        let found = (count(entry, "ld.global.nc"), count(entry, "ld.global"));
        assert_eq!(found, (n_read_only, 1), "`{name}`");
    }
}

#[test]
fn the_fast_product_reads_chunks_and_keeps_its_sums_in_registers() {
    let module = base();
    let entry = entry(&module, "sgemm_fast");
    // Two loops of 8 steps: for matrices whose rows start at multiples of 16 bytes, and
    // for others. A step is 8×16 multiply-adds out of 6 chunks; the first step's are
    // also loaded before the loop.
    assert_eq!(count(entry, "fma.rn.f32"), 2 * 8 * (8 * 16));
    assert_eq!(count(entry, "ld.shared.v4"), 2 * (8 + 1) * 6);
    assert_eq!(count(entry, "ld.shared"), count(entry, "ld.shared.v4"));
    for opcode in ["ld.local", "st.local", "st.shared", "call"] {
        assert_eq!(count(entry, opcode), 0, "{opcode}");
    }
    let n_barriers = count(entry, "bar.sync") + count(entry, "barrier.sync");
    assert_eq!(n_barriers, 2 * 2);
}

#[test]
fn the_products_by_mma_are_fed_by_as_few_loads_as_their_tiles_allow() {
    let module = base();
    let counts = |name: &str| {
        let entry = entry(&module, name);
        for opcode in ["ld.local", "st.local", "call"] {
            assert_eq!(count(entry, opcode), 0, "{name}: {opcode}");
        }
        let copies = count(entry, "cp.async.cg");
        [count(entry, "mma.sync"), count(entry, "ldmatrix"), copies]
    };
    assert_eq!(counts("gemm_naive"), [1, 0, 0]);
    // Four steps of 4×4 products; of tiles of 128 rows each thread copies four chunks.
    assert_eq!(counts("gemm_tiled"), [4 * 16, 0, 2 * 4]);
    // Two loads for B, four for A.
    assert_eq!(counts("gemm_swizzled"), [4 * 16, 4 * 6, 2 * 4]);
    // Two loops, for whole chunks along k and for others. A step is 4×8 products out of eight
    // loads, and the first step's are also loaded before the loop; three tiles are copied
    // before it.
    assert_eq!(
        counts("gemm_pipelined"),
        [2 * 4 * 32, 2 * (4 + 1) * 8, 2 * (3 + 1) * 12]
    );
}

#[test]
fn products_fed_by_the_copy_engine_only_load_fragments_and_multiply() {
    let module = hopper();
    let entry = entry(&module, "gemm_by_mma");
    // One loop of four steps, each of 4×8 products and of eight loads for the next one; the very
    // first step's are loaded before it.
    assert_eq!(count(entry, "mma.sync"), 4 * 32);
    assert_eq!(count(entry, "ldmatrix"), (4 + 1) * 8);
    assert_eq!(count(entry, "setmaxnreg"), 2, "roles");
    for opcode in ["ld.local", "st.local", "call", "cp.async.cg"] {
        assert_eq!(count(entry, opcode), 0, "{opcode}");
    }
    // Loads stand among the products: a quarter of B's before each quarter of them, and the
    // fragment of A that takes their place after it.
    let order: String = opcodes(entry)
        .filter_map(|opcode| match opcode.split('.').next() {
            Some("mma") => Some('m'),
            Some("ldmatrix") => Some('l'),
            _ => None,
        })
        .collect();
    assert_eq!(order, "l".repeat(8) + &"lmmmmmmmml".repeat(4 * 4));
}

#[test]
fn pdl_kernels_wait_for_the_previous_launch_before_they_write() {
    let hopper = &hopper();
    let is_write = |opcode: &str| {
        let writes = "st.global st.relaxed st.release atom. red. cp.async.bulk.tensor.2d.global";
        writes.split(' ').any(|write| opcode.starts_with(write))
    };
    let mut n_pdl = 0;
    for kernel in registered() {
        let Some(entry) = entries(hopper).find(|entry| entry.name == kernel.id) else {
            assert!(!kernel.uses_pdl, "{}", kernel.id);
            continue;
        };
        let wait = opcodes(entry).position(|opcode| opcode == "griddepcontrol.wait");
        assert_eq!(wait.is_some(), kernel.uses_pdl, "{}", kernel.id);
        if let Some(wait) = wait {
            n_pdl += 1;
            let write = opcodes(entry).position(is_write);
            assert!(write.is_some_and(|write| write > wait), "{}", kernel.id);
        }
    }
    assert!(n_pdl > 0);
    // Older architectures do not know the instruction.
    for kernel in entries(&base()) {
        assert_eq!(count(kernel, "griddepcontrol"), 0, "{}", kernel.name);
    }
}

#[test]
fn warpgroups_multiply_a_step_in_one_group() {
    let module = hopper();
    let mut n_kernels = 0;
    for entry in entries(&module).filter(|entry| count(entry, "wgmma.mma_async") > 0) {
        n_kernels += 1;
        // 64 rows, or 128 in two halves, 128 bytes deep.
        let is_tall = count(entry, "wgmma.mma_async.sync.aligned.m64n128k16") == 8;
        let n = count(entry, "wgmma.mma_async");
        assert_eq!(n, if is_tall { 8 } else { 4 }, "{}", entry.name);
        assert_eq!(count(entry, "wgmma.commit_group"), 1, "{}", entry.name);
        for opcode in ["ld.local", "st.local", "call"] {
            assert_eq!(count(entry, opcode), 0, "{}: {opcode}", entry.name);
        }
    }
    assert!(
        n_kernels >= 28,
        "{n_kernels} kernels multiply by warpgroups"
    );
}

#[test]
fn multipliers_only_read_chunks_and_multiply() {
    let module = hopper();
    for name in ["sgemm_warp_specialized", "sgemm_stream_k"] {
        let entry = entry(&module, name);
        // One loop of 16 steps, and the last one's multiply-adds once more after it.
        assert_eq!(
            count(entry, "fma.rn.f32"),
            (16 + 1) * (8 * 16),
            "{name}: multiply-adds"
        );
        assert_eq!(count(entry, "ld.shared.v4"), 16 * 6, "{name}: loads");
        assert_eq!(count(entry, "ld.shared"), count(entry, "ld.shared.v4"));
        assert_eq!(count(entry, "setmaxnreg"), 2, "{name}: roles");
        for opcode in ["ld.local", "st.local", "st.shared", "call"] {
            assert_eq!(count(entry, opcode), 0, "{name}: {opcode}");
        }
    }
}
