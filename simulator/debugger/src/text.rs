//! Values, lanes and instructions as text.

use std::fmt::Write as _;

use ptx::ir::{self, Address, AddressBase, Function, Instruction, Operand, Symbol, Type};
use ptx_sim::debug::{Known, Value, Waits};
use ptx_sim::diagnostics::Place;

use crate::element::{self, Element, Number};

/// A value as a number.
pub fn number_of(value: Value) -> Number {
    let element = match value.ty {
        Type::Pred => return Number::Integer((value.bits & 1) as i128),
        Type::B128 => return Number::Integer(value.bits as i128),
        // Two numbers in one.
        Type::F16x2 | Type::Bf16x2 => Element::Unsigned(4),
        ty => Element::of_type(ty).unwrap_or(Element::Unsigned(ty.size_bytes() as u8)),
    };
    let bytes = value.bits.to_le_bytes();
    element::number(element, &bytes[..element.bytes() as usize])
}

/// A number.
pub fn number(number: Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Float(value) => format!("{value:?}"),
    }
}

/// What is known of a register. Bits without a type are shown as a number, and as what else they
/// may be.
pub fn known(known: Known) -> String {
    match known {
        Known::Is(value) => self::value(value),
        Known::InFlight => "in flight: a product will write it".to_owned(),
        Known::NotWritten => "not written yet".to_owned(),
        Known::NotKept { last_used } => {
            format!("no longer kept: last used in line {last_used} of the PTX text")
        }
        Known::Unused => "not used by any instruction".to_owned(),
    }
}

/// A register's value.
pub fn value(value: Value) -> String {
    let bits = value.bits;
    match value.ty {
        Type::Pred => (bits & 1 != 0).to_string(),
        Type::B16 => format!("{} ({bits:#x})", bits as u16),
        Type::B32 => {
            let mut text = format!("{}", bits as u32);
            let (signed, float) = (bits as u32 as i32, f32::from_bits(bits as u32));
            if signed < 0 {
                let _ = write!(text, ", i32 {signed}");
            }
            if is_likely(f64::from(float)) {
                let _ = write!(text, ", f32 {float:?}");
            }
            text
        }
        Type::B64 => match is_likely(f64::from_bits(bits as u64)) {
            true => format!("{bits:#x}, f64 {:?}", f64::from_bits(bits as u64)),
            false => format!("{bits:#x}"),
        },
        Type::B128 => format!("{bits:#x}"),
        Type::F32 | Type::Tf32 => format!("{:?}", f32::from_bits(bits as u32)),
        Type::F16x2 | Type::Bf16x2 => {
            let is_f16 = value.ty == Type::F16x2;
            let element = if is_f16 { Element::F16 } else { Element::Bf16 };
            let bytes = (bits as u32).to_le_bytes();
            let [a, b] = [&bytes[..2], &bytes[2..]].map(|part| element::text(element, part));
            format!("({a}, {b})")
        }
        _ => number(number_of(value)),
    }
}

/// Whether bits are likely to be this float, and not an integer or an address.
fn is_likely(float: f64) -> bool {
    (1e-10..1e12).contains(&float.abs())
}

/// Lanes, such as `0-15, 20`.
pub fn lanes(mask: u32) -> String {
    let is_in = |lane: u32| mask >> lane & 1 != 0;
    let is_first = |&lane: &u32| is_in(lane) && !(lane > 0 && is_in(lane - 1));
    let run = |first: u32| match (mask >> first).trailing_ones() {
        1 => first.to_string(),
        n => format!("{first}-{}", first + n - 1),
    };
    let runs: Vec<String> = (0..32).filter(is_first).map(run).collect();
    match runs.is_empty() {
        true => "none".to_owned(),
        false => runs.join(", "),
    }
}

/// A number with commas.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A place in a grid or a block, without the zeros at its end.
pub fn triple([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => format!("{x}"),
        (_, 0) => format!("{x},{y}"),
        _ => format!("{x},{y},{z}"),
    }
}

/// `8×8×1`.
pub fn product([x, y, z]: [u32; 3]) -> String {
    format!("{x}×{y}×{z}")
}

/// A line of source, or of the PTX text where that is not known.
pub fn place(place: &Place) -> String {
    match &place.source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => format!("ptx:{}", place.ptx_line),
    }
}

/// What lanes wait for.
pub fn waits(waits: Option<Waits>) -> String {
    match waits {
        None => "can run".to_owned(),
        Some(Waits::Barrier) => "wait at a barrier".to_owned(),
        Some(Waits::Cluster) => "wait for their cluster".to_owned(),
        Some(Waits::Warpgroup) => "wait for their warpgroup".to_owned(),
        Some(Waits::Lanes(mask)) => format!("wait for lanes {}", lanes(mask)),
        Some(Waits::Join(mask)) => format!("wait to meet lanes {}", lanes(mask)),
    }
}

/// An instruction as PTX.
pub fn instruction(module: &ir::Module, function: &Function, at: &Instruction) -> String {
    let mut text = String::new();
    if let Some(guard) = at.guard {
        let not = if guard.negated { "!" } else { "" };
        let name = &function.registers[guard.register.0 as usize].name;
        let _ = write!(text, "@{not}{name} ");
    }
    text.push_str(&at.opcode);
    let operands = at.operands.iter().map(|o| operand(module, function, o));
    let operands: Vec<String> = operands.collect();
    if !operands.is_empty() {
        let _ = write!(text, " {}", operands.join(", "));
    }
    text
}

fn operand(module: &ir::Module, function: &Function, of: &Operand) -> String {
    let register = |id: &ir::RegId| function.registers[id.0 as usize].name.clone();
    let inner = |o: &Operand| operand(module, function, o);
    match of {
        Operand::Reg(id) => register(id),
        Operand::NotReg(id) => format!("!{}", register(id)),
        Operand::Pair(a, b) => format!("{}|{}", inner(a), inner(b)),
        Operand::Sink => "_".to_owned(),
        Operand::Int(value) => value.to_string(),
        Operand::F32(bits) => format!("{:?}", f32::from_bits(*bits)),
        Operand::F64(bits) => format!("{:?}", f64::from_bits(*bits)),
        Operand::Vector(all) => {
            let all: Vec<String> = all.iter().map(inner).collect();
            format!("{{{}}}", all.join(", "))
        }
        Operand::Address(at) => format!("[{}]", address(module, function, at)),
        Operand::IndexedAddress(at, rest) => {
            let rest: Vec<String> = rest.iter().map(inner).collect();
            let base = address(module, function, at);
            format!("[{base}, {{{}}}]", rest.join(", "))
        }
        Operand::Special(special) => ptx::parse::special_name(*special),
        Operand::Symbol {
            base,
            offset,
            generic,
        } => {
            let text = with_offset(symbol(module, function, *base), *offset);
            match generic {
                true => format!("generic({text})"),
                false => text,
            }
        }
        Operand::Element { base, offset } => with_offset(symbol(module, function, *base), *offset),
        Operand::Function(id) => module.functions[id.0 as usize].name.clone(),
        Operand::External(name) => name.clone(),
        Operand::List(all) => {
            let all: Vec<String> = all.iter().map(inner).collect();
            format!("({})", all.join(", "))
        }
        Operand::Label(id) => function.labels[id.0 as usize].name.clone(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// An address without its brackets.
fn address(module: &ir::Module, function: &Function, at: &Address) -> String {
    match at.base {
        AddressBase::Reg(id) => {
            let name = &function.registers[id.0 as usize].name;
            with_offset(name.clone(), at.offset)
        }
        AddressBase::Symbol(base) => with_offset(symbol(module, function, base), at.offset),
        AddressBase::Absolute => at.offset.to_string(),
    }
}

fn with_offset(base: String, offset: i64) -> String {
    match offset {
        0 => base,
        offset => format!("{base}{offset:+}"),
    }
}

/// The name of an object with an address.
fn symbol(module: &ir::Module, function: &Function, of: Symbol) -> String {
    let name = match of {
        Symbol::Variable(id) => &module.variables[id.0 as usize].name,
        Symbol::Param(index) => &function.params[index as usize].name,
        Symbol::Return(index) => &function.returns[index as usize].name,
        Symbol::Local(id) => &function.locals[id.0 as usize].name,
    };
    name.clone()
}
