//! Unit tests of the parser: one small text per rule.

use super::parse;
use crate::ir::{
    Address, AddressBase, Instruction, LabelId, Module, Operand, RegId, RelocationTarget, Space,
    Special, Symbol, Type, VarId,
};

/// A module whose only kernel has this body.
fn with_body(body: &str) -> Module {
    let entry = ".visible .entry k(.param .u64 p, .param .u32 n)";
    let text = header(&format!("{entry}\n{{\n{body}\n}}\n"));
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn header(rest: &str) -> String {
    format!(".version 8.6\n.target sm_80\n.address_size 64\n{rest}")
}

fn instructions(module: &Module) -> &[Instruction] {
    let mut functions = module.functions.iter();
    functions.find_map(|f| f.body.as_deref()).expect("a body")
}

/// The operands of the first instruction of a body.
fn operands(body: &str) -> Vec<Operand> {
    instructions(&with_body(body))[0].operands.clone()
}

/// The message for a text that is not PTX.
fn message(text: &str) -> String {
    let error = parse(text).expect_err("it must be refused").to_string();
    error.lines().next().unwrap_or_default().to_owned()
}

fn body_message(body: &str) -> String {
    message(&header(&format!(".entry k()\n{{\n{body}\n}}\n")))
}

#[test]
fn a_kernel_with_parameters_and_bounds() {
    let module = parse(&header(
        ".visible .entry add(\n.param .u64 .ptr .global .align 16 x, .param .u8 c,\n\
         .param .align 8 .b8 s[20], .param .f64 d)\n\
         .maxntid 16, 8\n.minnctapersm 2\n.maxnreg 64\n.reqnctapercluster 2, 1, 1\n{ ret; }",
    ))
    .unwrap();
    assert_eq!((module.version, module.target.as_str()), ((8, 6), "sm_80"));
    let (_, kernel) = module.function("add").unwrap();
    assert!(kernel.is_entry);
    let params = kernel.params.iter();
    let layout = params.map(|p| (p.name.as_str(), p.offset, p.size_bytes, p.align));
    let expected = [
        ("x", 0, 8, 8),
        ("c", 8, 1, 1),
        ("s", 16, 20, 8),
        ("d", 40, 8, 8),
    ];
    assert_eq!(Vec::from_iter(layout), expected);
    assert_eq!(kernel.bounds.max_threads, Some(128));
    assert_eq!(kernel.bounds.min_blocks, Some(2));
    assert_eq!(kernel.bounds.max_registers, Some(64));
    assert_eq!(kernel.bounds.required_cluster, Some([2, 1, 1]));
    assert_eq!(instructions(&module)[0].opcode, "ret");
}

#[test]
fn operands_of_every_form() {
    let regs = ".reg .b32 %r<9>; .reg .pred %p<3>; .reg .v4 .f32 v;";
    let reg = |n| Operand::Reg(RegId(n));
    let pair = |a, b| Operand::Pair(Box::new(a), Box::new(b));
    let int = Operand::Int;
    let address = Operand::Address(Address {
        base: AddressBase::Reg(RegId(4)),
        offset: 0,
    });
    for (text, expected) in [
        ("add.s32 %r1, %r2, -1;", vec![reg(0), reg(1), int(-1)]),
        (
            "setp.lt.and.s32 %p1|%p2, %r1, 0xFFU, !%p1;",
            vec![
                pair(reg(0), reg(1)),
                reg(2),
                int(255),
                Operand::NotReg(RegId(0)),
            ],
        ),
        (
            "elect.sync _|%p1, -1;",
            vec![pair(Operand::Sink, reg(0)), int(-1)],
        ),
        (
            "mov.f32 %r1, 0f3F800000;",
            vec![reg(0), Operand::F32(0x3f80_0000)],
        ),
        (
            "mov.f32 %r1, -0f3F800000;",
            vec![reg(0), Operand::F32(0xbf80_0000)],
        ),
        (
            "mov.f64 %r1, 0d3FF0000000000000;",
            vec![reg(0), Operand::F64(1.0_f64.to_bits())],
        ),
        (
            "mov.f64 %r1, 2.5e-1;",
            vec![reg(0), Operand::F64(0.25_f64.to_bits())],
        ),
        (
            "mov.u32 %r1, %tid.y;",
            vec![reg(0), Operand::Special(Special::Tid(1))],
        ),
        ("mov.u32 %r1, WARP_SZ;", vec![reg(0), int(32)]),
        (
            "mov.b32 {%r1, _}, %r2;",
            vec![Operand::Vector(vec![reg(0), Operand::Sink]), reg(1)],
        ),
        (
            "ld.v4.f32 v, [%r1];",
            vec![Operand::Vector([0, 1, 2, 3].map(reg).to_vec()), address],
        ),
        ("mov.f32 v.z, v.r;", vec![reg(2), reg(0)]),
        (
            "vadd.u32.u32.u32 %r1, %r2.b3, %r2;",
            vec![reg(0), Operand::Component(RegId(1), 3), reg(1)],
        ),
        ("bra.uni L; L: ret;", vec![Operand::Label(LabelId(0))]),
    ] {
        assert_eq!(operands(&format!("{regs} {text}")), expected, "{text}");
    }
}

#[test]
fn addresses_of_every_form() {
    let body = |text: &str| {
        operands(&format!(
            ".reg .b64 %rd<9>; .shared .align 4 .b8 s[64]; .local .align 8 .b8 l[16]; {text}"
        ))
    };
    let address = |base, offset| Operand::Address(Address { base, offset });
    let reg = AddressBase::Reg(RegId(0));
    let array = AddressBase::Symbol(Symbol::Variable(VarId(0)));
    let local = AddressBase::Symbol(Symbol::Local(crate::ir::LocalId(0)));
    let param = AddressBase::Symbol(Symbol::Param(1));
    for (text, base, offset) in [
        ("st.u32 [%rd1], 0;", reg, 0),
        ("st.u32 [ %rd1 + 8 ], 0;", reg, 8),
        ("st.u32 [%rd1+-8], 0;", reg, -8),
        ("st.u32 [%rd1-8], 0;", reg, -8),
        ("st.u32 [64], 0;", AddressBase::Absolute, 64),
        ("st.u32 [s+4], 0;", array, 4),
        ("st.u32 [l], 0;", local, 0),
        ("st.u32 [n], 0;", param, 0),
    ] {
        assert_eq!(body(text)[0], address(base, offset), "{text}");
    }
    assert_eq!(
        body("mov.u64 %rd1, generic(s)+2*8;")[1],
        Operand::Symbol {
            base: Symbol::Variable(VarId(0)),
            offset: 16,
            generic: true
        }
    );
    assert!(matches!(
        &body("cp.async.bulk.tensor.2d [s], [%rd1, {%rd2, %rd3}], [%rd4];")[1],
        Operand::IndexedAddress(_, rest) if matches!(&rest[..], [Operand::Vector(v)] if v.len() == 2)
    ));
}

#[test]
fn a_label_belongs_to_its_scope() {
    let module = with_body(
        ".reg .pred q;\n\
         { L: @q bra L; bra M; M: }\n\
         { L: @!q bra L; bra M; }\n\
         bra L;\nL:\nM: ret;",
    );
    let (_, kernel) = module.function("k").unwrap();
    let target = |instruction: &Instruction| match instruction.operands.first()? {
        Operand::Label(id) => Some(kernel.labels[id.0 as usize].target),
        _ => None,
    };
    let targets = instructions(&module).iter().filter_map(target);
    // The first scope has its own L and M, the second only an L.
    assert_eq!(Vec::from_iter(targets), [0, 2, 2, 5, 5]);
    assert!(instructions(&module)[2].guard.unwrap().negated);
}

#[test]
fn registers_of_an_inner_scope_hide_those_outside() {
    let module = with_body(
        ".reg .b32 t; add.u32 t, t, 1; { .reg .b64 t; add.u64 t, t, 1; } add.u32 t, t, 1;",
    );
    let (_, kernel) = module.function("k").unwrap();
    let types: Vec<Type> = kernel.registers.iter().map(|r| r.ty).collect();
    assert_eq!(types, [Type::B32, Type::B64]);
    let used = instructions(&module).iter().map(|i| i.operands[0].clone());
    let expected = [0, 1, 0].map(|n| Operand::Reg(RegId(n)));
    assert_eq!(Vec::from_iter(used), expected);
}

#[test]
fn families_of_registers_cost_nothing_until_named() {
    let module = with_body(".reg .b32 %r<4000000000>; add.u32 %r3999999999, %r7, 1;");
    let (_, kernel) = module.function("k").unwrap();
    let names: Vec<_> = kernel.registers.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["%r3999999999", "%r7"]);
    let error = body_message(".reg .b32 %r<4>; add.u32 %r4, %r3, 1;");
    assert!(error.contains("`%r<4>` declares `%r0` to `%r3`"), "{error}");
}

#[test]
fn calls_with_their_parameters() {
    let module = parse(&header(
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n\
         .func (.param .b32 ret) twice(.param .b32 x);\n\
         .entry k() { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
         { .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;\n\
           call.uni (retval0), twice, (param0);\n ld.param.b32 %r2, [retval0]; }\n\
         call (%r2), %rd1, (%r1), proto;\n\
         proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         call later; mov.u64 %rd1, twice; mov.u64 %rd1, later; ret; }\n\
         .func (.param .b32 ret) twice(.param .b32 x) { .reg .b32 a;\n\
         ld.param.b32 a, [x]; st.param.b32 [ret], a; ret; }\n\
         .func later() .noreturn { trap; }",
    ))
    .unwrap();
    let (_, kernel) = module.function("k").unwrap();
    let body = kernel.body.as_deref().unwrap();
    let param = |n| Operand::Symbol {
        base: Symbol::Local(crate::ir::LocalId(n)),
        offset: 0,
        generic: false,
    };
    let (twice, function) = module.function("twice").unwrap();
    let list = |n| Operand::List(vec![param(n)]);
    assert_eq!(
        body[1].operands,
        [list(1), Operand::Function(twice), list(0)]
    );
    assert_eq!(body[3].operands[3], Operand::External("proto".into()));
    assert_eq!(body[5].operands[1], Operand::Function(twice));
    let (id, later) = module.function("later").unwrap();
    assert_eq!(body[6].operands[1], Operand::Function(id));
    assert!(later.no_return);
    assert!(module.function("vprintf").unwrap().1.body.is_none());
    assert!(matches!(
        &function.body.as_deref().unwrap()[1].operands[0],
        Operand::Address(Address {
            base: AddressBase::Symbol(Symbol::Return(0)),
            offset: 0
        })
    ));
}

#[test]
fn indirect_branches() {
    let module = with_body(
        ".reg .b32 %r<2>; T: .branchtargets A, B, A; brx.idx %r1, T; A: add.u32 %r1, %r1, 1; B: ret;",
    );
    let (_, kernel) = module.function("k").unwrap();
    let operand = &instructions(&module)[0].operands[1];
    assert_eq!(*operand, Operand::BranchTargets(0));
    let labels = kernel.branch_targets[0].iter();
    let targets = labels.map(|label| kernel.labels[label.0 as usize].target);
    assert_eq!(Vec::from_iter(targets), [1, 2, 1]);
}

#[test]
fn variables_and_their_contents() {
    let module = parse(&header(
        ".global .align 4 .b8 a[8] = {1, 0x2, 0b11, 010, -1};\n\
         .global .u32 grid[2][3] = {{1, 2}, {3}};\n\
         .const .f32 f[3] = {0f3F800000, 2.0, 3};\n\
         .global .v4 .f32 v = {1.0, 2.0, 3.0, 4.0};\n\
         .visible .global .u64 p[4] = {a, generic(a)+4, k, a-1+3};\n\
         .global .b8 packed[3] = {0xFF(a), 0xFF00(a+1), 0xFF0000(generic(a))};\n\
         .global .u16 open[] = {1, 2, 3};\n\
         .extern .shared .align 16 .b8 dynamic[];\n\
         .shared .align 8 .b64 barrier;\n\
         .global .s32 sum = (1 + 2) * 3 - 16 / 4 << 1 | (5 > 3 ? 0x40 : 0);\n\
         .entry k() { .shared .b8 inner[3]; ret; }",
    ))
    .unwrap();
    let variable = |name: &str| module.variables.iter().find(|v| v.name == name).unwrap();
    assert_eq!(variable("a").init, [1, 2, 3, 8, 255]);
    assert_eq!((variable("a").size_bytes, variable("a").align), (8, 4));
    let words = |name: &str| -> Vec<u32> {
        let words = variable(name).init.as_chunks().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    };
    assert_eq!(words("grid"), [1, 2, 0, 3]);
    assert_eq!(variable("grid").size_bytes, 24);
    assert_eq!(words("f"), [1.0_f32, 2.0, 3.0].map(f32::to_bits));
    assert_eq!(words("v"), [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_bits));
    assert_eq!(variable("v").align, 16);
    assert_eq!(words("sum"), [10 | 0x40]);
    assert_eq!(variable("open").size_bytes, 6);
    let dynamic = variable("dynamic");
    assert_eq!((dynamic.size_bytes, dynamic.is_extern), (0, true));
    let barrier = variable("barrier");
    assert_eq!((barrier.space, barrier.size_bytes), (Space::Shared, 8));
    assert_eq!(variable("inner").scope, Some(crate::ir::FuncId(0)));
    let found = variable("p").relocations.iter();
    let found = found.map(|r| (r.offset, r.target, r.addend, r.generic, r.n_bytes, r.shift));
    let a = RelocationTarget::Variable(VarId(0));
    let k = RelocationTarget::Function(crate::ir::FuncId(0));
    let expected = [
        (0, a, 0, false, 8, 0),
        (8, a, 4, true, 8, 0),
        (16, k, 0, false, 8, 0),
        (24, a, 2, false, 8, 0),
    ];
    assert_eq!(Vec::from_iter(found), expected);
    let packed = variable("packed").relocations.iter();
    let shifts = packed.map(|r| (r.shift, r.n_bytes, r.addend));
    assert_eq!(Vec::from_iter(shifts), [(0, 1, 0), (8, 1, 1), (16, 1, 0)]);
}

#[test]
fn an_extern_variable_and_its_definition_are_one() {
    let module = parse(&header(
        ".extern .global .u32 x;\n.global .u64 y = x;\n.global .u32 x = 5;\n.extern .global .u32 x;\n\
         .entry k() { ret; }",
    ))
    .unwrap();
    assert_eq!(module.variables.len(), 2);
    assert_eq!(module.variables[0].init, [5, 0, 0, 0]);
    assert!(!module.variables[0].is_extern);
}

#[test]
fn source_places() {
    let module = with_body(
        ".file 1 \"lib.rs\"\n\
         ret;\n.loc 1 7 3\nret;\nret;\n\
         .loc 1 9 1, function_name $L__info_string0 + 4, inlined_at 1 7 3\nret;\n.loc 1 0 0\nret;\n\
         .loc 1 0 9, function_name $L__info_string0, inlined_at 1 7 3\nret;",
    );
    assert_eq!(module.file(1), Some("lib.rs"));
    let found = instructions(&module).iter();
    let found = found.map(|i| (i.line, i.loc.map(|loc| (loc.file, loc.line, loc.column))));
    let (first, second) = (Some((1, 7, 3)), Some((1, 9, 1)));
    let expected = [
        (7, None),
        (9, first),
        (10, first),
        (12, second),
        (14, None),
        (16, first),
    ];
    assert_eq!(Vec::from_iter(found), expected);
}

#[test]
fn inlined_places_name_the_calls_around_them() {
    let module = with_body(
        ".file 1 \"kernel.rs\"\n.file 2 \"library.rs\"\n\
         .loc 1 7 3\nret;\n\
         .loc 2 9 1, function_name $L__info_string0, inlined_at 1 7 3\n\
         .loc 2 20 5, function_name $L__info_string1, inlined_at 2 9 1\nret;\n\
         .loc 2 9 1, function_name $L__info_string0, inlined_at 1 8 3\n\
         .loc 2 20 5, function_name $L__info_string1, inlined_at 2 9 1\nret;\n\
         .loc 1 7 3\nret;",
    );
    let chain = |instruction: &Instruction| -> Vec<u32> {
        let loc = instruction.loc.unwrap();
        let calls = module.calls_around(loc).map(|call| call.line);
        std::iter::once(loc.line).chain(calls).collect()
    };
    let chains: Vec<_> = instructions(&module).iter().map(chain).collect();
    assert_eq!(chains, [vec![7], vec![20, 9, 7], vec![20, 9, 8], vec![7]]);
}

/// ptxas warns of it, and goes on.
#[test]
fn a_place_in_a_file_without_a_name_is_no_error() {
    let module = with_body(".loc 7 1 1\nret;");
    assert_eq!(instructions(&module)[0].loc.unwrap().file, 7);
    assert_eq!(module.file(7), None);
}

#[test]
fn comments_sections_and_pragmas_are_skipped() {
    let module = parse(&header(
        "/* a\n b */ // c\n.section .debug_str\n{\n$L: .b8 1,2 { x }\n}\n\
         .entry k() {\n.pragma \"nounroll\";\n/**/ret; // end\n}\n\0",
    ))
    .unwrap();
    assert_eq!(instructions(&module)[0].line, 12);
}

#[test]
fn messages_say_where_what_and_what_instead() {
    for (text, expected) in [
        (
            "",
            "PTX line 1, column 1: the file is empty: `.version` was expected",
        ),
        (
            ".target sm_80",
            "PTX line 1, column 1: found `.target`, expected `.version`, with which every PTX file starts",
        ),
        (
            ".version 8.6\n.target sm_80\n.entry k() {\n  ret;",
            "PTX line 4, column 7: the file ends inside the body of `k`: is it truncated? (an instruction or `}` was expected)",
        ),
        (
            ".version 8.6\n.target sm_80\n.entry k(",
            "PTX line 3, column 10: the file ends inside the header of `k`: is it truncated? (`.param` was expected)",
        ),
        (
            ".version 8.6\n.target sm_80\n.address_size 32",
            "PTX line 3, column 15: only `.address_size 64` is supported: compile for 64 bits",
        ),
        (
            ".version 8.6\n.target sm_80\n.func f();\n",
            "PTX line 4, column 1: the file ends without the body of any kernel or function: is it truncated?",
        ),
        (
            ".version 8.6\n.target sm_80\nadd",
            "PTX line 3, column 1: found `add`, expected a directive such as `.visible .entry` or `.global`",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    for (body, expected) in [
        ("add.u32 x, 1, 2", "found `}`, expected `,` or `;`"),
        ("add.u32 x, 1, 2;", "`x` is not declared"),
        ("bra L;", "there is no label `L` in this scope"),
        ("@x bra L;", "`x` is not declared"),
        (".reg .b32 x; @x ret;", "`x` is not a predicate register"),
        (".reg .b32 x, x;", "`x` is declared twice"),
        ("L: L: ret;", "the label `L` is defined twice"),
        ("mov.u32 x, 0f12;", "`0f12` is not a number"),
        (
            "mov.u32 x, 99999999999999999999;",
            "is not an integer of at most 64 bits",
        ),
        ("mov.u32 %tid, 1;", "expected a component such as `%tid.x`"),
        (".local .b8 x[9999999];", "a thread has at most 524288"),
        (
            ".shared .b8 x[99999999999999];",
            "is not a valid array length",
        ),
        (".shared .b8 x[99999999][99999999];", "is larger than"),
        (".shared .align 3 .b8 x;", "3 is not a valid alignment"),
        ("ld.u32 é, [1];", "has no place in PTX"),
        ("/* never closed", "is never closed"),
    ] {
        let found = body_message(body);
        let is_said = found.contains(expected);
        assert!(is_said, "{body}\n  says: {found}\n  not:  {expected}");
    }
    let found = message(&header(".func f();\n.entry k() { call f; ret; }"));
    assert!(found.contains("its body is nowhere in the file"), "{found}");
}

#[test]
fn depths_and_sizes_have_limits() {
    const DEEP: usize = 100_000;
    let deep = |open: &str, close: &str| open.repeat(DEEP) + "1" + &close.repeat(DEEP);
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("!", ""),
        ("1?", ":1"),
        ("{", "}"),
        ("[", "]"),
    ] {
        body_message(&format!("mov.u32 %tid.x, {};", deep(open, close)));
    }
    let (dimensions, lists) = ("[1]".repeat(DEEP), deep("{", "}"));
    body_message(&"{".repeat(DEEP));
    body_message(&format!(".global .b8 x{dimensions} = {lists};"));
    body_message(".global .b8 x[2][1000000000] = {{1}, {1}};");
}
