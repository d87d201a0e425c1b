//! Constant expressions: numbers and the operators PTX allows between them.
//!
//! Integers are 64 bits wide and wrap; an operation is unsigned as soon as
//! one side is, as in C. Floating-point numbers take a sign and no other
//! operator.

use super::cursor::{Parser, Result};
use crate::lexer::{Kind, Position};

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer by its bits.
    Int {
        /// In two's complement.
        bits: u64,
        /// How `/`, `%`, `>>` and comparisons read it.
        unsigned: bool,
    },
    /// By its bits.
    F32(u32),
    /// By its bits.
    F64(u64),
}

impl Number {
    const fn signed(value: i64) -> Self {
        Self::integer(value as u64, false)
    }

    const fn integer(bits: u64, unsigned: bool) -> Self {
        Self::Int { bits, unsigned }
    }
}

/// How tightly a binary operator binds; `None` if it is not one.
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

/// Binds tighter than `+` and `-`: the operand of an address offset.
const TERM: u8 = 10;

impl<'a> Parser<'a> {
    /// Whether a constant expression can start at the current token.
    pub fn at_constant(&self) -> bool {
        match self.token.kind {
            Kind::Int { .. } | Kind::F32(_) | Kind::F64(_) => true,
            Kind::Word => self.token.text == "WARP_SZ",
            Kind::Punctuation => matches!(self.token.text, "-" | "+" | "~" | "!" | "("),
            _ => false,
        }
    }

    /// A constant expression of any kind.
    pub fn constant(&mut self) -> Result<Number> {
        self.nested(|parser| {
            let condition = parser.binary(1)?;
            if !parser.token.is("?") {
                return Ok(condition);
            }
            let at = parser.take()?.at;
            let is_true = parser.to_bits(condition, at)? != 0;
            let if_true = parser.constant()?;
            parser.expect(":")?;
            let if_false = parser.constant()?;
            Ok(if is_true { if_true } else { if_false })
        })
    }

    /// A constant expression that must be an integer; its 64 bits.
    pub fn integer_constant(&mut self) -> Result<u64> {
        let at = self.token.at;
        let number = self.constant()?;
        self.to_bits(number, at)
    }

    /// Offsets after an address or symbol: `+4`, `-8`, `+-4`, `+2*16`.
    pub fn offsets(&mut self) -> Result<i64> {
        let mut sum = 0_i64;
        while self.token.is("+") || self.token.is("-") {
            let is_minus = self.take()?.text == "-";
            let at = self.token.at;
            let number = self.nested(|parser| parser.binary(TERM))?;
            let offset = self.to_bits(number, at)? as i64;
            sum = match is_minus {
                true => sum.wrapping_sub(offset),
                false => sum.wrapping_add(offset),
            };
        }
        Ok(sum)
    }

    fn to_bits(&self, number: Number, at: Position) -> Result<u64> {
        match number {
            Number::Int { bits, .. } => Ok(bits),
            Number::F32(_) | Number::F64(_) => {
                Err(self.error_at(at, "found a floating-point number, expected an integer"))
            }
        }
    }

    fn binary(&mut self, at_least: u8) -> Result<Number> {
        let mut left = self.nested(Self::unary)?;
        loop {
            let operator = self.token;
            let binding = match operator.kind {
                Kind::Punctuation => precedence(operator.text),
                _ => None,
            };
            let Some(binding) = binding.filter(|&binding| binding >= at_least) else {
                return Ok(left);
            };
            self.take()?;
            let right = self.nested(|parser| parser.binary(binding + 1))?;
            left = self.apply(operator.text, left, right, operator.at)?;
        }
    }

    fn unary(&mut self) -> Result<Number> {
        let token = self.token;
        match token.kind {
            Kind::Int { value, unsigned } => Ok(Number::integer(value, unsigned)),
            Kind::F32(bits) => Ok(Number::F32(bits)),
            Kind::F64(bits) => Ok(Number::F64(bits)),
            Kind::Word if token.text == "WARP_SZ" => Ok(Number::signed(32)),
            Kind::Punctuation => return self.unary_operator(token.text),
            _ => Err(self.unexpected("a number")),
        }
        .and_then(|number| self.take().map(|_| number))
    }

    fn unary_operator(&mut self, operator: &str) -> Result<Number> {
        let at = self.token.at;
        if !matches!(operator, "-" | "+" | "~" | "!" | "(") {
            return Err(self.unexpected("a number"));
        }
        self.take()?;
        if operator == "(" {
            return self.parenthesised();
        }
        let operand = self.nested(Self::unary)?;
        match (operator, operand) {
            ("+", _) => Ok(operand),
            ("-", Number::F32(bits)) => Ok(Number::F32(bits ^ 1 << 31)),
            ("-", Number::F64(bits)) => Ok(Number::F64(bits ^ 1 << 63)),
            ("-", Number::Int { bits, unsigned }) => {
                Ok(Number::integer(bits.wrapping_neg(), unsigned))
            }
            ("~", Number::Int { bits, unsigned }) => Ok(Number::integer(!bits, unsigned)),
            ("!", Number::Int { bits, .. }) => Ok(Number::signed(i64::from(bits == 0))),
            _ => Err(self.error_at(at, format!("`{operator}` takes an integer"))),
        }
    }

    /// After `(`: a cast or an expression.
    fn parenthesised(&mut self) -> Result<Number> {
        for (name, to_unsigned) in [(".s64", false), (".u64", true)] {
            if self.accept_modifier(name)? {
                self.expect(")")?;
                let at = self.token.at;
                let operand = self.nested(Self::unary)?;
                let bits = self.to_bits(operand, at)?;
                return Ok(Number::integer(bits, to_unsigned));
            }
        }
        let value = self.constant()?;
        self.expect(")")?;
        Ok(value)
    }

    fn apply(&self, operator: &str, left: Number, right: Number, at: Position) -> Result<Number> {
        let integer = |number| match number {
            Number::Int { bits, unsigned } => Ok((bits, unsigned)),
            _ => Err(self.error_at(at, format!("`{operator}` takes two integers"))),
        };
        let ((a, ua), (b, ub)) = (integer(left)?, integer(right)?);
        let unsigned = ua || ub;
        let int = |bits| Ok(Number::integer(bits, unsigned));
        let truth = |value: bool| Ok(Number::signed(i64::from(value)));
        let less = |a: u64, b: u64| match unsigned {
            true => a < b,
            false => (a as i64) < (b as i64),
        };
        match operator {
            "+" => int(a.wrapping_add(b)),
            "-" => int(a.wrapping_sub(b)),
            "*" => int(a.wrapping_mul(b)),
            "/" | "%" if b == 0 => Err(self.error_at(at, "division by zero")),
            "/" if unsigned => int(a / b),
            "/" => int((a as i64).wrapping_div(b as i64) as u64),
            "%" if unsigned => int(a % b),
            "%" => int((a as i64).wrapping_rem(b as i64) as u64),
            // The left side alone says how a shift is done.
            "<<" => Ok(Number::integer(if b < 64 { a << b } else { 0 }, ua)),
            ">>" if ua => Ok(Number::integer(if b < 64 { a >> b } else { 0 }, true)),
            ">>" => Ok(Number::signed(a as i64 >> b.min(63))),
            "&" => int(a & b),
            "|" => int(a | b),
            "^" => int(a ^ b),
            "&&" => truth(a != 0 && b != 0),
            "||" => truth(a != 0 || b != 0),
            "==" => truth(a == b),
            "!=" => truth(a != b),
            "<" => truth(less(a, b)),
            ">" => truth(less(b, a)),
            "<=" => truth(!less(b, a)),
            ">=" => truth(!less(a, b)),
            _ => Err(self.error_at(at, format!("`{operator}` is not an operator"))),
        }
    }
}
