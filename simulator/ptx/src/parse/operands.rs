//! Operands: registers, constants, addresses, vectors, names.

use super::body::Body;
use super::constants::Number;
use super::cursor::{Parser, Result};
use super::names::{Entity, component_index};
use super::special;
use crate::ir::{Address, AddressBase, Operand, RegId, Symbol};
use crate::lexer::{Kind, Token};

/// Components of a scalar register that video instructions select.
const SELECTORS: [&str; 6] = [".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];

impl<'a> Parser<'a> {
    /// One operand. A name that nothing in scope has comes back as
    /// [`Operand::External`]: it may be a label or a function further down.
    pub fn operand(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        let first = self.simple_operand(body)?;
        if !self.token.is("|") {
            return Ok(first);
        }
        self.take()?;
        let second = self.simple_operand(body)?;
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    fn simple_operand(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        if self.token.kind == Kind::Word && self.token.text != "WARP_SZ" {
            return self.named_operand(body);
        }
        match (self.token.kind, self.token.text) {
            (Kind::Punctuation, "{") => self.nested(|parser| parser.vector(body)),
            (Kind::Punctuation, "[") => self.nested(|parser| parser.address(body)),
            (Kind::Punctuation, "!") => self.negation(body),
            _ if self.at_constant() => self.constant_operand(),
            _ => Err(self.unexpected("an operand")),
        }
    }

    fn constant_operand(&mut self) -> Result<Operand> {
        Ok(match self.constant()? {
            Number::Int { bits, .. } => Operand::Int(bits as i64),
            Number::F32(bits) => Operand::F32(bits),
            Number::F64(bits) => Operand::F64(bits),
        })
    }

    /// `!p`, or the constant expression `!1`.
    fn negation(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        self.take()?;
        if self.token.kind != Kind::Word || self.token.text == "WARP_SZ" {
            let at = self.token.at;
            return match self.constant_operand()? {
                Operand::Int(value) => Ok(Operand::Int(i64::from(value == 0))),
                _ => Err(self.error_at(at, "`!` takes an integer or a predicate")),
            };
        }
        let name = self.take()?;
        self.predicate(body, name).map(Operand::NotReg)
    }

    /// An operand that starts with a name.
    fn named_operand(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        let name = self.take()?;
        match body
            .scopes
            .lookup(name.text)
            .or_else(|| self.names.get(name.text).copied())
        {
            Some(Entity::Register(register, width)) => {
                match self.register(name, register, width)? {
                    Operand::Reg(register) if self.token.is("+") || self.token.is("-") => {
                        self.register_sum(body, register)
                    }
                    operand => Ok(operand),
                }
            }
            Some(Entity::Function(function)) => Ok(Operand::Function(function)),
            Some(entity) => match symbol(entity) {
                Some(base) => {
                    if let Some(element) = self.array_element(body, name, base)? {
                        let offset = element.wrapping_add(self.offsets()?);
                        return Ok(Operand::Element { base, offset });
                    }
                    let offset = self.offsets()?;
                    Ok(Operand::Symbol {
                        base,
                        offset,
                        generic: false,
                    })
                }
                None => Err(self.unknown_name(name)),
            },
            None if name.text == "_" => Ok(Operand::Sink),
            None if name.text == "generic" && self.token.is("(") => self.generic(body),
            None if name.text.starts_with('%') => self.special(body, name),
            None => Ok(Operand::External(name.text.to_owned())),
        }
    }

    /// `[3]` after the name of an array, which has been taken: the element's offset in
    /// bytes. An element is one number, also of an array of vectors or arrays.
    fn array_element(
        &mut self,
        body: &Body<'a>,
        name: Token<'a>,
        base: Symbol,
    ) -> Result<Option<i64>> {
        if !self.token.is("[") {
            return Ok(None);
        }
        let element = match base {
            Symbol::Variable(id) => self.module.variables[id.0 as usize].array_element,
            Symbol::Local(id) => body.locals[id.0 as usize].array_element,
            Symbol::Param(_) | Symbol::Return(_) => None,
        };
        let Some(element) = element else {
            return Err(self.error_at(name.at, format!("{} is not an array", name.describe())));
        };
        self.take()?;
        if !self.at_constant() {
            return Err(self.unexpected("a constant: arrays cannot be indexed by a register here"));
        }
        let index = self.integer_constant()? as i64;
        self.expect("]")?;
        Ok(Some(index.wrapping_mul(i64::from(element.size_bytes()))))
    }

    /// A register, its name taken: whole, or one component of it.
    fn register(&mut self, name: Token<'a>, register: RegId, width: u8) -> Result<Operand> {
        if self.token.kind != Kind::Modifier {
            if width == 1 {
                return Ok(Operand::Reg(register));
            }
            let components = (0..u32::from(width)).map(|i| Operand::Reg(RegId(register.0 + i)));
            return Ok(Operand::Vector(components.collect()));
        }
        let component = self.take()?;
        if width > 1
            && let Some(index) = component_index(component.text).filter(|&index| index < width)
        {
            return Ok(Operand::Reg(RegId(register.0 + u32::from(index))));
        }
        if width == 1
            && let Some(index) = SELECTORS.iter().position(|&name| name == component.text)
        {
            return Ok(Operand::Component(register, index as u8));
        }
        Err(self.error_at(
            component.at,
            format!("{} has no component `{}`", name.describe(), component.text),
        ))
    }

    /// A special register, its name taken.
    fn special(&mut self, body: &Body<'a>, name: Token<'a>) -> Result<Operand> {
        if special::has_components(name.text) {
            let component = self.token;
            if component.kind != Kind::Modifier {
                return Err(self.unexpected(&format!("a component such as `{}.x`", name.text)));
            }
            self.take()?;
            return match special::lookup(name.text, component.text) {
                Some(special) => Ok(Operand::Special(special)),
                None => Err(self.error_at(
                    component.at,
                    format!("{} has no component `{}`", name.describe(), component.text),
                )),
            };
        }
        match special::lookup(name.text, "") {
            Some(special) => Ok(Operand::Special(special)),
            None => Err(self.unknown_in_body(body, name)),
        }
    }

    /// `generic(NAME)`, from its `(` on.
    fn generic(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        self.expect("(")?;
        let base = self.symbol_name(body)?;
        let inside = self.offsets()?;
        self.expect(")")?;
        let offset = inside.wrapping_add(self.offsets()?);
        Ok(Operand::Symbol {
            base,
            offset,
            generic: true,
        })
    }

    fn symbol_name(&mut self, body: &mut Body<'a>) -> Result<Symbol> {
        let name = self.expect_word("the name of a variable")?;
        match body
            .scopes
            .lookup(name.text)
            .or_else(|| self.names.get(name.text).copied())
        {
            None => Err(self.unknown_in_body(body, name)),
            Some(entity) => symbol(entity).ok_or_else(|| {
                self.error_at(name.at, format!("{} is not a variable", name.describe()))
            }),
        }
    }

    /// `{ a, b, c, d }`
    fn vector(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        self.expect("{")?;
        let elements = self.elements(body, "}")?;
        Ok(Operand::Vector(elements))
    }

    /// `( a, b )` of a call.
    pub fn argument_list(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        self.expect("(")?;
        let elements = self.elements(body, ")")?;
        Ok(Operand::List(elements))
    }

    /// Operands up to `close`, which is taken.
    fn elements(&mut self, body: &mut Body<'a>, close: &str) -> Result<Vec<Operand>> {
        let mut elements = Vec::new();
        while !self.token.is(close) {
            let start = self.token;
            let element = self.operand(body)?;
            if matches!(element, Operand::External(_)) {
                return Err(self.unknown_in_body(body, start));
            }
            elements.push(element);
            if !self.accept(",")? {
                break;
            }
        }
        if !self.token.is(close) {
            return Err(self.unexpected(&format!("`,` or `{close}`")));
        }
        self.take()?;
        Ok(elements)
    }

    /// `[base + offset]`, or `[base, {x, y}]` of a tensor or texture access.
    fn address(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        self.expect("[")?;
        let base = if self.token.kind == Kind::Word && self.token.text != "WARP_SZ" {
            self.address_base(body)?
        } else if self.at_constant() {
            AddressBase::Absolute
        } else {
            return Err(self.unexpected("an address"));
        };
        let offset = match base {
            AddressBase::Absolute => self.integer_constant()? as i64,
            _ => self.offsets()?,
        };
        let address = Address { base, offset };
        if self.accept(",")? {
            let coordinates = self.elements(body, "]")?;
            return Ok(Operand::IndexedAddress(address, coordinates));
        }
        if !self.token.is("]") {
            return Err(self.unexpected("`]` or an offset such as `+4`"));
        }
        self.take()?;
        Ok(Operand::Address(address))
    }

    fn address_base(&mut self, body: &mut Body<'a>) -> Result<AddressBase> {
        let name = self.token;
        if let Some(Entity::Register(register, width)) = body.scopes.lookup(name.text) {
            self.take()?;
            return match self.register(name, register, width)? {
                Operand::Reg(register) => Ok(AddressBase::Reg(register)),
                _ => {
                    let what = "is not a register that holds an address";
                    Err(self.error_at(name.at, format!("{} {what}", name.describe())))
                }
            };
        }
        self.symbol_name(body).map(AddressBase::Symbol)
    }
}

/// The symbol that stands for a named object, if it has an address.
fn symbol(entity: Entity) -> Option<Symbol> {
    Some(match entity {
        Entity::Variable(id) => Symbol::Variable(id),
        Entity::Param(index) => Symbol::Param(index),
        Entity::Return(index) => Symbol::Return(index),
        Entity::Local(id) => Symbol::Local(id),
        Entity::Register(..) | Entity::Unused(..) | Entity::Function(_) => return None,
    })
}
