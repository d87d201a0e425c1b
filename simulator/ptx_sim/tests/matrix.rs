//! Tensor-core tiles and asynchronous copies in isolation: a few instructions each.

use common::Bench;
use ptx_sim::{LaunchError, Report};

/// A kernel over one warp: `body` has `%lane`, `%in`, `%out` (global), and
/// `%tile`, the address of 4096 bytes of shared memory in its space. Shared
/// memory is filled from `in`, 64 bytes per lane, before it.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6
.target sm_90
.address_size 64
.shared .align 128 .b8 memory[4096];
.visible .entry k(.param .u64 p_in, .param .u64 p_out)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<32>, %lane, %tile, %a;
    .reg .b64 %rd<16>, %in, %out;
    .reg .b32 %x<8>;
    ld.param.u64 %in, [p_in];
    cvta.to.global.u64 %in, %in;
    ld.param.u64 %out, [p_out];
    cvta.to.global.u64 %out, %out;
    mov.u32 %lane, %laneid;
    mov.u32 %tile, memory;
    shl.b32 %r0, %lane, 4;
    cvt.u64.u32 %rd0, %r0;
    add.s64 %rd1, %in, %rd0;
    ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%rd1];
    add.u32 %r1, %tile, %r0;
    st.shared.v4.b32 [%r1], {{%x0, %x1, %x2, %x3}};
    bar.warp.sync -1;
{body}
    ret;
}}
"
    )
}

struct Run {
    out: Vec<u32>,
    report: Report,
}

/// Runs `k` on 32 threads with 512 bytes of distinct 16-bit numbers.
fn run(body: &str) -> Result<Run, LaunchError> {
    let bench = Bench::new(&kernel(body));
    let source = bench.upload(&std::array::from_fn::<u16, 256, _>(|i| i as u16), "in");
    let target = bench.zeros::<u32>(1024, "out");
    let call = bench.call("k").block(32).arg(source).arg(target);
    let report = call.run()?;
    let out = bench.download(target);
    Ok(Run { out, report })
}

/// Writes `%x0` to `%x3` to `out[register][lane]`.
const WRITE_FOUR: &str = "
    shl.b32 %r20, %lane, 2;
    cvt.u64.u32 %rd8, %r20;
    add.s64 %rd9, %out, %rd8;
    st.global.b32 [%rd9], %x0;
    st.global.b32 [%rd9+128], %x1;
    st.global.b32 [%rd9+256], %x2;
    st.global.b32 [%rd9+384], %x3;
";

/// 16-bit element of four 8×8 matrices that lie one after the other.
fn element(matrix: u32, row: u32, column: u32) -> u32 {
    matrix * 64 + row * 8 + column
}

#[test]
fn ldmatrix_deals_out_rows_or_columns() {
    for trans in ["", ".trans"] {
        let body = format!(
            "shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile;
             ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%x0, %x1, %x2, %x3}}, [%a];{WRITE_FOUR}"
        );
        let run = run(&body).expect("it runs");
        for (register, lane) in (0..4).flat_map(|r| (0..32u32).map(move |lane| (r, lane))) {
            let (line, place) = (lane / 4, lane % 4 * 2);
            let [low, high] = [place, place + 1].map(|place| match trans {
                "" => element(register, line, place),
                _ => element(register, place, line),
            });
            let found = run.out[(register * 32 + lane) as usize];
            assert_eq!(found, low | high << 16, "{trans}");
        }
        let counts = run.report.counts;
        let found = (counts.ldmatrix_requests, counts.ldmatrix_wavefronts);
        assert_eq!((found, counts.ldmatrix_conflicts), ((1, 4), 0));
    }
}

/// Lanes beyond the matrices may hold any address.
#[test]
fn ldmatrix_looks_only_at_the_addresses_it_needs() {
    let body = format!(
        "shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile;
         setp.ge.u32 %p1, %lane, 16;
         @%p1 mov.u32 %a, 3;
         mov.u32 %x2, 0; mov.u32 %x3, 0;
         ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {{%x0, %x1}}, [%a];{WRITE_FOUR}"
    );
    assert_eq!(
        run(&body).expect("it runs").out[31],
        element(0, 7, 6) | element(0, 7, 7) << 16
    );
}

#[test]
fn rows_that_cannot_be_loaded_are_faults() {
    for (what, address, part) in [
        (
            "not aligned",
            "shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile; add.u32 %a, %a, 8;",
            "aligned",
        ),
        (
            "outside",
            "shl.b32 %a, %lane, 10; add.u32 %a, %a, %tile;",
            "memory",
        ),
        (
            "lane 5 has ended",
            "setp.eq.u32 %p1, %lane, 5; @%p1 exit; mov.u32 %a, %tile;",
            "all 32 lanes",
        ),
    ] {
        let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x0}, [%a];";
        let error = run(&format!("{address}\n{load}")).err().expect(what);
        let text = error.to_string();
        assert!(text.contains(part), "{what}: {text}");
        let is_fault = matches!(error, LaunchError::Fault(_));
        assert!(is_fault || part == "all 32 lanes", "{what}: {text}");
    }
}

#[test]
fn stmatrix_is_ldmatrix_the_other_way_round() {
    for (trans, name) in [("", "rows"), (".trans", "columns")] {
        // To and fro through other memory: what comes back is what was there.
        let body = format!(
            "shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile;
             ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%x0, %x1, %x2, %x3}}, [%a];
             stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%a+1024], {{%x0, %x1, %x2, %x3}};
             bar.warp.sync -1;
             ld.shared.v4.b32 {{%x0, %x1, %x2, %x3}}, [%a+1024];
             shl.b32 %r20, %lane, 4; cvt.u64.u32 %rd8, %r20; add.s64 %rd9, %out, %rd8;
             st.global.v4.b32 [%rd9], {{%x0, %x1, %x2, %x3}};"
        );
        let run = run(&body).expect("it runs");
        let expected: Vec<u32> = (0..128).map(|i| (2 * i) | (2 * i + 1) << 16).collect();
        assert_eq!(run.out[..128], expected, "{name}");
        assert_eq!(run.report.counts.stmatrix_requests, 1);
        assert_eq!(run.report.counts.stmatrix_conflicts, 0);
    }
}

/// One lane's copy of 16 bytes, read before and after the wait.
#[test]
fn asynchronous_copies_arrive_at_the_wait() {
    let copy = |wait: &str| {
        format!(
            "shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile; add.u32 %a, %a, 2048;
             st.shared.b32 [%a], 7;
             cp.async.cg.shared.global [%a], [%rd1], 16;
             cp.async.commit_group;
             {wait}
             ld.shared.b32 %x0, [%a];
             mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;{WRITE_FOUR}"
        )
    };
    let first = |wait: &str| run(&copy(wait)).expect("it runs").out[0];
    let arrived = 1 << 16;
    assert_eq!(first(""), 7);
    assert_eq!(first("cp.async.wait_group 1;"), 7);
    assert_eq!(first("cp.async.wait_group 0;"), arrived);
    assert_eq!(first("cp.async.wait_all;"), arrived);
    // Those of the 4-byte store, 16 bytes apart; the copy past the cache has none.
    let counts = run(&copy("")).expect("it runs").report.counts;
    assert_eq!(counts.shared_store_conflicts, 3);
    // The kernel's own load, and the copy's source.
    assert_eq!(
        (counts.global_load_requests, counts.global_load_sectors),
        (2, 32)
    );
}

#[test]
fn lanes_that_fill_with_zeros_fetch_nothing() {
    let copies = |size: &str| {
        let body = format!(
            "shl.b32 %a, %lane, 2; add.u32 %a, %a, %tile; add.u32 %a, %a, 2048;
             shl.b32 %r2, %lane, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %in, %rd2;
             {size}
             cp.async.ca.shared.global [%a], [%rd3], 4, %r2;
             cp.async.wait_all;
             mov.u32 %x0, 0; mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;{WRITE_FOUR}"
        );
        let counts = run(&body).expect("it runs").report.counts;
        assert_eq!(
            (counts.async_copy_requests, counts.async_copy_conflicts),
            (1, 0)
        );
        // Those of the prologue.
        assert_eq!(counts.shared_store_requests, 1);
        (counts.global_load_requests, counts.global_load_sectors)
    };
    let (requests, sectors) = copies("mov.u32 %r2, 0;");
    assert_eq!(copies("mov.u32 %r2, 4;"), (requests + 1, sectors + 4));
    // The first eight lanes.
    let some =
        "shr.u32 %r2, %lane, 3; min.u32 %r2, %r2, 1; sub.u32 %r2, 1, %r2; shl.b32 %r2, %r2, 2;";
    assert_eq!(copies(some), (requests + 1, sectors + 1));
}

#[test]
fn a_copy_that_ignores_its_source_fills_with_zeros() {
    let filled = |ignores: &str| {
        let body = format!(
            "shl.b32 %a, %lane, 2; add.u32 %a, %a, %tile; add.u32 %a, %a, 2048;
             shl.b32 %r2, %lane, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %in, %rd2;
             setp.lt.u32 %p1, %lane, 8; @!%p1 mov.b64 %rd3, 0;
             st.shared.b32 [%a], 7;
             cp.async.ca.shared.global [%a], [%rd3], 4, {ignores};
             cp.async.wait_all;
             ld.shared.b32 %x0, [%a];
             mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;{WRITE_FOUR}"
        );
        run(&body).map(|run| run.out)
    };
    // The lanes that copy are the first eight; what the others point to is not touched.
    let out = filled("!%p1").expect("it runs");
    assert_eq!(out[1..3], [2 | 3 << 16, 4 | 5 << 16]);
    assert_eq!(out[7], 14 | 15 << 16);
    assert_eq!(out[8..32], [0; 24]);
    assert!(filled("%p1").is_err(), "the others read at address 0");
}

#[test]
fn groups_arrive_in_order() {
    let body = format!(
        "shl.b32 %a, %lane, 2; add.u32 %a, %a, %tile; add.u32 %a, %a, 1024;
         shl.b32 %r2, %lane, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd3, %in, %rd2;
         st.shared.b32 [%a], 7; st.shared.b32 [%a+128], 7; st.shared.b32 [%a+256], 7;
         cp.async.ca.shared.global [%a], [%rd3], 4;
         cp.async.commit_group;
         cp.async.ca.shared.global.L2::128B [%a+128], [%rd3+128], 4;
         cp.async.commit_group;
         cp.async.ca.shared.global [%a+256], [%rd3+256], 4, 2;
         cp.async.wait_group 1;
         ld.shared.b32 %x0, [%a]; ld.shared.b32 %x1, [%a+128]; ld.shared.b32 %x2, [%a+256];
         cp.async.wait_all;
         ld.shared.b32 %x3, [%a+256];{WRITE_FOUR}"
    );
    let out = run(&body).expect("it runs").out;
    // Lane 3: elements 6 and 7 of each row of 64; of the last copy, 2 bytes.
    assert_eq!(out[3], 6 | 7 << 16);
    assert_eq!(out[32 + 3], 7, "the younger group is in flight");
    assert_eq!(out[64 + 3], 7, "the open group is in flight");
    assert_eq!(out[96 + 3], 128 + 6, "half of it, the rest zero");
}

#[test]
fn a_copy_from_outside_is_a_fault() {
    let error = run("
        cp.async.ca.shared.global [%tile], [%rd1+512], 4;")
    .err()
    .expect("a fault");
    assert!(error.to_string().contains("`in`"), "{error}");
}

/// A·B with A the identity, k8: D's map against B's.
#[test]
fn mma_multiplies_by_the_identity() {
    // Lane l: A's register 0 holds row l/4, columns 2(l mod 4) and the next.
    let body = format!(
        "mov.b32 %x4, 0;
         and.b32 %r2, %lane, 3; shl.b32 %r2, %r2, 1; shr.u32 %r3, %lane, 2;
         setp.eq.u32 %p1, %r2, %r3;
         @%p1 mov.b32 %x4, 0x00003C00;
         add.u32 %r2, %r2, 1;
         setp.eq.u32 %p1, %r2, %r3;
         @%p1 mov.b32 %x4, 0x3C000000;
         mov.b32 %x5, 0;
         shl.b32 %a, %lane, 4; add.u32 %a, %a, %tile;
         ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%x6}}, [%a];
         mov.b32 %x0, 0; mov.b32 %x1, 0;
         mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {{%x0, %x1}}, {{%x4, %x5}}, {{%x6}}, {{%x0, %x1}};
         mov.b32 %x2, 0; mov.b32 %x3, 0;{WRITE_FOUR}"
    );
    let out = run(&body).expect("it runs").out;
    // B was loaded transposed, so it is the matrix as it lies: element 8·row + column.
    for lane in 0..32u32 {
        let pair =
            element(0, lane / 4, lane % 4 * 2) | element(0, lane / 4, lane % 4 * 2 + 1) << 16;
        assert_eq!(out[lane as usize], pair);
        assert_eq!(out[32 + lane as usize], 0);
    }
}
