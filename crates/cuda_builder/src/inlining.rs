//! Inlined calls: from DWARF to `.loc … inlined_at`.
//!
//! LLVM writes into PTX the line that each instruction was written on (`.loc`).
//! Where that is in a function that was inlined, PTX can also say into what
//! (`function_name …, inlined_at …`), which profilers show and the simulator
//! reports; but LLVM does not write it. It writes DWARF instead, a tree of
//! inlined calls between labels. [`apply`] reads that tree, adds `inlined_at` to
//! the places of instructions, and removes the DWARF, which nothing else needs. No
//! instruction is touched.
//!
//! What it leaves out: the tree gives a call one range from its first to its last
//! instruction, and where others were moved in between it is a guess which of the
//! covering calls a place belongs to (the narrowest whose function is in the
//! place's file). DWARF that is not as expected is removed all the same, and the
//! places stay as LLVM wrote them.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// `ptx` with the inlined calls around instructions, and without DWARF.
pub fn apply(ptx: &str) -> String {
    let (code, sections) = split(ptx);
    let calls = Calls::read(&code, &sections).unwrap_or_default();
    let mut names = Names::default();
    let mut out = String::with_capacity(ptx.len());
    for (number, line) in code.iter().enumerate() {
        match place(line) {
            Some(place) if has_instruction(&code[number + 1..]) => {
                calls.write_place(&mut out, &mut names, number, place, line);
            }
            _ => out.push_str(line),
        }
        if line.contains(".entry") || line.contains(".func") {
            names.around.clear();
        }
    }
    names.write(&mut out);
    out
}

/// File, line, column: the numbers of a `.loc`.
type Place = (u32, u32, u32);

/// The place that a line names, if it is a `.loc` without more.
fn place(line: &str) -> Option<Place> {
    let mut words = line.trim().strip_prefix(".loc")?.split_whitespace();
    let mut number = || words.next()?.parse().ok();
    let place = (number()?, number()?, number()?);
    words.next().is_none().then_some(place)
}

/// Whether there is an instruction before the next place.
fn has_instruction(lines: &[&str]) -> bool {
    lines
        .iter()
        .map(|line| line.trim_start())
        .take_while(|line| !line.starts_with(".loc") && !line.starts_with('}'))
        .any(|line| {
            let begins = |c: char| c.is_ascii_alphabetic() || c == '@';
            line.starts_with(begins) && line.contains(';')
        })
}

/// The lines that are no DWARF, and the lines of each section of it.
fn split(ptx: &str) -> (Vec<&str>, HashMap<&str, Vec<&str>>) {
    let mut code = Vec::new();
    let mut sections: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut section = None;
    for line in ptx.split_inclusive('\n') {
        let text = line.trim();
        match section {
            Some(name) => {
                if text == "}" {
                    section = None;
                } else {
                    sections.entry(name).or_default().push(text);
                }
            }
            None => match text.strip_prefix(".section") {
                Some(rest) => {
                    section = rest.split_whitespace().next();
                    if text.ends_with('}') {
                        section = None;
                    }
                }
                None if text.starts_with("$L__sec_end") => {}
                // The architecture alone: without DWARF it is no module to debug.
                None => match text.strip_suffix(", debug") {
                    Some(target) if text.starts_with(".target") => {
                        code.push(target);
                        code.push("\n");
                    }
                    _ => code.push(line),
                },
            },
        }
    }
    (code, sections)
}

/// What has been written: names of functions, each told once, and places.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    in_order: Vec<String>,
    /// By place, the calls around it as they were last written.
    around: HashMap<Place, Vec<Place>>,
}

impl Names {
    /// The label of a name.
    fn label(&mut self, name: &str) -> String {
        let next = self.in_order.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.in_order.push(name.to_owned());
            next
        });
        format!("$L__info_string{number}")
    }

    /// Notes that a place is written with these calls around it; whether it was last
    /// written otherwise, or not at all.
    fn is_news(&mut self, place: Place, around: &[Place]) -> bool {
        if self.around.get(&place).is_some_and(|last| last == around) {
            return false;
        }
        self.around.insert(place, around.to_vec());
        true
    }

    /// The section that the labels are in.
    fn write(&self, out: &mut String) {
        if self.in_order.is_empty() {
            return;
        }
        out.push_str("\t.section\t.debug_str\n\t{\n");
        for (number, name) in self.in_order.iter().enumerate() {
            let _ = writeln!(out, "$L__info_string{number}:");
            for byte in name.bytes().chain([0]) {
                let _ = writeln!(out, ".b8 {byte}");
            }
        }
        out.push_str("\t}\n");
    }
}

/// A function, or a call that was inlined.
struct Call {
    parent: Option<usize>,
    /// Where the function is described.
    function: u64,
    /// Lines of the PTX: the first, and the one after the last.
    range: (usize, usize),
    /// Where it is called; nowhere for a function that was not inlined.
    at: Option<Place>,
}

/// All calls of a module.
#[derive(Default)]
struct Calls {
    calls: Vec<Call>,
    /// The functions that were not inlined, by their first lines: their lines, and
    /// where in `calls` they and the calls in them stand.
    functions: Vec<(Range<usize>, Range<usize>)>,
    /// Names of the functions.
    names: HashMap<u64, String>,
    /// The file that most says each function is in.
    files: HashMap<u64, u32>,
}

impl Calls {
    fn read(code: &[&str], sections: &HashMap<&str, Vec<&str>>) -> Option<Self> {
        let labels: HashMap<&str, usize> = code
            .iter()
            .enumerate()
            .filter_map(|(number, line)| Some((line.trim().strip_suffix(':')?, number)))
            .collect();
        let abbreviations = abbreviations(&Bytes::read(sections.get(".debug_abbrev")?)?)?;
        let info = Bytes::read(sections.get(".debug_info")?)?;
        let mut calls = Self::default();
        calls.read_units(&info, &abbreviations, &labels)?;
        calls.find_functions();
        calls.find_files(code);
        Some(calls)
    }

    fn read_units(
        &mut self,
        info: &Bytes<'_>,
        abbreviations: &HashMap<u64, Abbreviation>,
        labels: &HashMap<&str, usize>,
    ) -> Option<()> {
        let mut unit = 0;
        while unit < info.bytes.len() {
            let mut reader = Reader { info, at: unit };
            let end = unit + 4 + reader.number(4)? as usize;
            let version = reader.number(2)?;
            let _abbreviations = reader.number(4)?;
            if version != 2 || reader.number(1)? != 8 {
                return None;
            }
            // The call or function around each level, if there is one.
            let mut around: Vec<Option<usize>> = Vec::new();
            while reader.at < end {
                let offset = reader.at as u64;
                let code = reader.leb128()?;
                if code == 0 {
                    around.pop();
                    continue;
                }
                let abbreviation = abbreviations.get(&code)?;
                let entry = reader.entry(abbreviation, unit as u64)?;
                if let Some(name) = entry.name {
                    self.names.insert(offset, name);
                }
                let mut inside = around.last().copied().flatten();
                let lines = entry
                    .low
                    .zip(entry.high)
                    .and_then(|(low, high)| Some((*labels.get(low)?, *labels.get(high)?)));
                if let (Tag::Function | Tag::InlinedCall, Some(range)) = (abbreviation.tag, lines) {
                    self.calls.push(Call {
                        parent: inside,
                        function: entry.origin.unwrap_or(offset),
                        range,
                        at: (abbreviation.tag == Tag::InlinedCall).then_some(entry.call),
                    });
                    inside = Some(self.calls.len() - 1);
                }
                if abbreviation.has_children {
                    around.push(inside);
                }
            }
            unit = end;
        }
        Some(())
    }

    /// Functions are in the file that they call from; those that call nothing, in
    /// the file that most of their places name.
    /// Calls follow the function they are in, up to the next function.
    fn find_functions(&mut self) {
        let is_function = |&index: &usize| self.calls[index].parent.is_none();
        let starts: Vec<usize> = (0..self.calls.len()).filter(is_function).collect();
        let ends = starts.iter().copied().skip(1).chain([self.calls.len()]);
        self.functions = starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| {
                let (first, past) = self.calls[start].range;
                (first..past, start..end)
            })
            .collect();
        self.functions.sort_by_key(|(lines, _)| lines.start);
    }

    fn find_files(&mut self, code: &[&str]) {
        const CERTAIN: u64 = 1 << 20;
        let mut votes: HashMap<u64, HashMap<u32, u64>> = HashMap::new();
        for call in &self.calls {
            if let (Some(parent), Some((file, ..))) = (call.parent, call.at) {
                let function = self.calls[parent].function;
                *votes.entry(function).or_default().entry(file).or_default() += CERTAIN;
            }
        }
        for (number, line) in code.iter().enumerate() {
            if let Some((file, ..)) = place(line)
                && let Some(call) = self.narrowest(number, |_| true)
            {
                let function = self.calls[call].function;
                *votes.entry(function).or_default().entry(file).or_default() += 1;
            }
        }
        self.files = votes
            .into_iter()
            .filter_map(|(function, files)| {
                let most = files.into_iter().max_by_key(|&(file, n)| (n, file))?;
                Some((function, most.0))
            })
            .collect();
    }

    /// The narrowest call around a line of the PTX that `is_wanted`.
    fn narrowest(&self, number: usize, is_wanted: impl Fn(&Call) -> bool) -> Option<usize> {
        // Functions do not overlap: only the last that begins before the line can hold it.
        let after = self
            .functions
            .partition_point(|(lines, _)| lines.start <= number);
        let (_, inside) = self.functions[..after].last()?;
        let around = inside.clone().filter(|&index| {
            let call = &self.calls[index];
            call.range.0 <= number && number < call.range.1 && is_wanted(call)
        });
        // Calls follow the ones they are in, so of equal ranges the last is the
        // innermost.
        around.min_by_key(|&index| {
            let (first, past) = self.calls[index].range;
            (past - first, usize::MAX - index)
        })
    }

    /// Writes the place on a line of the PTX with the calls around it.
    fn write_place(
        &self,
        out: &mut String,
        names: &mut Names,
        number: usize,
        place: Place,
        line: &str,
    ) {
        let in_file = |call: &Call| self.files.get(&call.function) == Some(&place.0);
        let mut call = self
            .narrowest(number, in_file)
            .or_else(|| self.narrowest(number, |_| true));
        // The calls from the inside out, up to a function that was not inlined.
        let mut chain = Vec::new();
        while let Some(index) = call {
            let Some(at) = self.calls[index].at else {
                break;
            };
            chain.push((self.calls[index].function, at));
            call = self.calls[index].parent;
        }
        if chain.is_empty() {
            names.around.insert(place, Vec::new());
            out.push_str(line);
            return;
        }
        let places = chain.iter().map(|&(_, at)| at);
        let places: Vec<Place> = std::iter::once(place).chain(places).collect();
        // A place that something is inlined at must have been named before.
        let outermost = places[chain.len()];
        if names.is_news(outermost, &[]) {
            let (file, row, column) = outermost;
            let _ = writeln!(out, "\t.loc\t{file} {row} {column}");
        }
        for (index, &(function, (file, row, column))) in chain.iter().enumerate().rev() {
            if !names.is_news(places[index], &places[index + 1..]) && index > 0 {
                continue;
            }
            let name = self.names.get(&function).map_or("", String::as_str);
            let label = names.label(name);
            let (own_file, own_row, own_column) = places[index];
            let _ = writeln!(
                out,
                "\t.loc\t{own_file} {own_row} {own_column}, function_name {label}, \
                 inlined_at {file} {row} {column}"
            );
        }
    }
}

/// What an entry is, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Function,
    InlinedCall,
    Other,
}

/// The form of an entry.
struct Abbreviation {
    tag: Tag,
    has_children: bool,
    /// Attribute and form.
    attributes: Vec<(u64, u64)>,
}

fn abbreviations(bytes: &Bytes<'_>) -> Option<HashMap<u64, Abbreviation>> {
    const SUBPROGRAM: u64 = 0x2e;
    const INLINED_SUBROUTINE: u64 = 0x1d;
    let mut reader = Reader { info: bytes, at: 0 };
    let mut abbreviations = HashMap::new();
    loop {
        let code = reader.leb128()?;
        if code == 0 {
            return Some(abbreviations);
        }
        let tag = match reader.leb128()? {
            SUBPROGRAM => Tag::Function,
            INLINED_SUBROUTINE => Tag::InlinedCall,
            _ => Tag::Other,
        };
        let has_children = reader.number(1)? != 0;
        let mut attributes = Vec::new();
        loop {
            match (reader.leb128()?, reader.leb128()?) {
                (0, 0) => break,
                pair => attributes.push(pair),
            }
        }
        let abbreviation = Abbreviation {
            tag,
            has_children,
            attributes,
        };
        abbreviations.insert(code, abbreviation);
    }
}

/// The bytes of a section, with the symbols that stand for some of them.
struct Bytes<'a> {
    bytes: Vec<u8>,
    symbols: HashMap<usize, &'a str>,
}

impl<'a> Bytes<'a> {
    /// Of lines such as `.b8 1,2`, `.b32 7` and `.b64 $L__tmp3`.
    fn read(lines: &[&'a str]) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut symbols = HashMap::new();
        for line in lines {
            let line = line.split("//").next()?.trim();
            if line.is_empty() || line == "{" || line.ends_with(':') {
                continue;
            }
            let (width, values) = line.split_once(char::is_whitespace)?;
            let width = match width {
                ".b8" => 1,
                ".b16" => 2,
                ".b32" => 4,
                ".b64" => 8,
                _ => return None,
            };
            for value in values.split(',').map(str::trim) {
                let number = match value.parse::<i64>() {
                    Ok(number) => number as u64,
                    Err(_) => {
                        symbols.insert(bytes.len(), value);
                        0
                    }
                };
                bytes.extend(&number.to_le_bytes()[..width]);
            }
        }
        Some(Self { bytes, symbols })
    }
}

/// Reads a section from some byte on.
struct Reader<'b, 'a> {
    info: &'b Bytes<'a>,
    at: usize,
}

/// What is wanted of an entry.
#[derive(Default)]
struct Entry<'a> {
    name: Option<String>,
    origin: Option<u64>,
    low: Option<&'a str>,
    high: Option<&'a str>,
    call: Place,
}

impl<'a> Reader<'_, 'a> {
    /// A number of so many bytes; 0 for a symbol.
    fn number(&mut self, n_bytes: usize) -> Option<u64> {
        let bytes = self.info.bytes.get(self.at..self.at + n_bytes)?;
        self.at += n_bytes;
        Some(
            bytes
                .iter()
                .rev()
                .fold(0, |n, &byte| n << 8 | u64::from(byte)),
        )
    }

    fn leb128(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.number(1)?;
            value |= (byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let rest = self.info.bytes.get(self.at..)?;
        let length = rest.iter().position(|&byte| byte == 0)?;
        self.at += length + 1;
        Some(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    /// An entry's attributes; `unit` is where its unit starts.
    fn entry(&mut self, abbreviation: &Abbreviation, unit: u64) -> Option<Entry<'a>> {
        let mut entry = Entry::default();
        for &(attribute, form) in &abbreviation.attributes {
            let symbol = self.info.symbols.get(&self.at).copied();
            let mut text = None;
            let mut number = 0;
            match form {
                0x08 => text = Some(self.text()?),
                // Sizes of addr, data2, data4, data8, data1, flag, ref_addr, ref4.
                0x01 | 0x07 | 0x10 => number = self.number(8)?,
                0x05 => number = self.number(2)?,
                0x06 | 0x0e => number = self.number(4)?,
                0x0b | 0x0c => number = self.number(1)?,
                0x13 => number = unit + self.number(4)?,
                0x0d | 0x0f => number = self.leb128()?,
                _ => return None,
            }
            match attribute {
                0x03 => entry.name = text,
                0x11 => entry.low = symbol,
                0x12 => entry.high = symbol,
                0x31 => {
                    entry.origin = Some(match symbol.and_then(|symbol| symbol.split_once('+')) {
                        Some((_, offset)) => offset.parse().ok()?,
                        None => number,
                    });
                }
                0x57 => entry.call.2 = number as u32,
                0x58 => entry.call.0 = number as u32,
                0x59 => entry.call.1 = number as u32,
                _ => {}
            }
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn ptx_without_dwarf_stays_as_it_is() {
        let ptx = ".version 7.8\n.target sm_80\n\t.loc\t1 2 3\n\tld.global.b32 \t%r1, [%rd1];\n";
        assert_eq!(apply(ptx), ptx);
    }

    #[test]
    fn dwarf_goes_and_calls_come() {
        // Unit: entry 1 (unit), entry 2 (function that is inlined: name), entry 3
        // (function from $L__a to $L__d), entry 4 in it (inlined call from $L__b to
        // $L__c at 1 7 9).
        let ptx = "\
.target sm_80, debug
$L__a:
\t.loc\t1 5 1
\tld.param.b64 \t%rd1, [p];
$L__b:
\t.loc\t2 30 4
\t@%p1 ld.global.b32 \t%r1, [%rd1];
$L__c:
\t.loc\t1 8 1
\tst.global.b32 \t[%rd1], %r1;
$L__d:
}
\t.section\t.debug_abbrev
\t{
.b8 1,17,1,0,0
.b8 2,46,0,3,8,0,0
.b8 3,46,1,17,1,18,1,0,0
.b8 4,29,0,49,19,17,1,18,1,88,11,89,11,87,11,0,0
.b8 0
\t}
\t.section\t.debug_info
\t{
.b32 54
.b8 2,0
.b32 .debug_abbrev
.b8 8
.b8 1
.b8 2,108,0
.b8 3
.b64 $L__a
.b64 $L__d
.b8 4
.b32 12
.b64 $L__b
.b64 $L__c
.b8 1,7,9
.b8 0
.b8 0
\t}
\t.section\t.debug_macinfo\t{\t}
";
        let expected = "\
.target sm_80
$L__a:
\t.loc\t1 5 1
\tld.param.b64 \t%rd1, [p];
$L__b:
\t.loc\t1 7 9
\t.loc\t2 30 4, function_name $L__info_string0, inlined_at 1 7 9
\t@%p1 ld.global.b32 \t%r1, [%rd1];
$L__c:
\t.loc\t1 8 1
\tst.global.b32 \t[%rd1], %r1;
$L__d:
}
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 108
.b8 0
\t}
";
        assert_eq!(apply(ptx), expected);
    }

    #[test]
    fn broken_dwarf_is_removed_and_does_no_harm() {
        let ptx = ".target sm_80, debug\n\t.loc\t1 2 3\n\tst.global.b32 \t[%rd1], %r1;\n\
                   \t.section\t.debug_abbrev\n\t{\n.b8 1,2,300\n\t}\n\
                   \t.section\t.debug_info\n\t{\n.b99 what\n\t}\n";
        let plain = ".target sm_80\n\t.loc\t1 2 3\n\tst.global.b32 \t[%rd1], %r1;\n";
        assert_eq!(apply(ptx), plain);
    }
}
