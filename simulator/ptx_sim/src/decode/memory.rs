//! `ld` and `st`.

use crate::program::{Access, AddressOperand, Init, Op, Order, PartialLoad, RowMove, Scope};
use ptx::ir::{Address, AddressBase, Operand, Space, Symbol, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::modifiers::{ignore_hints, take_cluster, take_order, take_space, take_vector};
use super::opcode::Opcode;
use super::operand::{elements, immediate, type_of_width};

impl Decoder<'_> {
    /// `ld`, of which only the bytes of a mask matter, if there is one.
    pub fn load(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
        used: Option<u64>,
    ) -> Decoded<()> {
        let (order, scope) = take_order(op);
        let in_cluster = take_cluster(op);
        let space = take_space(op)?;
        let is_constant = op.has("nc");
        ignore_hints(op);
        let n = take_vector(op);
        let ty = op.ty()?;
        let [d, address, ..] = operands else {
            return Err("a load takes a destination and an address".to_owned());
        };
        if let Some(()) = self.load_parameter(d, address, space, n, ty)? {
            return Ok(());
        }
        let (address, space) = self.address_in(address, space, in_cluster)?;
        let mut register_bytes = 0;
        let mut registers = Vec::with_capacity(n);
        for element in elements(d, n)? {
            if *element == Operand::Sink {
                registers.push(None);
                continue;
            }
            let (slot, bytes) = self.any_register(element)?;
            check_width(ty, bytes)?;
            if register_bytes != 0 && register_bytes != bytes {
                return Err("the registers have different widths".to_owned());
            }
            register_bytes = bytes;
            registers.push(Some(slot));
        }
        let register_bytes = register_bytes.max(ty.size_bytes().max(2));
        let whole = Access {
            row: RowMove::of(&registers, register_bytes, ty.size_bytes()),
            space,
            address,
            element_bytes: ty.size_bytes(),
            register_bytes,
            signed: is_signed(ty),
            is_constant,
            registers,
            order,
            scope,
        };
        let n_bytes = n as u32 * ty.size_bytes();
        let all = 1_u64.checked_shl(n_bytes).map_or(u64::MAX, |bit| bit - 1);
        match used {
            Some(used) if used & all != all => self.load_parts(whole, used),
            _ => self.emit(Op::Load(Box::new(whole))),
        }
        Ok(())
    }

    /// A kernel's parameter at a constant offset is a value that is present from the start:
    /// reading it is a copy.
    fn load_parameter(
        &mut self,
        d: &Operand,
        address: &Operand,
        space: Space,
        n: usize,
        ty: Type,
    ) -> Decoded<Option<()>> {
        let Operand::Address(Address {
            base: AddressBase::Symbol(Symbol::Param(index)),
            offset,
        }) = address
        else {
            return Ok(None);
        };
        if !self.function.is_entry || space != Space::Param || ty.size_bytes() > 8 {
            return Ok(None);
        }
        let param = &self.function.params[*index as usize];
        let size = ty.size_bytes();
        let end = offset + i64::from(size) * n as i64;
        if *offset < 0 || end > i64::from(param.size_bytes) || offset % i64::from(size) != 0 {
            return Ok(None);
        }
        for (i, element) in elements(d, n)?.iter().enumerate() {
            if *element == Operand::Sink {
                continue;
            }
            let (slot, bytes) = self.any_register(element)?;
            check_width(ty, bytes)?;
            let at = param.offset + *offset as u32 + size * i as u32;
            let init = Init::Param {
                offset: at,
                size,
                signed: is_signed(ty),
                bytes,
            };
            let value = self.frame.value(init);
            self.copy_to(element, slot, value, bytes);
        }
        Ok(Some(()))
    }

    /// A vector load of which only the bytes of a mask matter: the others may not be
    /// there, and read as 0. Of each element, the span from the first to the last byte that
    /// matters is loaded, rounded up to 1, 2, 4 or 8 bytes.
    fn load_parts(&mut self, whole: Access, used: u64) {
        let size = whole.element_bytes;
        let register_bytes = whole.register_bytes;
        let mut parts = Vec::new();
        let mut unused = Vec::new();
        for (i, register) in (0..).zip(&whole.registers) {
            let Some(slot) = *register else { continue };
            let mask = used.checked_shr(size * i).unwrap_or(0) & ((1 << size) - 1);
            let n_bytes = 64 - mask.leading_zeros();
            if n_bytes == 0 {
                unused.push(slot);
                continue;
            }
            let element_bytes = n_bytes.next_power_of_two();
            let registers = vec![Some(slot)];
            let part = Access {
                row: RowMove::of(&registers, whole.register_bytes, element_bytes),
                element_bytes,
                signed: whole.signed && element_bytes == size,
                registers,
                ..whole.clone()
            };
            parts.push((size * i, part));
        }
        self.emit(Op::LoadParts(Box::new(PartialLoad { whole, parts })));
        // After the load, which may have its address in one of these.
        for slot in unused {
            let zero = self.frame.constant(0, register_bytes);
            self.copy(slot, zero, register_bytes);
        }
    }

    /// `st`
    pub fn store(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (order, scope) = take_order(op);
        let in_cluster = take_cluster(op);
        let space = take_space(op)?;
        ignore_hints(op);
        let n = take_vector(op);
        let ty = op.ty()?;
        let [address, a, ..] = operands else {
            return Err("a store takes an address and a source".to_owned());
        };
        let address = self.address_in(address, space, in_cluster)?;
        let store = self.stored(address, a, (n, ty), (order, scope))?;
        self.emit(Op::Store(Box::new(store)));
        Ok(())
    }

    /// A store of `n` elements of a type.
    pub fn stored(
        &mut self,
        (address, space): (AddressOperand, Space),
        a: &Operand,
        (n, ty): (usize, Type),
        (order, scope): (Order, Scope),
    ) -> Decoded<Access> {
        if space == Space::Const {
            return Err("constant memory cannot be written".to_owned());
        }
        // Constants take the width of the registers next to them.
        let sources = elements(a, n)?;
        let mut register_bytes = None;
        for element in sources {
            if let Operand::Reg(r) = element {
                let bytes = lane_bytes(self.frame.type_of(*r));
                if register_bytes.is_some_and(|b| b != bytes) {
                    return Err("the registers have different widths".to_owned());
                }
                register_bytes = Some(bytes);
            }
        }
        let register_bytes = register_bytes.unwrap_or(ty.size_bytes().max(2));
        check_width(ty, register_bytes)?;
        let mut registers = Vec::with_capacity(n);
        for element in sources {
            let slot = match element {
                Operand::Reg(r) => self.frame.register(*r),
                Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                    let bits = immediate(element, ty)?;
                    self.frame.constant(bits, register_bytes)
                }
                other => self.source(other, type_of_width(register_bytes))?,
            };
            registers.push(Some(slot));
        }
        Ok(Access {
            row: RowMove::of(&registers, register_bytes, ty.size_bytes()),
            space,
            address,
            element_bytes: ty.size_bytes(),
            register_bytes,
            signed: false,
            is_constant: false,
            registers,
            order,
            scope,
        })
    }
}

/// A memory operand's register is at least as wide as its type.
fn check_width(ty: Type, register_bytes: u32) -> Decoded<()> {
    if register_bytes == 0 || ty == Type::Pred {
        return Err("a predicate cannot be loaded or stored".to_owned());
    }
    if register_bytes < ty.size_bytes() {
        return Err(format!(
            "a register of {register_bytes} bytes is too narrow for {ty}"
        ));
    }
    if ty == Type::B128 && register_bytes != 16 {
        return Err("a 128-bit access needs a 128-bit register".to_owned());
    }
    Ok(())
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64)
}
