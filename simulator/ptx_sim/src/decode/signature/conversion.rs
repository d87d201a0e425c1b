//! `cvt`: types on both sides, and the rounding between them.

use super::form::{any_of, type_part};
use super::operands::{Judge, Place, count_between};
use crate::decode::refusal::Refusal;
use ptx::ir::{Function, Instruction, Operand, Type};

const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];
const TO_INTEGERS: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];
const OTHERS: [&str; 2] = ["ftz", "sat"];

/// What is wrong with a conversion between two plain numbers.
pub(super) fn check(
    function: &Function,
    instruction: &Instruction,
    parts: &[&str],
) -> Result<(), Refusal> {
    let Some((to, from)) = types(instruction, parts)? else {
        return Ok(());
    };
    check_rounding(&instruction.opcode, parts, to, from)?;
    count_between(instruction, 2, 2)?;
    let judge = Judge {
        function,
        opcode: &instruction.opcode,
    };
    let place = |n: usize| Place {
        operand: &instruction.operands[n - 1],
        n,
    };
    judge.moved(place(1), to, 1, true)?;
    match place(2).operand {
        Operand::Special(_) => Ok(()),
        _ => judge.moved(place(2), from, 1, false),
    }
}

/// The types of the result and of the source, where the conversion is between plain
/// numbers.
fn types(instruction: &Instruction, parts: &[&str]) -> Result<Option<(Type, Type)>, Refusal> {
    let types: Vec<Type> = parts
        .iter()
        .filter_map(|part| Type::from_name(part))
        .collect();
    let lists = [&ROUNDINGS[..], &TO_INTEGERS, &OTHERS];
    let is_listed = |part: &&&str| lists.iter().any(|list| list.contains(part));
    if parts.iter().filter(is_listed).count() + types.len() != parts.len() {
        return Ok(None);
    }
    for &ty in &types {
        let advice = match ty {
            Type::Pred => "compare by setp, or choose by selp",
            Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => {
                "name the kind of number, or copy bits by mov"
            }
            _ => continue,
        };
        let reason = format!("cvt does not convert {ty}: {advice}");
        return Err(Refusal::invalid(reason).at_part(type_part(ty)));
    }
    match types[..] {
        [] | [_] => Err(Refusal::invalid(format!(
            "`{}` needs two types, that of the result and that of the source",
            instruction.opcode
        ))),
        [to, from] if kind(to).is_some() && kind(from).is_some() => Ok(Some((to, from))),
        _ => Ok(None),
    }
}

/// A rounding, where there are numbers that the result cannot hold.
fn check_rounding(opcode: &str, parts: &[&str], to: Type, from: Type) -> Result<(), Refusal> {
    let needed = match (kind(from), kind(to)) {
        (Some(Kind::Float), Some(Kind::Integer)) => TO_INTEGERS,
        (Some(Kind::Integer), Some(Kind::Float)) => ROUNDINGS,
        (Some(Kind::Float), Some(Kind::Float)) if to.size_bytes() < from.size_bytes() => ROUNDINGS,
        _ => return Ok(()),
    };
    if parts
        .iter()
        .any(|part| ROUNDINGS.contains(part) || TO_INTEGERS.contains(part))
    {
        return Ok(());
    }
    let names = any_of(needed.iter().map(|name| format!(".{name}")));
    Err(Refusal::invalid(format!(
        "`{opcode}` needs a rounding, since not every {from} is a {to}: {names}"
    )))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
}

/// What a type that has rules without exceptions is.
fn kind(ty: Type) -> Option<Kind> {
    use Type::{F16, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
    match ty {
        U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => Some(Kind::Integer),
        F16 | F32 | F64 => Some(Kind::Float),
        _ => None,
    }
}
