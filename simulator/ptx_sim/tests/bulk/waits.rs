//! The arrival of bytes, and the counting of barriers.

use ptx_sim::schedule::Schedule;

use super::{Bench, INIT, kernel, noise, wait};

/// Copies 16 bytes of the buffer, from byte `from` on, to byte `to` of the tile, and counts
/// them at barrier number `barrier`.
fn copy(from: u32, to: u32, barrier: u32) -> String {
    format!(
        "add.u64 %rd9, %buf, {from};
	add.u32 %r9, %tile, {to};
	add.u32 %r8, %bar, {};
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd9], 16, [%r8];\n",
        8 * barrier
    )
}

/// Expects bytes at the first barrier, and arrives there.
fn expect(bytes: u32) -> String {
    format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {bytes};\n")
}

/// Stores word `word` of the tile at word `at` of the buffer.
fn put(word: u32, at: u32) -> String {
    format!(
        "ld.shared.b32 %r20, [%tile+{}];\nst.global.b32 [%buf+{}], %r20;\n",
        4 * word,
        4 * at
    )
}

fn words(bench: &Bench, at: usize) -> u32 {
    let bytes = bench.bytes();
    u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"))
}

#[test]
fn a_tile_read_too_early_holds_what_was_there_before() {
    let data = noise(256, 1);
    let bench = Bench::new(&data);
    let body = format!(
        "st.shared.b32 [%tile], 77;\n{INIT}{}{}{}{}{}",
        expect(16),
        copy(0, 0, 0),
        put(0, 32),
        wait(0),
        put(0, 33)
    );
    bench.run_unchecked(&kernel(&body), 1);
    assert_eq!(words(&bench, 32), 77, "before the wait");
    assert_eq!(words(&bench, 33), words(&bench, 0), "behind it");
}

#[test]
fn only_the_copies_of_the_barrier_that_is_asked_arrive() {
    let bench = Bench::new(&noise(256, 2));
    let second = "mbarrier.init.shared::cta.b64 [%bar+8], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+8], 16;\n";
    let body = format!(
        "st.shared.b32 [%tile], 77;\nst.shared.b32 [%tile+16], 78;\n{INIT}{second}{}{}{}{}{}{}",
        expect(16),
        copy(0, 0, 0),
        copy(16, 16, 1),
        wait(0),
        put(0, 32),
        put(4, 33)
    );
    bench.run_unchecked(&kernel(&body), 1);
    assert_eq!(words(&bench, 32), words(&bench, 0));
    assert_eq!(words(&bench, 33), 78, "nobody has asked the second barrier");
}

#[test]
fn bytes_may_come_before_they_are_expected() {
    let bench = Bench::new(&noise(256, 3));
    // The test lets the bytes arrive; the phase is over once they have been expected.
    let early = "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%bar], 0;
	selp.b32 %r21, 1, 0, %p3;
	st.global.b32 [%buf+132], %r21;\n";
    let body = format!(
        "{INIT}{}{early}{}{}{}",
        copy(0, 0, 0),
        expect(16),
        wait(0),
        put(0, 32)
    );
    bench.run_both(&kernel(&body), None, 1);
    assert_eq!(words(&bench, 33), 0, "the phase was not over");
    assert_eq!(words(&bench, 32), words(&bench, 0));
}

#[test]
fn a_phase_waits_for_all_of_its_copies() {
    let bench = Bench::new(&noise(256, 4));
    let mut body = format!("{INIT}{}", expect(64));
    for i in 0..4 {
        body += &copy(16 * (3 - i), 16 * i, 0);
    }
    body += &wait(0);
    (0..4).for_each(|i| body += &put(4 * i, 32 + i));
    bench.run_both(&kernel(&body), None, 1);
    for i in 0..4 {
        assert_eq!(words(&bench, 32 + i), words(&bench, 4 * (3 - i)));
    }
}

#[test]
fn phases_follow_each_other() {
    let bench = Bench::new(&noise(256, 5));
    let mut body = INIT.to_owned();
    for i in 0..4 {
        body += &(expect(16) + &copy(16 * i, 0, 0));
        body += &wait(i % 2).replace("AGAIN", &format!("AGAIN{i}"));
        body += &put(0, 32 + i);
    }
    bench.run_both(&kernel(&body), None, 1);
    for i in 0..4 {
        assert_eq!(words(&bench, 32 + i), words(&bench, 4 * i));
    }
}

#[test]
fn a_barrier_cannot_count_more_than_twenty_bits() {
    let bench = Bench::new(&noise(256, 6));
    let twice = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1048575;
	mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1;\n";
    let error = bench
        .run(&kernel(&format!("{INIT}{twice}")), &[0; 128], 1, false)
        .expect_err("too many");
    let message = error.to_string();
    assert!(
        message.starts_with("bad barrier: an mbarrier counts at most 1048575 bytes in a phase"),
        "{message}"
    );
}

/// A test may come before the bytes: the usual order hides the defect of a kernel that
/// tests once.
#[test]
fn in_other_orders_a_copy_lets_those_wait_who_ask() {
    let body = format!(
        "{INIT}{}{}mbarrier.test_wait.parity.shared::cta.b64 %p3, [%bar], 0;
	selp.b32 %r21, 1, 0, %p3;
	st.global.b32 [%buf+128], %r21;
	{}",
        expect(16),
        copy(0, 0, 0),
        wait(0)
    );
    let ptx = kernel(&body);
    let mut seen = [0; 2];
    for seed in 0..32 {
        let bench = Bench::new(&noise(256, 7));
        let schedule = Schedule::new(seed);
        let run = bench.launch(&ptx, &[0; 128], |call| call.schedule(schedule).check(true));
        run.expect("it ends in every order");
        seen[words(&bench, 32) as usize] += 1;
    }
    assert!(seen[0] > 4 && seen[1] > 4, "{seen:?}");
}
