//! `atom` and `red`.

use crate::program::{Atomic, AtomicKind, AtomicType, Op, Order, Slot};
use ptx::ir::{Operand, Space, Type};

use super::decoder::{Decoded, Decoder};
use super::modifiers::{take_cluster, take_order, take_space, take_vector};
use super::opcode::Opcode;
use super::operand::{elements, type_of_width};

impl Decoder<'_> {
    /// `atom`, `red`
    pub fn atomic(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let reduction = self.atomic_of(op, operands)?;
        self.emit(Op::Atomic(Box::new(reduction)));
        Ok(())
    }

    /// What an atomic instruction does; further operands are ignored.
    pub fn atomic_of(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<Atomic> {
        let is_reduction = op.name == "red";
        let (order, scope) = match take_order(op) {
            // Atomics are at least relaxed.
            (Order::Weak, scope) => (Order::Relaxed, scope),
            given => given,
        };
        let in_cluster = take_cluster(op);
        let space = take_space(op)?;
        op.ignore(&["noftz", "L2::cache_hint"]);
        let n = take_vector(op);
        let kind = op.choose(&KINDS).ok_or("no operation given")?;
        let ty = op.ty()?;
        let atomic_type = type_of(ty, kind)?;
        let swaps = swaps(kind);
        let bytes = ty.size_bytes();
        let register = type_of_width(bytes);
        let mut operands = operands.iter();
        let mut missing = || {
            operands
                .next()
                .ok_or_else(|| "an operand is missing".to_owned())
        };
        let old_operand = if is_reduction { None } else { Some(missing()?) };
        let address = missing()?;
        let value = missing()?;
        let swap = if kind == AtomicKind::CompareAndSwap {
            Some(missing()?)
        } else {
            None
        };
        let (address, space) = self.address_in(address, space, in_cluster)?;
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err("atomics work on global and shared memory".to_owned());
        }
        let result_is_read = match old_operand {
            Some(Operand::Reg(register)) => self.read.contains(*register),
            Some(Operand::Sink) | None => false,
            Some(_) => true,
        };
        let is_increment = !result_is_read
            && kind == AtomicKind::Add
            && ty == Type::U32
            && *value == Operand::Int(1);
        let is_reduction = is_reduction
            || (!result_is_read && !swaps && order == Order::Relaxed && space == Space::Global);
        let mut slots = Vec::with_capacity(n);
        for element in elements(value, n)? {
            slots.push(self.source(element, register)?);
        }
        let old = match old_operand {
            Some(operand) => self.old_values(operand, n, register)?,
            None => Vec::new(),
        };
        let swap = swap.map(|s| self.source(s, register)).transpose()?;
        Ok(Atomic {
            space,
            address,
            kind,
            ty: atomic_type,
            bytes,
            old,
            value: slots,
            swap,
            is_reduction,
            is_increment,
            order,
            scope,
        })
    }

    /// Where the `n` values that were in memory go.
    fn old_values(
        &mut self,
        operand: &Operand,
        n: usize,
        register: Type,
    ) -> Decoded<Vec<Option<Slot>>> {
        if n == 1 {
            return Ok(vec![self.optional_destination(operand, register)?]);
        }
        elements(operand, n)?
            .iter()
            .map(|element| self.optional_destination(element, register))
            .collect()
    }
}

/// The operations, of which bulk copies have the first eight.
pub(super) const KINDS: [(&str, AtomicKind); 10] = [
    ("add", AtomicKind::Add),
    ("min", AtomicKind::Min),
    ("max", AtomicKind::Max),
    ("inc", AtomicKind::Increment),
    ("dec", AtomicKind::Decrement),
    ("and", AtomicKind::And),
    ("or", AtomicKind::Or),
    ("xor", AtomicKind::Xor),
    ("exch", AtomicKind::Exchange),
    ("cas", AtomicKind::CompareAndSwap),
];

/// Whether an operation replaces the word regardless of its value.
fn swaps(kind: AtomicKind) -> bool {
    matches!(kind, AtomicKind::Exchange | AtomicKind::CompareAndSwap)
}

/// How an operation treats values of a type.
fn type_of(ty: Type, kind: AtomicKind) -> Decoded<AtomicType> {
    let atomic_type = match ty {
        Type::S32 | Type::S64 => AtomicType::Signed,
        Type::F16 => AtomicType::F16,
        Type::F16x2 => AtomicType::F16x2,
        Type::Bf16 => AtomicType::Bf16,
        Type::Bf16x2 => AtomicType::Bf16x2,
        Type::F32 => AtomicType::F32,
        Type::F64 => AtomicType::F64,
        Type::U32 | Type::U64 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => {
            AtomicType::Unsigned
        }
        other => return Err(format!("there are no atomics on {other}")),
    };
    if ty.size_bytes() == 16 && !swaps(kind) {
        return Err("128-bit atomics can only exchange".to_owned());
    }
    if ty.size_bytes() == 2 && atomic_type == AtomicType::Unsigned && !swaps(kind) {
        return Err("16-bit atomics can only exchange, or add floats".to_owned());
    }
    Ok(atomic_type)
}
