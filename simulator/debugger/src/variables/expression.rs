//! The operations of a location, and what they name: registers, constants, variables of the PTX, in
//! one piece or several.
//!
//! PTX has register names, no numbers: the number of a register is its name, as bytes, the first one
//! on top. In DWARF 2, the version in PTX, nothing tells a constant from an address. Addresses are
//! always variables of the PTX here, so a plain number is a constant.
//!
//! Left out, and lost: what must be computed from registers or read from memory.

use gimli::constants as dwarf;

/// A piece of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawPiece {
    /// Offset in the variable, in bytes.
    pub offset: u64,
    /// In bytes; `None` for the whole variable.
    pub size: Option<u64>,
    pub place: RawPlace,
}

/// Where a piece is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RawPlace {
    /// In a register of this name.
    Register(String),
    /// At an address.
    Address(u64),
    /// It is this number.
    Number(u64),
    /// It is these bytes.
    Bytes(Vec<u8>),
    /// Nowhere.
    Nowhere,
    /// Unknown, and why.
    NotUnderstood(&'static str),
}

/// Addresses below are lines of the text.
const FIRST_ADDRESS: u64 = 1 << 48;

/// Reads a location.
pub(super) fn pieces(operations: &[u8]) -> Vec<RawPiece> {
    read(operations).unwrap_or_else(|why| {
        vec![RawPiece {
            offset: 0,
            size: None,
            place: RawPlace::NotUnderstood(why),
        }]
    })
}

const CUT_SHORT: &str = "it is cut short";
const COMPUTED: &str = "a computation with a register or an address";

fn read(operations: &[u8]) -> Result<Vec<RawPiece>, &'static str> {
    let mut reader = Reader(operations);
    let mut pieces = Vec::new();
    let mut offset = 0_u64;
    let mut named = Named::Nothing;
    while let Some(operation) = reader.byte() {
        let operation = gimli::DwOp(operation);
        let bits = match operation {
            dwarf::DW_OP_piece => reader.unsigned().and_then(|bytes| bytes.checked_mul(8)),
            dwarf::DW_OP_bit_piece => {
                let bits = reader.unsigned();
                bits.filter(|_| reader.unsigned() == Some(0))
            }
            _ => {
                named = named.then(operation, &mut reader)?;
                continue;
            }
        };
        let bits = bits.filter(|&bits| bits > 0 && bits % 8 == 0);
        let size = bits.ok_or("a piece of bits")? / 8;
        pieces.push(RawPiece {
            offset,
            size: Some(size),
            place: std::mem::replace(&mut named, Named::Nothing).place()?,
        });
        offset = offset.checked_add(size).ok_or("its size")?;
    }
    match (named, pieces.is_empty()) {
        (Named::Nothing, false) => {}
        (_, false) => return Err("a piece without a size"),
        (named, true) => pieces.push(RawPiece {
            offset: 0,
            size: None,
            place: named.place()?,
        }),
    }
    Ok(pieces)
}

/// What the operations since the last piece have named.
enum Named {
    Nothing,
    Place(RawPlace),
    /// Constants, the last one on top.
    Numbers(Vec<u64>),
}

impl Named {
    fn place(self) -> Result<RawPlace, &'static str> {
        match self {
            Self::Nothing => Ok(RawPlace::Nowhere),
            Self::Place(place) => Ok(place),
            Self::Numbers(numbers) => match numbers[..] {
                [number] => Ok(RawPlace::Number(number)),
                _ => Err("more than one number"),
            },
        }
    }

    /// Carries out one more operation.
    fn then(self, operation: gimli::DwOp, reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        match (self, operation) {
            (Self::Nothing, dwarf::DW_OP_regx) => {
                let name = reader.register().ok_or("a register's name")?;
                Ok(Self::Place(RawPlace::Register(name)))
            }
            (Self::Nothing, dwarf::DW_OP_addr) => match reader.number(8) {
                Some(address) if address >= FIRST_ADDRESS => {
                    Ok(Self::Place(RawPlace::Address(address)))
                }
                _ => Err("an address without a name"),
            },
            (Self::Place(RawPlace::Address(address)), dwarf::DW_OP_plus_uconst) => {
                let sum = reader.unsigned().and_then(|n| address.checked_add(n));
                Ok(Self::Place(RawPlace::Address(sum.ok_or(CUT_SHORT)?)))
            }
            (Self::Nothing, dwarf::DW_OP_implicit_value) => {
                let size = reader
                    .unsigned()
                    .and_then(|size| usize::try_from(size).ok());
                let bytes = size.and_then(|size| reader.take(size)).ok_or(CUT_SHORT)?;
                Ok(Self::Place(RawPlace::Bytes(bytes.to_vec())))
            }
            (Self::Numbers(numbers), dwarf::DW_OP_stack_value) => Ok(Self::Numbers(numbers)),
            (_, dwarf::DW_OP_fbreg) => Err("an offset from the frame"),
            (_, dwarf::DW_OP_deref | dwarf::DW_OP_deref_size | dwarf::DW_OP_xderef) => {
                Err("what a pointer points to")
            }
            (Self::Place(_), _) => Err(COMPUTED),
            (Self::Nothing, _) => arithmetic(Vec::new(), operation, reader).map(Self::Numbers),
            (Self::Numbers(numbers), _) => {
                arithmetic(numbers, operation, reader).map(Self::Numbers)
            }
        }
    }
}

/// The stack of constants after one more operation.
fn arithmetic(
    mut stack: Vec<u64>,
    operation: gimli::DwOp,
    reader: &mut Reader<'_>,
) -> Result<Vec<u64>, &'static str> {
    if let Some(number) = constant(operation, reader)? {
        stack.push(number);
        return Ok(stack);
    }
    let last = stack.pop().ok_or(COMPUTED)?;
    let result = match operation {
        dwarf::DW_OP_plus_uconst => Some(last.wrapping_add(reader.unsigned().ok_or(CUT_SHORT)?)),
        dwarf::DW_OP_neg => Some(last.wrapping_neg()),
        dwarf::DW_OP_not => Some(!last),
        _ => stack.pop().and_then(|first| of_two(first, operation, last)),
    };
    stack.push(result.ok_or(COMPUTED)?);
    Ok(stack)
}

fn of_two(first: u64, operation: gimli::DwOp, last: u64) -> Option<u64> {
    let shift = || u32::try_from(last).ok();
    Some(match operation {
        dwarf::DW_OP_plus => first.wrapping_add(last),
        dwarf::DW_OP_minus => first.wrapping_sub(last),
        dwarf::DW_OP_mul => first.wrapping_mul(last),
        dwarf::DW_OP_and => first & last,
        dwarf::DW_OP_or => first | last,
        dwarf::DW_OP_xor => first ^ last,
        dwarf::DW_OP_shl => first.checked_shl(shift()?)?,
        dwarf::DW_OP_shr => first.checked_shr(shift()?)?,
        dwarf::DW_OP_shra => (first as i64).checked_shr(shift()?)? as u64,
        _ => return None,
    })
}

/// The number that an operation pushes, if it pushes one.
fn constant(operation: gimli::DwOp, reader: &mut Reader<'_>) -> Result<Option<u64>, &'static str> {
    let number = match operation {
        dwarf::DW_OP_const1u => reader.number(1),
        dwarf::DW_OP_const2u => reader.number(2),
        dwarf::DW_OP_const4u => reader.number(4),
        dwarf::DW_OP_const8u | dwarf::DW_OP_const8s => reader.number(8),
        dwarf::DW_OP_const1s => reader.number(1).map(|number| number as i8 as u64),
        dwarf::DW_OP_const2s => reader.number(2).map(|number| number as i16 as u64),
        dwarf::DW_OP_const4s => reader.number(4).map(|number| number as i32 as u64),
        dwarf::DW_OP_constu => reader.unsigned(),
        dwarf::DW_OP_consts => reader.signed().map(|number| number as u64),
        _ => match operation.0.checked_sub(dwarf::DW_OP_lit0.0) {
            Some(number) if number < 32 => Some(u64::from(number)),
            _ => return Ok(None),
        },
    };
    number.map(Some).ok_or(CUT_SHORT)
}

/// Reads operations from their first byte on.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A little-endian number of up to 8 bytes.
    fn number(&mut self, n_bytes: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes[..n_bytes].copy_from_slice(self.take(n_bytes)?);
        Some(u64::from_le_bytes(bytes))
    }

    /// A number in groups of 7 bits, the lowest first, and how many bits these are.
    fn groups(&mut self) -> Option<(u128, u32)> {
        let (mut number, mut shift) = (0_u128, 0);
        loop {
            let byte = self.byte()?;
            let group = u128::from(byte & 0x7f);
            if shift + 7 > 128 {
                return None;
            }
            number |= group << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some((number, shift));
            }
        }
    }

    fn unsigned(&mut self) -> Option<u64> {
        u64::try_from(self.groups()?.0).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let (number, bits) = self.groups()?;
        let above = 128 - bits;
        i64::try_from((number << above) as i128 >> above).ok()
    }

    /// A register's name. LLVM numbers those of more than 8 bytes 0.
    fn register(&mut self) -> Option<String> {
        let bytes = self.groups()?.0.to_be_bytes();
        let start = bytes.iter().position(|&byte| byte != 0)?;
        let name = std::str::from_utf8(&bytes[start..]).ok()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        name.chars().all(is_name).then(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{RawPiece, RawPlace, pieces};

    fn whole(place: RawPlace) -> Vec<RawPiece> {
        vec![RawPiece {
            offset: 0,
            size: None,
            place,
        }]
    }

    #[test]
    fn a_register_is_a_name() {
        let r2 = [144, 178, 228, 149, 1];
        assert_eq!(pieces(&r2), whole(RawPlace::Register("%r2".into())));
        let rd5 = [144, 181, 200, 201, 171, 2];
        assert_eq!(pieces(&rd5), whole(RawPlace::Register("%rd5".into())));
    }

    #[test]
    fn the_register_0_is_one_whose_name_is_too_long() {
        assert_eq!(
            pieces(&[144, 0]),
            whole(RawPlace::NotUnderstood("a register's name"))
        );
    }

    #[test]
    fn pieces_follow_one_another_and_may_be_nowhere() {
        let operations = [144, 178, 228, 149, 1, 147, 4, 147, 8, 0x30, 147, 4];
        let found = pieces(&operations);
        let places = [
            (0, 4, RawPlace::Register("%r2".into())),
            (4, 8, RawPlace::Nowhere),
            (12, 4, RawPlace::Number(0)),
        ];
        let expected = places.map(|(offset, size, place)| RawPiece {
            offset,
            size: Some(size),
            place,
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn constants_are_computed_and_registers_are_not() {
        assert_eq!(
            pieces(&[0x30 + 31, 0x31, 0x25, 0x9f]),
            whole(RawPlace::Number(15))
        );
        assert_eq!(pieces(&[0x11, 0x7f]), whole(RawPlace::Number(u64::MAX)));
        let sum = [144, 178, 228, 149, 1, 0x31, 0x22];
        let [piece] = &pieces(&sum)[..] else {
            panic!("one piece was expected");
        };
        assert!(matches!(piece.place, RawPlace::NotUnderstood(_)));
    }
}
