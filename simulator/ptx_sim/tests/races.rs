//! Correctly ordered kernels, on which the checks must stay silent. Kernels with a defect
//! are in `fail`.

use common::{Bench, kernel, launch, with_tile};
use ptx_sim::{LaunchError, LaunchOptions};

/// Runs with the check on.
fn checked(ptx: &str, grid: u32, block: u32, words: usize) -> Vec<u64> {
    launch(ptx, &vec![0; words], |call| {
        call.grid(grid).block(block).check(true)
    })
    .unwrap_or_else(|e| panic!("{e}"))
    .0
}

#[test]
fn barriers_order_every_round() {
    let body = "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 4, %r1;
	xor.b32 %r3, %me, 96;
	mad.lo.u32 %r3, %r3, 4, %r1;
	mov.u32 %r4, 0;
	mov.u32 %r5, %me;
ROUND:
	st.shared.u32 [%r2], %r5;
	bar.sync 0;
	ld.shared.u32 %r5, [%r3];
	bar.sync 0;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 5;
	@%p1 bra ROUND;
	cvt.u64.u32 %rd1, %r5;
	st.global.u64 [%slot], %rd1;";
    let out = checked(&with_tile(body), 3, 128, 384);
    assert_eq!(out[1], 97);
}

#[test]
fn named_barriers_order_their_warps() {
    let body = "
	shr.u32 %r1, %me, 5;
	setp.gt.u32 %p1, %r1, 1;
	@%p1 bra END;
	setp.eq.u32 %p2, %r1, 1;
	mov.u32 %r2, 0;
	@%p2 bra CONSUME;
PRODUCE:
	st.shared.u32 [tile], %r2;
	bar.arrive 1, 64;
	bar.sync 2, 64;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p3, %r2, 5;
	@%p3 bra PRODUCE;
	bra END;
CONSUME:
	bar.sync 1, 64;
	ld.shared.u32 %r4, [tile];
	bar.arrive 2, 64;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p3, %r2, 5;
	@%p3 bra CONSUME;
END:";
    checked(&with_tile(body), 2, 128, 256);
}

#[test]
fn the_last_block_reads_what_the_others_wrote() {
    // Each block stores its sum; the one that draws the last ticket adds them.
    let body = "
	mul.wide.u32 %rd1, %blk, 8;
	add.u64 %rd1, %buf, %rd1;
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra READY;
	cvt.u64.u32 %rd2, %blk;
	st.global.u64 [%rd1+8], %rd2;
	fence.acq_rel.gpu;
	atom.global.add.u32 %r1, [%buf], 1;
	st.shared.u32 [tile], %r1;
READY:
	bar.sync 0;
	ld.shared.u32 %r2, [tile];
	mov.u32 %r3, %nctaid.x;
	sub.u32 %r3, %r3, 1;
	setp.ne.u32 %p2, %r2, %r3;
	@%p2 bra END;
	setp.ge.u32 %p3, %me, 6;
	@%p3 bra END;
	mul.wide.u32 %rd3, %me, 8;
	add.u64 %rd3, %buf, %rd3;
	ld.global.u64 %rd4, [%rd3+8];
	red.global.add.u64 [%buf+64], %rd4;
END:";
    let out = checked(&with_tile(body), 6, 64, 400);
    assert_eq!(out[8], 15);
}

#[test]
fn a_flag_hands_data_from_block_to_block() {
    let body = "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra END;
	setp.ne.u32 %p2, %blk, 0;
	@%p2 bra WAIT;
	st.global.u64 [%buf+8], 77;
	st.release.gpu.global.u32 [%buf], 1;
	bra END;
WAIT:
	ld.acquire.gpu.global.u32 %r1, [%buf];
	setp.eq.u32 %p3, %r1, 0;
	@%p3 bra WAIT;
	ld.global.u64 %rd1, [%buf+8];
	mul.wide.u32 %rd2, %blk, 8;
	add.u64 %rd2, %buf, %rd2;
	st.global.u64 [%rd2+16], %rd1;
END:";
    let out = checked(&kernel(body), 3, 32, 100);
    assert_eq!(out[3..5], [77, 77]);
}

#[test]
fn bytes_of_one_word_by_different_warps() {
    let body = "
	shr.u32 %r1, %me, 5;
	and.b32 %r2, %me, 31;
	mad.lo.u32 %r3, %r2, 4, %r1;
	mov.u32 %r4, tile;
	add.u32 %r4, %r4, %r3;
	st.shared.u8 [%r4], %me;
	bar.sync 0;
	mov.u32 %r5, tile;
	mad.lo.u32 %r5, %r2, 4, %r5;
	ld.shared.u32 %r6, [%r5];
	cvt.u64.u32 %rd1, %r6;
	st.global.u64 [%slot], %rd1;";
    let out = checked(&with_tile(body), 1, 128, 128);
    assert_eq!(out[1], 0x6141_2101);
}

#[test]
fn contended_atomics_do_not_race() {
    let body = "
	red.global.add.u32 [%buf], 1;
	atom.global.max.u32 %r1, [%buf+4], %me;
	ld.volatile.global.u32 %r2, [%buf];";
    let out = checked(&kernel(body), 4, 64, 256);
    assert_eq!(out[0] as u32, 256);
}

#[test]
fn a_warp_barrier_orders_its_lanes() {
    // The last steps of a tree, within one warp.
    let body = "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 4, %r1;
	mov.u32 %r3, 16;
	st.shared.u32 [%r2], %me;
	bar.warp.sync 0xFFFFFFFF;
STEP:
	setp.ge.u32 %p1, %me, %r3;
	@%p1 bra NEXT;
	mad.lo.u32 %r4, %r3, 4, %r2;
	ld.shared.u32 %r5, [%r4];
	ld.shared.u32 %r6, [%r2];
	add.u32 %r6, %r6, %r5;
	st.shared.u32 [%r2], %r6;
NEXT:
	bar.warp.sync 0xFFFFFFFF;
	shr.u32 %r3, %r3, 1;
	setp.ne.u32 %p2, %r3, 0;
	@%p2 bra STEP;
	ld.shared.u32 %r7, [tile];
	cvt.u64.u32 %rd1, %r7;
	st.global.u64 [%slot], %rd1;";
    let out = checked(&with_tile(body), 1, 32, 32);
    assert_eq!(out, [31 * 16; 32]);
}

#[test]
fn a_pipeline_of_copies_is_in_order() {
    // Two stages: the next is copied while the present one is read.
    let body = "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 8, %r1;
	mul.wide.u32 %rd1, %me, 8;
	add.u64 %rd1, %buf, %rd1;
	xor.b32 %r3, %me, 63;
	mad.lo.u32 %r3, %r3, 8, %r1;
	cp.async.ca.shared.global [%r2], [%rd1], 8;
	cp.async.commit_group;
	mov.u32 %r4, 0;
	mov.u64 %rd3, 0;
ROUND:
	xor.b32 %r2, %r2, 512;
	add.u64 %rd1, %rd1, 512;
	setp.eq.u32 %p1, %r4, 3;
	@!%p1 cp.async.ca.shared.global [%r2], [%rd1], 8;
	cp.async.commit_group;
	cp.async.wait_group 1;
	bar.sync 0;
	ld.shared.u64 %rd2, [%r3];
	add.u64 %rd3, %rd3, %rd2;
	xor.b32 %r3, %r3, 512;
	bar.sync 0;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p2, %r4, 4;
	@%p2 bra ROUND;
	st.global.u64 [%slot], %rd3;";
    let ptx = format!(".shared .align 1024 .b8 tile[1024];\n{}", kernel(body));
    checked(&ptx, 1, 64, 256);
}

#[test]
fn block_scope_is_enough_within_a_block() {
    let body = "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra OTHERS;
	st.shared.u32 [tile], 7;
	fence.acq_rel.cta;
	st.relaxed.cta.shared.u32 [tile+4], 1;
	bra END;
OTHERS:
	setp.ne.u32 %p2, %me, 32;
	@%p2 bra END;
WAIT:
	ld.relaxed.cta.shared.u32 %r1, [tile+4];
	setp.ne.u32 %p3, %r1, 1;
	@%p3 bra WAIT;
	fence.acq_rel.cta;
	ld.shared.u32 %r2, [tile];
	red.relaxed.cta.global.add.u32 [%slot], %r2;
END:";
    let out = checked(&with_tile(body), 1, 64, 64);
    assert_eq!(out[32], 7);
}

#[test]
fn halves_of_a_warp_shuffle_among_themselves() {
    let body = "
	and.b32 %r1, %me, 16;
	setp.eq.u32 %p1, %r1, 0;
	selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1;
	shfl.sync.down.b32 %r3, %me, 8, 0x100F, %r2;
	cvt.u64.u32 %rd1, %r3;
	st.global.u64 [%slot], %rd1;";
    let out = checked(&kernel(body), 1, 32, 32);
    assert_eq!((out[0], out[15], out[16]), (8, 15, 24));
}

/// As the advice on a lock without order says (`fail/race.ptx`).
#[test]
fn locks_that_acquire_and_release_order_lanes() {
    for (take, taken, free) in [
        (".acquire.cta", "", "atom.release.cta"),
        ("", "fence.acq_rel.cta;", "fence.acq_rel.cta; atom"),
    ] {
        let body = format!(
            "
	mov.u32 %r1, tile;
	st.shared.u32 [%r1], 0;
	bar.sync 0;
	mov.u32 %r2, 0;
TAKE:
	atom{take}.shared.cas.b32 %r3, [%r1], 0, 1;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra NEXT;
	{taken}
	ld.global.u64 %rd1, [%buf];
	add.u64 %rd1, %rd1, 1;
	st.global.u64 [%buf], %rd1;
	{free}.shared.exch.b32 %r5, [%r1], 0;
	mov.u32 %r2, 1;
NEXT:
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra TAKE;"
        );
        assert_eq!(checked(&with_tile(&body), 1, 32, 32)[0], 32);
    }
}

/// A structure of 1, 8 and 4 bytes, with padding after the first and the last.
#[test]
fn padding_may_be_copied_and_overwritten() {
    let body = "
	.local .align 8 .b8 kept[24];
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 24, %r1;
	cvt.u64.u32 %rd1, %me;
	st.shared.u8 [%r2], %me;
	st.shared.u64 [%r2+8], %rd1;
	st.shared.u32 [%r2+16], %me;
	bar.sync 0;
	xor.b32 %r3, %me, 1;
	mad.lo.u32 %r3, %r3, 24, %r1;
	ld.shared.v2.b32 {%r4, %r5}, [%r3];
	st.local.v2.b32 [kept], {%r4, %r5};
	ld.shared.b64 %rd2, [%r3+8];
	st.local.b64 [kept+8], %rd2;
	ld.shared.b64 %rd3, [%r3+16];
	st.local.b64 [kept+16], %rd3;
	bar.sync 0;
	ld.local.b64 %rd4, [kept];
	st.shared.b64 [%r2], %rd4;
	ld.local.b64 %rd5, [kept+8];
	st.shared.b64 [%r2+8], %rd5;
	ld.local.b64 %rd6, [kept+16];
	st.shared.b64 [%r2+16], %rd6;
	ld.shared.u8 %r6, [%r2];
	ld.shared.u32 %r7, [%r2+16];
	st.shared.u32 [%r2+20], 5;
	ld.shared.u32 %r8, [%r2+20];
	add.u32 %r7, %r7, %r8;
	mad.lo.u32 %r6, %r6, 100, %r7;
	cvt.u64.u32 %rd7, %r6;
	st.global.u64 [%slot], %rd7;";
    let out = checked(&with_tile(body), 2, 64, 128);
    assert_eq!((out[0], out[1], out[65]), (106, 5, 5));
}

#[test]
fn what_one_launch_writes_the_next_may_read() {
    let body = "
	ld.global.u32 %r1, [%buf];
	setp.eq.u32 %p1, %r1, 0;
	@!%p1 ld.global.u64 %rd1, [%slot+8];
	@%p1 st.global.u64 [%slot+8], 5;";
    let bench = Bench::new(&kernel(body));
    let device = &bench.device;
    let buffer = device.alloc(264, "buffer").expect("room");
    let run = |check, first: u32| {
        let first = first.to_le_bytes();
        device.write(buffer, &first).expect("the buffer");
        let call = bench.call("k").block(32).arg(buffer).check(check);
        call.run().map(|_| ()).map_err(|e| e.to_string())
    };
    let error = run(true, 1).expect_err("nobody wrote it");
    assert!(error.contains("read of unwritten memory"), "{error}");
    // A kernel writes it: with checks, and then without.
    for check in [true, false] {
        device.mark_unwritten(buffer, 264).expect("the buffer");
        assert_eq!(run(check, 0), Ok(()));
        assert_eq!(run(true, 1), Ok(()));
    }
    device.mark_unwritten(buffer, 264).expect("the buffer");
    device.fill(buffer, 264, 0).expect("the buffer");
    assert_eq!(run(true, 1), Ok(()));
}

/// A launch that goes on leaves the same as without checks, once, and says what was found.
#[test]
fn a_launch_can_go_on_after_a_finding() {
    // Every thread adds to its own word, and to a word of all.
    let bench = Bench::new(&kernel(
        "
	ld.global.u64 %rd1, [%slot];
	add.u64 %rd1, %rd1, 1;
	st.global.u64 [%slot], %rd1;
	ld.global.u64 %rd2, [%buf + 512];
	add.u64 %rd2, %rd2, 1;
	st.global.u64 [%buf + 512], %rd2;",
    ));
    let run = |check, go_on| {
        let buffer = bench.upload(&[5_u64; 65], "buffer");
        let options = LaunchOptions {
            check,
            go_on,
            threads: Some(1),
            ..LaunchOptions::default()
        };
        let call = bench.call("k").block(64).arg(buffer).options(options);
        (call.run(), bench.download(buffer))
    };
    let stopped = run(true, false).0.expect_err("a race");
    let (report, left) = run(true, true);
    let report = report.expect("it goes on");
    // The buffers have addresses of their own.
    let told = |error: &LaunchError| {
        let text = error.to_string();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&report.finding.expect("a race")), told(&stopped));
    assert_eq!(left, run(false, false).1);
    assert_eq!(left[..64], [6; 64]);
    assert!(report.counts.warp_instructions > 0);
    // A fault that occurs even without checks ends it.
    let options = LaunchOptions {
        check: true,
        go_on: true,
        ..LaunchOptions::default()
    };
    let wrong = kernel("\tst.global.u64 [%slot + 4096], 1;");
    let ended = launch(&wrong, &[5; 8], |call| call.options(options));
    assert!(matches!(ended, Err(LaunchError::Fault(_))));
}
