//! Copies to other blocks of a cluster.

use ptx_sim::LaunchError;
use ptx_sim::tensor_map::{Swizzle, TensorMap, TensorSpec};

use super::model::loaded;
use super::{Bench, PLAIN, kernel, noise, wait};

/// Bytes of each block's tile, and of the tensor.
const TILE: usize = 2048;
const TENSOR: usize = 16_384;

/// Every block of a cluster of four expects what `mask` says; the one of rank `from` starts
/// the copy; each stores what it has received.
fn body(copy: &str, mask: u32, from: u32, ends_early: bool) -> String {
    let out = TENSOR;
    let last = if ends_early {
        ""
    } else {
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"
    };
    format!(
        "mov.u32 %r10, %cluster_ctarank;
	shl.b32 %r11, %me, 4;
	add.u32 %r12, %tile, %r11;
	mov.b64 %rd5, -1;
	st.shared.v2.b64 [%r12], {{%rd5, %rd5}};
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%lead mbarrier.init.shared::cta.b64 [%bar], 1;
	fence.mbarrier_init.release.cluster;
	mov.u32 %r13, {mask};
	shr.u32 %r13, %r13, %r10;
	and.b32 %r13, %r13, 1;
	mul.lo.u32 %r13, %r13, {TILE};
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	@%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %r13;
	setp.eq.and.u32 %p5, %r10, {from}, %lead;
	mov.u16 %h1, {mask};
	@%p5 {copy}
	{}
	ld.shared.v2.b64 {{%rd6, %rd7}}, [%r12];
	mul.lo.u32 %r14, %r10, {TILE};
	add.u32 %r14, %r14, %r11;
	cvt.u64.u32 %rd8, %r14;
	add.u64 %rd8, %rd8, %buf;
	st.global.v2.b64 [%rd8+{out}], {{%rd6, %rd7}};
	{last}",
        wait(0)
    )
}

fn run(bench: &Bench, ptx: &str, map: &TensorMap, check: bool) -> Result<(), LaunchError> {
    let run = bench.launch(ptx, &map.to_bytes(), |call| {
        let call = call.grid(4).block((TILE / 16) as u32);
        call.cluster(4).check(check)
    });
    run.map(drop)
}

fn matrix(address: u64) -> TensorMap {
    TensorMap::new(&TensorSpec {
        address,
        dims: &[101, 37],
        strides: &[240],
        box_dims: &[64, 16],
        swizzle: Swizzle::B128,
        ..PLAIN
    })
    .expect("a map")
}

const TILES: &str = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%tile], [%map, {64, 30}], [%bar], %h1;";
const BYTES: &str = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%tile], [%buf], 2048, [%bar], %h1;";

#[test]
fn a_copy_goes_to_the_blocks_that_it_names() {
    let data = noise(TENSOR + 4 * TILE, 41);
    for (copy, mask, from) in [
        (TILES, 0b1011, 0),
        (TILES, 0b0100, 3),
        (BYTES, 0b1111, 2),
        (BYTES, 0b1000, 0),
    ] {
        for check in [false, true] {
            let bench = Bench::new(&data);
            let map = matrix(bench.buffer.address());
            let ptx = kernel(&body(copy, mask, from, false));
            if let Err(error) = run(&bench, &ptx, &map, check) {
                panic!("{mask:#b} from {from}, check {check}: {error}");
            }
            let before = vec![0xFF; TILE];
            let tile = match copy {
                TILES => loaded(&map, &[64, 30], (&data, before.clone()), 0),
                _ => data[..TILE].to_vec(),
            };
            for rank in 0..4 {
                let at = TENSOR + rank * TILE;
                let expected = if mask >> rank & 1 != 0 {
                    &tile
                } else {
                    &before
                };
                assert!(
                    bench.bytes()[at..at + TILE] == **expected,
                    "rank {rank} {mask:#b}"
                );
            }
        }
    }
}

#[test]
fn a_copy_to_a_block_that_is_not_there() {
    let bench = Bench::new(&noise(TENSOR + 4 * TILE, 42));
    let ptx = kernel(&body(BYTES, 0b1_0001, 0, false));
    let error = run(&bench, &ptx, &matrix(bench.buffer.address()), false).expect_err("no rank 4");
    insta::assert_snapshot!(error.to_string().lines().next().unwrap_or_default(), @"no such block: asynchronous copy of 2048 bytes at shared address 0x0 of the block of rank 4, in a cluster of 4 blocks");
}

#[test]
fn shared_memory_of_one_block_goes_to_another() {
    let data = noise(TENSOR + 4 * TILE, 43);
    let bench = Bench::new(&data);
    // The first block brings a tile to its own memory, and takes it to block 2.
    let copy = format!(
        "bra TAKE;
	bra OVER;
	TAKE:
	mbarrier.init.shared::cta.b64 [%bar+8], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+8], {TILE};
	add.u32 %r20, %tile, 4096;
	add.u32 %r21, %bar, 8;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%buf], {TILE}, [%r21];
	AGAIN2:
	mbarrier.try_wait.parity.shared::cta.b64 %p6, [%bar+8], 0;
	@!%p6 bra AGAIN2;
	mapa.shared::cluster.u32 %r22, %tile, 2;
	mapa.shared::cluster.u32 %r23, %bar, 2;
	cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r22], [%r20], {TILE}, [%r23];
	OVER:"
    );
    let ptx = kernel(&body(&copy, 0b0100, 0, false).replacen("bra OVER", "@!%p5 bra OVER", 1));
    for check in [false, true] {
        if let Err(error) = run(&bench, &ptx, &matrix(bench.buffer.address()), check) {
            panic!("check {check}: {error}");
        }
    }
    let bytes = bench.bytes();
    let at = TENSOR + 2 * TILE;
    assert!(bytes[at..at + TILE] == data[..TILE]);
    assert!(bytes[TENSOR..TENSOR + TILE].iter().all(|&b| b == 0xFF));
}
