//! From entries to types, as far as printing a value needs them.

use super::entries::{Entries, Value};
use gimli::constants as dwarf;
use std::collections::HashMap;
use std::sync::Arc;

/// A type of the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A character of Unicode.
    Char,
    /// An integer.
    Integer {
        /// Whether it can be negative.
        is_signed: bool,
        /// In bytes.
        size: u64,
    },
    /// A floating-point number.
    Float {
        /// In bytes.
        size: u64,
    },
    /// A pointer or reference.
    Pointer {
        /// What it points to.
        to: String,
        /// In bytes.
        size: u64,
    },
    /// A pointer and a length.
    Slice {
        /// As in the source: `&[f32]`.
        name: String,
        /// Where the pointer is, in bytes.
        pointer: u64,
        /// Where the length is, in bytes.
        length: u64,
    },
    /// A structure, a tuple, or the fields of a variant.
    Struct {
        /// As in the source.
        name: String,
        /// In bytes.
        size: u64,
        /// In the order of the source.
        fields: Vec<Field>,
    },
    /// An array.
    Array {
        /// The type of an element.
        element: Arc<Type>,
        /// How many there are.
        count: u64,
    },
    /// Named integers.
    Enumeration {
        /// As in the source.
        name: String,
        /// In bytes.
        size: u64,
        /// Names and values.
        names: Vec<(String, u64)>,
    },
    /// One of several variants, which a tag tells apart.
    Enum {
        /// As in the source.
        name: String,
        /// In bytes.
        size: u64,
        /// Where the tag is, and its size, in bytes; none if there is only one variant.
        tag: Option<(u64, u64)>,
        /// The variants.
        variants: Vec<Variant>,
    },
    /// Anything else; printed as bytes.
    Other {
        /// As in the source.
        name: String,
        /// In bytes; 0 if unknown.
        size: u64,
    },
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; `__0` and so on in tuples.
    pub name: String,
    /// In bytes.
    pub offset: u64,
    /// Its type.
    pub ty: Arc<Type>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The tag's value; the variant without one has all others.
    pub tag: Option<u64>,
    /// Its name.
    pub name: String,
    /// Its contents.
    pub ty: Arc<Type>,
}

impl Type {
    /// Its size in bytes, 0 if unknown.
    pub fn size(&self) -> u64 {
        match self {
            Self::Bool => 1,
            Self::Char => 4,
            Self::Slice {
                pointer, length, ..
            } => pointer.max(length).saturating_add(8),
            Self::Array { element, count } => element.size().saturating_mul(*count),
            Self::Integer { size, .. }
            | Self::Float { size }
            | Self::Pointer { size, .. }
            | Self::Struct { size, .. }
            | Self::Enumeration { size, .. }
            | Self::Enum { size, .. }
            | Self::Other { size, .. } => *size,
        }
    }

    /// Its name, as in Rust.
    pub fn name(&self) -> String {
        match self {
            Self::Bool => "bool".into(),
            Self::Char => "char".into(),
            Self::Integer { is_signed, size } => {
                format!(
                    "{}{}",
                    if *is_signed { 'i' } else { 'u' },
                    size.saturating_mul(8)
                )
            }
            Self::Float { size } => format!("f{}", size.saturating_mul(8)),
            Self::Pointer { to, .. } if to.is_empty() => "*void".into(),
            Self::Pointer { to, .. } => format!("*{to}"),
            Self::Array { element, count } => format!("[{}; {count}]", element.name()),
            Self::Slice { name, .. }
            | Self::Struct { name, .. }
            | Self::Enumeration { name, .. }
            | Self::Enum { name, .. }
            | Self::Other { name, .. } => name.clone(),
        }
    }
}

/// Structures within structures beyond this many are not looked into.
const MAX_DEPTH: u32 = 24;

/// The types that have been read.
pub(super) struct Types<'a> {
    entries: &'a Entries,
    known: HashMap<usize, Arc<Type>>,
}

impl<'a> Types<'a> {
    pub fn new(entries: &'a Entries) -> Self {
        Self {
            entries,
            known: HashMap::new(),
        }
    }

    /// The type of a variable.
    pub fn of(&mut self, index: Option<usize>) -> Arc<Type> {
        self.read(index, 0)
    }

    fn read(&mut self, index: Option<usize>, depth: u32) -> Arc<Type> {
        let Some(index) = index else {
            return other("?", 0);
        };
        if let Some(known) = self.known.get(&index) {
            return known.clone();
        }
        let entry = &self.entries.all[index];
        let name = entry.text(dwarf::DW_AT_name).unwrap_or_default();
        let size = entry.number(dwarf::DW_AT_byte_size).unwrap_or(0);
        if depth > MAX_DEPTH {
            return other(name, size);
        }
        let inner = self.entries.target(entry, dwarf::DW_AT_type);
        let ty = match entry.tag {
            dwarf::DW_TAG_base_type => {
                let encoding = entry.number(dwarf::DW_AT_encoding).unwrap_or(0);
                Arc::new(base(name, size, encoding))
            }
            dwarf::DW_TAG_pointer_type
            | dwarf::DW_TAG_reference_type
            | dwarf::DW_TAG_rvalue_reference_type => Arc::new(Type::Pointer {
                to: self.pointee(inner),
                size: if size == 0 { 8 } else { size },
            }),
            dwarf::DW_TAG_structure_type | dwarf::DW_TAG_class_type => {
                Arc::new(self.structure(index, name, size, depth))
            }
            dwarf::DW_TAG_array_type => self.array(index, inner, depth),
            dwarf::DW_TAG_enumeration_type => Arc::new(self.enumeration(index, name, size)),
            dwarf::DW_TAG_typedef
            | dwarf::DW_TAG_const_type
            | dwarf::DW_TAG_volatile_type
            | dwarf::DW_TAG_restrict_type => self.read(inner, depth + 1),
            _ => other(name, size),
        };
        self.known.insert(index, ty.clone());
        ty
    }

    /// The name of what a pointer points to, without reading that type: it may contain the pointer.
    fn pointee(&self, mut index: Option<usize>) -> String {
        for _ in 0..MAX_DEPTH {
            let Some(entry) = index.and_then(|index| self.entries.all.get(index)) else {
                break;
            };
            if let Some(name) = entry.text(dwarf::DW_AT_name) {
                return name.to_owned();
            }
            index = self.entries.target(entry, dwarf::DW_AT_type);
        }
        String::new()
    }

    fn structure(&mut self, index: usize, name: &str, size: u64, depth: u32) -> Type {
        let entries = self.entries;
        let is_part = |&&child: &&usize| entries.all[child].tag == dwarf::DW_TAG_variant_part;
        if let Some(&part) = entries.children(index).iter().find(is_part) {
            return self.variants(part, name, size, depth);
        }
        let fields = self.fields(index, depth);
        let at = |name: &str| fields.iter().find(|field| field.name == name);
        if let (Some(pointer), Some(length)) = (at("data_ptr"), at("length"))
            && matches!(*pointer.ty, Type::Pointer { size: 8, .. })
            && fields.len() == 2
        {
            return Type::Slice {
                name: name.to_owned(),
                pointer: pointer.offset,
                length: length.offset,
            };
        }
        Type::Struct {
            name: name.to_owned(),
            size,
            fields,
        }
    }

    fn fields(&mut self, index: usize, depth: u32) -> Vec<Field> {
        let entries = self.entries;
        let members = entries.children(index).iter().filter(|&&child| {
            let member = &entries.all[child];
            // A static member of C++ is a declaration without a place.
            member.tag == dwarf::DW_TAG_member && member.number(dwarf::DW_AT_external).is_none()
        });
        members
            .map(|&member| Field {
                name: entries.name(member).unwrap_or_default().to_owned(),
                offset: offset(entries, member),
                ty: self.read(entries.type_of(member), depth + 1),
            })
            .collect()
    }

    fn variants(&mut self, part: usize, name: &str, size: u64, depth: u32) -> Type {
        let entries = self.entries;
        let tag = entries.target(&entries.all[part], dwarf::DW_AT_discr);
        let tag = tag.map(|member| {
            let ty = self.read(entries.type_of(member), depth + 1);
            (offset(entries, member), ty.size())
        });
        let mut variants = Vec::new();
        for &child in entries.children(part) {
            if entries.all[child].tag != dwarf::DW_TAG_variant {
                continue;
            }
            let member = self.fields(child, depth).into_iter().next();
            variants.extend(member.map(|field| Variant {
                tag: bits(entries.all[child].value(dwarf::DW_AT_discr_value)),
                name: field.name,
                ty: field.ty,
            }));
        }
        Type::Enum {
            name: name.to_owned(),
            size,
            tag,
            variants,
        }
    }

    fn array(&mut self, index: usize, inner: Option<usize>, depth: u32) -> Arc<Type> {
        let entries = self.entries;
        let mut ty = self.read(inner, depth + 1);
        for &child in entries.children(index).iter().rev() {
            let range = &entries.all[child];
            if range.tag == dwarf::DW_TAG_subrange_type {
                let last = range.number(dwarf::DW_AT_upper_bound);
                let count = range
                    .number(dwarf::DW_AT_count)
                    .or_else(|| last?.checked_add(1));
                ty = Arc::new(Type::Array {
                    element: ty,
                    count: count.unwrap_or(0),
                });
            }
        }
        ty
    }

    fn enumeration(&self, index: usize, name: &str, size: u64) -> Type {
        let children = self.entries.children(index).iter();
        let names = children.filter_map(|&child| {
            let entry = &self.entries.all[child];
            let value = bits(entry.value(dwarf::DW_AT_const_value))?;
            Some((entry.text(dwarf::DW_AT_name)?.to_owned(), value))
        });
        Type::Enumeration {
            name: name.to_owned(),
            size,
            names: names.collect(),
        }
    }
}

fn other(name: &str, size: u64) -> Arc<Type> {
    let name = name.to_owned();
    Arc::new(Type::Other { name, size })
}

fn base(name: &str, size: u64, encoding: u64) -> Type {
    let encoding = u8::try_from(encoding).map(gimli::DwAte);
    match encoding {
        Ok(dwarf::DW_ATE_boolean) if size == 1 => Type::Bool,
        Ok(dwarf::DW_ATE_UTF) if size == 4 => Type::Char,
        Ok(dwarf::DW_ATE_float) if matches!(size, 2 | 4 | 8) => Type::Float { size },
        Ok(dwarf::DW_ATE_signed | dwarf::DW_ATE_signed_char) if size <= 16 => Type::Integer {
            is_signed: true,
            size,
        },
        Ok(dwarf::DW_ATE_unsigned | dwarf::DW_ATE_unsigned_char) if size <= 16 => Type::Integer {
            is_signed: false,
            size,
        },
        _ => Type::Other {
            name: name.to_owned(),
            size,
        },
    }
}

/// The offset of a member: a number, or `plus_uconst` and a number.
fn offset(entries: &Entries, member: usize) -> u64 {
    let entry = &entries.all[member];
    match entry.value(dwarf::DW_AT_data_member_location) {
        Some(Value::Bytes(operations)) => match operations.split_first() {
            Some((operation, rest)) if *operation == dwarf::DW_OP_plus_uconst.0 => {
                let mut rest = gimli::EndianSlice::new(rest, gimli::LittleEndian);
                gimli::Reader::read_uleb128(&mut rest).unwrap_or(u64::MAX)
            }
            _ => u64::MAX,
        },
        Some(_) => entry
            .number(dwarf::DW_AT_data_member_location)
            .unwrap_or(u64::MAX),
        None => 0,
    }
}

/// A constant, whatever its sign.
fn bits(value: Option<&Value>) -> Option<u64> {
    match *value? {
        Value::Number(number) => Some(number),
        Value::Signed(number) => Some(number as u64),
        _ => None,
    }
}
