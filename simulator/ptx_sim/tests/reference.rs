//! Plain execution, instruction by instruction and lane by lane, as the reference for rows,
//! vectors and runs of instructions: it leaves the bits and the counts that a GPU leaves, too.

use common::plainly;

#[test]
fn plain_execution_leaves_the_same_bits_and_counts() {
    plainly::pass(&[
        "arithmetic::",
        "counters::",
        "dialects::",
        "hardware::",
        "random::random_programs",
        "random::programs_of_all_kinds",
        "wgmma::checked_tiles",
    ]);
}
