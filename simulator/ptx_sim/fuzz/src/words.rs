//! The vocabulary of PTX.

use std::sync::LazyLock;

/// Special registers.
pub static SPECIAL: LazyLock<Vec<&str>> = LazyLock::new(|| {
    words(
        "%tid.x %tid.y %tid.z %tid %ntid.x %ntid.y %ctaid.x %ctaid.z %nctaid.x %nctaid %laneid
         %warpid %nwarpid %smid %nsmid %gridid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge
         %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo %dynamic_smem_size
         %total_smem_size %envreg3 %pm0 %clusterid.x %cluster_ctarank WARP_SZ %aggr_smem_size
         %is_explicit_cluster",
    )
});

/// Numbers at edge cases.
pub static NUMBERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    words(
        "0 1 2 3 4 5 7 8 15 16 17 31 32 33 63 64 65 127 128 255 256 257 511 1023 1024 4095 4096 32767
         32768 65535 65536 524288 524289 16777215 16777216 1048576 2147483647 2147483648 4294967295
         4294967296 4294967297 9223372036854775807 9223372036854775808 18446744073709551615
         18446744073709551616 -1 -2 -4 -8 -128 -32768 -2147483648 -2147483649 -9223372036854775808
         -9223372036854775809 0xff 0xffff 0xfff0 0x7fffffff 0x80000000 0xffffffff 0xfffffffc
         0xffffffffffffffff 0x7fffffffffffffff 0x8000000000000000 0x1000000000000 0x100000000000000
         0f00000000 0f3f800000 0f7f800000 0fff800000 0f7fffffff 0f00000001 0f80000000 0f4f000000
         0f5f000000 0f7f7fffff 0d0000000000000000 0d3ff0000000000000 0d7ff0000000000000
         0d7ff8000000000000 0d0000000000000001 0d43e0000000000000 1.0 -0.5 1e300 1e-400 077 0b101 1U
         0x10U",
    )
});

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Declarations and directives, whole.
pub const LINES: &[&str] = &[
    ".reg .b32 %zr<7>;",
    ".reg .pred %zp;",
    ".reg .v2 .b32 %zv;",
    ".reg .v4 .f32 %zv4;",
    ".reg .b128 %zq<3>;",
    ".shared .align 16 .b8 zs[64];",
    ".shared .b8 zbig[49152];",
    ".local .align 8 .b8 zl[24];",
    ".local .b8 zlong[524288];",
    ".param .b32 zp;",
    ".param .align 16 .b8 zb[48];",
    ".pragma \"nounroll\";",
    ".loc 1 7 3",
    "{",
    "}",
    "LZ:",
    "ret;",
    "exit;",
    "trap;",
    "brkpt;",
    "bra LZ;",
    "bra.uni LZ;",
    "@%p1 bra LZ;",
    "@!%p1 bra LZ;",
    "bar.sync 0;",
    "bar.sync 1, 32;",
    "bar.arrive 2, 64;",
    "barrier.sync 15;",
    "bar.warp.sync 0xffffffff;",
    "membar.gl;",
    "fence.sc.gpu;",
    "cp.async.commit_group;",
    "cp.async.wait_all;",
    "cp.async.wait_group 0;",
    "nanosleep.u32 20;",
    ".global .align 8 .b64 zg[4] = {1, 2, zg, 4};",
    ".const .f32 zc[3] = {0f3f800000, 1.5, -2};",
    ".extern .shared .align 16 .b8 zdyn[];",
    "cvta.local.u64 %rd1, %rd1;",
    "cvta.to.global.u64 %d1, %d1;",
    "cvta.local.u64 %d1, %d1;",
    "cvta.shared.u64 %rd2, %rd2;",
    "mov.u64 %d1, 0x200000000010;",
    "mov.u64 %rd1, 0x200000000010;",
    "TZ: .branchtargets LZ, LZ;",
    "brx.idx %r1, TZ;",
    ".maxntid 64, 1, 1",
    ".reqntid 32",
    ".minnctapersm 2",
    ".visible .entry zk() { ret; }",
    ".func zf() { ret; }",
    "call zf, ();",
    "call.uni zf;",
    ".func (.reg .b32 %o) zg2 (.reg .b32 %i) { mov.b32 %o, %i; call (%o), zg2, (%o); ret; }",
    ".alias zf, f;",
    ".weak .func zw();",
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);",
];
