//! Operations of several threads: barriers, shuffles, votes, matches, atomics.

use common::{kernel, launch, run};

fn words(body: &str, n: u32) -> Vec<u64> {
    run(&kernel(body), n as usize, |call| call.block(n))
}

/// PTX's definition of `shfl`, word for word.
fn shuffle_source(mode: &str, lane: i32, b: i32, c: i32) -> (i32, bool) {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let (max_lane, min_lane) = ((lane & segment) | (clamp & !segment & 31), lane & segment);
    let b = b & 31;
    let (j, holds) = match mode {
        "up" => (lane - b, lane - b >= max_lane),
        "down" => (lane + b, lane + b <= max_lane),
        "bfly" => (lane ^ b, lane ^ b <= max_lane),
        _ => {
            let j = min_lane | (b & !segment & 31);
            (j, j <= max_lane)
        }
    };
    (if holds { j } else { lane }, holds)
}

#[test]
fn shuffles_of_every_mode_and_segment() {
    for mode in ["up", "down", "bfly", "idx"] {
        for (b, c) in [
            (1, 31),
            (1, 0),
            (5, 31),
            (16, 31),
            (3, 0x181F),
            (2, 0x1807),
            (9, 0x1C03),
        ] {
            let body = format!(
                "
	mul.lo.u32 %r1, %me, 7;
	shfl.sync.{mode}.b32 %r2|%p1, %r1, {b}, {c}, 0xFFFFFFFF;
	selp.u32 %r3, 1000, 0, %p1;
	add.u32 %r2, %r2, %r3;
	cvt.u64.u32 %rd1, %r2;
	st.global.u64 [%slot], %rd1;"
            );
            for (lane, got) in words(&body, 32).into_iter().enumerate() {
                let (source, holds) = shuffle_source(mode, lane as i32, b, c);
                let expected = source as u64 * 7 + if holds { 1000 } else { 0 };
                assert_eq!(got, expected, "{mode} {b} {c:#x} lane {lane}");
            }
        }
    }
}

#[test]
fn shuffles_by_halves_of_a_warp_in_different_branches() {
    let body = "
	setp.lt.u32 %p1, %me, 16;
	@%p1 bra LOW;
	shfl.sync.bfly.b32 %r1, %me, 1, 31, 0xFFFF0000;
	bra JOIN;
LOW:
	shfl.sync.bfly.b32 %r1, %me, 2, 31, 0x0000FFFF;
JOIN:
	cvt.u64.u32 %rd1, %r1;
	st.global.u64 [%slot], %rd1;";
    for (lane, got) in words(body, 32).into_iter().enumerate() {
        assert_eq!(got, (lane ^ if lane < 16 { 2 } else { 1 }) as u64);
    }
}

#[test]
fn votes_and_matches() {
    let body = "
	setp.lt.u32 %p1, %me, 5;
	vote.sync.ballot.b32 %r1, %p1, 0xFFFFFFFF;
	vote.sync.ballot.b32 %r2, !%p1, 0xFFFFFFFF;
	vote.sync.any.pred %p2, %p1, 0xFFFFFFFF;
	vote.sync.all.pred %p3, %p1, 0xFFFFFFFF;
	vote.sync.uni.pred %p4, %p1, 0xFFFFFFFF;
	rem.u32 %r3, %me, 3;
	match.any.sync.b32 %r4, %r3, 0xFFFFFFFF;
	match.all.sync.b32 %r5|%p5, %r3, 0xFFFFFFFF;
	activemask.b32 %r6;
	redux.sync.add.u32 %r7, %me, 0xFFFFFFFF;
	redux.sync.max.s32 %r8, %me, 0xFFFFFFFF;
	cvt.u64.u32 %rd1, %r1;
	xor.b32 %r2, %r2, %r1;
	cvt.u64.u32 %rd2, %r2;
	shl.b64 %rd2, %rd2, 32;
	or.b64 %rd1, %rd1, %rd2;
	st.global.u64 [%slot], %rd1;
	selp.u32 %r10, 1, 0, %p2;
	selp.u32 %r11, 2, 0, %p3;
	selp.u32 %r12, 4, 0, %p4;
	selp.u32 %r13, 8, 0, %p5;
	add.u32 %r10, %r10, %r11;
	add.u32 %r10, %r10, %r12;
	add.u32 %r10, %r10, %r13;
	add.u32 %r10, %r10, %r5;
	mov.b64 %rd3, {%r10, %r4};
	st.global.u64 [%slot+256], %rd3;
	add.u32 %r7, %r7, %r8;
	mov.b64 %rd4, {%r7, %r6};
	st.global.u64 [%slot+512], %rd4;";
    let out = run(&kernel(body), 96, |call| call.block(32));
    for lane in 0..32 {
        assert_eq!(out[lane], 0b11111 | 0xFFFF_FFFF << 32);
        let same: u64 = (0..32)
            .filter(|l| l % 3 == lane % 3)
            .map(|l| 1u64 << l)
            .sum();
        assert_eq!(out[32 + lane], 1 | same << 32);
        assert_eq!(out[64 + lane], (496 + 31) | (0xFFFF_FFFF << 32));
    }
}

#[test]
fn barriers_order_phases_and_reduce() {
    let ptx = format!(
        ".shared .align 4 .b8 data[1024];\n{}",
        kernel(
            "
	mov.u32 %r1, data;
	mad.lo.u32 %r2, %me, 4, %r1;
	mul.lo.u32 %r3, %me, %me;
	st.shared.u32 [%r2], %r3;
	setp.lt.u32 %p1, %me, 10;
	bar.red.popc.u32 %r4, 0, %p1;
	bar.red.or.pred %p2, 0, %p1;
	bar.red.and.pred %p3, 0, !%p1;
	sub.u32 %r5, 255, %me;
	mad.lo.u32 %r6, %r5, 4, %r1;
	ld.shared.u32 %r7, [%r6];
	add.u32 %r7, %r7, %r4;
	@%p2 add.u32 %r7, %r7, 100;
	@%p3 add.u32 %r7, %r7, 10000;
	cvt.u64.u32 %rd1, %r7;
	st.global.u64 [%slot], %rd1;"
        )
    );
    let out = run(&ptx, 256, |call| call.block(256));
    for (tid, got) in out.into_iter().enumerate() {
        let other = 255 - tid as u64;
        assert_eq!(got, other * other + 10 + 100);
    }
}

#[test]
fn named_barriers_between_producers_and_consumers() {
    // Warp 0 produces, warp 1 consumes; warps 2 and 3 stay out of it.
    let ptx = format!(
        ".shared .align 4 .u32 item;\n{}",
        kernel(
            "
	shr.u32 %r1, %me, 5;
	setp.gt.u32 %p1, %r1, 1;
	@%p1 bra END;
	setp.eq.u32 %p2, %r1, 1;
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
	@%p2 bra CONSUME;
PRODUCE:
	mad.lo.u32 %r4, %r2, 3, 1;
	st.shared.u32 [item], %r4;
	bar.arrive 1, 64;
	bar.sync 2, 64;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p3, %r2, 5;
	@%p3 bra PRODUCE;
	bra END;
CONSUME:
	bar.sync 1, 64;
	ld.shared.u32 %r4, [item];
	add.u32 %r3, %r3, %r4;
	bar.arrive 2, 64;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p3, %r2, 5;
	@%p3 bra CONSUME;
	cvt.u64.u32 %rd1, %r3;
	st.global.u64 [%slot], %rd1;
END:"
        )
    );
    let out = run(&ptx, 128, |call| call.block(128));
    assert_eq!(out[32..64], [35; 32]);
}

#[test]
fn a_barrier_does_not_wait_for_threads_that_have_ended() {
    let body = "
	setp.ge.u32 %p1, %me, 64;
	@%p1 exit;
	bar.sync 0;
	st.global.u64 [%slot], 1;";
    let out = words(body, 128);
    assert_eq!(out[..64], [1; 64]);
    assert_eq!(out[64..], [0; 64]);
}

#[test]
fn atomics_return_what_they_replaced() {
    // Every thread of 8 blocks adds 1 to one word: the old values are a
    // permutation.
    let body = "
	add.u64 %rd1, %buf, 8192;
	atom.global.add.u64 %rd2, [%rd1], 1;
	st.global.u64 [%slot], %rd2;
	red.global.max.u32 [%rd1+8], %global_id;
	red.global.add.f32 [%rd1+16], 0f3F800000;
	atom.global.inc.u32 %r1, [%rd1+24], 9;
	atom.add.noftz.f16x2 %r2, [%rd1+32], 0x3C003C00;";
    let out = run(&kernel(body), 1032, |call| call.grid(8).block(128));
    let mut old = out[..1024].to_vec();
    old.sort_unstable();
    assert_eq!(old, (0..1024).collect::<Vec<u64>>());
    assert_eq!(out[1024], 1024);
    assert_eq!(out[1025] as u32, 1023);
    assert_eq!(f32::from_bits(out[1026] as u32), 1024.0);
    assert_eq!(out[1027], 1024 % 10);
    assert_eq!(out[1028], 0x6400_6400);
}

#[test]
fn atomics_on_shared_memory_and_their_cost() {
    let ptx = format!(
        ".shared .align 8 .b8 sums[64];\n{}",
        kernel(
            "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra READY;
	st.shared.u64 [sums], 0;
	st.shared.u32 [sums+8], -1;
READY:
	bar.sync 0;
	atom.shared.add.u32 %r1, [sums], 2;
	atom.shared.and.b32 %r2, [sums+8], 0xFFFF;
	atom.shared.cas.b32 %r3, [sums+4], %me, 77;
	bar.sync 0;
	ld.shared.u32 %r4, [sums];
	ld.shared.u32 %r5, [sums+8];
	add.u32 %r4, %r4, %r5;
	cvt.u64.u32 %rd1, %r4;
	st.global.u64 [%slot], %rd1;"
        )
    );
    let (out, report) = launch(&ptx, &[0; 64], |call| call.block(64)).unwrap();
    assert_eq!(out, [128 + 0xFFFF; 64]);
    // Three atomics, two warps, all lanes on one word.
    assert_eq!(report.counts.shared_atomic_requests, 6);
    assert_eq!(report.counts.shared_atomic_conflicts, 6 * 31);
}

#[test]
fn results_do_not_depend_on_the_number_of_host_threads() {
    let body = "
	mul.lo.u32 %r1, %global_id, 2654435761;
	cvt.u64.u32 %rd1, %r1;
	st.global.u64 [%slot], %rd1;
	red.global.add.u64 [%buf+131072], %rd1;";
    let run = |threads| {
        launch(&kernel(body), &vec![0; 16385], |call| {
            call.grid(64).block(256).threads(threads)
        })
        .unwrap()
    };
    let ((one, report_one), (four, report_four)) = (run(1), run(4));
    assert_eq!(one, four);
    assert_eq!(report_one.counts, report_four.counts);
    assert_eq!(report_one.instructions(), report_four.instructions());
}

/// On several host threads, blocks would overtake each other.
#[test]
fn blocks_that_can_tell_their_order_run_in_the_usual_one() {
    let body = "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra after;
	atom.global.add.u64 %rd1, [%buf], 1;
	cvt.u64.u32 %rd2, %blk;
	mad.lo.u64 %rd3, %rd2, 8, %buf;
	st.global.u64 [%rd3+8], %rd1;
after:";
    let n_blocks = 16384;
    let out = run(&kernel(body), n_blocks + 1, |call| {
        call.grid(n_blocks as u32).block(32)
    });
    assert!((0..n_blocks as u64).eq(out[1..].iter().copied()));
}

/// Shared barriers in memory, of 64 threads.
const BARRIER: &str = "\
	.shared .align 8 .b64 barrier;
	.shared .align 8 .b64 data[64];
	mov.u32 %r1, barrier;
	setp.eq.u32 %p0, %me, 0;
	@%p0 mbarrier.init.shared.b64 [%r1], 64;
	bar.sync 0;
";

#[test]
fn a_barrier_in_memory_lets_all_go_when_all_have_come() {
    // Three rounds, by state and by parity; the last after half of the threads left.
    let body = format!(
        "{BARRIER}
	mov.u32 %r2, data;
	mad.lo.u32 %r3, %me, 8, %r2;
	xor.b32 %r4, %me, 63;
	mad.lo.u32 %r4, %r4, 8, %r2;
	cvt.u64.u32 %rd1, %me;
	st.shared.u64 [%r3], %rd1;
	mbarrier.arrive.shared.b64 %rd2, [%r1];
FIRST:
	mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2;
	@!%p1 bra FIRST;
	ld.shared.u64 %rd3, [%r4];
	setp.lt.u32 %p2, %me, 32;
	@%p2 bra STAYS;
	mbarrier.arrive_drop.shared.b64 _, [%r1];
	st.global.u64 [%slot], %rd3;
	ret;
STAYS:
	mbarrier.arrive.shared.b64 _, [%r1];
SECOND:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 1;
	@!%p1 bra SECOND;
	st.shared.u64 [%r3], %rd3;
	mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [%r1];
	mbarrier.pending_count.b64 %r5, %rd2;
THIRD:
	mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r1], 0;
	@!%p1 bra THIRD;
	xor.b32 %r4, %me, 31;
	mad.lo.u32 %r4, %r4, 8, %r2;
	ld.shared.u64 %rd3, [%r4];
	cvt.u64.u32 %rd4, %r5;
	shl.b64 %rd4, %rd4, 32;
	or.b64 %rd3, %rd3, %rd4;
	st.global.u64 [%slot], %rd3;"
    );
    let out = run(&kernel(&body), 64, |call| call.block(64).check(true));
    // In the last round lanes came one after the other: 32 down to 1 were missing.
    let expected: Vec<u64> = (0..64)
        .map(|me| {
            if me < 32 {
                (63 - (me ^ 31)) | ((32 - me) << 32)
            } else {
                63 - me
            }
        })
        .collect();
    assert_eq!(out, expected);
}

#[test]
fn bytes_are_waited_for_too() {
    // One thread expects 16 bytes and completes them in two parts.
    let body = "\
	.shared .align 8 .b64 barrier;
	mov.u32 %r1, barrier;
	mbarrier.init.shared.b64 [%r1], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r1], 16;
	mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;
	mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 12;
	mbarrier.test_wait.shared.b64 %p2, [%r1], %rd1;
	mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 4;
	mbarrier.test_wait.shared.b64 %p3, [%r1], %rd1;
	selp.u64 %rd2, 1, 0, %p1;
	selp.u64 %rd3, 2, 0, %p2;
	or.b64 %rd2, %rd2, %rd3;
	selp.u64 %rd3, 4, 0, %p3;
	or.b64 %rd2, %rd2, %rd3;
	st.global.u64 [%slot], %rd2;";
    let (out, _) = launch(&kernel(body), &[0], |call| call).unwrap();
    assert_eq!(out, [4]);
}

/// Warp 0 copies a word per thread into shared memory, warp 1 reads them.
fn copies_that_arrive(arrival: &str, wait: &str) -> String {
    kernel(&format!(
        "
	.shared .align 8 .b64 barrier;
	.shared .align 8 .b64 data[32];
	mov.u32 %r1, barrier;
	mov.u32 %r2, data;
	setp.eq.u32 %p0, %me, 0;
	@%p0 mbarrier.init.shared.b64 [%r1], 32;
	bar.sync 0;
	setp.lt.u32 %p1, %me, 32;
	@!%p1 bra READER;
	mad.lo.u32 %r3, %me, 8, %r2;
	cp.async.ca.shared.global [%r3], [%slot], 8;
{arrival}
	ret;
READER:
{wait}
	mad.lo.u32 %r3, %me, 8, %r2;
	ld.shared.u64 %rd3, [%r3+-256];
	st.global.u64 [%slot], %rd3;"
    ))
}

#[test]
fn copies_arrive_at_a_barrier_in_memory() {
    let wait = "WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;\n\t@!%p2 bra WAIT;";
    // Expected, as one of the 32; or in addition to them, and then all come again.
    let expected = "\tcp.async.mbarrier.arrive.noinc.shared.b64 [%r1];";
    let on_top = "\tcp.async.mbarrier.arrive.shared.b64 [%r1];\n\t\
                  mbarrier.arrive.shared.b64 _, [%r1];";
    let inputs: Vec<u64> = (0..64).map(|me| me * me + 7).collect();
    for arrival in [expected, on_top] {
        let ptx = copies_that_arrive(arrival, wait);
        let (out, _) = launch(&ptx, &inputs, |call| call.block(64).check(true)).unwrap();
        assert_eq!(out[32..], inputs[..32], "{arrival}");
    }
    // No thread may read without having waited.
    let ptx = copies_that_arrive(expected, "");
    let error = launch(&ptx, &inputs, |call| call.block(64).check(true)).expect_err("a race");
    let text = error.to_string();
    assert!(text.contains("race") || text.contains("copy"), "{text}");
}

#[test]
fn misuse_of_a_barrier_in_memory_is_a_fault() {
    let again = format!(
        "{BARRIER}\tmbarrier.arrive.shared.b64 _, [%r1], 63;\n\tmbarrier.arrive.shared.b64 _, [%r1];"
    );
    let never = "\t.shared .align 8 .b64 barrier;\n\tmov.u32 %r1, barrier;\n\t\
                 mbarrier.arrive.shared.b64 _, [%r1];";
    for (body, expected) in [
        (again.as_str(), "more arrivals than the mbarrier expects"),
        (never, "read of unwritten memory"),
    ] {
        let launched = launch(&kernel(body), &[0; 64], |call| call.block(64).check(true));
        let error = launched.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// The result of a shuffle from absent lanes is undefined, and not a defect as long as it is
/// not used: eight lanes sum by `shfl.down`, and add only what exists, by a guard, a
/// selection or a branch; or all add, and only the first lane's sum is right and stored.
#[test]
fn undefined_values_that_nobody_uses_are_no_defect() {
    let add = [
        "@%p1 add.u32 %r1, %r1, %r2;",
        "add.u32 %r4, %r1, %r2;\n\tselp.u32 %r1, %r4, %r1, %p1;",
        "not.pred %p2, %p1;\n\tadd.u32 %r4, %r1, %r2;\n\tselp.u32 %r1, %r1, %r4, %p2;",
        "@!%p1 bra SKIP;\n\tadd.u32 %r1, %r1, %r2;\nSKIP:",
        "add.u32 %r1, %r1, %r2;",
    ];
    for add in add {
        let steps: String = [4, 2, 1]
            .iter()
            .map(|distance| {
                let add = add.replace("SKIP", &format!("SKIP{distance}"));
                format!(
                    "\tshfl.sync.down.b32 %r2, %r1, {distance}, 0x1f, 0xff;\n\
                     \tadd.u32 %r3, %me, {distance};\n\tsetp.lt.u32 %p1, %r3, 8;\n\t{add}\n"
                )
            })
            .collect();
        let body = format!(
            "\tadd.u32 %r1, %me, 1;\n{steps}\tsetp.ne.u32 %p3, %me, 0;\n\t@%p3 bra END;\n\
             \tcvt.u64.u32 %rd1, %r1;\n\tst.global.u64 [%buf], %rd1;\nEND:"
        );
        let (words, _) = launch(&kernel(&body), &[0], |call| call.block(8).check(true))
            .unwrap_or_else(|error| panic!("{add}: {error}"));
        assert_eq!(words[0], 36, "{add}");
    }
}

/// The same value is a defect where it is stored, decides a branch, is an address, or is
/// voted on; even after other shuffles and arithmetic.
#[test]
fn undefined_values_that_are_used_are_found() {
    for use_it in [
        "st.global.u32 [%slot], %r2;",
        "shfl.sync.idx.b32 %r3, %r2, 7, 0x1f, 0xff;\n\tst.global.u32 [%slot], %r3;",
        "mad.lo.u32 %r3, %me, 2, %r2;\n\tst.global.u32 [%slot], %r3;",
        "add.u32 %r3, %r2, 1;\n\tst.global.u32 [%slot], %r3;",
        "setp.eq.u32 %p1, %r2, 7;\n\t@%p1 bra END;\n\tst.global.u32 [%slot], %me;",
        "and.b32 %r3, %r2, 7;\n\tmul.wide.u32 %rd1, %r3, 4;\n\tadd.u64 %rd1, %rd1, %buf;\n\
         \tld.global.u32 %r4, [%rd1];",
        "setp.eq.u32 %p1, %r2, 7;\n\tvote.sync.ballot.b32 %r3, %p1, 0xff;",
    ] {
        let body = format!("\tshfl.sync.down.b32 %r2, %me, 4, 0x1f, 0xff;\n\t{use_it}\nEND:");
        let outcome = launch(&kernel(&body), &[0; 8], |call| call.block(8).check(true));
        let error = outcome.expect_err(use_it).to_string();
        let expected = "it reads from lane 8, but only lanes 0-7 take part\n  the value is used: ";
        assert!(error.contains(expected), "{use_it}: {error}");
    }
}
