//! The parser on whole files from compilers, on cut and mangled ones, and on made-up text:
//! it reads them, or says why not, and never panics.
//!
//! `samples/` holds the PTX of small programs by rustc, by nvcc (with line
//! tables, and with full debug information) and by Triton.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ptx::ir::{Module, Operand, RelocationTarget, Space};
use ptx::parse::parse;

const RUSTC: &str = include_str!("samples/rustc.ptx");
const NVCC: &str = include_str!("samples/nvcc.ptx");
const NVCC_DEBUG: &str = include_str!("samples/nvcc_debug.ptx");
const TRITON: &str = include_str!("samples/triton.ptx");
const SAMPLES: [&str; 4] = [RUSTC, NVCC, NVCC_DEBUG, TRITON];

fn read(text: &str) -> Module {
    match parse(text) {
        Ok(module) => module,
        Err(error) => panic!("{error}"),
    }
}

/// Every line of a body that ends an instruction, seen without the parser.
fn instruction_lines(text: &str) -> Vec<(u32, &str)> {
    let mut in_body = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("").trim();
        match line {
            "{" => in_body = true,
            "}" => in_body = false,
            _ => {
                let is_instruction = code.ends_with(';') && !code.starts_with('.');
                if in_body && is_instruction && !code.contains(':') {
                    lines.push((index as u32 + 1, code));
                }
            }
        }
    }
    lines
}

#[test]
fn no_instruction_is_lost() {
    for text in SAMPLES {
        let module = read(text);
        let lines: Vec<&str> = text.lines().collect();
        let bodies = module.functions.iter().flat_map(|f| &f.body);
        let found: Vec<_> = bodies.flatten().collect();
        for instruction in &found {
            let (line, opcode) = (lines[instruction.line as usize - 1], &instruction.opcode);
            assert!(line.contains(opcode), "{opcode} is not on: {line}");
        }
        for (line, code) in instruction_lines(text) {
            // Calls of nvcc stretch over lines, as do one-line scopes.
            let is_whole = code.starts_with(|c: char| c.is_ascii_lowercase() || c == '@');
            let is_found = found.iter().any(|i| i.line == line);
            assert!(is_found || !is_whole, "line {line} is lost: {code}");
        }
    }
}

#[test]
fn what_rustc_writes() {
    let module = read(RUSTC);
    assert_eq!((module.version, module.target.as_str()), ((8, 6), "sm_80"));
    let names: Vec<_> = module.entries().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["dispatch", "shapes", "staged"]);
    let (_, shapes) = module.function("shapes").unwrap();
    let offsets = shapes.params.iter().map(|p| (p.offset, p.size_bytes));
    assert_eq!(Vec::from_iter(offsets), [(0, 8), (8, 8), (16, 8), (24, 4)]);
    // Two vtables: drop, size, align, and the method.
    let relocations = module
        .variables
        .iter()
        .flat_map(|variable| &variable.relocations);
    let methods = relocations.filter(|r| matches!(r.target, RelocationTarget::Function(_)));
    let methods = methods.map(|r| (r.offset, r.n_bytes, r.generic));
    assert_eq!(Vec::from_iter(methods), [(24, 8, false); 2]);
    let shared = module.variables.iter().filter(|v| v.space == Space::Shared);
    let shared = shared.map(|v| (v.name.as_str(), v.size_bytes, v.is_extern));
    let dynamic = ("gpu_launch_sized_workgroup_mem", 0, true);
    assert_eq!(
        Vec::from_iter(shared),
        [("sample_shared_0", 4096, false), dynamic]
    );
    let (_, dispatch) = module.function("dispatch").unwrap();
    let mut targets = dispatch.branch_targets.iter().flatten();
    assert!(targets.clone().count() > 0, "a match becomes a jump table");
    assert!(targets.all(|l| (l.0 as usize) < dispatch.labels.len()));
    // Lines of the source, by instruction.
    let body = shapes.body.as_deref().unwrap();
    assert!(body.iter().filter(|i| i.loc.is_some()).count() > body.len() / 2);
    assert_eq!(module.file(1), Some("src/lib.rs"));
}

#[test]
fn what_nvcc_writes() {
    let module = read(NVCC);
    let kernel = module.entries().next().unwrap();
    assert_eq!(kernel.bounds.max_threads, Some(256));
    assert_eq!(kernel.bounds.min_blocks, Some(2));
    // A struct by value, and a double after it.
    let sizes = kernel.params.iter().map(|p| (p.size_bytes, p.offset));
    let expected = [(8, 0), (8, 8), (4, 16), (24, 24), (8, 48)];
    assert_eq!(Vec::from_iter(sizes), expected);
    let variable = |name: &str| module.variables.iter().find(|v| v.name == name).unwrap();
    let pairs = variable("pairs").relocations.iter();
    let pairs = pairs.map(|r| (r.offset, r.generic));
    assert_eq!(Vec::from_iter(pairs), [(8, true), (32, true)]);
    assert_eq!(variable("table").init[4..8], 2.5_f32.to_le_bytes());
    let calls = kernel
        .body
        .iter()
        .flatten()
        .filter(|i| i.opcode.starts_with("call"));
    let calls = calls.map(|i| i.operands.len());
    // A direct call, one through a pointer with its prototype, and vprintf.
    assert_eq!(Vec::from_iter(calls), [3, 4, 3]);
    assert!(module.function("vprintf").unwrap().1.body.is_none());
    // The debug build has one function more and no line tables missing.
    let debug = read(NVCC_DEBUG);
    let (_, triangle) = debug.function("_Z8trianglei").unwrap();
    assert_eq!((triangle.params.len(), triangle.returns.len()), (1, 1));
    let mut locals = debug.entries().next().unwrap().locals.iter();
    assert!(locals.any(|l| l.space == Space::Local));
}

#[test]
fn what_triton_writes() {
    let module = read(TRITON);
    let kernel = module.entries().next().unwrap();
    assert_eq!(kernel.bounds.required_block, Some([128, 1, 1]));
    let body = kernel.body.as_deref().unwrap();
    // Inline assembly with one register in braces.
    let loads = body.iter().filter(|i| i.opcode == "ld.global.b32");
    let loads = loads.map(|load| match load.operands[..] {
        [Operand::Reg(_), Operand::Address(_)] => load.guard.is_some(),
        _ => false,
    });
    assert_eq!(Vec::from_iter(loads), [true; 4]);
}

/// A cut file is refused, unless only whole functions were cut off, and what is not code (debug
/// sections, file names, blank space at the end): the others are unchanged.
fn check_cut(text: &str, whole: &[String], end: usize) {
    let Some(cut) = text.get(..end) else { return };
    if let Ok(module) = parse(cut) {
        let n_entries = module.functions.iter().filter(|f| f.is_entry).count();
        let n_begun = cut.matches(".entry ").count();
        assert_eq!(n_entries, n_begun, "cut at {end} of {}", text.len());
        for function in bodies(&module) {
            assert!(whole.contains(&function), "cut at {end} of {}", text.len());
        }
    }
}

/// The functions that have a body, written out.
fn bodies(module: &Module) -> Vec<String> {
    let functions = module.functions.iter();
    let with_body = functions.filter(|function| function.body.is_some());
    with_body.map(|function| format!("{function:?}")).collect()
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for text in SAMPLES {
        let whole = bodies(&read(text));
        // Every byte of the last part, where cuts are hardest to see, and of
        // the first; every seventh between them.
        let edge = 1500;
        for end in 0..text.len() {
            if end % 7 == 0 || end < edge || end + edge > text.len() {
                check_cut(text, &whole, end);
            }
        }
    }
}

#[test]
#[ignore = "takes a minute: every single byte offset"]
fn a_file_cut_at_any_byte_is_refused() {
    for text in SAMPLES {
        let whole = bodies(&read(text));
        (0..text.len()).for_each(|end| check_cut(text, &whole, end));
    }
}

#[test]
fn reading_is_linear() {
    // 60 kernels of some 18 KB each, about a megabyte.
    let (header, rest) = RUSTC.split_once(".address_size 64").unwrap();
    let functions = rest.split("\t.section").next().unwrap();
    let mut text = format!("{header}.address_size 64\n");
    for copy in 0..60 {
        let renamed = functions
            .replace("shapes", &format!("shapes{copy}"))
            .replace("dispatch", &format!("dispatch{copy}"))
            .replace("staged", &format!("staged{copy}"))
            .replace("sample_shared_0", &format!("shared{copy}"))
            .replace("_RN", &format!("_R{copy}N"))
            .replace("alloc_", &format!("alloc{copy}_"))
            .replace("vtable", &format!("vtable{copy}"))
            .replace("$_", &format!("$_{copy}_"));
        text.push_str(&renamed);
    }
    text.push_str(rest.split_once(".debug_macinfo\t{\t}").unwrap().1);
    assert!(text.len() > 900_000, "{}", text.len());
    let start = Instant::now();
    let module = read(&text);
    let time = start.elapsed();
    assert_eq!(module.entries().count(), 180);
    // Usually some 30 ms; a busy machine is given time.
    assert!(time < Duration::from_secs(2), "{time:?}");
    println!("{} bytes in {time:?}", text.len());
}

/// Fragments of PTX, for texts that get past the first token; `¶` is between them.
const SCRAPS: &str = ".version 8.6\n¶.target sm_80\n¶.address_size 64\n¶.visible ¶.extern ¶.entry ¶.func ¶k¶f¶(¶\
    )¶{¶}¶[¶]¶<¶>¶,¶;¶:¶@¶!¶|¶+¶-¶*¶/¶%¶~¶=¶?¶_¶.reg ¶.b32 ¶.u64 ¶.pred ¶.f32 ¶.v4 ¶%r¶%r1 ¶\
    %p1 ¶%tid¶.x ¶.shared ¶.global ¶.const ¶.local ¶.param ¶.align ¶16 ¶0x7fffffffffffffff ¶\
    4000000000 ¶99999999999 ¶0f3F800000 ¶1.5e300 ¶add.s32 ¶ld.global.f32 ¶bra ¶call ¶ret¶\
    generic¶.loc 1 2 3\n¶.file 1 \"a\"\n¶.section .debug_str ¶.branchtargets ¶.callprototype ¶\
    \n¶//¶/*¶*/¶\"¶é";

fn scraps() -> Vec<&'static str> {
    SCRAPS.split('¶').collect()
}

/// A valid file with a body to fill.
fn in_body(rest: &str) -> String {
    format!(
        ".version 8.6\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{{\n\
         .reg .b32 %r<9>; .reg .pred %p<3>;\n{rest}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(parse(&text).is_err());
        let _ = parse(&in_body(&text));
    }

    #[test]
    fn random_scraps_never_panic(picks in prop::collection::vec(prop::sample::select(scraps()), 0..60)) {
        let text = picks.concat();
        let _ = parse(&text);
        let _ = parse(&format!(".version 8.6\n.target sm_80\n{text}"));
        let _ = parse(&in_body(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Pieces of valid files cut out, doubled, swapped or overwritten.
    #[test]
    fn mangled_files_never_panic(
        sample in 0..SAMPLES.len(),
        edits in prop::collection::vec(
            (0.0..1.0_f64, 0_usize..40, prop::sample::select(scraps()), 0..4),
            1..6,
        ),
    ) {
        let mut bytes = SAMPLES[sample].as_bytes().to_vec();
        for (place, length, scrap, kind) in edits {
            let start = (place * bytes.len() as f64) as usize;
            let end = (start + length).min(bytes.len());
            let piece: Vec<u8> = match kind {
                0 => Vec::new(),
                1 => bytes[start..end].repeat(2),
                2 => scrap.bytes().collect(),
                _ => bytes[start..end].iter().rev().copied().collect(),
            };
            bytes.splice(start..end, piece);
        }
        let text = String::from_utf8_lossy(&bytes);
        let start = Instant::now();
        let _ = parse(&text);
        prop_assert!(start.elapsed() < Duration::from_secs(2));
    }
}
