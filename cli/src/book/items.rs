//! Items of Rust files by their names: where each begins, with its comments and attributes,
//! and where it ends.
//!
//! Left out: items that macros make; a name in a macro call stands for the whole call.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;

/// An item of a file.
#[derive(Clone, Debug)]
pub struct Item {
    /// The module, from the crate's root: `transpose::shared`.
    pub module: String,
    /// The names that it defines: one, or all those in a macro call.
    pub names: Vec<String>,
    /// Whether it is a macro call.
    pub is_call: bool,
    /// The file, relative to the repository.
    pub path: PathBuf,
    /// Its first and last line, from 1.
    pub lines: (usize, usize),
}

/// The items of all files of a crate's `src`, without tests.
///
/// # Errors
///
/// A file cannot be read, or is not Rust.
pub fn of_folder(root: &Path, folder: &str) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    for path in rust_files(&root.join(folder))? {
        let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let module = module_of(relative.strip_prefix(folder).unwrap_or(&relative));
        items.extend(of_file(&path, &relative, &module)?);
    }
    Ok(items)
}

/// The items of one file.
///
/// # Errors
///
/// It cannot be read, or is not Rust.
pub fn of_file(path: &Path, relative: &Path, module: &str) -> Result<Vec<Item>, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", relative.display());
    let text = fs::read_to_string(path).map_err(|error| told(&error))?;
    let file = syn::parse_file(&text).map_err(|error| told(&error))?;
    let mut items = Vec::new();
    collect(&file.items, relative, module, &mut items);
    Ok(items)
}

/// `04_transpose/shared.rs` is the module `transpose::shared`; the numbers only order the
/// files for readers.
fn module_of(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
    let parts = parts.map(|part| {
        part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_')
            .to_owned()
    });
    let parts: Vec<String> = parts
        .filter(|part| !["mod", "lib", "main"].contains(&part.as_str()))
        .collect();
    parts.join("::")
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn collect(items: &[syn::Item], path: &Path, module: &str, found: &mut Vec<Item>) {
    for item in items {
        let of = |names: Vec<String>| Item {
            module: module.to_owned(),
            names,
            is_call: matches!(item, syn::Item::Macro(_)),
            path: path.to_owned(),
            lines: (item.span().start().line, item.span().end().line),
        };
        match item {
            syn::Item::Mod(inner) if inner.ident == "tests" => {}
            syn::Item::Mod(inner) => {
                let name = format!("{module}::{}", inner.ident);
                let content = inner.content.as_ref().map_or(&[][..], |(_, items)| items);
                collect(content, path, name.trim_start_matches("::"), found);
            }
            syn::Item::Macro(call) => found.push(of(names_in(call.mac.tokens.clone()))),
            syn::Item::Impl(block) => {
                collect_methods(block, path, module, found);
                let name = type_name(&block.self_ty);
                found.push(of(name
                    .map(|name| format!("impl {name}"))
                    .into_iter()
                    .collect()));
            }
            other => found.push(of(name_of(other).into_iter().collect())),
        }
    }
}

/// Methods are `Type::name`.
fn collect_methods(block: &syn::ItemImpl, path: &Path, module: &str, found: &mut Vec<Item>) {
    let Some(of_type) = type_name(&block.self_ty) else {
        return;
    };
    for item in &block.items {
        if let syn::ImplItem::Fn(method) = item {
            found.push(Item {
                module: module.to_owned(),
                names: vec![format!("{of_type}::{}", method.sig.ident)],
                is_call: false,
                path: path.to_owned(),
                lines: (method.span().start().line, method.span().end().line),
            });
        }
    }
}

fn type_name(of: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = of else {
        return None;
    };
    let last = path.path.segments.last()?;
    Some(last.ident.to_string())
}

fn name_of(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Static(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Trait(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// All identifiers in a macro call that come after `fn`, `struct`, `pub` and similar, or
/// before a colon or an equals sign.
fn names_in(tokens: TokenStream) -> Vec<String> {
    const BEFORE: [&str; 8] = [
        "pub", "fn", "struct", "type", "const", "static", "enum", "unsafe",
    ];
    let mut names = Vec::new();
    let (mut is_next, mut last) = (false, None);
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let is_keyword = BEFORE.contains(&name.as_str());
                if is_next && !is_keyword {
                    names.push(name.clone());
                }
                (is_next, last) = (is_keyword, Some(name).filter(|_| !is_keyword));
            }
            TokenTree::Punct(punct) => {
                names.extend(last.take().filter(|_| matches!(punct.as_char(), ':' | '=')));
                is_next = false;
            }
            TokenTree::Group(group) => {
                names.extend(names_in(group.stream()));
                // In `name(…): …`, `name` counts too.
                last = last.filter(|_| group.delimiter() == Delimiter::Parenthesis);
                is_next = false;
            }
            TokenTree::Literal(_) => (is_next, last) = (false, None),
        }
    }
    names.sort();
    names.dedup();
    names
}

/// The one item of a name, which may be qualified by the end of its module's path:
/// `swizzled`, `transpose::swizzled`.
///
/// # Errors
///
/// There is none, or there are several in different modules.
pub fn find<'i>(items: &'i [Item], wanted: &str) -> Result<&'i Item, String> {
    let is_it = |item: &&Item| {
        item.names.iter().any(|name| {
            let full = format!("{}::{name}", item.module);
            full == wanted || name == wanted || full.ends_with(&format!("::{wanted}"))
        })
    };
    let mut found: Vec<&Item> = items.iter().filter(is_it).collect();
    // A macro call may only use the name, not define it.
    if found.iter().any(|item| !item.is_call) {
        found.retain(|item| !item.is_call);
    }
    match found.as_slice() {
        [item] => Ok(item),
        [] => Err(format!("there is no item `{wanted}`")),
        several => {
            let places: Vec<String> = several
                .iter()
                .map(|item| format!("{}:{}", item.path.display(), item.lines.0))
                .collect();
            Err(format!(
                "`{wanted}` is ambiguous: {}; put the module before it",
                places.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find, of_folder};
    use std::fs;

    #[test]
    fn items_are_found_by_name_and_module() {
        let dir = tempfile::tempdir().expect("a folder");
        let src = dir.path().join("src/03_turn");
        fs::create_dir_all(&src).expect("it is made");
        let text = "made! {\n    /// A.\n    a_kernel: Plain, |x| {}\n}\n/// One.\n#[inline]\npub fn one() {\n}\n\nlayouts! {\n    pub Plain = plain;\n}\n\
                    impl Tile {\n    /// Puts.\n    fn put(&self) {}\n}\n\
                    #[cfg(test)]\nmod tests {\n    fn hidden() {}\n}\n";
        fs::write(src.join("a.rs"), text).expect("it is written");
        fs::write(src.join("b.rs"), "pub const one: u32 = 1;\n").expect("it is written");
        let items = of_folder(dir.path(), "src").expect("it is Rust");
        let lines = |name: &str| find(&items, name).map(|item| item.lines);
        assert_eq!(lines("turn::a::one"), Ok((5, 8)));
        assert_eq!(lines("b::one"), Ok((1, 1)));
        assert!(lines("one").expect_err("two").contains("ambiguous"));
        assert_eq!(lines("Plain"), Ok((10, 12)));
        assert_eq!(lines("Tile::put"), Ok((14, 15)));
        assert_eq!(lines("a_kernel"), Ok((1, 4)));
        assert!(lines("hidden").is_err());
    }
}
