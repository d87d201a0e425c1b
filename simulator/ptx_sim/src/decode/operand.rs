//! Operands to slots.

use crate::lanes::unary;
use crate::memory::address::generic_of_cluster;
use crate::program::{AddressOperand, Guard, Init, Op, PredicateOp, Slot};
use ptx::ir::{Address, AddressBase, Operand, Space, Special, Symbol, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::kind::kind_of;

impl Decoder<'_> {
    /// A source of exactly a type's width.
    pub fn source(&mut self, operand: &Operand, ty: Type) -> Decoded<Slot> {
        let found = self.source_of(operand, ty);
        found.inspect_err(|_| self.blame(operand))
    }

    fn source_of(&mut self, operand: &Operand, ty: Type) -> Decoded<Slot> {
        let bytes = lane_bytes(ty);
        match operand {
            Operand::Reg(register) => {
                let actual = self.frame.type_of(*register);
                if lane_bytes(actual) != bytes {
                    return Err(format!("an operand is {actual}, not {ty}"));
                }
                Ok(self.frame.register(*register))
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let bits = immediate(operand, ty)?;
                Ok(self.frame.constant(bits, bytes))
            }
            Operand::Special(register) => self.special(*register, bytes),
            Operand::Element { base, offset } => self.symbol(*base, *offset, false, bytes),
            Operand::Symbol {
                base,
                offset,
                generic,
            } => self.symbol(*base, *offset, *generic, bytes),
            Operand::Function(id) => {
                self.callees.push(*id);
                Ok(self.frame.value(Init::Function { id: *id, bytes }))
            }
            other => Err(format!(
                "{} cannot be an operand of type {ty}",
                kind_of(other)
            )),
        }
    }

    /// A destination of exactly a type's width.
    pub fn destination(&mut self, operand: &Operand, ty: Type) -> Decoded<Slot> {
        let found = self.destination_of(operand, ty);
        found.inspect_err(|_| self.blame(operand))
    }

    fn destination_of(&mut self, operand: &Operand, ty: Type) -> Decoded<Slot> {
        let bytes = lane_bytes(ty);
        match operand {
            Operand::Reg(register) => {
                let actual = self.frame.type_of(*register);
                if lane_bytes(actual) != bytes {
                    return Err(format!("the destination is {actual}, not {ty}"));
                }
                Ok(self.frame.register(*register))
            }
            Operand::Sink => Ok(self.frame.temporary(bytes)),
            other => Err(format!("{} cannot be a destination", kind_of(other))),
        }
    }

    /// A destination that may be thrown away.
    pub fn optional_destination(&mut self, operand: &Operand, ty: Type) -> Decoded<Option<Slot>> {
        match operand {
            Operand::Sink => Ok(None),
            other => self.destination(other, ty).map(Some),
        }
    }

    /// A register of any width, with its bytes per lane.
    pub fn any_register(&mut self, operand: &Operand) -> Decoded<(Slot, u32)> {
        let found = self.any_register_of(operand);
        found.inspect_err(|_| self.blame(operand))
    }

    fn any_register_of(&mut self, operand: &Operand) -> Decoded<(Slot, u32)> {
        match operand {
            Operand::Reg(register) => {
                let bytes = lane_bytes(self.frame.type_of(*register));
                if bytes == 0 {
                    return Err("a predicate cannot stand here".to_owned());
                }
                Ok((self.frame.register(*register), bytes))
            }
            other => Err(format!(
                "{} stands where a register is needed",
                kind_of(other)
            )),
        }
    }

    /// A predicate source with its negation.
    pub fn predicate(&mut self, operand: &Operand) -> Decoded<Guard> {
        let found = self.predicate_of(operand);
        found.inspect_err(|_| self.blame(operand))
    }

    fn predicate_of(&mut self, operand: &Operand) -> Decoded<Guard> {
        match operand {
            Operand::Reg(r) if self.frame.type_of(*r) == Type::Pred => Ok(Guard {
                slot: self.frame.register(*r),
                flip: 0,
            }),
            Operand::NotReg(r) if self.frame.type_of(*r) == Type::Pred => Ok(Guard {
                slot: self.frame.register(*r),
                flip: u32::MAX,
            }),
            Operand::Int(value) => Ok(Guard {
                slot: self.frame.value(Init::Predicate(*value != 0)),
                flip: 0,
            }),
            Operand::Special(register @ Special::IsExplicitCluster) => Ok(Guard {
                slot: self.frame.value(Init::Special {
                    register: *register,
                    bytes: 0,
                }),
                flip: 0,
            }),
            other => Err(format!(
                "{} stands where a predicate is needed",
                kind_of(other)
            )),
        }
    }

    /// A predicate source as a slot, a negated one computed first.
    pub fn predicate_slot(&mut self, operand: &Operand) -> Decoded<Slot> {
        let guard = self.predicate(operand)?;
        if guard.flip == 0 {
            return Ok(guard.slot);
        }
        let d = self.frame.temporary(0);
        self.emit(Op::Predicate(PredicateOp {
            d,
            a: guard.slot,
            b: guard.slot,
            table: 0b0001,
        }));
        Ok(d)
    }

    /// A special register's slot.
    fn special(&mut self, register: Special, bytes: u32) -> Decoded<Slot> {
        match register {
            Special::Clock
            | Special::ClockHi
            | Special::Clock64
            | Special::GlobalTimer
            | Special::GlobalTimerLo
            | Special::GlobalTimerHi => Err("a clock can only be read by mov".to_owned()),
            Special::Other(index) => {
                let name = ptx::parse::OTHER_SPECIALS[index as usize];
                Err(format!("the special register {name} is not known"))
            }
            Special::IsExplicitCluster => {
                Err("%is_explicit_cluster is a predicate: read it by mov.pred".to_owned())
            }
            register => Ok(self.frame.value(Init::Special { register, bytes })),
        }
    }

    /// The address of something with a name.
    fn symbol(&mut self, base: Symbol, offset: i64, generic: bool, bytes: u32) -> Decoded<Slot> {
        if bytes != 4 && bytes != 8 {
            return Err("an address needs 32 or 64 bits".to_owned());
        }
        let init = match base {
            Symbol::Variable(id) => {
                self.variables.push(id);
                Init::Variable {
                    id,
                    offset,
                    generic,
                    bytes,
                }
            }
            Symbol::Param(index) if self.function.is_entry => {
                let param = &self.function.params[index as usize];
                Init::ParamAddress {
                    offset: i64::from(param.offset) + offset,
                    bytes,
                }
            }
            // In a device function parameters lie in local memory. Their
            // address as a value is generic, as compilers expect.
            Symbol::Param(_) | Symbol::Return(_) => Init::Local {
                offset: offset + self.local_offset(base),
                generic: true,
                bytes,
            },
            Symbol::Local(id) => Init::Local {
                offset: offset + self.local_offset(base),
                generic: generic || self.function.locals[id.0 as usize].space == Space::Param,
                bytes,
            },
        };
        Ok(self.frame.value(init))
    }

    /// An address, and the space that it lies in if its base shows that.
    pub fn address(&mut self, operand: &Operand, space: Space) -> Decoded<(AddressOperand, Space)> {
        let found = self.address_of(operand, space);
        found.inspect_err(|_| self.blame(operand))
    }

    fn address_of(&mut self, operand: &Operand, space: Space) -> Decoded<(AddressOperand, Space)> {
        let (base, offset) = base_and_offset(operand)?;
        match base {
            AddressBase::Reg(register) => {
                let bytes = lane_bytes(self.frame.type_of(register));
                if bytes != 4 && bytes != 8 {
                    return Err("an address needs a register of 32 or 64 bits".to_owned());
                }
                let slot = self.frame.register(register);
                let wide = bytes == 8;
                // The pointer to a parameter is a generic address.
                let space = match space {
                    Space::Param => Space::Generic,
                    space => space,
                };
                Ok((AddressOperand { slot, wide, offset }, space))
            }
            AddressBase::Absolute => {
                let slot = self.frame.constant(0, 8);
                let wide = true;
                Ok((AddressOperand { slot, wide, offset }, space))
            }
            AddressBase::Symbol(symbol) => {
                let actual = match symbol {
                    Symbol::Variable(id) => self.module.variables[id.0 as usize].space,
                    Symbol::Local(_) | Symbol::Return(_) => Space::Local,
                    Symbol::Param(_) if self.function.is_entry => Space::Param,
                    Symbol::Param(_) => Space::Local,
                };
                let fits = match space {
                    Space::Generic => true,
                    Space::Param => matches!(actual, Space::Param | Space::Local),
                    Space::Global | Space::Const => {
                        matches!(actual, Space::Global | Space::Const)
                    }
                    other => other == actual,
                };
                if !fits {
                    return Err("the variable lies in another state space".to_owned());
                }
                let generic = actual == Space::Param;
                let mut slot = self.symbol(symbol, 0, generic, 8)?;
                if actual == Space::Local {
                    // Addresses within local memory here, not generic ones.
                    let offset = self.local_offset(symbol);
                    slot = self.frame.value(Init::Local {
                        offset,
                        generic: false,
                        bytes: 8,
                    });
                }
                let space = match actual {
                    Space::Param => Space::Generic,
                    actual => actual,
                };
                let wide = true;
                Ok((AddressOperand { slot, wide, offset }, space))
            }
        }
    }

    /// [`address`](Self::address), or if it is one in the cluster's shared memory
    /// (`.shared::cluster`), that as a generic address.
    pub fn address_in(
        &mut self,
        operand: &Operand,
        space: Space,
        in_cluster: bool,
    ) -> Decoded<(AddressOperand, Space)> {
        if !in_cluster {
            return self.address(operand, space);
        }
        let (address, _) = self.address(operand, Space::Shared)?;
        let slot = self.frame.temporary(8);
        let run = match address.wide {
            true => unary(generic_of_cluster),
            false => unary(|a: u32| generic_of_cluster(u64::from(a))),
        };
        self.lanes(run, slot, &[address.slot]);
        let address = AddressOperand {
            slot,
            wide: true,
            ..address
        };
        Ok((address, Space::Generic))
    }

    /// Where a symbol lies in the call's local memory.
    fn local_offset(&self, symbol: Symbol) -> i64 {
        i64::from(match symbol {
            Symbol::Local(id) => self.local_offsets[id.0 as usize],
            Symbol::Param(index) => self.param_offsets[index as usize],
            Symbol::Return(index) => self.return_offsets[index as usize],
            Symbol::Variable(_) => 0,
        })
    }
}

/// The parts of an address. An element of an array (`ld.shared.u32 d, a[3]`) needs no
/// brackets around it.
fn base_and_offset(operand: &Operand) -> Decoded<(AddressBase, i64)> {
    match operand {
        Operand::Address(Address { base, offset }) => Ok((*base, *offset)),
        Operand::Element { base, offset } => Ok((AddressBase::Symbol(*base), *offset)),
        _ => Err(format!(
            "{} stands where an address is needed",
            kind_of(operand)
        )),
    }
}

/// As many operands as there must be.
pub(crate) fn exactly<const N: usize>(operands: &[Operand]) -> Decoded<&[Operand; N]> {
    let n = operands.len();
    let exact = operands.try_into();
    exact.map_err(|_| format!("{n} operands, but {N} are needed"))
}

/// The only operand.
pub(crate) fn one(operands: &[Operand]) -> Decoded<&Operand> {
    operands
        .first()
        .ok_or_else(|| "an operand is missing".to_owned())
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

/// A constant operand's bits as a type.
pub(crate) fn immediate(operand: &Operand, ty: Type) -> Decoded<u64> {
    let bits = match (operand, ty) {
        (Operand::Int(value), Type::F32) => u64::from((*value as f32).to_bits()),
        (Operand::Int(value), Type::F64) => (*value as f64).to_bits(),
        (Operand::Int(value), _) => *value as u64,
        (Operand::F32(bits), Type::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
        (Operand::F32(bits), _) => u64::from(*bits),
        (Operand::F64(bits), Type::F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
        (Operand::F64(bits), _) => *bits,
        (other, _) => {
            return Err(format!(
                "{} stands where a constant is needed",
                kind_of(other)
            ));
        }
    };
    Ok(match ty.size_bytes() {
        1 => bits & 0xFF,
        2 => bits & 0xFFFF,
        4 => bits & 0xFFFF_FFFF,
        _ => bits,
    })
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
