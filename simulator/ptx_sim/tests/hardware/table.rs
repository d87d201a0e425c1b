//! The instructions compared: those of `table.txt`.

use super::inputs::{Kind, operand};
use crate::measured::cases::expand;

/// How close to the hardware a result must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// Bit for bit.
    Exact,
    /// An approximate `f32` result: relative error against the true value.
    Relative(f64),
    /// An approximate `f32` result: absolute error.
    Absolute(f64),
    /// As `lg2` is bounded: absolute near 1, relative elsewhere.
    Logarithm,
}

/// One instruction.
pub struct Case {
    /// Opcode, e.g. `add.rz.f32`.
    pub opcode: String,
    /// Width of the destination in bits; 1 for a predicate.
    pub result_bits: u32,
    /// Operands, with the width of their registers.
    pub operands: Vec<(Kind, u32)>,
    /// Text after the operands: an immediate table of `lop3`.
    pub suffix: String,
    /// How close.
    pub agreement: Agreement,
}

/// The operands of a case, cut to their registers.
pub fn operands(case: &Case, number: u64) -> [u64; 3] {
    let mut words = [0; 3];
    for (place, (kind, n_bits)) in case.operands.iter().enumerate() {
        words[place] = operand(*kind, place as u64, number) & (u64::MAX >> (64 - n_bits));
    }
    words
}

/// Every instruction.
pub fn cases() -> Vec<Case> {
    let lines = include_str!("table.txt").lines();
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .flat_map(expand)
        .map(|line| case(&line))
        .collect()
}

fn case(line: &str) -> Case {
    let mut words = line.split(' ');
    let mut next = || words.next().expect("bits and an opcode");
    let mut case = Case {
        result_bits: next().parse().expect("a number of bits"),
        opcode: next().to_owned(),
        operands: Vec::new(),
        suffix: String::new(),
        agreement: Agreement::Exact,
    };
    while let Some(word) = words.next() {
        let mut bound = || {
            let bound = words.next().and_then(|bound| bound.strip_prefix("2^"));
            2_f64.powf(bound.expect("a power of two").parse().expect("a number"))
        };
        match (kind(word), word) {
            (Some(operand), _) => case.operands.push(operand),
            (None, "relative") => case.agreement = Agreement::Relative(bound()),
            (None, "absolute") => case.agreement = Agreement::Absolute(bound()),
            (None, "logarithm") => case.agreement = Agreement::Logarithm,
            (None, immediate) => case.suffix += &format!(", {immediate}"),
        }
    }
    case
}

/// An operand by its name, with the width of its register.
fn kind(name: &str) -> Option<(Kind, u32)> {
    Some(match name {
        "int16" => (Kind::Int, 16),
        "int32" => (Kind::Int, 32),
        "int64" => (Kind::Int, 64),
        "count" => (Kind::Count, 32),
        "f16" => (Kind::F16, 16),
        "bf16" => (Kind::Bf16, 16),
        "f32" => (Kind::F32, 32),
        "f64" => (Kind::F64, 64),
        "tiny" => (Kind::Tiny, 32),
        "huge" => (Kind::Huge, 32),
        "tiny_f16" => (Kind::TinyF16, 16),
        "tiny_f64" => (Kind::TinyF64, 64),
        _ => return None,
    })
}
