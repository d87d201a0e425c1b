//! `ld` and `st`.

use crate::ir::{Address, AddressBase, Operand, Space, Symbol, Type};
use crate::program::{Access, Init, Op, Order, Scope};

use super::frame::lane_bytes;
use super::instruction::{Decoder, take_space};
use super::opcode::Opcode;
use super::operand::{Decoded, immediate};

/// Cache, eviction and prefetch hints: they change no value.
fn ignore_hints(op: &mut Opcode<'_>) {
    op.ignore(&[
        "ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "unified", "uni",
    ]);
    while op
        .take_if(|part| {
            (part.starts_with("L1::") || part.starts_with("L2::") || part.starts_with("level"))
                .then_some(())
        })
        .is_some()
    {}
}

/// Takes the scope: the whole device where none is given.
pub(crate) fn take_scope(op: &mut Opcode<'_>) -> Scope {
    if op.take("cta") {
        return Scope::Block;
    }
    op.ignore(&["cluster", "gpu", "gl", "sys"]);
    Scope::Device
}

/// Takes ordering and scope. In this machine every access is visible to all at
/// once, in program order, so that every ordering holds; observers compare what
/// the kernel asked for with what it needs.
pub(crate) fn take_order(op: &mut Opcode<'_>) -> (Order, Scope) {
    let scope = take_scope(op);
    op.ignore(&["weak", "mmio"]);
    let order = op.take_if(|part| {
        Some(match part {
            "volatile" | "relaxed" => Order::Relaxed,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acq_rel" => Order::AcquireRelease,
            _ => return None,
        })
    });
    (order.unwrap_or(Order::Weak), scope)
}

/// Takes a vector length.
pub(crate) fn take_vector(op: &mut Opcode<'_>) -> usize {
    for (name, n) in [("v2", 2), ("v4", 4), ("v8", 8)] {
        if op.take(name) {
            return n;
        }
    }
    1
}

/// The elements of a register operand.
pub(crate) fn elements(operand: &Operand, n: usize) -> Decoded<&[Operand]> {
    let elements = match operand {
        Operand::Vector(elements) => &elements[..],
        single => std::slice::from_ref(single),
    };
    if elements.len() == n {
        Ok(elements)
    } else {
        Err(format!("{} registers for {n} elements", elements.len()))
    }
}

impl Decoder<'_> {
    /// `ld`
    pub fn load(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (order, scope) = take_order(op);
        let space = take_space(op)?;
        ignore_hints(op);
        let n = take_vector(op);
        let ty = op.ty()?;
        let [d, address, ..] = operands else {
            return Err("a load takes a destination and an address".to_owned());
        };
        if let Some(()) = self.load_parameter(d, address, space, n, ty)? {
            return Ok(());
        }
        let (address, space) = self.address(address, space)?;
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
        self.emit(Op::Load(Box::new(Access {
            space,
            address,
            element_bytes: ty.size_bytes(),
            register_bytes: register_bytes.max(ty.size_bytes().max(2)),
            signed: is_signed(ty),
            registers,
            order,
            scope,
        })));
        Ok(())
    }

    /// A kernel's parameter at a constant offset is a value that is there from
    /// the start: reading it is a copy.
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
            self.copy(slot, value, bytes);
        }
        Ok(Some(()))
    }

    /// `st`
    pub fn store(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (order, scope) = take_order(op);
        let space = take_space(op)?;
        ignore_hints(op);
        let n = take_vector(op);
        let ty = op.ty()?;
        let [address, a, ..] = operands else {
            return Err("a store takes an address and a source".to_owned());
        };
        let (address, space) = self.address(address, space)?;
        if space == Space::Const {
            return Err("constant memory cannot be written".to_owned());
        }
        // Constants take the width of the registers beside them.
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
                    self.frame.value(Init::Constant {
                        bits,
                        bytes: register_bytes,
                    })
                }
                other => self.source(other, type_of_width(register_bytes))?,
            };
            registers.push(Some(slot));
        }
        self.emit(Op::Store(Box::new(Access {
            space,
            address,
            element_bytes: ty.size_bytes(),
            register_bytes,
            signed: false,
            registers,
            order,
            scope,
        })));
        Ok(())
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

/// The untyped type of a width.
pub(crate) fn type_of_width(bytes: u32) -> Type {
    match bytes {
        2 => Type::B16,
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::B128,
    }
}
