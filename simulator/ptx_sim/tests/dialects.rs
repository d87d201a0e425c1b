//! Other dialects of PTX: old calling conventions, votes without masks, modules without
//! code, and forms that compilers do not write.

use common::{Bench, HEADER, kernel, launch, says};
use ptx_sim::{Counts, LaunchError, Module};

const LAST_OLD_HEADER: &str = ".version 6.3\n.target sm_70\n.address_size 64\n";

/// The message about a module's first unknown instruction.
fn unsupported(text: &str) -> Option<String> {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let unknown = module.unsupported();
    unknown.first().map(|u| u.reason.to_owned())
}

fn error(text: &str) -> String {
    Module::parse(text).err().expect("an error").to_string()
}

/// The first words that 32 threads leave in the buffer.
fn words(text: &str, n: usize) -> Vec<u64> {
    let (mut words, _) = launch(text, &[0; 64], |call| call.block(32)).unwrap();
    words.truncate(n);
    words
}

#[test]
fn a_module_may_have_nothing_but_variables() {
    let bench = Bench::new(
        ".visible .global .align 4 .u32 counter = 7;\n.const .b8 table[3] = {1, 2, 3};\n",
    );
    let counter = bench.loaded.array::<u32>("counter").expect("it is there");
    assert_eq!(bench.download(counter), [7]);
    let table = bench.loaded.variable("table");
    assert_eq!(table.map(|(_, size)| size), Some(3));
}

#[test]
fn a_module_may_have_nothing() {
    for text in [HEADER, ".version 3.2\n.target sm_20\n"] {
        let loaded = Bench::new(text).loaded;
        assert_eq!(loaded.variable("counter"), None);
        assert_eq!(loaded.module().kernels().count(), 0);
    }
    common::module(".extern .func f();\n");
    assert!(error(&format!("{HEADER}.func f();\n")).contains("is it truncated?"));
}

#[test]
fn parameters_may_be_registers() {
    let functions = "
.func (.reg .u32 %sum) weighted(.reg .u32 %a, .reg .u16 %b, .reg .f32 %c)
{
	.reg .u32 %x;
	.reg .pred %p;
	cvt.rzi.u32.f32 %x, %c;
	mad.lo.u32 %sum, %a, 100, %x;
	setp.eq.u32 %p, %a, 3;
	@%p ret;
	cvt.u32.u16 %x, %b;
	add.u32 %sum, %sum, %x;
}
.func (.reg .u64 %low, .reg .u32 %high) two(.param .u64 x)
{
	ld.param.u64 %low, [x];
	mov.u32 %high, 5;
	ret;
}
.func nothing(.reg .u32 %a) { ret; }
";
    let body = kernel(
        "call (%r1), weighted, (%me, 7, 0f41200000);
	cvt.u64.u32 %rd1, %r1;
	call nothing, (%r1);
	.param .u64 argument;
	st.param.u64 [argument], 40;
	call (%rd2, %r2), two, (argument);
	cvt.u64.u32 %rd3, %r2;
	add.u64 %rd1, %rd1, %rd2;
	shl.b64 %rd3, %rd3, 32;
	add.u64 %rd1, %rd1, %rd3;
	st.global.u64 [%slot], %rd1;",
    );
    let found = words(&format!("{functions}{body}"), 32);
    for (thread, word) in (0..).zip(found) {
        let own = if thread == 3 { 0 } else { 7 };
        assert_eq!(word, 100 * thread + 10 + own + 40 + (5 << 32), "{thread}");
    }
    let message = error(&format!("{HEADER}.entry k(.reg .u32 a) {{ ret; }}"));
    says(&message, &["a kernel has no parameters in registers"]);
}

/// A number passed takes as many bytes as the parameter.
#[test]
fn a_number_does_not_run_into_the_next_parameter() {
    let functions = "
.func (.reg .u32 %d) second(.reg .u32 %a, .reg .u32 %b) { mov.u32 %d, %b; ret; }
.func (.param .f32 d) scaled(.param .f32 a, .param .f64 b)
{
	.reg .f32 %a, %b;
	.reg .f64 %c;
	ld.param.f32 %a, [a];
	ld.param.f64 %c, [b];
	cvt.rn.f32.f64 %b, %c;
	mul.f32 %a, %a, %b;
	st.param.f32 [d], %a;
	ret;
}
";
    let body = kernel(
        "call (%r1), second, (-1, -1);
	call (%f1), scaled, (0f3fc00000, 2.0);
	mov.b64 %rd1, {%r1, %r2};
	mov.b32 %r2, %f1;
	mov.b64 %rd1, {%r1, %r2};
	st.global.u64 [%slot], %rd1;",
    );
    let found = words(&format!("{functions}{body}"), 1);
    assert_eq!(found, [u64::from(3.0_f32.to_bits()) << 32 | 0xFFFF_FFFF]);
}

#[test]
fn votes_and_shuffles_without_a_mask_are_of_the_active_lanes() {
    let body = kernel(
        "setp.lt.u32 %p1, %me, 8;
	setp.eq.u32 %p2, %me, 3;
	mov.u32 %r1, 0;
	mov.u32 %r2, 99;
	@!%p1 bra OTHERS;
	vote.ballot.b32 %r1, !%p2;
	vote.any.pred %p3, %p2;
	vote.all.pred %p4, !%p2;
	vote.uni.pred %p5, %p1;
	selp.u32 %r4, 1, 0, %p3;
	@%p4 add.u32 %r4, %r4, 2;
	@%p5 add.u32 %r4, %r4, 4;
	shfl.up.b32 %r2|%p6, %me, 1, 0;
	@!%p6 add.u32 %r2, %r2, 50;
	shfl.idx.b32 %r3, %r2, 0, 31;
	bra DONE;
OTHERS:
	mov.u32 %r3, 1000;
	mov.u32 %r4, 0;
	@%p2 vote.ballot.b32 %r1, %p2;
DONE:
	shl.b32 %r4, %r4, 16;
	add.u32 %r2, %r2, %r4;
	mad.lo.u32 %r2, %r3, 256, %r2;
	mov.b64 %rd1, {%r1, %r2};
	st.global.u64 [%slot], %rd1;",
    );
    for header in [
        LAST_OLD_HEADER,
        ".version 5.0\n.target sm_60\n.address_size 64\n",
        ".version 8.0\n.target sm_61\n.address_size 64\n",
    ] {
        let found = words(&format!("{header}{body}"), 32);
        for (thread, word) in (0..).zip(found) {
            let (ballot, rest) = (word as u32, word >> 32);
            if thread < 8 {
                assert_eq!(ballot, 0b1111_0111);
                let shuffled = if thread == 0 { 50 } else { thread - 1 };
                assert_eq!(rest, shuffled + (5 << 16) + 50 * 256);
            } else {
                assert_eq!((ballot, rest), (0, 99 + 1000 * 256));
            }
        }
    }
}

#[test]
fn later_targets_need_masks() {
    for (header, is_known) in [
        (".version 6.4\n.target sm_70\n", false),
        (".version 8.0\n.target sm_90a\n", false),
        (".version 8.0\n.target sm_62\n", true),
        (LAST_OLD_HEADER, true),
    ] {
        for instruction in [
            "vote.ballot.b32 %r1, %p1;",
            "shfl.down.b32 %r1, %r2, 1, 31;",
        ] {
            let text = format!(
                "{header}.entry k() {{ .reg .b32 %r<9>; .reg .pred %p<9>; {instruction} ret; }}"
            );
            match Module::parse(&text) {
                Ok(module) => assert!(is_known && module.unsupported().is_empty(), "{text}"),
                Err(error) => {
                    assert!(!is_known, "{text}: {error}");
                    assert!(error.to_string().contains("needs `.sync`"), "{error}");
                }
            }
        }
    }
}

#[test]
fn linkage_may_be_hidden() {
    let text = format!(
        "{HEADER}.hidden .global .u32 x;\n.hidden .func f() {{ ret; }}\n\
         .visible .entry k(.hidden .param .u64 buffer) {{ ret; }}\n"
    );
    Module::parse(&text).unwrap();
}

#[test]
fn environment_registers_are_zero() {
    let body = kernel(
        "mov.b32 %r1, %envreg1;
	add.u32 %r1, %r1, %envreg31;
	cvt.u64.u32 %rd1, %r1;
	add.u64 %rd1, %rd1, 6;
	st.global.u64 [%slot], %rd1;",
    );
    assert_eq!(words(&body, 1), [6]);
}

#[test]
fn moves_of_vectors() {
    let body = kernel(
        ".reg .v4 .u16 %v;
	.reg .b8 %b<4>;
	cvt.u16.u32 %h0, %me;
	mov.u16 %h1, 2; mov.u16 %h2, 3; mov.u16 %h3, 4;
	mov.v4.u16 %v, {%h1, %h2, %h3, %h0};
	mov.v2.u16 {%h1, %h2}, {%h2, %h1};
	mov.b64 %rd1, {%v.x, %v.y, %v.w, %h1};
	mov.b64 {%h4, %h5, %h6, %h7}, %rd1;
	mov.b32 %r1, {%h7, %h4};
	mov.b32 {%b0, %b1, %b2, %b3}, %r1;
	mov.b32 %r2, {%b2, %b3, %b0, %b1};
	mov.b16 %h8, {%b2, %b0};
	cvt.u32.u16 %r3, %h8;
	shl.b32 %r3, %r3, 8;
	add.u32 %r2, %r2, %r3;
	mov.b64 %rd2, {%r1, %r2};
	add.u64 %slot, %slot, 0;
	st.global.u64 [%slot], %rd2;",
    );
    // %h1 is 3 after the exchange, %v.x is 2.
    let (r1, swapped, h8) = (0x0002_0003, 0x0003_0002, 0x0302);
    let expected = r1 | (swapped + (h8 << 8)) << 32;
    assert_eq!(words(&body, 1), [expected]);
}

#[test]
fn elements_of_arrays_have_addresses() {
    let body = kernel(
        ".shared .align 4 .u32 first;
	.shared .align 4 .u32 numbers[10];
	.shared .align 4 .u32 table[4][5];
	.shared .align 16 .v4 .f32 vectors[4];
	.local .align 4 .b8 bytes[8];
	mov.u64 %rd1, numbers[3];
	mov.u64 %rd2, numbers;
	sub.u64 %rd1, %rd1, %rd2;
	mov.u64 %rd3, table[7];
	mov.u64 %rd4, table;
	sub.u64 %rd3, %rd3, %rd4;
	mad.lo.u64 %rd1, %rd3, 256, %rd1;
	mov.u64 %rd3, vectors[2] + 1;
	mov.u64 %rd4, vectors;
	sub.u64 %rd3, %rd3, %rd4;
	mad.lo.u64 %rd1, %rd3, 65536, %rd1;
	mov.u64 %rd3, bytes[5];
	mov.u64 %rd4, bytes;
	sub.u64 %rd3, %rd3, %rd4;
	mad.lo.u64 %rd1, %rd3, 16777216, %rd1;
	st.shared.u32 [numbers + 12], 77;
	ld.shared.u32 %r1, numbers[3];
	sub.u32 %r1, %r1, 77;
	cvt.u64.u32 %rd5, %r1;
	add.u64 %rd1, %rd1, %rd5;
	st.global.u64 [%slot], %rd1;",
    );
    assert_eq!(words(&body, 1), [12 | 28 << 8 | 9 << 16 | 5 << 24]);
    let scalar =
        format!("{HEADER}.global .u32 x;\n.entry k() {{ .reg .b64 %d; mov.u64 %d, x[1]; ret; }}");
    assert!(error(&scalar).contains("`x` is not an array"));
}

#[test]
fn operands_may_be_sums() {
    let body = kernel(
        "cvt.u16.u32 %h1, %me;
	add.u32 %r1, %me + 1, %me-2;
	setp.eq.u32 %p1, %me, 4;
	@%p1 add.u32 %r1, %r1 + 1000, 3 + 4;
	cvt.u64.u32 %rd1, %r1;
	st.global.u64 [%slot], %rd1 + 0x10000;
	cvt.u32.u16 %r2, %h1 + 0xffff;
	@%p1 bra LAST;
	ret;
LAST:
	st.global.u32 [%slot + 4], %r2 + 1;",
    );
    let found = words(&body, 8);
    assert_eq!(found[2], 0x10003);
    assert_eq!(found[4], (7 + 1007 + 0x10000) | 4 << 32);
    let text = format!("{HEADER}.entry k() {{ .reg .f32 %f<3>; add.f32 %f1, %f2 + 1, %f2; ret; }}");
    assert!(error(&text).contains("cannot be added"));
    let text = format!("{HEADER}.entry k() {{ .reg .b32 %r<3>; add.u32 %r1 + 1, %r2, %r2; ret; }}");
    assert!(error(&text).contains("a sum cannot be a destination"));
}

/// The first 12 bytes of a buffer of 12, by a vector of 16.
#[test]
fn bytes_that_do_not_matter_are_not_read() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out)
{{
	.reg .b32 %r<5>;
	.reg .b64 %in, %out, %x, %y;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	.pragma \"nounroll\", \"used_bytes_mask 0x0f0f\";
	ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%in];
	mad.lo.u32 %r1, %r3, 256, %r1;
	st.global.u32 [%out], %r1;
	.pragma \"used_bytes_mask 255\";
	ld.global.v2.b64 {{%in, %y}}, [%in];
	st.global.u64 [%out + 8], %in;
	ret;
}}
"
    );
    let run = |text: &str| {
        let bench = Bench::new(text);
        let (input, out) = (bench.upload(&[1_u32, 2, 3], "in"), bench.zeros(4, "out"));
        bench.call("k").arg(input).arg(out).run()?;
        Ok::<Vec<u32>, LaunchError>(bench.download(out))
    };
    assert_eq!(run(&text).unwrap(), [1 + 256 * 3, 0, 1, 2]);
    // Without the pragma the fourth element is reported missing.
    assert!(run(&text.replace(", \"used_bytes_mask 0x0f0f\"", "")).is_err());
}

/// A warp loads vectors of four words by `load`, after `pragma`, from a buffer.
fn load_vectors(pragma: &str, load: &str, n_bytes: u64) -> Result<(Counts, Vec<u32>), String> {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out)
{{
	.reg .b32 %r<6>;
	.reg .b64 %in, %out;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mov.u32 %r5, %tid.x;
	mad.wide.u32 %in, %r5, 16, %in;
	mad.wide.u32 %out, %r5, 16, %out;
	mov.u32 %r4, 99;
	{pragma}
	{load}
	st.global.v4.u32 [%out], {{%r1, %r2, %r3, %r4}};
	ret;
}}"
    );
    let bench = Bench::new(&text);
    let device = &bench.device;
    let input = device.alloc(n_bytes, "in").unwrap();
    // Three words of each vector; the fourth is unused.
    for word in (0..n_bytes / 4).filter(|word| word % 4 != 3) {
        let value = (word as u32).to_le_bytes();
        device.write(input + 4 * word, &value).unwrap();
    }
    let out = bench.zeros::<u32>(128, "out");
    let call = bench.call("k").block(32).check(true);
    let report = call.arg(input).arg(out).run().map_err(|e| e.to_string())?;
    Ok((report.counts, bench.download(out)))
}

/// Three words of each vector, the last one's fourth past the end.
const THREE_WORDS: &str = ".pragma \"used_bytes_mask 0xfff\";";

#[test]
fn bytes_that_do_not_matter_are_counted_as_one_request() {
    for load in [
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];",
        "ld.v4.u32 {%r1, %r2, %r3, %r4}, [%in];",
    ] {
        let (counts, words) = load_vectors(THREE_WORDS, load, 16 * 32 - 4).unwrap();
        let found = (counts.global_load_requests, counts.global_load_sectors);
        assert_eq!(found, (1, 16), "{load}");
        assert_eq!(counts.global_load_bytes, 512);
        let expected = |i: u32| if i % 4 == 3 { 0 } else { i };
        assert_eq!(words, (0..128).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn bytes_that_matter_are_checked() {
    let load = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];";
    load_vectors("", load, 512).expect("the fourth words are only copied");
    let used = format!("{load} add.u32 %r4, %r4, 1;");
    let used = load_vectors("", &used, 512).unwrap_err();
    assert!(used.contains("read of unwritten memory"), "{used}");
    let cut = load_vectors(THREE_WORDS, load, 16 * 32 - 8).unwrap_err();
    says(&cut, &["load of 4 bytes", "thread (31, 0, 0)"]);
    // The vector has to be aligned as a whole, even if the part that matters is.
    let odd = load.replace("%in]", "%in + 4]");
    let odd = load_vectors(THREE_WORDS, &odd, 1024).unwrap_err();
    assert!(odd.contains("misaligned") && odd.contains("16"), "{odd}");
}

#[test]
fn comparisons_of_halves_give_masks() {
    let body = kernel(
        "mov.b32 %r1, 0x7e003c00; // NaN, 1
	mov.b32 %r2, 0x3c004000; // 1, 2
	set.gtu.u32.f16x2 %r3, %r1, %r2;
	set.lt.s32.f16x2 %r4, %r1, %r2;
	mov.b64 %rd1, {%r3, %r4};
	st.global.u64 [%buf], %rd1;
	setp.eq.u32 %p1, 0, 0;
	set.leu.and.f16x2.f16x2 %r5, %r1, %r2, !%p1;
	set.leu.and.f16x2.f16x2 %r6, %r1, %r2, %p1;
	mov.b64 %rd1, {%r5, %r6};
	st.global.u64 [%buf + 8], %rd1;
	mov.b32 %r1, 0x7fc03f80;
	mov.b32 %r2, 0x3f804000;
	set.neu.u32.bf16x2 %r3, %r1, %r2;
	set.num.bf16x2.bf16x2 %r4, %r1, %r2;
	mov.b64 %rd1, {%r3, %r4};
	st.global.u64 [%buf + 16], %rd1;",
    );
    assert_eq!(
        words(&body, 3),
        [
            0x0000_ffff_ffff_0000,
            0x3c00_3c00_0000_0000,
            0x0000_3f80_ffff_ffff
        ]
    );
}

/// A generic address works as well as a shared one.
#[test]
fn matrices_are_loaded_by_generic_addresses() {
    let body = kernel(
        ".shared .align 128 .b8 tile[512];
	mov.u64 %rd1, tile;
	mad.wide.u32 %rd2, %me, 4, %rd1;
	st.shared.u32 [%rd2], %me;
	bar.warp.sync -1;
	cvta.shared.u64 %rd3, %rd1;
	mad.wide.u32 %rd3, %me, 16, %rd3;
	ldmatrix.sync.aligned.m8n8.x1.b16 %r1, [%rd3];
	add.u32 %r1, %r1, 5;
	stmatrix.sync.aligned.m8n8.x1.b16 [%rd3 + 128], %r1;
	ld.shared.u32 %r2, [%rd2 + 128];
	cvt.u64.u32 %rd4, %r2;
	st.global.u64 [%slot], %rd4;",
    );
    let expected: Vec<u64> = (5..37).collect();
    assert_eq!(words(&body, 32), expected);
}

/// Before PTX 6.3 `.aligned` is implied.
#[test]
fn matrices_of_old_ptx_need_not_say_aligned() {
    let text = |version: &str| {
        format!(
            ".version {version}\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p)\n{{\n\
             .reg .b32 %r<9>;\n.reg .b64 %d;\nld.param.u64 %d, [p];\n\
             wmma.load.a.sync.row.m16n16k16.f16 {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}}, [%d], 16;\n\
             ret;\n}}\n"
        )
    };
    assert_eq!(unsupported(&text("6.0")), None);
    assert_eq!(unsupported(&text("6.2")), None);
    let reason = unsupported(&text("6.3")).expect("it is needed");
    assert!(reason.contains(".aligned"), "{reason}");
}

/// Unsupported matrix instructions are reported by name.
#[test]
fn other_matrices_say_what_they_are() {
    let reason = |instruction: &str| {
        let text = format!(
            "{HEADER}.entry k() {{ .reg .b32 %r<20>; .reg .b64 %d<9>; {instruction}; ret; }}"
        );
        unsupported(&text).expect("not known")
    };
    let four = "{%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}";
    let sparse = format!(
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {four}, {four}, {{%r0, %r1, %r2, %r3}}, %r16, 0"
    );
    assert_eq!(
        reason(&sparse),
        "sparse matrices are not simulated: use the dense form"
    );
    let mixed = format!(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32 {four}, {{%r8, %r9}}, {{%r0, %r1, %r2, %r3}}"
    );
    assert!(reason(&mixed).contains(".s32.s8.s4.s32 are not supported"));
    let short = format!(
        "mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {four}, {{%r8, %r9}}, {{%r0, %r1, %r2, %r3}}"
    );
    assert!(reason(&short).contains("not supported in this shape"));
    let registers =
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2, %d4}, {%d3}, {%d4, %d5}";
    assert_eq!(reason(registers), "2 registers for 1 elements");
}

/// Pairs of 6 and 4 bits by definition, since no measured GPU has them.
#[test]
fn the_smallest_floats_are_converted() {
    let body = kernel(
        ".reg .b8 %b<4>;
	.reg .b16 %g;
	mov.f32 %f1, 0f40200000; // 2.5
	mov.f32 %f2, 0fc2c80000; // -100
	cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2;
	cvt.rn.f16x2.e2m1x2 %r1, %b1;
	cvt.rn.satfinite.relu.e3m2x2.f32 %g, %f1, %f2;
	cvt.rn.f16x2.e3m2x2 %r2, %g;
	mov.b64 %rd1, {%r1, %r2};
	st.global.u64 [%buf], %rd1;
	cvt.rn.satfinite.e2m3x2.f32 %g, %f1, %f2;
	cvt.u64.u16 %rd1, %g;
	st.global.u64 [%buf + 8], %rd1;",
    );
    // 2 and -6, 2.5 and 0; 2.5 and -7.5.
    let found = words(&body, 2);
    assert_eq!(found, [0x4100_0000_4000_c600, 0x123f]);
}
