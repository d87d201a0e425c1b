//! Loads and stores: widths, vectors, spaces, generic addresses.

use common::{Bench, kernel, launch, run, says, with_tile};

fn words(ptx: &str, n: u32) -> Vec<u64> {
    run(ptx, n as usize, |call| call.block(n))
}

#[test]
fn narrow_elements_are_extended() {
    let body = "
	st.global.u64 [%slot], 0x8182838485868788;
	ld.global.s8 %r1, [%slot+1];
	ld.global.u8 %r2, [%slot+2];
	ld.global.s16 %r3, [%slot+4];
	ld.global.u16 %h1, [%slot+6];
	ld.global.s32 %rd1, [%slot+4];
	add.u32 %r4, %r1, %r2;
	add.u32 %r4, %r4, %r3;
	cvt.s64.s32 %rd2, %r4;
	cvt.u64.u16 %rd3, %h1;
	add.u64 %rd1, %rd1, %rd2;
	add.u64 %rd1, %rd1, %rd3;
	st.global.u64 [%slot], %rd1;";
    let expected = i64::from(0x87u8 as i8)
        + 0x86
        + i64::from(0x8384u16 as i16)
        + i64::from(0x8182_8384_u32 as i32)
        + 0x8182;
    assert_eq!(words(&kernel(body), 40), vec![expected as u64; 40]);
}

#[test]
fn narrow_stores_leave_the_rest() {
    let body = "
	st.global.u64 [%slot], -1;
	st.global.u8 [%slot+1], 0x12;
	mov.u32 %r1, 0xABCD3456;
	st.global.u16 [%slot+4], %r1;
	st.global.b8 [%slot+7], %r1;";
    assert_eq!(words(&kernel(body), 33), vec![0x56FF_3456_FFFF_12FF; 33]);
}

/// Neighbouring lanes' narrow elements are moved side by side: in shared memory, in global memory of
/// one block, and where other host threads may access it; at any distance from a multiple of 8.
#[test]
fn rows_of_narrow_elements() {
    for (space, n_blocks) in [("shared", 1), ("global", 1), ("global", 8)] {
        for offset in 0..8 {
            let (n, halves) = (32 * n_blocks, 64 + (offset & !1));
            let base = match space {
                "shared" => "mov.u64 %rd1, tile;".to_owned(),
                _ => format!(
                    "mad.wide.u32 %rd1, %blk, 256, %buf; add.u64 %rd1, %rd1, {};",
                    8 * n
                ),
            };
            let body = format!(
                "
	{base}
	cvt.u64.u32 %rd2, %me;
	add.u64 %rd3, %rd1, %rd2;
	add.u64 %rd5, %rd3, %rd2;
	mad.lo.u32 %r1, %me, 977, 129;
	st.{space}.u8 [%rd3+{offset}], %r1;
	ld.{space}.s8 %r2, [%rd3+{offset}];
	ld.{space}.u8 %r3, [%rd3+{offset}];
	ld.{space}.u8 %h1, [%rd3+{offset}];
	ld.{space}.s8 %h2, [%rd3+{offset}];
	add.u16 %h3, %h1, 77;
	st.{space}.u8 [%rd3+{offset}], %h3;
	ld.{space}.u8 %r4, [%rd3+{offset}];
	st.{space}.u16 [%rd5+{halves}], %r1;
	ld.{space}.s16 %r5, [%rd5+{halves}];
	ld.{space}.u16 %r6, [%rd5+{halves}];
	cvt.u32.u16 %r7, %h1;
	cvt.s32.s16 %r8, %h2;
	mad.lo.s32 %r2, %r2, 3, %r3;
	mad.lo.s32 %r2, %r2, 5, %r4;
	mad.lo.s32 %r2, %r2, 7, %r5;
	mad.lo.s32 %r2, %r2, 11, %r6;
	mad.lo.s32 %r2, %r2, 13, %r7;
	mad.lo.s32 %r2, %r2, 17, %r8;
	cvt.s64.s32 %rd9, %r2;
	st.global.u64 [%slot], %rd9;"
            );
            let out = run(&with_tile(&body), 40 * n, |call| {
                call.grid(n_blocks as u32).block(32)
            });
            for (thread, found) in out[..n].iter().enumerate() {
                let word = 977 * (thread as u32 % 32) + 129;
                let [byte, half] = [i32::from(word as u8), i32::from(word as u16)];
                let [signed_byte, signed_half] = [i32::from(word as i8), i32::from(word as i16)];
                let changed = i32::from((word as u8).wrapping_add(77));
                let factors = [(1, signed_byte), (3, byte), (5, changed), (7, signed_half)];
                let last = [(11, half), (13, byte), (17, signed_byte)];
                let all = factors.into_iter().chain(last);
                let expected = all.fold(0_i32, |sum, (by, more)| {
                    sum.wrapping_mul(by).wrapping_add(more)
                });
                assert_eq!(
                    *found as i64,
                    i64::from(expected),
                    "{space}, {offset}, {thread}"
                );
            }
        }
    }
}

#[test]
fn vectors_of_every_shape() {
    let body = "
	mul.wide.u32 %rd1, %me, 32;
	add.u64 %rd1, %buf, %rd1;
	mov.u32 %r1, %me;
	add.u32 %r2, %me, 1;
	add.u32 %r3, %me, 2;
	add.u32 %r4, %me, 3;
	st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
	ld.global.v2.u64 {%rd2, %rd3}, [%rd1];
	ld.global.v2.u32 {%r5, _}, [%rd1+8];
	ld.global.v4.u8 {%r6, %r7, %r8, %r9}, [%rd1];
	add.u32 %r5, %r5, %r6;
	cvt.u64.u32 %rd4, %r5;
	add.u64 %rd2, %rd2, %rd3;
	st.global.v2.b64 [%rd1+16], {%rd2, %rd4};";
    let out = run(&kernel(body), 128, |call| call.block(32));
    for (tid, chunk) in out.chunks(4).enumerate() {
        let t = tid as u64;
        assert_eq!(chunk[0], t | (t + 1) << 32);
        assert_eq!(chunk[1], (t + 2) | (t + 3) << 32);
        assert_eq!(chunk[2], chunk[0] + chunk[1]);
        assert_eq!(chunk[3], t + 2 + t);
    }
}

#[test]
fn local_variables_are_aligned_as_they_ask_for() {
    let ptx = ".func (.reg .b64 %where) callee()
{
	.local .align 128 .b8 own[4];
	mov.b64 %where, own;
	cvta.local.u64 %where, %where;
	ret;
}
.visible .entry k(.param .u64 buffer)
{
	.reg .b64 %rd<8>;
	.local .align 256 .b8 own[4];
	ld.param.u64 %rd1, [buffer];
	mov.b64 %rd2, own;
	cvta.local.u64 %rd2, %rd2;
	call (%rd3), callee, ();
	st.u64 [%rd1], %rd2;
	st.u64 [%rd1+8], %rd3;
	ret;
}
";
    let addresses = words(ptx, 2);
    assert_eq!(addresses[0] % 256, 0, "{:#x}", addresses[0]);
    assert_eq!(addresses[1] % 128, 0, "{:#x}", addresses[1]);
}

#[test]
fn nothing_lies_below_an_aligned_local_variable() {
    let ptx = ".visible .entry k(.param .u64 buffer)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<4>;
	.local .align 256 .b8 own[4];
	mov.b64 %rd2, own;
	ld.local.u32 %r1, [%rd2+-4];
	ret;
}
";
    let error = launch(ptx, &[0; 2], |call| call).unwrap_err();
    assert!(error.to_string().contains("local memory"), "{error}");
}

#[test]
fn generic_addresses_reach_every_space() {
    let ptx = ".global .align 8 .u64 counter = 5;
.const .align 8 .u64 factor = 3;
.visible .entry k(.param .u64 buffer)
{
	.reg .pred %p<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<20>;
	.shared .align 8 .b8 tile[512];
	.local .align 8 .b8 own[16];
	ld.param.u64 %rd1, [buffer];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.u64 %rd3, %rd1, %rd2;
	// shared
	mov.u64 %rd4, tile;
	cvta.shared.u64 %rd4, %rd4;
	add.u64 %rd4, %rd4, %rd2;
	cvt.u64.u32 %rd5, %r1;
	st.u64 [%rd4], %rd5;
	isspacep.shared %p1, %rd4;
	isspacep.global %p2, %rd4;
	// local
	mov.u64 %rd6, own;
	cvta.local.u64 %rd6, %rd6;
	st.u64 [%rd6+8], 100;
	isspacep.local %p3, %rd6;
	// global and constant variables
	mov.u64 %rd7, counter;
	ld.u64 %rd8, [%rd7];
	mov.u64 %rd9, factor;
	cvta.const.u64 %rd9, %rd9;
	ld.u64 %rd10, [%rd9];
	ld.const.u64 %rd11, [factor];
	bar.sync 0;
	xor.b64 %rd2, %rd2, 8;
	mov.u64 %rd12, tile;
	add.u64 %rd12, %rd12, %rd2;
	ld.shared.u64 %rd13, [%rd12];
	ld.u64 %rd14, [%rd6+8];
	add.u64 %rd13, %rd13, %rd14;
	add.u64 %rd13, %rd13, %rd8;
	add.u64 %rd13, %rd13, %rd10;
	add.u64 %rd13, %rd13, %rd11;
	@%p1 add.u64 %rd13, %rd13, 1000;
	@%p2 add.u64 %rd13, %rd13, 2000;
	@%p3 add.u64 %rd13, %rd13, 4000;
	st.u64 [%rd3], %rd13;
	ret;
}
";
    for (tid, got) in words(ptx, 64).into_iter().enumerate() {
        assert_eq!(
            got,
            (tid as u64 ^ 1) + 100 + 5 + 3 + 3 + 5000,
            "thread {tid}"
        );
    }
}

#[test]
fn lanes_of_one_load_in_different_spaces_and_allocations() {
    let ptx = ".global .align 8 .u64 far[2] = {70, 71};
.visible .entry k(.param .u64 buffer)
{
	.reg .pred %p<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<20>;
	.shared .align 8 .u64 near;
	ld.param.u64 %rd1, [buffer];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 8;
	add.u64 %rd3, %rd1, %rd2;
	st.shared.u64 [near], 9;
	bar.sync 0;
	and.b32 %r2, %r1, 3;
	mov.u64 %rd4, %rd3;
	setp.eq.u32 %p1, %r2, 1;
	mov.u64 %rd5, near;
	cvta.shared.u64 %rd5, %rd5;
	@%p1 mov.u64 %rd4, %rd5;
	setp.eq.u32 %p2, %r2, 2;
	mov.u64 %rd6, far+8;
	@%p2 mov.u64 %rd4, %rd6;
	ld.u64 %rd7, [%rd4];
	st.global.u64 [%rd3], %rd7;
	ret;
}
";
    let (out, _) = launch(ptx, &[4; 64], |call| call.block(64)).unwrap();
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, [4, 9, 71, 4][tid % 4], "thread {tid}");
    }
}

#[test]
fn dynamic_shared_memory_follows_static() {
    let ptx = format!(
        ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[20];\n{}",
        kernel(
            "
	mov.u64 %rd1, fixed;
	mov.u64 %rd2, dynamic;
	sub.u64 %rd3, %rd2, %rd1;
	mul.wide.u32 %rd4, %me, 8;
	add.u64 %rd4, %rd2, %rd4;
	st.shared.u64 [%rd4], %rd3;
	bar.sync 0;
	ld.shared.u64 %rd5, [%rd4];
	mov.u32 %r1, %dynamic_smem_size;
	cvt.u64.u32 %rd6, %r1;
	add.u64 %rd5, %rd5, %rd6;
	st.global.u64 [%slot], %rd5;"
        )
    );
    let out = run(&ptx, 16, |call| call.block(16).dynamic_shared_bytes(128));
    assert_eq!(out, vec![32 + 128; 16]);
}

/// A declaration with a size that is defined nowhere is a variable like others.
#[test]
fn an_external_shared_array_with_a_size_is_static() {
    let ptx = format!(
        ".extern .shared .align 16 .b8 sized[256];\n.extern .shared .align 16 .b8 dynamic[];\n.shared .align 16 .b8 fixed[32];\n{}",
        kernel(
            "
	st.shared.u64 [fixed], 1;
	st.shared.u64 [sized], 20;
	st.shared.u64 [dynamic], 300;
	ld.shared.u64 %rd1, [fixed];
	ld.shared.u64 %rd2, [sized];
	ld.shared.u64 %rd3, [dynamic];
	add.u64 %rd1, %rd1, %rd2;
	add.u64 %rd1, %rd1, %rd3;
	st.global.u64 [%slot], %rd1;"
        )
    );
    let module = common::module(&ptx);
    let info = module.kernel("k").unwrap();
    assert_eq!(
        (info.static_shared_bytes, info.uses_dynamic_shared),
        (288, true)
    );
    let (out, _) = launch(&ptx, &[0], |call| call.dynamic_shared_bytes(16)).unwrap();
    assert_eq!(out, [321]);
    let alone = ptx.replace("[dynamic]", "[fixed]");
    assert!(launch(&alone, &[0], |call| call).is_ok());
}

/// The empty dynamic array begins where the static one ends, and is not to blame.
#[test]
fn past_a_static_shared_array_is_that_arrays_fault() {
    let ptx = format!(
        ".extern .shared .align 16 .b8 dynamic[];
.shared .align 16 .b8 fixed[64];
{}",
        kernel("\tst.shared.u32 [fixed+64], 1;")
    );
    let past = |dynamic_bytes| {
        let ran = launch(&ptx, &[0], |call| call.dynamic_shared_bytes(dynamic_bytes));
        ran.map_err(|error| error.to_string())
    };
    let error = past(0).unwrap_err();
    says(&error, &["just past the end of `fixed` (64 bytes)"]);
    assert!(!error.contains("`dynamic`"), "{error}");
    // With memory of its own, it is the dynamic array's first word.
    past(16).unwrap();
}

#[test]
fn local_arrays_are_private_and_counted_interleaved() {
    let body = "
	.local .align 4 .b8 own[64];
	mov.u64 %rd1, own;
	mov.u32 %r1, 0;
FILL:
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd2, %rd1, %rd2;
	mad.lo.u32 %r2, %me, 100, %r1;
	st.local.u32 [%rd2], %r2;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 16;
	@%p1 bra FILL;
	and.b32 %r3, %me, 15;
	mul.wide.u32 %rd3, %r3, 4;
	add.u64 %rd3, %rd1, %rd3;
	ld.local.u32 %r4, [%rd3];
	cvt.u64.u32 %rd4, %r4;
	st.global.u64 [%slot], %rd4;";
    let (out, report) = launch(&kernel(body), &[0; 32], |call| call.block(32)).unwrap();
    for (tid, got) in out.into_iter().enumerate() {
        assert_eq!(got, tid as u64 * 100 + (tid as u64 & 15));
    }
    // A uniform index: four sectors per store. Sixteen different rows: two
    // lanes each, 16 words apart, so that every lane has its own sector.
    assert_eq!(report.counts.local_store_sectors, 16 * 4);
    assert_eq!(report.counts.local_load_sectors, 32);
}

#[test]
fn parameters_of_every_size_and_their_addresses() {
    let ptx = ".visible .entry k(.param .align 8 .b8 s[8])
{
	.reg .b16 %h<4>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [s];
	ld.param.u16 %h1, [s+2];
	mov.b64 %rd2, s;
	cvta.param.u64 %rd3, %rd2;
	ld.param.u16 %h2, [%rd2+2];
	ld.u16 %h3, [%rd3+2];
	cvt.u64.u16 %rd4, %h1;
	cvt.u64.u16 %rd5, %h2;
	cvt.u64.u16 %rd6, %h3;
	st.global.u64 [%rd1], %rd4;
	st.global.u64 [%rd1+8], %rd5;
	st.global.u64 [%rd1+16], %rd6;
	ret;
}
";
    let out = run(ptx, 3, |call| call);
    assert_eq!(out[0], out[1]);
    assert_eq!(out[0], out[2]);
}

#[test]
fn shared_memory_starts_as_ones_in_every_block() {
    let ptx = format!(
        ".shared .align 8 .u64 word;\n{}",
        kernel(
            "\tld.shared.u64 %rd1, [word];\n\tst.shared.u64 [word], 5;\n\tst.global.u64 [%slot], %rd1;"
        )
    );
    let out = run(&ptx, 4, |call| call.grid(4).threads(1));
    assert_eq!(out, vec![u64::MAX; 4]);
}

#[test]
fn an_instruction_says_what_it_accessed_and_where() {
    const TEXT: &str = r#"
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 data)
        {
            .shared .align 16 .b8 line[16];
            .local .align 4 .b8 own[4];
            .reg .pred %p;
            .reg .b32 %r<4>;
            .reg .b64 %rd<3>;
            ld.param.u64 %rd0, [data];
            mov.u32 %r3, line;
            mov.u64 %rd1, line;
            cvta.shared.u64 %rd2, %rd1;
            ld.global.u32 %r0, [%rd0];
            st.u32 [%rd2], %r0;
            ld.u32 %r1, [%rd0];
            red.shared.add.u32 [%rd1], %r1;
            st.local.u32 [own], %r1;
            cp.async.ca.shared.global [%r3], [%rd0], 4;
            cp.async.wait_all;
            setp.ne.u32 %p, %r3, %r3;
            @%p ld.shared.u32 %r2, [%r3];
            ret;
        }"#;
    use ptx_sim::AccessClass::{AsyncCopy, Load, Reduction, Store};
    use ptx_sim::ir::Space::{Global, Local, Shared};
    let bench = Bench::new(TEXT);
    let data = bench.upload(&[3_u32], "data");
    let report = bench.call("k").arg(data).run().expect("it runs");
    let instructions = report.instructions();
    let of = |opcode: &str| {
        let found = instructions.iter().find(|i| i.opcode == opcode);
        found.map(|i| (i.class, i.space)).expect("it was executed")
    };
    assert_eq!(of("ld.global.u32"), (Some(Load), Some(Global)));
    // By generic addresses.
    assert_eq!(of("st.u32"), (Some(Store), Some(Shared)));
    assert_eq!(of("ld.u32"), (Some(Load), Some(Global)));
    assert_eq!(of("red.shared.add.u32"), (Some(Reduction), Some(Shared)));
    assert_eq!(of("st.local.u32"), (Some(Store), Some(Local)));
    let copy = of("cp.async.ca.shared.global");
    assert_eq!(copy, (Some(AsyncCopy), Some(Shared)));
    // Neither where it stood nor guarded out in every lane.
    assert_eq!(of("mov.u64"), (None, None));
    assert_eq!(of("ld.shared.u32"), (None, None));
}
