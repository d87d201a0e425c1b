//! Reading PTX text: one kernel with all that it needs of its module.

pub use lockstep::ptx::{entries, kernel_text};

use lockstep::ptx::is_word_character;
use std::collections::BTreeSet;

/// One kernel with what it needs of its module around it: version and target,
/// the variables it names, the source files that its `.loc` lines count, and the names of
/// the functions that were inlined.
pub fn kernel_listing(module: &str, entry: &str) -> Option<String> {
    let kernel = kernel_text(module, entry)?;
    let mut listing = String::new();
    for line in module.lines() {
        let needed = match line.split_whitespace().next() {
            Some(".version" | ".target" | ".address_size") => true,
            Some(".file") => file_index(line).is_some_and(|index| {
                [".loc\t", ".loc ", "inlined_at "]
                    .iter()
                    .any(|before| kernel.contains(&format!("{before}{index} ")))
            }),
            Some(".shared" | ".global" | ".const" | ".extern" | ".visible" | ".weak") => {
                variable_name(line).is_some_and(|name| has_word(kernel, name))
            }
            _ => false,
        };
        if needed {
            listing.push_str(line.trim());
            listing.push('\n');
        }
    }
    listing.push('\n');
    listing.push_str(kernel);
    listing.push_str(&inlined_names(module, kernel));
    Some(listing)
}

/// The section with the names of functions that the kernel's `.loc` lines refer to, each on
/// a line; empty if there are none.
fn inlined_names(module: &str, kernel: &str) -> String {
    let wanted: BTreeSet<&str> = kernel
        .lines()
        .filter_map(|line| line.split_once("function_name ")?.1.split(',').next())
        .collect();
    let mut names = String::new();
    let mut is_wanted = false;
    for line in module.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            is_wanted = wanted.contains(label);
            if is_wanted {
                names.push_str(&format!("\n{line}\n.b8 "));
            }
        } else if let Some(byte) = line.strip_prefix(".b8 ").filter(|_| is_wanted) {
            let is_first = names.ends_with(".b8 ");
            names.push_str(if is_first { "" } else { ", " });
            names.push_str(byte);
        } else {
            is_wanted = false;
        }
    }
    match names.is_empty() {
        true => names,
        false => format!("\n\t.section\t.debug_str\n\t{{{names}\n\t}}\n"),
    }
}

/// The number of a `.file` line.
fn file_index(line: &str) -> Option<u32> {
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The name that a line declares, if it declares a variable.
fn variable_name(line: &str) -> Option<&str> {
    if line.contains(".entry") || line.contains(".func") {
        return None;
    }
    let declaration = line.split(['[', '=', ';']).next()?;
    declaration.split_whitespace().last()
}

/// Whether `word` stands in `text`, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_word_character) && !after.is_some_and(is_word_character)
    })
}

#[cfg(test)]
mod tests {
    use super::kernel_listing;

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
    fn a_listing_has_what_the_kernel_names() {
        let listing = kernel_listing(MODULE, "first").expect("it is there");
        assert!(listing.starts_with(".version 8.6\n.target sm_80\n.address_size 64\n"));
        assert!(listing.contains(".shared .align 4 .b8 tile[64];"));
        assert!(!listing.contains("tile_of_second"), "{listing}");
        assert!(
            listing.contains(".file\t1 \"a.rs\"") && !listing.contains("b.rs"),
            "{listing}"
        );
    }

    #[test]
    fn a_listing_has_the_names_of_what_was_inlined() {
        let module = ".version 8.6\n.target sm_80\n.visible .entry k()\n{\n\
            \t.loc\t1 2 3, function_name $L__info_string1, inlined_at 2 7 9\n\tret;\n}\n\
            \t.file\t1 \"a.rs\"\n\t.file\t2 \"b.rs\"\n\t.section\t.debug_str\n\t{\n\
            $L__info_string0:\n.b8 97\n.b8 0\n$L__info_string1:\n.b8 98\n.b8 0\n\t}\n";
        let listing = kernel_listing(module, "k").expect("it is there");
        assert!(
            listing.contains("a.rs") && listing.contains("b.rs"),
            "{listing}"
        );
        let names = "\n\t.section\t.debug_str\n\t{\n$L__info_string1:\n.b8 98, 0\n\t}\n";
        assert!(listing.ends_with(names), "{listing}");
    }
}
