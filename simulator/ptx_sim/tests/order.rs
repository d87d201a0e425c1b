//! The order of accesses: for each way of synchronising, correct kernels, on which the checks stay
//! silent, and slightly wrong ones, which they report; in blocks of one warp, of two and of more.

use common::{launch, with_tile};

/// Words of the buffer.
const WORDS: usize = 4096 + 64;
/// One warp, two, several and an odd number of threads; two blocks and more.
const SHAPES: [(u32, u32); 5] = [(2, 32), (3, 64), (5, 128), (2, 80), (3, 40)];

/// The checks' report on a kernel.
fn check(body: &str, grid: u32, block: u32) -> Result<(), String> {
    launch(&with_tile(body), &vec![0; WORDS], |call| {
        let call = call.grid(grid).block(block).check(true);
        call.fuel(10_000_000)
    })
    .map(|_| ())
    .map_err(|error| error.to_string())
}

#[track_caller]
fn silent(body: &str, shapes: &[(u32, u32)]) {
    for &(grid, block) in shapes {
        if let Err(error) = check(body, grid, block) {
            panic!("{grid} blocks of {block}: {error}\n{body}");
        }
    }
}

#[track_caller]
fn race(body: &str, shapes: &[(u32, u32)]) {
    for &(grid, block) in shapes {
        let error = check(body, grid, block).expect_err("a race");
        assert!(
            error.starts_with("race:"),
            "{grid} blocks of {block}: {error}\n{body}"
        );
    }
}

/// Each thread stores a word; the block that draws the last ticket reads all, each
/// thread what another stored.
fn last_block(published: &str, drawn: &str, behind: &str) -> String {
    format!(
        "
	cvt.u64.u32 %rd1, %me;
	st.global.u64 [%slot], %rd1;
{published}
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra DRAWN;
	atom.relaxed.gpu.global.add.u32 %r1, [%buf+32768], 1;
{drawn}
	st.shared.u32 [tile], %r1;
DRAWN:
	bar.sync 0;
{behind}
	ld.shared.u32 %r2, [tile];
	mov.u32 %r3, %nctaid.x;
	sub.u32 %r3, %r3, 1;
	setp.ne.u32 %p2, %r2, %r3;
	@%p2 bra END;
	mov.u32 %r4, 0;
READ:
	mad.lo.u32 %r5, %r4, %dim, %dim;
	sub.u32 %r5, %r5, %me;
	sub.u32 %r5, %r5, 1;
	mul.wide.u32 %rd2, %r5, 8;
	add.u64 %rd2, %buf, %rd2;
	ld.global.u64 %rd3, [%rd2];
	add.u32 %r4, %r4, 1;
	setp.le.u32 %p3, %r4, %r3;
	@%p3 bra READ;
END:"
    )
}

const DEVICE_FENCES: [&str; 3] = ["fence.acq_rel.gpu;", "membar.gl;", "fence.sc.gpu;"];

#[test]
fn a_barrier_hands_on_what_was_fenced() {
    for fence in DEVICE_FENCES {
        let published = format!("{fence}\n\tbar.sync 0;");
        let after_barrier = format!("bar.sync 0;\n\t{fence}");
        for (drawn, behind) in [("", fence), (fence, ""), (fence, fence), ("", "")] {
            silent(&last_block(&published, drawn, behind), &SHAPES);
            silent(&last_block(&after_barrier, drawn, behind), &SHAPES);
        }
    }
}

#[test]
fn a_fence_without_its_barrier_publishes_only_ones_own() {
    for fence in DEVICE_FENCES {
        race(&last_block(fence, "", fence), &SHAPES);
        // The others have not fenced: the barrier alone publishes nothing.
        let only_first = format!("setp.eq.u32 %p4, %me, 0;\n\t@%p4 {fence}\n\tbar.sync 0;");
        race(&last_block(&only_first, "", fence), &SHAPES);
        // What is stored after the fence is not fenced.
        let stored_again = format!("{fence}\n\tst.global.u64 [%slot], 5;\n\tbar.sync 0;");
        race(&last_block(&stored_again, "", fence), &SHAPES);
    }
    race(
        &last_block("fence.acq_rel.cta;\n\tbar.sync 0;", "", "fence.sc.gpu;"),
        &SHAPES,
    );
    race(&last_block("bar.sync 0;", "", "fence.sc.gpu;"), &SHAPES);
}

#[test]
fn a_warp_barrier_hands_on_what_was_fenced() {
    for fence in DEVICE_FENCES {
        let published = format!("{fence}\n\tbar.warp.sync -1;");
        silent(&last_block(&published, "", fence), &[(2, 32), (5, 20)]);
        race(&last_block(&published, "", fence), &[(2, 64), (3, 40)]);
    }
}

#[test]
fn a_grid_barrier_of_relaxed_accesses_orders_all() {
    let body = |arrive: &str, leave: &str| {
        format!(
            "
	cvt.u64.u32 %rd1, %me;
	st.global.u64 [%slot], %rd1;
{arrive}
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra PASSED;
	red.relaxed.gpu.global.add.u32 [%buf+32768], 1;
	mov.u32 %r3, %nctaid.x;
WAIT:
	ld.volatile.global.u32 %r1, [%buf+32768];
	setp.lt.u32 %p2, %r1, %r3;
	@%p2 bra WAIT;
PASSED:
{leave}
	// The word of the next block's thread.
	mov.u32 %r3, %nctaid.x;
	mul.lo.u32 %r4, %r3, %dim;
	add.u32 %r5, %global_id, %dim;
	rem.u32 %r5, %r5, %r4;
	mul.wide.u32 %rd2, %r5, 8;
	add.u64 %rd2, %buf, %rd2;
	ld.global.u64 %rd3, [%rd2];"
        )
    };
    let (barrier, fence) = ("bar.sync 0;", "membar.gl;");
    let both = format!("{fence}\n\t{barrier}");
    let leave = format!("{barrier}\n\t{fence}");
    silent(&body(&both, &leave), &SHAPES);
    silent(&body(&leave, &both), &SHAPES);
    race(&body(barrier, &leave), &SHAPES);
    race(&body(fence, &leave), &SHAPES);
    // The other threads do not wait for the first.
    race(&body(&both, fence), &SHAPES);
}

/// Blocks 0, 1 and 2 each have a part; the last reads the word that the first stored.
fn three_blocks(first: &str, second: &str, third: &str) -> String {
    format!(
        "
	setp.ne.u32 %p1, %me, 0;
	@%p1 bra END;
	setp.eq.u32 %p2, %blk, 1;
	@%p2 bra SECOND;
	setp.eq.u32 %p2, %blk, 2;
	@%p2 bra THIRD;
	setp.gt.u32 %p2, %blk, 2;
	@%p2 bra END;
	st.global.u64 [%buf], 7;
{first}
	bra END;
SECOND:
{second}
	bra END;
THIRD:
{third}
	ld.global.u64 %rd1, [%buf];
END:"
    )
}

fn wait(flag: u32, value: u32) -> String {
    format!(
        "W{flag}_{value}:
	ld.acquire.gpu.global.u32 %r1, [%buf+{flag}];
	setp.ne.u32 %p3, %r1, {value};
	@%p3 bra W{flag}_{value};"
    )
}

const THREE: [(u32, u32); 3] = [(3, 32), (3, 64), (4, 96)];

#[test]
fn scopes_within_a_block_are_one() {
    // Warp 0 hands a word to warp 1, each by a scope of its own.
    let body = |release: &str, acquire: &str| {
        format!(
            "
	add.u64 %rd8, %buf, 32768;
	mul.wide.u32 %rd9, %blk, 8;
	add.u64 %rd8, %rd8, %rd9;
	setp.ge.u32 %p1, %me, 32;
	@%p1 bra TAKE;
	setp.ne.u32 %p2, %me, 0;
	@%p2 bra END;
	st.shared.u32 [tile], 5;
	{release}.global.u32 [%rd8], 1;
	bra END;
TAKE:
	{acquire}.global.u32 %r1, [%rd8];
	setp.ne.u32 %p2, %r1, 1;
	@%p2 bra TAKE;
	ld.shared.u32 %r2, [tile];
END:"
        )
    };
    let shapes = [(1, 64), (3, 64), (2, 128)];
    for release in [
        "st.release.cta",
        "st.release.gpu",
        "fence.acq_rel.cta;\n\tst.relaxed.gpu",
    ] {
        for acquire in ["ld.acquire.cta", "ld.acquire.gpu", "ld.acquire.sys"] {
            silent(&body(release, acquire), &shapes);
        }
        race(&body(release, "ld.relaxed.gpu"), &shapes);
    }
    race(&body("st.relaxed.gpu", "ld.acquire.gpu"), &shapes);
}

#[test]
fn a_block_releases_for_itself_and_for_whom_it_acquired() {
    let release = "st.release.gpu.global.u32 [%buf+1024], 1;";
    // The second block knows nothing of the first.
    race(&three_blocks("", release, &wait(1024, 1)), &THREE);
    let first = "st.release.gpu.global.u32 [%buf+2048], 1;";
    race(&three_blocks(first, release, &wait(1024, 1)), &THREE);
    let second = format!("{}\n\t{release}", wait(2048, 1));
    silent(&three_blocks(first, &second, &wait(1024, 1)), &THREE);
    let second = second.replace("acquire", "relaxed");
    race(&three_blocks(first, &second, &wait(1024, 1)), &THREE);
    let second = second.replace(release, &format!("fence.acq_rel.gpu;\n\t{release}"));
    silent(&three_blocks(first, &second, &wait(1024, 1)), &THREE);
}

#[test]
fn a_store_ends_what_was_released_and_an_atomic_does_not() {
    let first = "st.release.gpu.global.u32 [%buf+1024], 1;";
    let waits = wait(1024, 1).replace("acquire", "relaxed");
    for (second, is_ordered) in [
        ("st.relaxed.gpu.global.u32 [%buf+1024], 2;", false),
        ("st.volatile.global.u32 [%buf+1024], 2;", false),
        ("st.release.gpu.global.u32 [%buf+1024], 2;", false),
        ("red.relaxed.gpu.global.add.u32 [%buf+1024], 1;", true),
        (
            "atom.relaxed.gpu.global.exch.b32 %r2, [%buf+1024], 2;",
            true,
        ),
        (
            "atom.relaxed.gpu.global.cas.b32 %r2, [%buf+1024], 1, 2;",
            true,
        ),
    ] {
        let body = three_blocks(first, &format!("{waits}\n\t{second}"), &wait(1024, 2));
        if is_ordered {
            silent(&body, &THREE);
        } else {
            race(&body, &THREE);
        }
    }
    // The thread's own later store is part of its release.
    let first = format!("{first}\n\tst.relaxed.gpu.global.u32 [%buf+1024], 2;");
    silent(&three_blocks(&first, "", &wait(1024, 2)), &THREE);
}

#[test]
fn a_swap_that_fails_only_reads() {
    let swap = |expected: u32| {
        format!(
            "fence.acq_rel.gpu;\n\tatom.relaxed.gpu.global.cas.b32 %r2, [%buf+1024], {expected}, 1;"
        )
    };
    let third = "ld.acquire.gpu.global.u32 %r1, [%buf+1024];";
    silent(&three_blocks(&swap(0), "", third), &THREE);
    race(&three_blocks(&swap(5), "", third), &THREE);
    race(
        &three_blocks(&swap(5).replace("relaxed", "release"), "", third),
        &THREE,
    );
    // It does not take away what others released.
    silent(&three_blocks(&swap(0), &swap(5), third), &THREE);
    // As a read it meets no other read, but the write that it does not wait for.
    let alone = "ld.global.u32 %r1, [%buf];
	atom.global.cas.b32 %r2, [%buf], 5, 6;";
    silent(alone, &THREE);
    race(
        "atom.global.cas.b32 %r2, [%buf], 0, 6;\n\tld.global.u32 %r1, [%buf];",
        &THREE,
    );
}

#[test]
fn a_lane_acquires_for_itself() {
    // Block 0 hands a word to block 1, of which lane 0 of each warp waits.
    let body = |together: &str| {
        format!(
            "
	setp.eq.u32 %p1, %blk, 1;
	@%p1 bra TAKE;
	setp.ne.u32 %p2, %me, 0;
	@%p2 bra END;
	st.global.u64 [%buf], 7;
	st.release.gpu.global.u32 [%buf+1024], 1;
	bra END;
TAKE:
	and.b32 %r1, %me, 31;
	setp.ne.u32 %p2, %r1, 0;
	@%p2 bra TAKEN;
WAIT:
	ld.acquire.gpu.global.u32 %r2, [%buf+1024];
	setp.ne.u32 %p3, %r2, 1;
	@%p3 bra WAIT;
TAKEN:
{together}
	ld.global.u64 %rd1, [%buf];
END:"
        )
    };
    let shapes = [(2, 32), (2, 64), (2, 128)];
    race(&body(""), &shapes);
    race(&body("membar.gl;"), &shapes);
    for together in [
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;",
        "vote.sync.any.pred %p4, %p3, -1;",
    ] {
        silent(&body(together), &shapes);
    }
}

#[test]
fn a_lane_releases_for_itself() {
    // All lanes of block 0 store, and lane 0 hands that to block 1.
    let body = |together: &str, release: &str| {
        format!(
            "
	setp.eq.u32 %p1, %blk, 1;
	@%p1 bra TAKE;
	st.global.u64 [%slot], 7;
{together}
	setp.eq.u32 %p2, %me, 0;
	@%p2 {release};
	bra END;
TAKE:
	ld.acquire.gpu.global.u32 %r2, [%buf+32768];
	setp.ne.u32 %p3, %r2, 1;
	@%p3 bra TAKE;
	xor.b32 %r3, %me, 1;
	mul.wide.u32 %rd2, %r3, 8;
	add.u64 %rd2, %buf, %rd2;
	ld.global.u64 %rd1, [%rd2];
END:"
        )
    };
    let release = "st.release.gpu.global.u32 [%buf+32768], 1";
    let relaxed = "st.relaxed.gpu.global.u32 [%buf+32768], 1";
    let one_warp = [(2, 32), (2, 16)];
    for (together, release) in [("", release), ("membar.gl;", relaxed)] {
        race(&body(together, release), &[(2, 32), (2, 64)]);
        let with_barrier = format!("{together}\n\tbar.warp.sync -1;");
        silent(&body(&with_barrier, release), &one_warp);
        race(&body(&with_barrier, release), &[(2, 64), (2, 128)]);
        let with_barrier = format!("{together}\n\tbar.sync 0;");
        silent(&body(&with_barrier, release), &SHAPES[..1]);
        silent(&body(&with_barrier, release), &[(2, 64), (2, 128)]);
    }
}

#[test]
fn parts_of_a_warp_meet_by_their_own_masks() {
    // Halves, quarters and whole warps meet; each lane reads from the lane at a distance.
    let body = |bits: u32, distance: u32| {
        format!(
            "
	and.b32 %r1, %me, 31;
	mul.wide.u32 %rd1, %me, 4;
	mov.u32 %r2, tile;
	mad.lo.u32 %r3, %me, 4, %r2;
	st.shared.u32 [%r3], %me;
	div.u32 %r4, %r1, {bits};
	mul.lo.u32 %r4, %r4, {bits};
	mov.b64 %rd2, {};
	cvt.u32.u64 %r5, %rd2;
	shl.b32 %r5, %r5, %r4;
	bar.warp.sync %r5;
	xor.b32 %r6, %me, {distance};
	mad.lo.u32 %r6, %r6, 4, %r2;
	ld.shared.u32 %r7, [%r6];",
            (1u64 << bits) - 1
        )
    };
    let shapes = [(1, 32), (1, 64), (3, 128)];
    for (bits, distance, is_ordered) in [
        (32, 16, true),
        (32, 31, true),
        (16, 8, true),
        (16, 16, false),
        (8, 4, true),
        (8, 8, false),
        (8, 16, false),
    ] {
        let body = body(bits, distance);
        if is_ordered {
            silent(&body, &shapes);
        } else {
            race(&body, &shapes);
            let again = body.replace("\txor", "\tbar.warp.sync -1;\n\txor");
            silent(&again, &shapes);
        }
    }
    // In the two branches of a condition.
    let branches = |distance: u32| {
        format!(
            "
	mov.u32 %r2, tile;
	mad.lo.u32 %r3, %me, 4, %r2;
	xor.b32 %r6, %me, {distance};
	mad.lo.u32 %r6, %r6, 4, %r2;
	and.b32 %r1, %me, 16;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra HIGH;
	st.shared.u32 [%r3], 1;
	bar.warp.sync 0xFFFF;
	ld.shared.u32 %r7, [%r6];
	bra JOIN;
HIGH:
	st.shared.u32 [%r3], 2;
	bar.warp.sync 0xFFFF0000;
	ld.shared.u32 %r7, [%r6];
JOIN:"
        )
    };
    silent(&branches(8), &shapes);
    let error = check(&branches(16), 1, 32).expect_err("a defect");
    // Either half may come first.
    assert!(error.starts_with("race:") || error.starts_with("read of unwritten"));
}

#[test]
fn a_lock_hands_on_from_lane_to_lane() {
    let body = |taken: &str, free: &str| {
        format!(
            "
TRY:
	atom.relaxed.gpu.global.cas.b32 %r1, [%buf+1024], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra TRY;
{taken}
	ld.global.u64 %rd1, [%buf];
	add.u64 %rd1, %rd1, 1;
	st.global.u64 [%buf], %rd1;
{free}"
        )
    };
    let shapes = [(1, 8), (2, 32), (3, 64)];
    let exchange = "atom.relaxed.gpu.global.exch.b32 %r2, [%buf+1024], 0;";
    let release = "st.release.gpu.global.u32 [%buf+1024], 0;";
    for fence in DEVICE_FENCES {
        silent(&body(fence, &format!("{fence}\n\t{exchange}")), &shapes);
        silent(&body(fence, release), &shapes);
        race(&body("", release), &shapes);
        race(&body(fence, exchange), &shapes);
    }
}

#[test]
fn the_last_lane_reads_what_the_others_stored() {
    // Every thread draws a ticket.
    let body = |before: &str, behind: &str| {
        format!(
            "
	st.global.u64 [%slot], 7;
{before}
	atom.relaxed.gpu.global.add.u32 %r1, [%buf+32768], 1;
	mov.u32 %r3, %nctaid.x;
	mul.lo.u32 %r3, %r3, %dim;
	sub.u32 %r3, %r3, 1;
	setp.ne.u32 %p1, %r1, %r3;
	@%p1 bra END;
{behind}
	mov.u32 %r4, 0;
READ:
	mul.wide.u32 %rd2, %r4, 8;
	add.u64 %rd2, %buf, %rd2;
	ld.global.u64 %rd3, [%rd2];
	add.u32 %r4, %r4, 1;
	setp.le.u32 %p3, %r4, %r3;
	@%p3 bra READ;
END:"
        )
    };
    for fence in DEVICE_FENCES {
        silent(&body(fence, fence), &SHAPES);
        race(&body("", fence), &SHAPES);
        race(&body(fence, ""), &SHAPES);
    }
    let ordered = body("", "").replace("atom.relaxed", "atom.acq_rel");
    silent(&ordered, &SHAPES);
}

#[test]
fn a_lane_arrives_at_a_barrier_in_memory_for_itself() {
    // Warp 0 fills the tile, one lane of it arrives; warp 1 waits, by one lane.
    let body = |filled: &str, waited: &str| {
        format!(
            "
	.shared .align 8 .b64 barrier;
	mov.u32 %r1, barrier;
	mov.u32 %r2, tile;
	and.b32 %r9, %me, 31;
	setp.eq.u32 %p9, %r9, 0;
	setp.eq.u32 %p0, %me, 0;
	@%p0 mbarrier.init.shared.b64 [%r1], 1;
	bar.sync 0;
	setp.ge.u32 %p1, %me, 32;
	@%p1 bra TAKE;
	mad.lo.u32 %r3, %me, 4, %r2;
	st.shared.u32 [%r3], %me;
{filled}
	@%p9 mbarrier.arrive.shared.b64 _, [%r1];
	bra END;
TAKE:
	@!%p9 bra TAKEN;
WAIT:
	mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
	@!%p2 bra WAIT;
TAKEN:
{waited}
	mad.lo.u32 %r3, %r9, 4, %r2;
	ld.shared.u32 %r4, [%r3];
END:"
        )
    };
    let sync = "bar.warp.sync -1;";
    let shapes = [(1, 64), (3, 64), (2, 128)];
    silent(&body(sync, sync), &shapes);
    race(&body("", sync), &shapes);
    race(&body(sync, ""), &shapes);
}

#[test]
fn a_barrier_of_a_part_of_a_block_orders_only_that() {
    // Warps 0 and 1 meet; warp 2 does not.
    let body = |from: u32| {
        format!(
            "
	mov.u32 %r2, tile;
	mad.lo.u32 %r3, %me, 4, %r2;
	st.shared.u32 [%r3], %me;
	setp.ge.u32 %p1, %me, 64;
	@%p1 bra END;
	bar.sync 1, 64;
	xor.b32 %r4, %me, {from};
	mad.lo.u32 %r4, %r4, 4, %r2;
	ld.shared.u32 %r5, [%r4];
END:
	bar.sync 0;"
        )
    };
    silent(&body(32), &[(1, 128), (2, 64)]);
    race(&body(64), &[(1, 128), (2, 128)]);
}
