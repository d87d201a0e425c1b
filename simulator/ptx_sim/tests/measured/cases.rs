//! The instructions to measure, and kernels that apply them to every lane of many warps.

/// Video instructions that an H200 with ptxas 13.0 executes differently from their
/// documentation. No GPU since sm_50 has them; ptxas's replacements omit saturation beyond a
/// word, multiply unsigned words as if they were signed, and put the wrong half in place
/// (ptxas 13.5 no longer does the last). The simulator follows the documentation.
const NOT_AS_DOCUMENTED: &[&str] = &[
    "vadd.u32.u32.u32.sat d_0,a_0,",
    "vadd.u32.u32.u32.sat.",
    "vsub.u32.u32.u32.sat.m",
    "h1,a_0.h0,b_0.b2,c_0",
    "sat d_0.b1,a_0.h0,b_0.b2,c_0",
    "vshl.u32.u32.u32.sat",
    "vshl.s32.s32.u32.sat",
    "vshl.u32.s32.u32.sat",
    "vmad.u32.u32.u32.s",
    "vmad.u32.u32.u32.po",
    "vmad.s32.s32.u32.s",
    "vset.s32.u32.lt.max",
    "vset.s32.u32.ge.max",
    "vset.s32.u32.ne.max",
    "vset.s32.s32.lt.max",
    "vset.s32.s32.ge.max",
    "vset.s32.s32.ne.max",
];

/// Whether the hardware is known to execute a case differently.
pub fn is_unlike(case: &str) -> bool {
    NOT_AS_DOCUMENTED.iter().any(|part| case.contains(part))
}

/// An operand: this many words of a lane, of this kind.
pub struct Operand<'a> {
    name: &'a str,
    pub kind: &'a str,
    pub n: usize,
    /// In memory instead of registers.
    in_memory: bool,
}

impl Operand<'_> {
    /// Bytes of a word.
    pub fn width(&self) -> usize {
        match self.kind {
            "f64" | "64" | "none64" => 8,
            "16" | "int16" => 2,
            _ => 4,
        }
    }

    /// Whether it is a register that the instruction itself fills.
    pub fn is_free(&self) -> bool {
        self.kind.starts_with("none")
    }

    /// Bytes of a warp.
    fn size(&self) -> usize {
        32 * self.width() * self.n
    }
}

/// All instructions, in the order of the file.
pub fn cases() -> Vec<String> {
    include_str!("cases.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(expand)
        .collect()
}

/// All that a line with `<a|b>` in it stands for.
pub fn expand(text: &str) -> Vec<String> {
    let Some(end) = text.find('>') else {
        return vec![text.to_owned()];
    };
    let start = text[..end].rfind('<').expect("an opening bracket");
    let choices = text[start + 1..end].split('|');
    choices
        .flat_map(|choice| expand(&format!("{}{choice}{}", &text[..start], &text[end + 1..])))
        .collect()
}

/// The operands of a case, the result last, and the instruction.
pub fn parts(case: &str) -> (Vec<Operand<'_>>, &str) {
    let (operands, instruction) = case.split_once('|').expect("a bar");
    let operand = |text| {
        let (name, rest): (&str, &str) = str::split_once(text, '=').expect("a name");
        let (kind, n) = rest.split_once(':').expect("a number of words");
        Operand {
            name: name.trim_start_matches('*'),
            kind,
            n: n.parse().expect("a number"),
            in_memory: name.starts_with('*'),
        }
    };
    (
        operands.split_whitespace().map(operand).collect(),
        instruction,
    )
}

/// `a_0, a_1`
fn registers(operand: &Operand<'_>) -> String {
    let names: Vec<String> = (0..operand.n)
        .map(|i| format!("{}_{i}", operand.name))
        .collect();
    names.join(", ")
}

/// A kernel `case_INDEX(from, to)`, and the bytes that a warp reads and writes.
pub fn kernel(index: usize, case: &str) -> (String, usize, usize) {
    let (operands, instruction) = parts(case);
    let (result, sources) = operands.split_last().expect("a result");
    let mut body = instruction.to_owned();
    let (mut declared, mut loads, mut stores) = (String::new(), String::new(), String::new());
    let mut offset = 0;
    for operand in sources {
        let (name, width) = (operand.name, operand.width());
        body = body.replace(&format!("${name}"), operand.kind);
        if operand.in_memory {
            loads += &format!("add.u64 %p_{name}, %in, {offset};\n");
            body = body.replace(&format!("{{{name}}}"), &format!("%p_{name}"));
            declared += &format!(".reg .b64 %p_{name};\n");
        } else {
            declared += &format!(".reg .b{} {};\n", 8 * width, registers(operand));
        }
        if operand.is_free() {
            continue;
        }
        for i in (0..operand.n).filter(|_| !operand.in_memory) {
            let at = offset + 32 * width * i;
            loads += &format!(
                "ld.global.b{} {name}_{i}, [%lane{width} + {at}];\n",
                8 * width
            );
        }
        offset += operand.size();
    }
    if result.in_memory {
        body = body.replace(&format!("{{{}}}", result.name), "%out");
    } else {
        let bits = 8 * result.width();
        declared += &format!(".reg .b{bits} {};\n", registers(result));
        for i in 0..result.n {
            let (at, name) = (32 * result.width() * i, result.name);
            stores += &format!("st.global.b{bits} [%to{} + {at}], {name}_{i};\n", bits / 8);
        }
    }
    for operand in &operands {
        let vector = format!("{{{}}}", registers(operand));
        body = body.replace(&format!("{{{}}}", operand.name), &vector);
    }
    let mut lanes = String::new();
    for width in [2, 4, 8] {
        lanes += &format!(
            "mad.wide.u32 %lane{width}, %l, {width}, %in;\nmad.wide.u32 %to{width}, %l, {width}, \
             %out;\n"
        );
    }
    let size = result.size();
    let text = format!(
        ".visible .entry case_{index}(.param .u64 from, .param .u64 to)
{{
.reg .b32 %l, %w;
.reg .b64 %in, %out, %lane2, %lane4, %lane8, %to2, %to4, %to8;
{declared}ld.param.u64 %in, [from];
ld.param.u64 %out, [to];
mov.u32 %w, %ctaid.x;
mad.wide.u32 %in, %w, {offset}, %in;
mad.wide.u32 %out, %w, {size}, %out;
mov.u32 %l, %laneid;
{lanes}{loads}{body};
{stores}ret;
}}
"
    );
    (text, offset, size)
}
