//! Copies of contiguous bytes, in all directions, and `st.bulk`.

use ptx_sim::AccessClass;

use super::{Bench, INIT, kernel, noise, wait};

#[test]
fn there_between_and_back() {
    for n_bytes in [16_usize, 48, 4096, 16_368] {
        let bench = Bench::new(&noise(3 * 16_384, 11));
        let body = format!(
            "{INIT}
	@!%lead bra DONE;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {n_bytes};
	add.u64 %rd1, %buf, 32;
	cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%tile], [%rd1], {n_bytes}, [%bar];
	{}
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {n_bytes};
	add.u32 %r1, %tile, 20480;
	mov.u32 %r2, {n_bytes};
	cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%tile], %r2, [%bar];
	{}
	add.u64 %rd2, %buf, 16448;
	mov.u64 %rd3, 0;
	cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd2], [%r1], %r2, %rd3;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
	DONE:",
            wait(0),
            wait(1).replace("AGAIN", "AGAIN2"),
        );
        bench.run_both(&kernel(&body), None, 32);
        let bytes = bench.bytes();
        assert_eq!(bytes[32..32 + n_bytes], bytes[16_448..16_448 + n_bytes]);
        let before = noise(3 * 16_384, 11);
        assert_eq!(bytes[16_448 + n_bytes..], before[16_448 + n_bytes..]);
    }
}

#[test]
fn each_lane_copies_for_itself() {
    let bench = Bench::new(&noise(2048, 12));
    let body = format!(
        "{INIT}
	@%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
	shl.b32 %r1, %me, 4;
	add.u32 %r2, %tile, %r1;
	cvt.u64.u32 %rd1, %r1;
	add.u64 %rd1, %buf, %rd1;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, [%bar];
	{}
	ld.shared.v2.b64 {{%rd2, %rd3}}, [%r2];
	st.global.v2.b64 [%rd1+512], {{%rd3, %rd2}};",
        wait(0)
    );
    bench.run_both(&kernel(&body), None, 32);
    let bytes = bench.bytes();
    for lane in 0..32 {
        let at = 16 * lane;
        assert_eq!(bytes[at..at + 8], bytes[512 + at + 8..512 + at + 16]);
        assert_eq!(bytes[at + 8..at + 16], bytes[512 + at..512 + at + 8]);
    }
}

#[test]
fn zeros_in_bulk() {
    let bench = Bench::new(&noise(1024, 13));
    let body = "mov.b32 %r1, -1;
	st.shared.b32 [%tile], %r1;
	st.shared.b32 [%tile+24], %r1;
	mov.b64 %rd1, 24;
	st.bulk.weak.shared::cta [%tile], %rd1, 0;
	ld.shared.b32 %r2, [%tile];
	ld.shared.b32 %r3, [%tile+24];
	st.global.b32 [%buf], %r2;
	st.global.b32 [%buf+4], %r3;";
    bench.run_both(&kernel(body), None, 1);
    assert_eq!(bench.bytes()[..8], [0, 0, 0, 0, 255, 255, 255, 255]);
}

#[test]
fn bytes_are_told_line_by_line() {
    let bench = Bench::new(&noise(2048, 14));
    let body = format!(
        "{INIT}
	@!%lead bra DONE;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 768;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%buf], 768, [%bar];
	{}
	add.u64 %rd2, %buf, 1024;
	cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%tile], 256;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	DONE:",
        wait(0),
    );
    let report = bench.run_unchecked(&kernel(&body), 32);
    let instructions = report.instructions();
    let copies = instructions
        .iter()
        .filter(|i| i.class == Some(AccessClass::BulkCopy));
    let told: Vec<(u64, u64)> = copies.map(|i| (i.bytes, i.sectors)).collect();
    assert_eq!(told, [(768, 0), (256, 0)]);
    assert_eq!(report.counts.global_load_bytes, 0, "no total has them");
}
