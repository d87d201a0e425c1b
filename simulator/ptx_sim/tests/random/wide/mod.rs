//! The second set of programs: all kinds of statements, nested in each other.
//!
//! A program is an entry and up to four functions, which call each other and themselves;
//! see [`Kind`] for what they consist of. Every thread has memory of its own (64 bytes
//! each of shared, local and global memory), so that all accesses to shared data are
//! separated by barriers. All registers and the three memories are the result.
//!
//! # Warp-wide instructions in divergent code
//!
//! In each place the register `%m0`, `%m1`, … of its depth holds the lanes that come there
//! together: before every branch they vote on who takes it. Where that cannot be known
//! ([`Convergence::Alone`]), each lane names only itself.
//!
//! # Omissions
//!
//! Besides what `generate.rs` and `templates.txt` name, and what `settled.rs` settles: the value of
//! `activemask` (where lanes reconverge is up to the machine), the lane that `elect` chooses,
//! shuffles from absent lanes. Every loop counts down, and where any branch may lead anywhere each
//! thread has fuel.

mod call;
mod flow;
mod settled;
mod warp_wide;

use common::numbers::Numbers;
use std::fmt::Write as _;

use crate::random::template::*;
use call::Signature;
use settled::settled;

/// 64-bit words that each thread writes: registers, then shared, local and global memory.
pub const OUTPUT_WORDS: usize = REGISTER_WORDS + 24;

/// Programs have numbers below this one; beyond, the beginnings of program `number %
/// WHOLE` follow, of `number / WHOLE` statements.
pub const WHOLE: u64 = 100_000;

/// What precedes each of an entry's statements, and what follows the last.
const MARK: &str = "\t// statement\n";

/// Deepest nesting of blocks.
const MAX_DEPTH: usize = 3;

/// What a program consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// An instruction that each thread executes alone.
    Lanewise,
    /// A chain of instructions with carries.
    Carries,
    /// An access to memory of the thread's own.
    Memory,
    /// A barrier, or an operation of all lanes of all warps.
    Everyone,
    /// A warp-wide instruction.
    WarpWide,
    /// A branch around statements, or a two-way branch.
    If,
    /// A loop, by condition above or below.
    Loop,
    /// One of several branches, by a table.
    Switch,
    /// A branch to the statement that follows anyway.
    Hop,
    /// Blocks that lead anywhere, into loops too, until each thread's fuel is used up.
    Maze,
    /// A call, by name or address.
    Call,
    /// An end in the middle.
    Leave,
}

/// How often each kind comes.
const WEIGHTS: &[(Kind, usize)] = &[
    (Kind::Lanewise, 44),
    (Kind::Carries, 6),
    (Kind::Memory, 12),
    (Kind::Everyone, 3),
    (Kind::WarpWide, 10),
    (Kind::If, 6),
    (Kind::Loop, 4),
    (Kind::Switch, 2),
    (Kind::Hop, 1),
    (Kind::Maze, 2),
    (Kind::Call, 5),
    (Kind::Leave, 1),
];

/// Who comes to a place together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Convergence {
    /// All threads of the block.
    Everyone,
    /// The lanes in the mask register of this depth.
    Some,
    /// Unknown.
    Alone,
}

/// The place of a statement.
#[derive(Clone, Copy, Debug)]
struct Place {
    depth: usize,
    convergence: Convergence,
    /// Whether a call may appear here.
    calls: bool,
    /// Whether blocks may appear here.
    blocks: bool,
}

impl Place {
    /// The register that names the lanes that come here together.
    fn mask(self) -> String {
        match self.convergence {
            Convergence::Alone => "%own".to_owned(),
            _ => format!("%m{}", self.depth),
        }
    }

    /// A block in here that some of the lanes come to.
    fn inside(self) -> Self {
        let convergence = match self.convergence {
            Convergence::Alone => Convergence::Alone,
            _ => Convergence::Some,
        };
        Self {
            depth: self.depth + 1,
            convergence,
            blocks: self.depth + 1 < MAX_DEPTH,
            ..self
        }
    }
}

/// Writes one function or entry.
struct Writer<'a> {
    random: Numbers,
    text: String,
    n_labels: u32,
    number: u64,
    /// Of the program's functions.
    signature: &'a Signature,
    n_functions: usize,
    /// Which function this is; none for the entry.
    function: Option<usize>,
}

/// The beginning of a module.
pub fn header() -> String {
    let mut random = Numbers(98);
    let table: Vec<String> = (0..16)
        .map(|_| format!("{:#x}", random.draw() as u32))
        .collect();
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .const .align 16 .b32 table[16] = {{{}}};\n\
         .shared .align 16 .b8 memory[{}];\n",
        table.join(", "),
        64 * THREADS + 4 * THREADS + 32
    )
}

/// The bytes of an entry's last parameter.
pub fn blob(number: u64) -> [u64; 4] {
    let mut random = Numbers((number % WHOLE) ^ 0xB10B);
    std::array::from_fn(|_| random.draw())
}

/// A program: functions, and an entry `program_NUMBER(in, out, blob)`.
fn program(number: u64) -> String {
    let mut random = Numbers((number % WHOLE).wrapping_mul(0xA24B_AED4_963E_E407) ^ 0x51DE);
    let n_functions = [0, 1, 2, 4][random.below(4)];
    let signature = Signature::new(&mut random);
    let writer = |function: Option<usize>, random: &mut Numbers| Writer {
        random: Numbers(random.draw()),
        text: String::new(),
        n_labels: 0,
        number,
        signature: &signature,
        n_functions,
        function,
    };
    let mut text = format!("// program {number}\n");
    for index in (0..n_functions).rev() {
        let mut writer = writer(Some(index), &mut random);
        writer.write_function(index);
        text += &writer.text;
    }
    if n_functions > 0 {
        let names: Vec<String> = (0..n_functions)
            .map(|i| format!("f_{number}_{i}"))
            .collect();
        let _ = writeln!(
            text,
            ".global .align 8 .u64 table_{number}[{n_functions}] = {{{}}};",
            names.join(", ")
        );
    }
    let mut writer = writer(None, &mut random);
    writer.write_entry();
    text + &writer.text
}

/// A program, or the beginning that a number from [`WHOLE`] on stands for.
pub fn program_or_beginning(number: u64) -> String {
    match number / WHOLE {
        0 => program(number),
        n => beginning(&program(number), n as usize),
    }
}

/// A program's text up to some statement of its entry, with its end.
fn beginning(program: &str, n_statements: usize) -> String {
    let mut parts: Vec<&str> = program.split(MARK).collect();
    let end = parts.pop().unwrap_or_default();
    parts.truncate(1 + n_statements);
    parts.join(MARK) + MARK + end
}

/// One of an entry's statements, counted from 1.
pub fn statement(program: &str, number: usize) -> &str {
    program.split(MARK).nth(number).unwrap_or_default()
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "\t{text};");
    }

    /// Instructions of a template, each with a guard if there is one.
    fn lines(&mut self, template: &str, guard: &str) {
        let text = fill(&mut self.random, template);
        text.split("; ")
            .flat_map(settled)
            .for_each(|part| self.line(&format!("{guard}{part}")));
    }

    fn label(&mut self) -> String {
        self.n_labels += 1;
        format!("L{}", self.n_labels)
    }

    fn mark(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn pick<'t>(&mut self, templates: &[&'t str]) -> &'t str {
        templates[self.random.below(templates.len())]
    }

    /// A predicate or its negation, in the form of a guard.
    fn condition(&mut self) -> String {
        let not = if self.random.one_in(2) { "!" } else { "" };
        format!("{not}%p{}", self.random.below(N_PREDICATES))
    }

    fn declare_registers(&mut self) {
        let _ = write!(
            self.text,
            "\t.reg .pred %p<{N_PREDICATES}>, %q<8>;\n\t.reg .b16 %h<{N_HALVES}>, %v<4>;\n\
             \t.reg .b32 %r<{N_WORDS}>, %t<6>, %c<8>, %m<8>, %k, %own, %lane, %fuel, %mine, \
             %theirs, %place, %board, %sums, %stack, %depth;\n\
             \t.reg .b64 %d<{N_LONGS}>, %u<4>, %in, %out, %gen, %scratch;\n\
             \t.reg .f32 %f<{N_SINGLES}>;\n\t.reg .f64 %g<{N_DOUBLES}>;\n\t.reg .b128 %w;\n\
             \t.local .align 16 .b8 local[64];\n"
        );
    }

    /// What every function needs to know about its thread, and zeros in local memory.
    fn begin(&mut self) {
        for line in [
            "mov.u32 %t0, %tid.x",
            "mov.u32 %own, %lanemask_eq",
            "mov.u32 %lane, %laneid",
            "mov.u32 %mine, memory",
            &format!("add.u32 %board, %mine, {}", 64 * THREADS),
            &format!("add.u32 %sums, %board, {}", 4 * THREADS),
            "mad.lo.u32 %mine, %t0, 64, %mine",
            "shl.b32 %place, %t0, 2",
            "add.u32 %theirs, %board, %place",
            "mov.u32 %stack, local",
            "mov.u64 %u0, 0",
        ] {
            self.line(line);
        }
        for i in 0..4 {
            self.line(&format!("st.local.v2.b64 [local+{}], {{%u0, %u0}}", 16 * i));
        }
    }

    fn write_entry(&mut self) {
        let number = self.number;
        let _ = write!(
            self.text,
            ".visible .entry program_{number}(.param .u64 in, .param .u64 out, \
             .param .align 16 .b8 blob[32])\n{{\n"
        );
        self.declare_registers();
        self.begin();
        self.begin_entry();
        let length = 12 + self.random.below(24);
        let mut place = Place {
            depth: 0,
            convergence: Convergence::Everyone,
            calls: self.n_functions > 0,
            blocks: true,
        };
        for _ in 0..length {
            self.text.push_str(MARK);
            self.statement(&mut place);
        }
        self.text.push_str(MARK);
        self.write_results();
    }

    /// Registers start with the thread's input, memories with zeros.
    fn begin_entry(&mut self) {
        for line in [
            "ld.param.u64 %in, [in]",
            "mul.wide.u32 %u1, %t0, 128",
            "add.u64 %in, %in, %u1",
            "ld.param.u64 %out, [out]",
            &format!("mul.wide.u32 %u1, %t0, {}", 8 * OUTPUT_WORDS),
            "add.u64 %out, %out, %u1",
            &format!("add.u64 %scratch, %out, {}", 8 * (OUTPUT_WORDS - 8)),
            "mov.u64 %gen, %scratch",
            "mov.u32 %m0, -1",
            "mad.lo.u32 %t1, %t0, 4, %sums",
            "mov.u32 %t2, 0",
            "setp.lt.u32 %q0, %t0, 8",
            "@%q0 st.shared.b32 [%t1], %t2",
            "st.shared.b32 [%theirs], %t2",
        ] {
            self.line(line);
        }
        for i in 0..4 {
            self.line(&format!(
                "st.shared.v2.b64 [%mine+{}], {{%u0, %u0}}",
                16 * i
            ));
            self.line(&format!(
                "st.global.v2.b64 [%scratch+{}], {{%u0, %u0}}",
                16 * i
            ));
        }
        load_registers().iter().for_each(|line| self.line(line));
    }

    /// All registers and memories are the result.
    fn write_results(&mut self) {
        store_registers().iter().for_each(|line| self.line(line));
        let mut at = 8 * REGISTER_WORDS;
        for base in ["ld.shared.b64 %u0, [%mine", "ld.local.b64 %u0, [%stack"] {
            for i in 0..8 {
                self.line(&format!("{base}+{}]", 8 * i));
                self.line(&format!("st.global.b64 [%out+{at}], %u0"));
                at += 8;
            }
        }
        self.line("ret");
        self.text.push_str("}\n");
    }

    fn sequence(&mut self, length: usize, mut place: Place) {
        for _ in 0..length {
            self.statement(&mut place);
        }
    }

    /// Whether a statement of a kind may appear in a place.
    fn fits(&self, kind: Kind, place: Place) -> bool {
        match kind {
            Kind::Everyone => place.convergence == Convergence::Everyone,
            Kind::If | Kind::Loop | Kind::Switch | Kind::Maze => place.blocks,
            Kind::Call => place.calls,
            Kind::Leave => place.depth == 0,
            _ => true,
        }
    }

    /// A statement. A call or an end changes what may follow.
    fn statement(&mut self, place: &mut Place) {
        let fitting = WEIGHTS.iter().filter(|(kind, _)| self.fits(*kind, *place));
        let fitting: Vec<(Kind, usize)> = fitting.copied().collect();
        let mut ticket = self
            .random
            .below(fitting.iter().map(|(_, weight)| weight).sum());
        let (kind, _) = fitting
            .into_iter()
            .find(|(_, weight)| {
                let is_here = ticket < *weight;
                ticket = ticket.wrapping_sub(*weight);
                is_here
            })
            .expect("the ticket is less than the sum");
        match kind {
            Kind::Lanewise => self.lanewise(),
            Kind::Carries => self.carries(),
            Kind::Memory => self.memory(),
            Kind::Everyone => {
                let template = self.pick(templates("together"));
                self.lines(template, "");
            }
            Kind::WarpWide => self.warp_wide(*place),
            Kind::If => self.write_if(*place),
            Kind::Loop => self.write_loop(*place),
            Kind::Switch => self.switch(*place),
            Kind::Hop => self.hop(),
            Kind::Maze => self.maze(*place),
            Kind::Call => self.call(place),
            Kind::Leave => self.leave(place),
        }
    }

    /// An instruction that each thread executes alone, guarded now and then.
    fn lanewise(&mut self) {
        let groups = [
            "lanewise",
            "integers",
            "bits",
            "moves",
            "conversions",
            "conversions",
            "halves_and_pairs",
            "comparisons",
            "reads",
        ];
        let group = groups[self.random.below(groups.len())];
        let template = self.pick(templates(group));
        // Those of the first set that need its function.
        if template.contains("mix") {
            return;
        }
        let may_be_guarded = !["testp", "param", "set."]
            .iter()
            .any(|part| template.contains(part));
        let guard = if may_be_guarded && self.random.one_in(5) {
            format!("@{} ", self.condition())
        } else {
            String::new()
        };
        self.lines(template, &guard);
    }

    /// Carries pass from one instruction to the next, through those that do not change
    /// them.
    fn carries(&mut self) {
        const FIRST: &[&str] = &[
            "{add|sub}.cc.{u32|s32} {R}, {r}, {i}",
            "{add|sub}.cc.{u64|s64} {D}, {d}, {d}",
            "mad.{lo|hi}.cc.{u32|s32} {R}, {r}, {r}, {r}",
            "mad.{lo|hi}.cc.{u64|s64} {D}, {d}, {d}, {d}",
        ];
        const NEXT: &[&str] = &[
            "{addc|subc}{|.cc}.{u32|s32} {R}, {r}, {i}",
            "{addc|subc}{|.cc}.{u64|s64} {D}, {d}, {d}",
            "madc.{lo|hi}{|.cc}.{u32|s32} {R}, {r}, {r}, {r}",
            "madc.{lo|hi}{|.cc}.{u64|s64} {D}, {d}, {d}, {d}",
            "{addc|subc}.cc.{u32|s32} {R}, {r}, {r}",
            "{addc|subc}{|.cc}.u32 {R}, 0, 0",
        ];
        let first = self.pick(FIRST);
        self.lines(first, "");
        for _ in 0..1 + self.random.below(5) {
            let template = match self.random.below(8) {
                0 => self.pick(FIRST),
                1 => "{and|or|xor}.b32 {R}, {r}, {r}",
                _ => self.pick(NEXT),
            };
            let guard = if self.random.one_in(8) {
                format!("@{} ", self.condition())
            } else {
                String::new()
            };
            self.lines(template, &guard);
        }
    }

    /// An access to memory of the thread's own.
    fn memory(&mut self) {
        const PLACES: &[(&str, &str)] = &[
            (".shared", "%mine"),
            (".local", "%stack"),
            (".global", "%scratch"),
            ("", "%gen"),
            (".volatile.shared", "%mine"),
            (".volatile.global", "%scratch"),
        ];
        let is_atomic = self.random.one_in(6);
        let (space, base) = match self.random.below(PLACES.len()) {
            i if is_atomic => PLACES[2 * (i % 2)],
            i => PLACES[i],
        };
        let mut template = self
            .pick(templates(if is_atomic { "atomics" } else { "memory" }))
            .replacen('S', space, 1)
            .replace("[B", &format!("[{base}"));
        if self.random.one_in(4) && !is_atomic {
            // By an address that is computed.
            let to = if base.starts_with("%mine") || base.starts_with("%stack") {
                format!("add.u32 %t0, %t0, {base}; ")
            } else {
                format!("cvt.u64.u32 %u0, %t0; add.u64 %u0, %u0, {base}; ")
            };
            let address = if to.contains("%u0") { "[%u0]" } else { "[%t0]" };
            let start = template.find('[').expect("an address");
            let end = start + template[start..].find(']').expect("its end");
            template.replace_range(start..=end, address);
            template = format!("and.b32 %t0, {{r}}, 48; {to}{template}");
        }
        self.lines(&template, "");
    }
}

/// What is written out, in order.
pub fn names() -> Vec<String> {
    let memories = ["shared", "local", "global"].into_iter();
    let words = memories.flat_map(|name| (0..8).map(move |i| format!("{name}+{}", 8 * i)));
    register_names().into_iter().chain(words).collect()
}
