//! Copies to global memory, and the groups by which they are awaited.

use super::{Bench, kernel, noise};

/// Stores the word `value` at the beginning of the tile.
fn fill(value: u32) -> String {
    format!("st.shared.b32 [%tile], {value};\nfence.proxy.async.shared::cta;\n")
}

/// Copies 16 bytes of the tile to byte `to` of the buffer, as a group.
fn store(to: u32) -> String {
    format!(
        "add.u64 %rd1, %buf, {to};
	cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%tile], 16;
	cp.async.bulk.commit_group;\n"
    )
}

fn first_words(bench: &Bench) -> Vec<u8> {
    bench.bytes().chunks(16).take(3).map(|c| c[0]).collect()
}

#[test]
fn a_source_that_is_overwritten_too_early_shows_in_what_is_stored() {
    let bench = Bench::new(&noise(256, 21));
    let body = format!(
        "{}{}{}cp.async.bulk.wait_group 0;",
        fill(1),
        store(0),
        fill(2)
    );
    bench.run_unchecked(&kernel(&body), 1);
    assert_eq!(first_words(&bench)[0], 2);
}

#[test]
fn a_wait_leaves_the_youngest_groups_alone() {
    let bench = Bench::new(&noise(256, 22));
    let wait = "cp.async.bulk.wait_group.read 1;\n";
    let body = format!(
        "{}{}{}{}{wait}{}{}cp.async.bulk.wait_group 0;",
        fill(1),
        store(0),
        fill(2),
        store(16),
        fill(3),
        store(32),
    );
    bench.run_unchecked(&kernel(&body), 1);
    // The first is read at its wait, by when its source has been overwritten once; the
    // second at the end, by when that has happened again.
    assert_eq!(first_words(&bench), [2, 3, 3]);
}

#[test]
fn what_nobody_waits_for_is_stored_when_the_block_ends() {
    let bench = Bench::new(&noise(256, 23));
    let body = format!("{}{}", fill(9), store(0));
    bench.run_unchecked(&kernel(&body), 1);
    assert_eq!(first_words(&bench)[0], 9);
}
