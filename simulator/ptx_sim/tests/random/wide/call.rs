//! Functions and calls.

use common::numbers::Numbers;
use std::fmt::Write as _;

use super::flow::negated;
use super::{Convergence, Place, Writer};
use crate::random::template::*;

/// What functions of a program take in addition to the addresses of inputs and memory, a
/// mask, a depth and a structure; and what they return.
pub struct Signature {
    params: Vec<Param>,
    result: Param,
    /// Whether a mask names the lanes that call together.
    is_masked: bool,
}

/// A parameter's type, what is stored for it and where it is loaded to.
#[derive(Clone, Copy)]
struct Param {
    ty: &'static str,
    source: &'static str,
    load: &'static str,
    destination: &'static str,
}

const fn param(
    ty: &'static str,
    source: &'static str,
    load: &'static str,
    destination: &'static str,
) -> Param {
    Param {
        ty,
        source,
        load,
        destination,
    }
}

/// ptxas passes fewer than 32 bits only as arrays of bytes.
const PARAMS: &[Param] = &[
    param("b8", "{r}", "u8", "{H}"),
    param("b8", "{r}", "s8", "{R}"),
    param("b8", "{d}", "u8", "{R}"),
    param("b16", "{h}", "b16", "{H}"),
    param("b16", "{h}", "s16", "{R}"),
    param("b32", "{r}", "b32", "{R}"),
    param("u32", "{r}", "u32", "{R}"),
    param("b64", "{d}", "b64", "{D}"),
    param("f32", "{f}", "f32", "{F}"),
    param("f64", "{g}", "f64", "{G}"),
];

/// A structure as a result.
const STRUCTURE: Param = param("structure", "", "", "");

impl Param {
    fn declaration(self, name: &str) -> String {
        match self.ty {
            "structure" => format!(".param .align 8 .b8 {name}[16]"),
            "b8" => format!(".param .align 1 .b8 {name}[1]"),
            "b16" => format!(".param .align 2 .b8 {name}[2]"),
            ty => format!(".param .{ty} {name}"),
        }
    }
}

impl Signature {
    pub fn new(random: &mut Numbers) -> Self {
        let params = (0..random.below(5))
            .map(|_| PARAMS[random.below(PARAMS.len())])
            .collect();
        let result = match random.below(PARAMS.len() + 3) {
            i if i < PARAMS.len() => PARAMS[i],
            _ => STRUCTURE,
        };
        Self {
            params,
            result,
            is_masked: !random.one_in(4),
        }
    }

    /// The parameters' declarations, with names that begin so.
    fn declarations(&self, prefix: &str) -> Vec<String> {
        let mut all = vec![
            format!(".param .b64 {prefix}in"),
            format!(".param .b64 {prefix}gen"),
            format!(".param .b64 {prefix}scratch"),
            format!(".param .b32 {prefix}mask"),
            format!(".param .b32 {prefix}depth"),
            format!(".param .align 16 .b8 {prefix}blob[32]"),
        ];
        for (i, param) in self.params.iter().enumerate() {
            all.push(param.declaration(&format!("{prefix}{i}")));
        }
        all
    }
}

impl Signature {
    /// The parameters' declarations without names.
    fn prototype(&self) -> String {
        let mut all = [".param .b64 _"; 3].join(", ");
        all += ", .param .b32 _, .param .b32 _, .param .align 16 .b8 _[32]";
        for param in &self.params {
            let _ = write!(all, ", {}", param.declaration("_"));
        }
        all
    }
}

impl Writer<'_> {
    /// A function; those with higher numbers stand before it.
    pub(super) fn write_function(&mut self, index: usize) {
        let result = self.signature.result.declaration("result");
        let mut params = self.signature.declarations("p_").join(", ");
        params = params.replace("p_blob", "blob");
        let _ = write!(
            self.text,
            ".func ({result}) f_{}_{index}({params})\n{{\n",
            self.number
        );
        self.declare_registers();
        self.begin();
        self.begin_function();
        let convergence = if self.signature.is_masked {
            Convergence::Some
        } else {
            Convergence::Alone
        };
        let mut place = Place {
            depth: 0,
            convergence,
            calls: index + 1 < self.n_functions,
            blocks: true,
        };
        let recurses = self.random.one_in(3);
        let length = 2 + self.random.below(8);
        for i in 0..length {
            self.statement(&mut place);
            if recurses && i == length / 2 {
                self.recurse(place);
            }
        }
        self.store_result();
        self.line("ret");
        self.text.push_str("}\n");
    }

    /// Registers start with the parameters and what is made of them.
    fn begin_function(&mut self) {
        for line in [
            "ld.param.b64 %in, [p_in]",
            "ld.param.b64 %gen, [p_gen]",
            "ld.param.b64 %scratch, [p_scratch]",
            "ld.param.b32 %m0, [p_mask]",
            "ld.param.b32 %depth, [p_depth]",
            "ld.param.v4.b32 {%r0, %r1, %r2, %r3}, [blob]",
            "ld.param.v2.b64 {%d0, %d1}, [blob+16]",
        ] {
            self.line(line);
        }
        for i in 4..N_WORDS {
            self.line(&format!(
                "mad.lo.u32 %r{i}, %r{}, {}, %r{}",
                i - 4,
                5 * i + 2,
                i - 1
            ));
        }
        for i in 2..N_LONGS {
            self.line(&format!(
                "mad.wide.u32 %d{i}, %r{i}, %r{}, %d{}",
                i + 1,
                i - 2
            ));
        }
        for i in 0..N_SINGLES {
            let at = SINGLES + 8 * i;
            self.line(&format!("ld.global.f32 %f{i}, [%in+{at}]"));
        }
        for i in 0..N_DOUBLES {
            self.line(&format!("cvt.rn.f64.s32 %g{i}, %r{i}"));
        }
        for i in 0..N_HALVES {
            self.line(&format!("cvt.u16.u32 %h{i}, %r{}", i + 3));
        }
        for i in 0..N_PREDICATES {
            self.line(&format!("setp.lt.s32 %p{i}, %r{i}, %r{}", i + 2));
        }
        for i in 0..self.signature.params.len() {
            let Param {
                load, destination, ..
            } = self.signature.params[i];
            self.lines(&format!("ld.param.{load} {destination}, [p_{i}]"), "");
        }
    }

    /// Stores a function's result.
    pub(super) fn store_result(&mut self) {
        let Param { ty, source, .. } = self.signature.result;
        if ty == STRUCTURE.ty {
            let template = self.pick(&[
                "st.param.v2.b32 [result], {{r}, {r}}; st.param.b64 [result+8], {d}",
                "st.param.f64 [result], {g}; st.param.b32 [result+8], {r}; \
                 st.param.b16 [result+12], {h}; st.param.b8 [result+14], {d}; \
                 st.param.b8 [result+15], {r}",
            ]);
            self.lines(template, "");
        } else {
            self.lines(&format!("st.param.{ty} [result], {source}"), "");
        }
    }

    /// A function calls itself if its depth is not used up.
    fn recurse(&mut self, place: Place) {
        let end = self.label();
        let inside = place.inside();
        self.line("setp.ne.u32 %q5, %depth, 0");
        if inside.convergence == Convergence::Some {
            let (inner, outer) = (inside.mask(), place.mask());
            self.line(&format!("vote.sync.ballot.b32 {inner}, %q5, {outer}"));
        }
        self.line(&format!("@!%q5 bra {end}"));
        self.line("sub.u32 %t5, %depth, 1");
        let name = format!("f_{}_{}", self.number, self.function.unwrap_or(0));
        self.call_of(&name, &inside.mask(), None);
        self.mark(&end);
    }

    /// A call by name or by address, with a guard now and then.
    pub(super) fn call(&mut self, place: &mut Place) {
        let first = self.function.map_or(0, |index| index + 1);
        let mask = place.mask();
        // Nested calls grow quickly.
        place.calls = self.function.is_none() && !self.random.one_in(3);
        match (self.function, self.random.below(3)) {
            (None, 0) => self.lines("and.b32 %t5, {r}, 3", ""),
            (None, _) => self.lines("mov.u32 %t5, {1|2|3}", ""),
            _ => self.lines("mov.u32 %t5, {0|1|2}", ""),
        }
        match self.random.below(4) {
            0 if first == 0 => self.call_by_address(&mask),
            1 => {
                let condition = self.condition();
                self.line(&format!("vote.sync.ballot.b32 %k, {condition}, {mask}"));
                let name = self.callee(first);
                self.call_of(&name, "%k", Some(&condition));
            }
            _ => {
                let name = self.callee(first);
                self.call_of(&name, &mask, None);
            }
        }
    }

    fn callee(&mut self, first: usize) -> String {
        let index = first + self.random.below(self.n_functions - first);
        format!("f_{}_{index}", self.number)
    }

    /// A call through the program's table, of one function for all or of several.
    fn call_by_address(&mut self, mask: &str) {
        self.lines(&format!("and.b32 %t4, {{r}}, {}", self.n_functions - 1), "");
        self.line(&format!("match.any.sync.b32 %k, %t4, {mask}"));
        self.line(&format!("mov.u64 %u2, table_{}", self.number));
        self.line("mul.wide.u32 %u0, %t4, 8");
        self.line("add.u64 %u2, %u2, %u0");
        self.line("ld.global.u64 %u2, [%u2]");
        self.call_of("%u2", "%k", None);
    }

    /// A call with parameters from registers; the depth stands in `%t5`.
    fn call_of(&mut self, callee: &str, mask: &str, condition: Option<&str>) {
        self.choose_pointer();
        self.text.push_str("\t{\n");
        for declaration in self.signature.declarations("a_") {
            self.line(&declaration);
        }
        let result = self.signature.result;
        self.line(&result.declaration("a_result"));
        let names = self.store_arguments(mask);
        if callee.starts_with('%') {
            let prototype = self.label();
            let _ = writeln!(
                self.text,
                "\t{prototype}: .callprototype ({}) _ ({});",
                result.declaration("_"),
                self.signature.prototype()
            );
            self.line(&format!(
                "call (a_result), {callee}, ({names}), {prototype}"
            ));
        } else {
            let guard = condition.map_or_else(String::new, |condition| format!("@{condition} "));
            self.line(&format!("{guard}call (a_result), {callee}, ({names})"));
        }
        self.take_result(condition);
        self.text.push_str("\t}\n");
    }

    /// Stores a call's arguments; gives their names.
    fn store_arguments(&mut self, mask: &str) -> String {
        for (param, ty, register) in [
            ("in", "b64", "%in"),
            ("gen", "b64", "%u3"),
            ("scratch", "b64", "%scratch"),
            ("mask", "b32", mask),
            ("depth", "b32", "%t5"),
        ] {
            self.line(&format!("st.param.{ty} [a_{param}], {register}"));
        }
        self.fill_structure();
        let mut names = "a_in, a_gen, a_scratch, a_mask, a_depth, a_blob".to_owned();
        for i in 0..self.signature.params.len() {
            let Param { ty, source, .. } = self.signature.params[i];
            self.lines(&format!("st.param.{ty} [a_{i}], {source}"), "");
            let _ = write!(names, ", a_{i}");
        }
        names
    }

    /// Loads a call's result, in the lanes that called.
    fn take_result(&mut self, condition: Option<&str>) {
        let after = self.label();
        if let Some(condition) = condition {
            self.line(&format!("@{} bra {after}", negated(condition)));
        }
        let Param {
            ty,
            load,
            destination,
            ..
        } = self.signature.result;
        if ty == STRUCTURE.ty {
            let template = self.pick(&[
                "ld.param.b64 {D}, [a_result]; ld.param.v2.u16 {{R2}}, [a_result+8]",
                "ld.param.v4.b16 {{H4}}, [a_result]; ld.param.v2.b32 {{R2}}, [a_result+8]",
                "ld.param.b32 {R}, [a_result+4]; ld.param.s8 {R}, [a_result+14]; \
                 ld.param.f64 {G}, [a_result]",
            ]);
            self.lines(template, "");
        } else {
            self.lines(&format!("ld.param.{load} {destination}, [a_result]"), "");
        }
        self.mark(&after);
    }

    /// Some memory of the thread's own, for the callee: `%u3`.
    fn choose_pointer(&mut self) {
        let template = [
            "mov.u64 %u3, %gen",
            "mov.u64 %u3, %scratch",
            "cvt.u64.u32 %u3, %mine; cvta.shared.u64 %u3, %u3",
            "cvt.u64.u32 %u3, %stack; cvta.local.u64 %u3, %u3",
        ][self.random.below(4)];
        self.lines(template, "");
    }

    /// Fills the structure that a call passes.
    fn fill_structure(&mut self) {
        const PARTS: &[&str] = &[
            "st.param.b64 [a_blob+O], {d}",
            "st.param.f64 [a_blob+O], {g}",
            "st.param.v2.b32 [a_blob+O], {{r}, {r}}",
            "st.param.v4.b16 [a_blob+O], {{h}, {h}, {h}, {h}}",
            "st.param.f32 [a_blob+O], {f}; st.param.u32 [a_blob+O+4], {r}",
            "st.param.b16 [a_blob+O], {h}; st.param.b8 [a_blob+O+2], {r}; st.param.b8 [a_blob+O+3], {d}; \
             st.param.v4.b8 [a_blob+O+4], {{r}, {r}, {r}, {r}}",
        ];
        for at in [0, 8, 16, 24] {
            let mut template = self.pick(PARTS).to_owned();
            for extra in [4, 3, 2] {
                template = template.replace(&format!("O+{extra}"), &(at + extra).to_string());
            }
            self.lines(&template.replace('O', &at.to_string()), "");
        }
    }
}
