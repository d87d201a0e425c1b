//! Clusters of blocks: which blocks form one, each other's shared memory, the barrier, and
//! which launches are allowed.

use common::{Bench, kernel, launch};
use ptx_sim::schedule::Schedule;
use ptx_sim::{LaunchError, LaunchOptions};

/// Options of a launch with clusters, with checks.
fn in_clusters(cluster: [u32; 3]) -> LaunchOptions {
    LaunchOptions {
        cluster: Some(cluster),
        check: true,
        ..LaunchOptions::default()
    }
}

/// Declares `tile` (4 KiB of shared memory) and `bar` (a barrier there) before a kernel.
fn with_tile(body: &str) -> String {
    format!(
        ".shared .align 16 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n{}",
        kernel(body)
    )
}

/// Runs a kernel of blocks of 32 threads, each with a word of the buffer, with checks and
/// without, and in other orders; gives the buffer.
fn run(text: &str, grid: [u32; 3], cluster: [u32; 3]) -> Vec<u64> {
    let n_words = 32 * grid.iter().product::<u32>() as usize;
    let run = |options| {
        common::run(text, n_words, |call| {
            call.grid(grid).block(32).options(options)
        })
    };
    let checked = run(in_clusters(cluster));
    let plain = LaunchOptions {
        check: false,
        ..in_clusters(cluster)
    };
    assert_eq!(run(plain), checked, "without checks");
    for seed in 0..20 {
        let schedule = Some(Schedule::new(seed));
        let other = run(LaunchOptions {
            schedule,
            ..in_clusters(cluster)
        });
        assert_eq!(other, checked, "in the order of seed {seed}");
    }
    checked
}

const BARRIER: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

#[test]
fn blocks_know_where_in_their_cluster_they_are() {
    // Each thread of the first 16 stores one register, in the block's own words.
    let registers = [
        "%clusterid.x",
        "%clusterid.y",
        "%clusterid.z",
        "%nclusterid.x",
        "%nclusterid.y",
        "%nclusterid.z",
        "%cluster_ctaid.x",
        "%cluster_ctaid.y",
        "%cluster_ctaid.z",
        "%cluster_nctaid.x",
        "%cluster_nctaid.y",
        "%cluster_nctaid.z",
        "%cluster_ctarank",
        "%cluster_nctarank",
    ];
    let mut body = "
	mov.u32 %r1, %ctaid.y;
	mov.u32 %r2, %nctaid.x;
	mad.lo.u32 %r1, %r1, %r2, %blk;
	mul.wide.u32 %rd1, %r1, 256;
	add.u64 %rd1, %rd1, %buf;
"
    .to_owned();
    for (i, register) in registers.iter().enumerate() {
        body += &format!(
            "	mov.u32 %r3, {register};\n	cvt.u64.u32 %rd2, %r3;\n	st.global.u64 [%rd1+{}], %rd2;\n",
            8 * i
        );
    }
    body += "
	mov.pred %p1, %is_explicit_cluster;
	selp.u64 %rd2, 1, 0, %p1;
	st.global.u64 [%rd1+112], %rd2;
";
    let text = kernel(&body);
    let run = |cluster| {
        let options = LaunchOptions {
            cluster,
            ..LaunchOptions::default()
        };
        common::run(&text, 32 * 24, |call| call.grid([6, 4]).options(options))
    };
    let out = run(Some([3, 2, 1]));
    for (y, x) in (0..4).flat_map(|y| (0..6).map(move |x| (y, x))) {
        let block = 6 * y + x;
        let seen = &out[32 * block..32 * block + 15];
        let (x, y) = (x as u64, y as u64);
        let rank = x % 3 + 3 * (y % 2);
        let cluster = [x / 3, y / 2, 0, 2, 2, 1];
        let block_in_it = [x % 3, y % 2, 0, 3, 2, 1, rank, 6, 1];
        let id = [&cluster[..], &block_in_it].concat();
        assert_eq!(seen, id, "block {block}");
    }
    let out = run(None);
    let block = 6 * 2 + 5;
    let seen = &out[32 * block..32 * block + 15];
    assert_eq!(seen, [5, 2, 0, 6, 4, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0]);
}

/// Each thread stores a number in its own block, and loads that of the next block.
fn exchange(load: &str) -> String {
    with_tile(&format!(
        "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 8, %r1;
	cvt.u64.u32 %rd1, %global_id;
	st.shared.u64 [%r2], %rd1;
	{BARRIER}
	mov.u32 %r3, %cluster_ctarank;
	mov.u32 %r4, %cluster_nctarank;
	add.u32 %r3, %r3, 1;
	rem.u32 %r3, %r3, %r4;
	{load}
	st.global.u64 [%slot], %rd2;
	{BARRIER}"
    ))
}

#[test]
fn blocks_read_each_others_shared_memory() {
    let loads = [
        "mapa.shared::cluster.u32 %r5, %r2, %r3;\n	ld.shared::cluster.u64 %rd2, [%r5];",
        // By a generic address,
        "cvt.u64.u32 %rd3, %r2;\n	cvta.shared.u64 %rd3, %rd3;\n	mapa.u64 %rd4, %rd3, %r3;
	ld.u64 %rd2, [%rd4];",
        // that is one of the cluster's again,
        "cvt.u64.u32 %rd3, %r2;\n	cvta.shared::cluster.u64 %rd3, %rd3;\n	mapa.u64 %rd4, %rd3, %r3;
	cvta.to.shared::cluster.u64 %rd4, %rd4;\n	ld.relaxed.cluster.shared::cluster.u64 %rd2, [%rd4];",
        // in 64 bits,
        "cvt.u64.u32 %rd3, %r2;\n	mapa.shared::cluster.u64 %rd4, %rd3, %r3;
	ld.volatile.shared::cluster.u64 %rd2, [%rd4];",
        // in two words.
        "mapa.shared::cluster.u32 %r5, %r2, %r3;
	ld.shared::cluster.v2.u32 {%r6, %r7}, [%r5];\n	mov.b64 %rd2, {%r6, %r7};",
    ];
    for load in loads {
        let out = run(&exchange(load), [8, 1, 1], [4, 1, 1]);
        for (i, &word) in out.iter().enumerate() {
            let (block, lane) = (i / 32, i % 32);
            let next = block / 4 * 4 + (block + 1) % 4;
            assert_eq!(word, (32 * next + lane) as u64, "thread {i}, {load}");
        }
    }
}

#[test]
fn lanes_reach_several_blocks_at_once() {
    // Lane i reads from rank i mod 4, including its own.
    let load = "
	and.b32 %r3, %me, 3;
	mapa.shared::cluster.u32 %r5, %r2, %r3;
	ld.shared::cluster.u64 %rd2, [%r5];";
    let out = run(&exchange(load), [4, 1, 1], [4, 1, 1]);
    for (i, &word) in out.iter().enumerate() {
        assert_eq!(word, (32 * (i % 4) + i % 32) as u64);
    }
}

#[test]
fn addresses_say_whose_they_are() {
    let body = "
	mov.u32 %r1, tile;
	mov.u32 %r2, %cluster_ctarank;
	xor.b32 %r3, %r2, 1;
	mapa.shared::cluster.u32 %r4, %r1, %r3;
	mapa.shared::cluster.u32 %r5, %r1, %r2;
	getctarank.shared::cluster.u32 %r6, %r4;
	getctarank.shared::cluster.u32 %r7, %r1;
	cvt.u64.u32 %rd1, %r1;
	cvta.shared.u64 %rd1, %rd1;
	mapa.u64 %rd2, %rd1, %r3;
	mapa.u64 %rd3, %rd1, %r2;
	getctarank.u64 %r8, %rd2;
	getctarank.u64 %r9, %rd1;
	isspacep.shared %p1, %rd1;
	isspacep.shared::cta %p2, %rd2;
	isspacep.shared::cta %p3, %rd3;
	isspacep.shared::cluster %p4, %rd2;
	isspacep.shared::cluster %p5, %buf;
	isspacep.shared %p6, %buf;
	mov.u32 %r10, 0;
	@%p1 or.b32 %r10, %r10, 1;
	@%p2 or.b32 %r10, %r10, 2;
	@%p3 or.b32 %r10, %r10, 4;
	@%p4 or.b32 %r10, %r10, 8;
	@%p5 or.b32 %r10, %r10, 16;
	@%p6 or.b32 %r10, %r10, 32;
	mad.lo.u32 %r10, %r10, 16, %r6;
	mad.lo.u32 %r10, %r10, 16, %r7;
	mad.lo.u32 %r10, %r10, 16, %r8;
	mad.lo.u32 %r10, %r10, 16, %r9;
	cvt.u64.u32 %rd4, %r10;
	st.global.u64 [%slot], %rd4;";
    let out = run(&with_tile(body), [2, 1, 1], [2, 1, 1]);
    assert_eq!(
        format!("{:x}", out[0]),
        format!("{:x}", 0b1101_u64 << 16 | 0x1010)
    );
    assert_eq!(
        format!("{:x}", out[32]),
        format!("{:x}", 0b1101_u64 << 16 | 0x0101)
    );
}

#[test]
fn atomics_work_on_other_blocks_memory() {
    // All add to a word of rank 0, in three ways; it says how much that is.
    let body = format!(
        "
	mov.u32 %r1, tile;
	setp.eq.u32 %p1, %me, 0;
	@%p1 st.shared.u64 [%r1], 0;
	{BARRIER}
	mapa.shared::cluster.u32 %r2, %r1, 0;
	red.relaxed.cluster.shared::cluster.add.u64 [%r2], 1;
	atom.shared::cluster.add.u64 %rd1, [%r2], 1;
	cvt.u64.u32 %rd2, %r1;
	cvta.shared.u64 %rd2, %rd2;
	mapa.u64 %rd2, %rd2, 0;
	atom.add.u64 %rd1, [%rd2], 1;
	atom.cas.b64 %rd3, [%rd2], 12345, 0;
	{BARRIER}
	ld.shared::cluster.u64 %rd4, [%r2];
	st.global.u64 [%slot], %rd4;
	{BARRIER}"
    );
    let out = run(&with_tile(&body), [6, 1, 1], [3, 1, 1]);
    assert_eq!(out, [3 * 96; 192]);
}

/// Rank 0 waits at its barrier for all lanes of the others.
fn remote_arrivals(arrive: &str) -> String {
    with_tile(&format!(
        "
	mov.u32 %r1, bar;
	mov.u32 %r2, tile;
	mov.u32 %r3, %cluster_ctarank;
	mov.u32 %r4, %cluster_nctarank;
	setp.eq.u32 %p1, %me, 0;
	sub.u32 %r5, %r4, 1;
	shl.b32 %r5, %r5, 5;
	@%p1 mbarrier.init.shared.b64 [%r1], %r5;
	fence.mbarrier_init.release.cluster;
	{BARRIER}
	mapa.shared::cluster.u32 %r6, %r1, 0;
	mapa.shared::cluster.u32 %r7, %r2, 0;
	setp.eq.u32 %p2, %r3, 0;
	@%p2 bra WAIT;
	// Each lane writes a word of rank 0, and arrives.
	mad.lo.u32 %r8, %r3, 32, %me;
	mad.lo.u32 %r8, %r8, 8, %r7;
	cvt.u64.u32 %rd1, %global_id;
	{arrive}
	bra END;
WAIT:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0;
	@!%p3 bra WAIT;
	mad.lo.u32 %r9, %me, 8, %r2;
	ld.shared.u64 %rd2, [%r9+256];
	ld.shared.u64 %rd3, [%r9+512];
	add.u64 %rd2, %rd2, %rd3;
	st.global.u64 [%slot], %rd2;
END:
	{BARRIER}"
    ))
}

#[test]
fn barriers_in_other_blocks_memory_are_arrived_at() {
    let arrivals = [
        "st.shared::cluster.u64 [%r8], %rd1;
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];",
        "st.shared::cluster.u64 [%r8], %rd1;
	mbarrier.arrive.shared::cluster.b64 _, [%r6], 1;",
        // With bytes to come, which a store brings.
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r6], 8;
	st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r8], %rd1, [%r6];",
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r6], 8;
	st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r8], %rd1, [%r6];
	mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];",
        // By generic addresses.
        "cvt.u64.u32 %rd4, %r6;\n	cvta.shared::cluster.u64 %rd4, %rd4;
	st.shared::cluster.u64 [%r8], %rd1;\n	mbarrier.arrive.release.cluster.b64 _, [%rd4];",
    ];
    for arrive in arrivals {
        let out = run(&remote_arrivals(arrive), [3, 1, 1], [3, 1, 1]);
        for (lane, &word) in out[..32].iter().enumerate() {
            assert_eq!(word, (32 + 64 + 2 * lane) as u64, "{arrive}");
        }
    }
}

#[test]
fn asynchronous_reductions_are_counted_by_their_barrier() {
    let body = format!(
        "
	mov.u32 %r1, bar;
	mov.u32 %r2, tile;
	mov.u32 %r3, %cluster_ctarank;
	setp.eq.u32 %p1, %me, 0;
	@!%p1 bra READY;
	mbarrier.init.shared.b64 [%r1], 1;
	st.shared.u32 [%r2], 1000;
	// 64 lanes of 4 bytes.
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
READY:
	fence.mbarrier_init.release.cluster;
	{BARRIER}
	mapa.shared::cluster.u32 %r6, %r1, 0;
	mapa.shared::cluster.u32 %r7, %r2, 0;
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7], %me, [%r6];
	setp.ne.u32 %p2, %r3, 0;
	@%p2 bra END;
WAIT:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0;
	@!%p3 bra WAIT;
	ld.shared.u32 %r9, [%r2];
	cvt.u64.u32 %rd2, %r9;
	st.global.u64 [%slot], %rd2;
END:
	{BARRIER}"
    );
    let out = run(&with_tile(&body), [2, 1, 1], [2, 1, 1]);
    assert_eq!(out[..32], [1000 + 2 * 496; 32]);
}

#[test]
fn threads_that_have_ended_count_as_arrived() {
    // Odd blocks end at once, and half the lanes of the others.
    let body = "
	and.b32 %r1, %blk, 1;
	setp.eq.u32 %p1, %r1, 1;
	@%p1 exit;
	setp.gt.u32 %p2, %me, 15;
	@%p2 exit;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	barrier.cluster.arrive.release;
	barrier.cluster.wait.acquire;
	st.global.u64 [%slot], 7;";
    let out = run(&with_tile(body), [4, 1, 1], [4, 1, 1]);
    for (i, &word) in out.iter().enumerate() {
        let is_there = i / 32 % 2 == 0 && i % 32 < 16;
        assert_eq!(word, if is_there { 7 } else { 0 });
    }
}

#[test]
fn lanes_may_come_to_the_barrier_by_themselves() {
    // Halves of the warp wait by different instructions, and do something in between.
    let body = "
	mov.u32 %r1, tile;
	mad.lo.u32 %r2, %me, 4, %r1;
	xor.b32 %r3, %blk, 1;
	mapa.shared::cluster.u32 %r4, %r2, %r3;
	st.shared::cluster.u32 [%r4], %me;
	setp.lt.u32 %p1, %me, 16;
	barrier.cluster.arrive;
	@%p1 bra LOW;
	mul.lo.u32 %r5, %me, 3;
	barrier.cluster.wait;
	bra NEXT;
LOW:
	mul.lo.u32 %r5, %me, 2;
	barrier.cluster.wait;
NEXT:
	ld.shared.u32 %r6, [%r2];
	add.u32 %r6, %r6, %r5;
	cvt.u64.u32 %rd1, %r6;
	st.global.u64 [%slot], %rd1;";
    let out = run(&with_tile(body), [2, 1, 1], [2, 1, 1]);
    for (i, &word) in out.iter().enumerate() {
        let lane = i as u64 % 32;
        assert_eq!(word, if lane < 16 { 3 * lane } else { 4 * lane });
    }
}

#[test]
fn a_block_alone_is_a_cluster_of_one() {
    let text =
        exchange("mapa.shared::cluster.u32 %r5, %r2, %r3;\n	ld.shared::cluster.u64 %rd2, [%r5];");
    let out = common::run(&text, 96, |call| call.grid(3).block(32).check(true));
    assert!(out.iter().zip(0..).all(|(&word, i)| word == i));
}

#[test]
fn a_grid_has_more_clusters_than_run_at_once() {
    let text =
        exchange("mapa.shared::cluster.u32 %r5, %r2, %r3;\n	ld.shared::cluster.u64 %rd2, [%r5];");
    for threads in [1, 3] {
        let out = common::run(&text, 32 * 20_000, |call| {
            let call = call.grid([5000, 1, 4]).block(32);
            call.threads(threads).cluster([2, 1, 2])
        });
        // Blocks of one x share their words; all wrote what some block of the cluster has.
        assert!(out[..32 * 5000].iter().zip(0..).all(|(&word, i)| {
            let (block, lane) = (i / 32, i % 32);
            word % 32 == lane && word / 32 / 2 == block / 2
        }));
    }
}

/// Blocks along each axis.
type Shape = [u32; 3];

/// A launch of a kernel with a directive: the directive, the grid, the cluster's shape if it is named,
/// whether it may have a size that is not portable, and what is wrong with it.
#[rustfmt::skip]
const LAUNCHES: &[(&str, Shape, Option<Shape>, bool, &str)] = &[
    ("", [8, 1, 1], Some([8, 1, 1]), false, "nothing"),
    ("", [16, 1, 1], Some([16, 1, 1]), true, "nothing"),
    (".reqnctapercluster 2, 2", [4, 4, 1], None, false, "nothing"),
    (".reqnctapercluster 2", [4, 1, 1], Some([2, 1, 1]), false, "nothing"),
    (".maxclusterrank 4", [4, 1, 1], Some([4, 1, 1]), false, "nothing"),
    (".explicitcluster", [4, 1, 1], Some([1, 1, 1]), false, "nothing"),
    ("", [16, 1, 1], Some([16, 1, 1]), false, "a cluster of 16×1×1 = 16 blocks, but the limit is 8: \
        allow cluster sizes that are not portable, or make the cluster smaller"),
    ("", [32, 1, 1], Some([32, 1, 1]), true, "a cluster of 32×1×1 = 32 blocks, but the limit is 8, \
        or 16 where the launch says that it need not run on all devices"),
    ("", [4, 1, 1], Some([2, 0, 1]), false, "a cluster of 2×0×1 blocks: it needs at least one along \
        each axis"),
    ("", [2, 3, 1], Some([2, 2, 1]), false, "the grid has 3 blocks along y, not a multiple of the \
        cluster's 2: give it whole clusters, and let the surplus blocks do nothing"),
    (".reqnctapercluster 2", [3, 1, 1], None, false, "the grid has 3 blocks along x, not a multiple \
        of the cluster's 2: give it whole clusters, and let the surplus blocks do nothing"),
    (".reqnctapercluster 2", [4, 1, 1], Some([4, 1, 1]), false, "a cluster of 4×1×1 blocks, but the \
        kernel requires 2×1×1 (.reqnctapercluster): launch it with that, or without naming a cluster"),
    (".maxclusterrank 2", [4, 1, 1], Some([4, 1, 1]), false, "a cluster of 4×1×1 = 4 blocks, but the \
        kernel declares at most 2 (.maxclusterrank)"),
    (".explicitcluster", [4, 1, 1], None, false, "the kernel must be launched with a cluster \
        (.explicitcluster): name its shape, even if that is one block"),
];

/// What is wrong with a launch.
fn refused(directive: &str, grid: [u32; 3], cluster: Option<[u32; 3]>, large: bool) -> String {
    let bench = Bench::new(&format!(".visible .entry k() {directive}\n{{ ret; }}"));
    let options = LaunchOptions {
        cluster,
        non_portable_cluster: large,
        ..LaunchOptions::default()
    };
    let call = bench.call("k").grid(grid).block(32).options(options);
    match call.run() {
        Ok(_) => "nothing".to_owned(),
        Err(LaunchError::InvalidLaunch { message, .. }) => message,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn launches_are_held_to_the_rules_of_clusters() {
    for &(directive, grid, cluster, large, message) in LAUNCHES {
        let got = refused(directive, grid, cluster, large);
        assert_eq!(got, message, "{directive} {cluster:?}");
    }
    let got = refused("", [4; 3], Some([1 << 31; 3]), false);
    assert!(got.starts_with("a cluster of 2147483648×"), "{got}");
}

#[test]
fn a_kernels_own_clusters_need_not_be_named() {
    let text =
        exchange("mapa.shared::cluster.u32 %r5, %r2, %r3;\n	ld.shared::cluster.u64 %rd2, [%r5];")
            .replace(
                "(.param .u64 buffer)",
                "(.param .u64 buffer) .reqnctapercluster 2",
            );
    let out = common::run(&text, 128, |call| call.grid(4).block(32));
    assert!(out.iter().zip(0..).all(|(&word, i)| word == i ^ 32));
}

/// Runs the corrected body of a seeded defect on two blocks of a warp.
fn is_right(body: &str) {
    let text = with_tile(&format!(
        "
	.reg .b32 %rank, %next, %own, %there, %bar_at, %bar_there;
	mov.u32 %rank, %cluster_ctarank;
	xor.b32 %next, %rank, 1;
	mov.u32 %own, tile;
	mad.lo.u32 %own, %me, 4, %own;
	mapa.shared::cluster.u32 %there, %own, %next;
	mov.u32 %bar_at, bar;
	mapa.shared::cluster.u32 %bar_there, %bar_at, %next;
	setp.eq.u32 %p1, %rank, 0;
	setp.eq.u32 %p2, %me, 0;
	{body}"
    ));
    run(&text, [2, 1, 1], [2, 1, 1]);
}

#[test]
fn what_is_put_right_passes() {
    // A second barrier before the second round.
    is_right(&format!(
        "st.shared.u32 [%own], %me;\n{BARRIER}ld.shared::cluster.u32 %r1, [%there];
	{BARRIER}st.shared.u32 [%own], 7;\n{BARRIER}"
    ));
    // A flag for the cluster, and the barrier at the end.
    is_right(&format!(
        "st.shared.u32 [%own+128], 0;\n{BARRIER}@!%p2 bra END;\n@!%p1 bra READ;
	st.shared::cluster.u32 [%there], 42;
	st.release.cluster.shared::cluster.u32 [%there+128], 1;\n	bra END;
READ:
	ld.acquire.cluster.shared.u32 %r2, [%own+128];
	setp.eq.u32 %p3, %r2, 0;\n	@%p3 bra READ;\n	ld.shared.u32 %r3, [%own];
END:
	{BARRIER}"
    ));
    // The same by a fence and relaxed accesses.
    is_right(&format!(
        "st.shared.u32 [%own+128], 0;\n{BARRIER}@!%p2 bra END;\n@!%p1 bra READ;
	st.shared::cluster.u32 [%there], 42;\n	fence.acq_rel.cluster;
	st.relaxed.cluster.shared::cluster.u32 [%there+128], 1;\n	bra END;
READ:
	ld.relaxed.cluster.shared.u32 %r2, [%own+128];
	setp.eq.u32 %p3, %r2, 0;\n	@%p3 bra READ;\n	fence.acq_rel.cluster;
	ld.shared.u32 %r3, [%own];
END:
	{BARRIER}"
    ));
    // An arrival that is waited for keeps its block from ending before it.
    is_right(&format!(
        "@%p2 mbarrier.init.shared.b64 [%bar_at], 32;\n	fence.mbarrier_init.release.cluster;
	{BARRIER}@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar_there];
	@%p1 bra END;
WAIT:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%bar_at], 0;
	@!%p3 bra WAIT;
END:"
    ));
    // What is stored asynchronously is waited for.
    is_right(&format!(
        "@%p2 mbarrier.init.shared.b64 [%bar_at], 1;\n	fence.mbarrier_init.release.cluster;
	{BARRIER}@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar_at], 128;
	st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%there], %me, [%bar_there];
WAIT:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%bar_at], 0;
	@!%p3 bra WAIT;\n	ld.shared.u32 %r1, [%own];"
    ));
    // A relaxed arrival, where there is nothing to publish.
    is_right(
        "barrier.cluster.arrive.relaxed.aligned;\n	barrier.cluster.wait.aligned;
	st.shared.u32 [%own], %me;\n	ld.shared.u32 %r1, [%own];",
    );
    // What one block wrote before the barrier, another publishes after it by a fence of the
    // first and a relaxed store.
    is_right(&format!(
        "st.shared.u32 [%own+128], 0;\n	st.global.u64 [%slot], 5;\n	fence.sc.gpu;\n{BARRIER}@!%p2 bra END;
	@!%p1 bra READ;\n	st.relaxed.cluster.shared::cluster.u32 [%there+128], 1;\n	bra END;
READ:
	ld.acquire.cluster.shared.u32 %r2, [%own+128];
	setp.eq.u32 %p3, %r2, 0;\n	@%p3 bra READ;\n	ld.global.u64 %rd1, [%buf];
END:
	{BARRIER}"
    ));
}

#[test]
fn accesses_to_other_blocks_are_counted_apart() {
    let load = "
	mapa.shared::cluster.u32 %r5, %r2, %r3;
	ld.shared::cluster.u64 %rd2, [%r5];
	mapa.shared::cluster.u32 %r6, %r1, %r3;
	st.shared::cluster.u32 [%r6+2048], %me;
	red.shared::cluster.add.u32 [%r6+2052], 1;";
    let text = exchange(load);
    let (_, report) = launch(&text, &[0; 128], |call| {
        call.grid(4).block(32).cluster([2, 1, 1])
    })
    .unwrap_or_else(|e| panic!("{e}"));
    let counts = report.counts;
    assert_eq!(counts.cluster_load_requests, 4);
    assert_eq!(counts.cluster_load_bytes, 4 * 32 * 8);
    assert_eq!(
        (counts.cluster_store_requests, counts.cluster_store_bytes),
        (4, 4 * 4)
    );
    assert_eq!(counts.cluster_atomic_requests, 4);
    assert_eq!(
        (counts.shared_load_requests, counts.shared_atomic_requests),
        (0, 0)
    );
    assert_eq!(counts.shared_store_requests, 4);
}

#[test]
fn shared_memory_of_more_than_48_kilobytes_is_reached_too() {
    let text = format!(
        ".extern .shared .align 8 .b8 all[];\n{}",
        kernel(&format!(
            "
	mov.u32 %r1, all;
	mad.lo.u32 %r2, %me, 7256, %r1;
	st.shared.u32 [%r2], %global_id;
	{BARRIER}
	xor.b32 %r3, %blk, 1;
	mapa.shared::cluster.u32 %r4, %r2, %r3;
	ld.shared::cluster.u32 %r5, [%r4];
	cvt.u64.u32 %rd1, %r5;
	st.global.u64 [%slot], %rd1;
	{BARRIER}"
        ))
    );
    let out = common::run(&text, 64, |call| {
        let call = call.grid(2).block(32).dynamic_shared_bytes(227 << 10);
        call.cluster([2, 1, 1]).check(true)
    });
    assert!(out.iter().zip(0..).all(|(&word, i)| word == i ^ 32));
}

#[test]
fn a_call_can_name_its_cluster() {
    let text = with_tile(
        "mov.u32 %r1, %cluster_nctarank;\n	cvt.u64.u32 %rd1, %r1;\n	st.global.u64 [%slot], %rd1;",
    );
    let bench = Bench::new(&text);
    let out = bench.zeros::<u64>(4, "out");
    let call = bench.call("k").grid([2, 2]).cluster([2, 2]);
    call.arg(out).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bench.download(out)[0], 4);
}
