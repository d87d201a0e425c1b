//! Reading PTX text: one kernel with everything that it needs from its module.

pub use ptx::outline::{entries, kernel_text};

use ptx::outline::{Item, items, tokens};
use std::collections::HashSet;

/// One kernel with everything that it needs from its module: version and target,
/// the variables it names, the source files that its `.loc` lines refer to, and the names of
/// the functions that were inlined.
pub fn kernel_listing(module: &str, entry: &str) -> Option<String> {
    let kernel = kernel_text(module, entry)?;
    let mut named = HashSet::new();
    let mut files = HashSet::new();
    let mut before = "";
    for token in tokens(kernel) {
        if [".loc", "inlined_at"].contains(&before) {
            files.insert(token.text);
        }
        named.insert(token.text);
        before = token.text;
    }
    let is_needed = |item: &Item<'_>| match item.directive() {
        ".version" | ".target" | ".address_size" => true,
        ".file" => item.name().is_some_and(|index| files.contains(index)),
        ".section" => false,
        _ => !item.is_function() && item.name().is_some_and(|name| named.contains(name)),
    };
    let mut listing: String = items(module)
        .filter(is_needed)
        .map(|item| item.text.to_owned() + "\n")
        .collect();
    listing.push('\n');
    listing.push_str(kernel);
    listing.push_str(&inlined_names(module, &named));
    Some(listing)
}

/// The section with those names of functions that a kernel refers to, one per line;
/// empty if there are none.
fn inlined_names(module: &str, named: &HashSet<&str>) -> String {
    let section = items(module).find(|item| item.name() == Some(".debug_str"));
    let mut names = String::new();
    let mut is_wanted = false;
    for line in section
        .iter()
        .flat_map(|item| item.text.lines().map(str::trim))
    {
        if let Some(label) = line.strip_suffix(':') {
            is_wanted = named.contains(label);
            if is_wanted {
                names.push_str(&format!("\n{line}\n.b8 "));
            }
        } else if let Some(byte) = line.strip_prefix(".b8 ").filter(|_| is_wanted) {
            let is_first = names.ends_with(".b8 ");
            names.push_str(if is_first { "" } else { ", " });
            names.push_str(byte);
        }
    }
    match names.is_empty() {
        true => names,
        false => format!("\n\t.section\t.debug_str\n\t{{{names}\n\t}}\n"),
    }
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
.visible .entry first()
{
\t.loc\t1 10 0
\tmov.u32 %r1, tile;
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
