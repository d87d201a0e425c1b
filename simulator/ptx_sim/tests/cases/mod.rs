//! PTX that no one would write, or only some compilers: modules on which a simulator may go
//! wrong. None may harm the process, none may run forever, and what a GPU executes is
//! executed.

use common::Bench;
use ptx_sim::{Dim, LaunchError, LaunchOptions, Module};

/// Fuel of a launch: far more than any of these needs.
const FUEL: u64 = 1 << 20;

/// Runs kernel `name` of a module on `n_words` words; gives the words.
fn run(
    text: &str,
    name: &str,
    block: impl Into<Dim>,
    options: LaunchOptions,
) -> Result<Vec<u32>, LaunchError> {
    let bench = Bench::new(text);
    let out = bench.zeros::<u32>(256, "out");
    let module = bench.loaded.module();
    let has_params = module
        .kernels()
        .any(|k| k.name == name && !k.params.is_empty());
    let options = LaunchOptions {
        fuel: Some(FUEL),
        ..options
    };
    let call = bench.call(name).block(block).options(options);
    let call = if has_params { call.arg(out) } else { call };
    call.run()?;
    Ok(bench.download(out))
}

/// A text of `modules.ptx`, where each stands after a line `//=== NAME`.
fn ptx(name: &str) -> &'static str {
    let texts = include_str!("modules.ptx").split("//=== ");
    let mut named = texts.filter_map(|text| text.split_once('\n'));
    let (_, text) = named.find(|text| text.0 == name).expect(name);
    text
}

fn plain() -> LaunchOptions {
    LaunchOptions::default()
}

fn checked() -> LaunchOptions {
    LaunchOptions {
        check: true,
        ..LaunchOptions::default()
    }
}

#[test]
fn operands_of_another_width_are_refused() {
    for text in [
        ptx("conversion_from_a_predicate"),
        ptx("selection_of_predicates_into_words"),
    ] {
        let error = Module::parse(text).map(drop).unwrap_err();
        assert_eq!(error.line, 4, "{error}");
    }
}

#[test]
fn calls_that_pass_what_the_function_does_not_take_end_with_a_report() {
    let module = ptx("pointer_calls");
    for (name, reason) in [
        (
            "too_large",
            "its argument 1 has 4 bytes, but the call's has 4096",
        ),
        ("too_many", "it takes 1 argument, but the call has 2"),
        ("too_few", "it takes 1 argument, but the call has 0"),
        ("no_result", "it returns 0 results, but the call has 1"),
        (
            "large_result",
            "its result 1 has 4 bytes, but the call's has 4096",
        ),
        ("kernel", "it is a kernel"),
    ] {
        let error = run(module, name, 40, plain()).unwrap_err();
        assert!(matches!(error, LaunchError::Fault(_)), "{name}: {error}");
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
    // A number is as wide as the parameter.
    let out = run(module, "number", 1, plain()).expect("runs");
    assert_eq!(out[..2], [7, 9]);
}

#[test]
fn calls_by_name_of_what_cannot_be_called_are_reported() {
    for name in ["by_name", "with_argument", "into_a_number"] {
        let error = run(ptx("named_calls"), name, 1, plain()).unwrap_err();
        let unsupported = matches!(error, LaunchError::Unsupported { .. });
        assert!(unsupported, "{name}: {error}");
    }
}

#[test]
fn printing_gives_a_result_of_any_size() {
    for n in [3, 4, 64] {
        let text = ptx("large_result_of_vprintf").replace("[64]", &format!("[{n}]"));
        run(&text, "k", 32, plain()).expect("runs");
        run(&text, "k", 32, checked()).expect("runs");
    }
}

/// Instructions that take any address, with addresses of local memory and parameters, which
/// few of them support.
#[test]
fn addresses_of_every_space_end_in_a_result_or_a_report() {
    let instructions = [
        "ld.b32 %r0, [%d]",
        "ld.v4.b32 {%r0, %r1, %r2, %r3}, [%d]",
        "ld.b8 %r0, [%d]",
        "st.b64 [%d], %d",
        "st.v2.b32 [%d], {%r0, %r1}",
        "atom.add.u32 %r0, [%d], 1",
        "atom.cas.b64 %d, [%d], %d, %d",
        "red.add.f32 [%d], %f0",
        "mbarrier.init.b64 [%d], 1",
        "mbarrier.arrive.b64 _, [%d]",
        "cp.async.ca.shared.global [%r0], [%d], 16",
        "cp.async.ca.shared.global [%r0], [%d], 4, 3",
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%d]",
        "wmma.load.a.sync.aligned.m8n8k4.row.f64 {%g}, [%d]",
        "wmma.load.c.sync.aligned.m8n8k32.row.s32 {%r0, %r1}, [%d]",
        "wmma.load.a.sync.aligned.m16n16k16.row.s8 {%r0, %r1}, [%d]",
        "wmma.store.d.sync.aligned.m8n8k32.row.s32 [%d], {%r0, %r1}",
        "wmma.store.d.sync.aligned.m8n8k4.row.f64 [%d], {%g, %g}",
        "prefetch.L1 [%d]",
    ];
    let places = [
        "mov.u64 %d, local; cvta.local.u64 %d, %d",
        "mov.u64 %d, shared; cvta.shared.u64 %d, %d",
        "mov.u64 %d, param; cvta.param.u64 %d, %d",
        "mov.u64 %d, global; cvta.global.u64 %d, %d",
        "mov.u64 %d, constant; cvta.const.u64 %d, %d",
        "mov.u64 %d, f",
        "mov.u64 %d, -16",
    ];
    for (instruction, place) in instructions
        .iter()
        .flat_map(|i| places.iter().map(move |p| (i, p)))
    {
        let text = ptx("any_address")
            .replace("PLACE", place)
            .replace("INSTRUCTION", instruction);
        for options in [plain(), checked()] {
            if let Err(error) = run(&text, "k", 32, options) {
                let internal = matches!(error, LaunchError::Internal { .. });
                assert!(!internal, "{instruction} after {place}: {error}");
            }
        }
    }
}

#[test]
fn branches_to_where_all_go_anyway() {
    for text in [ptx("branch_to_next"), ptx("branch_both"), ptx("brx_same")] {
        run(text, "k", 32, plain()).expect("runs");
        run(text, "k", 48, checked()).expect("runs");
    }
}

/// On an H200 all of these end: lanes that have ended are not waited for.
#[test]
fn warp_wide_instructions_do_not_wait_for_ended_lanes() {
    // Lane 0 alone (`p`) gets to the instruction, or all others alone end before they would.
    for code in [
        "@p redux.sync.add.u32 r1, r0, 0x55555555;",
        "@p redux.sync.add.u32 r1, r0, 0xffffffff;",
        "@p shfl.sync.idx.b32 r1, r0, 0, 31, 0xffffffff;",
        "@p bar.warp.sync 0xffffffff;",
        "@p vote.sync.ballot.b32 r1, p, 0xffffffff;",
        LEFT_EARLY,
        "@!p bra E; redux.sync.add.u32 r1, r0, 0xffffffff; E: add.u32 r2, r1, 1;",
        "@p redux.sync.add.u32 r1, r0, 0xffffffff; add.u32 r2, r1, 1;",
        "@p match.any.sync.b32 r1, r0, 0xffffffff; add.u32 r2, r1, 1;",
    ] {
        for threads in [32, 40] {
            let text = format!(
                ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() .maxntid {threads} {{\n\
                 .reg .pred p; .reg .b32 r<4>; mov.u32 r0, %tid.x; setp.eq.u32 p, r0, 0; {code} ret; }}\n"
            );
            let plain = run(&text, "k", 32, plain());
            assert!(plain.is_ok(), "{code}: {plain:?}");
            let checked = run(&text, "k", 32, checked());
            assert_eq!(checked.is_ok(), code == LEFT_EARLY, "{code}: {checked:?}");
        }
    }
}

/// Lanes that end before the others get to an instruction for all, which CUDA allows.
const LEFT_EARLY: &str = "@!p bra E; redux.sync.add.u32 r1, r0, 0xffffffff; E:";

#[test]
fn lanes_at_another_barrier_are_missed() {
    let error = run(ptx("lanes_at_another_barrier"), "k", 64, plain()).unwrap_err();
    assert!(error.to_string().contains("shfl"), "{error}");
}

#[test]
fn lanes_that_go_on_to_the_end_free_the_others() {
    for kernel in ["k", "k2"] {
        for block in [32, 128] {
            let words = run(ptx("warp_sync"), kernel, block, plain());
            assert_eq!(
                words.map(|words| words[0]).map_err(|e| e.to_string()),
                Ok(7)
            );
            assert!(run(ptx("warp_sync"), kernel, block, checked()).is_err());
        }
    }
}

/// What an H200 gives: the first instruction's result, by its operands, and the second
/// one's, whose operands are 0.
#[test]
fn carries_as_the_hardware_has_them() {
    const ALL: u32 = u32::MAX;
    let operands = [(1, 2), (2, 1), (ALL, 1)];
    #[rustfmt::skip]
    let measured = [
        ("sub.cc.u32 r1, a, b;", "addc.u32", [(ALL, 0), (1, 1), (ALL - 1, 1)]),
        ("sub.cc.u32 r1, a, b;", "subc.u32", [(ALL, ALL), (1, 0), (ALL - 1, 0)]),
        ("add.cc.u32 r1, a, b;", "subc.u32", [(3, ALL), (3, ALL), (0, 0)]),
        ("add.cc.u32 r1, a, b;", "addc.u32", [(3, 0), (3, 0), (0, 1)]),
        ("mad.lo.cc.u32 r1, a, 1, b;", "subc.u32", [(3, ALL), (3, ALL), (0, 0)]),
    ];
    for (first, second, results) in measured {
        for ((a, b), expected) in operands.into_iter().zip(results) {
            assert_eq!(
                carry(&format!(
                    "mov.u32 a, {a}; mov.u32 b, {b}; {first} {second} r2, 0, 0;"
                )),
                expected,
                "{first} {second} of {a}, {b}"
            );
        }
    }
    for (a, b) in operands {
        let code = format!(
            "mov.u32 a, {a}; mov.u32 b, {b}; sub.cc.u32 r1, a, b; subc.cc.u32 r1, a, 0; addc.u32 r2, 0, 0;"
        );
        assert_eq!(carry(&code).1, 1);
    }
    assert_eq!(
        run(ptx("addcc_subc"), "k", 1, plain()).expect("runs")[0],
        ALL
    );
}

/// Runs code on one thread; gives `r1` and `r2`.
fn carry(code: &str) -> (u32, u32) {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 a, b, r<3>; .reg .b64 d;\n{code}\nld.param.u64 d, [out];\n\
         st.global.u32 [d], r1; st.global.u32 [d + 4], r2;\nret;\n}}"
    );
    let words = run(&text, "k", 1, plain()).expect("runs");
    (words[0], words[1])
}

#[test]
fn arrays_of_4_gib_are_refused_and_elements_have_addresses() {
    let error = Module::parse(ptx("array_of_4_gib")).map(drop).unwrap_err();
    assert_eq!(error.line, 4, "{error}");
    run(ptx("shared_array_index"), "k", 32, checked()).expect("runs");
}

/// Of the third and the last word of a vector load only the third matters: the last
/// lies past the buffer.
#[test]
fn bytes_that_a_load_does_not_need_may_not_be_there() {
    let bench = Bench::new(ptx("used_bytes"));
    let three = bench.upload(&[1.5f32, f32::NAN, 2.0], "in");
    let out = bench.zeros::<f32>(1, "out");
    bench.check("k", 1, 1, &[&three, &out]);
    assert_eq!(bench.download(out), [3.5]);
}

#[test]
fn what_was_not_known_runs() {
    for text in [ptx("cvt_of_e4m3"), ptx("mma_of_bytes")] {
        run(text, "k", 32, plain()).expect("runs");
    }
}
