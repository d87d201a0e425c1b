//! Sums in flight, copies of them, and registers that warps give to each other.

use common::Bench;

/// What comes before every body: A (64×16) and B (16×8) of ones in shared memory, their
/// descriptors in `%a` and `%b`, the thread's own 16 bytes of the result at `%own`.
const TILES: &str = "
    mov.u32 %t, %tid.x;
    mov.u32 %at, tile;
    ld.param.u64 %own, [to];
    mad.wide.u32 %own, %t, 16, %own;
    cvt.u64.u32 %a, %at;
    shr.u64 %a, %a, 4;
    add.u64 %a, %a, 0x1000080000;
    add.u64 %b, %a, 128;
    mov.b32 %ones, 0x3c003c00;
    mad.lo.u32 %at, %t, 16, %at;
    st.shared.v4.b32 [%at], {%ones, %ones, %ones, %ones};
    setp.gt.u32 %p, %t, 15;
    @%p bra STORED;
    st.shared.v4.b32 [%at+2048], {%ones, %ones, %ones, %ones};
STORED:
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %never, 0, 0;
    setp.eq.u32 %always, 0, 0;
    wgmma.fence.sync.aligned;
";

/// Adds 16 to four sums, the registers from this one on.
fn product(first: usize, keeps: bool) -> String {
    let keeps = if keeps { "%always" } else { "%never" };
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + i);
    format!(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f{a}, %f{b}, %f{c}, %f{d}}}, %a, %b, \
         {keeps}, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
    )
}

fn copy(to: usize, from: usize) -> String {
    let copies = (0..4).map(|i| format!("mov.f32 %f{}, %f{};\n", to + i, from + i));
    copies.collect()
}

fn store(first: usize) -> String {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| first + i);
    format!("st.global.v4.f32 [%own], {{%f{a}, %f{b}, %f{c}, %f{d}}};\n")
}

const WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";

/// Runs a body with this many threads; gives the results.
fn run(limits: &str, n_threads: u32, body: &str, check: bool) -> Result<Vec<f32>, String> {
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 tile[8192];\n\
         .visible .entry k(.param .u64 to) {limits} {{\n.reg .pred %p, %never, %always;\n\
         .reg .b32 %t, %at, %ones;\n.reg .f32 %f<12>;\n.reg .b64 %a, %b, %own;\n{body}\nret;\n}}"
    );
    let bench = Bench::new(&text);
    let to = bench.zeros::<f32>(4 * n_threads as usize, "to");
    let call = bench.call("k").block(n_threads).arg(to).check(check);
    call.run().map_err(|e| e.to_string())?;
    Ok(bench.download(to))
}

fn sums(body: &str, check: bool) -> Vec<f32> {
    run("", 128, &format!("{TILES}{body}"), check).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn sums_come_at_the_wait() {
    let early = [
        "mov.f32 %f0, 0f3F800000;\nwgmma.fence.sync.aligned;\n",
        &product(0, true),
        &store(0),
        WAIT,
    ];
    let early = sums(&early.concat(), false);
    // The first sum was 1, the others nothing yet.
    assert_eq!(early[..2], [1.0, 0.0]);
    let late = sums(&[&product(0, false), WAIT, &store(0)].concat(), true);
    assert_eq!(late, [16.0; 512]);
}

/// As compilers do, assuming that the assembler merges the registers.
#[test]
fn sums_in_flight_may_be_copied() {
    let body = [
        product(0, false),
        copy(4, 0),
        product(4, true),
        copy(0, 4),
        product(0, true),
        copy(8, 0),
        "mov.f32 %f0, 0f00000000;\n".to_owned(),
        WAIT.to_owned(),
        store(8),
    ];
    assert_eq!(sums(&body.concat(), true), [48.0; 512]);
    assert_eq!(sums(&body.concat(), false), [48.0; 512]);
}

/// A register that gets another value keeps it: its sum has moved elsewhere.
#[test]
fn a_copied_sum_leaves_its_register_free() {
    let body = [
        product(0, false),
        copy(4, 0),
        "mov.f32 %f1, 0f40000000;\n".to_owned(),
        WAIT.to_owned(),
        store(0),
    ];
    let found = sums(&body.concat(), true);
    assert_eq!(found[..4], [16.0, 2.0, 16.0, 16.0]);
}

#[test]
fn only_what_is_waited_for_is_there() {
    let two = [product(0, false), product(4, false)].concat();
    let wait = "wgmma.wait_group.sync.aligned 1;\n";
    let first = sums(&[&two, wait, &store(0), WAIT].concat(), true);
    assert_eq!(first, [16.0; 512]);
    let second = [TILES, &two, wait, &store(4), WAIT].concat();
    let error = run("", 128, &second, true).unwrap_err();
    assert!(error.starts_with("wgmma in flight"), "{error}");
}

/// One thread of the four warps tells another warp that the tile is free, by an mbarrier.
#[test]
fn one_thread_may_free_the_tile_for_all() {
    let kernel = |order: [&str; 2]| {
        let [first, second] = order;
        format!(
            "mov.u32 %t, %tid.x;\nmov.u32 %at, tile;\nsetp.eq.u32 %p, %t, 0;\n\
             @%p mbarrier.init.shared.b64 [%at+4096], 1;\nbar.sync 0;\n\
             setp.gt.u32 %p, %t, 127;\n@%p bra WRITER;\n{}{}{first}{second}{}ret;\n\
             WRITER:\nmbarrier.try_wait.parity.shared.b64 %p, [%at+4096], 0;\n@!%p bra WRITER;\n\
             st.shared.u32 [%at], %t;\n",
            TILES.replace("bar.sync 0;", "bar.sync 1, 128;"),
            product(0, false),
            store(0)
        )
    };
    let frees = "mov.u32 %at, tile;\nsetp.eq.u32 %p, %t, 77;\n\
                 @%p mbarrier.arrive.shared.b64 _, [%at+4096];\n";
    let right = run("", 160, &kernel([WAIT, frees]), true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(right[..512], [16.0; 512]);
    let error = run("", 160, &kernel([frees, WAIT]), true).unwrap_err();
    assert!(
        error.contains("product of a warpgroup"),
        "freed before the wait: {error}"
    );
}

#[test]
fn registers_go_from_warpgroup_to_warpgroup() {
    let kernel = |given: u32| {
        format!(
            "mov.u32 %t, %tid.x;\nsetp.gt.u32 %p, %t, 255;\n@%p bra GIVES;\n\
             setmaxnreg.inc.sync.aligned.u32 232;\nret;\n\
             GIVES:\nsetmaxnreg.dec.sync.aligned.u32 {given};\n"
        )
    };
    let limits = ".maxntid 384, 1, 1";
    run(limits, 384, &kernel(40), true).unwrap_or_else(|e| panic!("{e}"));
    let error = run(limits, 384, &kernel(48), true).unwrap_err();
    assert!(error.contains("more registers per thread"), "{error}");
}
