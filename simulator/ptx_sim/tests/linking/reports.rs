//! Lines and files of linked texts.

use std::fs;

use super::link;
use common::Bench;
use ptx_sim::{Device, DeviceConfig, Linker, Module, ir};

const KERNEL: &str = r#"
.file 1 "kernel.cu"
.extern .func store(.param .b64 at);
.visible .entry k(.param .u64 out)
{
    .param .b64 at; .reg .b64 %d;
    .loc 1 10 3
    ld.param.u64 %d, [out];
    st.param.b64 [at], %d;
    .loc 1 11 5
    call store, (at);
    ret;
}
"#;

/// File 1 of this text is another one than that of the kernel, and 2 is the same.
const STORE: &str = r#"
.file 1 "inlined.cuh"
.file 2 "kernel.cu"
.file 3 "store.cu"
.visible .func store(.param .b64 at)
{
    .reg .b64 %d; .reg .b32 %r;
    .loc 3 20 1
    ld.param.b64 %d, [at];
    mov.u32 %r, %tid.x;
    mad.wide.u32 %d, %r, 4, %d;
    .loc 1 7 9, function_name NAME, inlined_at 3 21 3
    st.global.u32 [%d], %r;
    .loc 2 30 1
    frobnicate.b32 %r, %r;
    ret;
}
"#;

fn report(n_words: usize) -> String {
    let module = link(&[("kernel.ptx", KERNEL), ("store.ptx", STORE)]).expect("linked");
    let bench = Bench::of(&module, DeviceConfig::default());
    let out = bench.zeros::<u32>(n_words, "out");
    let call = bench.call("k").block(4).arg(out);
    call.run().expect_err("a fault").to_string()
}

#[test]
fn a_fault_names_text_line_and_source() {
    let text = report(3);
    let (what, place) = text.split_once('\n').expect("a place");
    assert!(
        what.ends_with("just past the end of `out` (12 bytes)"),
        "{what}"
    );
    let (place, _) = place
        .split_once("\n  block (0, 0, 0), thread (3, 0, 0)")
        .expect("a thread");
    assert_eq!(
        place,
        "  in kernel `k`, function `store`, at inlined.cuh:7:9 (PTX line 13 of store.ptx: \
         st.global.u32)\n    \
             inlined at store.cu:21:3\n    \
             called from `k`, at kernel.cu:11:5 (PTX line 11 of kernel.ptx)"
    );
}

#[test]
fn an_unknown_instruction_is_quoted_from_its_text() {
    let text = report(4);
    let (_, place) = text.split_once('\n').expect("a place");
    assert_eq!(
        place,
        "  in kernel `k`, function `store`, at kernel.cu:30:1 (PTX line 15 of store.ptx: \
         frobnicate.b32)\n    \
             called from `k`, at kernel.cu:11:5 (PTX line 11 of kernel.ptx)\n   \
            15 |     frobnicate.b32 %r, %r;\n      \
               |     ^^^^^^^^^^"
    );
    let module = link(&[("kernel.ptx", KERNEL), ("store.ptx", STORE)]).expect("linked");
    let unknown = module.unsupported();
    assert_eq!(unknown.len(), 1);
    let found = (unknown[0].input, unknown[0].ptx_line);
    assert_eq!(found, (Some("store.ptx"), 15));
}

#[test]
fn counters_are_in_order_of_the_texts() {
    let store = STORE.replace("frobnicate.b32 %r, %r;", "");
    let module = link(&[("kernel.ptx", KERNEL), ("store.ptx", &store)]).expect("linked");
    let bench = Bench::of(&module, DeviceConfig::default());
    let out = bench.zeros::<u32>(32, "out");
    let report = bench.call("k").block(32).arg(out).run();
    let instructions = report.expect("no fault").instructions();
    let places: Vec<String> = instructions
        .iter()
        .map(|i| {
            let source = i.loc.as_ref().map_or(String::new(), ToString::to_string);
            let input = i.input.as_deref().unwrap_or_default();
            format!("{input}:{} {} {source}", i.ptx_line, i.opcode)
        })
        .collect();
    let expected = [
        "kernel.ptx:8 ld.param.u64 kernel.cu:10:3",
        "kernel.ptx:9 st.param.b64 kernel.cu:10:3",
        "kernel.ptx:11 call kernel.cu:11:5",
        "kernel.ptx:12 ret kernel.cu:11:5",
        "store.ptx:9 ld.param.b64 store.cu:20:1",
        "store.ptx:10 mov.u32 store.cu:20:1",
        "store.ptx:11 mad.wide.u32 store.cu:20:1",
        "store.ptx:13 st.global.u32 inlined.cuh:7:9",
        "store.ptx:16 ret kernel.cu:30:1",
    ];
    assert_eq!(places, expected);
}

/// Texts written by compilers.
fn samples() -> Vec<(String, String)> {
    let mut samples = Vec::new();
    for folder in ["nvcc", "triton", "../../ptx/tests/samples"] {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "ptx") {
                let text = fs::read_to_string(&path).expect("a readable file");
                samples.push((path.display().to_string(), text));
            }
        }
    }
    samples.sort();
    assert!(samples.len() > 25, "only {} samples", samples.len());
    samples
}

/// By function: its name, and each instruction's line with its places in the source, from
/// the innermost to the outermost call.
fn places(module: &ir::Module, input: u32) -> Vec<(String, Vec<String>)> {
    let of = |instruction: &ir::Instruction| {
        let all = instruction.loc.into_iter();
        let all = all.flat_map(|loc| std::iter::once(loc).chain(module.calls_around(loc)));
        all.fold(instruction.line.to_string(), |told, loc| {
            let file = module.file(loc.file).expect("a file that is named");
            format!("{told} {file}:{}:{}", loc.line, loc.column)
        })
    };
    let functions = module.functions.iter().filter(|f| f.input == input);
    functions
        .map(|f| (f.name.clone(), f.body.iter().flatten().map(of).collect()))
        .collect()
}

#[test]
fn linked_samples_keep_their_places() {
    // Kernels of one name are in several samples: each gets names of its own.
    let mut linker = Linker::new();
    let mut expected = Vec::new();
    for (name, text) in samples() {
        let mut alone = Linker::new();
        alone.add(&name, &text).expect("PTX");
        let alone = alone.link().expect("linked");
        let module = Module::parse(&text).expect("PTX");
        assert_eq!(places(alone.ir(), 0), places(module.ir(), 0), "{name}");
        assert_eq!(alone.unsupported().len(), module.unsupported().len());
        let text = text.replace(".visible .entry", ".entry");
        let mut both = linker.clone();
        // Other names that samples share have different meanings.
        if both.add(&name, &text).expect("PTX").clone().link().is_ok() {
            linker = both;
            expected.push(places(module.ir(), 0));
        }
    }
    assert!(expected.len() > 20, "only {} fit together", expected.len());
    let together = linker.link().expect("linked");
    for (number, expected) in expected.into_iter().enumerate() {
        let found = places(together.ir(), number as u32);
        let bodies = |places: Vec<(String, Vec<String>)>| -> Vec<Vec<String>> {
            let bodies = places.into_iter().map(|(_, body)| body);
            bodies.filter(|body| !body.is_empty()).collect()
        };
        assert_eq!(bodies(found), bodies(expected));
    }
    Device::new().load(&together).expect("enough memory");
}
