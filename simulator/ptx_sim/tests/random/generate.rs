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

use common::numbers::Numbers;
use std::fmt::Write as _;

use super::template::*;

/// 64-bit words that each thread writes: all its registers.
pub const OUTPUT_WORDS: usize = REGISTER_WORDS;

/// The beginning of a module: its header, and the data that its programs read.
pub fn header() -> String {
    let mut random = Numbers(99);
    let table: Vec<String> = (0..16)
        .map(|_| format!("{:#x}", random.draw() as u32))
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
        random: Numbers(seed),
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
    random: Numbers,
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
        load_registers().iter().for_each(|line| self.line(line));
    }

    /// All registers are the result.
    fn epilogue(&mut self) {
        store_registers().iter().for_each(|line| self.line(line));
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
                let text = self.filled("together");
                text.split("; ").for_each(|part| self.line(part));
            } else {
                let text = self.filled("lanewise");
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

    /// A template of a section, filled.
    fn filled(&mut self, section: &str) -> String {
        let templates = templates(section);
        let template = templates[self.random.below(templates.len())];
        fill(&mut self.random, template)
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
