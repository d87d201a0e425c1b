//! Plain execution as the reference for what is refused and reported, and in which orders warps
//! run: see `reference.rs`.

use common::plainly;

#[test]
fn plain_execution_reports_the_same() {
    plainly::pass(&[
        "divergence::",
        "fail::",
        "memory::",
        "races::",
        "schedules::",
        "sync::",
    ]);
}
