//! Debug information: variables, types and where they are, kept in the PTX.
//!
//! LLVM writes DWARF as data, a byte a line with a comment, and some of it ptxas refuses: a label
//! outside of functions. [`keep`] adds the sections that describe variables to the PTX that is
//! otherwise finished, with many bytes on a line. They name labels in the code, so they fit
//! whatever was added to that.
//!
//! Left out: lines (`.loc` has them), address ranges and macros.

use std::fmt::Write;

/// How much the PTX says about sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// The source line of each instruction.
    LineTables,
    /// Also the variables: their types, and where their values are. LLVM then optimises a little
    /// differently in places, so an instruction may not be the same one, and the PTX gets several
    /// times as long.
    Full,
}

/// The sections that are kept.
const KEPT: [&str; 4] = [
    ".debug_abbrev",
    ".debug_info",
    ".debug_loc",
    ".debug_ranges",
];

/// A line is not continued beyond this many characters.
const WIDTH: usize = 120;

/// `ptx` with the sections of `compiled`, from which it was made.
pub fn keep(ptx: &str, compiled: &str) -> String {
    let mut out = String::with_capacity(ptx.len() + compiled.len() / 4);
    for line in ptx.split_inclusive('\n') {
        // LLVM's own notes about variables, by names that PTX does not have.
        if line.trim_start().starts_with("//DEBUG_VALUE:") {
            continue;
        }
        match line.trim_end() {
            target if target.starts_with(".target") && !target.ends_with(", debug") => {
                let _ = writeln!(out, "{target}, debug");
            }
            _ => out.push_str(line),
        }
    }
    let mut is_kept = false;
    for line in compiled.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(section) = line.strip_prefix(".section") {
            let name = section.split_whitespace().next();
            is_kept = name.is_some_and(|name| KEPT.contains(&name)) && !line.ends_with('}');
            if is_kept {
                let _ = writeln!(out, "\t{line}");
            }
        } else if is_kept && !line.is_empty() {
            write_data(&mut out, line);
            is_kept = line != "}";
        }
    }
    out
}

/// Writes a line of a section, bytes after those of the line before.
fn write_data(out: &mut String, line: &str) {
    let start = out.trim_end().rfind('\n').map_or(0, |end| end + 1);
    let last = out[start..].trim_end();
    match line.strip_prefix(".b8 ") {
        Some(bytes) if last.starts_with(".b8 ") && last.len() < WIDTH => {
            let bytes = bytes.trim_start();
            out.truncate(out.trim_end().len());
            let _ = writeln!(out, ",{bytes}");
        }
        _ => {
            let indent = if line == "{" || line == "}" { "\t" } else { "" };
            let _ = writeln!(out, "{indent}{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::keep;

    #[test]
    fn what_describes_variables_is_kept_with_many_bytes_on_a_line() {
        let compiled = "\
.target sm_80, debug
$L__tmp0:
\t//DEBUG_VALUE: n <- %1
\tret;
}
\t.section\t.debug_loc
\t{
$L__debug_loc0:
.b64 $L__tmp0
.b8 8                                   // Loc expr size
.b8 0
$L__debug_loc1:
.b8 3
\t}
$L__sec_end0:
\t.section\t.debug_aranges
\t{
.b84,255
\t}
\t.section\t.debug_macinfo\t{\t}
";
        let ptx = ".target sm_80\n$L__tmp0:\n\t//DEBUG_VALUE: n <- %1\n\tret;\n}\n";
        let expected = "\
.target sm_80, debug
$L__tmp0:
\tret;
}
\t.section\t.debug_loc
\t{
$L__debug_loc0:
.b64 $L__tmp0
.b8 8,0
$L__debug_loc1:
.b8 3
\t}
";
        assert_eq!(keep(ptx, compiled), expected);
    }

    #[test]
    fn ptx_without_sections_gets_none() {
        assert_eq!(
            keep(".target sm_80\n", ".version 8.0\n"),
            ".target sm_80, debug\n"
        );
    }
}
