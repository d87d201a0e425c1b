//! What the host's program is made of in the kernels' crate: everything but the bodies
//! of functions that only the device runs.
//!
//! The host compiles the kernels' crate as an ordinary library. Of a kernel it uses the
//! name and the parameters, never the body; so when only such bodies changed, the
//! program need not be built again. [`HostView::of`] gives the rest as one number.
//!
//! A body counts as the device's alone if it is a kernel's, or if nothing that the host
//! uses names its function. Names are compared as words, whatever they name: where that
//! errs, it takes a body for the host's, which costs a build and nothing else.
//!
//! Left out: `#[cfg(test)]` items, which are in no program; and what line an item is on.

use anyhow::Context;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A number that stands for what the host sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostView(pub u64);

impl HostView {
    /// Of the kernels' sources, for a host whose sources are in `host`; folders.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not made of Rust's tokens.
    pub fn of(kernels: &Path, host: &Path) -> anyhow::Result<Self> {
        let mut sources = Sources::default();
        for path in rust_files(kernels)? {
            sources.take_items(tokens(&path)?);
        }
        let mut words = HashSet::new();
        for path in rust_files(host)? {
            collect_names(tokens(&path)?, &mut words);
        }
        Ok(sources.seen_by(words))
    }
}

fn tokens(path: &Path) -> anyhow::Result<TokenStream> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().map_err(|error| {
        anyhow::anyhow!("{} is not made of Rust's tokens: {error}", path.display())
    })
}

/// All names in the tokens; what is in text literals is none.
fn collect_names(tokens: TokenStream, names: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => collect_names(group.stream(), names),
            _ => {}
        }
    }
}

/// All Rust files below a folder, in order.
fn rust_files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        let entries =
            std::fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// A crate's items, bodies apart.
#[derive(Default)]
struct Sources {
    /// What is in no function's body.
    outside: String,
    bodies: Vec<Body>,
}

struct Body {
    function: String,
    text: String,
}

impl Sources {
    /// Takes the items of a file, a module or an `impl` block.
    fn take_items(&mut self, items: TokenStream) {
        let mut tokens = items.into_iter().peekable();
        let mut item = Item::default();
        while let Some(token) = tokens.next() {
            if let TokenTree::Ident(word) = &token
                && *word == "fn"
                && let Some(TokenTree::Ident(name)) = tokens.peek()
            {
                item.function = Some(name.to_string());
            }
            let ends = item.push(token);
            if ends {
                self.take(std::mem::take(&mut item));
            }
        }
        self.take(item);
    }

    fn take(&mut self, item: Item) {
        if item.is_test {
            return;
        }
        let body = item.body.as_ref().map(Group::stream);
        match (item.kind(), body) {
            (Kind::Kernel, Some(_)) => self.outside += &item.head,
            (Kind::Function(function), Some(body)) => {
                self.outside += &item.head;
                self.bodies.push(Body {
                    function,
                    text: body.to_string(),
                });
            }
            (Kind::Items, Some(body)) => {
                self.outside += &item.head;
                self.take_items(body);
            }
            (_, body) => {
                self.outside += &item.head;
                self.outside += &body.map(|body| body.to_string()).unwrap_or_default();
            }
        }
        self.outside.push('\n');
    }

    /// What a host sees of it that uses these words.
    fn seen_by(&self, mut words: HashSet<String>) -> HostView {
        words.extend(self::words(&self.outside_without_heads()).map(str::to_owned));
        let mut is_seen = vec![false; self.bodies.len()];
        loop {
            let newly: Vec<usize> = (0..self.bodies.len())
                .filter(|&index| !is_seen[index] && words.contains(&self.bodies[index].function))
                .collect();
            if newly.is_empty() {
                break;
            }
            for index in newly {
                is_seen[index] = true;
                words.extend(self::words(&self.bodies[index].text).map(str::to_owned));
            }
        }
        let mut hasher = DefaultHasher::new();
        self.outside.hash(&mut hasher);
        for (body, _) in self.bodies.iter().zip(is_seen).filter(|(_, seen)| *seen) {
            (&body.function, &body.text).hash(&mut hasher);
        }
        HostView(hasher.finish())
    }

    /// What is outside of bodies, less the words `fn name`: a function that is only
    /// declared is not yet used.
    fn outside_without_heads(&self) -> String {
        let mut text = String::with_capacity(self.outside.len());
        let mut rest = self.outside.as_str();
        while let Some((before, after)) = rest.split_once("fn ") {
            text += before;
            rest = after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        }
        text + rest
    }
}

enum Kind {
    Kernel,
    Function(String),
    /// A module or an inherent `impl`: items in braces.
    Items,
    Other,
}

/// An item, token by token, up to its body.
#[derive(Default)]
struct Item {
    /// Its tokens without the body, without doc comments.
    head: String,
    words: Vec<String>,
    /// The name behind `fn`.
    function: Option<String>,
    is_kernel: bool,
    is_test: bool,
    body: Option<Group>,
    after_hash: bool,
}

impl Item {
    /// Takes a token; says whether the item ends with it.
    fn push(&mut self, token: TokenTree) -> bool {
        let after_hash = std::mem::take(&mut self.after_hash);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => self.after_hash = true,
            TokenTree::Group(group) if after_hash && group.delimiter() == Delimiter::Bracket => {
                self.attribute(&group);
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // A constant in braces is an argument, not a body.
                if self.head.ends_with("< ") || self.head.ends_with(", ") {
                    self.head += &group.to_string();
                    return false;
                }
                self.body = Some(group);
                return true;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                self.head.push(';');
                return true;
            }
            TokenTree::Ident(word) => {
                self.head += &word.to_string();
                self.head.push(' ');
                self.words.push(word.to_string());
            }
            other => {
                self.head += &other.to_string();
                self.head.push(' ');
            }
        }
        false
    }

    fn attribute(&mut self, group: &Group) {
        let text = group.stream().to_string();
        let name = words(&text).next().unwrap_or_default();
        self.is_kernel |= name == "kernel";
        self.is_test |= name == "cfg" && words(&text).eq(["cfg", "test"]);
        if name != "doc" {
            self.head += &format!("#[{text}] ");
        }
    }

    fn kind(&self) -> Kind {
        let has = |word: &str| self.words.iter().any(|other| other == word);
        let first = self
            .words
            .iter()
            .find(|word| !["pub", "unsafe", "const", "crate", "super"].contains(&word.as_str()));
        match first.map(String::as_str) {
            Some("fn") if self.is_kernel => Kind::Kernel,
            Some("fn") => self.function.clone().map_or(Kind::Other, Kind::Function),
            Some("mod") => Kind::Items,
            Some("impl") if !has("for") => Kind::Items,
            _ => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HostView;

    const KERNELS: &str = "
        //! A lesson.
        pub const TILE: u32 = 32;
        /// Where an element lies.
        pub const fn layout(row: u32, column: u32) -> u32 { helper(row) * TILE + column }
        const fn helper(row: u32) -> u32 { row + 1 }
        unsafe fn turn(tile: *mut f32) { *tile = first_value(); }
        fn first_value() -> f32 { 1.0 }
        /// # Safety
        #[kernel(launch_bounds(TILE))]
        pub unsafe fn transpose(output: *mut f32) { turn(output); second_step(); }
        pub struct Tile;
        impl Tile {
            pub fn used(&self) -> u32 { 2 }
            fn unused(&self) -> u32 { 3 }
        }
        impl Clone for Tile { fn clone(&self) -> Self { Tile } }
        macro_rules! twice { ($x:expr) => { $x + $x } }
        #[cfg(test)]
        mod tests { #[test] fn it_works() { assert_eq!(1, 1); } }
    ";

    const HOST: &str =
        "// turn\nfn f() { let k = transpose; layout(1, 2); tile.used(\"turn it\"); }";

    fn view(kernels: &str) -> HostView {
        let dir = tempfile::tempdir().unwrap();
        for (folder, text) in [("kernels", kernels), ("host", HOST)] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
            std::fs::write(dir.path().join(folder).join("lib.rs"), text).unwrap();
        }
        HostView::of(&dir.path().join("kernels"), &dir.path().join("host")).unwrap()
    }

    /// The kernels with one thing changed.
    fn changed(from: &str, to: &str) -> HostView {
        assert!(KERNELS.contains(from), "{from}");
        view(&KERNELS.replace(from, to))
    }

    #[test]
    fn bodies_of_kernels_and_of_what_only_they_call_are_not_seen() {
        let all = view(KERNELS);
        for (from, to) in [
            (
                "turn(output); second_step();",
                "second_step(); turn(output);",
            ),
            ("*tile = first_value();", "*tile = 2.0 * first_value();"),
            ("{ 1.0 }", "{ 4.0 }"),
            ("{ 3 }", "{ 4 }"),
            ("Where an element lies", "Where it lies"),
            ("assert_eq!(1, 1)", "assert_eq!(2, 2)"),
        ] {
            assert!(changed(from, to) == all, "{from}");
        }
    }

    #[test]
    fn everything_else_is_seen() {
        let all = view(KERNELS);
        for (from, to) in [
            ("TILE: u32 = 32", "TILE: u32 = 64"),
            ("* TILE + column", "* TILE + (column ^ row)"),
            ("{ row + 1 }", "{ row + 2 }"),
            ("launch_bounds(TILE)", "launch_bounds(64)"),
            ("transpose(output: *mut f32)", "transpose(output: *mut f64)"),
            ("{ 2 }", "{ 5 }"),
            ("-> Self { Tile }", "-> Self { Self }"),
            ("{ $x + $x }", "{ 2 * $x }"),
            ("pub struct Tile;", "pub struct Tile; pub struct Other;"),
        ] {
            assert!(changed(from, to) != all, "{from}");
        }
    }

    #[test]
    fn a_constant_in_braces_is_no_body() {
        let with = |n: u32| view(&format!("fn f() -> Array<{{ {n} }}> {{ Array::new() }}"));
        assert!(with(1) != with(2));
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lib.rs"), "fn f() {").unwrap();
        assert!(HostView::of(dir.path(), dir.path()).is_err());
    }
}
