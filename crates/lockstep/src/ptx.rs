//! Reading PTX text: what it was compiled for, its entries and the text of one, and what of it
//! the driver needs.

/// The architecture that a module's `.target` names: `sm_90a`.
pub fn target_name(module: &str) -> Option<&str> {
    let line = module
        .lines()
        .find_map(|line| line.trim().strip_prefix(".target"))?;
    line.trim().split([',', ' ']).next()
}

/// That architecture's number, and whether the module runs on that one alone
/// (`sm_90a`) or on all later ones too (`sm_90`).
pub fn target(module: &str) -> Option<(u32, bool)> {
    target_number(target_name(module)?)
}

/// The same for an architecture's name.
pub fn target_number(name: &str) -> Option<(u32, bool)> {
    let name = name.strip_prefix("sm_")?;
    let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Some((digits.parse().ok()?, digits.len() != name.len()))
}

/// Names of the entries of `module`, in its order.
pub fn entries(module: &str) -> impl Iterator<Item = &str> {
    module.lines().filter_map(|line| {
        let code = line.split("//").next().unwrap_or(line);
        let (_, after) = code.split_once(".entry ")?;
        let name = after.trim_start();
        let end = name.find(|c| !is_word_character(c)).unwrap_or(name.len());
        Some(&name[..end])
    })
}

/// Whether a name of PTX may have this character.
pub fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '$'
}

/// The module without what says where its instructions come from, of which the
/// driver makes nothing. What is left keeps its line numbers, for the driver's log.
pub fn without_line_tables(module: &str) -> String {
    let mut text = String::with_capacity(module.len());
    let mut in_section = false;
    for line in module.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("}") if in_section => in_section = false,
            Some(".section") => in_section = words.next_back() != Some("}"),
            Some(".loc") => {}
            _ if in_section => {}
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The text of one kernel in `module`, from its entry's comments to its closing brace.
pub fn kernel_text<'m>(module: &'m str, entry: &str) -> Option<&'m str> {
    let start = entry_offset(module, entry)?;
    let end = start + body_end(&module[start..])?;
    Some(&module[start..end])
}

/// Offset after the brace that closes the first one. Inline assembly and vector
/// operands bring braces of their own.
fn body_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or(line);
        for (index, character) in code.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(offset + index + 1);
                    }
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    None
}

/// Where the line of the entry starts.
fn entry_offset(module: &str, entry: &str) -> Option<usize> {
    let mut offset = 0;
    for line in module.split_inclusive('\n') {
        if entries(line).next() == Some(entry) {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{entries, kernel_text, target, without_line_tables};

    #[test]
    fn reads_the_target() {
        assert_eq!(target(".version 8.6\n.target sm_80\n"), Some((80, false)));
        assert_eq!(target(".target sm_90a, debug"), Some((90, true)));
        assert_eq!(target("nothing"), None);
    }

    #[test]
    fn line_tables_go_and_lines_stay() {
        let module = "\
.local .align 4 .b8 frame[4];
\t.loc\t1 2 3, function_name $L__info_string0, inlined_at 1 7 9
\tret;
}
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 0
\t}
\t.section\t.debug_macinfo\t{\t}
// end
";
        let expected = "\
.local .align 4 .b8 frame[4];

\tret;
}






// end
";
        assert_eq!(without_line_tables(module), expected);
    }

    const MODULE: &str = "\
.version 8.6
.target sm_80
.address_size 64
.shared .align 4 .b8 tile[64];
.shared .align 4 .b8 tile_of_second[64];
// .entry not_this(
.visible .entry first(
\t.param .u64 first_param_0
)
{
\t.loc\t1 10 0
\tmov.u32 %r1, tile;
\tret;
}
.visible .entry second()
.maxntid 256
{
\t{ // inline assembly, with a brace } in a comment
mov.b64 {%r1, %r2}, %rd1;
}
\tret;
}
\t.file\t1 \"a.rs\"
\t.file\t2 \"b.rs\"
";

    #[test]
    fn finds_entries() {
        assert_eq!(entries(MODULE).collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn cuts_out_one_kernel() {
        let second = kernel_text(MODULE, "second").expect("it is there");
        assert!(
            second.starts_with(".visible .entry second()\n.maxntid 256\n{"),
            "{second}"
        );
        assert!(second.ends_with("\tret;\n}"), "{second}");
        assert_eq!(kernel_text(MODULE, "secon"), None);
    }
}
