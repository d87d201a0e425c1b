//! Kernels as in a kernel crate, and their PTX, written by hand so that these tests need no device
//! compiler.

use cuda_std::{TensorMap, prelude::*};

/// `y[i] = a * x[i]`.
#[kernel]
pub unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        // SAFETY: `y` is as long as `x`.
        unsafe { *y.add(i) = a * x[i] };
    }
}

/// Adds 1 to each of `n` numbers.
#[kernel(launch_bounds(256))]
pub unsafe fn increment(x: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: `x` has `n` numbers.
        unsafe { *x.add(i as usize) += 1 };
    }
}

/// Each of 32 threads stores and loads `stride` words apart in dynamic shared memory.
#[kernel]
pub unsafe fn strided(out: *mut u32, stride: u32) {
    // Its body is in the PTX below: the host needs only its signature.
    let _ = (out, stride);
}

/// 32 threads copy the 16 words of each map to `out`, with dynamic shared memory between,
/// of which the last thread uses the last word.
#[kernel]
pub unsafe fn read_maps(before: u32, a: &TensorMap, b: &TensorMap, out: *mut u64, last: u32) {
    // As `strided`.
    let _ = (before, a, b, out, last);
}

/// Each block stores its number in the shared memory of the next block of its cluster, and then
/// stores what it finds in its own as number `i` of `out`. In [`CLUSTERS`].
#[kernel]
pub unsafe fn exchange(out: *mut u32) {
    // As above.
    let _ = out;
}

/// 32 threads copy a box of 4 rows of 8 numbers, from row `y` and column `x` on, and store it in
/// `out`. In [`CLUSTERS`].
#[kernel]
pub unsafe fn copy_box(map: &TensorMap, x: i32, y: i32, out: *mut f32) {
    // As above.
    let _ = (map, x, y, out);
}

/// Thread 0 of each block stores the address of the memory in which a cooperative launch's blocks
/// meet, as number `i` of `out`.
#[kernel(cooperative)]
pub unsafe fn meeting_place(out: *mut u64) {
    // As above.
    let _ = out;
}

/// One thread passes a number on from device to device: it waits until `own[0]` is not 0, unless it
/// `starts`, stores one more than `own[1]` as `next[1]`, and sets `next[0]`. If it started, it waits
/// afterwards. In [`DEVICES`].
#[kernel]
pub unsafe fn pass_on(own: *mut u32, next: *mut u32, starts: u32) {
    // As `strided`.
    let _ = (own, next, starts);
}

/// A kernel that no module has.
#[kernel]
pub unsafe fn missing() {}

/// The module.
pub const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

.visible .entry scale(.param .u64 x, .param .u64 n, .param .u64 y, .param .f32 a)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<4>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd1, %r4;
    ld.param.u64 %rd2, [n];
    setp.ge.u64 %p, %rd1, %rd2;
    @%p bra $done;
    ld.param.u64 %rd3, [x];
    ld.param.u64 %rd4, [y];
    ld.param.f32 %f1, [a];
    shl.b64 %rd5, %rd1, 2;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    .loc 1 12 0
    ld.global.f32 %f2, [%rd6];
    mul.f32 %f3, %f1, %f2;
    .loc 1 12 0
    st.global.f32 [%rd7], %f3;
$done:
    ret;
}

.visible .entry increment(.param .u64 x, .param .u32 n)
.maxntid 256, 1, 1
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p bra $done;
    ld.param.u64 %rd1, [x];
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    add.u32 %r7, %r6, 1;
    st.global.u32 [%rd3], %r7;
$done:
    ret;
}

.visible .entry strided(.param .u64 out, .param .u32 stride)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [stride];
    mul.lo.u32 %r3, %r1, %r2;
    shl.b32 %r3, %r3, 2;
    mov.u32 %r4, dynamic;
    add.u32 %r5, %r4, %r3;
    .loc 1 30 0
    st.shared.u32 [%r5], %r1;
    ld.shared.u32 %r6, [%r5];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}

.visible .entry read_maps(
    .param .u32 before,
    .param .align 64 .b8 a[128],
    .param .align 64 .b8 b[128],
    .param .u64 out,
    .param .u32 last
)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    mov.b64 %rd1, a;
    cvta.param.u64 %rd1, %rd1;
    mov.b64 %rd2, b;
    cvta.param.u64 %rd2, %rd2;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, 16;
    @%p mov.b64 %rd1, %rd2;
    and.b32 %r2, %r1, 15;
    mul.wide.u32 %rd3, %r2, 8;
    add.s64 %rd3, %rd1, %rd3;
    ld.u64 %rd4, [%rd3];
    mov.u32 %r4, dynamic;
    ld.param.u32 %r5, [last];
    add.u32 %r4, %r4, %r5;
    setp.ne.u32 %p, %r1, 31;
    @!%p st.shared.u64 [%r4], %rd4;
    @!%p ld.shared.u64 %rd4, [%r4];
    ld.param.u64 %rd5, [out];
    mul.wide.u32 %rd6, %r1, 8;
    add.s64 %rd6, %rd5, %rd6;
    st.global.u64 [%rd6], %rd4;
    ret;
}

.visible .entry meeting_place(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %rd1, {%r2, %r1};
    mov.u32 %r3, %ctaid.x;
    ld.param.u64 %rd2, [out];
    mul.wide.u32 %rd3, %r3, 8;
    add.s64 %rd2, %rd2, %rd3;
    st.global.u64 [%rd2], %rd1;
    ret;
}

.file 1 "crates/lockstep/tests/behaviour/kernels.rs"
"#;

/// A module for devices with clusters, which also have TMA.
pub const CLUSTERS: &str = r#"
.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .u32 word;

.visible .entry exchange(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, %cluster_nctarank;
    mov.u32 %r3, %ctaid.x;
    add.u32 %r1, %r1, 1;
    rem.u32 %r1, %r1, %r2;
    mov.u32 %r4, word;
    mapa.shared::cluster.u32 %r5, %r4, %r1;
    st.shared::cluster.u32 [%r5], %r3;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r6, [word];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r6;
    ret;
}

.shared .align 128 .b8 tile[128];
.shared .align 8 .b64 barrier;

.visible .entry copy_box(
    .param .align 64 .b8 map[128],
    .param .s32 x,
    .param .s32 y,
    .param .u64 out
)
{
    .reg .pred %lead, %done;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %lead, %r1, 0;
    @%lead mbarrier.init.shared::cta.b64 [barrier], 1;
    fence.proxy.async;
    bar.sync 0;
    mov.b64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.s32 %r2, [x];
    ld.param.s32 %r3, [y];
    mov.u32 %r4, tile;
    mov.u32 %r5, barrier;
    @%lead mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;
    @%lead cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r2, %r3}], [%r5];
$again:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [%r5], 0;
    @!%done bra $again;
    shl.b32 %r6, %r1, 2;
    add.u32 %r4, %r4, %r6;
    ld.shared.u32 %r7, [%r4];
    ld.param.u64 %rd2, [out];
    cvt.u64.u32 %rd3, %r6;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r7;
    ret;
}
"#;

/// Its kernel waits for other devices.
pub const DEVICES: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .entry pass_on(.param .u64 own, .param .u64 next, .param .u32 starts)
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [own];
    ld.param.u64 %rd2, [next];
    ld.param.u32 %r1, [starts];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra PASS;
WAIT:
    ld.acquire.sys.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
PASS:
    ld.global.u32 %r3, [%rd1+4];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd2+4], %r3;
    mov.u32 %r4, 1;
    st.release.sys.global.u32 [%rd2], %r4;
    @!%p1 bra END;
COME:
    ld.acquire.sys.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra COME;
END:
    ret;
}
"#;
