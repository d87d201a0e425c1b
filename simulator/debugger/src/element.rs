//! The type of an element of memory, as the instructions that access it have it.

use std::fmt;

use ptx::ir::{Function, Instruction, Operand, RegId, Type};

/// The type of an element of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// An unsigned integer of this many bytes.
    Unsigned(u8),
    /// A signed one.
    Signed(u8),
    /// IEEE half precision.
    F16,
    /// bfloat16
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Element {
    /// Size in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Unsigned(n) | Self::Signed(n) => u64::from(n),
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// By its name in Rust, such as `u32`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "u8" => Self::Unsigned(1),
            "u16" => Self::Unsigned(2),
            "u32" => Self::Unsigned(4),
            "u64" => Self::Unsigned(8),
            "i8" => Self::Signed(1),
            "i16" => Self::Signed(2),
            "i32" => Self::Signed(4),
            "i64" => Self::Signed(8),
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    pub(crate) fn of_type(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::U8 => Self::Unsigned(1),
            Type::U16 => Self::Unsigned(2),
            Type::U32 => Self::Unsigned(4),
            Type::U64 => Self::Unsigned(8),
            Type::S8 => Self::Signed(1),
            Type::S16 => Self::Signed(2),
            Type::S32 => Self::Signed(4),
            Type::S64 => Self::Signed(8),
            Type::F16 | Type::F16x2 => Self::F16,
            Type::Bf16 | Type::Bf16x2 => Self::Bf16,
            Type::F32 | Type::Tf32 => Self::F32,
            Type::F64 => Self::F64,
            _ => return None,
        })
    }

    /// The type of an element that is written by an instruction or read, as far as it or what is
    /// done with its register tells: `.b32` may be anything.
    pub fn of(function: &Function, instruction: &Instruction) -> Option<Self> {
        let ty = last_type(&instruction.opcode)?;
        if let Some(known) = Self::of_type(ty) {
            return Some(known);
        }
        let is_store = instruction.opcode.starts_with("st");
        let value = instruction.operands.get(usize::from(is_store));
        let register = value.and_then(first_register);
        let used = register.and_then(|register| used_as(function, register, ty));
        let bytes = ty.size_bytes();
        used.or(match bytes {
            1 | 2 | 4 | 8 => Some(Self::Unsigned(bytes as u8)),
            _ => None,
        })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(n) => write!(f, "u{}", 8 * n),
            Self::Signed(n) => write!(f, "i{}", 8 * n),
            Self::F16 => f.write_str("f16"),
            Self::Bf16 => f.write_str("bf16"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
        }
    }
}

fn last_type(opcode: &str) -> Option<Type> {
    opcode.rsplit('.').find_map(Type::from_name)
}

fn first_register(operand: &Operand) -> Option<RegId> {
    match operand {
        Operand::Reg(register) => Some(*register),
        Operand::Vector(list) => list.iter().find_map(first_register),
        _ => None,
    }
}

/// As what other instructions use a register, where they agree with its size.
fn used_as(function: &Function, register: RegId, ty: Type) -> Option<Element> {
    let body = function.body.as_deref().unwrap_or_default();
    let names = |operand: &Operand| match operand {
        Operand::Reg(other) => *other == register,
        Operand::Vector(list) => list
            .iter()
            .any(|o| matches!(o, Operand::Reg(r) if *r == register)),
        _ => false,
    };
    let uses = body.iter().filter(|i| i.operands.iter().any(names));
    let typed = uses.filter(|i| !i.opcode.starts_with("ld") && !i.opcode.starts_with("st"));
    let mut types = typed
        .filter_map(|i| last_type(&i.opcode))
        .filter_map(Element::of_type);
    types.find(|element| element.bytes() == u64::from(ty.size_bytes()))
}

/// The value of an element, as text.
pub fn text(element: Element, bytes: &[u8]) -> String {
    match number(element, bytes) {
        Number::Integer(value) => value.to_string(),
        Number::Float(value) if element == Element::F64 => format!("{value:?}"),
        Number::Float(value) => format!("{:?}", value as f32),
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole one.
    Integer(i128),
    /// Any other.
    Float(f64),
}

impl Number {
    /// As a number that may have a fraction.
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Whether it counts as true.
    pub fn is_true(self) -> bool {
        match self {
            Self::Integer(value) => value != 0,
            Self::Float(value) => value != 0.0,
        }
    }
}

/// The value of an element.
pub fn number(element: Element, bytes: &[u8]) -> Number {
    let bits = bytes
        .iter()
        .rev()
        .fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
    match element {
        Element::Unsigned(_) => Number::Integer(i128::from(bits)),
        Element::Signed(n) => {
            let unused = 64 - 8 * u32::from(n);
            Number::Integer(i128::from((bits << unused) as i64 >> unused))
        }
        Element::F16 => Number::Float(half::f16::from_bits(bits as u16).to_f64()),
        Element::Bf16 => Number::Float(half::bf16::from_bits(bits as u16).to_f64()),
        Element::F32 => Number::Float(f64::from(f32::from_bits(bits as u32))),
        Element::F64 => Number::Float(f64::from_bits(bits)),
    }
}
