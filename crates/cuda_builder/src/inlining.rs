//! Inlined calls: from DWARF to `.loc … inlined_at`.
//!
//! LLVM writes into PTX the line that each instruction was written on (`.loc`). If that is in a
//! function that was inlined, PTX can also say where (`function_name …, inlined_at …`), which
//! profilers show and the simulator reports. LLVM 22 does not write that. (Later versions may; what
//! is there stays.) It writes two other things, neither of which is enough. With `-Zverbose-asm`, a
//! comment after each `.loc` names the calls around it, by line and column. DWARF describes all
//! calls, with files and functions, but gives only the first and the last instruction of each, and
//! instructions of others may lie between. [`apply`] looks up the calls of each comment in DWARF,
//! adds `inlined_at` to the places of instructions, and removes comments and DWARF, which nothing
//! else needs. No instruction is changed.
//!
//! Left out: where two functions are called at the same line and column, as in a `for` loop, a
//! place may get the other one's name. Where comment and DWARF disagree, or are not as expected,
//! they are still removed, and the places stay as LLVM wrote them.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use gimli::{
    AttributeValue, DebugAbbrev, DebugInfo, DwAt, EndianSlice, LittleEndian, constants as dwarf,
};

/// `ptx` with the inlined calls around instructions, and without DWARF.
pub fn apply(ptx: &str) -> String {
    let (code, sections) = split(ptx);
    let calls = Calls::read(&code, &sections).unwrap_or_default();
    let mut names = Names::default();
    let mut out = String::with_capacity(ptx.len());
    let mut in_asm = false;
    for (number, line) in code.iter().enumerate() {
        in_asm = match line.trim() {
            "// begin inline asm" => true,
            "// end inline asm" => false,
            _ => in_asm,
        };
        let (bare, comment) = match in_asm {
            true => (*line, ""),
            false => without_comment(line),
        };
        match place(bare) {
            Some(place) if has_instruction(&code[number + 1..]) => {
                let around = calls.find(number, &calls_in(comment));
                calls.write_place(&mut out, &mut names, place, around);
            }
            _ => out.push_str(bare),
        }
        // The line break was cut off with the comment.
        if !bare.is_empty() && !out.ends_with('\n') {
            out.push('\n');
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

/// Lines and columns of calls, the innermost first.
type LinesAndColumns = Vec<(u32, u32)>;

/// The place that a line names, if it is a plain `.loc`.
fn place(line: &str) -> Option<Place> {
    let mut words = line.trim().strip_prefix(".loc")?.split_whitespace();
    let mut number = || words.next()?.parse().ok();
    let place = (number()?, number()?, number()?);
    words.next().is_none().then_some(place)
}

/// A line, and the comment that LLVM put after it. Comments on lines of their own stay, except what
/// LLVM says about labels.
fn without_comment(line: &str) -> (&str, &str) {
    match line.split_once("//") {
        Some((code, comment))
            if !line.contains('"')
                && (!code.trim().is_empty()
                    || code.starts_with(' ')
                    || comment.starts_with(" %bb.")) =>
        {
            (code.trim_end(), comment)
        }
        _ => (line, ""),
    }
}

/// Lines and columns of the calls that the comment on a place names, the innermost first: for
/// `a.rs:3:1 @[ b.rs:7:9 @[ c.rs:2:5 ] ]`, those in `b.rs` and `c.rs`. LLVM leaves out columns that
/// are 0.
fn calls_in(comment: &str) -> LinesAndColumns {
    let calls = comment.split(" @[ ").skip(1).filter_map(|call| {
        let call = call.trim_end_matches([' ', ']', '\n']);
        let mut numbers = call.rsplit(':').map_while(|word| word.parse().ok());
        let last = numbers.next()?;
        Some(numbers.next().map_or((last, 0), |line| (line, last)))
    });
    calls.collect()
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

/// The lines that are not DWARF, and the lines of each DWARF section.
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
                // The names that places refer to.
                Some(rest) if rest.trim_start().starts_with(".debug_str") => code.push(line),
                Some(rest) => {
                    section = rest.split_whitespace().next();
                    if text.ends_with('}') {
                        section = None;
                    }
                }
                None if text.starts_with("$L__sec_end") => {}
                // The architecture alone: without DWARF it is not a debug module.
                None => match text.strip_suffix(", debug") {
                    Some(target) if text.starts_with(".target") => {
                        code.push(target);
                    }
                    _ => code.push(line),
                },
            },
        }
    }
    (code, sections)
}

/// What has been written: function names, each written once, and places.
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

    /// Notes that a place is written with these calls around it; returns whether it was last
    /// written differently, or not at all.
    fn is_news(&mut self, place: Place, around: &[Place]) -> bool {
        if self.around.get(&place).is_some_and(|last| last == around) {
            return false;
        }
        self.around.insert(place, around.to_vec());
        true
    }

    /// Writes the section with the labels.
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

/// A call that was inlined.
struct Call {
    /// Lines of the PTX: from its first instruction to its last.
    lines: Range<usize>,
    /// The call and those around it, the innermost first: where the function is described, and
    /// where it is called.
    around: Vec<(usize, Place)>,
}

/// All inlined calls of a module.
#[derive(Default)]
struct Calls {
    /// By the lines and columns of a call and of those around it.
    calls: HashMap<LinesAndColumns, Vec<Call>>,
    /// Names of the functions.
    names: HashMap<usize, String>,
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Unit<'a> = gimli::UnitHeader<Bytes<'a>>;
type Entry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Bytes<'a>>;

impl Calls {
    /// Reads DWARF in which addresses are lines of the PTX.
    fn read(code: &[&str], sections: &HashMap<&str, Vec<&str>>) -> Option<Self> {
        let labels: HashMap<&str, usize> = code
            .iter()
            .enumerate()
            .filter_map(|(n, line)| Some((without_comment(line).0.trim().strip_suffix(':')?, n)))
            .collect();
        let abbreviations = assembled(sections.get(".debug_abbrev")?, &labels)?;
        let info = assembled(sections.get(".debug_info")?, &labels)?;
        let abbreviations = DebugAbbrev::new(&abbreviations, LittleEndian);
        let mut calls = Self::default();
        let mut units = DebugInfo::new(&info, LittleEndian).units();
        while let Some(unit) = units.next().ok()? {
            let abbreviations = unit.abbreviations(&abbreviations).ok()?;
            let mut entries = unit.entries(&abbreviations);
            // The calls and functions around an entry, and how deep each is.
            let mut outside: Vec<(isize, Vec<(usize, Place)>)> = Vec::new();
            let mut depth = 0;
            while let Some((deeper, entry)) = entries.next_dfs().ok()? {
                depth += deeper;
                while outside.last().is_some_and(|&(of, _)| of >= depth) {
                    outside.pop();
                }
                let around = outside.last().map_or(&[][..], |(_, around)| around);
                if let Some(inside) = calls.read_entry(&unit, entry, around) {
                    outside.push((depth, inside));
                }
            }
        }
        Some(calls)
    }

    /// Reads an entry. Returns the calls around its contents, if it is a function or a call.
    fn read_entry(
        &mut self,
        unit: &Unit<'_>,
        entry: &Entry<'_>,
        around: &[(usize, Place)],
    ) -> Option<Vec<(usize, Place)>> {
        let value = |of: DwAt| entry.attr_value(of).ok().flatten();
        if let Some(AttributeValue::String(name)) = value(dwarf::DW_AT_name) {
            let offset = entry.offset().to_debug_info_offset(unit)?;
            self.names.insert(offset.0, name.to_string_lossy().into());
        }
        match entry.tag() {
            dwarf::DW_TAG_subprogram => return Some(Vec::new()),
            dwarf::DW_TAG_inlined_subroutine => {}
            _ => return None,
        }
        let function = match value(dwarf::DW_AT_abstract_origin)? {
            AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(unit)?,
            AttributeValue::DebugInfoRef(offset) => offset,
            _ => return None,
        };
        let line = |of: DwAt| match value(of)? {
            AttributeValue::Addr(line) => Some(line as usize),
            _ => None,
        };
        let lines = line(dwarf::DW_AT_low_pc)?..line(dwarf::DW_AT_high_pc)?;
        let number = |of: DwAt| Some(entry.attr(of).ok()??.udata_value()? as u32);
        let at = (
            number(dwarf::DW_AT_call_file)?,
            number(dwarf::DW_AT_call_line)?,
            number(dwarf::DW_AT_call_column).unwrap_or(0),
        );
        let around = [&[(function.0, at)], around].concat();
        let key = around.iter().map(|&(_, (_, line, column))| (line, column));
        let call = Call {
            lines,
            around: around.clone(),
        };
        self.calls.entry(key.collect()).or_default().push(call);
        Some(around)
    }

    /// The calls around a line of the PTX that are at these lines and columns.
    fn find(&self, number: usize, at: &LinesAndColumns) -> &[(usize, Place)] {
        let calls = self.calls.get(at).into_iter().flatten();
        let found = calls
            .filter(|call| call.lines.contains(&number))
            .min_by_key(|call| call.lines.len());
        found.map_or(&[], |call| &call.around)
    }

    /// Writes a place with the calls around it.
    fn write_place(
        &self,
        out: &mut String,
        names: &mut Names,
        place: Place,
        around: &[(usize, Place)],
    ) {
        let calls = around.iter().map(|&(_, at)| at);
        let places: Vec<Place> = std::iter::once(place).chain(calls).collect();
        // A place at which something is inlined must have been named before.
        let outermost = places[around.len()];
        if around.is_empty() {
            names.around.insert(place, Vec::new());
        }
        if around.is_empty() || names.is_news(outermost, &[]) {
            let (file, row, column) = outermost;
            let _ = writeln!(out, "\t.loc\t{file} {row} {column}");
        }
        for (index, &(function, (file, row, column))) in around.iter().enumerate().rev() {
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

/// The bytes of a section, from lines such as `.b8 1,2`, `.b32 7` and `.b64 $L__tmp3`. Labels of
/// the code stand for their lines, those of sections for 0.
fn assembled(lines: &[&str], labels: &HashMap<&str, usize>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
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
            let number = match (labels.get(value), value.split_once('+')) {
                (Some(&line), _) => line as i64,
                (None, Some((_, offset))) => offset.parse().ok()?,
                // A section, or a label in one: of a variable's places, with all debug information.
                (None, None) if value.starts_with(['.', '$']) => 0,
                (None, None) => value.parse().ok()?,
            };
            bytes.extend(&number.to_le_bytes()[..width]);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{apply, assembled};
    use std::collections::HashMap;

    #[test]
    fn labels_in_other_sections_do_no_harm() {
        let lines = [".b8 7", ".b32 $L__debug_loc0", ".b32 .debug_abbrev"];
        let bytes = assembled(&lines, &HashMap::new());
        assert_eq!(bytes, Some([&[7][..], &[0; 8]].concat()));
    }

    #[test]
    fn ptx_without_dwarf_stays_as_it_is() {
        let ptx = ".version 7.8\n.target sm_80\n\t.loc\t1 2 3\n\tld.global.b32 \t%r1, [%rd1];\n";
        assert_eq!(apply(ptx), ptx);
    }

    #[test]
    fn calls_that_are_there_stay() {
        let ptx = "\t.loc\t2 30 4, function_name $L__info_string0, inlined_at 1 7 9\n\tret;\n\
                   \t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 108\n.b8 0\n\t}\n";
        assert_eq!(apply(ptx), ptx);
    }

    /// Entry 1 is the unit, 2 a function that is inlined (by the name `l`), 3 a function
    /// from `$L__a` to `$L__f`, and in it two calls: from `$L__b` to `$L__d` at 1 7 9, from
    /// `$L__c` to `$L__e` at 1 8 9.
    const DWARF: &str = "\
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
.b32 78                                 // Length of Unit
.b8 2,0
.b32 .debug_abbrev
.b8 8
.b8 1
.b8 2,108,0
.b8 3
.b64 $L__a
.b64 $L__f
.b8 4
.b32 12
.b64 $L__b
.b64 $L__d
.b8 1,7,9
.b8 4
.b32 12
.b64 $L__c
.b64 $L__e
.b8 1,8,9
.b8 0
.b8 0
\t}
\t.section\t.debug_macinfo\t{\t}
";

    /// An unrolled loop, in which the instructions of each call have others between them.
    #[test]
    fn dwarf_and_comments_go_and_calls_come() {
        let first = "\t.loc\t2 30 4               // b.rs:30:4 @[ src/a.rs:7:9 ]\n";
        let second = "\t.loc\t2 30 4               // b.rs:30:4 @[ src/a.rs:8:9 ]\n";
        let ptx = format!(
            "\
.target sm_80, debug
$L__a:
\t// begin inline asm
\tmov.u32 \t%r7, %laneid; // the lane
\t// end inline asm
// %bb.1:                               //   in Loop: Header=BB0_5 Depth=1
$L__b:                                  // =>This Loop Header: Depth=1
                                        //     Child Loop BB0_6 Depth 2
{first}\t@%p1 ld.global.b32 \t%r1, [%rd1];
$L__c:
{second}\tst.global.b32 \t[%rd1], %r1;
{first}\tst.global.b32 \t[%rd1], %r2;
$L__d:
{second}\tst.global.b32 \t[%rd1], %r3;
$L__e:
\t.loc\t1 9 1                          // src/a.rs:9:1
\tret;
$L__f:
}}
{DWARF}"
        );
        let first = "\t.loc\t2 30 4, function_name $L__info_string0, inlined_at 1 7 9\n";
        let second = "\t.loc\t2 30 4, function_name $L__info_string0, inlined_at 1 8 9\n";
        let expected = format!(
            "\
.target sm_80
$L__a:
\t// begin inline asm
\tmov.u32 \t%r7, %laneid; // the lane
\t// end inline asm
$L__b:
\t.loc\t1 7 9
{first}\t@%p1 ld.global.b32 \t%r1, [%rd1];
$L__c:
\t.loc\t1 8 9
{second}\tst.global.b32 \t[%rd1], %r1;
{first}\tst.global.b32 \t[%rd1], %r2;
$L__d:
{second}\tst.global.b32 \t[%rd1], %r3;
$L__e:
\t.loc\t1 9 1
\tret;
$L__f:
}}
\t.section\t.debug_str
\t{{
$L__info_string0:
.b8 108
.b8 0
\t}}
"
        );
        assert_eq!(apply(&ptx), expected);
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
