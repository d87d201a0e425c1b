//! From the bytes of the sections to DWARF's tree of entries, as one list in order.

use super::sections::Sections;
use gimli::{
    AttributeValue, DebugAbbrev, DebugInfo, DebugStr, DwAt, DwTag, EndianSlice, LittleEndian,
    constants as dwarf,
};
use std::collections::HashMap;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// An attribute's value, as far as it is needed here.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(u64),
    Signed(i64),
    Text(String),
    /// Operations of an expression, or a constant.
    Bytes(Vec<u8>),
    /// The offset of an entry in `.debug_info`.
    Entry(usize),
    /// An offset in another section.
    Offset(usize),
}

/// One entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub offset: usize,
    pub tag: DwTag,
    /// The entry around it.
    pub parent: Option<usize>,
    attributes: Vec<(DwAt, Value)>,
}

impl Entry {
    pub fn value(&self, of: DwAt) -> Option<&Value> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(name, _)| *name == of)
            .map(|(_, value)| value)
    }

    /// A number that cannot be negative.
    pub fn number(&self, of: DwAt) -> Option<u64> {
        match *self.value(of)? {
            Value::Number(number) => Some(number),
            Value::Signed(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    pub fn text(&self, of: DwAt) -> Option<&str> {
        match self.value(of)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub all: Vec<Entry>,
    /// By offset, the entry's place in `all`.
    by_offset: HashMap<usize, usize>,
    /// By entry, those directly inside it.
    children: HashMap<usize, Vec<usize>>,
}

impl Entries {
    /// The entries directly inside one.
    pub fn children(&self, index: usize) -> &[usize] {
        self.children.get(&index).map_or(&[], Vec::as_slice)
    }

    /// The entry that an attribute refers to.
    pub fn target(&self, entry: &Entry, of: DwAt) -> Option<usize> {
        match entry.value(of)? {
            Value::Entry(offset) => self.by_offset.get(offset).copied(),
            _ => None,
        }
    }

    /// The entries that describe the same thing: itself, and what it was made from.
    pub fn origins(&self, index: usize) -> impl Iterator<Item = usize> {
        // A chain has two or three links; malformed ones may be circles.
        std::iter::successors(Some(index), |&index| {
            let entry = self.all.get(index)?;
            self.target(entry, dwarf::DW_AT_abstract_origin)
                .or_else(|| self.target(entry, dwarf::DW_AT_specification))
        })
        .take(4)
    }

    /// The name of an entry or of its origin.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.origins(index)
            .find_map(|index| self.all[index].text(dwarf::DW_AT_name))
    }

    /// The type of an entry or of its origin.
    pub fn type_of(&self, index: usize) -> Option<usize> {
        self.origins(index)
            .find_map(|index| self.target(&self.all[index], dwarf::DW_AT_type))
    }

    /// The unit that an entry is in.
    pub fn unit(&self, index: usize) -> &Entry {
        let mut index = index;
        while let Some(parent) = self.all[index].parent {
            index = parent;
        }
        &self.all[index]
    }
}

/// Reads all entries.
///
/// # Errors
///
/// The sections are malformed.
pub(super) fn read(sections: &Sections) -> Result<Entries, String> {
    let abbreviations = DebugAbbrev::new(sections.get(".debug_abbrev"), LittleEndian);
    let info = DebugInfo::new(sections.get(".debug_info"), LittleEndian);
    let strings = DebugStr::new(sections.get(".debug_str"), LittleEndian);
    let mut entries = Entries::default();
    let mut units = info.units();
    while let Some(unit) = units.next().map_err(malformed)? {
        if unit.version() > 3 {
            let version = unit.version();
            return Err(format!(
                "the debug information is DWARF {version}; that of PTX is DWARF 2"
            ));
        }
        let abbreviations = unit.abbreviations(&abbreviations).map_err(malformed)?;
        read_unit(&unit, &abbreviations, &strings, &mut entries).map_err(malformed)?;
    }
    for (index, entry) in entries.all.iter().enumerate() {
        entries.by_offset.insert(entry.offset, index);
        if let Some(parent) = entry.parent {
            entries.children.entry(parent).or_default().push(index);
        }
    }
    Ok(entries)
}

fn malformed(error: gimli::Error) -> String {
    format!("the debug information is malformed: {error}")
}

fn read_unit(
    unit: &gimli::UnitHeader<Bytes<'_>>,
    abbreviations: &gimli::Abbreviations,
    strings: &DebugStr<Bytes<'_>>,
    entries: &mut Entries,
) -> gimli::Result<()> {
    let mut cursor = unit.entries(abbreviations);
    // The entries around the current one, and how deep each is.
    let mut around: Vec<(isize, usize)> = Vec::new();
    let mut depth = 0;
    while let Some((deeper, entry)) = cursor.next_dfs()? {
        depth += deeper;
        while around.last().is_some_and(|&(of, _)| of >= depth) {
            around.pop();
        }
        let Some(offset) = entry.offset().to_debug_info_offset(unit) else {
            continue;
        };
        let mut attributes = Vec::new();
        let mut all = entry.attrs();
        while let Some(attribute) = all.next()? {
            if let Some(value) = value(attribute.value(), unit, strings) {
                attributes.push((attribute.name(), value));
            }
        }
        let index = entries.all.len();
        entries.all.push(Entry {
            offset: offset.0,
            tag: entry.tag(),
            parent: around.last().map(|&(_, index)| index),
            attributes,
        });
        around.push((depth, index));
    }
    Ok(())
}

fn value(
    value: AttributeValue<Bytes<'_>>,
    unit: &gimli::UnitHeader<Bytes<'_>>,
    strings: &DebugStr<Bytes<'_>>,
) -> Option<Value> {
    let text = |text: Bytes<'_>| Value::Text(text.to_string_lossy().into_owned());
    Some(match value {
        AttributeValue::String(bytes) => text(bytes),
        AttributeValue::DebugStrRef(offset) => text(strings.get_str(offset).ok()?),
        AttributeValue::Block(bytes) => Value::Bytes(bytes.slice().to_vec()),
        AttributeValue::Exprloc(expression) => Value::Bytes(expression.0.slice().to_vec()),
        AttributeValue::UnitRef(offset) => Value::Entry(offset.to_debug_info_offset(unit)?.0),
        AttributeValue::DebugInfoRef(offset) => Value::Entry(offset.0),
        AttributeValue::LocationListsRef(offset) => Value::Offset(offset.0),
        AttributeValue::RangeListsRef(offset) => Value::Offset(offset.0),
        AttributeValue::SecOffset(offset) => Value::Offset(offset),
        AttributeValue::Addr(address) => Value::Number(address),
        AttributeValue::Sdata(number) => Value::Signed(number),
        AttributeValue::Encoding(encoding) => Value::Number(u64::from(encoding.0)),
        AttributeValue::FileIndex(index) => Value::Number(index),
        AttributeValue::Flag(flag) => Value::Number(u64::from(flag)),
        other => Value::Number(other.udata_value()?),
    })
}
