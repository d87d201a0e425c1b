//! Programs made up from a seed: arithmetic of every type, predicates, branches,
//! loops, shuffles and votes, shared, local and constant memory.
//!
//! Left out is what PTX does not define: approximate functions, sums and products that a
//! compiler may fuse (every one has an explicit rounding), division by zero, the order of
//! atomics, `%warpid`. Instructions of the whole warp and barriers only appear where all
//! threads come.
//!
//! Two forms are left out because ptxas of CUDA 13.0 gets them wrong: `@p testp` is
//! executed whatever `p` is, and `set.….f32.f32` gives 1 as an integer in some places (with
//! optimisation) and, guarded by a predicate that does not hold, converts the destination's
//! old bits (with and without). The simulator follows PTX.

use std::fmt::Write as _;

use super::template::*;

/// 64-bit words that each thread writes: all its registers.
pub const OUTPUT_WORDS: usize = N_WORDS + N_LONGS + N_SINGLES + N_DOUBLES + N_HALVES + 1;

/// Instructions that each thread executes alone.
pub const LANEWISE: &[&str] = &[
    // Integers of 32 bits.
    "{add|sub}.{u32|s32} {R}, {r}, {i}",
    "add.sat.s32 {R}, {r}, {r}",
    "sub.sat.s32 {R}, {r}, {r}",
    "mul.{lo|hi}.{u32|s32} {R}, {r}, {i}",
    "mad.{lo|hi}.{u32|s32} {R}, {r}, {r}, {r}",
    "mul24.{lo|hi}.{u32|s32} {R}, {r}, {r}",
    "mad24.lo.{u32|s32} {R}, {r}, {r}, {r}",
    "or.b32 %t0, {r}, 1; {div|rem}.u32 {R}, {r}, %t0",
    "and.b32 %t0, {r}, 0x7fffffff; or.b32 %t0, %t0, 1; {div|rem}.s32 {R}, {r}, %t0",
    "{min|max}.{u32|s32} {R}, {r}, {i}",
    "{abs|neg}.s32 {R}, {r}",
    "sad.{u32|s32} {R}, {r}, {r}, {r}",
    "dp4a.{u32|s32}.{u32|s32} {R}, {r}, {r}, {r}",
    "dp2a.{lo|hi}.{u32|s32}.{u32|s32} {R}, {r}, {r}, {r}",
    "add.cc.u32 %t0, {r}, {r}; addc.cc.u32 %t1, {r}, {r}; addc.u32 {R}, %t0, %t1",
    "sub.cc.u32 %t0, {r}, {r}; subc.cc.u32 %t1, {r}, {r}; subc.u32 {R}, %t0, %t1",
    "mad.lo.cc.u32 %t0, {r}, {r}, {r}; madc.hi.u32 {R}, {r}, {r}, %t0",
    "mul.wide.{u32|s32} {D}, {r}, {r}",
    "mad.wide.{u32|s32} {D}, {r}, {r}, {d}",
    // Of 64 bits.
    "{add|sub}.{u64|s64} {D}, {d}, {d}",
    "mul.{lo|hi}.{u64|s64} {D}, {d}, {d}",
    "mad.{lo|hi}.{u64|s64} {D}, {d}, {d}, {d}",
    "or.b64 %u0, {d}, 1; {div|rem}.u64 {D}, {d}, %u0",
    "shr.u64 %u0, {d}, 9; or.b64 %u0, %u0, 1; {div|rem}.s64 {D}, {d}, %u0",
    "{min|max}.{u64|s64} {D}, {d}, {d}",
    "{abs|neg}.s64 {D}, {d}",
    "add.cc.u64 %u0, {d}, {d}; addc.u64 {D}, {d}, %u0",
    "sub.cc.u64 %u0, {d}, {d}; subc.u64 {D}, {d}, %u0",
    // Of 16 bits.
    "{add|sub}.{u16|s16} {H}, {h}, {h}",
    "mul.{lo|hi}.{u16|s16} {H}, {h}, {h}",
    "mad.lo.{u16|s16} {H}, {h}, {h}, {h}",
    "mul.wide.{u16|s16} {R}, {h}, {h}",
    "{min|max}.{u16|s16} {H}, {h}, {h}",
    "{abs|neg}.s16 {H}, {h}",
    // Bits.
    "{and|or|xor}.b32 {R}, {r}, {i}",
    "{and|or|xor}.b64 {D}, {d}, {d}",
    "{and|or|xor}.b16 {H}, {h}, {h}",
    "{not|cnot}.b32 {R}, {r}",
    "{not|cnot}.b64 {D}, {d}",
    "not.b16 {H}, {h}",
    "{and|or|xor}.pred {P}, {p}, {p}",
    "not.pred {P}, {p}",
    "lop3.b32 {R}, {r}, {r}, {r}, {b}",
    "{shl.b32|shr.u32|shr.s32} {R}, {r}, {n}",
    "{shl.b32|shr.u32|shr.s32} {R}, {r}, {r}",
    "{shl.b64|shr.u64|shr.s64} {D}, {d}, {n}",
    "{shl.b64|shr.u64|shr.s64} {D}, {d}, {r}",
    "{shl.b16|shr.u16|shr.s16} {H}, {h}, {n}",
    "shf.{l|r}.{wrap|clamp}.b32 {R}, {r}, {r}, {r}",
    "prmt.b32 {R}, {r}, {r}, {r}",
    "prmt.b32.{f4e|b4e|rc8|ecl|ecr|rc16} {R}, {r}, {r}, {r}",
    "bfe.{u32|s32} {R}, {r}, {n}, {n}",
    "bfe.{u64|s64} {D}, {d}, {n}, {n}",
    "bfi.b32 {R}, {r}, {r}, {n}, {n}",
    "bfi.b64 {D}, {d}, {d}, {n}, {n}",
    "bfind{|.shiftamt}.{u32|s32} {R}, {r}",
    "bfind{|.shiftamt}.{u64|s64} {R}, {d}",
    "{popc|clz}.b32 {R}, {r}",
    "{popc|clz}.b64 {R}, {d}",
    "brev.b32 {R}, {r}",
    "brev.b64 {D}, {d}",
    "bmsk.{clamp|wrap}.b32 {R}, {n}, {n}",
    "szext.{clamp|wrap}.{u32|s32} {R}, {r}, {n}",
    "fns.b32 {R}, {r}, {n}, {n}",
    "vabsdiff4.{u32.u32.u32|s32.s32.s32}{|.add} {R}, {r}, {r}, {r}",
    "mov.b64 {D}, {{r}, {r}}",
    "mov.b64 {{R}, %t0}, {d}",
    "mov.b32 {R}, {{h}, {h}}",
    "mov.b32 {{H}, %v0}, {r}",
    "mov.b32 {R}, {f}",
    "mov.b32 {F}, {r}",
    "mov.b64 {D}, {g}",
    // Single precision.
    "{add|sub|mul}.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32 {F}, {f}, {f}",
    "fma.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32 {F}, {f}, {f}, {f}",
    "div.{rn|rz|rm|rp}{|.ftz}.f32 {F}, {f}, {f}",
    "{rcp|sqrt}.{rn|rz|rm|rp}{|.ftz}.f32 {F}, {f}",
    "{min|max}{|.ftz}{|.NaN}.f32 {F}, {f}, {f}",
    "{min|max}{|.NaN}.xorsign.abs.f32 {F}, {f}, {f}",
    "{abs|neg}{|.ftz}.f32 {F}, {f}",
    "copysign.f32 {F}, {f}, {f}",
    "testp.{finite|infinite|number|notanumber|normal|subnormal}.f32 {P}, {f}",
    // Double precision.
    "{add|sub|mul}.{rn|rz|rm|rp}.f64 {G}, {g}, {g}",
    "fma.{rn|rz|rm|rp}.f64 {G}, {g}, {g}, {g}",
    "div.{rn|rz|rm|rp}.f64 {G}, {g}, {g}",
    "{rcp|sqrt}.{rn|rz|rm|rp}.f64 {G}, {g}",
    "{min|max}.f64 {G}, {g}, {g}",
    "{abs|neg}.f64 {G}, {g}",
    "copysign.f64 {G}, {g}, {g}",
    // Half precision, alone and in pairs.
    "{add|sub|mul}.rn{|.ftz}{|.sat}.f16 {H}, {h}, {h}",
    "{add|sub|mul}.rn{|.ftz}{|.sat}.f16x2 {R}, {r}, {r}",
    "fma.rn{|.ftz}{|.sat|.relu}.f16 {H}, {h}, {h}, {h}",
    "fma.rn{|.ftz}{|.sat|.relu}.f16x2 {R}, {r}, {r}, {r}",
    "{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f16 {H}, {h}, {h}",
    "{min|max}{|.ftz}{|.NaN}.f16x2 {R}, {r}, {r}",
    "{abs|neg}{|.ftz}.f16 {H}, {h}",
    "{abs|neg}.f16x2 {R}, {r}",
    "{add|sub|mul}.rn.bf16 {H}, {h}, {h}",
    "{add|sub|mul}.rn.bf16x2 {R}, {r}, {r}",
    "fma.rn{|.relu}.bf16 {H}, {h}, {h}, {h}",
    "fma.rn{|.relu}.bf16x2 {R}, {r}, {r}, {r}",
    "{min|max}{|.NaN}.bf16 {H}, {h}, {h}",
    "{abs|neg}.bf16 {H}, {h}",
    // Conversions.
    "cvt.{rn|rz|rm|rp}.f32.{u32|s32} {F}, {r}",
    "cvt.{rn|rz|rm|rp}.f32.{u64|s64} {F}, {d}",
    "cvt.{rn|rz|rm|rp}.f32.{u16|s16} {F}, {h}",
    "cvt.{rn|rz|rm|rp}.f64.{u64|s64} {G}, {d}",
    "cvt.rn.f64.{u32|s32} {G}, {r}",
    "cvt.{rn|rz|rm|rp}.f16.{u32|s32} {H}, {r}",
    "cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u32|s32}.f32 {R}, {f}",
    "cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u64|s64}.f32 {D}, {f}",
    "cvt.{rni|rzi|rmi|rpi}.{u16|s16}.f32 {H}, {f}",
    "cvt.{rni|rzi|rmi|rpi}.{u32|s32}.f64 {R}, {g}",
    "cvt.{rni|rzi|rmi|rpi}.{u64|s64}.f64 {D}, {g}",
    "cvt.{rni|rzi|rmi|rpi}.{u32|s32}.f16 {R}, {h}",
    "cvt.{rni|rzi|rmi|rpi}{|.ftz}{|.sat}.f32.f32 {F}, {f}",
    "cvt.{rni|rzi|rmi|rpi}.f64.f64 {G}, {g}",
    "cvt.{rni|rzi|rmi|rpi}.f16.f16 {H}, {h}",
    "cvt.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32.f64 {F}, {g}",
    "cvt{|.ftz}.f64.f32 {G}, {f}",
    "cvt{|.ftz}.f32.f16 {F}, {h}",
    "cvt.f64.f16 {G}, {h}",
    "cvt.{rn|rz}{|.ftz}.f16.f32 {H}, {f}",
    "cvt.rn.f16.f64 {H}, {g}",
    "cvt.{rn|rz}{|.relu}.bf16.f32 {H}, {f}",
    "cvt.{rn|rz}{|.relu}.f16x2.f32 {R}, {f}, {f}",
    "cvt.{rn|rz}{|.relu}.bf16x2.f32 {R}, {f}, {f}",
    "cvt.f32.bf16 {F}, {h}",
    "cvt{|.sat}.{u8|s8}.{u32|s32} {R}, {r}",
    "cvt{|.sat}.{u16|s16}.{u32|s32} {H}, {r}",
    "cvt{|.sat}.{u32|s32}.{u64|s64} {R}, {d}",
    "cvt.{u64|s64}.{u32|s32} {D}, {r}",
    "cvt.{u32|s32}.{u16|s16} {R}, {h}",
    "cvt.sat.{u32.s32|s32.u32} {R}, {r}",
    "cvt.pack.sat.{u16|s16}.s32 {R}, {r}, {r}",
    "cvt.pack.sat.{u8|s8}.s32.b32 {R}, {r}, {r}, {r}",
    // Comparisons and selections.
    "setp.{eq|ne|lt|le|gt|ge}.{u32|s32} {P}, {r}, {i}",
    "setp.{eq|ne|lt|le|gt|ge}.{u64|s64} {P}, {d}, {d}",
    "setp.{eq|ne|lt|le|gt|ge}.{u16|s16} {P}, {h}, {h}",
    "setp.{lo|ls|hi|hs}.u32 {P}, {r}, {r}",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.ftz}.f32 {P}, {f}, {f}",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f64 {P}, {g}, {g}",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f16 {P}, {h}, {h}",
    "setp.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32} {P}, {r}, {r}, {|!}{p}",
    "setp.{lt|ge|equ|ltu}.{and|or|xor}.f32 %p0|%p1, {f}, {f}, {|!}{p}",
    "setp.{lt|ge|equ|ltu}.f16x2 %p2|%p3, {r}, {r}",
    "set.{eq|lt|ge}.{u32|s32}.{u32|s32} {R}, {r}, {r}",
    "set.{eq|lt|geu|nan}{|.ftz}.{u32|s32}.f32 {R}, {f}, {f}",
    "set.{eq|lt|geu|nan}.f16x2.f16x2 {R}, {r}, {r}",
    "selp.{b32|u32|s32} {R}, {r}, {r}, {p}",
    "selp.b64 {D}, {d}, {d}, {p}",
    "selp.b16 {H}, {h}, {h}, {p}",
    "selp.f32 {F}, {f}, {f}, {p}",
    "selp.f64 {G}, {g}, {g}, {p}",
    "slct.{u32|s32|b32}.s32 {R}, {r}, {r}, {r}",
    "slct{|.ftz}.f32.f32 {F}, {f}, {f}, {f}",
    // The thread's own memory: its part of shared memory, local memory.
    "st.shared.{b32|u32} [%mine+{4}], {r}",
    "st.shared.b8 [%mine+{1}], {r}",
    "st.shared.b16 [%mine+{2}], {h}",
    "st.shared.b64 [%mine+{8}], {d}",
    "st.shared.f32 [%mine+{4}], {f}",
    "st.shared.v2.b32 [%mine+{8}], {{r}, {r}}",
    "st.shared.v4.f32 [%mine+{16}], {{f}, {f}, {f}, {f}}",
    "ld.shared.{u8|s8|u16|s16} {R}, [%mine+{2}]",
    "ld.shared.{b32|u32} {R}, [%mine+{4}]",
    "ld.shared.{u8|s8|u32|s32|u64} {D}, [%mine+{8}]",
    "ld.shared.v2.u16 {{H}, %v0}, [%mine+{4}]",
    "ld.shared.v4.b32 {%t0, {R}, %t1, %t2}, [%mine+{16}]",
    "and.b32 %t0, {r}, 28; add.u32 %t0, %stack, %t0; st.local.b32 [%t0], {r}",
    "and.b32 %t0, {r}, 28; add.u32 %t0, %stack, %t0; ld.local.b32 {R}, [%t0]",
    "and.b32 %t0, {r}, 24; add.u32 %t0, %stack, %t0; ld.local.b64 {D}, [%t0]",
    "and.b32 %t0, {r}, 60; cvt.u64.u32 %u0, %t0; mov.u64 %u1, table; add.u64 %u0, %u0, %u1; \
     ld.const.{u32|b32} {R}, [%u0]",
    "mov.u32 {R}, {%tid.x|%laneid|%lanemask_lt|%lanemask_ge|%ntid.x}",
    "cvt.u64.u32 %u0, %mine; cvta.shared.u64 %u0, %u0; ld.{b32|u32} {R}, [%u0+{4}]",
    "cvt.u64.u32 %u0, %mine; cvta.shared.u64 %u0, %u0; st.b32 [%u0+{4}], {r}",
    "cvt.u64.u32 %u0, %stack; cvta.local.u64 %u0, %u0; ld.b64 {D}, [%u0+{0|8|16|24}]",
    "cvt.u64.u32 %u0, %mine; cvta.shared.u64 %u0, %u0; isspacep.{shared|global|local} {P}, %u0",
    "atom.shared.{add.u32|exch.b32|max.s32|min.u32|and.b32|or.b32|xor.b32|inc.u32|dec.u32} {R}, [%mine+{4}], {r}",
    "atom.shared.{add.u64|exch.b64|max.s64|min.u64|and.b64|or.b64|xor.b64} {D}, [%mine+{8}], {d}",
    "atom.shared.cas.b32 {R}, [%mine+{4}], {r}, {r}",
    "atom.shared.cas.b64 {D}, [%mine+{8}], {d}, {d}",
    "atom.shared.add.f64 {G}, [%mine+{8}], {g}",
    "red.shared.{add.u32|max.s32|and.b32|xor.b32} [%mine+{4}], {r}",
    "st.param.b32 [pa], {r}; st.param.b64 [pb], {d}; call.uni (po), mix, (pa, pb); ld.param.b32 {R}, [po]",
    // Fresh values, or everything ends as a NaN.
    "ld.global.{b32|u32|s32} {R}, [%in+{8}]",
    "ld.global.b64 {D}, [%in+{8}]",
    "ld.global.f32 {F}, [%in+{f32}]",
    "ld.global.f32 {F}, [%in+{f32}]",
    "ld.global.f32 {F}, [%in+{f32}]",
    "ld.global.f64 {G}, [%in+{f64}]",
    "ld.global.f64 {G}, [%in+{f64}]",
    "ld.global.f64 {G}, [%in+{f64}]",
    "ld.global.b16 {H}, [%in+{f16}]",
    "ld.global.b16 {H}, [%in+{f16}]",
    "ld.global.b32 {R}, [%in+{f16x2}]",
];

/// Instructions that all threads execute together.
pub const TOGETHER: &[&str] = &[
    "shfl.sync.{up|down|bfly|idx}.b32 {R}|{P}, {r}, {n}, {0|31|0x181f|0x1c07|0x1807}, -1",
    "shfl.sync.{up|down|bfly|idx}.b32 {R}, {r}, {r}, {0|31}, -1",
    "vote.sync.{all|any|uni}.pred {P}, {|!}{p}, -1",
    "vote.sync.ballot.b32 {R}, {|!}{p}, -1",
    "match.any.sync.b32 {R}, {r}, -1",
    "and.b64 %u0, {d}, 3; match.any.sync.b64 {R}, %u0, -1",
    "match.all.sync.b32 {R}|{P}, {r}, -1",
    "redux.sync.{add|min|max}.{u32|s32} {R}, {r}, -1",
    "redux.sync.{and|or|xor}.b32 {R}, {r}, -1",
    "bar.sync 0; st.shared.b32 [%theirs], {r}; bar.sync 0; xor.b32 %t0, %place, {swap}; \
     add.u32 %t0, %t0, %board; ld.shared.b32 {R}, [%t0]",
    "bar.sync 0; red.shared.{add.u32|min.s32|max.u32|xor.b32|and.b32} [%sums+{sum}], {r}; bar.sync 0; \
     ld.shared.b32 {R}, [%sums+{sum}]",
    "bar.red.popc.u32 {R}, 0, {|!}{p}",
    "bar.red.{and|or}.pred {P}, 0, {|!}{p}",
];

/// The beginning of a module: its header, and the data that its programs read.
pub fn header() -> String {
    let mut random = Random(99);
    let table: Vec<String> = (0..16)
        .map(|_| format!("{:#x}", random.next() as u32))
        .collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .const .align 4 .b32 table[16] = {{{}}};\n{FUNCTION}",
        table.join(", ")
    )
}

/// What programs call.
const FUNCTION: &str = "\
.func (.param .b32 result) mix(.param .b32 a, .param .b64 b)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<3>;
	.reg .pred %p;
	ld.param.b32 %r0, [a];
	ld.param.b64 %d0, [b];
	cvt.u32.u64 %r1, %d0;
	setp.lt.s32 %p, %r0, %r1;
	@%p bra LESS;
	shr.u64 %d1, %d0, 32;
	cvt.u32.u64 %r2, %d1;
	mad.lo.u32 %r0, %r0, %r2, %r1;
	bra DONE;
LESS:
	sub.u32 %r0, %r1, %r0;
DONE:
	st.param.b32 [result], %r0;
	ret;
}
";

/// Programs have numbers below this one; beyond, the beginnings of program `number %
/// WHOLE` follow, of `number / WHOLE` instructions or blocks.
pub const WHOLE: u64 = 8000;

/// A program: an entry `program_NUMBER(in, out)`.
pub fn program(number: u64) -> String {
    let seed = (number % WHOLE).wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x5EED;
    let mut writer = Writer {
        random: Random(seed),
        text: String::new(),
        n_labels: 0,
        depth: 0,
    };
    writer.prologue(number);
    let length = 20 + writer.random.below(50);
    let part = (number / WHOLE) as usize;
    writer.sequence(if part == 0 { length } else { part.min(length) }, true);
    writer.epilogue();
    writer.text
}

struct Writer {
    random: Random,
    text: String,
    n_labels: u32,
    depth: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "\t{text};");
    }

    /// Registers start with the thread's input.
    fn prologue(&mut self, number: u64) {
        let _ = write!(
            self.text,
            ".visible .entry program_{number}(.param .u64 in, .param .u64 out)\n{{\n\
             \t.reg .pred %p<{N_PREDICATES}>, %q<4>;\n\t.reg .b16 %h<{N_HALVES}>, %v<2>;\n\
             \t.reg .b32 %r<{N_WORDS}>, %t<4>, %c<4>, %mine, %theirs, %place, %board, %sums, \
             %stack;\n\t.reg .b64 %d<{N_LONGS}>, %u<3>, %in, %out;\n\t.reg .f32 %f<{N_SINGLES}>;\n\
             \t.reg .f64 %g<{N_DOUBLES}>;\n\t.shared .align 16 .b8 memory[{}];\n\
             \t.local .align 16 .b8 local[32];\n\t.param .b32 pa, po;\n\t.param .b64 pb;\n",
            64 * THREADS + 4 * THREADS + 32
        );
        for line in [
            "mov.u32 %t0, %tid.x",
            "ld.param.u64 %in, [in]",
            "mul.wide.u32 %u0, %t0, 128",
            "add.u64 %in, %in, %u0",
            "ld.param.u64 %out, [out]",
            &format!("mul.wide.u32 %u0, %t0, {}", 8 * OUTPUT_WORDS),
            "add.u64 %out, %out, %u0",
            "mov.u32 %mine, memory",
            &format!("add.u32 %board, %mine, {}", 64 * THREADS),
            &format!("add.u32 %sums, %board, {}", 4 * THREADS),
            "mad.lo.u32 %mine, %t0, 64, %mine",
            "shl.b32 %place, %t0, 2",
            "add.u32 %theirs, %board, %place",
            "mov.u32 %stack, local",
            "and.b32 %t1, %t0, 7",
            "mad.lo.u32 %t1, %t1, 4, %sums",
            "mov.u32 %t2, 0",
            "st.shared.b32 [%t1], %t2",
            "mov.u64 %u0, 0",
        ] {
            self.line(line);
        }
        for i in 0..8 {
            self.line(&format!("st.shared.b64 [%mine+{}], %u0", 8 * i));
        }
        for i in 0..4 {
            self.line(&format!("st.local.b64 [local+{}], %u0", 8 * i));
        }
        let each = [
            ("b32", "r", N_WORDS, 8, 16),
            ("b64", "d", N_LONGS, 8, 16),
            ("f32", "f", N_SINGLES, 8, 6),
            ("f64", "g", N_DOUBLES, 8, 5),
            ("b16", "h", N_HALVES, 2, 8),
        ];
        for (ty, name, n, step, n_places) in each {
            let base = match name {
                "f" => SINGLES,
                "g" => DOUBLES,
                "h" => HALVES,
                _ => 0,
            };
            for i in 0..n {
                let at = base + step * (i % n_places);
                self.line(&format!("ld.global.{ty} %{name}{i}, [%in+{at}]"));
            }
        }
        for i in 0..N_PREDICATES {
            self.line(&format!("setp.lt.s32 %p{i}, %r{i}, %r{}", i + 2));
        }
    }

    /// All registers are the result.
    fn epilogue(&mut self) {
        let mut at = 0;
        let mut store = |writer: &mut Self, ty: &str, name: String| {
            writer.line(&format!("st.global.{ty} [%out+{at}], {name}"));
            at += 8;
        };
        for i in 0..N_WORDS {
            self.line(&format!("cvt.u64.u32 %u0, %r{i}"));
            store(self, "b64", "%u0".to_owned());
        }
        for i in 0..N_LONGS {
            store(self, "b64", format!("%d{i}"));
        }
        for i in 0..N_SINGLES {
            self.line(&format!("mov.b32 %t0, %f{i}"));
            self.line("cvt.u64.u32 %u0, %t0");
            store(self, "b64", "%u0".to_owned());
        }
        for i in 0..N_DOUBLES {
            store(self, "f64", format!("%g{i}"));
        }
        for i in 0..N_HALVES {
            self.line(&format!("cvt.u64.u16 %u0, %h{i}"));
            store(self, "b64", "%u0".to_owned());
        }
        self.line("mov.u64 %u1, 0");
        for i in 0..N_PREDICATES {
            self.line(&format!("selp.u64 %u0, {}, 0, %p{i}", 1 << i));
            self.line("or.b64 %u1, %u1, %u0");
        }
        store(self, "b64", "%u1".to_owned());
        self.line("ret");
        self.text.push_str("}\n");
    }

    /// Some instructions; `together` where all threads come here.
    fn sequence(&mut self, length: usize, together: bool) {
        for _ in 0..length {
            if self.depth < 2 && self.random.one_in(14) {
                self.depth += 1;
                self.block(together);
                self.depth -= 1;
            } else if together && self.random.one_in(9) {
                let template = TOGETHER[self.random.below(TOGETHER.len())];
                let text = fill(&mut self.random, template);
                text.split("; ").for_each(|part| self.line(part));
            } else {
                let template = LANEWISE[self.random.below(LANEWISE.len())];
                let text = fill(&mut self.random, template);
                let (first, last) = text.rsplit_once("; ").unwrap_or(("", &text));
                first
                    .split("; ")
                    .filter(|part| !part.is_empty())
                    .for_each(|part| self.line(part));
                // Carries and addresses live from one instruction to the next.
                let is_whole = first.is_empty() && !last.starts_with("testp");
                if self.random.one_in(5) && is_whole {
                    let not = if self.random.one_in(2) { "!" } else { "" };
                    let guard = self.random.below(N_PREDICATES);
                    self.line(&format!("@{not}%p{guard} {last}"));
                } else {
                    self.line(last);
                }
            }
        }
    }

    fn label(&mut self) -> String {
        self.n_labels += 1;
        format!("L{}", self.n_labels)
    }

    /// A branch around some instructions, a two-way branch, or a loop.
    fn block(&mut self, together: bool) {
        let (head, end) = (self.label(), self.label());
        let depth = self.depth;
        let guard = self.random.below(N_PREDICATES);
        let length = 1 + self.random.below(6);
        match self.random.below(5) {
            4 => {
                // One of four branches, by a table.
                let ways: Vec<String> = (0..4).map(|_| self.label()).collect();
                let source = self.random.below(N_WORDS);
                self.line(&format!("and.b32 %t0, %r{source}, 3"));
                let _ = writeln!(self.text, "{head}: .branchtargets {};", ways.join(", "));
                self.line(&format!("brx.idx %t0, {head}"));
                for way in ways {
                    let _ = writeln!(self.text, "{way}:");
                    self.sequence(1 + length / 2, false);
                    self.line(&format!("bra {end}"));
                }
            }
            0 => {
                self.line(&format!("@%p{guard} bra {end}"));
                self.sequence(length, false);
            }
            1 => {
                self.line(&format!("@!%p{guard} bra {head}"));
                self.sequence(length, false);
                self.line(&format!("bra {end}"));
                let _ = writeln!(self.text, "{head}:");
                self.sequence(length, false);
            }
            kind => {
                // Equally often for all threads, or a number of times per thread.
                let same = kind == 2;
                if same {
                    let n = 1 + self.random.below(4);
                    self.line(&format!("mov.u32 %c{depth}, {n}"));
                } else {
                    let source = self.random.below(N_WORDS);
                    self.line(&format!("and.b32 %c{depth}, %r{source}, 3"));
                }
                let _ = writeln!(self.text, "{head}:");
                self.line(&format!("setp.eq.u32 %q{depth}, %c{depth}, 0"));
                self.line(&format!("@%q{depth} bra {end}"));
                self.line(&format!("sub.u32 %c{depth}, %c{depth}, 1"));
                self.sequence(length, together && same);
                self.line(&format!("bra {head}"));
            }
        }
        let _ = writeln!(self.text, "{end}:");
    }
}
