//! Values that launches with checks leave unwritten, as the host can ask for them, and the threads
//! they were left to.

use common::{Bench, kernel, with_tile};
use ptx_sim::Omission;

/// Words of the buffer.
const N: u64 = 160 * 128;

/// Runs `k`, with this body, on a buffer of unwritten words; gives the bytes that are left
/// so, as word numbers, and the thread of the first of them.
fn left(body: &str, n_blocks: u32, threads: usize) -> (Vec<(u64, u64)>, Option<Omission>) {
    let bench = Bench::new(&with_tile(body));
    let device = &bench.device;
    let buffer = device.alloc(8 * N, "buffer").expect("there is room");
    let call = bench.call("k").grid(n_blocks).block(128).arg(buffer);
    let run = call.check(true).threads(threads).run();
    run.expect("no finding");
    let ranges = device.unwritten(buffer, 8 * N).expect("the buffer");
    let omission = ranges
        .first()
        .and_then(|range| device.omission(range.start));
    let in_words = |at: u64| (at - buffer) / 8;
    let ranges = ranges.iter();
    let ranges = ranges.map(|range| (in_words(range.start), in_words(range.end)));
    (ranges.collect(), omission)
}

#[test]
fn the_missing_thread_is_the_same_on_any_number_of_host_threads() {
    for threads in [1, 3, 4] {
        let (ranges, omission) = left("st.global.u64 [%slot], %rd1;", 150, threads);
        assert_eq!(ranges, [(150 * 128, N)]);
        let omission = omission.expect("a line through all stores");
        assert_eq!((omission.block, omission.thread), ([150, 0, 0], [0; 3]));
        assert!(!omission.was_launched());
        assert_eq!(omission.place.opcode, "st.global.u64");

        let guarded = "
	setp.ne.u32 %p1, %global_id, 777;
	@%p1 st.global.u64 [%slot], %rd1;";
        let (ranges, omission) = left(guarded, 160, threads);
        assert_eq!(ranges, [(777, 778)]);
        let omission = omission.expect("a line through all stores");
        assert_eq!((omission.block, omission.thread), ([6, 0, 0], [9, 0, 0]));
        assert!(omission.was_launched());
    }
}

#[test]
fn two_stores_that_each_miss_a_word_are_told_apart() {
    // Two words for each thread, of which the last threads of a block store only the first.
    let body = "
	add.u64 %slot, %slot, 0;
	mul.wide.u32 %rd2, %global_id, 16;
	add.u64 %rd2, %buf, %rd2;
	st.global.u64 [%rd2], %rd1;
	setp.lt.u32 %p1, %me, 100;
	@%p1 st.global.u64 [%rd2+8], %rd1;";
    let (ranges, omission) = left(body, 80, 4);
    assert_eq!(ranges.len(), 80 * 28);
    assert_eq!(ranges[0], (201, 202));
    let omission = omission.expect("only the second store reaches there");
    assert_eq!((omission.block, omission.thread), ([0; 3], [100, 0, 0]));
}

#[test]
fn atomics_make_no_pattern_and_leave_no_gap() {
    // They read what they add to: the first one is the host's.
    let (ranges, omission) = left("atom.global.exch.b64 %rd2, [%slot], 1;", 150, 4);
    assert_eq!((ranges, omission), (vec![(150 * 128, N)], None));
}

#[test]
fn what_a_bulk_copy_stores_is_written_without_a_wait_for_it() {
    let body = "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 32, %r1;
	mov.b64 %rd2, 7;
	st.shared.v2.u64 [%r2], {%rd2, %rd2};
	st.shared.v2.u64 [%r2+16], {%rd2, %rd2};
	fence.proxy.async.shared::cta;
	bar.sync 0;
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra DONE;
	mul.wide.u32 %rd3, %blk, 4096;
	add.u64 %rd3, %buf, %rd3;
	cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r1], 4096;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	DONE:";
    let (ranges, omission) = left(body, 40, 1);
    assert_eq!(ranges, []);
    assert_eq!(omission, None);
}

#[test]
fn what_is_freed_or_forgotten_starts_anew() {
    let bench = Bench::new(&kernel("st.global.u64 [%slot], %rd1;"));
    let device = &bench.device;
    let buffer = device.alloc(8 * 256, "buffer").expect("there is room");
    let run = |check| {
        let call = bench.call("k").block(128).arg(buffer).check(check);
        call.run().expect("no finding");
    };
    let gap = buffer + 8 * 128;
    let unwritten = || device.unwritten(buffer, 8 * 256).expect("the buffer");
    run(true);
    let after = unwritten();
    assert_eq!((after.len(), &after[0]), (1, &(gap..buffer + 8 * 256)));
    assert!(device.omission(gap).is_some());
    device.mark_unwritten(buffer, 8).expect("the buffer");
    assert_eq!(unwritten(), [buffer..buffer + 8, gap..buffer + 8 * 256]);
    assert_eq!(device.omission(gap), None);
    // Without checks it may have written anything.
    run(false);
    assert_eq!(unwritten(), []);
    device.unwritten(buffer, 8 * 257).expect_err("past the end");
}
