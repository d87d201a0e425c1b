//! Initial contents of variables: bytes, and the addresses among them.

use super::constants::Number;
use super::cursor::{Parser, Result};
use super::pending::PendingRelocation;
use super::variables::Declared;
use crate::ir::{Type, VarId};
use crate::lexer::{Kind, Position};

/// Most bytes that one initialiser may reach: a few bytes of text can ask for
/// much more (`x[2][1000000000] = {{0}, {1}}`).
const MAX_INIT_BYTES: u64 = 64 << 20;

/// An initialiser as it is read.
struct Filling {
    variable: VarId,
    ty: Type,
    bytes: Vec<u8>,
}

impl<'a> Parser<'a> {
    /// What follows `=`. Sets the size where the declaration left the first dimension open.
    pub fn initialiser(&mut self, declared: &mut Declared<'a>, variable: VarId) -> Result<Vec<u8>> {
        let ty = declared.element.ty;
        let mut filling = Filling {
            variable,
            ty,
            bytes: Vec::new(),
        };
        if declared.dimensions.is_empty() {
            self.scalar(&mut filling, 0)?;
            return Ok(filling.bytes);
        }
        let dimensions = declared.dimensions.clone();
        let n_elements = self.list(&mut filling, &dimensions, 0)?;
        if dimensions.first() == Some(&0) {
            if let Some(first) = declared.dimensions.first_mut() {
                *first = n_elements;
            }
            declared.size_bytes = element_bytes(ty, &dimensions) * n_elements;
        }
        Ok(filling.bytes)
    }

    /// `{ … }` for `dimensions`, starting `offset` bytes into the variable;
    /// gives the number of elements of the outermost dimension.
    fn list(&mut self, filling: &mut Filling, dimensions: &[u64], offset: u64) -> Result<u64> {
        let Some((&length, inner)) = dimensions.split_first() else {
            return Err(self.unexpected("a number: the braces are deeper than the array"));
        };
        let stride = element_bytes(filling.ty, dimensions);
        self.expect("{")?;
        let mut index = 0_u64;
        while !self.token.is("}") {
            if length != 0 && index >= length {
                return Err(self.unexpected(&format!("`}}`: the array has {length} elements")));
            }
            let at = self.token.at;
            let Some(offset) = index
                .checked_mul(stride)
                .and_then(|distance| distance.checked_add(offset))
                .filter(|&offset| offset <= MAX_INIT_BYTES)
            else {
                return Err(self.error_at(
                    at,
                    format!("the initialiser reaches further than {MAX_INIT_BYTES} bytes"),
                ));
            };
            if inner.is_empty() {
                self.scalar(filling, offset)?;
            } else {
                self.nested(|parser| parser.list(filling, inner, offset))?;
            }
            index += 1;
            if !self.accept(",")? {
                break;
            }
        }
        self.expect("}")?;
        Ok(index)
    }

    /// A number or an address.
    fn scalar(&mut self, filling: &mut Filling, offset: u64) -> Result<()> {
        let at = self.token.at;
        let n_bytes = filling.ty.size_bytes() as u8;
        if self.token.kind == Kind::Word && self.token.text != "WARP_SZ" {
            return self.address_of(filling, offset, n_bytes, 0);
        }
        if !self.at_constant() {
            return Err(self.unexpected("a number or a name"));
        }
        let number = self.constant()?;
        // `0xFF00(name)`: one byte of an address.
        if let Number::Int { bits: mask, .. } = number
            && self.token.is("(")
        {
            let shift = mask.trailing_zeros();
            if mask == 0 || mask >> shift != 0xff || shift % 8 != 0 {
                return Err(self.error_at(at, "a mask selects one byte, as `0xFF00` does"));
            }
            self.take()?;
            self.address_of(filling, offset, 1, shift as u8)?;
            self.expect(")")?;
            return Ok(());
        }
        let bits = self.element_bits(number, filling.ty, at)?;
        put(&mut filling.bytes, offset, &bits.to_le_bytes(), n_bytes);
        Ok(())
    }

    /// `NAME`, `NAME+4`, `generic(NAME)+4`.
    fn address_of(
        &mut self,
        filling: &mut Filling,
        offset: u64,
        n_bytes: u8,
        shift: u8,
    ) -> Result<()> {
        let mut name = self.expect_word("the name of a variable or function")?;
        let mut generic = false;
        let mut addend = 0;
        if name.text == "generic" && self.accept("(")? {
            generic = true;
            name = self.expect_word("the name of a variable")?;
            addend = self.offsets()?;
            self.expect(")")?;
        }
        addend = i64::wrapping_add(addend, self.offsets()?);
        put(&mut filling.bytes, offset, &[0; 16], n_bytes);
        self.pending.relocations.push(PendingRelocation {
            name,
            variable: filling.variable,
            offset,
            addend,
            generic,
            n_bytes,
            shift,
        });
        Ok(())
    }

    /// The bits of a number as an element of type `ty`.
    fn element_bits(&self, number: Number, ty: Type, at: Position) -> Result<u128> {
        let value = match number {
            Number::Int { bits, unsigned } => match ty {
                Type::F32 => u128::from((int_value(bits, unsigned) as f32).to_bits()),
                Type::F64 => u128::from(int_value(bits, unsigned).to_bits()),
                Type::B128 if !unsigned => bits as i64 as i128 as u128,
                _ => u128::from(bits),
            },
            Number::F32(bits) => match ty {
                Type::F32 | Type::B32 | Type::U32 | Type::S32 => u128::from(bits),
                Type::F64 => u128::from(f64::from(f32::from_bits(bits)).to_bits()),
                _ => return Err(self.wrong_float(ty, at)),
            },
            Number::F64(bits) => match ty {
                Type::F64 | Type::B64 | Type::U64 | Type::S64 => u128::from(bits),
                Type::F32 => u128::from((f64::from_bits(bits) as f32).to_bits()),
                _ => return Err(self.wrong_float(ty, at)),
            },
        };
        Ok(value)
    }

    fn wrong_float(&self, ty: Type, at: Position) -> super::ParseError {
        self.error_at(
            at,
            format!("a floating-point number cannot initialise a `{ty}`"),
        )
    }
}

/// An integer as a floating-point number, for `.f32 x = 1`.
fn int_value(bits: u64, unsigned: bool) -> f64 {
    if unsigned {
        bits as f64
    } else {
        bits as i64 as f64
    }
}

/// Size in bytes of one element of the outermost of `dimensions`.
fn element_bytes(ty: Type, dimensions: &[u64]) -> u64 {
    dimensions
        .iter()
        .skip(1)
        .fold(u64::from(ty.size_bytes()), |size, &length| {
            size.saturating_mul(length)
        })
}

/// Writes the first `n_bytes` of `value` at `offset`, growing `bytes`.
fn put(bytes: &mut Vec<u8>, offset: u64, value: &[u8; 16], n_bytes: u8) {
    let start = offset as usize;
    let end = start + usize::from(n_bytes);
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    for (slot, byte) in bytes
        .iter_mut()
        .skip(start)
        .zip(value.iter().take(usize::from(n_bytes)))
    {
        *slot = *byte;
    }
}
