//! The check of operands against what an instruction takes.

use super::form::Parts;
use crate::decode::isa::table::{Form, Want};
use crate::decode::kind::kind_of;
use crate::decode::refusal::Refusal;
use ptx::ir::{Function, Instruction, Operand, Type};
use ptx::part::Part;

/// What is wrong with the operands of an instruction.
pub(super) fn check(
    function: &Function,
    instruction: &Instruction,
    form: &Form,
    opcode: &Parts,
) -> Result<(), Refusal> {
    let operands = &instruction.operands;
    check_count(instruction, form)?;
    let judge = Judge {
        function,
        opcode: &instruction.opcode,
    };
    if let (Some(Want::Label), Some(operand)) = (form.operands.first(), operands.first()) {
        return judge.label(Place { operand, n: 1 });
    }
    let Some(&ty) = opcode.types.first() else {
        return Ok(());
    };
    for (i, (operand, want)) in operands.iter().zip(&form.operands).enumerate() {
        let place = Place { operand, n: i + 1 };
        match want {
            Want::To => judge.written(place, ty)?,
            Want::From => judge.read(place, ty)?,
            Want::FromSecond => match opcode.types.get(1) {
                Some(&second) => judge.read(place, second)?,
                None => {
                    return Err(Refusal::invalid(format!(
                        "`{}` needs two types, as in `{}{ty}`",
                        instruction.opcode, instruction.opcode
                    )));
                }
            },
            Want::Wide => match (i, twice(ty)) {
                (_, None) => {}
                (0, Some(wide)) => judge.written(place, wide)?,
                (_, Some(wide)) => judge.read(place, wide)?,
            },
            Want::Word if i == 0 => judge.written(place, Type::U32)?,
            Want::Word => judge.read(place, Type::U32)?,
            Want::ToPredicate => judge.written(place, Type::Pred)?,
            Want::Predicate => judge.read(place, Type::Pred)?,
            Want::Loaded => judge.moved(place, ty, opcode.n_elements, true)?,
            Want::Stored => judge.moved(place, ty, opcode.n_elements, false)?,
            Want::Address => judge.address(place)?,
            Want::Label | Want::Any => {}
        }
    }
    Ok(())
}

/// Too few operands, or too many.
fn check_count(instruction: &Instruction, form: &Form) -> Result<(), Refusal> {
    let most = form.operands.len();
    count_between(instruction, most - form.n_optional, most)
}

/// Fewer operands than `fewest`, or more than `most`.
pub(super) fn count_between(
    instruction: &Instruction,
    fewest: usize,
    most: usize,
) -> Result<(), Refusal> {
    let n = instruction.operands.len();
    if (fewest..=most).contains(&n) {
        return Ok(());
    }
    let takes = match (fewest, most) {
        (1, 1) => "1 operand".to_owned(),
        _ if fewest == most => format!("{most} operands"),
        _ => format!("{fewest} to {most} operands"),
    };
    let refusal = Refusal::invalid(format!(
        "`{}` takes {takes}, but {n} {} given",
        instruction.opcode,
        if n == 1 { "is" } else { "are" },
    ));
    Err(match instruction.operands.get(most) {
        Some(superfluous) => refusal.at(superfluous),
        None => refusal.at_part(Part::End),
    })
}

/// An operand and its number, from 1.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub operand: &'a Operand,
    pub n: usize,
}

/// Compares operands with types.
pub(super) struct Judge<'a> {
    pub function: &'a Function,
    pub opcode: &'a str,
}

impl Judge<'_> {
    fn refuse(&self, place: Place<'_>, ty: &str, what: &str) -> Refusal {
        Refusal::invalid(format!(
            "operand {} of `{}` takes {ty}, but {what}",
            place.n, self.opcode
        ))
        .at(place.operand)
    }

    /// A destination of exactly a type.
    fn written(&self, place: Place<'_>, ty: Type) -> Result<(), Refusal> {
        match place.operand {
            Operand::Reg(_) => self.exact(place, ty),
            Operand::Pair(first, second) => {
                // The second of a shuffle is a predicate, as are both of setp.
                let operand = |operand| Place {
                    operand,
                    n: place.n,
                };
                self.written(operand(first), ty)?;
                self.written(operand(second), Type::Pred)
            }
            // `mov` splits a vector, and results may be discarded.
            Operand::Sink | Operand::Vector(_) | Operand::Component(..) => Ok(()),
            other => Err(self.refuse(
                place,
                "a register to write to",
                &format!("this is {}", kind_of(other)),
            )),
        }
    }

    /// A source of exactly a type.
    fn read(&self, place: Place<'_>, ty: Type) -> Result<(), Refusal> {
        match place.operand {
            Operand::Reg(_) => self.exact(place, ty),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => self.constant(place, ty),
            Operand::NotReg(_) if ty != Type::Pred => {
                Err(self.refuse(place, &with_article(ty), "this is a negated predicate"))
            }
            Operand::Address(_) => Err(self.refuse(
                place,
                &with_article(ty),
                "this is an address in brackets: load from it first, by ld",
            )),
            Operand::Label(_) => Err(self.refuse(place, &with_article(ty), "this is a label")),
            _ => Ok(()),
        }
    }

    /// A register whose type has to agree with the instruction's.
    fn exact(&self, place: Place<'_>, ty: Type) -> Result<(), Refusal> {
        let Some((name, actual)) = self.register(place.operand) else {
            return Ok(());
        };
        if agree(ty, actual) {
            return Ok(());
        }
        let (taken, given) = (bits(ty), bits(actual));
        let advice = if ty == Type::Pred {
            ": compare by setp to make one"
        } else if actual == Type::Pred {
            ": choose between two values by selp"
        } else if taken != given {
            ": convert it by cvt"
        } else {
            ": convert it by cvt, or copy its bits by mov"
        };
        let what = if taken == given || ty == Type::Pred || actual == Type::Pred {
            format!("`{name}` is {actual}{advice}")
        } else {
            format!("`{name}` is {actual}, of {given} bits{advice}")
        };
        Err(self.refuse(place, &with_article(ty), &what))
    }

    /// A register that may be wider than the type, or this many of them.
    pub fn moved(
        &self,
        place: Place<'_>,
        ty: Type,
        n_elements: usize,
        is_written: bool,
    ) -> Result<(), Refusal> {
        let elements = match place.operand {
            Operand::Vector(elements) => &elements[..],
            single => std::slice::from_ref(single),
        };
        if elements.len() != n_elements {
            let what = format!("here {} given", count(elements.len()));
            let takes = match n_elements {
                1 => format!("one {ty}"),
                n => format!("{n} elements in braces"),
            };
            return Err(self.refuse(place, &takes, &what));
        }
        for element in elements {
            let place = Place {
                operand: element,
                n: place.n,
            };
            match element {
                Operand::Reg(_) => self.at_least(place, ty)?,
                Operand::Sink => {}
                _ if is_written => self.written(place, ty)?,
                _ => self.read(place, ty)?,
            }
        }
        Ok(())
    }

    /// A register at least as wide as a type.
    fn at_least(&self, place: Place<'_>, ty: Type) -> Result<(), Refusal> {
        let Some((name, actual)) = self.register(place.operand) else {
            return Ok(());
        };
        let (taken, given) = (bits(ty), bits(actual));
        if actual == Type::Pred || given < taken {
            let what = format!("`{name}` is {actual}, of {given} bits");
            return Err(self.refuse(place, &format!("at least {taken} bits for {ty}"), &what));
        }
        let fits = is_bits(ty)
            || is_bits(actual)
            || (is_float(ty) && is_float(actual) && given == taken)
            || (!is_float(ty) && !is_float(actual));
        if fits {
            return Ok(());
        }
        let what = format!("`{name}` is {actual}: use a register of type .b{given}");
        Err(self.refuse(place, &with_article(ty), &what))
    }

    /// An address in brackets, whose register can hold one.
    fn address(&self, place: Place<'_>) -> Result<(), Refusal> {
        match place.operand {
            Operand::Address(_) | Operand::IndexedAddress(..) | Operand::Element { .. } => Ok(()),
            other => Err(self.refuse(
                place,
                "an address in brackets, such as `[%rd1+4]`",
                &format!("this is {}", kind_of(other)),
            )),
        }
    }

    fn label(&self, place: Place<'_>) -> Result<(), Refusal> {
        match place.operand {
            Operand::Label(_) => Ok(()),
            Operand::Reg(_) => Err(self.refuse(
                place,
                "a label",
                "this is a register: jump through a list of labels by brx.idx",
            )),
            other => Err(self.refuse(place, "a label", &format!("this is {}", kind_of(other)))),
        }
    }

    fn constant(&self, place: Place<'_>, ty: Type) -> Result<(), Refusal> {
        match (place.operand, ty) {
            (&Operand::Int(value), Type::F32 | Type::F64) => {
                let form = match ty {
                    Type::F32 => format!("0f{:08X}", value as u32),
                    _ => format!("0d{value:016X}"),
                };
                let what = format!(
                    "this is an integer: write `{value}.0` for its value, or `{form}` for its bits"
                );
                Err(self.refuse(place, "a floating-point number", &what))
            }
            (Operand::F32(_) | Operand::F64(_), ty) if is_integer(ty) => {
                Err(self.refuse(place, "an integer", "this is a floating-point number"))
            }
            _ => Ok(()),
        }
    }

    /// A register's name and type.
    fn register(&self, operand: &Operand) -> Option<(&str, Type)> {
        let (Operand::Reg(id) | Operand::NotReg(id)) = operand else {
            return None;
        };
        let register = self.function.registers.get(id.0 as usize)?;
        Some((&register.name, register.ty))
    }
}

fn count(n: usize) -> String {
    match n {
        1 => "one is".to_owned(),
        n => format!("{n} are"),
    }
}

fn with_article(ty: Type) -> String {
    match ty {
        Type::Pred => "a predicate".to_owned(),
        other => format!("{other}, of {} bits", bits(other)),
    }
}

fn bits(ty: Type) -> u32 {
    match ty {
        Type::Pred => 1,
        other => 8 * other.size_bytes(),
    }
}

fn is_bits(ty: Type) -> bool {
    // Pairs of halves are bits to ptxas.
    matches!(
        ty,
        Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 | Type::F16x2 | Type::Bf16x2
    )
}

fn is_float(ty: Type) -> bool {
    matches!(
        ty,
        Type::F16 | Type::Bf16 | Type::F32 | Type::F64 | Type::Tf32
    )
}

fn is_integer(ty: Type) -> bool {
    !is_bits(ty) && !is_float(ty) && ty != Type::Pred
}

/// Whether a register of a type can be used where another type is taken.
fn agree(taken: Type, actual: Type) -> bool {
    if taken == Type::Pred || actual == Type::Pred {
        // ptxas accepts a pair of halves for a predicate.
        return taken == actual || actual == Type::F16x2;
    }
    bits(taken) == bits(actual)
        && (is_bits(taken) || is_bits(actual) || is_float(taken) == is_float(actual))
}

fn twice(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => return None,
    })
}
