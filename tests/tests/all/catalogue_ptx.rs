//! Contracts about the PTX of the reduction, the atomics and the neighbour lists: every atomic with
//! its order, scope and space; the vector accesses that the fast kernels promise.

use crate::support;
use gpu_kernels::atomics::table::{self, CELLS, CellSpace, Operation};
use ptx_sim::ir::Module;
use std::collections::BTreeMap;

fn module() -> Module {
    lockstep_tests::ptx::merged("sm_80")
}

/// The opcodes of the kernel.
fn opcodes(kernel: &str) -> Vec<String> {
    let entry = support::entry(kernel);
    support::opcodes(&entry).map(str::to_owned).collect()
}

/// The end of the opcode of an operation on a type: `add.u32`.
fn operation(operation: Operation, ty: &str) -> String {
    let bits = ty.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_packed = ty.ends_with("x2");
    match operation {
        Operation::Add | Operation::Sub if is_packed => format!("add.noftz.{ty}"),
        // Bits wrap the same way, with and without sign.
        Operation::Add | Operation::Sub if ty == "s64" => "add.u64".to_owned(),
        Operation::Add | Operation::Sub => format!("add.{ty}"),
        Operation::Exch | Operation::Cas | Operation::And | Operation::Or | Operation::Xor => {
            let bits = if is_packed { "32" } else { bits };
            format!("{}.b{bits}", format!("{operation:?}").to_lowercase())
        }
        Operation::Min | Operation::Max | Operation::Inc | Operation::Dec => {
            format!("{}.{ty}", format!("{operation:?}").to_lowercase())
        }
    }
}

/// Every operation of the table in every order, scope and space.
fn has_every_cell(kernel: &str, ty: &str, operations: &[Operation]) {
    let opcodes = opcodes(kernel);
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for &op in operations {
        for cell in &CELLS {
            let space = match cell.space {
                CellSpace::Global => "global",
                CellSpace::Shared => "shared",
            };
            let (order, scope) = (cell.order, cell.scope);
            let opcode = format!("atom.{order}.{scope}.{space}.{}", operation(op, ty));
            *expected.entry(opcode).or_default() += 1;
        }
    }
    for (opcode, n) in expected {
        let found = opcodes.iter().filter(|found| **found == opcode).count();
        assert!(
            found >= n,
            "{kernel}: {n} × {opcode} expected, {found} found"
        );
    }
}

#[test]
fn every_atomic_says_its_order_scope_and_space() {
    has_every_cell("atomic_u32", "u32", table::OPERATIONS_U32);
    has_every_cell("atomic_i32", "s32", table::OPERATIONS_I32);
    has_every_cell("atomic_u64", "u64", table::OPERATIONS_U64);
    has_every_cell("atomic_i64", "s64", table::OPERATIONS_I64);
    has_every_cell("atomic_f32", "f32", table::OPERATIONS_F32);
    has_every_cell("atomic_f64", "f64", table::OPERATIONS_F64);
    has_every_cell("atomic_f16x2", "f16x2", table::OPERATIONS_F16X2);
    // Before sm_90, bf16x2 is added by compare-and-swap in a loop.
    let by_loop = [[Operation::Cas; 3].as_slice(), &[Operation::Exch]].concat();
    has_every_cell("atomic_bf16x2", "bf16x2", &by_loop);
}

#[test]
fn no_atomic_leaves_its_scope_or_order_open() {
    let module = module();
    for entry in module.functions.iter().filter(|function| function.is_entry) {
        for instruction in entry.body.iter().flatten() {
            let words: Vec<&str> = instruction.opcode.split('.').collect();
            if !matches!(words[0], "atom" | "red") {
                continue;
            }
            let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
            assert!(
                has(&["relaxed", "acquire", "release", "acq_rel"]) && has(&["cta", "gpu", "sys"]),
                "{}: {}",
                entry.name,
                instruction.opcode
            );
        }
    }
}

/// Messages are released and acquired, the last block's ticket is ordered at device scope, and the
/// fast neighbour lists move 16 bytes at a time.
#[test]
fn kernels_have_the_instructions_that_they_are_about() {
    for (kernel, wanted) in [
        (
            "pass_between_blocks",
            "ld.acquire.gpu.global.b32 st.release.gpu.global.b32",
        ),
        (
            "pass_between_warps",
            "ld.acquire.cta.shared.b32 st.release.cta.shared.b32",
        ),
        // The load is not `.nc`: a `pdl` kernel may not load past its wait.
        (
            "reduce_fast",
            "atom.acq_rel.gpu.global.inc.u32 ld.global.L1::no_allocate.v4.f32",
        ),
        ("neighbor_cells_scan", "ld.global.v4.b32 st.global.v4.b32"),
        (
            "neighbor_cells_scan",
            "ld.relaxed.gpu.global.b64 st.relaxed.gpu.global.b64",
        ),
        ("neighbor_tiles", "redux.sync.or.b32 setp.lt.or.f32"),
    ] {
        let opcodes = opcodes(kernel);
        for opcode in wanted.split(' ') {
            let has = opcodes.iter().any(|found| found == opcode);
            assert!(has, "{kernel} has no {opcode}; it has {opcodes:?}");
        }
    }
    let tiles = opcodes("neighbor_tiles");
    let is_wide = |opcode: &String| opcode.starts_with("ld.shared.v4.");
    assert!(tiles.iter().any(is_wide), "{tiles:?}");
}
