//! Reductions and neighbour lists with one defect each, run as `run-all` runs
//! their lessons, which must reject them.
//!
//! Left out: defects that show in the result on some runs only (blocks that add
//! without atomics). The check that looks at the accesses finds them: `races.rs`.

use broken_kernels::{neighbor, reduction};
use host::lessons;
use host::lessons::neighbor::device::{self, Layout};
use lesson::{KernelEntry, Shape, Status};
use lockstep_tests::{ptx, results, simulator};

/// The reason why the kernel failed on a shape, which must hold all of `words`.
fn must_fail(kernel: KernelEntry, shape: &Shape, words: &[&str]) {
    let results = results(
        &simulator(ptx::broken()),
        kernel,
        std::slice::from_ref(shape),
    );
    let reason = results[0].reason.clone().unwrap_or_default();
    assert_eq!(results[0].status, Status::Failed, "{reason}");
    for word in words {
        assert!(reason.contains(word), "`{word}` is missing in: {reason}");
    }
}

macro_rules! reduction {
    ($kernel:ident) => {
        KernelEntry::of(reduction::$kernel, "broken", |trial| {
            lessons::reduction::run_by_tree(trial, reduction::$kernel, 0)
        })
    };
}

macro_rules! neighbor {
    ($kernel:ident) => {
        KernelEntry::of(neighbor::$kernel, "broken", |trial| {
            lessons::neighbor::run_pairs_of(
                trial,
                neighbor::$kernel,
                Layout::ByAtom,
                device::pair_config,
            )
        })
    };
}

#[test]
fn reduction_without_a_barrier() {
    // One warp has no other to wait for; of two, the first does not see the second.
    must_fail(
        reduction!(reduce_without_barrier),
        &Shape::every(&[300]),
        &["size 1: expected", "within 0"],
    );
}

#[test]
fn reduction_with_a_step_too_few() {
    must_fail(
        reduction!(reduce_one_step_too_few),
        &Shape::every(&[300]),
        &["size 2: expected"],
    );
}

#[test]
fn a_count_read_apart_from_its_addition() {
    must_fail(
        neighbor!(neighbor_count_read_apart),
        &Shape::of(&[200]),
        &["graphene: the neighbours of atom"],
    );
}

#[test]
fn an_eleventh_neighbour_in_the_next_atoms_places() {
    must_fail(
        neighbor!(neighbor_without_limit),
        &Shape::every(&[70]),
        &["atoms in one place"],
    );
}

#[test]
fn an_atom_in_its_own_list() {
    must_fail(
        neighbor!(neighbor_of_itself),
        &Shape::every(&[70]),
        &["1 random points: atom 0 has 0 neighbours", "counted 1"],
    );
}
