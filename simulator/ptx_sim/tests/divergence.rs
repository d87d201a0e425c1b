//! Divergence and reconvergence of lanes.

use common::{kernel, launch, run};
use ptx_sim::{InstructionCounts, Report};

/// Runs a body for `n` threads of one block on zeroed words.
fn words(body: &str, n: u32) -> Vec<u64> {
    run(&kernel(body), n as usize, |call| call.block(n))
}

#[test]
fn nested_branches() {
    // 10 * (tid odd) + (tid < 40 ? (tid < 7 ? 1 : 2) : 3)
    let body = "
	mov.u64 %rd1, 0;
	and.b32 %r1, %me, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra EVEN;
	add.u64 %rd1, %rd1, 10;
EVEN:
	setp.ge.u32 %p2, %me, 40;
	@%p2 bra FAR;
	setp.ge.u32 %p3, %me, 7;
	@%p3 bra MIDDLE;
	add.u64 %rd1, %rd1, 1;
	bra NEAR;
MIDDLE:
	add.u64 %rd1, %rd1, 2;
NEAR:
	bra.uni JOIN;
FAR:
	add.u64 %rd1, %rd1, 3;
JOIN:
	st.global.u64 [%slot], %rd1;";
    for (tid, got) in words(body, 70).into_iter().enumerate() {
        let expected = 10 * (tid as u64 & 1)
            + if tid < 40 {
                if tid < 7 { 1 } else { 2 }
            } else {
                3
            };
        assert_eq!(got, expected, "thread {tid}");
    }
}

#[test]
fn loops_of_different_lengths_with_break_and_continue() {
    // Sum of i in 0..3*tid, leaving out multiples of 4, up to a sum of 500.
    let body = "
	mul.lo.u32 %r1, %me, 3;
	mov.u32 %r2, 0;
	mov.u64 %rd1, 0;
LOOP:
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra DONE;
	and.b32 %r3, %r2, 3;
	setp.eq.u32 %p2, %r3, 0;
	@%p2 bra NEXT;
	cvt.u64.u32 %rd2, %r2;
	add.u64 %rd1, %rd1, %rd2;
	setp.gt.u64 %p3, %rd1, 500;
	@%p3 bra DONE;
NEXT:
	add.u32 %r2, %r2, 1;
	bra LOOP;
DONE:
	st.global.u64 [%slot], %rd1;";
    for (tid, got) in words(body, 64).into_iter().enumerate() {
        let mut sum = 0;
        for i in 0..3 * tid as u64 {
            if i % 4 == 0 {
                continue;
            }
            sum += i;
            if sum > 500 {
                break;
            }
        }
        assert_eq!(got, sum, "thread {tid}");
    }
}

#[test]
fn nested_loops_whose_lengths_differ_by_lane() {
    let body = "
	mov.u64 %rd1, 0;
	mov.u32 %r1, 0;
OUTER:
	setp.gt.u32 %p1, %r1, %me;
	@%p1 bra DONE;
	mov.u32 %r2, 0;
INNER:
	setp.ge.u32 %p2, %r2, %r1;
	@%p2 bra AFTER;
	add.u64 %rd1, %rd1, 1;
	add.u32 %r2, %r2, 1;
	bra INNER;
AFTER:
	add.u32 %r1, %r1, 1;
	bra OUTER;
DONE:
	st.global.u64 [%slot], %rd1;";
    for (tid, got) in words(body, 96).into_iter().enumerate() {
        let n = tid as u64;
        assert_eq!(got, n * (n + 1) / 2, "thread {tid}");
    }
}

#[test]
fn threads_that_end_early_do_not_hold_the_others() {
    let body = "
	setp.lt.u32 %p1, %me, 5;
	@%p1 exit;
	and.b32 %r1, %me, 3;
	setp.eq.u32 %p2, %r1, 0;
	@%p2 ret;
	bar.sync 0;
	st.global.u64 [%slot], 7;";
    for (tid, got) in words(body, 70).into_iter().enumerate() {
        let ends = tid < 5 || tid % 4 == 0;
        assert_eq!(got, if ends { 0 } else { 7 }, "thread {tid}");
    }
}

/// The last instruction with an opcode.
fn last(report: &Report, opcode: &str) -> InstructionCounts {
    let mut instructions = report.instructions().into_iter();
    instructions.rfind(|i| i.opcode == opcode).expect(opcode)
}

#[test]
fn lanes_meet_again_behind_a_branch() {
    // After the branch one warp executes the store once.
    let body = "
	and.b32 %r1, %me, 1;
	setp.eq.u32 %p1, %r1, 0;
	mov.u64 %rd1, 1;
	@%p1 bra SKIP;
	mov.u64 %rd1, 2;
SKIP:
	st.global.u64 [%slot], %rd1;";
    let (_, report) = launch(&kernel(body), &[0; 32], |call| call.block(32)).unwrap();
    let store = last(&report, "st.global.u64");
    assert_eq!((store.executions, store.thread_executions), (1, 32));
    let inside = last(&report, "mov.u64");
    assert_eq!((inside.executions, inside.thread_executions), (1, 16));
}

#[test]
fn a_way_into_a_trap_does_not_keep_lanes_apart() {
    // A bounds check inside a branch, as rustc writes it.
    let body = "
	mov.u64 %rd1, 0;
	and.b32 %r1, %me, 1;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra JOIN;
	setp.gt.u32 %p2, %me, 1000;
	@%p2 bra PANIC;
	mov.u64 %rd1, 5;
JOIN:
	st.global.u64 [%slot], %rd1;
	ret;
PANIC:
	trap;";
    let (_, report) = launch(&kernel(body), &[0; 32], |call| call.block(32)).unwrap();
    let store = last(&report, "st.global.u64");
    assert_eq!((store.executions, store.thread_executions), (1, 32));
}

#[test]
fn switches_by_index() {
    let body = "
	and.b32 %r1, %me, 3;
TARGETS: .branchtargets A, B, C, B;
	brx.idx %r1, TARGETS;
A:
	mov.u64 %rd1, 100;
	bra JOIN;
B:
	mov.u64 %rd1, 200;
	bra JOIN;
C:
	mov.u64 %rd1, 300;
JOIN:
	st.global.u64 [%slot], %rd1;";
    for (tid, got) in words(body, 64).into_iter().enumerate() {
        assert_eq!(got, [100, 200, 300, 200][tid % 4], "thread {tid}");
    }
}

#[test]
fn a_lock_between_lanes_of_one_warp() {
    // Every lane takes the lock, adds to a plain word and releases it.
    let body = "
	add.u64 %rd2, %buf, 2048;
TRY:
	atom.global.cas.b32 %r1, [%rd2], 0, 1;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra TRY;
	ld.volatile.global.u64 %rd3, [%buf];
	add.u64 %rd3, %rd3, 1;
	st.volatile.global.u64 [%buf], %rd3;
	fence.acq_rel.gpu;
	atom.global.exch.b32 %r2, [%rd2], 0;";
    let out = run(&kernel(body), 257, |call| call.grid(4).block(64));
    assert_eq!(out[0], 256);
}

#[test]
fn a_lane_that_waits_for_another_of_its_warp() {
    let body = "
	setp.eq.u32 %p1, %me, 3;
	@%p1 bra WRITE;
WAIT:
	ld.volatile.global.u64 %rd1, [%buf+512];
	setp.eq.u64 %p2, %rd1, 0;
	@%p2 bra WAIT;
	bra.uni JOIN;
WRITE:
	st.volatile.global.u64 [%buf+512], 1;
JOIN:
	st.global.u64 [%slot], 9;";
    let out = run(&kernel(body), 65, |call| call.block(32));
    assert_eq!(out[..32], [9; 32]);
}

#[test]
fn a_block_that_waits_for_a_later_one() {
    // Block b waits for block b + 1; the last does not wait.
    let body = "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra END;
	mov.u32 %r1, %nctaid.x;
	sub.u32 %r1, %r1, 1;
	setp.eq.u32 %p2, %blk, %r1;
	mul.wide.u32 %rd1, %blk, 8;
	add.u64 %rd1, %buf, %rd1;
	@%p2 bra WRITE;
WAIT:
	ld.acquire.gpu.global.u64 %rd2, [%rd1+8];
	setp.eq.u64 %p3, %rd2, 0;
	@%p3 bra WAIT;
WRITE:
	st.release.gpu.global.u64 [%rd1], 1;
END:";
    for threads in [1, 2] {
        let out = run(&kernel(body), 50, |call| {
            call.grid(50).block(64).threads(threads)
        });
        assert_eq!(out, [1; 50]);
    }
}

#[test]
fn warps_of_a_block_that_hand_a_flag_around() {
    // Warp w waits for its turn, then passes it on, for three rounds.
    let body = "
	shr.u32 %r1, %me, 5;
	mov.u32 %r2, 0;
ROUND:
	mul.lo.u32 %r3, %r2, 8;
	add.u32 %r3, %r3, %r1;
	cvt.u64.u32 %rd1, %r3;
WAIT:
	ld.relaxed.cta.global.u64 %rd2, [%buf];
	setp.ne.u64 %p1, %rd2, %rd1;
	@%p1 bra WAIT;
	bar.warp.sync -1;
	add.u64 %rd3, %rd1, 1;
	st.relaxed.cta.global.u64 [%buf], %rd3;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, 3;
	@%p2 bra ROUND;";
    let out = run(&kernel(body), 256, |call| call.block(256));
    assert_eq!(out[0], 24);
}

#[test]
fn lanes_meet_again_in_a_loop_that_leads_straight_to_the_end() {
    // Half of the lanes take the branch each time; lane 0 iterates 40 times.
    let body = "
	mov.u64 %rd1, 0;
	mov.u32 %r1, %me;
LOOP:
	and.b32 %r2, %r1, 1;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra NEXT;
	add.u64 %rd1, %rd1, 1;
NEXT:
	st.global.u64 [%slot], %rd1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p2, %r1, 40;
	@%p2 bra LOOP;";
    let (out, report) = launch(&kernel(body), &[0; 32], |call| call.block(32)).unwrap();
    assert_eq!(report.counts.global_store_requests, 40);
    for (tid, got) in out.into_iter().enumerate() {
        let odd = (tid..40).filter(|i| i % 2 == 1).count();
        assert_eq!(got, odd as u64, "thread {tid}");
    }
}

#[test]
fn lanes_meet_again_before_a_loop_whose_exits_all_lead_to_the_end() {
    // Two exits, both to the end; the first loop's lanes meet before it.
    let body = "
	mov.u32 %r1, %me;
FIRST:
	st.global.u64 [%slot], 1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 40;
	@%p1 bra FIRST;
	mov.u32 %r1, 0;
SECOND:
	setp.gt.u32 %p2, %r1, 9;
	@%p2 bra END;
	st.global.u64 [%slot], 2;
	add.u32 %r1, %r1, 1;
	setp.ne.u32 %p3, %r1, %me;
	@%p3 bra SECOND;
END:";
    let (_, report) = launch(&kernel(body), &[0; 32], |call| call.block(32)).unwrap();
    assert_eq!(report.counts.global_store_requests, 40 + 10);
}
