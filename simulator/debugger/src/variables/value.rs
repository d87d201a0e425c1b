//! Printing a value through a reader of registers and memory.

use super::location::{Location, Piece, Place, Variable};
use super::types::{Type, Variant};
use std::fmt::Write;
use std::ops::Range;

/// Elements of an array beyond this many are counted, not printed.
const MAX_ELEMENTS: u64 = 32;

/// Types within types beyond this many are not printed.
const MAX_DEPTH: u32 = 24;

impl Variable {
    /// Its value as text. `read` returns the bytes of a piece that is in a register or in memory, or
    /// nothing if the simulator no longer keeps them.
    pub fn show(&self, mut read: impl FnMut(&Piece) -> Option<Vec<u8>>) -> String {
        let pieces = match &self.location {
            Location::Pieces(pieces) => pieces,
            Location::Lost(reason) => return format!("<lost: {reason}>"),
        };
        let bytes = pieces.iter().map(|piece| {
            let bytes = match &piece.place {
                Place::Constant(bytes) => Ok(bytes.clone()),
                Place::Lost(_) => Err(Unread::Lost),
                Place::Register(_) | Place::Memory { .. } => read(piece).ok_or(Unread::NotKept),
            };
            (piece.offset..piece.offset.saturating_add(piece.size), bytes)
        });
        let value = Bytes(bytes.collect());
        let mut out = String::new();
        value.print(&self.ty, 0, 0, &mut out);
        out
    }
}

/// Why bytes cannot be shown.
#[derive(Clone, Copy, PartialEq)]
enum Unread {
    Lost,
    NotKept,
}

impl Unread {
    fn text(self) -> &'static str {
        match self {
            Self::Lost => "<lost>",
            Self::NotKept => "<no longer kept>",
        }
    }
}

/// The bytes of a piece.
type Read = Result<Vec<u8>, Unread>;

/// A variable's bytes, piece by piece.
struct Bytes(Vec<(Range<u64>, Read)>);

impl Bytes {
    /// `size` bytes from `offset` on.
    fn get(&self, offset: u64, size: u64) -> Read {
        let end = offset.checked_add(size).ok_or(Unread::Lost)?;
        let mut found = Vec::new();
        let mut at = offset;
        while at < end {
            let piece = self.0.iter().find(|(range, _)| range.contains(&at));
            let (range, bytes) = piece.ok_or(Unread::Lost)?;
            let bytes = bytes.as_ref().map_err(|unread| *unread)?;
            let (from, to) = (at - range.start, end.min(range.end) - range.start);
            let part = bytes.get(from as usize..to as usize);
            found.extend(part.ok_or(Unread::NotKept)?);
            at = range.start + to;
        }
        Ok(found)
    }

    /// A little-endian number of up to 16 bytes.
    fn number(&self, offset: u64, size: u64) -> Result<u128, Unread> {
        let mut bytes = [0; 16];
        let found = self.get(offset, size.min(16))?;
        bytes[..found.len()].copy_from_slice(&found);
        Ok(u128::from_le_bytes(bytes))
    }

    fn print(&self, ty: &Type, offset: u64, depth: u32, out: &mut String) {
        if depth > MAX_DEPTH {
            out.push('…');
            return;
        }
        match ty {
            Type::Struct { name, fields, .. } => {
                let fields = fields.iter().map(|field| {
                    let at = offset.saturating_add(field.offset);
                    (field.name.as_str(), at, &*field.ty)
                });
                self.print_fields(name, fields.collect(), depth, out);
            }
            Type::Array { element, count } => self.print_array(element, *count, offset, depth, out),
            Type::Enum {
                name,
                tag,
                variants,
                ..
            } => match self.variant(*tag, variants, offset) {
                Ok(Some(variant)) => self.print(&variant.ty, offset, depth + 1, out),
                Ok(None) => drop(write!(out, "{name}::<unknown variant>")),
                Err(unread) => out.push_str(unread.text()),
            },
            _ => match self.scalar(ty, offset) {
                Ok(text) => out.push_str(&text),
                Err(unread) => out.push_str(unread.text()),
            },
        }
    }

    fn print_fields(
        &self,
        name: &str,
        fields: Vec<(&str, u64, &Type)>,
        depth: u32,
        out: &mut String,
    ) {
        let is_tuple = fields.iter().all(|(name, ..)| name.starts_with("__"));
        let name = if name.starts_with('(') { "" } else { name };
        let (open, close) = match (fields.is_empty(), is_tuple) {
            (true, _) if name.is_empty() => ("()", ""),
            (true, _) => ("", ""),
            (false, true) => ("(", ")"),
            (false, false) => (" { ", " }"),
        };
        out.push_str(name);
        out.push_str(open);
        for (index, (name, offset, ty)) in fields.into_iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            if !is_tuple {
                let _ = write!(out, "{name}: ");
            }
            self.print(ty, offset, depth + 1, out);
        }
        out.push_str(close);
    }

    fn print_array(&self, element: &Type, count: u64, offset: u64, depth: u32, out: &mut String) {
        out.push('[');
        for index in 0..count.min(MAX_ELEMENTS) {
            if index > 0 {
                out.push_str(", ");
            }
            let at = offset.saturating_add(index * element.size());
            self.print(element, at, depth + 1, out);
        }
        if count > MAX_ELEMENTS {
            let _ = write!(out, ", … {} more", count - MAX_ELEMENTS);
        }
        out.push(']');
    }

    /// The variant that the tag names.
    fn variant<'a>(
        &self,
        tag: Option<(u64, u64)>,
        variants: &'a [Variant],
        offset: u64,
    ) -> Result<Option<&'a Variant>, Unread> {
        let Some((at, size)) = tag else {
            return Ok(variants.first().filter(|_| variants.len() == 1));
        };
        let value = self.number(offset.saturating_add(at), size)?;
        let is_named = |variant: &&Variant| {
            let tag = variant.tag.map(|tag| u128::from(tag) & mask(size));
            tag == Some(value)
        };
        let is_other = |variant: &&Variant| variant.tag.is_none();
        let named = variants.iter().find(is_named);
        Ok(named.or_else(|| variants.iter().find(is_other)))
    }

    /// A value that has no parts.
    fn scalar(&self, ty: &Type, offset: u64) -> Result<String, Unread> {
        let number = |size: u64| self.number(offset, size);
        Ok(match ty {
            Type::Bool => match number(1)? {
                0 => "false".into(),
                1 => "true".into(),
                other => format!("<not a bool: {other}>"),
            },
            Type::Char => {
                let code = number(4)? as u32;
                let other = || format!("<not a char: {code:#x}>");
                char::from_u32(code).map_or_else(other, |c| format!("{c:?}"))
            }
            Type::Integer { is_signed, size } => {
                let value = number(*size)?;
                let above = 128 - 8 * (*size).clamp(1, 16) as u32;
                match is_signed {
                    true => ((value << above) as i128 >> above).to_string(),
                    false => value.to_string(),
                }
            }
            Type::Float { size: 4 } => format!("{:?}", f32::from_bits(number(4)? as u32)),
            Type::Float { size: 8 } => format!("{:?}", f64::from_bits(number(8)? as u64)),
            Type::Float { size } => format!("<bits {:#x}>", number(*size)?),
            Type::Pointer { size, .. } => format!("{:#x}", number(*size)?),
            Type::Slice {
                pointer, length, ..
            } => {
                let part = |at: &u64| self.number(offset.saturating_add(*at), 8);
                format!("{:#x}, {} elements", part(pointer)?, part(length)?)
            }
            Type::Enumeration { name, size, names } => {
                let value = number(*size)?;
                let is_named =
                    |(_, named): &&(String, u64)| u128::from(*named) & mask(*size) == value;
                match names.iter().find(is_named) {
                    Some((named, _)) => format!("{name}::{named}"),
                    None => format!("{name}::<{value}>"),
                }
            }
            _ => {
                let bytes = self.get(offset, ty.size().min(MAX_ELEMENTS))?;
                let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("<bytes {}>", bytes.join(" "))
            }
        })
    }
}

/// The bits of so many bytes.
fn mask(size: u64) -> u128 {
    u128::MAX
        .checked_shr(128_u32.saturating_sub(8 * size.min(16) as u32))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::location::{Frame, Location, Piece, Place, Variable};
    use super::super::types::{Field, Type, Variant};
    use std::sync::Arc;

    /// A value of a type, from its bytes.
    fn show(ty: Type, bytes: &[u8]) -> String {
        let place = Place::Register("%r1".into());
        let variable = Variable {
            name: "v".into(),
            is_parameter: false,
            frame: Arc::new(Frame {
                function: "k".into(),
                depth: 0,
                called_at: None,
            }),
            location: Location::Pieces(vec![Piece {
                offset: 0,
                size: ty.size(),
                place,
            }]),
            ty: Arc::new(ty),
        };
        variable.show(|_| Some(bytes.to_vec()))
    }

    fn integer(is_signed: bool, size: u64) -> Type {
        Type::Integer { is_signed, size }
    }

    fn field(name: &str, offset: u64, ty: Type) -> Field {
        Field {
            name: name.into(),
            offset,
            ty: Arc::new(ty),
        }
    }

    #[test]
    fn scalars() {
        assert_eq!(show(integer(true, 1), &[255]), "-1");
        assert_eq!(show(integer(false, 8), &[255; 8]), u64::MAX.to_string());
        assert_eq!(show(integer(true, 16), &[255; 16]), "-1");
        let float = Type::Float { size: 8 };
        assert_eq!(show(float, &0.1_f64.to_le_bytes()), "0.1");
        assert_eq!(show(Type::Bool, &[1]), "true");
        assert_eq!(show(Type::Bool, &[2]), "<not a bool: 2>");
        assert_eq!(show(Type::Char, &[0xe9, 0, 0, 0]), "'é'");
        assert_eq!(show(Type::Char, &[0, 0xd8, 0, 0]), "<not a char: 0xd800>");
        let pointer = Type::Pointer {
            to: "f32".into(),
            size: 8,
        };
        assert_eq!(show(pointer, &[16, 0, 0, 0, 0, 0, 0, 0]), "0x10");
    }

    #[test]
    fn tuples_slices_and_long_arrays() {
        let tuple = Type::Struct {
            name: "(u8, bool)".into(),
            size: 2,
            fields: vec![
                field("__0", 0, integer(false, 1)),
                field("__1", 1, Type::Bool),
            ],
        };
        assert_eq!(show(tuple, &[7, 0]), "(7, false)");
        let slice = Type::Slice {
            name: "&[u8]".into(),
            pointer: 0,
            length: 8,
        };
        let bytes = [32_u64.to_le_bytes(), 3_u64.to_le_bytes()].concat();
        assert_eq!(show(slice, &bytes), "0x20, 3 elements");
        let array = Type::Array {
            element: Arc::new(integer(false, 1)),
            count: 40,
        };
        assert!(show(array, &[0; 40]).ends_with(", 0, … 8 more]"));
    }

    #[test]
    fn variants_are_told_apart_by_their_tag() {
        let of = |tag, name: &str, fields| Variant {
            tag,
            name: name.into(),
            ty: Arc::new(Type::Struct {
                name: name.into(),
                size: 8,
                fields,
            }),
        };
        let option = Type::Enum {
            name: "Option<u32>".into(),
            size: 8,
            tag: Some((0, 4)),
            variants: vec![
                of(Some(0), "None", Vec::new()),
                of(Some(1), "Some", vec![field("__0", 4, integer(false, 4))]),
            ],
        };
        assert_eq!(show(option.clone(), &[0; 8]), "None");
        assert_eq!(show(option.clone(), &[1, 0, 0, 0, 9, 0, 0, 0]), "Some(9)");
        let unknown = show(option, &[2, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(unknown, "Option<u32>::<unknown variant>");
    }

    #[test]
    fn a_reader_that_returns_too_little_is_noticed() {
        assert_eq!(show(integer(false, 4), &[1]), "<no longer kept>");
    }
}
