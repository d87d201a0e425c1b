//! From the text to the bytes of the DWARF sections.
//!
//! A section is data (`.b8 1,2`, `.b64 $L__tmp3`, `.b32 $L__a-$L__b`) and labels. Three kinds of
//! names occur in it: labels of the code, which stand for their line; labels and names of sections,
//! which stand for an offset; and everything else, which is a variable of the PTX and gets an address
//! that no line can have.

use std::collections::HashMap;

/// Addresses from here on are variables of the PTX, each with [`SYMBOL_BYTES`] for itself.
const SYMBOLS: u64 = 1 << 48;
const SYMBOL_BYTES: u64 = 1 << 32;

/// The DWARF sections of a module.
#[derive(Debug, Default)]
pub(super) struct Sections {
    bytes: HashMap<String, Vec<u8>>,
    symbols: Vec<String>,
}

impl Sections {
    /// A section's bytes; none if there is no such section.
    pub fn get(&self, name: &str) -> &[u8] {
        self.bytes.get(name).map_or(&[], Vec::as_slice)
    }

    /// The variable of the PTX that an address is in, and the offset in it.
    pub fn symbol(&self, address: u64) -> Option<(&str, u64)> {
        let place = address.checked_sub(SYMBOLS)?;
        let name = self.symbols.get((place / SYMBOL_BYTES) as usize)?;
        Some((name, place % SYMBOL_BYTES))
    }
}

/// One `.b8`, `.b16`, `.b32` or `.b64`.
struct Data<'a> {
    width: usize,
    values: &'a str,
    line: usize,
}

/// What a label stands for.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// A line of the text or an offset in a section.
    Number(i64),
    /// It is defined more than once.
    Ambiguous,
}

/// The text, taken apart.
#[derive(Default)]
struct Parts<'a> {
    labels: HashMap<&'a str, Target>,
    sections: Vec<(&'a str, Vec<Data<'a>>)>,
}

/// Reads all sections of a module's text.
///
/// # Errors
///
/// There is no debug information, or it is malformed.
pub(super) fn assemble(text: &str) -> Result<Sections, String> {
    let parts = parts(text)?;
    let mut sections = Sections::default();
    let mut numbers = HashMap::new();
    for (name, data) in &parts.sections {
        let mut bytes = Vec::new();
        for data in data {
            for value in data.values.split(',') {
                let number = sum(value, &parts.labels, &mut sections.symbols, &mut numbers)
                    .filter(|&number| fits(number, data.width))
                    .ok_or_else(|| {
                        let value = value.trim();
                        format!("line {}: `{value}` is not understood in {name}", data.line)
                    })?;
                bytes.extend(&number.to_le_bytes()[..data.width]);
            }
        }
        sections.bytes.insert((*name).to_owned(), bytes);
    }
    if sections.get(".debug_info").is_empty() {
        let what = "the PTX does not describe variables: compile kernels with \
                    `CudaBuilder::debug(DebugInfo::Full)`, or by `nvcc -G`";
        return Err(what.into());
    }
    Ok(sections)
}

/// Takes the text apart.
fn parts(text: &str) -> Result<Parts<'_>, String> {
    let mut parts = Parts::default();
    let mut offset = 0;
    let mut inside = false;
    for (line, number) in text.lines().zip(1..) {
        let mut rest = line.split("//").next().unwrap_or_default().trim();
        if !inside {
            let Some(section) = rest.strip_prefix(".section") else {
                if let Some(label) = label(rest) {
                    define(&mut parts.labels, label, number as i64);
                }
                continue;
            };
            let section = section.trim_start();
            let end = section.find(|c: char| c.is_whitespace() || c == '{');
            let (name, after) = section.split_at(end.unwrap_or(section.len()));
            if parts.sections.iter().any(|(known, _)| *known == name) {
                return Err(format!("line {number}: there is a second section {name}"));
            }
            parts.sections.push((name, Vec::new()));
            define(&mut parts.labels, name, 0);
            (inside, offset, rest) = (true, 0, after.trim());
        }
        rest = rest.strip_prefix('{').unwrap_or(rest).trim();
        if let Some(before) = rest.strip_suffix('}') {
            (inside, rest) = (false, before.trim());
        }
        if rest.is_empty() {
            continue;
        }
        if let Some(label) = label(rest) {
            define(&mut parts.labels, label, offset);
            continue;
        }
        let data = data(rest, number)
            .ok_or_else(|| format!("line {number}: `{rest}` has no place in a section"))?;
        offset += (data.width * data.values.split(',').count()) as i64;
        if let Some((_, section)) = parts.sections.last_mut() {
            section.push(data);
        }
    }
    match inside {
        true => Err("the text ends inside a section".into()),
        false => Ok(parts),
    }
}

/// The label on a line of its own.
fn label(line: &str) -> Option<&str> {
    let name = line.strip_suffix(':')?.trim_end();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

fn define<'a>(labels: &mut HashMap<&'a str, Target>, name: &'a str, number: i64) {
    labels
        .entry(name)
        .and_modify(|target| *target = Target::Ambiguous)
        .or_insert(Target::Number(number));
}

fn data(line: &str, number: usize) -> Option<Data<'_>> {
    let (width, values) = line.split_once(char::is_whitespace)?;
    let width = match width {
        ".b8" => 1,
        ".b16" => 2,
        ".b32" => 4,
        ".b64" => 8,
        _ => return None,
    };
    Some(Data {
        width,
        values: values.trim().trim_end_matches(';'),
        line: number,
    })
}

/// The value of a sum or difference of names and numbers.
fn sum<'a>(
    text: &'a str,
    labels: &HashMap<&str, Target>,
    symbols: &mut Vec<String>,
    numbers: &mut HashMap<&'a str, u64>,
) -> Option<i64> {
    let mut total = 0_i64;
    let mut rest = text.trim();
    let mut is_first = true;
    while !rest.is_empty() {
        let sign = match rest.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ if is_first => 1,
            _ => return None,
        };
        rest = rest.strip_prefix(['+', '-']).unwrap_or(rest).trim_start();
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let term = rest[..end].trim();
        let value = match labels.get(term) {
            Some(Target::Number(number)) => *number,
            Some(Target::Ambiguous) => return None,
            // A section that is not there: that of the lines, which PTX has otherwise.
            None if term.starts_with(".debug_") => 0,
            None if term.starts_with(|c: char| c.is_ascii_digit()) => literal(term)?,
            None => symbol(term, symbols, numbers)?,
        };
        total = total.checked_add(value.checked_mul(sign)?)?;
        (rest, is_first) = (&rest[end..], false);
    }
    (!is_first).then_some(total)
}

fn literal(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['U', 'u']);
    let value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse::<u64>().ok()?,
    };
    Some(value as i64)
}

/// The address of a variable of the PTX. Names of the code's and the sections' labels begin with
/// `$` and `.`; one of those that is not defined is an error.
fn symbol<'a>(
    name: &'a str,
    symbols: &mut Vec<String>,
    numbers: &mut HashMap<&'a str, u64>,
) -> Option<i64> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    if name.is_empty() || name.starts_with(['$', '.']) || !name.chars().all(is_name) {
        return None;
    }
    let number = *numbers.entry(name).or_insert_with(|| {
        symbols.push(name.to_owned());
        symbols.len() as u64 - 1
    });
    let address = SYMBOLS.checked_add(number.checked_mul(SYMBOL_BYTES)?)?;
    i64::try_from(address).ok()
}

/// Whether a number can be written in so many bytes, signed or not.
fn fits(number: i64, width: usize) -> bool {
    let bits = 8 * width as u32;
    bits == 64 || (-(1_i64 << (bits - 1))..1_i64 << bits).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::assemble;

    const TEXT: &str = "\
.version 7.8
$L__a:
\tret;
$L__b:
\t.section .debug_info
\t{
.b8 1,255 // comment
$L__inside:
.b16 $L__b-$L__a
.b32 $L__inside+1
.b64 depot
.b64 depot+8
.b64 other
\t}
\t.section .debug_macinfo { }
";

    #[test]
    fn lines_offsets_and_variables_have_addresses() {
        let sections = assemble(TEXT).unwrap();
        let info = sections.get(".debug_info");
        assert_eq!(info[..8], [1, 255, 2, 0, 3, 0, 0, 0]);
        let address = |at: usize| u64::from_le_bytes(info[at..at + 8].try_into().unwrap());
        assert_eq!(sections.symbol(address(8)), Some(("depot", 0)));
        assert_eq!(sections.symbol(address(16)), Some(("depot", 8)));
        assert_eq!(sections.symbol(address(24)), Some(("other", 0)));
        assert_eq!(sections.symbol(4), None);
        assert!(sections.get(".debug_line").is_empty());
    }

    #[test]
    fn malformed_sections_are_errors() {
        for (from, to) in [
            ("1,255", "1,256"),
            ("1,255", "1,"),
            ("$L__b-$L__a", "$L__b $L__a"),
            ("$L__b-$L__a", "depot"),
            ("$L__b-$L__a", "$L__c"),
            (".b16", ".b84"),
            ("{ }", "{"),
            (".debug_macinfo", ".debug_info"),
        ] {
            let text = TEXT.replace(from, to);
            assert!(assemble(&text).is_err(), "{to}");
        }
    }
}
