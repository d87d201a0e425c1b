//! A case's kernel: a block of one warpgroup per tile.

use std::fmt::Write as _;

use super::cases::Case;

/// The PTX.
pub fn kernel(case: &Case) -> String {
    let n_sums = case.form.n_sums();
    let mut body = String::new();
    let mut line = |text: String| writeln!(body, "{text}").unwrap();
    for (i, step) in (0..n_sums).zip((0..).step_by(4)) {
        line(format!("ld.global.b32 %c{i}, [%own_c + {step}];"));
    }
    for i in 0..4 {
        line(format!("ld.global.b32 %a{i}, [%own_a + {}];", 4 * i));
    }
    line("wgmma.fence.sync.aligned;".to_owned());
    let chains = if case.form.undoes { 2 } else { 1 };
    for (product, undo) in (0..chains * case.chain).map(|i| (i % case.chain, i >= case.chain)) {
        let keeps = case.keeps || product > 0 || undo;
        line(format!("setp.ne.u32 %keeps, {}, 0;", u32::from(keeps)));
        for (name, i) in [("%da", 0), ("%db", 1)] {
            let bits = case.descriptors[i] + u64::from(product * (case.steps[i] >> 4));
            line(format!("add.u64 {name}, %start, 0x{bits:x};"));
        }
        line(instruction(case, undo));
    }
    line("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;".to_owned());
    for i in 0..n_sums {
        line(format!("st.global.b32 [%own_d + {}], %c{i};", 4 * i));
    }
    let image = case.image;
    let registers_bytes = 4 * n_sums;
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 memory[];\n\
         .visible .entry k(.param .u64 image, .param .u64 a, .param .u64 c, .param .u64 d) {{\n\
         .reg .b32 %c<{n_sums}>, %a<4>, %t, %b, %at, %x, %y, %z, %w, %to;\n.reg .pred %keeps, %more;\n\
         .reg .b64 %da, %db, %start, %from, %own_a, %own_c, %own_d, %thread;\n\
         mov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\nmov.u32 %to, memory;\ncvt.u64.u32 %start, %to;\n\
         shr.u64 %start, %start, 4;\nld.param.u64 %from, [image];\nmad.wide.u32 %from, %b, {image}, %from;\n\
         mad.wide.u32 %from, %t, 16, %from;\nmad.lo.u32 %to, %t, 16, %to;\nmul.lo.u32 %at, %t, 16;\n\
         COPY: setp.ge.u32 %more, %at, {image};\n@%more bra COPIED;\n\
         ld.global.v4.b32 {{%x, %y, %z, %w}}, [%from];\nst.shared.v4.b32 [%to], {{%x, %y, %z, %w}};\n\
         add.u64 %from, %from, 2048;\nadd.u32 %to, %to, 2048;\nadd.u32 %at, %at, 2048;\nbra COPY;\n\
         COPIED: fence.proxy.async.shared::cta;\nbar.sync 0;\nmad.lo.u32 %t, %b, 128, %t;\n\
         ld.param.u64 %own_a, [a];\nmad.wide.u32 %own_a, %t, 16, %own_a;\n\
         ld.param.u64 %own_c, [c];\nmad.wide.u32 %own_c, %t, {registers_bytes}, %own_c;\n\
         ld.param.u64 %own_d, [d];\nmad.wide.u32 %own_d, %t, {registers_bytes}, %own_d;\n\
         {body}ret;\n}}"
    )
}

/// One product; of a chain that undoes another, with A negated once more.
fn instruction(case: &Case, undo: bool) -> String {
    let form = &case.form;
    let [d, a, b] = &form.types;
    let bits = match &**a {
        "tf32" => 32,
        "f16" | "bf16" => 16,
        "b1" => 1,
        _ => 8,
    };
    let list = |name: &str, n: usize| {
        let names: Vec<String> = (0..n).map(|i| format!("%{name}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let sums = list("c", form.n_sums());
    let left = if form.a_in_registers {
        list("a", 4)
    } else {
        "%da".to_owned()
    };
    let saturates = if form.saturates { ".satfinite" } else { "" };
    let popc = if a == "b1" { ".and.popc" } else { "" };
    let mut modes = String::new();
    if d != "s32" {
        let scale = |negated: bool| if negated { -1 } else { 1 };
        let negated_a = form.negated[0] != undo;
        write!(modes, ", {}, {}", scale(negated_a), scale(form.negated[1])).unwrap();
        if bits == 16 && !form.a_in_registers {
            write!(modes, ", {}", u32::from(form.transposed[0])).unwrap();
        }
        if bits == 16 {
            write!(modes, ", {}", u32::from(form.transposed[1])).unwrap();
        }
    }
    format!(
        "wgmma.mma_async.sync.aligned.m64n{}k{}{saturates}.{d}.{a}.{b}{popc} {sums}, {left}, %db, \
         %keeps{modes};",
        form.n,
        256 / bits
    )
}
