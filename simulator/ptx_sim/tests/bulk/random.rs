//! Random kernels of clusters with bulk copies: what checks report must not depend on whether
//! the prefilter has looked first.

use common::module;
use common::numbers::Numbers;
use ptx_sim::{Buffer, Call, LaunchOptions, Schedule};

use super::{Bench, kernel, noise, wait};

/// Bytes of each copy.
const COPY: u32 = 256;
/// Bytes of the buffer.
const BUFFER: usize = 16_384;
/// Threads of a block, and blocks.
const BLOCK: u32 = 64;
const GRID: u32 = 4;

/// All shared memory is written, and all barriers are known to both blocks.
const BEGIN: &str = "
	mov.b64 %rd9, 7;
	mad.lo.u32 %r1, %me, 8, %tile;
	st.shared.b64 [%r1], %rd9;
	st.shared.b64 [%r1+512], %rd9;
	@%lead mbarrier.init.shared::cta.b64 [%bar], 1;
	@%lead mbarrier.init.shared::cta.b64 [%bar+8], 1;
	@%lead mbarrier.init.shared::cta.b64 [%bar+16], 1;
	@%lead mbarrier.init.shared::cta.b64 [%bar+24], 1;
	fence.mbarrier_init.release.cluster;
	fence.proxy.async;
	mov.u32 %r10, %cluster_ctarank;
	xor.b32 %r11, %r10, 1;
	mov.u32 %r12, %ctaid.x;
";
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// A statement that may be unordered with others; the `i`-th.
fn statement(numbers: &mut Numbers, i: u32) -> String {
    let mut below = |n: u64| numbers.draw() % n;
    let area = [0, 0, 256, 512][below(4) as usize];
    let to_buffer = [
        "mul.wide.u32 %rd2, %r12, 1024;\nadd.u64 %rd2, %rd2, %buf;\n",
        "mul.wide.u32 %rd2, %r10, 1024;\nadd.u64 %rd2, %rd2, %buf;\n",
        "add.u64 %rd2, %buf, 8192;\n",
    ][[0, 0, 0, 1, 2][below(5) as usize]];
    let own = format!("mad.lo.u32 %r2, %me, 8, %tile;\nadd.u32 %r2, %r2, {area};\n");
    let other = format!("{own}mapa.shared::cluster.u32 %r2, %r2, %r11;\n");
    let waits = wait(0)
        .replace("AGAIN", &format!("AGAIN{i}"))
        .replace("[%bar]", &format!("[%bar+{}]", 8 * i));
    match below(15) {
        0..=2 => {
            let waits = match below(4) {
                0 => format!("@!%lead bra PAST_{i};\n{waits}\nPAST_{i}:"),
                _ => waits,
            };
            format!(
                "{to_buffer}@!%lead bra STARTED_{i};
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+{}], {COPY};
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile+{area}], [%rd2], {COPY}, [%bar+{}];
STARTED_{i}:
	{waits}",
                8 * i,
                8 * i
            )
        }
        3 | 4 => {
            let waits = ["wait_group 0;", "wait_group.read 0;", "commit_group;"][below(3) as usize];
            format!(
                "{to_buffer}@!%lead bra STARTED_{i};
	cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%tile+{area}], {COPY};
	cp.async.bulk.commit_group;
	cp.async.bulk.{waits}
STARTED_{i}:"
            )
        }
        5 => format!("{own}st.shared.b64 [%r2], %rd9;"),
        6 => format!("{own}ld.shared.b64 %rd9, [%r2];"),
        7 => format!("{other}st.shared::cluster.b64 [%r2], %rd9;"),
        8 => format!("{other}ld.shared::cluster.b64 %rd9, [%r2];"),
        9 => "bar.sync 0;".to_owned(),
        10 => CLUSTER_BARRIER.to_owned(),
        11 => "fence.proxy.async;".to_owned(),
        12 => format!("{to_buffer}mad.wide.u32 %rd2, %me, 8, %rd2;\nst.global.b64 [%rd2], %rd9;"),
        13 => format!("{to_buffer}mad.wide.u32 %rd2, %me, 8, %rd2;\nld.global.b64 %rd9, [%rd2];"),
        _ => "fence.proxy.async;\nbar.sync 0;".to_owned(),
    }
}

/// A random kernel, which may have races.
pub fn random_kernel(seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let statements = (0..4).map(|i| statement(&mut numbers, i) + "\n");
    let body: String = statements.collect();
    kernel(&format!("{BEGIN}{CLUSTER_BARRIER}{body}{CLUSTER_BARRIER}"))
}

/// A launch of a kernel on its buffer.
pub fn shaped(call: Call<'_>, schedule: Option<Schedule>, buffer: Buffer<u8>) -> Call<'_> {
    let options = LaunchOptions {
        check: true,
        cluster: Some([2, 1, 1]),
        fuel: Some(1 << 18),
        schedule,
        ..Default::default()
    };
    let call = call.grid(GRID).block(BLOCK).options(options);
    call.args(&[&[0_u8; 128], &buffer])
}

/// What a launch reports, if anything, and leaves in memory.
fn outcome(ptx: &str, schedule: Option<Schedule>) -> (Option<String>, Vec<u8>) {
    let bench = Bench::new(&noise(BUFFER, 31));
    let loaded = bench.device.load(&module(ptx)).expect("a module");
    let call = bench.device.call(&loaded, "k");
    let outcome = shaped(call, schedule, bench.buffer).run();
    (outcome.err().map(|error| error.to_string()), bench.bytes())
}

#[test]
fn random_copies_in_clusters_are_judged_alike() {
    let asked = std::env::var("RANDOM_KERNELS").ok();
    let n_kernels = asked.map_or(150, |n| n.parse().expect("a number"));
    let (mut n_found, mut n_passed) = (0, 0);
    for seed in 0..n_kernels {
        let ptx = random_kernel(seed);
        // A schedule without choices is the usual order, and judged exactly at once.
        let usual = Schedule {
            n_choices: Some(0),
            ..Schedule::new(1)
        };
        let (found, expected) = (outcome(&ptx, None), outcome(&ptx, Some(usual)));
        assert_eq!(found.0, expected.0, "kernel {seed}:\n{ptx}");
        assert!(found.1 == expected.1, "kernel {seed}, bytes:\n{ptx}");
        match found.0 {
            Some(_) => n_found += 1,
            None => n_passed += 1,
        }
    }
    assert!(n_found >= 10 && n_passed >= 10, "{n_found}, {n_passed}");
}
