//! The resolution of names.

use super::{link, ptx, run};
use common::Bench;
use ptx_sim::{DeviceConfig, Linker};

/// A kernel that writes what a function `f` gives for its thread.
const CALLER: &str = "
.extern .func (.param .b32 result) f(.param .b32 x);
.visible .entry k(.param .u64 out) {
    .param .b32 argument; .param .b32 result;
    .reg .b32 %r<3>; .reg .b64 %d<3>;
    mov.u32 %r1, %tid.x;
    st.param.b32 [argument], %r1;
    call (result), f, (argument);
    ld.param.b32 %r2, [result];
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d2, %r1, 4, %d1;
    st.global.u32 [%d2], %r2;
    ret;
}";

/// A function that adds to its argument what an instruction leaves in `%r2`.
fn adds(linkage: &str, name: &str, instruction: &str) -> String {
    format!(
        "{linkage} .func (.param .b32 result) {name}(.param .b32 value) {{
            .reg .b32 %r<4>;
            ld.param.b32 %r1, [value];
            {instruction};
            add.u32 %r3, %r1, %r2;
            st.param.b32 [result], %r3;
            ret;
        }}"
    )
}

fn adds_number(linkage: &str, name: &str, number: u32) -> String {
    adds(linkage, name, &format!("mov.u32 %r2, {number}"))
}

fn linked(texts: &[&str]) -> Vec<u32> {
    const NAMES: [&str; 4] = ["a.ptx", "b.ptx", "c.ptx", "d.ptx"];
    let texts: Vec<_> = NAMES.into_iter().zip(texts.iter().copied()).collect();
    run(&link(&texts).expect("texts that fit"), 3)
}

#[test]
fn a_function_is_found_before_and_behind_its_caller() {
    let f = adds_number(".visible", "f", 10);
    assert_eq!(linked(&[CALLER, &f]), [10, 11, 12]);
    assert_eq!(linked(&[&f, CALLER]), [10, 11, 12]);
}

#[test]
fn variables_are_shared_in_every_space() {
    for space in [".global", ".const"] {
        let f = adds(".visible", "f", &format!("ld{space}.u32 %r2, [x]"));
        let f = format!(".extern {space} .u32 x; {f}");
        let x = format!(".visible {space} .u32 x = 100;");
        assert_eq!(linked(&[CALLER, &f, &x]), [100, 101, 102], "{space}");
        assert_eq!(linked(&[&x, CALLER, &f]), [100, 101, 102], "{space}");
    }
}

#[test]
fn an_open_size_is_that_of_the_definition() {
    let f = adds(".visible", "f", "ld.global.u32 %r2, [x+8]");
    let f = format!(".extern .global .u32 x[]; {f}");
    let x = ".visible .global .u32 x[4] = {1, 2, 3, 4};";
    assert_eq!(linked(&[CALLER, &f, x]), [3, 4, 5]);
}

#[test]
fn local_names_stay_apart() {
    // Each text has its own `helper` and its own `number`.
    let text = |name: &str, number: u32| {
        format!(
            ".global .u32 number = {number};
             {}
             .visible .func (.param .b32 result) {name}(.param .b32 x) {{
                 .reg .b32 %r; .param .b32 a; .param .b32 b;
                 ld.param.b32 %r, [x];
                 st.param.b32 [a], %r;
                 call (b), helper, (a);
                 ld.param.b32 %r, [b];
                 st.param.b32 [result], %r;
                 ret;
             }}",
            adds("", "helper", "ld.global.u32 %r2, [number]")
        )
    };
    let (f, g) = (text("f", 100), text("g", 200));
    let calls_g = CALLER.replace(" f(", " g(").replace(" f,", " g,");
    assert_eq!(linked(&[CALLER, &f, &g]), [100, 101, 102]);
    assert_eq!(linked(&[&f, &calls_g, &g]), [200, 201, 202]);
    // A name that clashes is qualified by its origin; global names stay as they are.
    let visible = ".visible .global .u32 number = 7;";
    let module = link(&[("f.ptx", &f), ("g.ptx", &g), ("x.ptx", visible)]).expect("linked");
    let names: Vec<&str> = module.ir().variables.iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["number of f.ptx", "number of g.ptx", "number"]);
    let bench = Bench::of(&module, DeviceConfig::default());
    let number = bench.loaded.array::<u32>("number");
    assert_eq!(bench.download(number.expect("the visible one")), [7]);
}

#[test]
fn what_is_local_defines_nothing_for_others() {
    let local = adds_number("", "f", 1);
    let visible = adds_number(".visible", "f", 2);
    assert_eq!(linked(&[&local, CALLER, &visible]), [2, 3, 4]);
}

#[test]
fn of_weak_functions_the_first_counts_unless_one_is_not_weak() {
    let [a, b] = [10, 20].map(|n| adds_number(".weak", "f", n));
    let strong = adds_number(".visible", "f", 30);
    assert_eq!(linked(&[CALLER, &a, &b]), [10, 11, 12]);
    assert_eq!(linked(&[CALLER, &b, &a]), [20, 21, 22]);
    assert_eq!(linked(&[&a, &strong, CALLER, &b]), [30, 31, 32]);
    // Even for a caller in the text of a weak definition that does not count.
    let own = CALLER.replace(".extern .func (.param .b32 result) f(.param .b32 x);", &b);
    assert_eq!(linked(&[&own, &strong]), [30, 31, 32]);
    assert_eq!(linked(&[&a, &own]), [10, 11, 12]);
}

#[test]
fn variables_of_a_function_that_does_not_count_are_left_out() {
    let with_table = |number: u32| {
        format!(
            ".weak .func (.param .b32 result) f(.param .b32 x) {{
                .global .u32 table[1] = {{{number}}};
                .reg .b32 %r;
                ld.global.u32 %r, [table];
                st.param.b32 [result], %r;
                ret;
            }}"
        )
    };
    let (a, b) = (with_table(1), with_table(2));
    let module = link(&[("k", CALLER), ("a", &a), ("b", &b)]).expect("linked");
    assert_eq!(module.ir().variables.len(), 1);
    assert_eq!(run(&module, 2), [1, 1]);
}

#[test]
fn of_common_variables_the_largest_counts() {
    let f = adds(".visible", "f", "ld.global.u32 %r2, [x]");
    let f = format!(".common .global .u32 x[1]; {f}");
    let module = link(&[
        ("k", CALLER),
        ("f", &f),
        ("larger", ".common .global .align 16 .u32 x[8];"),
        ("middle", ".common .global .align 64 .u32 x[4];"),
    ]);
    let module = module.expect("linked");
    let [x] = &module.ir().variables[..] else {
        panic!("one variable");
    };
    assert_eq!((x.size_bytes, x.align), (32, 64));
    assert_eq!(run(&module, 2), [0, 1]);
    let defined = ".visible .global .u32 x[8] = {5};";
    assert_eq!(linked(&[CALLER, &f, defined]), [5, 6, 7]);
}

#[test]
fn an_alias_is_a_definition() {
    let text = format!(
        ".visible .func (.param .b32 result) f(.param .b32 x);
         {}
         .alias f, g;",
        adds_number("", "g", 50)
    );
    assert_eq!(linked(&[CALLER, &text]), [50, 51, 52]);
    let of_weak = text.replace(
        ".func (.param .b32 result) g",
        ".weak .func (.param .b32 result) g",
    );
    let strong = adds_number(".visible", "g", 60);
    assert_eq!(linked(&[CALLER, &of_weak]), [50, 51, 52]);
    assert_eq!(linked(&[CALLER, &of_weak, &strong]), [60, 61, 62]);
}

#[test]
fn tables_of_addresses_follow() {
    // The table is in one text, what it points to in others.
    let table = "
.extern .func (.param .b32 result) f(.param .b32 x);
.extern .global .u32 x;
.visible .global .u64 table[2] = {f, generic(x)};";
    let caller = CALLER
        .replace(
            ".extern .func (.param .b32 result) f(.param .b32 x);",
            ".extern .global .u64 table[2];",
        )
        .replace(
            "call (result), f, (argument);",
            "ld.global.u64 %d1, [table];
             p: .callprototype (.param .b32 _) _ (.param .b32 _);
             call (result), %d1, (argument), p;",
        );
    let f = format!(
        ".visible .global .u32 x = 1000; .extern .global .u64 table[2]; {}",
        adds(
            ".visible",
            "f",
            ".reg .u64 %d1; ld.global.u64 %d1, [table+8]; ld.u32 %r2, [%d1]"
        )
    );
    assert_eq!(linked(&[&caller, table, &f]), [1000, 1001, 1002]);
}

#[test]
fn dynamic_shared_memory_is_one_for_all() {
    let f = "
.extern .shared .align 32 .b8 pool[];
.visible .func (.param .b32 result) f(.param .b32 x) {
    .shared .u32 own;
    .reg .b32 %r<3>;
    st.shared.u32 [own], 1;
    ld.shared.u32 %r1, [pool];
    st.param.b32 [result], %r1;
    ret;
}";
    let k = CALLER.replace(
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r1, %tid.x; st.shared.u32 [pool], 77;",
    );
    let k = format!(".extern .shared .align 8 .b8 pool[]; {k}");
    let module = link(&[("k", &k), ("f", f)]).expect("linked");
    let kernel = module.kernel("k").expect("k");
    assert_eq!(
        (kernel.static_shared_bytes, kernel.uses_dynamic_shared),
        (4, true)
    );
    let bench = Bench::of(&module, DeviceConfig::default());
    let out = bench.zeros::<u32>(1, "out");
    let call = bench.call("k").arg(out).dynamic_shared_bytes(64);
    call.run().expect("no fault");
    assert_eq!(bench.download(out), [77]);
}

#[test]
fn what_the_device_provides_need_not_be_defined() {
    let text = "
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .b8 hi[4] = {104, 105, 10, 0};
.visible .entry k() {
    .param .b64 f; .param .b64 v; .param .b32 r; .reg .b64 %d;
    mov.u64 %d, hi; cvta.global.u64 %d, %d;
    st.param.b64 [f], %d; st.param.b64 [v], 0;
    call (r), vprintf, (f, v);
    ret;
}";
    let module = link(&[("a", text), ("b", &text.replace("entry k", "entry m"))]);
    let module = module.expect("linked");
    let bench = Bench::of(&module, DeviceConfig::default());
    let report = bench.call("m").run().expect("no fault");
    assert_eq!(report.printed.concat(), "hi\n");
}

#[test]
fn a_function_that_is_declared_and_not_used_is_no_error() {
    let text = format!(".extern .func g(); {}", adds_number(".visible", "f", 1));
    assert_eq!(linked(&[CALLER, &text]), [1, 2, 3]);
}

#[test]
fn the_highest_version_and_target_count() {
    let mut linker = Linker::new();
    for (i, header) in [
        ".version 7.8 .target sm_90a",
        ".version 8.3 .target sm_80",
        ".version 8.0 .target sm_90",
    ]
    .iter()
    .enumerate()
    {
        let text = format!("{header} .address_size 64 .visible .entry k{i}() {{ ret; }}");
        linker.add("text", &text).expect("PTX");
    }
    let module = linker.link().expect("linked");
    assert_eq!(module.ir().version, (8, 3));
    assert_eq!(module.ir().target, "sm_90a");
    assert_eq!(module.kernels().count(), 3);
}

#[test]
fn one_text_is_linked_as_several_are() {
    let text = ptx(".visible .entry k(.param .u64 out) { ret; }");
    let mut linker = Linker::new();
    linker.add("a", &text).expect("PTX");
    assert_eq!(run(&linker.link().expect("linked"), 1), [0]);
}

/// Numba declares every function with a result, also those that return nothing.
#[test]
fn a_function_without_result_may_be_declared_with_one() {
    let caller = "
.extern .func (.param .b64 r) put(.param .b64 to, .param .b32 value);
.visible .entry k(.param .u64 out) {
    .param .b64 to; .param .b32 value; .param .b64 r; .reg .b64 %d; .reg .b32 %v;
    ld.param.u64 %d, [out];
    mov.u32 %v, %tid.x;
    mad.wide.u32 %d, %v, 4, %d;
    add.u32 %v, %v, 7;
    st.param.b64 [to], %d; st.param.b32 [value], %v;
    call (r), put, (to, value);
    ld.param.b64 %d, [r];
    ret;
}";
    let callee = "
.visible .func put(.param .b64 to, .param .b32 value) {
    .reg .b64 %d; .reg .b32 %v;
    ld.param.u64 %d, [to]; ld.param.u32 %v, [value];
    st.u32 [%d], %v;
    ret;
}";
    for texts in [
        [("caller", caller), ("callee", callee)],
        [("callee", callee), ("caller", caller)],
    ] {
        let module = link(&texts).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run(&module, 3), [7, 8, 9]);
    }
    // A function with a result cannot be declared without one.
    let none = caller
        .replace("(.param .b64 r) put", "put")
        .replace("(r), put", "put");
    let result = callee.replace("func put", "func (.param .b64 r) put");
    let error = link(&[("caller", &none), ("callee", &result)]).map(drop);
    let text = error.expect_err("not alike").to_string();
    assert!(text.contains("that returns (8)"), "{text}");
}
