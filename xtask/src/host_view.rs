//! The parts of the kernels' crate that affect the host's program: everything but the kernels'
//! bodies.
//!
//! The host compiles the kernels' crate as an ordinary library. Of a kernel it uses the
//! name and the parameters, never the body; so if only such bodies have changed, the
//! program need not be rebuilt. [`host_view`] is a hash of the rest.
//!
//! Left out: functions that only kernels call. A change of their bodies causes a build that the
//! host's program would not need.

use anyhow::Context;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// A hash of what the host sees of the kernels' sources in a folder. Comments, documentation and
/// line numbers are not part of it.
///
/// # Errors
///
/// A file cannot be read, or does not consist of Rust's tokens.
pub fn host_view(kernels: &Path) -> anyhow::Result<u64> {
    let mut seen = DefaultHasher::new();
    let mut folders = vec![kernels.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir();
        let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                path.strip_prefix(kernels)?.hash(&mut seen);
                see(&text, &mut seen).with_context(|| format!("in {}", path.display()))?;
            }
        }
    }
    Ok(seen.finish())
}

fn see(text: &str, seen: &mut impl Hasher) -> anyhow::Result<()> {
    let tokens: TokenStream = text
        .parse()
        .map_err(|error| anyhow::anyhow!("this does not consist of Rust's tokens: {error}"))?;
    see_tokens(tokens, seen);
    Ok(())
}

/// Hashes the tokens of a group or a file, including those in macros.
fn see_tokens(tokens: TokenStream, seen: &mut impl Hasher) {
    // Between a kernel's attribute and its body.
    let mut is_in_kernel = false;
    let mut before = String::new();
    for token in tokens {
        let text = match &token {
            TokenTree::Group(group) => format!("{:?}", group.delimiter()),
            other => other.to_string(),
        };
        match token {
            TokenTree::Group(group) => {
                let first = group.stream().into_iter().next();
                let is_attribute = |name| {
                    let is_named = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == name);
                    ["#", "!"].contains(&&*before) && first.as_ref().is_some_and(is_named)
                };
                // A constant in braces is an argument, not a body.
                let is_argument = ["<", ","].contains(&&*before);
                if is_in_kernel && group.delimiter() == Delimiter::Brace && !is_argument {
                    is_in_kernel = false;
                } else if !is_attribute("doc") {
                    is_in_kernel |= is_attribute("kernel");
                    text.hash(seen);
                    see_tokens(group.stream(), seen);
                    // The end of the group.
                    seen.write_u8(0);
                }
            }
            // The marks before attributes: documentation is left out, so these are too.
            TokenTree::Punct(punct) if punct.as_char() == '#' => {}
            TokenTree::Punct(punct) if punct.as_char() == '!' && before == "#" => {}
            _ => text.hash(seen),
        }
        before = text;
    }
}

#[cfg(test)]
mod tests {
    use super::{DefaultHasher, Hasher, see};

    const KERNELS: &str = "
        //! A lesson.
        pub const TILE: u32 = 32;
        /// Where an element lies.
        pub const fn layout(row: u32, column: u32) -> u32 { row * TILE + column }
        /// # Safety
        #[kernel(launch_bounds(TILE))]
        pub unsafe fn transpose(output: *mut f32, size: Array<{ 3 }>) { turn(output); }
        #[doc = concat!(\"one\")]
        macro_rules! kernels {
            ($($(#[$doc:meta])* $name:ident;)*) => { $(
                $(#[$doc])*
                #[kernel(launch_bounds(TILE))]
                pub unsafe fn $name(output: *mut f64) { drain(); third_step(output); }
            )* };
        }
    ";

    /// The view of the kernels with one thing changed.
    fn view(from: &str, to: &str) -> u64 {
        assert!(KERNELS.contains(from), "{from}");
        let mut seen = DefaultHasher::new();
        see(&KERNELS.replace(from, to), &mut seen).unwrap();
        seen.finish()
    }

    #[test]
    fn only_bodies_of_kernels_and_documentation_are_not_seen() {
        let all = view("", "");
        for (from, to, is_seen) in [
            ("{ turn(output); }", "{ if true { turn(output); } }", false),
            ("third_step(output);", "{} third_step(output);", false),
            (
                "Where an element lies",
                "Where it lies\n /// exactly",
                false,
            ),
            (
                "//! A lesson.",
                "//! A lesson.\n //! The first.\n // Not.",
                false,
            ),
            ("\"one\"", "\"two\"", false),
            ("TILE: u32 = 32", "TILE: u32 = 64", true),
            ("* TILE + column", "* TILE + (column ^ row)", true),
            ("{ row *", "{ 2 * row *", true),
            ("launch_bounds(TILE)", "launch_bounds(64)", true),
            (
                "transpose(output: *mut f32",
                "transpose(output: *mut f64",
                true,
            ),
            ("{ 3 }", "{ 4 }", true),
            ("output: *mut f64", "output: *mut f32", true),
            ("/// # Safety", "#[cfg(test)]", true),
        ] {
            assert_eq!(view(from, to) != all, is_seen, "{from}");
        }
    }

    #[test]
    fn what_is_not_rust_is_an_error() {
        assert!(see("fn f() {", &mut DefaultHasher::new()).is_err());
    }
}
